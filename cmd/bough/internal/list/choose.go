package list

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/clipperhouse/displaywidth"
)

// Options configure Choose.
type Options struct {
	Prompt string
	Items  []Item
	Query  string // the initial query
	// Preview returns the text to show beside an item. It is called in a goroutine
	// of its own; its context ends when the cursor moves on. If nil, there is no
	// preview.
	Preview func(ctx context.Context, item int) string
	Color   bool
}

// ErrNone is the error if the user chose nothing.
var ErrNone = errors.New("nothing was chosen")

// Choose shows the items on a terminal and returns the index of the one that
// the user chose. It restores the screen.
func Choose(ctx context.Context, in io.Reader, out io.Writer, o Options) (int, error) {
	m := &chooser{options: o, list: New(o.Items), previews: map[int]string{}, ctx: ctx, chosen: -1}
	m.list.Filter(o.Query)
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrInterrupted) || err == nil && m.chosen < 0 {
		return -1, ErrNone
	}
	return m.chosen, err
}

// A chooser is the bubbletea model of Choose.
type chooser struct {
	options       Options
	list          *List
	width, height int
	ctx           context.Context
	previews      map[int]string
	stop          context.CancelFunc // cancels the preview that is being made, nil if there is none
	chosen        int
	done          bool // later keys are ignored
}

// A preview is a result of Options.Preview.
type preview struct {
	item int
	text string
}

func (m *chooser) Init() tea.Cmd { return m.look() }

// look starts the preview of the item at the cursor.
func (m *chooser) look() tea.Cmd {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
	item := m.list.Selected()
	if _, known := m.previews[item]; known || item < 0 || m.options.Preview == nil {
		return nil
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.stop = stop
	return func() tea.Msg {
		defer stop()
		text := m.options.Preview(ctx, item)
		if ctx.Err() != nil {
			return nil
		}
		return preview{item, text}
	}
}

func (m *chooser) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case preview:
		m.previews[msg.item] = msg.text
	case tea.PasteMsg:
		m.filter(m.list.Query() + msg.Content)
		return m, m.look()
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			m.list.Move(-1)
		} else if msg.Button == tea.MouseWheelDown {
			m.list.Move(1)
		}
		return m, m.look()
	case tea.KeyPressMsg:
		if m.done {
			return m, nil
		}
		return m.key(msg)
	}
	return m, nil
}

// filter sets the query, on one line.
func (m *chooser) filter(query string) {
	m.list.Filter(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, query))
}

// key handles a key.
func (m *chooser) key(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	query := m.list.Query()
	switch k.String() {
	case "esc", "ctrl+c", "ctrl+g", "ctrl+d":
		m.done = true
		return m, tea.Quit
	case "enter", "ctrl+j": // the end of a line that was typed before the list was shown
		if m.chosen = m.list.Selected(); m.chosen >= 0 {
			m.done = true
			return m, tea.Quit
		}
	case "up", "ctrl+p", "shift+tab":
		m.list.Move(-1)
	case "down", "ctrl+n", "tab":
		m.list.Move(1)
	case "pgup":
		m.list.Move(-m.rows())
	case "pgdown":
		m.list.Move(m.rows())
	case "home":
		m.list.Move(-len(m.options.Items))
	case "end":
		m.list.Move(len(m.options.Items))
	case "backspace", "ctrl+h":
		if runes := []rune(query); len(runes) > 0 {
			m.filter(string(runes[:len(runes)-1]))
		}
	case "ctrl+w":
		trimmed := strings.TrimRight(query, " ")
		m.filter(trimmed[:strings.LastIndex(trimmed, " ")+1])
	case "ctrl+u":
		m.filter("")
	default:
		if k.Text != "" {
			m.filter(query + k.Text)
		}
	}
	return m, m.look()
}

// rows returns how many items are visible.
func (m *chooser) rows() int { return max(1, m.height-2) }

// wide is the minimum width of a terminal for a preview.
const wide = 70

func (m *chooser) View() tea.View {
	if m.width == 0 {
		return tea.NewView("")
	}
	columns := m.width
	if m.options.Preview != nil && m.width >= wide {
		columns = m.width / 2
	}
	left := m.rowsView(columns)
	content := strings.Join(left, "\n")
	if columns < m.width {
		content = beside(left, m.previewView(m.width-columns-2), columns)
	}
	v := tea.NewView(m.head() + "\n" + content)
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.Cursor = tea.NewCursor(min(displaywidth.String(m.options.Prompt+" "+m.list.Query()), m.width-1), 0)
	return v
}

// head returns the line with the query.
func (m *chooser) head() string {
	return fit(m.options.Prompt+" "+m.list.Query(), m.width)
}

// rowsView returns the lines of the visible items.
func (m *chooser) rowsView(columns int) []string {
	items, cursor := m.list.Window(m.rows())
	lines := make([]string, 0, m.rows()+1)
	for row, i := range items {
		mark := "  "
		if row == cursor {
			mark = "> "
		}
		text := fit(mark+m.options.Items[i].Text, columns)
		detail := fit("  "+m.options.Items[i].Detail, max(0, columns-displaywidth.String(text)))
		switch {
		case row == cursor && m.options.Color:
			lines = append(lines, lipgloss.NewStyle().Reverse(true).Render(text+detail))
		case m.options.Color:
			lines = append(lines, text+lipgloss.NewStyle().Faint(true).Render(detail))
		default:
			lines = append(lines, text+detail)
		}
	}
	for len(lines) < m.rows() {
		lines = append(lines, "")
	}
	return append(lines, m.count(columns))
}

// count returns how many items match, as text.
func (m *chooser) count(columns int) string {
	shown, all := m.list.Len()
	text := strconv.Itoa(shown) + "/" + strconv.Itoa(all) + "  enter chooses, esc leaves"
	if shown == 0 {
		text = "nothing matches; ctrl+u clears the line"
	}
	return fit(text, columns)
}

// previewView returns the visible lines of the preview.
func (m *chooser) previewView(columns int) []string {
	text, known := m.previews[m.list.Selected()]
	if !known || columns < 1 {
		return nil
	}
	var lines []string
	for l := range strings.SplitSeq(lipgloss.Wrap(text, columns, ""), "\n") {
		if len(lines) == m.rows() {
			break
		}
		lines = append(lines, l)
	}
	return lines
}

// fit cuts s to a number of columns.
func fit(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	return displaywidth.TruncateString(s, columns, "…")
}

// beside joins two columns of lines. The left one has the given width.
func beside(left, right []string, columns int) string {
	for i, l := range left {
		r := ""
		if i < len(right) {
			r = right[i]
		}
		left[i] = l + strings.Repeat(" ", max(0, columns-lipgloss.Width(l))) + "│ " + r
	}
	return strings.Join(left, "\n")
}
