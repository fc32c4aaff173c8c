package states

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// ErrForgotten is the error for an object that was deleted permanently.
var ErrForgotten = errors.New("its content was deleted permanently")

// A forgotten is a line of forgotten.jsonl.
type forgotten struct {
	Object pack.ID `json:"object"`
}

func (f *forgotten) check() error {
	if f.Object == (pack.ID{}) {
		return errIncomplete
	}
	return nil
}

// loadForgotten reads the IDs of forgotten objects. The caller holds s.mu.
func (s *Store) loadForgotten() error {
	data, err := wholeLines(s.root, forgottenFile)
	if err != nil {
		return err
	}
	s.forgotten, s.unknown = map[pack.ID]bool{}, 0
	for record := range bytes.Lines(data) {
		if f, err := decodeLine(record, (*forgotten).check); err == nil {
			s.forgotten[f.Object] = true
		} else if id, ok := namedIn(record); ok {
			s.forgotten[id] = true
		} else {
			s.unknown++
		}
	}
	return nil
}

// namedIn returns the ID that a damaged line still has.
func namedIn(record []byte) (id pack.ID, ok bool) {
	notHex := func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }
	for _, word := range bytes.FieldsFunc(record, notHex) {
		if len(word) == 2*len(id) && id.UnmarshalText(word) == nil {
			return id, true
		}
	}
	return pack.ID{}, false
}

// loadRefused determines which objects must not be stored: the forgotten ones and, if lines of
// forgotten.jsonl are damaged, all those that states need and no pack has.
func (s *Store) loadRefused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.loadForgotten()
	s.absent = nil
	if err != nil || s.unknown == 0 {
		return err
	}
	s.absent, err = s.findAbsent()
	return err
}

// isRefused reports whether an object must not be stored.
func (s *Store) isRefused(id pack.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forgotten[id] || s.absent[id]
}

func (s *Store) isForgotten(id pack.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forgotten[id]
}

// findAbsent returns the contents that states need, and that are in no pack and not forgotten.
// The caller holds s.mu.
func (s *Store) findAbsent() (map[pack.ID]bool, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	list, err := s.States()
	if _, ok := errors.AsType[*RecordError](err); err != nil && !ok {
		return nil, err
	}
	m := s.marking()
	m.absent = map[pack.ID]bool{}
	for _, st := range list {
		_ = m.state(st) // what a damaged state needs is unknown
	}
	return m.absent, nil
}

// recoverForgotten returns lines for the objects of damaged lines of forgotten.jsonl, and the
// number of those whose objects are unknown.
func (s *Store) recoverForgotten(data []byte) (lines [][]byte, unknown int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadForgotten(); err != nil {
		return nil, 0, err
	}
	add := func(id pack.ID) error {
		record, err := line(forgotten{id})
		lines = append(lines, record)
		return err
	}
	for record := range bytes.Lines(data) {
		if _, err := decodeLine(record, (*forgotten).check); err == nil {
			continue
		}
		if id, ok := namedIn(record); ok {
			if err := add(id); err != nil {
				return nil, 0, err
			}
		}
	}
	if s.unknown == 0 {
		return lines, 0, nil
	}
	absent, err := s.findAbsent()
	if err != nil || len(absent) > s.unknown {
		return lines, s.unknown, err
	}
	for id := range absent {
		if err := add(id); err != nil {
			return nil, 0, err
		}
	}
	return lines, s.unknown - len(absent), nil
}

// Forget deletes the content of the files that states of a folder have at a path, in every
// state and at every path, and returns the IDs of the objects. Trees and IDs stay.
func (s *Store) Forget(ctx context.Context, folder, name string) (ids []pack.ID, err error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	list, err := s.States()
	if err != nil {
		return nil, err
	}
	trees, err := s.trees()
	if err != nil {
		return nil, err
	}
	var lines []byte
	for _, st := range list {
		if st.Folder != folder {
			continue
		}
		e, err := s.Find(st, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if e.Type != filetree.File || trees[e.ID] || slices.Contains(ids, e.ID) {
			continue // the empty file is also the empty tree
		}
		ids = append(ids, e.ID)
		if s.isForgotten(e.ID) {
			continue
		}
		record, err := line(forgotten{e.ID})
		if err != nil {
			return nil, err
		}
		lines = append(lines, record...)
	}
	if len(lines) > 0 {
		if _, err := durable.Append(s.root, forgottenFile, lines); err != nil {
			return nil, err
		}
		if err := s.dropCaches(); err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return ids, s.Tidy(ctx)
}

// trees returns the trees of all states.
func (s *Store) trees() (map[pack.ID]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	m, err := s.mark()
	if err != nil {
		return nil, err
	}
	return m.trees, nil
}
