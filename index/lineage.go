package index

import (
	"cmp"
	"slices"

	"github.com/bough-dev/bough/session"
)

// Origin returns the session that id comes from, under the name that the
// workspace has for it; "" if it comes from none.
func (x *Index) Origin(id string) string {
	e := x.Entry(id)
	if e == nil {
		return ""
	}
	return x.resolve(e.Origin())
}

func (x *Index) resolve(id string) string {
	if session := x.aliases[id]; session != "" && x.entry(id) == nil {
		return session
	}
	return id
}

// Lineage returns the session ids from the root to id, which is there.
//
// It goes over continuations and over the origins of snapshots. Where an origin
// is gone, what the nearest snapshot recorded of its lineage stands in for it;
// a session that continues one that is gone, with nothing recorded, is a
// *[MissingError], and a ring is a *[CycleError]. With either comes the lineage
// as far as it is known.
func (x *Index) Lineage(id string) ([]string, error) {
	chain := []string{id} // from id towards the root
	seen := map[string]bool{id: true}
	for at := id; ; {
		e := x.Entry(at)
		if e == nil {
			return x.recorded(chain)
		}
		from := x.resolve(e.Origin())
		known := x.lineages[from]
		switch {
		case seen[from]:
			return reversed(chain), &CycleError{IDs: chain[slices.Index(chain, from):]}
		case from == "" || known != nil:
			lineage := slices.Concat(known, reversed(chain))
			x.lineages[id] = lineage
			return slices.Clip(lineage), nil
		}
		seen[from] = true
		chain = append(chain, from)
		at = from
	}
}

// recorded completes a lineage whose last id is gone from what a snapshot in it
// recorded.
func (x *Index) recorded(chain []string) ([]string, error) {
	gone := chain[len(chain)-1]
	if len(chain) == 1 || x.failed != nil {
		return chain, x.Err(gone)
	}
	for i := len(chain) - 2; i >= 0; i-- {
		e := x.Entry(chain[i])
		if !e.Snapshot {
			continue
		}
		list, below := e.Meta.Lineage, chain[:i+1]
		if len(list) == 0 {
			list = reversed(chain[i+1:])
		}
		if k := slices.Index(list, gone); k >= 0 {
			list, below = list[:k+1], chain[:len(chain)-1]
		}
		return slices.Concat(list, reversed(below)), nil
	}
	known := chain[:len(chain)-1]
	return reversed(known), x.missing(gone, known[len(known)-1])
}

func reversed(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Reverse(ids)
	return ids
}

// missing returns the error for id, which from continues and which is not
// there or cannot be used.
func (x *Index) missing(id, from string) error {
	if err := x.Err(id); err != nil {
		return err
	}
	return &MissingError{ID: id, From: from}
}

// Line returns the ids of the files of the line that id is in, each after the
// one it continues. A session missing on the way from id to the line's first
// file is a *[MissingError]; with it comes the line as far as it is there. For
// files that continue the line and cannot be used, see [Index.Broken].
func (x *Index) Line(id string) ([]string, error) {
	first := id
	var missing error
	seen := []string{id}
	for {
		e := x.Entry(first)
		if x.failed != nil {
			return nil, x.failed
		}
		if e.Snapshot || len(e.ContinuedFrom) == 0 {
			break
		}
		from := e.ContinuedFrom[0]
		if slices.Contains(seen, from) {
			return nil, &CycleError{IDs: seen[slices.Index(seen, from):]}
		}
		if x.Entry(from) == nil {
			missing = x.missing(from, first)
			break
		}
		seen = append(seen, from)
		first = from
	}
	line := []string{first}
	for i := 0; i < len(line); i++ {
		for _, child := range x.Continuations(line[i]) {
			if x.Err(child) == nil {
				line = append(line, child)
			}
		}
	}
	return line, cmp.Or(missing, x.failed)
}

// Broken returns why the line goes on after the session id in a file that cannot
// be used, nil if it does not.
func (x *Index) Broken(id string) error {
	for _, child := range x.Continuations(id) {
		if err := x.Err(child); err != nil {
			return err
		}
	}
	return x.failed
}

// Continuations returns the sessions that continue id, oldest first, those that
// cannot be used too.
func (x *Index) Continuations(id string) []string {
	return x.children([]name{{continues, id}}, func(e *Entry) bool { return e.from() == id && e.Kind() == session.Continuation })
}

// ContinuedTo returns the sessions whose continued_from names id, oldest first.
func (x *Index) ContinuedTo(id string) []string {
	return x.children([]name{{continues, id}, {copies, id}}, func(e *Entry) bool { return e.from() == id })
}

// Children returns the sessions that come from id, oldest first: what continues
// it, also what cannot be used, and the snapshots copied from it.
func (x *Index) Children(id string) []string {
	var names []name
	for alias, of := range x.aliases {
		if of == id {
			names = append(names, name{continues, alias}, name{copies, alias}, name{branches, alias})
		}
	}
	names = append(names, name{continues, id}, name{copies, id}, name{branches, id})
	return x.children(names, func(e *Entry) bool { return x.resolve(e.Origin()) == id })
}

// children returns those of the sessions with these names that match, oldest
// first.
func (x *Index) children(names []name, match func(*Entry) bool) (ids []string) {
	var list []*Entry
	for _, n := range names {
		for _, child := range x.named(n) {
			if e := x.entry(child); e != nil && match(e) {
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, byAge)
	return idsOf(slices.Compact(list))
}

func idsOf(list []*Entry) (ids []string) {
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

// from returns the session in the continued_from of e, "" if there is none.
func (e *Entry) from() string {
	if len(e.ContinuedFrom) == 0 {
		return ""
	}
	return e.ContinuedFrom[0]
}

// Parents returns for each session the one to show it under: its origin, or,
// where that is gone, the nearest session of its recorded lineage that is
// there. A session that has none, or that is in a ring, has no parent. It looks
// at every session.
func (x *Index) Parents() map[string]string {
	parents := map[string]string{}
	for _, e := range x.Entries() {
		lineage, err := x.Lineage(e.ID)
		if _, ring := err.(*CycleError); ring {
			continue
		}
		for i := len(lineage) - 2; i >= 0; i-- {
			if x.Entry(lineage[i]) != nil {
				parents[e.ID] = lineage[i]
				break
			}
		}
	}
	return parents
}
