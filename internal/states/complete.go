package states

import "path"

// packSizes are the sizes of packs in bytes, by name. A pack never changes.
type packSizes map[string]int64

// sizes returns the sizes of the packs that exist.
func (s *Store) sizes() packSizes {
	names, _ := s.packNames()
	list := packSizes{}
	for _, name := range names {
		if info, err := s.root.Lstat(path.Join(Dir, name)); err == nil {
			list[name] = info.Size()
		}
	}
	return list
}

// isComplete reports whether the store has all objects of a state, which it had when it had
// these packs. It reads the trees of the state only if one of the packs was removed: they may
// have been merged, or lost.
func (s *Store) isComplete(st *State, had packSizes) bool {
	has, lost := s.sizes(), len(had) == 0
	for name, size := range had {
		lost = lost || has[name] != size
	}
	if !lost {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load() == nil && s.marking().state(st) == nil
}
