package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
)

// AmbiguousBookmarks returns the error for a name of several bookmarks, whose
// indexes are list.
func AmbiguousBookmarks(name string, f *bookmark.File, list []int) error {
	return lookup.Ambiguous("bookmark", name, list, func(i int) fault.Candidate {
		b := f.Bookmarks[i]
		return fault.Candidate{Session: session.ID(b.Session), Message: session.ID(b.Message), Kind: "bookmark", Title: b.Label, Time: b.CreatedAt, Text: b.Summary}
	})
}

// NoteOtherMeaning adds a note if a REF with this label resolves to something
// else.
func (v *View) NoteOtherMeaning(label string) {
	_, isSession := v.byID(label)
	titled, _ := v.titled(label)
	if isSession || len(titled) > 0 {
		v.Store.Opts.Note(fmt.Sprintf("as a REF, %q refers to a session, not to this bookmark", label))
	}
}

// LineID returns the session for bookmarks in l: its first file, or the
// checkpoint.
func (v *View) LineID(l *Line) string {
	if v.Kind(l.SessionID()) == session.Checkpoint {
		return l.SessionID()
	}
	return l.Parts[0].ID
}

// Bookmarks returns the bookmarks and the content of their file, nil if there
// is no file.
func (v *View) Bookmarks() (f *bookmark.File, data []byte, err error) {
	data, err = durable.ReadFile(v.Root, bookmark.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	f, err = bookmark.Decode(data)
	return f, data, err
}

// BookmarksIfAny returns the bookmarks. If they cannot be read, it adds a note
// and returns none.
func (v *View) BookmarksIfAny() *bookmark.File {
	f, _, err := v.Bookmarks()
	if err != nil {
		v.Store.Opts.Note("the bookmarks are ignored: " + err.Error())
		return &bookmark.File{}
	}
	return f
}

// BookmarksIn returns the bookmarks in a line, by message.
func (v *View) BookmarksIn(l *Line) map[string][]bookmark.Bookmark {
	in := map[string][]bookmark.Bookmark{}
	for _, b := range v.BookmarksIfAny().Bookmarks {
		if slices.ContainsFunc(l.Parts, func(o *session.Outline) bool { return o.ID == b.Session }) {
			in[b.Message] = append(in[b.Message], b)
		}
	}
	return in
}

// placeLabelled returns the place of the message with a label, nil if there is
// no such bookmark.
func (v *View) placeLabelled(label string, partial bool) (*Place, error) {
	f := v.BookmarksIfAny()
	list := f.Labelled(label)
	switch len(list) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, AmbiguousBookmarks(label, f, list)
	}
	b := f.Bookmarks[list[0]]
	if !v.Has(b.Session) {
		return nil, &fault.Error{
			Code:    fault.NotFound,
			Message: fmt.Sprintf("%q is a bookmark in %s, which does not exist", label, b.Session),
			Next:    fault.Do(fault.ListTrash),
		}
	}
	return v.PlaceAt(b.Session, b.Message, partial)
}

// Limits of a bookmark in bytes.
const (
	maxLabel   = 200
	MaxSummary = 2000
)

// CheckLabel returns an error if a label cannot be given to a bookmark.
func CheckLabel(label string) error {
	wrong := ""
	switch {
	case label == "":
		wrong = "the label is empty"
	case IsHeadName(label):
		wrong = fmt.Sprintf("%q is reserved for the head and cannot be a label", label)
	case len(label) > maxLabel:
		wrong = fmt.Sprintf("the label has %d bytes; at most %d are allowed", len(label), maxLabel)
	case strings.ContainsFunc(label, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		wrong = "the label must be one line of text"
	default:
		return CheckUTF8("label", label)
	}
	return &fault.Error{Code: fault.Usage, Message: wrong}
}
