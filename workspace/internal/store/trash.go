package store

import (
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
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/trash"
	"github.com/tidwall/gjson"
)

// BackupSuffix is the suffix of Penguin's older copy of a session.
const BackupSuffix = ".bak"

// Remove stages the move of a session to the trash, with Penguin's older copy
// of it, and removes it from the index.
func (tx *Tx) Remove(id string) error {
	if tx.View.IsPacked(id) {
		if err := tx.Discard(sessions.RecipeFile(id)); err != nil {
			return err
		}
		tx.Forget(id)
		return nil
	}
	if err := tx.discardPlain(id); err != nil {
		return err
	}
	tx.Forget(id)
	return nil
}

// RemovePlain stages the move of the plain file of a checkpoint to the trash. Its recipe,
// which the index has already, remains.
func (tx *Tx) RemovePlain(id string) error {
	if err := tx.discardPlain(id); err != nil {
		return err
	}
	delete(tx.View.Opened, id)
	delete(tx.View.Outlines, id)
	tx.gone = append(tx.gone, id)
	return nil
}

// discardPlain stages the move of a session file, with Penguin's older copy of it.
func (tx *Tx) discardPlain(id string) error {
	if err := tx.Discard(session.FileName(id)); err != nil {
		return err
	}
	if backup := session.FileName(id) + BackupSuffix; !tx.Batch.Touches(backup) {
		if err := tx.Discard(backup); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Forget removes a session from the index and the caches.
func (tx *Tx) Forget(id string) {
	tx.View.Index.Remove(id)
	delete(tx.View.Opened, id)
	delete(tx.View.Outlines, id)
	tx.gone = append(tx.gone, id)
}

// Discard stages the move of a file to the trash: into a folder named after the
// time of the command, under the path that it had in the workspace.
func (tx *Tx) Discard(name string) error {
	info, err := tx.View.Root.Lstat(name)
	if err != nil {
		return err
	}
	to, err := tx.InTrash(name)
	if err != nil {
		return err
	}
	if err := tx.Batch.Move(name, to); err != nil {
		return err
	}
	if name == HeadFile {
		data, err := durable.ReadFile(tx.View.Root, name)
		if err != nil {
			return err
		}
		tx.HeadMove = &HeadMove{Was: string(data)}
	}
	was := &operation.State{Size: info.Size(), MTime: mtimeOf(info.ModTime())}
	id := SessionOf(name)
	if o := tx.View.Outlines[id]; o != nil && !isRecipe(name) {
		was = StateOf(o)
	}
	tx.Changes(id, operation.Change{File: name, Was: was, Moved: to})
	return nil
}

// SessionOf returns the id of the session whose file name is, plain or packed, "" if it is
// not the file of a session.
func SessionOf(name string) string {
	if id := RecipeOf(name); id != "" {
		return id
	}
	id, ok := strings.CutSuffix(strings.TrimPrefix(name, session.Dir+"/"), ".json")
	if !ok || session.FileName(id) != name || !sessionid.Valid(id) {
		return ""
	}
	if of, _ := sessions.ConflictOf(id); of != "" {
		return ""
	}
	return id
}

// KeepCopy copies a file that is to be replaced to the trash.
func (tx *Tx) KeepCopy(name string) error {
	to, err := tx.InTrash(name)
	if err != nil {
		return err
	}
	return durable.Keep(tx.View.Root, name, to)
}

// InTrash returns the path in the trash for the file name, and creates the
// folder.
func (tx *Tx) InTrash(name string) (string, error) {
	if tx.trash == "" {
		stamp := TrashDir + "/" + tx.View.Store.Opts.Now().UTC().Format(trashStamp)
		tx.trash = stamp + tx.Mark
		for n := 1; tx.View.IsThere(tx.trash); n++ {
			tx.trash = fmt.Sprintf("%s-%d%s", stamp, n, tx.Mark)
		}
	}
	to := path.Join(tx.trash, name)
	return to, durable.MakeDir(tx.View.Root, path.Dir(to))
}

const trashStamp = "20060102T150405.000000"

// InTheTrash returns the files in the trash, last removed first.
func (v *View) InTheTrash() (*trash.List, error) {
	t := &trash.List{Files: []trash.File{}}
	err := fs.WalkDir(v.Root.FS(), TrashDir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		stamp, file, _ := strings.Cut(strings.TrimPrefix(name, TrashDir+"/"), "/")
		at, ok := StampTime(stamp)
		info, err := d.Info()
		if !ok || err != nil {
			return nil // not bough's, or removed meanwhile
		}
		t.Files = append(t.Files, v.trashed(name, file, at, info.Size()))
		return nil
	})
	slices.SortStableFunc(t.Files, func(a, b trash.File) int { return b.RemovedAt.Compare(a.RemovedAt) })
	return t, err
}

// trashed describes the file at name in the trash, whose original path was
// file.
func (v *View) trashed(name, file string, at time.Time, size int64) trash.File {
	t := trash.File{File: file, Session: session.ID(SessionOf(file)), Path: v.Path(name), RemovedAt: Instant(at), Bytes: size}
	if t.Session != "" {
		t.Title = v.titleIn(name)
	}
	return t
}

// NameOf returns the name of a file in the trash, in the workspace.
func (v *View) NameOf(t trash.File) string {
	name, err := filepath.Rel(v.Store.Dir, t.Path)
	if err != nil {
		return t.Path // outside of the workspace, where nothing is opened
	}
	return filepath.ToSlash(name)
}

// titleIn returns the title in a session file that is not in the index, else
// the user's first words, "" if there are none. It reads only the beginning of
// the file, which may be large, so it parses an incomplete document.
func (v *View) titleIn(name string) string {
	f, err := durable.OpenRegular(v.Root, name)
	if err != nil {
		return ""
	}
	defer f.Close()
	const enough = 64 << 10
	begin, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return ""
	}
	for _, at := range []string{"metadata.title", "session.metadata.title", "packed.opening"} {
		if title := gjson.GetBytes(begin, at); title.Type == gjson.String && title.Str != "" {
			return title.Str
		}
	}
	for _, raw := range gjson.GetBytes(begin, "messages").Array() {
		m := session.Message{Raw: []byte(raw.Raw)}
		if m.Role() == "user" && !m.IsMerge() && m.FirstWords() != "" {
			return m.FirstWords()
		}
	}
	return ""
}

// StampTime returns the time in the name of a folder of the trash.
func StampTime(name string) (at time.Time, ok bool) {
	stamp, _, _ := strings.Cut(name, "-") // a suffix for several within a microsecond, or of a prune
	at, err := time.Parse(trashStamp, stamp)
	return at, err == nil
}

// HeldBy returns the path of the file that c moved: its present path or, if it
// is a symbolic link, its target relative to the original folder.
func (v *View) HeldBy(c operation.Change) string {
	if to, err := v.Root.Readlink(c.Moved); err == nil {
		return path.Join(path.Dir(c.File), filepath.ToSlash(to))
	}
	return c.Moved
}

// BringBack stages the move of a file from the trash to its original path, and
// adds it to the index if it is a session.
func (tx *Tx) BringBack(c operation.Change) error {
	if err := tx.Batch.Move(c.Moved, c.File); err != nil {
		return err
	}
	id := SessionOf(c.File)
	if id == "" {
		return nil
	}
	held := tx.View.HeldBy(c)
	data, err := durable.ReadFile(tx.View.Root, held)
	if err != nil {
		return err
	}
	info, err := tx.View.Root.Stat(held)
	if err != nil {
		return err
	}
	if isRecipe(c.File) {
		if r, err := sessions.DecodeRecipe(id, data); err == nil {
			tx.putPacked(r, info)
		}
		return nil
	}
	s, err := session.Decode(id, data)
	if err != nil {
		return nil // it was damaged before
	}
	s.Stat = sessions.StatOf(id, info)
	tx.View.Outlines[id] = s.Outline
	tx.View.Index.Put(s.Outline.Summary(), s.Outline.Stat)
	return nil
}
