package states

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/bough-dev/bough/internal/durable"
)

// A RecordError reports a line of states.jsonl, links.jsonl or forgotten.jsonl that is
// damaged, or that folders.json is.
type RecordError struct {
	File    string
	Offset  int64
	Problem error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("%s is damaged at offset %d: %v", e.File, e.Offset, e.Problem)
}

func (e *RecordError) Unwrap() error { return e.Problem }

var errIncomplete = errors.New("incomplete record")

// wholeLines returns the lines of a file that exists or not, without a torn last one.
func wholeLines(root *os.Root, name string) ([]byte, error) {
	data, err := durable.ReadFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data[:bytes.LastIndexByte(data, '\n')+1], err
}

// decodeLine decodes and checks a line.
func decodeLine[T any](data []byte, check func(*T) error) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(data, v); err != nil {
		return nil, err
	}
	return v, check(v)
}

// decoded has the lines of a file that were read.
type decoded[T any] struct {
	mu   sync.Mutex
	data []byte
	list []*T
	err  error // *[RecordError] of the first damaged line
}

// read decodes the lines of a file, of one that only grew since the last time those that were
// added. If lines are damaged, it returns the others, and the *[RecordError] of the first one.
// The caller must not change what the result points to.
func (d *decoded[T]) read(root *os.Root, name string, check func(*T) error) ([]*T, error) {
	data, err := wholeLines(root, name)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !bytes.HasPrefix(data, d.data) {
		d.data, d.list, d.err = nil, nil, nil
	}
	at := len(d.data)
	for record := range bytes.Lines(data[at:]) {
		v, problem := decodeLine(record, check)
		switch {
		case problem == nil:
			d.list = append(d.list, v)
		case d.err == nil:
			d.err = &RecordError{name, int64(at), problem}
		}
		at += len(record)
	}
	d.data = data
	return slices.Clone(d.list), d.err
}

// line returns v as a line of a .jsonl file.
func line(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return append(data, '\n'), err
}

// A Repaired says what [Store.Repair] removed from a file.
type Repaired struct {
	Lines int // number of damaged lines

	// Unknown is the number of damaged lines of forgotten.jsonl whose objects are unknown: the
	// same content may be stored again.
	Unknown int
}

// Repair removes the damaged lines of states.jsonl, links.jsonl or forgotten.jsonl. Before it
// replaces the file it calls keep, which must keep a copy of it. Of forgotten.jsonl it keeps
// the objects that a damaged line still names, and those that are missing, if they are not
// more than the damaged lines.
func (s *Store) Repair(name string, keep func() error) (*Repaired, error) {
	data, err := wholeLines(s.root, name)
	if err != nil {
		return nil, err
	}
	var valid func([]byte) error
	switch name {
	case recordsFile:
		valid = func(record []byte) error { _, err := decodeLine(record, (*State).check); return err }
	case linksFile:
		valid = func(record []byte) error { _, err := decodeLine(record, (*Link).check); return err }
	case forgottenFile:
		valid = func(record []byte) error { _, err := decodeLine(record, (*forgotten).check); return err }
	default:
		return nil, &fs.PathError{Op: "repair", Path: name, Err: errors.ErrUnsupported}
	}
	r := &Repaired{}
	var kept [][]byte
	for record := range bytes.Lines(data) {
		if valid(record) == nil {
			kept = append(kept, record)
		} else {
			r.Lines++
		}
	}
	if r.Lines == 0 {
		return r, nil
	}
	if name == forgottenFile {
		var known [][]byte
		if known, r.Unknown, err = s.recoverForgotten(data); err != nil {
			return nil, err
		}
		kept = append(kept, known...)
	}
	if err := keep(); err != nil {
		return nil, err
	}
	_, err = durable.Replace(s.root, name, durable.Bytes(kept...))
	return r, err
}
