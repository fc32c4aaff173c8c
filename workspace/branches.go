package workspace

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// BranchesOptions are the choices for listing branches.
type BranchesOptions struct {
	// Messages includes the messages at the leaves. Without them, fewer files are
	// read.
	Messages bool
	session.ReadOptions
}

// Branches are the leaves of a conversation. A conversation with more than one
// reply to a message has more than one leaf.
type Branches struct {
	Leaves []Leaf `json:"leaves"` // by time, the oldest first

	// Head is the message at the head, if the head is in this conversation. It need
	// not be a leaf.
	Head session.ID `json:"head_node_id"`
}

// A Leaf is a message without a reply, the end of a branch. An incomplete
// import of a message is not a leaf if the complete message exists.
type Leaf struct {
	ID        string    `json:"message_id"`
	Session   string    `json:"session_id"` // the file that has the message
	Depth     int       `json:"depth"`      // how many messages its path has
	CreatedAt time.Time `json:"created_at"` // if unknown, when the session was created
	Joins     int       `json:"joins"`      // how many messages of its path are joined; see [session.Tree.Joined]
	Newest    bool      `json:"newest"`     // the default parent of the next message of the conversation
	Head      bool      `json:"head"`       // the head is here

	// Role and Text are set if messages were requested.
	Role      string              `json:"role"`
	Text      string              `json:"text"`      // its first words, on one line
	Bookmarks []bookmark.Bookmark `json:"bookmarks"` // of the message

	UUID    string          `json:"-"` // see docs/format.md 19.1
	Message session.Message `json:"-"` // set if messages were requested
}

// Branches returns the leaves of the line of a session, in all of its files,
// oldest first. Leaves without a readable time are first among those with the
// same time; otherwise these are in the order of the files.
func (w *Workspace) Branches(ctx context.Context, name string, o BranchesOptions) (*Branches, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*Branches, error) {
		l, err := lineOf(v, name, o.Partial)
		if err != nil {
			return nil, err
		}
		b := &Branches{Leaves: []Leaf{}}
		leaves := byTime(v, l, l.Leaves(), l.Time)
		newest, head, depths, joins := l.Newest(0), headOf(v, l), l.Depths(), l.Joins()
		if head >= 0 {
			b.Head = session.ID(l.ID(head))
		}
		uuid := l.UUID()
		var labelled map[string][]bookmark.Bookmark
		if o.Messages {
			labelled = v.BookmarksIn(l)
		}
		for _, m := range leaves {
			id := l.ID(m.node)
			leaf := Leaf{
				ID:        id,
				Depth:     depths[m.node],
				CreatedAt: store.Instant(m.at),
				UUID:      sessionid.MessageUUID(uuid, id),
				Session:   l.Parts[l.Part(m.node)].ID,
				Newest:    m.node == newest,
				Head:      m.node == head,
				Bookmarks: append([]bookmark.Bookmark{}, labelled[id]...),
			}
			if joins != nil {
				leaf.Joins = joins[m.node]
			}
			if o.Messages {
				if leaf.Message, err = v.Message(l, m.node); err != nil {
					return nil, err
				}
				leaf.Role, leaf.Text = leaf.Message.Role(), leaf.Message.FirstWords()
			}
			b.Leaves = append(b.Leaves, leaf)
		}
		return b, nil
	})
}

// lineOf opens the whole line of a session. If a continuation cannot be read,
// lineOf returns an error, unless partial accepts the readable files.
func lineOf(v *store.View, name string, partial bool) (*store.Line, error) {
	l, err := v.LineNamed(name, partial)
	if err != nil {
		return nil, err
	}
	if v.Kind(l.SessionID()) != session.Checkpoint {
		for _, part := range l.Parts {
			l.Broken = cmp.Or(l.Broken, v.Index.Broken(part.ID))
		}
	}
	_, err = v.End(l, partial)
	return l, err
}

// headOf returns the node of the head in l, -1 if the head is in another line.
func headOf(v *store.View, l *store.Line) int {
	h, ok := v.Head()
	if !ok {
		return -1
	}
	ids, err := v.LineIDs(h.Session)
	if err != nil || !slices.EqualFunc(ids, l.Parts, func(id string, o *session.Outline) bool { return id == o.ID }) {
		return -1
	}
	if node, ok := v.HeadIn(l); ok {
		return node
	}
	if l.Broken != nil {
		return -1
	}
	return l.Newest(slices.Index(ids, h.Session))
}

// A moment is the time of a message, or, if it has none, the creation time of
// its file.
type moment struct {
	node int
	at   time.Time
	said bool
}

// momentOf returns the moment of a node of l. said returns the time that the file
// has.
func momentOf(v *store.View, l *store.Line, node int, said func(node int) (time.Time, bool)) moment {
	at, ok := said(node)
	if !ok {
		at = v.Overview(l.Parts[0].ID).Created
	}
	return moment{node, at, ok}
}

// byTime sorts nodes of l by time, oldest first. nodes must be in the order of
// the files. At the same moment, nodes without a time of their own are first.
func byTime(v *store.View, l *store.Line, nodes []int, said func(node int) (time.Time, bool)) []moment {
	list := make([]moment, len(nodes))
	for i, n := range nodes {
		list[i] = momentOf(v, l, n, said)
	}
	slices.SortStableFunc(list, func(a, b moment) int {
		switch c := a.at.Compare(b.at); {
		case c != 0 || a.said == b.said:
			return c
		case b.said:
			return -1
		}
		return 1
	})
	return list
}
