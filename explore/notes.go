package explore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
)

// A Note is a file that a branch published for its siblings.
type Note struct {
	Branch string `json:"branch_id"`
	Name   string `json:"name"` // path of the file, with slashes
	Text   string `json:"text"` // at most its first 16 KiB
	At     string `json:"at"`   // when it was written
}

// Limits of the notes of a branch, of the bytes of a note, and of all notes of
// an exploration.
const (
	maxNotes    = 32       // per branch
	maxNote     = 16 << 10 // bytes of a note
	maxAllNotes = 1 << 20  // bytes per exploration
)

// notes returns the folder with the notes of a branch, or of all branches for
// "".
func (r *run) notes(branch string) string { return filepath.Join(r.folder, "notes", branch) }

// share creates the folder for notes, with the notes that the exploration has.
func (r *run) share() error {
	if !r.e.Runner.Share || r.e.Done() {
		return nil
	}
	if err := os.MkdirAll(r.notes(""), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.notes(""))
	if err != nil {
		return err
	}
	defer root.Close()
	for _, n := range r.e.Notes {
		name := n.Branch + "/" + n.Name
		if _, err := root.Lstat(name); err == nil {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(name, []byte(n.Text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// unshare removes the folder of the exploration, with the notes.
func (r *run) unshare() {
	if r.e.Runner.Keep {
		return
	}
	if err := os.RemoveAll(r.notes("")); err != nil {
		r.x.note(err.Error())
	}
	if err := os.Remove(r.folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.x.note(err.Error())
	}
}

// collect returns the regular files in the folder of a branch as its notes, by name.
func collect(dir, branch string) (list []Note) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil // the runner removed it
	}
	defer root.Close()
	fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if len(list) == maxNotes {
			return fs.SkipAll
		}
		f, err := root.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(f, maxNote))
		if err == nil {
			list = append(list, Note{branch, strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(string(text), "\uFFFD"), session.Bough.Time(info.ModTime())})
		}
		return nil
	})
	return list
}

// note replaces the notes of a branch, within the limit of the exploration.
func (e *Exploration) note(branch string, notes []Note) {
	e.Notes = slices.DeleteFunc(e.Notes, func(n Note) bool { return n.Branch == branch })
	size := 0
	for _, n := range e.Notes {
		size += len(n.Text)
	}
	for _, n := range notes {
		if size += len(n.Text); size <= maxAllNotes {
			e.Notes = append(e.Notes, n)
		}
	}
}
