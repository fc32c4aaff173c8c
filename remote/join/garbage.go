package join

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/record"
)

// Acknowledged returns up to which record all machines that are not retired have merged each
// stream. A machine may delete its own records up to there if it has published a base for them. A
// record counts as merged by a machine only when that machine has published a record since.
func (s *State) Acknowledged() record.Vector {
	v := s.Vector()
	for m, st := range s.streams {
		if s.Retired(m) {
			continue
		}
		for other := range v {
			if other != m {
				v[other] = min(v[other], st.Seen[other])
			}
		}
	}
	return v
}

// A Pack is a pack that elements name.
type Pack struct {
	Name     string
	Machines []record.Machine // that added the elements, ascending
	Live     int64            // bytes of its content that elements name
	End      int64            // where the last of them ends in its content
}

// Packs returns the packs that elements name, ascending by name, also those of entities that are
// not alive, which can come back. A pack that no element names is garbage, unless a record that
// names it may still arrive. A pack with few live bytes, compared with the size of its content,
// becomes garbage when its live parts are added again from another pack. Only the machine that
// added all elements of the pack may add them again.
func (s *State) Packs() []Pack {
	type part struct{ at, end int64 }
	parts := map[string]map[part]bool{}
	machines := map[string]map[record.Machine]bool{}
	for _, e := range s.Entities("") {
		for _, list := range e.Sets {
			for _, el := range list {
				if el.Body == nil || el.Body.Pack == "" {
					continue
				}
				name := el.Body.Pack
				if parts[name] == nil {
					parts[name], machines[name] = map[part]bool{}, map[record.Machine]bool{}
				}
				parts[name][part{el.Body.At, el.Body.At + el.Body.Size}] = true
				machines[name][el.Stamp.Machine] = true
			}
		}
	}
	var packs []Pack
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		p := Pack{Name: name, Machines: slices.Sorted(maps.Keys(machines[name]))}
		for _, one := range slices.SortedFunc(maps.Keys(parts[name]), func(a, b part) int { return cmp.Compare(a.at, b.at) }) {
			p.Live += max(0, one.end-max(one.at, p.End))
			p.End = max(p.End, one.end)
		}
		packs = append(packs, p)
	}
	return packs
}
