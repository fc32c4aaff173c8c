package states

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// A marking finds the objects that states need.
type marking struct {
	*Store
	live      map[pack.ID]bool
	trees     map[pack.ID]bool // those that were read
	coverages map[pack.ID]bool
	absent    map[pack.ID]bool // if not nil, contents that are missing are collected
	marked    func(pack.ID)    // if not nil, it is called with each object that becomes live
}

// mark marks all objects that the states need. The caller holds s.mu.
func (s *Store) mark() (*marking, error) {
	list, err := s.States()
	if err != nil {
		return nil, err
	}
	m := s.marking()
	for _, st := range list {
		if err := m.state(st); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (s *Store) marking() *marking {
	return &marking{Store: s, live: map[pack.ID]bool{}, trees: map[pack.ID]bool{}, coverages: map[pack.ID]bool{}}
}

func (m *marking) state(st *State) error {
	if err := cmp.Or(m.tree(st.Tree), m.coverage(st.Coverage)); err != nil {
		return fmt.Errorf("state %s: %w", st.ID, err)
	}
	return nil
}

// add marks an object.
func (m *marking) add(id pack.ID) {
	if m.marked != nil && !m.live[id] {
		m.marked(id)
	}
	m.live[id] = true
}

// keeps reports whether an object must be kept.
func (m *marking) keeps(id pack.ID) bool { return m.live[id] && !m.forgotten[id] }

// has returns an error if the store neither has an object nor forgot it.
func (m *marking) has(id pack.ID) error {
	if _, ok := m.index.Size(id); ok || m.forgotten[id] {
		return nil
	}
	if m.absent != nil {
		m.absent[id] = true
		return nil
	}
	return &pack.MissingError{ID: id}
}

func (m *marking) tree(id pack.ID) error {
	if m.trees[id] {
		return nil
	}
	m.trees[id] = true
	m.add(id)
	data, err := m.index.Get(id)
	if err != nil {
		return err
	}
	t, err := filetree.Decode(data)
	if err != nil {
		return fmt.Errorf("tree %v: %w", id, err)
	}
	for _, e := range t {
		if e.Type == filetree.Dir {
			err = m.tree(e.ID)
		} else if !m.live[e.ID] {
			m.add(e.ID)
			err = m.has(e.ID)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return nil
}

func (m *marking) coverage(id pack.ID) error {
	if m.coverages[id] {
		return nil
	}
	m.coverages[id] = true
	m.add(id)
	data, err := m.index.Get(id)
	if err != nil {
		return err
	}
	var c Coverage
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&c); err != nil {
		return fmt.Errorf("coverage %v: %w", id, err)
	}
	for _, object := range c.Rules.objects() {
		m.add(object)
		if err := m.has(object); err != nil {
			return err
		}
	}
	return nil
}

// Costs returns about how many bytes of packs each state takes that those before it in the list
// do not need.
func (s *Store) Costs(list []*State) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	stored := s.index.Stored()
	costs := make([]int64, len(list))
	m := s.marking()
	for i, st := range list {
		m.marked = func(id pack.ID) { costs[i] += stored(id) }
		if err := m.state(st); err != nil {
			return nil, err
		}
	}
	return costs, nil
}
