package page

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
)

// A conversation is a path of a conversation as the page shows it.
type conversation struct {
	Session  string // the first file of the line
	Title    string
	Facts    []string // about the conversation, for its header
	Origin   *snapshotLink
	Agent    string // the agent that owns it, "" for none
	Leaf     string // "" if there are no messages
	Branches int    // leaves of the tree
	Total    int
	Loaded   span
	Chunks   []chunk
	Replies  []reply
	Earlier  string // the address with the messages before the loaded ones, "" if there are none
	Later    string
	Notes    []string // problems with its files
	Here     string   // the address of the path
	Running  []running
	ReadOnly bool // it is a checkpoint
	Head     bool // the head is at the leaf
	End      bool // no message follows the leaf
	Picture  string
	Compare  string
	Delete   deletion
	Composer composer
}

// Ref is the REF of the leaf.
func (c *conversation) Ref() string { return refOf(c.Session, c.Leaf) }

// A chunk is a part of a path. Messages is nil if it is not loaded.
type chunk struct {
	span
	Messages []message
}

// A reply is a reply in progress. Its text is shown as it is until the message is complete:
// half of a fence or a table would be something else as HTML, and each chunk would render the
// whole text again.
type reply struct {
	ID     string
	Text   string // so far
	Length int    // of Text, in characters
}

// repliesIn returns the replies in progress of a conversation that a path does not have yet.
func repliesIn(w *workspace.Workspace, f *found) (list []reply) {
	for _, p := range w.Replies() {
		id := string(p.Message)
		if _, complete := f.first[id]; string(p.Session) == f.session && !complete {
			list = append(list, reply{id, p.Text, utf8.RuneCountInString(p.Text)})
		}
	}
	return list
}

// A deletion is whether and why a session can be removed.
type deletion struct {
	Session string
	Line    bool   // with its continuations
	Refused string // why not, "" if it can be removed
}

// A composer is the input below a conversation.
type composer struct {
	Action  string
	Session string
	Parent  string // the message to which the next one is a reply, "" for none
	Back    string // the page of the form
	Agent   string
	Note    string       // what a message does, if that is not obvious
	Instead snapshotLink // where to write instead, "" for nowhere
	Label   string
	Buttons []composerButton
}

// A composerButton sends a message in a mode.
type composerButton struct {
	Action string // if it is not that of the composer
	Mode   string // send, steer or follow-up
	Icon   string
	Label  string
	Title  string
}

// A pathQuery selects what is shown of a conversation.
type pathQuery struct {
	Session string
	Leaf    string // the end of the path; "" means the newest leaf, or the one below At
	At      string // a message that is loaded, "" for none
	From    int    // index of the first message to load; negative means the last ones
	To      int    // index after the last one; 0 means a chunk after From
}

// A found is a path that was read.
type found struct {
	*placement
	tree  *workspace.MessageTree
	shown *workspace.Conversation
	leaf  string
	first map[string]int // the index of the first message with an id
	notes []string
	now   time.Time
}

// anchor returns the anchor of a message of the path. Two files may have different messages
// with the same id.
func (f *found) anchor(i int) string {
	id := f.shown.Messages[i].ID
	if f.first[id] == i {
		return id
	}
	return id + "~" + strconv.Itoa(i)
}

// find reads the path that q selects.
func find(ctx context.Context, w *workspace.Workspace, q pathQuery, now time.Time) (*found, error) {
	f := &found{now: now}
	w = w.Observed(nil, func(note string) {
		if !slices.Contains(f.notes, note) {
			f.notes = append(f.notes, note)
		}
	})
	o := partial()
	tree, err := w.MessageTree(ctx, q.Session, o)
	if err != nil {
		return nil, err
	}
	f.tree, f.placement = tree, place(tree)
	leaf := q.Leaf
	if leaf == "" && q.At != "" {
		to, err := w.Show(ctx, refOf(tree.Session, q.At), o)
		if err != nil {
			return nil, err
		}
		leaf = f.tip(idsOf(to.Messages))
	}
	ref := q.Session // of one of the files of a line, the end of that
	if leaf != "" {
		ref = refOf(tree.Session, leaf)
	}
	if f.shown, err = w.Show(ctx, ref, o); err != nil {
		return nil, err
	}
	f.first = map[string]int{}
	for i, m := range f.shown.Messages {
		if _, known := f.first[m.ID]; !known {
			f.first[m.ID] = i
		}
	}
	if n := len(f.shown.Messages); n > 0 {
		f.leaf = f.shown.Messages[n-1].ID
	}
	return f, nil
}

func idsOf(messages []session.Message) []string {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}

// loaded returns the part of a path that is loaded at first.
func (f *found) loaded(q pathQuery) span {
	total := len(f.shown.Messages)
	from := q.From
	if q.At != "" && from < 0 {
		from = slices.IndexFunc(f.shown.Messages, func(m session.Message) bool { return m.ID == q.At })
		from -= from % chunkSize
		if from < 0 || from >= total-chunkSize {
			from = -1
		}
	}
	if from < 0 || from >= total {
		return span{max(0, total-chunkSize), total}
	}
	to := min(total, from+chunkSize)
	if q.To > from {
		to = min(total, q.To)
	}
	return span{from, to}
}

// chunks returns the chunks of the path. Those in s are loaded, and so are the last
// messages.
func (f *found) chunks(s span, relations relations) []chunk {
	total := len(f.shown.Messages)
	var spans []span
	for _, c := range chunksOf(total) {
		if c.From < s.From && s.From < c.To {
			spans = append(spans, span{c.From, s.From})
			c.From = s.From
		}
		if c.From < s.To && s.To < c.To {
			spans = append(spans, span{c.From, s.To})
			c.From = s.To
		}
		spans = append(spans, c)
	}
	list := make([]chunk, len(spans))
	for i, c := range spans {
		list[i].span = c
		if c.From >= s.From && c.To <= s.To || c.From >= total-chunkSize {
			list[i].Messages = f.messages(c, relations)
		}
	}
	return list
}

// messages renders the messages of a part of the path.
func (f *found) messages(s span, related relations) []message {
	r := newRenderer(f.session, f.now)
	list := make([]message, 0, s.To-s.From)
	labels, head := f.marks()
	for i := s.From; i < s.To; i++ {
		m := r.show(f.shown.Messages[i])
		m.At, m.Total, m.Anchor = i, len(f.shown.Messages), f.anchor(i)
		m.Fork = f.fork(m.ID)
		m.Joined, m.Orphan = f.shown.Joined[i], f.isOrphan(m.ID)
		if related.agent != "" {
			m.Agent, m.Node = related.agent, f.session+"/"+m.ID
		}
		m.Head = m.ID == head
		m.Labels = labels[m.ID]
		m.Copies = related.copies[m.ID]
		if related.origin != nil && m.ID == related.point {
			m.Origin = related.origin
		}
		m.Link = location{related.readOnly, f.session, f.leaf, atUnlessLast(m), 0, m.Anchor}.String()
		m.Compare, m.Explore = compareAddress(m.Ref, ""), "/explore?"+url.Values{"ref": {m.Ref}}.Encode()
		list = append(list, m)
	}
	return list
}

// atUnlessLast returns the id of a message that the page does not load by itself.
func atUnlessLast(m message) string {
	if m.At >= m.Total-chunkSize {
		return ""
	}
	return m.ID
}

// marks returns the bookmarks of the conversation by message, and the head, "" if it is
// elsewhere.
func (f *found) marks() (labels map[string][]bookmark.Bookmark, head string) {
	labels = map[string][]bookmark.Bookmark{}
	for _, r := range f.runs {
		for _, b := range r.Bookmarks {
			labels[b.Message] = append(labels[b.Message], b)
		}
		head = cmp.Or(head, string(r.Head))
	}
	return labels, head
}

// isOrphan reports whether a message is a root because its parent is missing.
func (p *placement) isOrphan(id string) bool {
	run, ok := p.byFirst[id]
	return ok && p.runs[run].Orphan
}

// leaves returns how many leaves the conversation has.
func (p *placement) leaves() (n int) {
	for _, r := range p.runs {
		if r.Leaf {
			n++
		}
	}
	return n
}

// relations are the sessions around a conversation.
type relations struct {
	entry    workspace.Entry // of the first file
	files    []string
	messages int // in all files, without repeated headers
	origin   *snapshotLink
	point    string                    // the last message that was copied
	copies   map[string][]snapshotLink // by the message at which they were made
	readOnly bool
	delete   deletion
	agent    string // the agent that owns it, "" for none
}

// relate returns the sessions around the line that begins with a session. trees are the
// trees of all sessions, and list all agents.
func relate(trees *workspace.Forest, list []agents.Agent, first string) relations {
	rel := relations{copies: map[string][]snapshotLink{}, agent: ownerOf(list, first)}
	var titles []string
	eachEntry(trees.Roots, func(e workspace.TreeEntry, parent *workspace.TreeEntry) {
		isFile := e.ID == first || e.Kind == session.Continuation && len(e.ContinuedFrom) > 0 && slices.Contains(rel.files, e.ContinuedFrom[0])
		switch {
		case isFile:
			if e.ID == first {
				rel.entry = e.Entry
				if parent != nil && e.Kind != session.Root {
					l := linkTo(parent.Entry)
					rel.origin, rel.point = &l, string(e.BranchPoint)
				}
			}
			rel.files = append(rel.files, e.ID)
			rel.messages += e.MessageCount - e.HeaderCount
		case slices.Contains(rel.files, string(e.BranchedFrom)):
			rel.copies[string(e.BranchPoint)] = append(rel.copies[string(e.BranchPoint)], linkTo(e.Entry))
			if !e.Auto && !e.Penguin {
				titles = append(titles, clip(e.Title))
			}
		}
	})
	rel.readOnly = rel.entry.Kind == session.Checkpoint
	rel.delete = deletion{Session: first, Line: len(rel.files) > 1}
	if n := len(titles); n > 0 {
		const few = 3
		rel.delete.Refused = plural.Of(n, "copy") + " of it: " + strings.Join(titles[:min(n, few)], ", ")
		if n > few {
			rel.delete.Refused += ", …"
		}
	}
	if rel.entry.Penguin {
		rel.delete.Refused = anotherProgram
	}
	if rel.agent != "" && rel.delete.Refused == "" {
		rel.delete.Refused = "it is a topic of the agent " + rel.agent
	}
	return rel
}

// eachEntry calls f for each session of trees, parents before their children. parent is nil
// for a root.
func eachEntry(trees []workspace.TreeEntry, f func(e workspace.TreeEntry, parent *workspace.TreeEntry)) {
	type pending struct{ entry, parent *workspace.TreeEntry }
	var stack []pending
	push := func(list []workspace.TreeEntry, parent *workspace.TreeEntry) {
		for i := len(list) - 1; i >= 0; i-- {
			stack = append(stack, pending{&list[i], parent})
		}
	}
	push(trees, nil)
	for len(stack) > 0 {
		next := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		f(*next.entry, next.parent)
		push(next.entry.Children, next.entry)
	}
}

// ownerOf returns the name of the agent that owns a line, "" if none does.
func ownerOf(list []agents.Agent, line string) string {
	for i := range list {
		if list[i].Tree(line) != nil {
			return list[i].Name
		}
	}
	return ""
}

// conversation returns the page of a path, given the sessions around it.
func (f *found) conversation(q pathQuery, related relations) *conversation {
	e := related.entry
	c := &conversation{
		Session: f.session, Title: clip(e.Title), Origin: related.origin,
		Leaf: f.leaf, Branches: f.leaves(), Total: len(f.shown.Messages), Loaded: f.loaded(q),
		Notes: f.notes, ReadOnly: related.readOnly, Delete: related.delete, Agent: related.agent,
		Picture: "/tree/" + url.PathEscape(f.session), Compare: compareAddress(refOf(f.session, f.leaf), ""),
	}
	c.Here = location{Checkpoint: c.ReadOnly, Session: f.session, Leaf: f.leaf}.String()
	c.Chunks = f.chunks(c.Loaded, related)
	_, head := f.marks()
	c.Head = head != "" && head == f.leaf
	run, known := f.endOf(f.leaf)
	c.End = known && f.runs[run].Leaf
	if from := c.Loaded.From; from > 0 {
		c.Earlier = f.window(related, max(0, from-chunkSize))
	}
	if c.Loaded.To < c.Total {
		c.Later = f.window(related, c.Loaded.To)
	}
	c.Facts = append(c.Facts, plural.Of(c.Total, "message"))
	if c.Branches > 1 {
		c.Facts = append(c.Facts, plural.Of(c.Branches, "branch"))
	}
	for _, s := range []string{e.Tool, e.Model, e.Directory, e.GitBranch} {
		if s != "" {
			c.Facts = append(c.Facts, clip(s))
		}
	}
	c.Composer = f.composer(related)
	c.Composer.Back = c.Here
	return c
}

// window returns the address of the path with the messages from an index on.
func (f *found) window(related relations, from int) string {
	// From 0 would mean the last messages.
	l := location{Checkpoint: related.readOnly, Session: f.session, Leaf: f.leaf, From: from}
	if from == 0 {
		l.At = f.shown.Messages[0].ID
	}
	return l.String()
}

// composer returns the input below a path.
func (f *found) composer(related relations) composer {
	in := composer{Action: "/do/append", Session: f.session, Parent: f.leaf, Label: "Message",
		Buttons: []composerButton{{Mode: "send", Icon: "send", Label: "Add message", Title: "Add the message to the conversation"}}}
	run, known := f.endOf(f.leaf)
	switch {
	case related.readOnly:
		in.Parent = ""
		in.Label = "Message to a new branch"
		in.Note = "This checkpoint is read-only. A message makes a branch of it; the checkpoint does not change."
		in.Buttons[0].Label = "Branch with this message"
		in.Buttons[0].Title = "Make a branch of the checkpoint that begins with the message"
	case related.agent != "":
		in.Note = "This is a topic of the agent " + related.agent + ". A message is added here without an answer."
		in.Instead = snapshotLink{Title: "Chat with " + related.agent, Href: agentAddress(related.agent)}
	case f.leaf == "":
	case !known || !f.runs[run].Leaf:
		in.Note = "Other messages follow this one. A message here begins another branch; they stay."
		in.Buttons[0].Label = "Begin a branch"
	}
	return in
}

// endOf returns the run that ends with a message.
func (p *placement) endOf(id string) (run int, ok bool) {
	for i, r := range p.runs {
		if r.Last == id {
			return i, true
		}
	}
	return 0, false
}
