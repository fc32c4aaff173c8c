// Package nested splits trees of JSON objects in which an object has its children in one of
// its members, and joins them again.
package nested

import (
	"bytes"
	"encoding/json"

	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// An Object is one object of a tree.
type Object struct {
	Raw    json.RawMessage // with an empty array of children, if it has any array
	Parent int             // the index of its parent, -1 for the first
}

// Split returns the objects of a tree, parents first and children in order. member is the
// name of the array with the children. The error is that of invalid JSON, and then there are
// no objects.
func Split(raw []byte, member string) (list []Object, err error) {
	s := splitter{raw, member, nil}
	if err := rawjson.Walk(raw, func(w *rawjson.Walker) error { return s.object(w, -1) }); err != nil {
		return nil, err
	}
	return s.list, nil
}

// SplitMember is [Split] for a tree that is the value of the first member with a name.
// around is raw with null in its place; without such a member there are no objects, and it
// is raw.
func SplitMember(raw []byte, name, member string) (list []Object, around json.RawMessage, err error) {
	s := splitter{raw, member, nil}
	var cut rawjson.Span
	err = rawjson.Walk(raw, func(w *rawjson.Walker) error {
		return w.Object(func(key []byte, _ int) error {
			at, first := w.Start()
			if string(key) != name || first != '{' || len(s.list) > 0 {
				_, err := w.Value()
				return err
			}
			err := s.object(w, -1)
			cut = rawjson.Span{Start: at, End: s.passed(w)}
			return err
		})
	})
	if err != nil || len(s.list) == 0 {
		return nil, raw, err
	}
	return s.list, splice(raw, cut, "null"), nil
}

type splitter struct {
	raw    []byte
	member string
	list   []Object
}

// object passes an object with all its children and appends them to the list.
func (s *splitter) object(w *rawjson.Walker, parent int) error {
	start, _ := w.Start()
	place := len(s.list)
	s.list = append(s.list, Object{Parent: parent})
	var cut rawjson.Span
	seen := false
	err := w.Object(func(key []byte, _ int) error {
		at, first := w.Start()
		if string(key) != s.member || first != '[' || seen {
			seen = seen || string(key) == s.member
			_, err := w.Value()
			return err
		}
		seen = true
		err := w.Array(func() error {
			if _, first := w.Start(); first == '{' {
				return s.object(w, place)
			}
			_, err := w.Value()
			return err
		})
		cut = rawjson.Span{Start: at - start, End: s.passed(w) - start}
		return err
	})
	if err != nil {
		return err
	}
	record := s.raw[start:s.passed(w)]
	if cut.End > 0 {
		record = splice(record, cut, "[]")
	}
	s.list[place].Raw = bytes.Clone(record)
	return nil
}

// passed returns the end of the value that w has parsed.
func (s *splitter) passed(w *rawjson.Walker) int {
	at, _ := w.Start()
	return len(bytes.TrimRight(s.raw[:at], " \t\r\n"))
}

// splice returns raw with something else in the place of a part of it.
func splice(raw []byte, cut rawjson.Span, other string) json.RawMessage {
	out := make(json.RawMessage, 0, len(raw)-(cut.End-cut.Start)+len(other))
	return append(append(append(out, raw[:cut.Start]...), other...), raw[cut.End:]...)
}

// Join writes an object with n children, each of which child writes, in the array of the
// member name. Without children, the object is written unchanged.
func Join(b *bytes.Buffer, raw []byte, name string, n int, child func(i int)) {
	if n == 0 {
		b.Write(raw)
		return
	}
	cut := gjson.GetBytes(raw, name)
	if !cut.IsArray() {
		raw = member.SetRaw(raw, name, []byte("[]"))
		cut = gjson.GetBytes(raw, name)
	}
	b.Write(raw[:cut.Index])
	for i := range n {
		b.WriteByte("[,"[min(i, 1)])
		child(i)
	}
	b.WriteByte(']')
	b.Write(raw[cut.Index+len(cut.Raw):])
}
