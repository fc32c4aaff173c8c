package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
)

// PurgeOptions select the files to delete.
type PurgeOptions struct {
	// MinAge is how long a file must have been in the trash. Zero means that every
	// file is deleted.
	MinAge time.Duration
}

// PurgeTrash deletes the contents of the trash, and the attachments that only
// these refer to, and returns what it deleted. It also removes the text of the
// deleted sessions from the log, bookmarks, explorations, learnings and tasks.
// The operations that moved the files to the trash can no longer be undone.
func (w *Workspace) PurgeTrash(ctx context.Context, o PurgeOptions) (*Trash, error) {
	return purgeTrash(ctx, w.store, o)
}

func purgeTrash(ctx context.Context, w *base, o PurgeOptions) (*Trash, error) {
	return update(ctx, w, operation.Operation{Verb: "trash --purge"}, func(tx *Tx) (*Trash, error) {
		all, err := tx.View.inTheTrash()
		if err != nil {
			return nil, err
		}
		purged := &Trash{Files: []TrashedFile{}}
		before := instant(tx.View.store.opts.Now().Add(-o.MinAge))
		sums := map[string]bool{}
		for _, f := range all.Files {
			if !f.RemovedAt.After(before) {
				purged.Files = append(purged.Files, f)
				tx.View.addAttached(sums, f)
			}
		}
		tx.logEmpty = len(purged.Files) > 0
		ids, titles := tx.View.goneWith(purged.Files, all.Files)
		if err := tx.erase(newErasure(ids, nil, titles)); err != nil {
			return nil, err
		}
		if err := tx.purge(func(_ string, at time.Time) bool { return !instant(at).After(before) }); err != nil {
			return nil, err
		}
		gone, err := tx.purgeAttachments(sums)
		purged.Files = append(purged.Files, gone...)
		return purged, err
	})
}

// addAttached adds the attachments that a session in the trash refers to.
func (v *View) addAttached(sums map[string]bool, f TrashedFile) {
	if sessionOf(f.File) == "" {
		return
	}
	data, err := durable.ReadFile(v.root, v.nameOf(f))
	if err != nil {
		return // keep the files that it may refer to
	}
	s, err := session.Decode(sessionOf(f.File), data)
	if err != nil {
		return
	}
	for _, m := range s.Messages {
		for _, sum := range attached(m) {
			sums[sum] = true
		}
	}
}

// purgeAttachments deletes the attachments that nothing refers to: no session, no file
// in the trash, and no operation that could be redone. It returns the deleted ones.
func (tx *Tx) purgeAttachments(sums map[string]bool) (gone []TrashedFile, err error) {
	for _, dir := range []string{session.Dir, trashDir, operation.Path} {
		if len(sums) == 0 {
			return nil, nil
		}
		err := fs.WalkDir(tx.View.root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			return tx.View.keepNamed(sums, name)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, sum := range slices.Sorted(maps.Keys(sums)) {
		name := FilePath(sum)
		info, err := tx.View.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = durable.Remove(tx.View.root, name)
		}
		if err != nil {
			return gone, err
		}
		gone = append(gone, TrashedFile{File: name, Path: tx.View.path(name), RemovedAt: instant(tx.View.store.opts.Now()), Bytes: info.Size()})
	}
	return gone, nil
}

// keepNamed removes from sums the attachments that a file refers to.
func (v *View) keepNamed(sums map[string]bool, name string) error {
	data, err := durable.ReadFile(v.root, name)
	if err != nil {
		return err
	}
	for sum := range sums {
		if bytes.Contains(data, []byte(sum)) {
			delete(sums, sum)
		}
	}
	return v.ctx.Err()
}

// purge deletes the folders of the trash that match by name and time.
func (tx *Tx) purge(match func(name string, at time.Time) bool) error {
	entries, err := durable.ReadDir(tx.View.root, trashDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err != nil {
			break
		}
		if at, ok := stampTime(e.Name()); ok && e.IsDir() && match(e.Name(), at) {
			err = durable.RemoveAll(tx.View.root, trashDir+"/"+e.Name())
		}
	}
	return err
}
