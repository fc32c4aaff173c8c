package mirrorer

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
)

// shrink stages the removal of messages of a session whose append was undone, as far as no other
// message follows them and nothing refers to them.
func shrink(tx *store.Tx, id string, messages []string) (left []mirror.Left, err error) {
	v := tx.View
	if e := v.Index.Entry(id); e == nil || e.Err != nil || v.IsPenguin(id) {
		return nil, nil // so are its messages
	}
	ids, err := v.LineIDs(id)
	if err != nil {
		return leaveFor(tx, id, err)
	}
	if staged(tx, ids...) {
		return nil, errLater
	}
	l, err := v.Line(id, false)
	if err != nil {
		return leaveFor(tx, id, err)
	}
	o := l.Parts[l.Named]
	gone := map[int]bool{} // nodes
	for _, message := range messages {
		i := indexOf(o, message)
		n := nodeIn(l.Tree, id, i)
		switch {
		case i < 0:
		case n < 0 || o.Meta.Kind() == session.Checkpoint:
			left = append(left, mirror.Left{What: id + "@" + message, Why: "it is part of a snapshot or a header"})
		default:
			if by := refers(v, l, n); by != "" {
				left = append(left, mirror.Left{What: id + "@" + message, Why: by + " refers to it"})
			} else {
				gone[n] = true
			}
		}
	}
	left = append(left, keepFollowed(l, gone, id)...)
	if len(gone) == 0 {
		return left, nil
	}
	var list []int
	for n := range gone {
		list = append(list, l.Index(n))
	}
	slices.Sort(list)
	s, err := v.Reopen(o)
	if err != nil {
		return nil, err
	}
	edit := o.Edit()
	edit.Remove(list...)
	edit.SetMeta(keyCount, o.Len()-len(list))
	var raws [][]byte
	for i, m := range s.Messages {
		if !slices.Contains(list, i) {
			raws = append(raws, m.Raw)
		}
	}
	edit.SetActive(lastActive(fmt.Appendf(nil, `{"created_at":%q}`, o.CreatedAt), raws, o.Meta.Dialect()))
	if _, err := changedTree(tx, l, l.Named, edit); err != nil {
		return leaveFor(tx, id, err)
	}
	return left, tx.Replace(edit)
}

// keepFollowed removes from gone the nodes that a message follows which stays.
func keepFollowed(l *store.Line, gone map[int]bool, id string) (left []mirror.Left) {
	children := l.Children()
	for again := true; again; {
		again = false
		for n := range gone {
			stays := func(child int) bool { return !gone[child] }
			if slices.ContainsFunc(children[n], stays) || begins(l, n) {
				delete(gone, n)
				left = append(left, mirror.Left{What: id + "@" + l.ID(n), Why: "a message follows it"})
				again = true
			}
		}
	}
	slices.SortFunc(left, func(a, b mirror.Left) int { return slices.Compare([]byte(a.What), []byte(b.What)) })
	return left
}

// begins reports whether an empty continuation follows a node.
func begins(l *store.Line, n int) bool {
	for p, part := range l.Parts {
		if p != l.Part(n) && part.Len() == part.Header && l.Follows(p) == n {
			return true
		}
	}
	return false
}

// refers returns what refers to a node, "" if nothing does.
func refers(v *store.View, l *store.Line, n int) string {
	id := l.ID(n)
	if list := v.BookmarksIn(l)[id]; len(list) > 0 {
		return fmt.Sprintf("the bookmark %q", list[0].Label)
	}
	if h, ok := v.Head(); ok {
		for _, part := range l.Parts {
			if part.ID == h.Session && string(h.Message) == id {
				return "the head"
			}
		}
	}
	for _, part := range l.Parts {
		for _, child := range v.Index.Children(part.ID) {
			if e := v.Index.Entry(child); e != nil && e.Snapshot && e.BranchPoint == id {
				return child
			}
		}
	}
	by := ""
	_ = v.EachAgent(func(name string, a *agents.Agent, err error) error {
		for i := 0; err == nil && i < len(a.Trees); i++ {
			if a.Trees[i].ID == l.Parts[0].ID && a.Trees[i].Node == id {
				by = "the agent " + name
			}
		}
		if err != nil {
			by = "perhaps the agent " + name
		}
		return nil
	})
	return by
}
