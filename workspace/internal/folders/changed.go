package folders

import (
	"github.com/bough-dev/bough/internal/states"
	comparison "github.com/bough-dev/bough/workspace/compare"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A Stretch is the end of a path: the messages from index From on.
type Stretch struct {
	*store.Line
	Path []int // nodes from the root
	From int
}

// Changed returns for each stretch how files changed in it: from the newest state before it to
// its newest state, which may be of another folder. It is nil where one of both is missing.
func Changed(v *store.View, list []Stretch) ([]*comparison.Files, error) {
	return read(v, func(r *reading) ([]*comparison.Files, error) {
		out := make([]*comparison.Files, len(list))
		for i, s := range list {
			if len(r.list) == 0 || len(s.Path) == 0 {
				continue
			}
			base, last, err := r.endsOf(s, nil)
			if err != nil {
				return nil, err
			}
			if base == nil || last == nil {
				continue
			}
			d, err := r.compare(base, last, files.DiffOptions{})
			if err != nil {
				return nil, err
			}
			out[i] = &comparison.Files{From: base.ID, To: last.ID, Dir: r.paths[last.Folder], Changes: d.Changes}
		}
		return out, nil
	})
}

// compare returns the difference of two states.
func (r *reading) compare(from, to *states.State, o files.DiffOptions) (*files.Diff, error) {
	sides := [2]*side{}
	for i, st := range []*states.State{from, to} {
		d, err := r.describe(st, true)
		if err != nil {
			return nil, err
		}
		sides[i] = &side{st.Tree, d, r.Get}
	}
	return compare(sides[0], sides[1], o)
}

// endsOf returns the newest state before a stretch and its newest state, nil if there is none.
// A state of the folder home is preferred before the stretch, and one of another folder in it,
// because a branch with files has a folder of its own. home may be nil.
func (r *reading) endsOf(s Stretch, home *Folder) (base, last *states.State, err error) {
	p := &store.Place{Line: s.Line, Node: s.Path[len(s.Path)-1]}
	scope := r.scope(p)
	newest := func(nodes []int, atHome bool) (*states.State, error) {
		return r.newestOf(p.Line, nodes, scope, func(folder string) bool { return (home != nil && folder == home.ID) == atHome })
	}
	either := func(nodes []int, homeFirst bool) (st *states.State, err error) {
		if st, err = newest(nodes, homeFirst); st == nil && err == nil {
			st, err = newest(nodes, !homeFirst)
		}
		return st, err
	}
	if base, err = either(s.Path[:s.From], true); err != nil {
		return nil, nil, err
	}
	last, err = either(s.Path[s.From:], false)
	return base, last, err
}
