package store

import (
	"cmp"
	"time"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// An overview has what lists, searches and errors show of a session or of one
// of Penguin's checkpoints.
type overview struct {
	Kind            session.Kind
	Title           string // see [View.Title]
	Messages        int
	Created, Active time.Time
	Setting         session.Setting
}

// Overview returns the overview of a session, zero if there is none. It reads
// no file.
func (v *View) Overview(id string) overview {
	switch e := v.Index.Entry(id); {
	case e != nil:
		return overview{e.Kind(), v.Title(e), e.MessageCount, Instant(e.CreatedAt), v.LastActive(id), v.setting(id)}
	case v.IsPenguin(id):
		cp := v.Penguin[id]
		at := Instant(cp.CreatedAt)
		return overview{session.Checkpoint, cmp.Or(cp.Name, sessionid.DefaultTitle(id)), cp.MessageCount, at, v.LastActive(id), v.setting(cp.Session)}
	}
	return overview{}
}

// LastActive returns when any of the sessions was last active.
func (v *View) LastActive(ids ...string) (last time.Time) {
	for _, id := range ids {
		var at time.Time
		if e := v.Index.Entry(id); e != nil {
			at = e.LastActive
		} else if v.IsPenguin(id) {
			at = v.Penguin[id].CreatedAt
		}
		if at.After(last) {
			last = at
		}
	}
	return Instant(last)
}

// List returns s, or an empty list if s is nil, which JSON would encode as
// null.
func List(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
