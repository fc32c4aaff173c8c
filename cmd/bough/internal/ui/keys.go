package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/internal/treerows"
	"github.com/bough-dev/bough/session"
)

// key handles a key of the page.
func (m *model) key(name string) tea.Cmd {
	m.said, m.refused = "", false
	if act, ok := m.acts[name]; ok {
		return m.act(act)
	}
	_, columns, height := m.layout()
	switch name {
	case "down":
		return m.move(1)
	case "up":
		return m.move(-1)
	case "left":
		return m.act("fold")
	case "right":
		return m.act("unfold")
	case "tab", "shift+tab":
		return m.act("tree")
	case "pgdown", "space", "ctrl+f":
		return m.page(height)
	case "pgup", "ctrl+b":
		return m.page(-height)
	case "ctrl+d":
		return m.page(height / 2)
	case "ctrl+u":
		return m.page(-height / 2)
	case "home", "g":
		return m.toEnd(-1)
	case "end", "G":
		return m.toEnd(1)
	case "ctrl+e":
		m.conv.scroll(1, columns, height)
	case "ctrl+y":
		m.conv.scroll(-1, columns, height)
	case "esc":
		m.say("")
		m.marked = ""
	}
	return nil
}

// act does what an act of the table of keys does.
func (m *model) act(act string) tea.Cmd {
	_, columns, height := m.layout()
	switch act {
	case "next":
		return m.step(1)
	case "previous":
		return m.step(-1)
	case "fold":
		return m.fold()
	case "unfold":
		return m.unfold()
	case "open":
		if m.focus == treeSide {
			m.focus = conversationSide
			return nil
		}
		return m.unfold()
	case "tree":
		m.focus = conversationSide - m.focus
	case "previous-sibling":
		return m.sibling(-1)
	case "next-sibling":
		return m.sibling(1)
	case "previous-fork":
		m.conv.toFork(-1, columns, height)
	case "next-fork":
		m.conv.toFork(1, columns, height)
	case "filter":
		m.tree.nextFilter()
		m.say("The tree shows: " + strings.ToLower(m.tree.filter.Text()))
	case "copy":
		return m.copy()
	case "help":
		return m.push(m.helpScreen())
	case "quit":
		return tea.Quit
	default:
		return m.change(act)
	}
	return nil
}

// step selects the next message or row in a direction.
func (m *model) step(n int) tea.Cmd {
	if m.focus == treeSide {
		return m.moveRow(n)
	}
	_, columns, height := m.layout()
	m.conv.move(m.conv.cursor+n, columns, height)
	return nil
}

// move selects the next row, or scrolls the conversation by a line.
func (m *model) move(n int) tea.Cmd {
	if m.focus == treeSide {
		return m.moveRow(n)
	}
	_, columns, height := m.layout()
	m.conv.scroll(n, columns, height)
	return nil
}

func (m *model) page(n int) tea.Cmd {
	if m.focus == treeSide {
		return m.moveRow(n)
	}
	return m.move(n)
}

func (m *model) toEnd(direction int) tea.Cmd {
	if m.focus == treeSide {
		return m.moveRow(direction * len(m.tree.rows))
	}
	if m.conv.path != nil {
		_, columns, height := m.layout()
		m.conv.move(m.conv.cursor+direction*len(m.conv.path.Messages), columns, height)
		m.conv.win = window{}
		if all := m.conv.body(columns); direction > 0 {
			m.conv.win = lastWindow(all, all.count-1, height)
		}
	}
	return nil
}

// moveRow moves the cursor in the tree and shows the conversation there.
func (m *model) moveRow(n int) tea.Cmd {
	before := m.tree.selected().ID
	if m.tree.list != nil {
		m.tree.list.Move(n)
		m.tree.wanted = ""
	}
	if m.tree.selected().ID == before {
		return nil
	}
	return m.preview()
}

func (m *model) fold() tea.Cmd {
	if m.focus == treeSide {
		before := m.tree.selected().ID
		m.tree.fold()
		if m.tree.selected().ID != before {
			return m.preview()
		}
		return nil
	}
	return m.setUnfolded(false)
}

func (m *model) unfold() tea.Cmd {
	if m.focus == treeSide {
		if m.tree.unfold() {
			return m.reload()
		}
		return nil
	}
	return m.setUnfolded(true)
}

// setUnfolded shows all of the selected message, or its beginning.
func (m *model) setUnfolded(unfolded bool) tea.Cmd {
	if id := m.conv.selected(); id != "" {
		m.conv.unfolded[id] = unfolded
		delete(m.conv.lines, m.conv.cursor)
		_, columns, height := m.layout()
		m.conv.win.reveal(m.conv.body(columns), m.conv.cursor, height)
	}
	return nil
}

// sibling shows another reply at the fork.
func (m *model) sibling(step int) tea.Cmd {
	to, ok := m.conv.sibling(step)
	if !ok {
		m.refuse("No message of this path has another reply beside it")
		return nil
	}
	return m.open(to)
}

// copy copies the text of the selected message to the clipboard of the terminal.
func (m *model) copy() tea.Cmd {
	if m.focus == treeSide || m.conv.selected() == "" {
		m.refuse("Select a message to copy its text")
		return nil
	}
	text := m.conv.path.Messages[m.conv.cursor].Text()
	m.say("Copied " + itoa(len([]rune(text))) + " characters, if the terminal allows it")
	return tea.SetClipboard(clean(text))
}

// wheel scrolls the side under the pointer.
func (m *model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	n := 3
	if msg.Button == tea.MouseWheelUp {
		n = -3
	}
	left, columns, height := m.layout()
	if m.narrow() && m.focus == treeSide || !m.narrow() && msg.X < left {
		return m.moveRow(n)
	}
	m.conv.scroll(n, columns, height)
	return nil
}

// click selects a row or a message.
func (m *model) click(msg tea.MouseClickMsg) tea.Cmd {
	left, columns, height := m.layout()
	row := msg.Y - 1
	if msg.Button != tea.MouseLeft || row < 0 || row >= height {
		return nil
	}
	if m.narrow() && m.focus == treeSide || !m.narrow() && msg.X < left {
		m.focus = treeSide
		before := m.tree.selected().ID
		if m.tree.list == nil || !m.tree.list.Click(row, height) {
			return nil
		}
		if r := m.tree.selected(); r.ID == before && r.Expandable {
			if r.Expanded {
				return m.fold()
			}
			return m.unfold()
		}
		return m.preview()
	}
	m.focus = conversationSide
	shown := m.conv.win.visible(m.conv.body(columns), height)
	if row < len(shown) && m.conv.path != nil {
		m.conv.cursor = min(shown[row].item, max(0, len(m.conv.path.Messages)-1))
	}
	return nil
}

// say shows what was done, refuse why something was not.
func (m *model) say(text string)    { m.said, m.refused, m.offered = text, false, false }
func (m *model) refuse(text string) { m.said, m.refused, m.offered = text, true, false }

// isCheckpoint reports whether a conversation that is listed or shown is a checkpoint.
func (m *model) isCheckpoint(id string) bool {
	if p := m.conv.path; p != nil && p.line == id {
		return p.Entry.Kind == session.Checkpoint
	}
	r, ok := m.row(id)
	return ok && r.Kind == treerows.Checkpoint
}
