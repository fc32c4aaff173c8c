package ui

import (
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/charmbracelet/x/ansi"
)

// narrowWidth is the width of a terminal below which only one side is shown.
const narrowWidth = 60

// tiny is the width of a terminal below which a wide character and the mark of a message may not
// fit.
const tiny = 8

func (m *model) narrow() bool { return m.width < narrowWidth }

// layout returns the columns of both sides, and the height of their lines. Without the other
// side, a side has all columns.
func (m *model) layout() (left, right, height int) {
	height = m.height - 3 // the title, what happened, and the keys
	if m.ask != nil {
		height -= m.ask.height(m.width)
	}
	height = max(height, 1)
	if m.narrow() {
		return max(m.width, 1), max(m.width-2, 1), height
	}
	left = min(max(m.width*2/5, 24), 60)
	return left, m.width - left - 4, height // " │" and the mark of the selected message
}

func (m *model) View() tea.View {
	if m.width <= 0 || m.height <= 0 {
		return tea.NewView("")
	}
	var content string
	var cursor *tea.Cursor
	if n := len(m.screens); n > 0 {
		content, cursor = m.screens[n-1].view(m.width, m.height)
	} else {
		content, cursor = m.pageView()
	}
	lines := strings.Split(content, "\n")
	lines = lines[:min(len(lines), m.height)] // a terminal of few lines
	for i, l := range lines {
		if m.width < tiny && lipgloss.Width(l) > m.width { // or of few columns
			lines[i] = ansi.Truncate(l, m.width, "")
		}
	}
	content = strings.Join(lines, "\n")
	v := viewOf(content)
	if cursor != nil && cursor.Position.Y < m.height {
		v.Cursor = cursor
	}
	return v
}

// viewOf returns a view of the whole terminal.
func viewOf(content string) tea.View {
	v := tea.NewView(content)
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "bough"
	return v
}

// pageView returns the page, and the cursor in its question.
func (m *model) pageView() (string, *tea.Cursor) {
	left, right, height := m.layout()
	lines := []string{m.titleLine()}
	tree := m.treeLines(left, height)
	conversation := m.conversationLines(right, height)
	for i := range height {
		switch {
		case m.narrow() && m.focus == treeSide:
			lines = append(lines, at(tree, i))
		case m.narrow():
			lines = append(lines, at(conversation, i))
		default:
			lines = append(lines, pad(at(tree, i), left)+dim(" │")+at(conversation, i))
		}
	}
	var cursor *tea.Cursor
	if m.ask != nil {
		asked, c := m.ask.view(m.width)
		if c != nil {
			c.Position.Y += len(lines)
			cursor = c
		}
		lines = append(lines, asked...)
	} else {
		lines = append(lines, m.status())
	}
	return strings.Join(append(lines, m.hints()), "\n"), cursor
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// titleLine names the workspace and what is shown.
func (m *model) titleLine() string {
	text := "bough · " + line(filepath.Base(m.env.w.Dir()))
	if p := m.conv.path; p != nil {
		text += " · " + line(p.Entry.Title)
		if agent := m.tree.source.Agents[p.line]; agent != "" {
			text += " · agent " + line(agent)
		}
	}
	return bold(fit(text, m.width))
}

func (m *model) treeLines(columns, height int) []string {
	switch {
	case m.tree.err != "":
		return wrap(m.tree.err, columns)
	case !m.tree.loaded:
		return []string{dim("Reading…")}
	case len(m.tree.rows) == 0:
		return wrap("No conversations; 'bough import' imports those of other assistants.", columns)
	}
	return m.tree.lines(columns, height, m.focus == treeSide, m.env.Now())
}

// conversationLines returns the visible lines of the conversation, the selected message marked.
func (m *model) conversationLines(columns, height int) []string {
	switch {
	case m.conv.err != "":
		return styled(wrap(m.conv.err, columns), red)
	case m.conv.path == nil:
		return nil
	case len(m.conv.path.Messages) == 0 && len(m.conv.replies) == 0:
		return []string{"  " + dim(fit("No messages yet; i writes one.", columns))}
	}
	shown := m.conv.win.visible(m.conv.body(columns), height)
	lines := make([]string, len(shown))
	for i, l := range shown {
		mark := "  "
		if l.item == m.conv.cursor && l.text != "" {
			mark = dim("▌ ")
			if m.focus == conversationSide {
				mark = yellow("▌ ")
			}
		}
		lines[i] = mark + l.text
	}
	return lines
}

// status returns the line with what happened, else where the selection is.
func (m *model) status() string {
	switch {
	case m.busy > 0:
		return dim("…")
	case m.said != "" && m.refused:
		return red(fit(m.said, m.width))
	case m.said != "":
		text := m.said
		if m.offered {
			text += " · u undoes it"
		}
		return green(fit(text, m.width))
	case m.marked != "":
		return yellow(fit("Comparing with "+line(shortRef(m.marked))+"; = at another message shows both", m.width))
	case m.live != "":
		return red(fit("Changes are not shown any more: "+m.live, m.width))
	}
	if p := m.conv.path; p != nil && len(p.Messages) > 0 {
		text := "message " + itoa(m.conv.cursor+1) + " of " + itoa(len(p.Messages))
		if r := m.conv.cursor; r < len(p.Refs) {
			text += " · " + line(p.Refs[r])
		}
		if !p.tip {
			text += " · other messages follow this path"
		}
		return dim(fit(text, m.width))
	}
	return dim(fit(plural.Of(len(m.tree.rows), "row"), m.width))
}

// shortRef returns a REF of a conversation or of a message with the shown parts of its ids.
func shortRef(ref string) string {
	id, message, ok := strings.Cut(ref, "@")
	if ok {
		message = "@" + lookup.Short(message)
	}
	return lookup.Short(id) + message
}

// hints returns the keys of what can be done, as many as there is room for.
func (m *model) hints() string {
	acts := []string{"help", "quit", "open", "search", "write", "checkpoint", "branch", "continue", "bookmark", "go", "undo", "rename", "delete", "compare", "log", "merge", "bookmarks", "agents", "files", "explorations", "new", "create-agent"}
	if m.focus == conversationSide {
		acts = []string{"help", "quit", "tree", "search", "write", "checkpoint", "branch", "continue", "bookmark", "next-sibling", "compare", "edit", "copy", "undo", "go", "log", "merge", "pick", "bookmarks", "agents", "files", "explorations", "explore", "restore-files"}
	}
	keys := map[string]string{}
	for _, k := range m.keys {
		keys[k.Act] = k.Key
	}
	text := ""
	for _, act := range acts {
		hint := keys[act] + " " + strings.ReplaceAll(act, "-", " ")
		if text != "" {
			hint = "  " + hint
		}
		if width(text+hint) > m.width {
			break
		}
		text += hint
	}
	return dim(text)
}
