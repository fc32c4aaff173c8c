package session

import (
	"io"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
)

// A Splice is bytes of a file that took the place of others: enough, with the
// file, to put those back.
type Splice struct {
	At  int    // in the file as it was, in bytes
	Old []byte // what stood there
	New int    // how many bytes stand there instead
}

// Splices returns what e changes, in the order of the file, with as few bytes as
// possible. They begin and end between characters.
func (f Folder) Splices(e *Edit) ([]Splice, error) {
	var list []Splice
	for _, s := range e.splices() {
		old, err := f.bytes(e.o, s.Span)
		if err != nil {
			return nil, err
		}
		before := commonStart(old, s.with)
		after := commonEnd(old[before:], s.with[before:])
		if len(old) == before+after && len(s.with) == before+after {
			continue
		}
		list = append(list, Splice{
			At:  s.Start + before,
			Old: slices.Clone(old[before : len(old)-after]),
			New: len(s.with) - before - after,
		})
	}
	return list, nil
}

// bytes returns some bytes of the file of o.
func (f Folder) bytes(o *Outline, span rawjson.Span) ([]byte, error) {
	if o.data != nil {
		return span.Of(o.data), nil
	}
	if span.Start == span.End {
		return nil, nil
	}
	in, _, err := f.open(o.ID)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data := make([]byte, span.End-span.Start)
	if _, err := in.ReadAt(data, int64(span.Start)); err == io.EOF {
		return nil, &ChangedError{o.ID}
	} else if err != nil {
		return nil, err
	}
	return data, nil
}

// commonStart returns how many bytes a and b begin with alike, whole characters.
func commonStart(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// commonEnd returns how many bytes a and b end with alike, whole characters.
func commonEnd(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}

// Revert begins the edit that takes splices back, after which the file of o is
// what it was before them, byte for byte.
func (o *Outline) Revert(splices []Splice) *Edit {
	e := &Edit{o: o, exactly: []splice{}}
	moved := 0
	for _, s := range splices {
		at := s.At + moved
		e.exactly = append(e.exactly, splice{rawjson.Span{Start: at, End: at + s.New}, s.Old, reverting})
		moved += s.New - len(s.Old)
	}
	return e
}

// Size returns how many bytes the file of o has.
func (o *Outline) Size() int { return o.size }
