// Package digest writes the text of a merge: by rules, or the question for a model that writes it.
package digest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/cited"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/tidwall/gjson"
)

// A Material is what the text of a merge is written from.
type Material struct {
	Title    string          // of the branch
	Base     *cited.Message  // the message before the first one, nil if there is none
	Messages []cited.Message // at least one
	// Files is how the files changed, nil if there are no states that say so.
	Files *files.Diff
	// Labels are the labels of bookmarks, by message id.
	Labels map[string][]string
}

// Limits of a digest.
const (
	maxItems  = 20  // of a section
	maxSaid   = 280 // characters of a sentence
	maxAnswer = 600 // characters of an answer
)

// Text writes the result of the branch, by rules: its decisions, its answers, the files that it
// changed, and the questions that are open. Each item cites its message.
//
// Decisions are outcomes of explorations, merges, messages with bookmarks, and sentences in which
// someone says in English that something is decided. An answer is the first paragraph of the
// last message of the assistant in a turn. Files come from states, without them from the calls of
// tools that write files. Questions are the unanswered ones at the end of the branch.
func (m *Material) Text() string {
	var b strings.Builder
	b.WriteString(m.heading())
	for _, s := range []struct {
		title string
		items []string
	}{
		{"Decisions", m.decisions()}, {"Answers", m.answers()}, {"Changed files", m.changed()}, {"Open questions", m.questions()},
	} {
		if len(s.items) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n\n## %s\n\n", s.title)
		shown := s.items[:min(maxItems, len(s.items))]
		b.WriteString("- " + strings.Join(shown, "\n- "))
		if n := len(s.items) - len(shown); n > 0 {
			fmt.Fprintf(&b, "\n- and %d more", n)
		}
	}
	return b.String()
}

// heading says what was merged.
func (m *Material) heading() string {
	s := fmt.Sprintf("Merged %q: %s up to %s", clip(m.Title, maxSaid), plural.Of(len(m.Messages), "message"), cite(m.Messages[len(m.Messages)-1]))
	if m.Base != nil {
		s += ", after " + cite(*m.Base)
	}
	return s
}

func cite(m cited.Message) string { return "[" + m.Ref + "]" }

func (m *Material) decisions() (items []string) {
	seen := map[string]bool{}
	add := func(text string, by cited.Message) {
		if text = clip(text, maxSaid); text != "" && !seen[text] {
			seen[text] = true
			items = append(items, text+" "+cite(by))
		}
	}
	for _, c := range m.Messages {
		own := gjson.GetBytes(c.Raw, "metadata.bough")
		for _, label := range m.Labels[c.ID] {
			add(fmt.Sprintf("Bookmark %q: %s", label, spoken.Words(c.Message)), c)
		}
		if c.IsMerge() {
			add(firstParagraph(c.Text()), c)
			continue
		}
		if own.Get("exploration.selected").Exists() {
			add("Outcome of an exploration: "+firstParagraph(c.Text()), c)
			continue
		}
		for sentence := range sentences(saidBy(c.Message)) {
			if decides(sentence) {
				add(sentence, c)
			}
		}
	}
	return items
}

// answers returns each question of a person with the last answer in its turn.
func (m *Material) answers() (items []string) {
	var asked, answered *cited.Message
	flush := func() {
		if answered != nil {
			item := clip(firstParagraph(saidBy(answered.Message)), maxAnswer) + " " + cite(*answered)
			if asked != nil {
				item = clip(spoken.Words(asked.Message), maxSaid) + " " + cite(*asked) + "\n  " + item
			}
			items = append(items, item)
		}
		answered = nil
	}
	for i := range m.Messages {
		c := &m.Messages[i]
		switch {
		case c.IsMerge():
			flush()
			asked = nil
		case spoken.ByPerson(c.Message):
			flush()
			asked = c
		case c.Role() == "assistant" && strings.TrimSpace(saidBy(c.Message)) != "":
			answered = c
		}
	}
	flush()
	return items
}

// changed returns the files that changed.
func (m *Material) changed() (items []string) {
	if m.Files != nil {
		for _, c := range m.Files.Changes {
			items = append(items, clip(c.Path, maxSaid)+" ("+c.Kind+")")
		}
		return items
	}
	for _, c := range m.Messages {
		said := content.Read(c.Raw)
		for i := range said.Parts {
			if said.Parts[i].Type != content.TypeToolCall {
				continue
			}
			for _, path := range written(said.Parts[i].Call()) {
				path = clip(path, maxSaid)
				same := func(item string) bool { return strings.HasPrefix(item, path+" [") }
				if !slices.ContainsFunc(items, same) {
					items = append(items, path+" "+cite(c))
				}
			}
		}
	}
	return items
}

// written returns the paths of the files that a call of a tool writes, as far as its arguments
// say so.
func written(c content.Call) (paths []string) {
	name := strings.ToLower(c.Name)
	writes := slices.ContainsFunc([]string{"write", "edit", "patch", "create", "replace"}, func(word string) bool { return strings.Contains(name, word) })
	if !writes {
		return nil
	}
	arguments := gjson.Parse(c.Arguments)
	if arguments.IsObject() {
		for _, key := range []string{"file_path", "filePath", "path", "filename", "notebook_path"} {
			if path := inLine(arguments.Get(key).Str); path != "" {
				return []string{path}
			}
		}
	}
	text := c.Arguments // a patch, alone or as an argument
	for _, key := range []string{"input", "patch"} {
		if s := arguments.Get(key).Str; s != "" {
			text = s
		}
	}
	for line := range strings.Lines(text) {
		for _, begin := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if path, ok := strings.CutPrefix(line, begin); ok {
				paths = append(paths, inLine(path))
			}
		}
	}
	return paths
}

// questions returns what the end of the branch leaves open.
func (m *Material) questions() (items []string) {
	last := m.Messages[len(m.Messages)-1]
	if spoken.Asks(last.Message) {
		return []string{clip(spoken.Words(last.Message), maxSaid) + " " + cite(last) + " (not answered)"}
	}
	for i := len(m.Messages) - 1; i >= 0; i-- { // the last thing that the assistant said
		c := m.Messages[i]
		if spoken.Asks(c.Message) {
			break
		}
		if text := saidBy(c.Message); c.Role() == "assistant" && strings.TrimSpace(text) != "" {
			for sentence := range sentences(text) {
				if strings.HasSuffix(sentence, "?") {
					items = append(items, clip(sentence, maxSaid)+" "+cite(c))
				}
			}
			break
		}
	}
	open := map[string]cited.Message{}
	var order []string
	for _, c := range m.Messages {
		for _, use := range content.Read(c.Raw).ToolUses() {
			if use.Result {
				delete(open, use.Call)
			} else if use.Call != "" {
				open[use.Call] = c
				order = append(order, use.Call)
			}
		}
	}
	for _, call := range order {
		if c, ok := open[call]; ok {
			items = append(items, "A call of a tool has no result "+cite(c))
			delete(open, call)
		}
	}
	return items
}

// saidBy returns the text parts of a message, without thoughts and tools.
func saidBy(m session.Message) string {
	said := content.Read(m.Raw)
	var list []string
	for i := range said.Parts {
		if p := &said.Parts[i]; p.Type == content.TypeText {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n\n")
}

// clip returns a text on one line of at most n characters. Citations in it become none: they may
// be of another workspace.
func clip(text string, n int) string {
	text = inLine(text)
	if len(cited.Refs(text)) > 0 {
		text = strings.NewReplacer("[", "(", "]", ")").Replace(text)
	}
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

func inLine(text string) string { return strings.Join(strings.Fields(text), " ") }
