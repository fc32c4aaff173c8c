package workspace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/bookmark"
	"github.com/bough-dev/bough/session"
)

// bookmarkPlaces looks whether the bookmarks can be read, and whether their messages
// are there.
func (d *doctor) bookmarkPlaces() error {
	f, data, err := d.bookmarks()
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage):
		if d.fix {
			if err := d.discard(bookmark.Path); err != nil {
				return err
			}
		}
		d.found(DamagedBookmarks, bookmark.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), d.fix)
		return nil
	case err != nil:
		d.found(DamagedBookmarks, bookmark.Path, err.Error(), false)
		return nil
	}
	is, trash := data, map[string]bool{}
	files, err := d.inTheTrash()
	if err != nil {
		return err
	}
	for _, file := range files.Files {
		trash[file.File] = true
	}
	for i, b := range slices.Backward(f.Bookmarks) {
		why := d.lostBookmark(b, trash)
		if why == "" {
			continue
		}
		if is = f.Remove(i); d.fix {
			if f, err = bookmark.Decode(is); err != nil {
				return err
			}
		}
		d.found(LostBookmark, bookmark.Path, fmt.Sprintf("%q: %s", b.Label, why), d.fix)
	}
	if !d.fix || len(is) == len(data) {
		return nil
	}
	if err := d.keep(bookmark.Path); err != nil {
		return err
	}
	return d.replaceSmall(bookmark.Path, data, is)
}

// lostBookmark says why nobody can go where b is, "" if somebody can, or could once
// its session is mended or brought back from the trash, which has such files.
func (d *doctor) lostBookmark(b Bookmark, trash map[string]bool) string {
	switch {
	case d.has(b.Session):
		if _, err := d.placeIn(b.Session, b.Message, true); err != nil && Explain(err).Code == NotFound {
			return fmt.Sprintf("%s is not in %s", b.Message, b.Session)
		}
	case !trash[session.FileName(b.Session)]:
		return b.Session + " is gone"
	}
	return ""
}
