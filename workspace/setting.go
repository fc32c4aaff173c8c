package workspace

import (
	"cmp"
	"path"
	"strings"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// A Where selects conversations by their setting; see [session.Setting]. An
// empty field selects all.
type Where struct {
	Tool   string // name of a format, see [convert.Formats]
	Dir    string // a folder, or a parent of it
	Branch string // git branch
	Model  string // a part of the model's name, ignoring case
}

// matches reports whether a conversation with setting s matches.
func (w Where) matches(s session.Setting) bool {
	return (w.Tool == "" || strings.EqualFold(w.Tool, s.Tool)) &&
		(w.Dir == "" || within(w.Dir, s.Directory)) &&
		(w.Branch == "" || w.Branch == s.GitBranch) &&
		(w.Model == "" || strings.Contains(strings.ToLower(s.Model), strings.ToLower(w.Model)))
}

// within reports whether folder is dir or below it. Both kinds of slashes
// separate, because transcripts use the form of the system that they come from.
func within(dir, folder string) bool {
	if folder == "" {
		return false
	}
	clean := func(s string) string { return path.Clean(strings.ReplaceAll(s, `\`, "/")) }
	dir, folder = clean(dir), clean(folder)
	return dir == folder || strings.HasPrefix(folder, strings.TrimSuffix(dir, "/")+"/")
}

// setting returns the setting of a session: that of its line's first file, or
// for a snapshot without one that of its origin, if that exists.
func (v *View) setting(id string) session.Setting {
	for seen := map[string]bool{}; !seen[id]; {
		seen[id] = true
		e := v.index.Entry(v.firstFile(id))
		if e == nil {
			break
		}
		if e.Setting != (session.Setting{}) || !e.Snapshot {
			return e.Setting
		}
		id = v.index.Origin(e.ID)
	}
	return session.Setting{}
}

// firstFile returns the first existing file of the line of a session.
func (v *View) firstFile(id string) string {
	seen := map[string]bool{}
	for !seen[id] {
		seen[id] = true
		e := v.index.Entry(id)
		if e == nil || e.Kind() != session.Continuation {
			break
		}
		from := v.index.Origin(id)
		if v.index.Entry(from) == nil {
			break
		}
		id = from
	}
	return id
}

// title returns the display title of a session: its title, else the user's
// first words, else a title derived from the id. A continuation has the title
// of its line.
func (v *View) title(e *index.Entry) string {
	return cmp.Or(v.words(e), sessionid.DefaultTitle(e.ID))
}

// words returns the display title of a session, "" for a session with neither a
// title nor words.
func (v *View) words(e *index.Entry) string {
	first := e
	if e.Kind() == session.Continuation {
		if at := v.index.Entry(v.firstFile(e.ID)); at != nil {
			first = at
		}
	}
	return cmp.Or(e.Title, e.Opening, first.Title, first.Opening)
}
