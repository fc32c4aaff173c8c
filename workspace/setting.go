package workspace

import (
	"cmp"
	"path"
	"strings"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
)

// A Where selects conversations by their setting, see [session.Setting]. An empty field
// selects all.
type Where struct {
	Tool   string // the name of a format, as [convert.Formats] has it
	Dir    string // a folder: conversations about it, or about a folder below it
	Branch string // the git branch
	Model  string // a part of the model's name, in any case
}

// matches reports whether a conversation has the setting w.
func (w Where) matches(s session.Setting) bool {
	return (w.Tool == "" || strings.EqualFold(w.Tool, s.Tool)) &&
		(w.Dir == "" || within(w.Dir, s.Directory)) &&
		(w.Branch == "" || w.Branch == s.GitBranch) &&
		(w.Model == "" || strings.Contains(strings.ToLower(s.Model), strings.ToLower(w.Model)))
}

// within reports whether a folder is dir or below it. Transcripts name folders as the
// system that they come from does, so both kinds of slashes separate.
func within(dir, folder string) bool {
	if folder == "" {
		return false
	}
	clean := func(s string) string { return path.Clean(strings.ReplaceAll(s, `\`, "/")) }
	dir, folder = clean(dir), clean(folder)
	return dir == folder || strings.HasPrefix(folder, strings.TrimSuffix(dir, "/")+"/")
}

// setting returns the setting of a session: a continuation has that of its line's first
// file, and a snapshot without one has that of its origin, if it exists.
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

// firstFile returns the first file of the line that a session is in, as far as it is
// there.
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

// title returns the display title of a session: its title, else the first words of its
// user, of a continuation those of its line, else a title derived from the id.
func (v *View) title(e *index.Entry) string {
	return cmp.Or(v.words(e), session.DefaultTitle(e.ID))
}

// words is title without the last resort: "" for a session with neither a title
// nor words.
func (v *View) words(e *index.Entry) string {
	first := e
	if e.Kind() == session.Continuation {
		if at := v.index.Entry(v.firstFile(e.ID)); at != nil {
			first = at
		}
	}
	return cmp.Or(e.Title, e.Opening, first.Title, first.Opening)
}
