package checkup

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// bookmarkPlaces checks that the bookmarks can be read and that their messages
// exist.
func (d *checkup) bookmarkPlaces() error {
	f, data, err := d.v.Bookmarks()
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage):
		if d.repairs() {
			if err := d.tx.Discard(bookmark.Path); err != nil {
				return err
			}
		}
		d.found(doctor.DamagedBookmarks, bookmark.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), d.repairs())
		return nil
	case err != nil:
		d.found(doctor.DamagedBookmarks, bookmark.Path, err.Error(), false)
		return nil
	}
	is := data
	for i, b := range slices.Backward(f.Bookmarks) {
		why, err := d.lostBookmark(b)
		if err != nil {
			return err
		}
		if why == "" {
			continue
		}
		if is = f.Remove(i); d.repairs() {
			if f, err = bookmark.Decode(is); err != nil {
				return err
			}
		}
		d.found(doctor.LostBookmark, bookmark.Path, fmt.Sprintf("%q: %s", b.Label, why), d.repairs())
	}
	if !d.repairs() || len(is) == len(data) {
		return nil
	}
	if err := d.keep(bookmark.Path); err != nil {
		return err
	}
	return d.tx.ReplaceSmall(bookmark.Path, data, is)
}

// lostBookmark returns why b refers to nothing. It returns "" if b refers to a
// message, or could after a session is repaired or restored from the trash. It
// also returns "" for a bookmark in a session that an interrupted forget
// deletes.
func (d *checkup) lostBookmark(b bookmark.Bookmark) (why string, err error) {
	if slices.Contains(d.pending, b.Session) {
		return "", nil
	}
	why = b.Session + " is gone"
	if d.v.Has(b.Session) {
		_, err := d.v.PlaceAt(b.Session, b.Message, true)
		if err == nil || store.Explain(err).Code != fault.NotFound {
			return "", nil
		}
		why = fmt.Sprintf("%s is not in %s", b.Message, b.Session)
	}
	trash, err := d.v.InTheTrash()
	if err != nil {
		return "", err
	}
	quoted := rawjson.Compact(b.Message)
	for _, f := range trash.Files {
		name, err := filepath.Rel(d.v.Store.Dir, f.Path)
		if err != nil || store.SessionOf(f.File) == "" {
			continue
		}
		if data, err := durable.ReadFile(d.v.Root, filepath.ToSlash(name)); err == nil && bytes.Contains(data, quoted) {
			return "", nil
		}
	}
	return why, nil
}
