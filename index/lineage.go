package index

import (
	"cmp"
	"slices"

	"github.com/bough-dev/bough/session"
)

// Origin returns the id in this workspace of the session that id comes from, "" if
// none.
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

// Lineage returns the session ids from the root to id, which must exist.
//
// It follows continuations and the origins of snapshots. If an origin no longer
// exists, the lineage recorded in the nearest snapshot replaces it. Without such a
// record a missing session is a *[MissingError]. A cycle is a *[CycleError].
// Both errors come with the known part of the lineage.
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

// recorded completes a lineage whose last id does not exist with the lineage
// recorded in a snapshot of it.
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

// missing returns the error for id, which from continues and which does not exist
// or cannot be used.
func (x *Index) missing(id, from string) error {
	if err := x.Err(id); err != nil {
		return err
	}
	return &MissingError{ID: id, From: from}
}

// Line returns the ids of the files of id's line, each after the file that it
// continues. If a session between id and the first file is missing, the error is a
// *[MissingError] and the result is the existing part. [Index.Broken] reports
// unusable files that continue the line.
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

// Broken returns why a continuation of the session id cannot be used, nil if all
// can.
func (x *Index) Broken(id string) error {
	for _, child := range x.Continuations(id) {
		if err := x.Err(child); err != nil {
			return err
		}
	}
	return x.failed
}

// Continuations returns the sessions that continue id, including unusable ones,
// oldest first.
func (x *Index) Continuations(id string) []string {
	return x.children([]name{{continues, id}}, func(e *Entry) bool { return e.from() == id && e.Kind() == session.Continuation })
}

// ContinuedTo returns the sessions whose continued_from names id, oldest first. Packed
// checkpoints are not among them, as other programs do not know these.
func (x *Index) ContinuedTo(id string) []string {
	return x.children([]name{{continues, id}, {copies, id}}, func(e *Entry) bool { return e.from() == id && e.Packed == nil })
}

// Children returns the sessions that come from id, oldest first: its continuations,
// including unusable ones, and the snapshots copied from it.
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

// children returns those sessions with one of the names that match, oldest first.
func (x *Index) children(names []name, match func(*Entry) bool) (ids []string) {
	var list []*Entry
	for _, n := range names {
		for _, child := range x.withName(n) {
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

// from returns the session in the continued_from of e, or "".
func (e *Entry) from() string {
	if len(e.ContinuedFrom) == 0 {
		return ""
	}
	return e.ContinuedFrom[0]
}

// Parents returns the parent of each session in the tree of sessions: its origin,
// or if that does not exist, the nearest existing session of its recorded lineage.
// A session without either, or in a cycle, has no parent. It examines every
// session.
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
