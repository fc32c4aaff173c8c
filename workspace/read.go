package workspace

import (
	"context"
	"slices"
	"sync"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/copymerge"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/searcher"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/merge"
)

// A Listing is a list of sessions.
type Listing struct {
	Sessions  []Entry `json:"sessions"`
	Total     int     `json:"total"`                // number of sessions without the limit
	SubAgents int     `json:"sub_agents,omitempty"` // number of sessions of sub-agents that were omitted
}

// List returns the sessions of a kind, or all if kind is "". See
// [Workspace.Sessions].
func (w *Workspace) List(ctx context.Context, kind session.Kind) (*Listing, error) {
	return w.Sessions(ctx, ListOptions{Kind: kind, SubAgents: true})
}

// Sessions returns the matching sessions, last active first unless o.Sort says
// otherwise. It includes Penguin's checkpoints, with the kind checkpoint. It
// skips unreadable files, with a note.
func (w *Workspace) Sessions(ctx context.Context, o ListOptions) (*Listing, error) {
	kind := o.Kind
	if kind != "" {
		err := lookup.Word("kind", kind, session.Root, session.Continuation, session.Branch, session.Checkpoint)
		if err != nil {
			return nil, store.Explained(err)
		}
	}
	if err := o.Sort.check(); err != nil {
		return nil, err
	}
	return store.Read(ctx, w.store, func(v *store.View) (*Listing, error) {
		entries := []Entry{}
		head, _ := v.Head()
		agents := 0
		add := func(id string) {
			e := entryOf(v, id)
			if !o.matches(e) {
				return
			}
			if !o.SubAgents && id != head.Session && v.IsBelow(id) {
				agents++
				return
			}
			e.Head = id == head.Session
			entries = append(entries, e)
		}
		if err := v.Whole(); err != nil {
			return nil, err
		}
		v.NoteUnusable()
		for _, e := range v.Index.Entries() {
			if kind == "" || e.Kind() == kind {
				add(e.ID)
			}
		}
		if kind == "" || kind == session.Checkpoint {
			for _, id := range v.PenguinIDs() {
				if err := v.Penguin[id].Err; err != nil {
					v.Store.Opts.Note(err.Error())
					continue
				}
				add(id)
			}
		}
		slices.SortFunc(entries, o.Sort.compare)
		return &Listing{Sessions: entries[:searcher.AtMost(len(entries), o.Limit)], Total: len(entries), SubAgents: agents}, nil
	})
}

// A Conversation is the path to a message, as one session.
type Conversation struct {
	Entry     Entry
	Messages  []session.Message
	Refs      []string         // the shortest REF to each of Messages
	Joined    []bool           // whether each of Messages is joined to the previous one, see [session.Tree.Joined]
	SubAgents []lines.SubAgent // the conversations of sub-agents that Messages began, oldest first
	Merges    []merge.Mark     // those of Messages that merged a branch, in order

	document func() []byte // see Document
}

// Document returns the path as a JSON document in the format of a session file:
// with its eight keys, the session's id and metadata, and the messages in their
// stored form. The first call makes it. It is nil for a Conversation that is not
// from [Workspace.Show].
func (c *Conversation) Document() []byte {
	if c.document == nil {
		return nil
	}
	return c.document()
}

// JSON returns [Conversation.Document] on one line. It may contain NaN and
// Infinity, which are not valid JSON.
func (c *Conversation) JSON() []byte { return rawjson.Dense(c.Document()) }

// MarshalJSON returns [Conversation.Document] on one line, with null in place of
// NaN and Infinity.
func (c *Conversation) MarshalJSON() ([]byte, error) { return rawjson.Strict(c.JSON()), nil }

// Show returns the path to ref across the sessions that it was copied from or
// continues.
func (w *Workspace) Show(ctx context.Context, ref string, o session.ReadOptions) (*Conversation, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*Conversation, error) {
		p, err := v.Place(ref, o.Partial)
		if err != nil {
			return nil, err
		}
		asked := p.Parts[p.Named]
		c := &Conversation{Entry: entryOf(v, asked.ID)}
		d, err := checkpoint.View(p.Tree, p.Node, asked, v.Reopen)
		if err != nil {
			return nil, err
		}
		d.CreatedAt, d.LastActive = session.Bough.Time(c.Entry.CreatedAt), session.Bough.Time(c.Entry.LastActive)
		opened, err := v.ReopenAll(d.Parts())
		if err != nil {
			return nil, err
		}
		c.document = sync.OnceValue(func() []byte {
			data, err := d.Bytes(func(o *session.Outline) (*session.Session, error) { return opened[o.ID], nil })
			if err != nil {
				panic("workspace: " + err.Error()) // all of its parts are in memory
			}
			return data
		})
		path := p.Path(p.Node)
		names := v.Naming(asked.ID, p.Line)
		for _, n := range path {
			c.Refs = append(c.Refs, names.Ref(p.ID(n)))
			c.Joined = append(c.Joined, p.Line.Joined(n))
		}
		if c.Messages, err = v.Messages(p.Line, path); err != nil {
			return nil, err
		}
		c.Merges = mergeMarks(v, p.Line, c.Messages)
		there := map[session.ID]bool{"": p.Node < 0 || p.Line.IsLeaf(p.Node)}
		for _, m := range c.Messages {
			there[session.ID(m.ID)] = true
		}
		c.SubAgents = slices.DeleteFunc(subAgentsOf(v, asked.ID), func(a lines.SubAgent) bool { return !there[a.Message] })
		return c, nil
	})
}

// A Lineage is a session with its ancestors.
type Lineage struct {
	IDs []string `json:"lineage"` // from the root to the session itself
}

// Lineage returns the lineage of a session.
func (w *Workspace) Lineage(ctx context.Context, name string, o session.ReadOptions) (*Lineage, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*Lineage, error) {
		id, err := v.Resolve(name)
		if err != nil {
			return nil, err
		}
		ids, err := v.Lineage(id)
		if err != nil && o.Partial && len(ids) > 0 {
			v.Store.Opts.Note(err.Error() + "; the known part is used")
			err = nil
		}
		return &Lineage{ids}, err
	})
}

// A Forest is the trees of all sessions.
type Forest struct {
	Roots []TreeEntry `json:"roots"` // oldest first
}

// Tree returns the trees of sessions, oldest first. If name is not empty, it
// returns the tree with that session only. A session whose origin is missing is
// a child of the nearest existing session of its lineage, or else a root.
func (w *Workspace) Tree(ctx context.Context, name string) (*Forest, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*Forest, error) {
		if err := v.Whole(); err != nil {
			return nil, err
		}
		parents := v.Index.Parents()
		if err := addSubAgents(v, parents); err != nil {
			return nil, err
		}
		only := ""
		if name != "" {
			id, err := v.Resolve(name)
			if err != nil {
				return nil, err
			}
			if only = id; v.IsPenguin(id) {
				only = penguinParent(v, id)
			}
			for parents[only] != "" {
				only = parents[only]
			}
		} else {
			v.NoteUnusable()
		}
		children := map[string][]string{}
		for _, e := range v.Index.Entries() {
			children[parents[e.ID]] = append(children[parents[e.ID]], e.ID)
		}
		for _, id := range v.PenguinIDs() {
			if err := v.Penguin[id].Err; err != nil {
				v.Store.Opts.Note(err.Error())
				continue
			}
			parent := ""
			if from := penguinParent(v, id); from != id {
				parent = from
			}
			children[parent] = append(children[parent], id)
			slices.SortStableFunc(children[parent], func(a, b string) int { return v.Overview(a).Created.Compare(v.Overview(b).Created) })
		}
		head, _ := v.Head()
		f := &Forest{Roots: []TreeEntry{}}
		for _, id := range children[""] {
			if only == "" || id == only {
				f.Roots = append(f.Roots, subtreeOf(v, id, children, head.Session))
			}
		}
		for i := range f.Roots {
			if err := addMerges(v, &f.Roots[i]); err != nil {
				return nil, err
			}
		}
		return f, nil
	})
}

// addSubAgents adds the conversations of sub-agents to parents: each is below the first file of the
// conversation with the call that began it.
func addSubAgents(v *store.View, parents map[string]string) error {
	for _, e := range v.Index.Entries() {
		if e.Kind() != session.Root || parents[e.ID] != "" {
			continue
		}
		b, ok := v.BegunBy(e.ID)
		if err := v.Ctx.Err(); err != nil {
			return err
		}
		if !ok || b.Session == "" {
			continue
		}
		at := b.Session
		for at != "" && at != e.ID { // vendors' ids may form a cycle
			at = parents[at]
		}
		if at == "" {
			parents[e.ID] = b.Session
		}
	}
	return nil
}

// penguinParent returns the session that one of Penguin's checkpoints was made
// from, or the checkpoint itself if that session does not exist.
func penguinParent(v *store.View, id string) string {
	if from := v.Penguin[id].Session; v.Index.Entry(from) != nil {
		return from
	}
	return id
}

func subtreeOf(v *store.View, id string, children map[string][]string, head string) TreeEntry {
	n := TreeEntry{Entry: entryOf(v, id), Children: []TreeEntry{}}
	n.Head = id == head
	for _, child := range children[id] {
		n.Children = append(n.Children, subtreeOf(v, child, children, head))
	}
	return n
}

// addMerges sets what the sessions of a tree merged. A session that cannot be read has none.
func addMerges(v *store.View, e *TreeEntry) error {
	if err := v.Ctx.Err(); err != nil {
		return err
	}
	if entry := v.Index.Entry(e.ID); entry != nil && entry.Merges && e.Kind != session.Checkpoint {
		if l, err := v.LineNamed(e.ID, true); err == nil {
			for _, part := range l.Parts {
				if part.ID != e.ID {
					continue
				}
				if s, err := v.Reopen(part); err == nil {
					e.Merges = append(e.Merges, mergeMarks(v, l, s.Messages)...)
				}
			}
		}
	}
	for i := range e.Children {
		if err := addMerges(v, &e.Children[i]); err != nil {
			return err
		}
	}
	return nil
}

// A Diff compares two paths.
type Diff struct {
	Common session.ID `json:"common"` // the last common message, null if there is none
	A      []string   `json:"a"`      // messages that only the first path has, in order
	B      []string   `json:"b"`      // messages that only the second path has

	RefA string `json:"-"` // the end of the first path, as short as it can be, "" if the path is empty
	RefB string `json:"-"` // the end of the second path

	MessagesA []session.Message `json:"messages_a"` // of A
	MessagesB []session.Message `json:"messages_b"` // of B
}

// Diff compares the paths to a and b from their roots. A message is in both if it has the same id, or
// if it is a copy that another program made under another id: its other bytes and its time are the same.
func (w *Workspace) Diff(ctx context.Context, a, b string, o session.ReadOptions) (*Diff, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*Diff, error) {
		pa, err := v.Place(a, o.Partial)
		if err != nil {
			return nil, err
		}
		pb, err := v.Place(b, o.Partial)
		if err != nil {
			return nil, err
		}
		as, bs := pa.Path(pa.Node), pb.Path(pb.Node)
		a, b, err := parting(v, pa.Line, as, pb.Line, bs)
		if err != nil {
			return nil, err
		}
		d := &Diff{RefA: shortRef(v, pa), RefB: shortRef(v, pb)}
		if a > 0 {
			d.Common = session.ID(pa.ID(as[a-1]))
		}
		if d.A, d.MessagesA, err = beyond(v, pa.Line, as[a:]); err != nil {
			return nil, err
		}
		d.B, d.MessagesB, err = beyond(v, pb.Line, bs[b:])
		return d, err
	})
}

// shortRef returns the shortest REF to the message of p, "" if p has none.
func shortRef(v *store.View, p *store.Place) string {
	if p.Node < 0 {
		return ""
	}
	return v.Naming(p.SessionID(), p.Line).Ref(p.MessageID())
}

// parting returns how many messages of each path precede the point where they
// part. A message is in both if it has the same id, or is a copy by its bytes. A header that only one of the paths has is skipped: Penguin's snapshots
// lack the first one, and repeat those of each file.
func parting(v *store.View, la *store.Line, as []int, lb *store.Line, bs []int) (a, b int, err error) {
	for i, j := 0, 0; ; {
		for i < len(as) && j < len(bs) {
			same, err := isSame(v, la, as[i], lb, bs[j])
			if err != nil {
				return a, b, err
			}
			if !same {
				break
			}
			i, j = i+1, j+1
			a, b = i, j
		}
		skippedA, err := headers(v, la, as[i:], lb, bs)
		if err != nil {
			return a, b, err
		}
		skippedB, err := headers(v, lb, bs[j:], la, as)
		if err != nil {
			return a, b, err
		}
		if i, j = i+skippedA, j+skippedB; skippedA+skippedB == 0 {
			return a, b, nil
		}
	}
}

// isSame reports whether two messages are the same one, or copies of each other that
// another program made under another id.
func isSame(v *store.View, la *store.Line, a int, lb *store.Line, b int) (bool, error) {
	if la.ID(a) == lb.ID(b) {
		return true, nil
	}
	ma, err := v.Message(la, a)
	if err != nil {
		return false, err
	}
	mb, err := v.Message(lb, b)
	return err == nil && copymerge.IsCopy(ma.Raw, mb.Raw), err
}

// headers returns with how many headers that the path others does not have
// nodes begins.
func headers(v *store.View, l *store.Line, nodes []int, other *store.Line, others []int) (n int, err error) {
	has := map[string]bool{}
	for ; n < len(nodes); n++ {
		m, err := v.Message(l, nodes[n])
		if err != nil {
			return n, err
		}
		if c := m.Category(); c != "SYSTEM" && c != "CONTEXT" {
			break
		}
		if len(has) == 0 {
			for _, at := range others {
				has[other.ID(at)] = true
			}
		}
		if has[m.ID] {
			break
		}
	}
	return n, nil
}

// beyond returns the ids and messages of nodes of l. The messages are to be
// read.
func beyond(v *store.View, l *store.Line, nodes []int) (ids []string, messages []session.Message, err error) {
	ids = []string{}
	for _, n := range nodes {
		ids = append(ids, l.ID(n))
	}
	messages, err = v.Messages(l, nodes)
	return ids, messages, err
}
