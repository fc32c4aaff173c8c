package plan

import (
	"slices"

	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/mirror"
)

// bookmarksHere returns the bookmarks as a workspace has them: labelled with names that differ.
func (v *View) bookmarksHere() []bookmark.Bookmark {
	list := make([]bookmark.Bookmark, len(v.Bookmarks))
	for i, b := range v.Bookmarks {
		list[i] = b.Bookmark
		list[i].Label = b.Name
	}
	return list
}

func samePlace(a, b bookmark.Bookmark) bool {
	return a.Session == b.Session && a.Message == b.Message && a.Label == b.Label
}

func indexOf(list []bookmark.Bookmark, b bookmark.Bookmark) int {
	return slices.IndexFunc(list, func(o bookmark.Bookmark) bool { return samePlace(o, b) })
}

// bookmarkOps returns the operations to record for bookmarks: for those on messages that others have, or will.
func (h *Here) bookmarkOps(f *mirror.Facts, view *View, has func(session, message string) bool) (ops []Op) {
	joined := view.bookmarksHere()
	for _, b := range f.Bookmarks {
		if slices.Contains(h.Bookmarks, b) || slices.Contains(joined, b) || view.IsPurged(b.Session) || !has(b.Session, b.Message) {
			continue
		}
		is := b
		if i := indexOf(joined, b); i >= 0 { // another summary or scope
			is.Label = view.Bookmarks[i].Label
			ops = append(ops, drop(bookmarksEntity, "all", view.Bookmarks[i].Stamps))
		}
		ops = append(ops, add(bookmarksEntity, "all", valueOf(is)))
	}
	there := h.There(f)
	for _, o := range f.Since {
		for _, b := range o.Unmarked {
			gone := indexOf(f.Bookmarks, b) < 0 && there(b.Session)
			if i := indexOf(joined, b); gone && i >= 0 {
				ops = append(ops, drop(bookmarksEntity, "all", view.Bookmarks[i].Stamps))
			}
		}
	}
	return distinct(ops)
}

// takeBookmarks decides which bookmarks change in a workspace with facts, of the sessions in there.
func (h *Here) takeBookmarks(f *mirror.Facts, view *View, there func(session string) bool) (add, drop []bookmark.Bookmark) {
	joined := view.bookmarksHere()
	for _, b := range f.Bookmarks {
		_, compared := h.known(b.Session) // else the bookmark was never recorded
		if indexOf(joined, b) < 0 && !view.IsPurged(b.Session) && (compared || slices.Contains(h.Bookmarks, b) && view.Session(b.Session) != nil) {
			drop = append(drop, b)
		}
	}
	for _, b := range joined {
		if !slices.Contains(f.Bookmarks, b) && there(b.Session) {
			add = append(add, b)
		}
	}
	return add, drop
}
