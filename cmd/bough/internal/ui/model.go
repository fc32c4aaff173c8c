package ui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/internal/keytable"
	"github.com/bough-dev/bough/internal/treerows"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/events"
)

// A side is the side of the page that has the keys.
type side int

const (
	treeSide side = iota
	conversationSide
)

// A model is the state of the page.
type model struct {
	env           *env
	keys          []keytable.Key
	acts          map[string]string // by key, as bubbletea names it
	width, height int

	tree  tree
	conv  conversation
	focus side

	screens []screen   // over the page, the last one on top
	ask     *question  // at the bottom, nil for none
	said    string     // what the last change did, or why it was refused
	undo    events.Seq // the newest change that this page made, 0 if it was an undo
	offered bool       // the report is about it
	refused bool
	busy    int // changes that run
	pressed int // keys

	marked string // the first REF of a comparison, "" for none

	reading, reread bool // the tree is being read, and has to be read again
	stop            context.CancelFunc
	stale           bool // the path has to be read again when it has been read
	loading         bool
	live            string          // why changes are no longer shown, "" if they are
	noted           map[string]bool // notes that were shown; each reading repeats them
}

// A screen is shown over the page.
type screen interface {
	// update handles a message. done closes the screen.
	update(m *model, msg tea.Msg) (cmd tea.Cmd, done bool)
	// view returns the screen, and the cursor if it has one.
	view(width, height int) (string, *tea.Cursor)
}

func newModel(e *env) *model {
	m := &model{env: e, keys: keytable.Keys(), acts: map[string]string{}, noted: map[string]bool{}}
	for _, k := range m.keys {
		name := k.Key
		if len([]rune(name)) > 1 {
			name = strings.ToLower(name)
		}
		m.acts[name] = k.Act
	}
	m.tree.open = map[string]bool{}
	m.conv.unfolded = map[string]bool{}
	return m
}

func (m *model) Init() tea.Cmd {
	m.reading = true
	return tea.Batch(m.env.do(m.env.follow), m.env.loadTree(nil))
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		_, right, body := m.layout()
		m.conv.win.clamp(m.conv.body(right), body)
		for _, s := range m.screens {
			s.update(m, msg)
		}
		return m, nil
	case treeResult:
		return m, m.showTree(msg)
	case pathResult:
		return m, m.showPath(msg)
	case workspaceEvent:
		return m, m.handleEvent(msg)
	case followEnd:
		m.live = explain(msg.err)
		return m, nil
	case failure:
		m.refuse(explain(msg.err))
		return m, nil
	case note:
		if !m.noted[msg.text] {
			m.noted[msg.text] = true
			m.refuse(line(msg.text))
		}
		return m, nil
	case changeResult:
		return m, m.endChange(msg)
	case undoPlan:
		return m, m.confirmUndo(msg)
	case sessionList:
		return m, m.listSessions(msg)
	case operationList:
		return m, m.listOperations(msg)
	case turnResult:
		return m, m.endTurn(msg)
	case explorationBegun:
		return m, m.openExploration(msg.id)
	case explorationEnd:
		return m, m.endExploration(msg)
	case restorePlan:
		return m, m.showPlan(msg)
	case screenRequest:
		return m, m.push(msg.screen)
	case screenResult:
		return m, msg.of.set(m, msg)
	case screenTick:
		return m, msg.of.reload(m.env)
	case listRequest:
		return m, m.pick(msg.options, msg.choose)
	case editRequest:
		return m, m.edit(msg)
	case editResult:
		return m, m.addEdited(msg)
	case refusal:
		m.refuse(msg.text)
		return m, nil
	case tea.KeyPressMsg:
		m.pressed++
		if msg.String() == "ctrl+c" {
			return m, tea.Quit
		}
		if msg.String() == "ctrl+z" {
			return m, tea.Suspend
		}
	}
	if n := len(m.screens); n > 0 {
		top := m.screens[n-1]
		cmd, done := top.update(m, msg)
		if done {
			m.screens = slices.DeleteFunc(m.screens, func(s screen) bool { return s == top })
		}
		return m, cmd
	}
	if m.ask != nil {
		if cmd, handled := m.ask.update(m, msg); handled {
			return m, cmd
		}
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	case tea.MouseWheelMsg:
		return m, m.wheel(msg)
	case tea.MouseClickMsg:
		return m, m.click(msg)
	}
	return m, nil
}

// push shows a screen.
func (m *model) push(s screen) tea.Cmd {
	s.update(m, tea.WindowSizeMsg{Width: m.width, Height: m.height})
	m.screens = append(m.screens, s)
	if p, ok := s.(*pickScreen); ok {
		return p.picker.Init()
	}
	return nil
}

// reload reads the tree again, once after any number of changes.
func (m *model) reload() tea.Cmd {
	if m.reading {
		m.reread = true
		return nil
	}
	m.reading = true
	return m.env.loadTree(m.tree.opened())
}

func (m *model) showTree(msg treeResult) (cmd tea.Cmd) {
	m.reading = false
	if msg.err != nil {
		m.tree.err = explain(msg.err)
	} else {
		first := !m.tree.loaded
		m.tree.source, m.tree.loaded, m.tree.err = msg.source, true, ""
		m.tree.set()
		if first {
			cmd = m.begin()
		}
		m.marks()
	}
	if m.reread {
		m.reread = false
		cmd = tea.Batch(cmd, m.reload())
	}
	return cmd
}

// begin shows the conversation at the head, or the first one.
func (m *model) begin() tea.Cmd {
	if i := slices.IndexFunc(m.tree.rows, func(r treerows.Row) bool { return r.Head }); i >= 0 {
		m.tree.list.Select(i)
	}
	if h := m.tree.source.Head; h != nil {
		m.tree.show(h.Head.Session)
		return m.open(place{session: h.Head.Session, leaf: string(h.Head.Message)})
	}
	return m.preview()
}

// marks notes which messages have a bookmark, and which one the head is at.
func (m *model) marks() {
	m.conv.labels, m.conv.headAt = map[string][]string{}, ""
	for _, b := range m.tree.source.Bookmarks {
		m.conv.labels[b.Message] = append(m.conv.labels[b.Message], b.Label)
	}
	if h := m.tree.source.Head; h != nil {
		m.conv.headAt = string(h.Head.Message)
	}
	m.conv.forgetLines()
}

// open shows a place, when it has been read.
func (m *model) open(at place) tea.Cmd {
	if m.stop != nil {
		m.stop()
	}
	ctx, stop := context.WithCancel(m.env.ctx)
	m.stop, m.loading, m.stale = stop, true, false
	if m.conv.path != nil && m.conv.path.line != at.session && m.conv.want.session != at.session {
		m.conv.path, m.conv.replies = nil, nil
		m.conv.cursor, m.conv.win = 0, window{}
	}
	m.conv.want, m.conv.err = at, ""
	return m.env.load(ctx, at)
}

func (m *model) showPath(msg pathResult) tea.Cmd {
	if msg.place != m.conv.want {
		return nil
	}
	m.loading = false
	switch {
	case isGone(msg.err) && m.conv.want.leaf != "":
		return m.open(place{session: m.conv.want.session})
	case msg.err != nil:
		m.conv.path, m.conv.err = nil, explain(msg.err)
	default:
		_, columns, height := m.layout()
		m.conv.set(msg.path, columns, height, m.env.Now())
		m.conv.replies = m.replies()
	}
	if m.stale {
		return m.refresh()
	}
	return nil
}

// refresh reads the path again, with what was added below its end. A path that ended before
// other messages stays as it is, and no other branch takes its place.
func (m *model) refresh() tea.Cmd {
	if m.loading || m.conv.want.session == "" {
		m.stale = m.loading
		return nil
	}
	at := m.conv.want
	if p := m.conv.path; p != nil && p.last != "" {
		at.leaf, at.follow = p.last, p.tip
	}
	return m.open(at)
}

// handleEvent handles an event. The last of several events that wait reads everything again.
func (m *model) handleEvent(e workspaceEvent) tea.Cmd {
	if e.Type == events.ChatContent {
		m.conv.replies = m.replies()
		return nil
	}
	if e.Behind > 0 {
		return nil
	}
	cmds := []tea.Cmd{m.reload(), m.refresh()}
	for _, s := range m.screens {
		cmd, _ := s.update(m, e)
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// replies returns the replies that agents of this page are writing to the path that is shown.
func (m *model) replies() (list []events.Piece) {
	if m.conv.path == nil {
		return nil
	}
	for _, r := range m.env.w.Replies() {
		if _, complete := m.conv.path.index[string(r.Message)]; !complete && string(r.Session) == m.conv.path.line {
			list = append(list, r)
		}
	}
	return list
}

// preview shows the conversation of the row at the cursor.
func (m *model) preview() tea.Cmd {
	r := m.tree.selected()
	if r.Session == "" {
		return nil
	}
	at := place{session: r.Session, leaf: r.Leaf, message: r.Message}
	if at.leaf == "" && r.Kind == treerows.Message {
		at.leaf = r.Message
	}
	if r.Kind == treerows.Bookmark {
		at.leaf = m.leafAbove(r.Session, r.Message)
	}
	return m.open(at)
}

// leafAbove returns a leaf of a conversation whose path has a message: the newest path, or the
// message itself.
func (m *model) leafAbove(line, message string) string {
	if t := m.tree.source.Messages[line]; t != nil {
		for _, r := range t.Runs {
			if r.Newest && slices.ContainsFunc(t.PathTo(r.Last), func(x session.Message) bool { return x.ID == message }) {
				return ""
			}
		}
	}
	return message
}

// target returns the REF and the conversation of what is selected.
func (m *model) target() (ref, line string) {
	if m.focus == treeSide {
		r := m.tree.selected()
		switch {
		case r.Session == "":
			return "", ""
		case r.Leaf != "" && r.Kind == treerows.Branch:
			return r.Session + "@" + r.Leaf, r.Session
		case r.Message != "":
			return r.Session + "@" + r.Message, r.Session
		}
		return r.Session, r.Session
	}
	if m.conv.path == nil {
		return "", ""
	}
	if id := m.conv.selected(); id != "" {
		return m.conv.path.line + "@" + id, m.conv.path.line
	}
	return m.conv.path.line, m.conv.path.line
}

// row returns the row of a conversation. ok is false if none is listed.
func (m *model) row(id string) (_ treerows.Row, ok bool) {
	for _, r := range m.tree.rows {
		if r.Session == id && (r.Kind == treerows.Session || r.Kind == treerows.Copy || r.Kind == treerows.Checkpoint) {
			return r, true
		}
	}
	return treerows.Row{}, false
}

// title returns the title of a conversation that is listed or shown.
func (m *model) title(id string) string {
	if p := m.conv.path; p != nil && p.line == id {
		return p.Entry.Title
	}
	row, _ := m.row(id)
	return row.Title
}
