// Package bookmark decodes and edits the file with the bookmarks of a
// workspace.
//
// The file, bookmarks.json, is an object with the array bookmarks, oldest
// first. Each element is a label on a message, which is identified by its id
// and the first file of its line:
//
//	{
//	  "bookmarks": [
//	    {
//	      "session_id": "session_20260314_093003_f3ff4d45",
//	      "node_id": "74bfccf4-3cb5-4561-8d00-40e856620938",
//	      "label": "before the budget",
//	      "summary": "",
//	      "scope": "message",
//	      "created_at": "2026-03-14T09:30:34.500000+00:00"
//	    }
//	  ]
//	}
//
// An edit changes only the bytes of its bookmark: unknown members of the file
// and of a bookmark are kept. The functions are pure.
package bookmark

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// Path is the path of the file, relative to the workspace.
const Path = "bookmarks.json"

// A Scope is the part of a conversation to which a bookmark refers.
type Scope string

// The scopes.
const (
	Message Scope = "message" // this message
	Branch  Scope = "branch"  // the path from the root to it
	Subtree Scope = "subtree" // it and all its descendants
)

// Scopes are all scopes.
var Scopes = []Scope{Message, Branch, Subtree}

// A Bookmark is a label on a message. A REF resolves to it if nothing else has the name.
// Its session is the first file of the message's line, which stays the same when the line
// grows, or the checkpoint that has the message.
type Bookmark struct {
	Session   string `json:"session_id"` // the first file of the message's line, or the checkpoint
	Message   string `json:"node_id"`
	Label     string `json:"label"`
	Summary   string `json:"summary"`    // a description, may be empty
	Scope     Scope  `json:"scope"`      // one of [Scopes], or another program's value
	CreatedAt string `json:"created_at"` // when it was created or moved
}

// A File is the decoded file.
type File struct {
	Bookmarks []Bookmark // oldest first
	data      []byte
	array     rawjson.Span
	elements  []rawjson.Span
}

// Decode decodes the file. Nil data means that the file does not exist. An error is
// a *[session.DamageError].
func Decode(data []byte) (*File, error) {
	if data == nil {
		data = []byte("{\n  \"bookmarks\": []\n}\n")
	}
	f := &File{data: data}
	if err := rawjson.Check(data); err != nil {
		return nil, damage(err)
	}
	root := rawjson.Root(data)
	members, err := rawjson.Members(data, root)
	if err != nil {
		return nil, damage(err)
	}
	var ok bool
	if f.array, ok = rawjson.Find(members, "bookmarks"); !ok {
		f.array = root
	}
	if data[f.array.Start] != '[' {
		return nil, damaged(f.array.Start, "no bookmarks array")
	}
	f.elements = rawjson.Elements(data, f.array)
	for _, at := range f.elements {
		b, err := read(data, at)
		if err != nil {
			return nil, err
		}
		f.Bookmarks = append(f.Bookmarks, b)
	}
	return f, nil
}

// read decodes one bookmark. The ids and the label are required.
func read(data []byte, at rawjson.Span) (b Bookmark, err error) {
	members, err := rawjson.Members(data, at)
	if err != nil {
		return b, damage(err)
	}
	text := func(key string) (s string) {
		if value, ok := rawjson.Find(members, key); ok && data[value.Start] == '"' {
			json.Unmarshal(value.Of(data), &s) // valid, as Decode checked
		}
		return s
	}
	b = Bookmark{text("session_id"), text("node_id"), text("label"), text("summary"), Scope(text("scope")), text("created_at")}
	if t, ok := session.ParseTime(b.CreatedAt); ok {
		b.CreatedAt = session.Bough.Time(t)
	}
	for _, must := range []struct{ key, value string }{{"session_id", b.Session}, {"node_id", b.Message}, {"label", b.Label}} {
		if must.value == "" {
			return b, damaged(at.Start, fmt.Sprintf("a bookmark without %s", must.key))
		}
	}
	return b, nil
}

func damage(err error) error {
	var syntax *rawjson.SyntaxError
	if errors.As(err, &syntax) {
		return damaged(syntax.Offset, syntax.Problem)
	}
	return err
}

func damaged(offset int, problem string) error {
	return &session.DamageError{Path: Path, Offset: offset, Problem: problem}
}

// Labelled returns the indexes of the bookmarks with a label.
func (f *File) Labelled(label string) (list []int) {
	for i, b := range f.Bookmarks {
		if b.Label == label {
			list = append(list, i)
		}
	}
	return list
}

// Add returns the file with b appended.
func (f *File) Add(b Bookmark) []byte { return f.add(rawjson.Value(b, 2)) }

// Insert returns the file with b before the bookmarks that are newer, by time and then by
// session, message and label.
func (f *File) Insert(b Bookmark) []byte {
	i := slices.IndexFunc(f.Bookmarks, func(o Bookmark) bool { return compare(b, o) < 0 })
	if i < 0 {
		return f.Add(b)
	}
	at := f.elements[i].Start
	return f.splice(at, at, string(rawjson.Value(b, 2))+",\n    ")
}

// compare compares bookmarks by time, session, message and label.
func compare(a, b Bookmark) int {
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Label, b.Label))
}

func (f *File) add(element []byte) []byte {
	if n := len(f.elements); n > 0 {
		at := f.elements[n-1].End
		return f.splice(at, at, ",\n    "+string(element))
	}
	return f.splice(f.array.Start, f.array.End, "[\n    "+string(element)+"\n  ]")
}

// Remove returns the file without bookmark i.
func (f *File) Remove(i int) []byte {
	switch n := len(f.elements); {
	case i > 0:
		return f.splice(f.elements[i-1].End, f.elements[i].End, "")
	case n > 1:
		return f.splice(f.elements[0].Start, f.elements[1].Start, "")
	}
	return f.splice(f.array.Start, f.array.End, "[]")
}

// Replace returns the file with b in place of bookmark i. Unknown members of
// the bookmark are kept.
func (f *File) Replace(i int, b Bookmark) []byte {
	object := rawjson.Value(b, 2)
	pairs := rawjson.Pairs(object, rawjson.Root(object))
	members, _ := rawjson.Members(f.data, f.elements[i]) // valid, as Decode checked
	data := slices.Clone(f.data)
	end := members[len(members)-1].Value.End // there is at least the label
	for _, p := range pairs {
		if _, known := rawjson.Find(members, p.Key); !known {
			added := ",\n      " + string(rawjson.Compact(p.Key)) + ": " + string(p.Value)
			data = slices.Insert(data, end, []byte(added)...)
			end += len(added)
		}
	}
	for _, m := range slices.Backward(members) {
		for _, p := range pairs {
			if p.Key == m.Key {
				data = slices.Replace(data, m.Value.Start, m.Value.End, p.Value...)
			}
		}
	}
	return data
}

// splice returns the file with data[start:end] replaced.
func (f *File) splice(start, end int, with string) []byte {
	return slices.Concat(f.data[:start], []byte(with), f.data[end:])
}
