package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/cmd/bough/internal/list"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/search"
)

// A screenRequest is a screen to show.
type screenRequest struct{ screen }

// A pickScreen is a list from which the user chooses.
type pickScreen struct {
	picker *list.Picker
	choose func(list.Item) tea.Cmd
}

func (m *model) pick(o list.Options, choose func(list.Item) tea.Cmd) tea.Cmd {
	o.Color = true
	return m.push(&pickScreen{list.NewPicker(m.env.ctx, o), choose})
}

func (s *pickScreen) update(m *model, msg tea.Msg) (cmd tea.Cmd, done bool) {
	cmd = s.picker.Update(msg)
	item, done := s.picker.Done()
	if !done {
		return m.env.wrap(cmd), false
	}
	if item >= 0 {
		cmd = s.choose(s.picker.Item(item))
	}
	return cmd, true
}

func (s *pickScreen) view(int, int) (string, *tea.Cursor) {
	content, column := s.picker.View()
	return content, tea.NewCursor(column, 0)
}

// wrap returns a command for which Run waits, nil for nil.
func (e *env) wrap(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return e.do(func() tea.Msg { return cmd() })
}

// A textScreen is a text to read.
type textScreen struct {
	title string
	text  func(columns int) []string
	keys  map[string]func() tea.Cmd // of this screen; they leave it
	hint  string                    // what they do

	// read returns the text as it is now, and whether to read it again after a moment although
	// nothing happened in the workspace. If nil, the text stays as it is.
	read           func(ctx context.Context) (t screenText, again bool)
	reading, stale bool

	width, height int
	win           window
	columns       int // of lines
	lines         []string
}

// A screenText is the title and the text of a screen.
type screenText struct {
	title string
	text  func(columns int) []string
}

// A screenResult is the text of a screen that was read again.
type screenResult struct {
	of *textScreen
	screenText
	again bool
}

// A screenTick says that a screen is to be read again.
type screenTick struct{ of *textScreen }

// tickInterval is how often a text is read again that changes without an event.
const tickInterval = time.Second

// reload reads the text again, once after any number of events.
func (s *textScreen) reload(e *env) tea.Cmd {
	if s.read == nil {
		return nil
	}
	if s.stale = s.reading; s.stale {
		return nil
	}
	s.reading = true
	return e.do(func() tea.Msg {
		t, again := s.read(e.ctx)
		return screenResult{s, t, again}
	})
}

// set shows a text that was read.
func (s *textScreen) set(m *model, r screenResult) tea.Cmd {
	s.reading = false
	s.title, s.text, s.lines = r.title, r.text, nil
	s.win.clamp(s.body(), s.rows())
	switch {
	case !slices.Contains(m.screens, screen(s)):
		return nil
	case s.stale:
		return s.reload(m.env)
	case r.again:
		return m.env.after(tickInterval, screenTick{s})
	}
	return nil
}

func (s *textScreen) body() body {
	if s.columns != s.width || s.lines == nil {
		s.columns, s.lines = s.width, s.text(s.width)
	}
	return body{len(s.lines), func(i int) []string { return s.lines[i : i+1] }}
}

func (s *textScreen) rows() int { return max(1, s.height-2) }

func (s *textScreen) update(m *model, msg tea.Msg) (cmd tea.Cmd, done bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		s.win.clamp(s.body(), s.rows())
	case workspaceEvent:
		return s.reload(m.env), false
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			s.win.scroll(s.body(), -3, s.rows())
		} else {
			s.win.scroll(s.body(), 3, s.rows())
		}
	case tea.KeyPressMsg:
		name := msg.String()
		if f := s.keys[name]; f != nil {
			return f(), true
		}
		switch name {
		case "q", "esc", "?":
			return nil, true
		case "j", "down":
			s.win.scroll(s.body(), 1, s.rows())
		case "k", "up":
			s.win.scroll(s.body(), -1, s.rows())
		case "pgdown", "space":
			s.win.scroll(s.body(), s.rows(), s.rows())
		case "pgup":
			s.win.scroll(s.body(), -s.rows(), s.rows())
		case "home", "g":
			s.win = window{}
		case "end", "G":
			s.win = lastWindow(s.body(), len(s.lines)-1, s.rows())
		}
	}
	return nil, false
}

func (s *textScreen) view(columns, _ int) (string, *tea.Cursor) {
	shown := s.win.visible(s.body(), s.rows())
	lines := []string{bold(fit(s.title, columns))}
	for _, l := range shown {
		lines = append(lines, l.text)
	}
	for len(lines) <= s.rows() {
		lines = append(lines, "")
	}
	hint := s.hint
	if hint != "" {
		hint += " · "
	}
	return strings.Join(append(lines, dim(fit(hint+"q leaves", columns))), "\n"), nil
}

// helpScreen lists the keys.
func (m *model) helpScreen() screen {
	return &textScreen{title: "Keys", text: func(columns int) (lines []string) {
		for _, k := range m.keys {
			lines = append(lines, fit(pad(k.Key, 10)+k.What, columns))
		}
		for _, k := range [][2]string{
			{"Tab", "Go to the tree, and back"}, {"Space", "Next page; PgDn and PgUp too"}, {"g, G", "Beginning, end; Home and End too"},
			{"↑ ↓", "Next row, or next line of the conversation"}, {"Esc", "Leave a question or a list"}, {"Ctrl+Z", "Suspend"}, {"Ctrl+C", "Quit"},
		} {
			lines = append(lines, fit(pad(k[0], 10)+k[1], columns))
		}
		return lines
	}}
}

// search finds messages as the user types.
func (m *model) search() tea.Cmd {
	const most, each, around = 200, 5, 1
	e := m.env
	return m.pick(list.Options{
		Prompt: "Search:",
		Find: func(ctx context.Context, query string) ([]list.Item, error) {
			r, err := e.w.Search(ctx, search.Options{Text: query, Limit: most, PerSession: each, Context: around})
			if err != nil {
				return nil, err
			}
			items := make([]list.Item, len(r.Matches))
			for i, f := range r.Matches {
				items[i] = list.Item{
					Text: line(f.Role) + ": " + line(f.Snippet), Detail: line(f.Title),
					Ref: f.Session + "@" + f.ID, About: aboutMatch(f),
				}
			}
			return items, nil
		},
	}, func(i list.Item) tea.Cmd {
		at := strings.LastIndex(i.Ref, "@")
		id, message := i.Ref[:at], i.Ref[at+1:]
		m.focus = conversationSide
		m.tree.show(id)
		return m.open(place{session: id, leaf: message, message: message, follow: true})
	})
}

// aboutMatch returns a message that was found, between those around it.
func aboutMatch(f search.Match) string {
	var b strings.Builder
	b.WriteString(line(f.Title) + "\n" + line(f.Ref) + "\n\n")
	for _, c := range f.Before {
		b.WriteString(line(c.Role) + "\n" + line(c.Text) + "\n\n")
	}
	b.WriteString(line(f.Role) + "\n" + line(f.Snippet) + "\n\n")
	for _, c := range f.After {
		b.WriteString(line(c.Role) + "\n" + line(c.Text) + "\n\n")
	}
	return b.String()
}

// goTo lists the conversations, and what can be done.
func (m *model) goTo() tea.Cmd {
	e := m.env
	return e.do(func() tea.Msg {
		l, err := e.w.Sessions(e.ctx, workspace.ListOptions{})
		if err != nil {
			return failure{err}
		}
		return sessionList{l.Sessions}
	})
}

// A sessionList is all sessions, last active first.
type sessionList struct{ sessions []workspace.Entry }

func (m *model) listSessions(l sessionList) tea.Cmd {
	items := make([]list.Item, len(l.sessions))
	for i, e := range l.sessions {
		items[i] = list.SessionItem(e, age(e.LastActive, m.env.Now()))
	}
	for _, k := range m.keys {
		items = append(items, list.Item{Text: k.What, Detail: k.Key, Hidden: k.Act, Ref: actRef + k.Act})
	}
	return m.pick(list.Options{Prompt: "Go to:", Items: items}, func(i list.Item) tea.Cmd {
		if act, ok := strings.CutPrefix(i.Ref, actRef); ok {
			return m.act(act)
		}
		m.tree.show(i.Ref)
		m.focus = conversationSide
		return m.open(place{session: i.Ref})
	})
}

// actRef begins the Ref of an item that is an act: no session has such an id.
const actRef = "act/"
