package eraser

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/trash"
)

// PurgeTrash deletes the contents of the trash for good.
func PurgeTrash(ctx context.Context, w *store.Store, o trash.PurgeOptions) (*trash.List, error) {
	return store.Update(ctx, w, operation.Operation{Verb: "trash --purge"}, func(tx *store.Tx) (*trash.List, error) {
		all, err := tx.View.InTheTrash()
		if err != nil {
			return nil, err
		}
		purged := &trash.List{Files: []trash.File{}}
		before := store.Instant(tx.View.Store.Opts.Now().Add(-o.MinAge))
		sums := map[string]bool{}
		var messages []string
		for _, f := range all.Files {
			if !f.RemovedAt.After(before) {
				purged.Files = append(purged.Files, f)
				if id := store.SessionOf(f.File); id != "" {
					if data, err := durable.ReadFile(tx.View.Root, tx.View.NameOf(f)); err == nil {
						t := textIn(tx.View, f.File, id, data, true)
						addAttached(sums, id, t.data)
						for _, m := range t.messages {
							messages = append(messages, m.id)
						}
					}
				}
			}
		}
		tx.LogEmpty = len(purged.Files) > 0
		ids, titles := goneWith(tx.View, purged.Files, all.Files)
		if err := erase(tx, newErasure(ids, nil, titles)); err != nil {
			return nil, err
		}
		if _, err := Purge(tx, func(_ string, at time.Time) bool { return !store.Instant(at).After(before) }); err != nil {
			return nil, err
		}
		if err := tx.EraseFromPacks(newErasure(ids, messages, nil).hasItem); err != nil {
			return nil, err
		}
		gone, err := purgeAttachments(tx, sums)
		purged.Files = append(purged.Files, gone...)
		return purged, err
	})
}

// addAttached adds the attachments that a session refers to. Those of a damaged session are
// unknown, and kept.
func addAttached(sums map[string]bool, id string, data []byte) {
	s, err := session.Decode(id, data)
	if err != nil {
		return
	}
	for _, m := range s.Messages {
		for _, sum := range store.Attached(m) {
			sums[sum] = true
		}
	}
}

// purgeAttachments deletes the attachments that nothing refers to: no session, no file
// in the trash, and no operation that could be redone. It returns the deleted ones.
func purgeAttachments(tx *store.Tx, sums map[string]bool) (gone []trash.File, err error) {
	for _, dir := range []string{session.Dir, sessions.PackedDir, store.TrashDir, operation.Path} {
		if len(sums) == 0 {
			return nil, nil
		}
		err := fs.WalkDir(tx.View.Root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			return keepNamed(tx.View, sums, name)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, sum := range slices.Sorted(maps.Keys(sums)) {
		name := lines.FilePath(sum)
		info, err := tx.View.Root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = durable.Remove(tx.View.Root, name)
		}
		if err != nil {
			return gone, err
		}
		gone = append(gone, trash.File{File: name, Path: tx.View.Path(name), RemovedAt: store.Instant(tx.View.Store.Opts.Now()), Bytes: info.Size()})
	}
	return gone, nil
}

// keepNamed removes from sums the attachments that a file refers to.
func keepNamed(v *store.View, sums map[string]bool, name string) error {
	keep := func(data []byte) {
		for sum := range sums {
			if bytes.Contains(data, []byte(sum)) {
				delete(sums, sum)
			}
		}
	}
	if strings.HasSuffix(name, ".zst") {
		if err := v.EachText(name, keep); err != nil {
			clear(sums) // what it refers to is unknown
		}
		return v.Ctx.Err()
	}
	data, err := durable.ReadFile(v.Root, name)
	if err != nil {
		return err
	}
	keep(data)
	return v.Ctx.Err()
}

// Purge deletes the folders of the trash that match by name and time, and returns their
// number.
func Purge(tx *store.Tx, match func(name string, at time.Time) bool) (n int, err error) {
	folders, err := Purgeable(tx.View, match)
	for _, name := range folders {
		if err != nil {
			break
		}
		err = durable.RemoveAll(tx.View.Root, store.TrashDir+"/"+name)
		n++
	}
	return n, err
}

// HasPurgeable reports whether [Purge] would delete anything.
func HasPurgeable(v *store.View, match func(name string, at time.Time) bool) bool {
	folders, err := Purgeable(v, match)
	return err == nil && len(folders) > 0
}

// Purgeable returns the names of the folders of the trash that match.
func Purgeable(v *store.View, match func(name string, at time.Time) bool) (folders []string, err error) {
	entries, err := durable.ReadDir(v.Root, store.TrashDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if at, ok := store.StampTime(e.Name()); ok && e.IsDir() && match(e.Name(), at) {
			folders = append(folders, e.Name())
		}
	}
	return folders, err
}
