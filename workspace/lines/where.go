package lines

import (
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
)

// A Where selects conversations by their setting; see [session.Setting]. An
// empty field selects all.
type Where struct {
	Tools  []string // names of formats, see [convert.Formats]
	Dir    string   // a folder, or a parent of it
	Branch string   // git branch
	Model  string   // a part of the model's name, ignoring case
}

// Matches reports whether a conversation with setting s matches.
func (w Where) Matches(s session.Setting) bool {
	return (len(w.Tools) == 0 || slices.ContainsFunc(w.Tools, func(name string) bool { return strings.EqualFold(name, s.Tool) })) &&
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
