package sessions

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/session"
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
func (f Folder) Splices(e *session.Edit) ([]Splice, error) {
	var list []Splice
	f.align(e)
	err := e.Changes(func(start, end int, with []byte) error {
		old, err := f.bytes(e.Of(), start, end)
		if err != nil {
			return err
		}
		before := commonStart(old, with)
		after := commonEnd(old[before:], with[before:])
		if len(old) == before+after && len(with) == before+after {
			return nil
		}
		list = append(list, Splice{
			At:  start + before,
			Old: slices.Clone(old[before : len(old)-after]),
			New: len(with) - before - after,
		})
		return nil
	})
	return list, err
}

// Revert returns an edit that undoes splices: it restores the file of o byte for
// byte.
func Revert(o *session.Outline, splices []Splice) *session.Edit {
	e := o.Edit()
	moved := 0
	for _, s := range splices {
		at := s.At + moved
		e.Replace(at, at+s.New, s.Old)
		moved += s.New - len(s.Old)
	}
	return e
}

// bytes returns a span of the file of o.
func (f Folder) bytes(o *session.Outline, start, end int) ([]byte, error) {
	if data := o.Bytes(); data != nil {
		return data[start:end], nil
	}
	if start == end {
		return nil, nil
	}
	in, err := f.open(o.ID)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.file == nil {
		s, err := o.Read(in)
		if err != nil {
			return nil, err
		}
		return s.Bytes()[start:end], nil
	}
	data := make([]byte, end-start)
	if _, err := in.file.ReadAt(data, int64(start)); err == io.EOF {
		return nil, fmt.Errorf("%s %w", session.FileName(o.ID), session.ErrChanged)
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
