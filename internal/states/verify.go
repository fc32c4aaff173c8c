package states

import (
	"errors"
	"os"
	"path"
)

// An UnfinishedError reports that a pack has content that was to be deleted permanently.
// [Store.Tidy] removes it.
type UnfinishedError struct{ Pack string }

func (e *UnfinishedError) Error() string {
	return path.Join(Dir, e.Pack) + " still has content that was to be deleted permanently"
}

// Verify reads everything, and returns the damage: a *[RecordError], a
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
	if _, err := new(decoded[forgotten]).read(s.root, forgottenFile, (*forgotten).check); err != nil {
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
