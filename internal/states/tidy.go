package states

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// Remove removes the states with these ids. Their objects stay until [Store.Tidy], and damaged
// lines stay.
func (s *Store) Remove(ids ...string) error {
	data, err := wholeLines(s.root, recordsFile)
	if err != nil {
		return err
	}
	var kept [][]byte
	removed := false
	for record := range bytes.Lines(data) {
		var st State
		if err := json.Unmarshal(record, &st); err == nil && slices.Contains(ids, st.ID) {
			removed = true
		} else {
			kept = append(kept, record)
		}
	}
	if removed {
		_, err = durable.Replace(s.root, recordsFile, durable.Bytes(kept...))
	}
	return err
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

const (
	maxTidy   = 256 << 20 // size in bytes of the packs that are rewritten at once, without those that must be
	smallPack = 8 << 20   // size in bytes of packs that are merged
	manyPacks = 16        // number of small packs from which they are merged
)

// Tidy gives space back: it removes packs of which no state needs an object, and writes one
// new pack for those of which states need less than half, those with forgotten objects, and
// small ones if there are many, of up to 256 MiB together. If an object that a state needs
// cannot be found, it changes nothing and returns the error.
func (s *Store) Tidy(ctx context.Context) error {
	if err := s.prepare(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.closePacks(); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	m, err := s.mark()
	if err != nil {
		return err
	}
	removed, rewritten := s.plan(m)
	if len(rewritten) > 0 {
		if err := s.merge(ctx, rewritten, m); err != nil {
			return err
		}
	}
	names := s.names
	if err := s.closePacks(); err != nil {
		return err
	}
	var gone []string
	for _, i := range append(removed, rewritten...) {
		gone = append(gone, path.Join(Dir, names[i]))
	}
	return durable.Remove(s.root, gone...)
}

// plan decides which packs are removed, and which are rewritten.
func (s *Store) plan(m *marking) (removed, rewritten []int) {
	var small []int
	var size int64
	rewrite := func(i int) {
		if size += s.packs[i].End(); size <= maxTidy || len(rewritten) == 0 {
			rewritten = append(rewritten, i)
		}
	}
	for i, use := range s.index.Uses(m.keeps) {
		switch {
		case use.Objects == 0:
			removed = append(removed, i)
		case s.hasForgotten(s.packs[i]):
			rewritten = append(rewritten, i)
		case use.Live < use.Size/2:
			rewrite(i)
		case s.packs[i].End() < smallPack:
			small = append(small, i)
		}
	}
	if len(small) >= manyPacks {
		for _, i := range small {
			rewrite(i)
		}
	}
	slices.Sort(rewritten)
	return removed, rewritten
}

// hasForgotten reports whether a pack has an object that was deleted permanently.
func (s *Store) hasForgotten(p *pack.Pack) bool {
	if len(s.forgotten) == 0 {
		return false
	}
	for id := range pack.NewIndex(p).All() {
		if s.forgotten[id] {
			return true
		}
	}
	return false
}

// merge writes what is live of some packs to a new one.
func (s *Store) merge(ctx context.Context, numbers []int, m *marking) error {
	var packs []*pack.Pack
	for _, i := range numbers {
		packs = append(packs, s.packs[i])
	}
	x := pack.NewIndex(packs...)
	wanted := 0
	for id := range x.All() {
		if m.keeps(id) {
			wanted++
		}
	}
	name, err := s.nextPack()
	if err != nil {
		return err
	}
	b := durable.NewBatch(s.root)
	defer b.Discard()
	if _, err := b.Create(name, func(w *durable.Writer) error { return x.Rewrite(w, m.keeps) }); err != nil {
		return err
	}
	if err := s.verifyTemp(name, wanted); err != nil {
		return err
	}
	_, later, err := b.Commit(ctx)
	return errors.Join(err, later)
}

// verifyTemp reads a new pack, which has its temporary name, completely.
func (s *Store) verifyTemp(name string, objects int) error {
	p, err := pack.Open(s.root, path.Join(Dir, "."+path.Base(name)+durable.TempSuffix))
	if err != nil {
		return err
	}
	defer p.Close()
	if bad := p.Verify(); len(bad) > 0 {
		return bad[0]
	}
	if n := pack.NewIndex(p).Len(); n != objects {
		return fmt.Errorf("the new pack has %d objects, not %d", n, objects)
	}
	return nil
}

// A marking finds the objects that states need.
type marking struct {
	*Store
	live      map[pack.ID]bool
	trees     map[pack.ID]bool // those that were read
	coverages map[pack.ID]bool
	absent    map[pack.ID]bool // if not nil, contents that are missing are collected
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
	if err := errors.Join(m.tree(st.Tree), m.coverage(st.Coverage)); err != nil {
		return fmt.Errorf("state %s: %w", st.ID, err)
	}
	return nil
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
	return fmt.Errorf("object %v: %w", id, fs.ErrNotExist)
}

func (m *marking) tree(id pack.ID) error {
	if m.trees[id] {
		return nil
	}
	m.trees[id], m.live[id] = true, true
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
			m.live[e.ID] = true
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
	m.coverages[id], m.live[id] = true, true
	data, err := m.index.Get(id)
	if err != nil {
		return err
	}
	var c Coverage
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&c); err != nil {
		return fmt.Errorf("coverage %v: %w", id, err)
	}
	for _, source := range c.Rules.Sources {
		m.live[source.Object] = true
		if err := m.has(source.Object); err != nil {
			return err
		}
	}
	return nil
}

// An UnfinishedError reports that a pack has content that was to be deleted permanently.
// [Store.Tidy] removes it.
type UnfinishedError struct{ Pack string }

func (e *UnfinishedError) Error() string {
	return path.Join(Dir, e.Pack) + " still has content that was to be deleted permanently"
}

// Verify reads everything, and returns what is damaged: a *[RecordError], a
// *[pack.DamageError] of a pack, an *[UnfinishedError], or the error of a state that needs an
// object that is missing.
func (s *Store) Verify() (problems []error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.closePacks(); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	for _, p := range s.packs {
		for _, damage := range p.Verify() {
			problems = append(problems, damage)
		}
	}
	if _, err := s.Folders(); err != nil {
		problems = append(problems, err)
	}
	if _, err := readLines(s.root, forgottenFile, (*forgotten).check); err != nil {
		problems = append(problems, err)
	}
	list, err := s.States()
	if err != nil {
		problems = append(problems, err)
	}
	m := s.marking()
	for _, st := range list {
		if err := m.state(st); err != nil {
			problems = append(problems, err)
		}
	}
	for i, p := range s.packs {
		if s.hasForgotten(p) {
			problems = append(problems, &UnfinishedError{s.names[i]})
		}
	}
	return problems, nil
}

// Size returns the size of all packs in bytes.
func (s *Store) Size() (bytes int64, err error) {
	names, err := s.packNames()
	for _, name := range names {
		info, err := s.root.Stat(path.Join(Dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		if err == nil {
			bytes += info.Size()
		}
	}
	return bytes, err
}
