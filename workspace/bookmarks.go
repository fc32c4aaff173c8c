package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// BookmarkOptions are the choices for a bookmark.
type BookmarkOptions struct {
	// Summary describes the bookmark, at most 2,000 bytes. Empty means no summary;
	// with Move, the existing one.
	Summary string
	// Scope is the part of the conversation that the bookmark covers. Empty means
	// the message; with Move, the existing scope.
	Scope bookmark.Scope
	// Move moves the label if another message has it. Otherwise such a label is
	// refused.
	Move bool
}

// Bookmark adds a label to the message that ref refers to, without changing the
// session file or the head. A label is unique in the workspace. White space
// around it is removed.
func (w *Workspace) Bookmark(ctx context.Context, ref, label string, o BookmarkOptions) (*bookmark.Bookmark, error) {
	label = strings.TrimSpace(label)
	if err := cmp.Or(store.CheckLabel(label), o.check()); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "bookmark", Args: store.Args{"ref": ref, "label": label}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*bookmark.Bookmark, error) {
		p, err := tx.View.Place(ref, false)
		if err != nil {
			return nil, err
		}
		if p.Node < 0 {
			return nil, &fault.Error{Code: fault.Refused, Message: p.SessionID() + " has no message to bookmark", Next: fault.Do(fault.AppendMessage)}
		}
		f, was, err := tx.View.Bookmarks()
		if err != nil {
			return nil, err
		}
		b := &bookmark.Bookmark{
			Session: tx.View.LineID(p.Line), Message: p.MessageID(), Label: label,
			Summary: o.Summary, Scope: cmp.Or(o.Scope, bookmark.Message), CreatedAt: session.Bough.Time(tx.View.Now(nil)),
		}
		is, err := withBookmark(f, b, o)
		if err != nil {
			return nil, err
		}
		if err := checkSize("bookmarks", is); err != nil {
			return nil, err
		}
		tx.Op.Sessions, tx.Op.Args["message"] = []string{b.Session}, b.Message
		tx.View.NoteOtherMeaning(label)
		return b, tx.ReplaceSmall(bookmark.Path, was, is)
	})
}

// withBookmark returns the encoded file with b added. If b is moved, it keeps
// the fields that o does not set.
func withBookmark(f *bookmark.File, b *bookmark.Bookmark, o BookmarkOptions) ([]byte, error) {
	taken := f.Labelled(b.Label)
	switch {
	case len(taken) == 0:
		return f.Add(*b), nil
	case len(taken) > 1:
		return nil, store.AmbiguousBookmarks(b.Label, f, taken)
	case !o.Move:
		return nil, &fault.Error{
			Code:    fault.Refused,
			Message: fmt.Sprintf("the label %q is already used, at %s@%s", b.Label, f.Bookmarks[taken[0]].Session, f.Bookmarks[taken[0]].Message),
			Next:    fault.Do(fault.MoveBookmark),
		}
	}
	old := f.Bookmarks[taken[0]]
	b.Summary, b.Scope = cmp.Or(o.Summary, old.Summary), cmp.Or(o.Scope, old.Scope, bookmark.Message)
	return f.Replace(taken[0], *b), nil
}

func (o BookmarkOptions) check() error {
	switch {
	case o.Scope != "" && !slices.Contains(bookmark.Scopes, o.Scope):
		return lookup.Word("scope", o.Scope, bookmark.Scopes...)
	case len(o.Summary) > store.MaxSummary:
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("the summary has %d bytes; at most %d are allowed", len(o.Summary), store.MaxSummary)}
	}
	return store.CheckUTF8("summary", o.Summary)
}

// BookmarksOptions are the choices for listing bookmarks.
type BookmarksOptions struct {
	// In limits the list to the line of this session. Empty means all.
	In string
}

// Bookmarks are the bookmarks of a workspace.
type Bookmarks struct {
	Bookmarks []bookmark.Bookmark `json:"bookmarks"` // the oldest first
}

// Bookmarks returns the bookmarks. A bookmark whose session does not exist is
// omitted with a note; it is listed again if the session is restored.
func (w *Workspace) Bookmarks(ctx context.Context, o BookmarksOptions) (*Bookmarks, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*Bookmarks, error) {
		list := &Bookmarks{Bookmarks: []bookmark.Bookmark{}}
		var line []string
		if o.In != "" {
			id, err := v.Resolve(o.In)
			if err != nil {
				return nil, err
			}
			if line, err = v.LineIDs(id); err != nil && len(line) == 0 {
				return nil, err
			}
			if v.Kind(id) == session.Checkpoint {
				line = []string{id}
			}
		}
		f, _, err := v.Bookmarks()
		if err != nil {
			return nil, err
		}
		gone := 0
		for _, b := range f.Bookmarks {
			switch {
			case !v.Has(b.Session):
				gone++
			case o.In == "" || slices.Contains(line, b.Session):
				list.Bookmarks = append(list.Bookmarks, b)
			}
		}
		if gone > 0 && o.In == "" {
			v.Store.Opts.Note(plural.Of(gone, "bookmark") + " of missing sessions omitted")
		}
		return list, nil
	})
}

// RemoveBookmark removes a bookmark and returns it. which is its label. If two
// bookmarks have the same label, because another program wrote the file,
// SESSION@MESSAGE selects one; both ids must be as stored.
func (w *Workspace) RemoveBookmark(ctx context.Context, which string) (*bookmark.Bookmark, error) {
	which = strings.TrimSpace(which)
	op := operation.Operation{Verb: "bookmark --rm", Args: store.Args{"label": which}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*bookmark.Bookmark, error) {
		f, was, err := tx.View.Bookmarks()
		if err != nil {
			return nil, err
		}
		list := f.Labelled(which)
		if len(list) == 0 {
			for i, b := range f.Bookmarks {
				if b.Session+"@"+b.Message == which {
					list = append(list, i)
				}
			}
		}
		switch len(list) {
		case 0:
			return nil, lookup.Missing("bookmark", which, fault.Do(fault.ListBookmarks))
		case 1:
		default:
			return nil, store.AmbiguousBookmarks(which, f, list)
		}
		b := f.Bookmarks[list[0]]
		tx.Op.Sessions, tx.Op.Args["label"], tx.Op.Args["message"] = []string{b.Session}, b.Label, b.Message
		return &b, tx.ReplaceSmall(bookmark.Path, was, f.Remove(list[0]))
	})
}
