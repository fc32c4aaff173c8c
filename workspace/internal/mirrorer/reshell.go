package mirrorer

import (
	"bytes"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// reshell stages the new shell of a session: everything in its file but messages, title and counts.
func reshell(tx *store.Tx, n mirror.Shell) ([]mirror.Left, error) {
	v := tx.View
	if e := v.Index.Entry(n.Session); e == nil || v.IsPenguin(n.Session) {
		return leave(n.Session, "it is not here")
	} else if e.Err != nil {
		return leave(n.Session, "its file cannot be read")
	}
	if staged(tx, n.Session) {
		return nil, errLater
	}
	o, err := v.Outline(n.Session)
	if err != nil {
		return leaveFor(tx, n.Session, err)
	}
	s, err := v.Reopen(o)
	if err != nil {
		return nil, err
	}
	was := shellOf(s)
	if bytes.Equal(was, n.Shell) {
		return nil, nil
	}
	if v.IsPacked(n.Session) {
		return leave(n.Session, "it is packed")
	}
	edit, err := shellEdit(v, s, n.Shell)
	if err != nil {
		return leave(n.Session, "its shell is malformed: "+err.Error())
	}
	data, err := edit.Bytes(v.Reopen)
	if err != nil {
		return leaveFor(tx, n.Session, err)
	}
	is, err := session.Decode(n.Session, data)
	switch {
	case err != nil:
		return leave(n.Session, err.Error())
	case is.Len() != o.Len(), is.Header != o.Header, is.Meta.Kind() != o.Meta.Kind(), is.Meta.Origin() != o.Meta.Origin(), is.Meta.BranchPoint != o.Meta.BranchPoint:
		return leave(n.Session, "its shell has other links")
	case !is.FitsSeal:
		return leave(n.Session, "its messages do not fit its seal")
	case bytes.Equal(shellOf(is), was):
		return nil, nil
	}
	return nil, tx.Replace(edit)
}

// shellEdit returns the change of the file of a session that gives it another shell.
func shellEdit(v *store.View, s *session.Session, shell []byte) (*session.Edit, error) {
	f := frame{
		id: s.ID, title: s.Meta.Title, active: s.LastActive, count: s.Len(), dialect: s.Meta.Dialect(),
		continuedTo: v.Index.Continuations(s.ID),
	}
	for key, value := range s.Metadata().All() {
		if isCount(key) && key != keyCount {
			f.counts = append(f.counts, rawjson.Pair{Key: key, Value: value})
		}
	}
	before, after, err := f.around(shell)
	if err != nil {
		return nil, err
	}
	data := s.Bytes()
	members, err := rawjson.Members(data, rawjson.Root(data))
	if err != nil {
		return nil, err
	}
	messages, _ := rawjson.Find(members, keyMessages) // it was decoded
	edit := s.Edit()
	edit.Replace(0, messages.Start+1, before)
	edit.Replace(messages.End-1, len(data), after)
	return edit, nil
}

// annotate stages the new metadata.bough of a message.
func annotate(tx *store.Tx, m mirror.Metadata) ([]mirror.Left, error) {
	what := m.Session + "@" + m.Message
	e := tx.View.Index.Entry(m.Session)
	switch {
	case e == nil || e.Err != nil || tx.View.IsPenguin(m.Session):
		return leave(what, "it is not here")
	case e.Kind() == session.Checkpoint:
		return leave(what, "a checkpoint does not change")
	case rawjson.Check(m.Value) != nil || !gjson.ParseBytes(m.Value).IsObject():
		return leave(what, "its metadata is not an object")
	}
	ids, err := tx.View.LineIDs(m.Session)
	if err != nil {
		return leaveFor(tx, what, err)
	}
	if staged(tx, ids...) {
		return nil, errLater
	}
	l, err := tx.View.Line(m.Session, false)
	if err != nil {
		return leaveFor(tx, what, err)
	}
	o := l.Parts[l.Named]
	i := indexOf(o, m.Message)
	if i < o.Header {
		return leave(what, "it is not here")
	}
	s, err := tx.View.Reopen(o)
	if err != nil {
		return nil, err
	}
	own := rawjson.Dense(m.Value)
	was := gjson.GetBytes(s.Messages[i].Raw, "metadata.bough")
	if was.Get(store.OwnContinued).Bool() {
		if own, err = sjson.SetRawBytes(own, store.OwnContinued, []byte("true")); err != nil {
			return leaveFor(tx, what, err)
		}
	}
	if !was.Exists() && string(own) == "{}" || bytes.Equal(rawjson.Dense([]byte(was.Raw)), own) {
		return nil, nil
	}
	raw, err := withMetadata(s.Messages[i].Raw, "bough", own)
	if err != nil {
		return leaveFor(tx, what, err)
	}
	edit := o.Edit()
	edit.ReplaceMessage(i, raw)
	if _, err := changedTree(tx, l, l.Named, edit); err != nil {
		return leaveFor(tx, what, err)
	}
	tx.Op.Args[store.ArgLine] = l.Parts[0].ID
	return nil, tx.Replace(edit)
}
