package mirrorer

import (
	"bytes"
	"slices"

	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
)

// takeBookmarks stages the changes of the bookmarks.
func (a *applying) takeBookmarks(tx *store.Tx) (left []mirror.Left, err error) {
	if tx.Batch.Len() > 0 {
		return nil, errLater // they refer to sessions
	}
	f, was, err := tx.View.Bookmarks()
	if err != nil {
		return leaveFor(tx, bookmark.Path, err)
	}
	is := was
	put := func(data []byte) error {
		is = data
		f, err = bookmark.Decode(data)
		return err
	}
	for _, b := range a.changes.DropBookmarks {
		if i := slices.IndexFunc(f.Bookmarks, func(o bookmark.Bookmark) bool { return same(o, b) }); i >= 0 {
			if err := put(f.Remove(i)); err != nil {
				return nil, err
			}
			tx.Op.Sessions = addOnce(tx.Op.Sessions, b.Session)
		}
	}
	for _, b := range a.changes.AddBookmarks {
		why := whyNot(tx.View, f, b)
		if i := slices.IndexFunc(f.Bookmarks, func(o bookmark.Bookmark) bool { return same(o, b) }); i >= 0 {
			if f.Bookmarks[i] == b {
				continue
			}
			err = put(f.Replace(i, b))
		} else if why == "" {
			err = put(f.Insert(b))
		} else {
			left = append(left, mirror.Left{What: b.Label, Why: why})
			continue
		}
		if err != nil {
			return nil, err
		}
		tx.Op.Sessions = addOnce(tx.Op.Sessions, b.Session)
	}
	if bytes.Equal(was, is) {
		tx.Op.Sessions = nil
		return left, nil
	}
	return left, tx.ReplaceSmall(bookmark.Path, was, is)
}

// same reports whether two bookmarks are one: the same label on the same message.
func same(a, b bookmark.Bookmark) bool {
	return a.Session == b.Session && a.Message == b.Message && a.Label == b.Label
}

func addOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// whyNot returns why a new bookmark cannot be added, "" if it can.
func whyNot(v *store.View, f *bookmark.File, b bookmark.Bookmark) string {
	if err := store.CheckLabel(b.Label); err != nil {
		return err.Error()
	}
	if len(f.Labelled(b.Label)) > 0 {
		return "the label is already used"
	}
	if e := v.Index.Entry(b.Session); e == nil || e.Err != nil {
		return b.Session + " is not here"
	}
	l, err := v.Line(b.Session, true)
	if err != nil {
		return err.Error()
	}
	if len(l.Find(b.Message)) == 0 || l.Parts[0].ID != b.Session {
		return b.Session + " does not have the message"
	}
	if len(b.Summary) > store.MaxSummary || store.CheckUTF8("summary", b.Summary) != nil || store.CheckUTF8("scope", string(b.Scope)) != nil {
		return "it is malformed"
	}
	return ""
}
