package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// backupSuffix is the suffix of Penguin's older copy of a session.
const backupSuffix = ".bak"

// remove stages the move of a session to the trash, with Penguin's older copy
// of it, and removes it from the index.
func (tx *Tx) remove(id string) error {
	if err := tx.discard(session.FileName(id)); err != nil {
		return err
	}
	if backup := session.FileName(id) + backupSuffix; !tx.batch.Touches(backup) {
		if err := tx.discard(backup); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	tx.forget(id)
	return nil
}

// forget removes a session from the index and the caches.
func (tx *Tx) forget(id string) {
	tx.View.index.Remove(id)
	delete(tx.View.opened, id)
	delete(tx.View.outlines, id)
	tx.gone = append(tx.gone, id)
}

// discard stages the move of a file to the trash: into a folder named after the
// time of the command, under the path that it had in the workspace.
func (tx *Tx) discard(name string) error {
	info, err := tx.View.root.Lstat(name)
	if err != nil {
		return err
	}
	to, err := tx.inTrash(name)
	if err != nil {
		return err
	}
	if err := tx.batch.Move(name, to); err != nil {
		return err
	}
	was := &operation.State{Size: info.Size(), MTime: mtimeOf(info.ModTime())}
	id := sessionOf(name)
	if o := tx.View.outlines[id]; o != nil {
		was = stateOf(o)
	}
	tx.changes(id, operation.Change{File: name, Was: was, Moved: to})
	return nil
}

// sessionOf returns the id of the session whose file name is, "" if it is not
// the file of a session.
func sessionOf(name string) string {
	id, ok := strings.CutSuffix(strings.TrimPrefix(name, session.Dir+"/"), ".json")
	if !ok || session.FileName(id) != name || !sessionid.Valid(id) {
		return ""
	}
	if of, _ := session.ConflictOf(id); of != "" {
		return ""
	}
	return id
}

// keepCopy copies a file that is to be replaced to the trash.
func (tx *Tx) keepCopy(name string) error {
	to, err := tx.inTrash(name)
	if err != nil {
		return err
	}
	return durable.Keep(tx.View.root, name, to)
}

// inTrash returns the path in the trash for the file name, and creates the
// folder.
func (tx *Tx) inTrash(name string) (string, error) {
	if tx.trash == "" {
		stamp := trashDir + "/" + tx.View.store.opts.Now().UTC().Format(trashStamp)
		tx.trash = stamp + tx.mark
		for n := 1; tx.View.isThere(tx.trash); n++ {
			tx.trash = fmt.Sprintf("%s-%d%s", stamp, n, tx.mark)
		}
	}
	to := path.Join(tx.trash, name)
	return to, durable.MakeDir(tx.View.root, path.Dir(to))
}

const trashStamp = "20060102T150405.000000"

// A TrashedFile is a file in the trash.
type TrashedFile struct {
	File      string     `json:"file"`       // the original path in the workspace
	Session   session.ID `json:"session_id"` // null if it is not a session
	Title     string     `json:"title"`      // of the session: its title, else the user's first words; "" if the beginning of the file has neither
	Path      string     `json:"path"`       // absolute path in the trash
	RemovedAt time.Time  `json:"removed_at"` // when it was moved there
	Bytes     int64      `json:"bytes"`      // size of the file
}

// A Trash lists the files in the trash, last removed first.
type Trash struct {
	Files []TrashedFile `json:"trash"`
}

// Trash returns the contents of the trash.
func (w *Workspace) Trash(ctx context.Context) (_ *Trash, err error) {
	defer func() { err = explained(err) }()
	root, err := w.store.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return (&View{store: w.store, ctx: ctx, root: root}).inTheTrash()
}

func (v *View) inTheTrash() (*Trash, error) {
	t := &Trash{Files: []TrashedFile{}}
	err := fs.WalkDir(v.root.FS(), trashDir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		stamp, file, _ := strings.Cut(strings.TrimPrefix(name, trashDir+"/"), "/")
		at, ok := stampTime(stamp)
		info, err := d.Info()
		if !ok || err != nil {
			return nil // not bough's, or removed meanwhile
		}
		t.Files = append(t.Files, v.trashed(name, file, at, info.Size()))
		return nil
	})
	slices.SortStableFunc(t.Files, func(a, b TrashedFile) int { return b.RemovedAt.Compare(a.RemovedAt) })
	return t, err
}

// trashed describes the file at name in the trash, whose original path was
// file.
func (v *View) trashed(name, file string, at time.Time, size int64) TrashedFile {
	t := TrashedFile{File: file, Session: session.ID(sessionOf(file)), Path: v.path(name), RemovedAt: instant(at), Bytes: size}
	if t.Session != "" {
		t.Title = v.titleIn(name)
	}
	return t
}

// nameOf returns the name of a file in the trash, in the workspace.
func (v *View) nameOf(t TrashedFile) string {
	return strings.TrimPrefix(filepath.ToSlash(t.Path), filepath.ToSlash(v.store.dir)+"/")
}

// titleIn returns the title in a session file that is not in the index, else
// the user's first words, "" if there are none. It reads only the beginning of
// the file, which may be large, so it parses an incomplete document.
func (v *View) titleIn(name string) string {
	f, err := durable.OpenRegular(v.root, name)
	if err != nil {
		return ""
	}
	defer f.Close()
	const enough = 64 << 10
	begin, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return ""
	}
	if title := gjson.GetBytes(begin, "metadata.title"); title.Type == gjson.String && title.Str != "" {
		return title.Str
	}
	for _, raw := range gjson.GetBytes(begin, "messages").Array() {
		m := session.Message{Raw: []byte(raw.Raw)}
		if m.Role() == "user" && m.FirstWords() != "" {
			return m.FirstWords()
		}
	}
	return ""
}

// stampTime returns the time in the name of a folder of the trash.
func stampTime(name string) (at time.Time, ok bool) {
	stamp, _, _ := strings.Cut(name, "-") // a suffix for several within a microsecond, or of a prune
	at, err := time.Parse(trashStamp, stamp)
	return at, err == nil
}
