package list

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/clipperhouse/displaywidth"
)

// Options configure a [Picker].
type Options struct {
	Prompt string
	Items  []Item
	Query  string // the initial query
	// Find returns the items for a query, best first. It is called in a goroutine of its own;
	// its context ends when the query changes. If nil, Items are filtered.
	Find func(ctx context.Context, query string) ([]Item, error)
	// Preview returns the text to show beside an item. It is called in a goroutine
	// of its own; its context ends when the cursor moves on. If nil, there is no
	// preview.
	Preview func(ctx context.Context, item int) string
	Color   bool
}

// A Picker is a list on a terminal, below a line to filter it, with a preview beside it. It is
// part of a model of bubbletea: Update is called with each message.
type Picker struct {
	options       Options
	list          *List
	query         string // as typed; with Find, the list can be that of an earlier one
	width, height int
	ctx           context.Context
	previews      map[int]string
	look          context.CancelFunc // cancels the preview that is being made, nil if there is none
	find          context.CancelFunc // cancels the search, nil if there is none
	finding       bool
	problem       string // why the search failed
	chosen        int
	done          bool // later keys are ignored
}

// NewPicker returns a picker. What it calls in the background ends with ctx.
func NewPicker(ctx context.Context, o Options) *Picker {
	p := &Picker{options: o, list: New(o.Items), query: o.Query, previews: map[int]string{}, ctx: ctx, chosen: -1}
	if o.Find == nil {
		p.list.Filter(o.Query)
	}
	return p
}

// A preview is a result of Options.Preview.
type preview struct {
	of   *Picker
	item int
	text string
}

// A result is a result of Options.Find.
type result struct {
	of    *Picker
	query string
	items []Item
	err   error
}

// Init returns the first command.
func (p *Picker) Init() tea.Cmd {
	if p.options.Find != nil && p.query != "" {
		return p.search()
	}
	return p.lookAt()
}

// Done reports whether the user has left the list, and returns the index of the item that was
// chosen, -1 for none.
func (p *Picker) Done() (item int, done bool) { return p.chosen, p.done }

// Item returns an item of the list.
func (p *Picker) Item(i int) Item { return p.options.Items[i] }

// lookAt starts the preview of the item at the cursor.
func (p *Picker) lookAt() tea.Cmd {
	if p.look != nil {
		p.look()
		p.look = nil
	}
	item := p.list.Selected()
	if item >= 0 && p.options.Items[item].About != "" {
		p.previews[item] = p.options.Items[item].About
	}
	if _, known := p.previews[item]; known || item < 0 || p.options.Preview == nil {
		return nil
	}
	ctx, stop := context.WithCancel(p.ctx)
	p.look = stop
	return func() tea.Msg {
		defer stop()
		text := p.options.Preview(ctx, item)
		if ctx.Err() != nil {
			return nil
		}
		return preview{p, item, text}
	}
}

// search starts the search for the query.
func (p *Picker) search() tea.Cmd {
	if p.find != nil {
		p.find()
		p.find = nil
	}
	query := strings.TrimSpace(p.query)
	if p.finding = query != ""; !p.finding {
		return p.found(result{})
	}
	ctx, stop := context.WithCancel(p.ctx)
	p.find = stop
	return func() tea.Msg {
		defer stop()
		items, err := p.options.Find(ctx, query)
		if ctx.Err() != nil {
			return nil
		}
		return result{p, query, items, err}
	}
}

// found shows the result of a search.
func (p *Picker) found(r result) tea.Cmd {
	p.finding, p.problem = false, ""
	if r.err != nil {
		p.problem = r.err.Error()
	}
	p.options.Items, p.list, p.previews = r.items, New(r.items), map[int]string{}
	return p.lookAt()
}

// Update handles a message. It ignores those of other pickers.
func (p *Picker) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
	case preview:
		if msg.of == p {
			p.previews[msg.item] = msg.text
		}
	case result:
		if msg.of == p && msg.query == strings.TrimSpace(p.query) {
			return p.found(msg)
		}
	case tea.PasteMsg:
		return p.filter(p.query + msg.Content)
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			p.list.Move(-1)
		} else if msg.Button == tea.MouseWheelDown {
			p.list.Move(1)
		}
		return p.lookAt()
	case tea.MouseClickMsg:
		p.list.Click(msg.Y-1, p.rows())
		return p.lookAt()
	case tea.KeyPressMsg:
		if !p.done {
			return p.key(msg)
		}
	}
	return nil
}

// filter sets the query, on one line.
func (p *Picker) filter(query string) tea.Cmd {
	p.query = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, query)
	if p.options.Find != nil {
		return p.search()
	}
	p.list.Filter(p.query)
	return p.lookAt()
}

// key handles a key.
func (p *Picker) key(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc", "ctrl+c", "ctrl+g", "ctrl+d":
		p.done = true
		return nil
	case "enter", "ctrl+j": // the end of a line that was typed before the list was shown
		if p.chosen = p.list.Selected(); p.chosen >= 0 {
			p.done = true
			return nil
		}
	case "up", "ctrl+p", "shift+tab":
		p.list.Move(-1)
	case "down", "ctrl+n", "tab":
		p.list.Move(1)
	case "pgup":
		p.list.Move(-p.rows())
	case "pgdown":
		p.list.Move(p.rows())
	case "home":
		p.list.Move(-len(p.options.Items))
	case "end":
		p.list.Move(len(p.options.Items))
	case "backspace", "ctrl+h":
		if runes := []rune(p.query); len(runes) > 0 {
			return p.filter(string(runes[:len(runes)-1]))
		}
	case "ctrl+w":
		trimmed := strings.TrimRight(p.query, " ")
		return p.filter(trimmed[:strings.LastIndex(trimmed, " ")+1])
	case "ctrl+u":
		return p.filter("")
	default:
		if k.Text != "" {
			return p.filter(p.query + k.Text)
		}
	}
	return p.lookAt()
}

// rows returns how many items are visible.
func (p *Picker) rows() int { return max(1, p.height-2) }

// wide is the minimum width of a terminal for a preview.
const wide = 70

// View returns the screen, and the column of the cursor in its first line.
func (p *Picker) View() (content string, cursor int) {
	if p.width == 0 {
		return "", 0
	}
	columns := p.width
	if (p.options.Preview != nil || p.options.Find != nil) && p.width >= wide {
		columns = p.width / 2
	}
	left := p.rowsView(columns)
	content = strings.Join(left, "\n")
	if columns < p.width {
		content = beside(left, p.previewView(p.width-columns-2), columns)
	}
	head := p.options.Prompt + " " + p.query
	return fit(head, p.width) + "\n" + content, min(displaywidth.String(head), p.width-1)
}

// rowsView returns the lines of the visible items.
func (p *Picker) rowsView(columns int) []string {
	items, cursor := p.list.Window(p.rows())
	lines := make([]string, 0, p.rows()+1)
	for row, i := range items {
		mark := "  "
		if row == cursor {
			mark = "> "
		}
		text := fit(mark+p.options.Items[i].Text, columns)
		detail := fit("  "+p.options.Items[i].Detail, max(0, columns-displaywidth.String(text)))
		switch {
		case row == cursor && p.options.Color:
			lines = append(lines, lipgloss.NewStyle().Reverse(true).Render(text+detail))
		case p.options.Color:
			lines = append(lines, text+lipgloss.NewStyle().Faint(true).Render(detail))
		default:
			lines = append(lines, text+detail)
		}
	}
	for len(lines) < p.rows() {
		lines = append(lines, "")
	}
	return append(lines, fit(p.count(), columns))
}

// count returns how many items match, as text.
func (p *Picker) count() string {
	shown, all := p.list.Len()
	switch {
	case p.problem != "":
		return p.problem
	case p.finding:
		return "searching…"
	case shown == 0 && p.options.Find != nil && p.query == "":
		return "type the words to find, esc leaves"
	case shown == 0:
		return "nothing matches; ctrl+u clears the line"
	}
	return strconv.Itoa(shown) + "/" + strconv.Itoa(all) + "  enter chooses, esc leaves"
}

// previewView returns the visible lines of the preview.
func (p *Picker) previewView(columns int) []string {
	text, known := p.previews[p.list.Selected()]
	if !known || columns < 1 {
		return nil
	}
	var lines []string
	text = strings.ReplaceAll(text, "\t", "    ") // a tab has no width of its own
	for l := range strings.SplitSeq(lipgloss.Wrap(text, columns, ""), "\n") {
		if len(lines) == p.rows() {
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
