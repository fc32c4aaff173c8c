package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/workspace/compare"
)

// compare notes the selected place or, the second time, compares with it.
func (m *model) compare(ref string) tea.Cmd {
	if m.marked == "" || m.marked == ref {
		m.say("")
		m.marked = ref
		return nil
	}
	first, e := m.marked, m.env
	m.marked = ""
	return e.do(func() tea.Msg {
		c, err := e.w.Compare(e.ctx, []string{first, ref}, compare.Options{ReadOptions: partial()})
		if err != nil {
			return failure{err}
		}
		return screenRequest{comparisonScreen(c)}
	})
}

// A failure is why something could not be shown.
type failure struct{ err error }

// comparisonScreen shows what each path has beyond the common message: side by side where there
// is room, else one below the other.
func comparisonScreen(c *compare.Comparison) screen {
	const wide = 100
	return &textScreen{title: "Compare, after " + messages(c.Shared) + " that both have", text: func(columns int) (lines []string) {
		if columns < wide {
			for _, s := range c.Sides {
				lines = append(append(lines, sideLines(s, columns)...), "")
			}
			return lines
		}
		half := (columns - 3) / 2
		left, right := sideLines(c.Sides[0], half), sideLines(c.Sides[1], half)
		for i := range max(len(left), len(right)) {
			lines = append(lines, strings.TrimRight(pad(at(left, i), half)+dim(" │ ")+at(right, i), " "))
		}
		return lines
	}}
}

// sideLines returns a path from where it parts from the other one.
func sideLines(s compare.Side, columns int) []string {
	about := messages(len(s.Messages))
	if s.Agent != "" {
		about += " · agent " + line(s.Agent)
	}
	if s.Files != nil {
		about += " · " + itoa(len(s.Files.Changes)) + " changed files"
	}
	lines := []string{bold(fit(line(s.Title), columns)), dim(fit(line(s.EndRef)+" · "+about, columns)), ""}
	for _, m := range s.Messages {
		role := line(m.Role)
		lines = append(lines, roleStyle(role)(fit(role, columns)))
		lines = append(lines, foldedText(strings.TrimSpace(clean(m.Message.Text())), textLines, false, columns, plainly)...)
		lines = append(lines, "")
	}
	return lines
}
