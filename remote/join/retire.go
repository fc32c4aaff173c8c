package join

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/record"
)

// Retired returns the machines that a base retires, with the last record of each that is covered.
func (b *Base) Retired() record.Vector {
	v := record.Vector{}
	for name, e := range b.entities {
		m, ok := strings.CutPrefix(name, machineKind)
		if machine := record.Machine(m); ok && machine != b.Machine {
			for _, r := range e.removed {
				v[machine] = max(v[machine], b.removals[r.at.seq][machine])
			}
		}
	}
	return v
}

// isBack reports whether a machine has written since it read that another one removed it. The number of the removal may be
// too great: who retired the machine took it from others, who say that they have read so much.
func (s *State) isBack(m record.Machine, r removal) bool {
	st := s.streams[m]
	return r.by != m && st != nil && st.Seen[r.by] >= r.at.seq
}

// RetiredThrough returns the machines that others retired and that are not back, with the last record of each that is covered.
func (s *State) RetiredThrough() record.Vector {
	v := record.Vector{}
	for name, e := range s.Entities(machineKind) {
		m := record.Machine(strings.TrimPrefix(name, machineKind))
		for _, r := range e.removed {
			if n := s.seen[position{r.by, r.at.seq}][m]; r.by != m && n > 0 && !s.isBack(m, r) {
				v[m] = max(v[m], n)
			}
		}
	}
	return v
}

// Retired reports whether a removal of a machine covers all its records, also those that only others have read.
func (s *State) Retired(m record.Machine) bool {
	e := s.entity(machineKind + string(m))
	if e == nil {
		return false
	}
	last := s.seq(m)
	for other, st := range s.streams {
		if other != m {
			last = max(last, st.Seen[m])
		}
	}
	return slices.ContainsFunc(e.removed, func(r removal) bool {
		switch {
		case r.by == m:
			return r.at.seq == s.seq(m)
		case s.isBack(m, r):
			return false
		}
		return s.seen[position{r.by, r.at.seq}][m] >= last
	})
}
