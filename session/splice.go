package session

import (
	"io"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
)

// A Splice is the replacement of a span of a file. Together with the new file it
// suffices to restore the old one.
type Splice struct {
	At  int    // offset in the old file
	Old []byte // the replaced bytes
	New int    // number of bytes that replaced them
}

// Splices returns the changes of e in the order of their offsets, as short as
// possible. They begin and end at character boundaries.
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

// bytes returns a span of the file of o.
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
		return nil, changed(o.ID)
	} else if err != nil {
		return nil, err
	}
	return data, nil
}

// commonStart returns the length of the common prefix of a and b, in whole
// characters.
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

// commonEnd returns the length of the common suffix of a and b, in whole
// characters.
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

// Revert returns an edit that undoes splices: it restores the file of o byte for
// byte.
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

// Size returns the size of the file of o in bytes.
func (o *Outline) Size() int { return o.size }
