package mirrorer

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// parentsFirst returns the sessions that get messages, those without a shell being there already.
// A session follows those with its origin and with the parents of its messages, as far as they are
// not a cycle, so that the new sessions are complete if a crash ends it early.
func parentsFirst(c *mirror.Changes) []mirror.NewSession {
	list := slices.Clone(c.New)
	for _, n := range c.Messages {
		list = append(list, mirror.NewSession{Session: mirror.Session{ID: n.Session}, Messages: n.Messages})
	}
	sessions, holders := map[string]int{}, map[string]int{}
	for i, n := range list {
		if n.Shell != nil {
			sessions[n.ID] = i
		}
		for _, m := range n.Messages {
			if !m.Header {
				holders[m.ID] = i
			}
		}
	}
	descends := func(i, from int) bool { // a session must not come before its origin
		for steps, known := 0, true; known && steps <= len(list); steps++ {
			if i == from {
				return true
			}
			i, known = sessions[originIn(list[i].Shell)]
		}
		return false
	}
	sorted := make([]mirror.NewSession, 0, len(list))
	done := make([]bool, len(list))
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		if origin, ok := sessions[originIn(list[i].Shell)]; ok {
			visit(origin)
		}
		for _, m := range list[i].Messages {
			if holder, ok := holders[string(m.Parent)]; ok && m.Parent != "" && !descends(holder, i) {
				visit(holder)
			}
		}
		sorted = append(sorted, list[i])
	}
	for i := range list {
		visit(i)
	}
	return sorted
}

// originIn returns the origin of the session with a shell, "" for none.
func originIn(shell []byte) string {
	return cmp.Or(gjson.GetBytes(shell, "metadata.continued_from.0").Str, gjson.GetBytes(shell, "metadata.branched_from").Str)
}

// takeSession stages a new session, or the messages that an existing one lacks.
func (a *applying) takeSession(tx *store.Tx, n mirror.NewSession) ([]mirror.Left, error) {
	v := tx.View
	if e := v.Index.Entry(n.ID); e != nil && !v.IsPenguin(n.ID) {
		if e.Err != nil {
			return leave(n.ID, "its file cannot be read")
		}
		return a.grow(tx, mirror.NewMessages{Session: n.ID, Messages: n.Messages})
	}
	if why := validID(v, n.ID); why != "" {
		return leave(n.ID, why)
	}
	body, err := decoded(n.Messages)
	if err != nil {
		return leave(n.ID, err.Error())
	}
	raws := make([][]byte, len(n.Messages))
	for i, m := range body.Messages {
		raws[i] = m.Raw
		if i == 0 || n.Messages[i].Header || n.Messages[i-1].Header {
			continue
		}
		if string(n.Messages[i].Parent) != n.Messages[i-1].ID {
			if raws[i], err = below(m.Raw, string(n.Messages[i].Parent)); err != nil {
				return leave(n.ID, err.Error())
			}
		}
	}
	title := n.Title
	if t, ok := a.changes.Titles[n.ID]; ok {
		title = t
	}
	made, err := a.decodeNew(tx, n, title, raws)
	if err != nil {
		return leave(n.ID, err.Error())
	}
	line, left := lineWith(tx, made)
	if left != "" {
		return leave(n.ID, left)
	}
	t, err := newTree(tx, line, made)
	if err != nil {
		return leaveFor(tx, n.ID, err)
	}
	if i := first(n.Messages); i >= 0 && !hasParent(raws[i]) {
		if node := nodeIn(t, made.ID, i); node >= 0 && parentOf(t, node) != string(n.Messages[i].Parent) {
			if raws[i], err = below(raws[i], string(n.Messages[i].Parent)); err == nil {
				if made, err = a.decodeNew(tx, n, title, raws); err == nil {
					_, err = newTree(tx, line, made)
				}
			}
			if err != nil {
				return leaveFor(tx, n.ID, err)
			}
		}
	}
	if staged(tx, line...) {
		return nil, errLater
	}
	if err := publishOpen(tx, n.ID, raws); err != nil {
		return nil, err
	}
	return nil, create(tx, made, line)
}

// first returns the index of the first message that is not in a header, -1 if there is none.
func first(messages []mirror.Message) int {
	return slices.IndexFunc(messages, func(m mirror.Message) bool { return !m.Header })
}

// decodeNew returns the new session with its messages.
func (a *applying) decodeNew(tx *store.Tx, n mirror.NewSession, title string, raws [][]byte) (*session.Session, error) {
	dialect := tx.View.Index.Dialect()
	data, err := frame{
		id: n.ID, title: title, active: lastActive(n.Shell, raws, dialect), count: len(raws), dialect: dialect,
		continuedTo: tx.View.Index.Continuations(n.ID),
	}.file(n.Shell, raws)
	if err != nil {
		return nil, fmt.Errorf("its shell is malformed: %w", err)
	}
	s, err := session.Decode(n.ID, data)
	switch {
	case err != nil:
		return nil, err
	case len(s.Messages) != len(raws):
		return nil, fmt.Errorf("its shell has messages")
	case n.Kind != "" && s.Meta.Kind() != n.Kind:
		return nil, fmt.Errorf("its shell is that of a %s, not of a %s", s.Meta.Kind(), n.Kind)
	case !s.FitsSeal:
		return nil, fmt.Errorf("its messages do not fit its seal")
	}
	for i, m := range n.Messages {
		if m.Header != (i < s.Header) {
			return nil, fmt.Errorf("the message %q is at the wrong place for a header", m.ID)
		}
	}
	return s, nil
}

// lastActive returns the time of the newest message, or when the session was created if that is
// later, as text in a dialect.
func lastActive(shell []byte, raws [][]byte, dialect session.Dialect) string {
	created := gjson.GetBytes(shell, keyCreated).String()
	last, known := session.ParseTime(created)
	for _, raw := range raws {
		if at, ok := (session.Message{Raw: raw}).Time(); ok && (!known || at.After(last)) {
			last, known = at, true
		}
	}
	if !known {
		return created
	}
	return dialect.Time(last.Truncate(time.Microsecond))
}

// lineWith returns the files of the line of a new session that exist, and why it cannot be added,
// "" if it can.
func lineWith(tx *store.Tx, s *session.Session) (ids []string, why string) {
	x := tx.View.Index
	origin := s.Meta.Origin()
	seen := map[string]bool{s.ID: true}
	for at := origin; at != ""; at = x.Origin(at) {
		if seen[at] {
			return nil, "its origins are a cycle"
		}
		seen[at] = true
	}
	if s.Meta.Kind() == session.Continuation {
		if e := x.Entry(origin); e == nil || e.Err != nil || tx.View.Kind(origin) == session.Checkpoint {
			return nil, fmt.Sprintf("it continues %s, which is not here", origin)
		}
		list, err := tx.View.LineIDs(origin)
		if err != nil {
			return nil, err.Error()
		}
		ids = list
	}
	for i, queue := 0, []string{s.ID}; i < len(queue); i++ {
		for _, child := range x.Continuations(queue[i]) {
			if !slices.Contains(queue, child) && !slices.Contains(ids, child) {
				queue, ids = append(queue, child), append(ids, child)
			}
		}
	}
	return ids, ""
}

// newTree returns the tree of a line with a new session.
func newTree(tx *store.Tx, line []string, s *session.Session) (*session.Tree, error) {
	parts, err := tx.View.OutlineAll(line)
	if err != nil {
		return nil, err
	}
	at := len(parts)
	for i, part := range parts { // a file that continues s follows it
		if part.Meta.Kind() == session.Continuation && part.Meta.Origin() == s.ID {
			at = i
			break
		}
	}
	return session.NewTree(slices.Insert(slices.Clone(parts), at, s.Outline), opener(tx, s))
}

// opener returns a function that opens an outline, which may be that of s.
func opener(tx *store.Tx, s *session.Session) func(*session.Outline) (*session.Session, error) {
	return func(o *session.Outline) (*session.Session, error) {
		if o.ID == s.ID {
			return s, nil
		}
		return tx.View.Reopen(o)
	}
}

// nodeIn returns the node of a message of a file, -1 if it has none.
func nodeIn(t *session.Tree, id string, index int) int {
	for n := range t.Len() {
		if t.Index(n) == index && t.Parts[t.Part(n)].ID == id {
			return n
		}
	}
	return -1
}

// parentOf returns the id of the parent of a node, "" for a root.
func parentOf(t *session.Tree, n int) string {
	if p := t.Parent(n); p >= 0 {
		return t.ID(p)
	}
	return ""
}

// create stages a new session file, and the link to it in the file that it continues.
func create(tx *store.Tx, s *session.Session, line []string) error {
	tx.Op.Args[store.ArgLine] = s.ID
	if len(line) > 0 {
		tx.Op.Args[store.ArgLine] = line[0]
	}
	if err := tx.CreateFile(s); err != nil {
		return err
	}
	if s.Meta.Kind() != session.Continuation {
		return nil
	}
	origin, err := tx.View.Outline(s.Meta.Origin())
	if err != nil || slices.Contains(origin.Meta.ContinuedTo, s.ID) {
		return err
	}
	return tx.SetContinuedTo(origin)
}
