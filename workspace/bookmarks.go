package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
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

const (
	maxLabel   = 200  // bytes
	maxSummary = 2000 // bytes
)

// Bookmark adds a label to the message that ref refers to, without changing the
// session file or the head. A label is unique in the workspace. White space
// around it is removed.
func (w *Workspace) Bookmark(ctx context.Context, ref, label string, o BookmarkOptions) (*bookmark.Bookmark, error) {
	label = strings.TrimSpace(label)
	if err := cmp.Or(checkLabel(label), o.check()); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "bookmark", Args: args{"ref": ref, "label": label}}
	return update(ctx, w.store, op, func(tx *Tx) (*bookmark.Bookmark, error) {
		p, err := tx.View.place(ref, false)
		if err != nil {
			return nil, err
		}
		if p.node < 0 {
			return nil, &fault.Error{Code: fault.Refused, Message: p.id() + " has no message to bookmark", Next: fault.Do(fault.AppendMessage)}
		}
		f, was, err := tx.View.bookmarks()
		if err != nil {
			return nil, err
		}
		b := &bookmark.Bookmark{
			Session: tx.View.lineID(p.line), Message: p.messageID(), Label: label,
			Summary: o.Summary, Scope: cmp.Or(o.Scope, bookmark.Message), CreatedAt: session.Bough.Time(tx.View.now(nil)),
		}
		is, err := withBookmark(f, b, o)
		if err != nil {
			return nil, err
		}
		if err := checkSize("bookmarks", is); err != nil {
			return nil, err
		}
		tx.op.Sessions, tx.op.Args["message"] = []string{b.Session}, b.Message
		tx.View.noteOtherMeaning(label)
		return b, tx.replaceSmall(bookmark.Path, was, is)
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
		return nil, ambiguousBookmarks(b.Label, f, taken)
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

// ambiguousBookmarks returns the error for a name of several bookmarks, whose
// indexes are list.
func ambiguousBookmarks(name string, f *bookmark.File, list []int) error {
	return lookup.Ambiguous("bookmark", name, list, func(i int) fault.Candidate {
		b := f.Bookmarks[i]
		return fault.Candidate{Session: session.ID(b.Session), Message: session.ID(b.Message), Kind: "bookmark", Title: b.Label, Time: b.CreatedAt, Text: b.Summary}
	})
}

func checkLabel(label string) error {
	wrong := ""
	switch {
	case label == "":
		wrong = "the label is empty"
	case isHeadName(label):
		wrong = fmt.Sprintf("%q is reserved for the head and cannot be a label", label)
	case len(label) > maxLabel:
		wrong = fmt.Sprintf("the label has %d bytes; at most %d are allowed", len(label), maxLabel)
	case strings.ContainsFunc(label, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		wrong = "the label must be one line of text"
	default:
		return checkUTF8("label", label)
	}
	return &fault.Error{Code: fault.Usage, Message: wrong}
}

func (o BookmarkOptions) check() error {
	switch {
	case o.Scope != "" && !slices.Contains(bookmark.Scopes, o.Scope):
		e := &fault.UnknownError{What: "scope", Word: string(o.Scope)}
		for _, scope := range bookmark.Scopes {
			e.Choices = append(e.Choices, string(scope))
		}
		return e
	case len(o.Summary) > maxSummary:
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("the summary has %d bytes; at most %d are allowed", len(o.Summary), maxSummary)}
	}
	return checkUTF8("summary", o.Summary)
}

// noteOtherMeaning adds a note if a REF with this label resolves to something
// else.
func (v *View) noteOtherMeaning(label string) {
	_, isSession := v.byID(label)
	titled, _ := v.titled(label)
	if isSession || len(titled) > 0 {
		v.store.opts.Note(fmt.Sprintf("as a REF, %q refers to a session, not to this bookmark", label))
	}
}

// lineID returns the session for bookmarks in l: its first file, or the
// checkpoint.
func (v *View) lineID(l *line) string {
	if v.kind(l.id()) == session.Checkpoint {
		return l.id()
	}
	return l.Parts[0].ID
}

// bookmarks returns the bookmarks and the content of their file, nil if there
// is no file.
func (v *View) bookmarks() (f *bookmark.File, data []byte, err error) {
	data, err = durable.ReadFile(v.root, bookmark.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	f, err = bookmark.Decode(data)
	return f, data, err
}

// bookmarksIfAny returns the bookmarks. If they cannot be read, it adds a note
// and returns none.
func (v *View) bookmarksIfAny() *bookmark.File {
	f, _, err := v.bookmarks()
	if err != nil {
		v.store.opts.Note("the bookmarks are ignored: " + err.Error())
		return &bookmark.File{}
	}
	return f
}

// bookmarksIn returns the bookmarks in a line, by message.
func (v *View) bookmarksIn(l *line) map[string][]bookmark.Bookmark {
	in := map[string][]bookmark.Bookmark{}
	for _, b := range v.bookmarksIfAny().Bookmarks {
		if slices.ContainsFunc(l.Parts, func(o *session.Outline) bool { return o.ID == b.Session }) {
			in[b.Message] = append(in[b.Message], b)
		}
	}
	return in
}

// placeLabelled returns the place of the message with a label, nil if there is
// no such bookmark.
func (v *View) placeLabelled(label string, partial bool) (*place, error) {
	f := v.bookmarksIfAny()
	list := f.Labelled(label)
	switch len(list) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, ambiguousBookmarks(label, f, list)
	}
	b := f.Bookmarks[list[0]]
	if !v.has(b.Session) {
		return nil, &fault.Error{
			Code:    fault.NotFound,
			Message: fmt.Sprintf("%q is a bookmark in %s, which does not exist", label, b.Session),
			Next:    fault.Do(fault.ListTrash),
		}
	}
	return v.placeAt(b.Session, b.Message, partial)
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
	return read(ctx, w.store, func(v *View) (*Bookmarks, error) {
		list := &Bookmarks{Bookmarks: []bookmark.Bookmark{}}
		var line []string
		if o.In != "" {
			id, err := v.resolve(o.In)
			if err != nil {
				return nil, err
			}
			if line, err = v.lineIDs(id); err != nil && len(line) == 0 {
				return nil, err
			}
			if v.kind(id) == session.Checkpoint {
				line = []string{id}
			}
		}
		f, _, err := v.bookmarks()
		if err != nil {
			return nil, err
		}
		gone := 0
		for _, b := range f.Bookmarks {
			switch {
			case !v.has(b.Session):
				gone++
			case o.In == "" || slices.Contains(line, b.Session):
				list.Bookmarks = append(list.Bookmarks, b)
			}
		}
		if gone > 0 && o.In == "" {
			v.store.opts.Note(plural.Of(gone, "bookmark") + " of missing sessions omitted")
		}
		return list, nil
	})
}

// RemoveBookmark removes a bookmark and returns it. which is its label. If two
// bookmarks have the same label, because another program wrote the file,
// SESSION@MESSAGE selects one; both ids must be as stored.
func (w *Workspace) RemoveBookmark(ctx context.Context, which string) (*bookmark.Bookmark, error) {
	which = strings.TrimSpace(which)
	op := operation.Operation{Verb: "bookmark --rm", Args: args{"label": which}}
	return update(ctx, w.store, op, func(tx *Tx) (*bookmark.Bookmark, error) {
		f, was, err := tx.View.bookmarks()
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
			return nil, ambiguousBookmarks(which, f, list)
		}
		b := f.Bookmarks[list[0]]
		tx.op.Sessions, tx.op.Args["label"], tx.op.Args["message"] = []string{b.Session}, b.Label, b.Message
		return &b, tx.replaceSmall(bookmark.Path, was, f.Remove(list[0]))
	})
}
