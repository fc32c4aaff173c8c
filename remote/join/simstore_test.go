package join_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// What a request can come to, beside success.
var (
	errUnknown = errors.New("outcome unknown")
	errExists  = errors.New("exists already")
	errAbsent  = errors.New("there is none")
)

// staleFor is how many requests long a store may not show a new object.
const staleFor = 12

// A store is a store of objects over a bad line: requests and answers are lost, requests arrive
// late or twice, and new objects are not seen for a while. When it is calm, none of that happens.
type store struct {
	random    *rand.Rand
	objects   map[string]string
	born      map[string]int // by number of requests before
	late      []late
	requests  int
	calm      bool
	overwrite bool // create-only is ignored
}

type late struct{ name, data string }

func (s *store) create(name, data string) error {
	if _, ok := s.objects[name]; ok && !s.overwrite {
		return errExists
	}
	s.objects[name], s.born[name] = data, s.requests
	return nil
}

// request counts a request, before which late ones may arrive.
func (s *store) request() {
	s.requests++
	for len(s.late) > 0 && (s.calm || s.random.IntN(4) == 0) {
		s.create(s.late[0].name, s.late[0].data)
		s.late = s.late[1:]
	}
}

func (s *store) put(name, data string) error {
	s.request()
	if s.calm {
		return s.create(name, data)
	}
	switch s.random.IntN(10) {
	case 0:
		return errUnknown
	case 1:
		s.create(name, data)
		return errUnknown
	case 2:
		s.late = append(s.late, late{name, data})
		return errUnknown
	case 3:
		s.late = append(s.late, late{name, data})
	}
	return s.create(name, data)
}

func (s *store) get(name string) (string, error) {
	s.request()
	data, ok := s.objects[name]
	switch {
	case !ok || s.stale(name):
		return "", errAbsent
	case !s.calm && s.random.IntN(12) == 0:
		return "", errUnknown
	}
	return data, nil
}

// stale reports whether the store does not show an object yet.
func (s *store) stale(name string) bool {
	return !s.calm && s.requests-s.born[name] < staleFor && s.random.IntN(3) == 0
}

func (s *store) list(prefix string) (map[string]bool, error) {
	s.request()
	if !s.calm && s.random.IntN(12) == 0 {
		return nil, errUnknown
	}
	names := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(name, prefix) && !s.stale(name) {
			names[name] = true
		}
	}
	return names, nil
}

func (s *store) remove(name string) {
	s.request()
	delete(s.objects, name)
}
