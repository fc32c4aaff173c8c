package store

import (
	"cmp"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// setting returns the setting of a session: that of its line's first file, or
// for a snapshot without one that of its origin, if that exists. The folder is the
// one on this machine, as far as that is known.
func (v *View) setting(id string) session.Setting {
	for seen := map[string]bool{}; !seen[id]; {
		seen[id] = true
		e := v.Index.Entry(v.FirstFile(id))
		if e == nil {
			break
		}
		if e.Setting != (session.Setting{}) || !e.Snapshot {
			return v.here(e.ID, e.Setting)
		}
		id = v.Index.Origin(e.ID)
	}
	return session.Setting{}
}

// FirstFile returns the first existing file of the line of a session.
func (v *View) FirstFile(id string) string {
	seen := map[string]bool{}
	for !seen[id] {
		seen[id] = true
		e := v.Index.Entry(id)
		if e == nil || e.Kind() != session.Continuation {
			break
		}
		from := v.Index.Origin(id)
		if v.Index.Entry(from) == nil {
			break
		}
		id = from
	}
	return id
}

// Title returns the display title of a session: its title, else the user's
// first words, else a title derived from the id. A continuation has the title
// of its line.
func (v *View) Title(e *index.Entry) string {
	return cmp.Or(v.Words(e), sessionid.DefaultTitle(e.ID))
}

// Words returns the display title of a session, "" for a session with neither a
// title nor words.
func (v *View) Words(e *index.Entry) string {
	first := e
	if e.Kind() == session.Continuation {
		if at := v.Index.Entry(v.FirstFile(e.ID)); at != nil {
			first = at
		}
	}
	return cmp.Or(e.Title, e.Opening, first.Title, first.Opening)
}
