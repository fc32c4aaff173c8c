package ui

import (
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

// A question is asked at the bottom of the page: for a text or, without an input, for yes or no.
type question struct {
	text  string
	input *textarea.Model // nil to ask for yes or no
	lines bool            // the text may have several lines
	empty bool            // it may be empty
	// answer returns the command for an answer. alternative is true if it was given with
	// Alt+Enter.
	answer func(text string, alternative bool) tea.Cmd
}

// inputHeight is the maximum number of lines of an input.
const inputHeight = 6

// prompt asks for one line.
func (m *model) prompt(text, value string, empty bool, answer func(string) tea.Cmd) tea.Cmd {
	q := m.input(text, value, func(text string, _ bool) tea.Cmd { return answer(strings.Join(strings.Fields(text), " ")) })
	q.empty = empty
	return nil
}

// write asks for a text of several lines.
func (m *model) write(text string, answer func(text string, alternative bool) tea.Cmd) tea.Cmd {
	q := m.input(text, "", answer)
	q.lines = true
	return nil
}

func (m *model) input(text, value string, answer func(string, bool) tea.Cmd) *question {
	in := textarea.New()
	in.ShowLineNumbers, in.Prompt, in.CharLimit, in.MaxHeight = false, "", 0, 0
	in.SetVirtualCursor(false)
	in.SetStyles(textarea.Styles{})
	in.SetHeight(1)
	in.SetValue(clean(value))
	in.Focus() // its command makes a cursor blink that is not shown
	m.ask = &question{text: text, input: &in, answer: answer}
	return m.ask
}

// confirm asks for yes or no.
func (m *model) confirm(text string, answer func() tea.Cmd) tea.Cmd {
	m.ask = &question{text: text, answer: func(string, bool) tea.Cmd { return answer() }}
	return nil
}

// update handles a message, and reports whether it was one for the question.
func (q *question) update(m *model, msg tea.Msg) (cmd tea.Cmd, handled bool) {
	key, isKey := msg.(tea.KeyPressMsg)
	switch {
	case !isKey && q.input == nil:
		return nil, false
	case q.input == nil:
		m.ask = nil
		if key.String() == "y" || key.String() == "enter" {
			return q.answer("", false), true
		}
		m.say("Nothing was changed")
		return nil, true
	case !isKey:
		if _, ok := msg.(tea.MouseMsg); ok {
			return nil, true
		}
		*q.input, _ = q.input.Update(msg)
		q.size(m.width)
		return nil, false
	}
	switch key.String() {
	case "esc", "ctrl+g":
		m.ask = nil
		m.say("Nothing was changed")
		return nil, true
	case "enter", "alt+enter":
		text := q.input.Value()
		if strings.TrimSpace(text) == "" && !q.empty {
			return nil, true
		}
		m.ask = nil
		return q.answer(text, key.String() == "alt+enter"), true
	case "ctrl+j", "shift+enter":
		if q.lines {
			q.input.SetHeight(min(q.height(m.width)+1, inputHeight)) // before the line begins, else it scrolls
			q.input.InsertString("\n")
		}
		return nil, true
	}
	*q.input, _ = q.input.Update(msg)
	q.size(m.width)
	return nil, true
}

// height returns how many lines of a screen of this width the input takes.
func (q *question) height(columns int) int {
	if q.input == nil {
		return 0
	}
	n := 0
	for l := range strings.SplitSeq(q.input.Value(), "\n") {
		n += 1 + width(l)/max(1, columns-1)
	}
	return min(n, inputHeight)
}

// size fits the input to a screen of this width.
func (q *question) size(columns int) {
	q.input.SetWidth(columns)
	q.input.SetHeight(q.height(columns))
}

// view returns the lines of the question, and the cursor relative to the first one.
func (q *question) view(columns int) ([]string, *tea.Cursor) {
	if q.input == nil {
		return []string{bold(fit(q.text+"  y yes, any other key no", columns))}, nil
	}
	q.size(columns)
	hint := "enter saves, esc leaves"
	if q.lines {
		hint = "enter sends, ctrl+j begins a line, esc leaves"
	}
	lines := []string{bold(fit(q.text, columns)) + dim(fit("  "+hint, columns-width(q.text)))}
	cursor := q.input.Cursor()
	if cursor != nil {
		cursor.Position.Y++
	}
	return append(lines, strings.Split(q.input.View(), "\n")...), cursor
}
