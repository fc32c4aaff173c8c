package folders

import (
	"context"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
)

// Apply brings what the branch at a REF changed, in a folder of its own, to the folder dir.
func Apply(ctx context.Context, w *store.Store, dir, ref string, op operation.Operation, o restores.Options) (*lines.Position, error) {
	return bring(ctx, w, dir, op, o, func(r *reading, f *Folder) (*goal, *store.Place, checkpoint.Adjustment, error) {
		if f == nil {
			return nil, nil, checkpoint.Adjustment{}, &fault.Error{Code: fault.Usage, Message: "no folder to bring the files to", Hint: "name one that has states"}
		}
		g, err := r.branchAt(ref, f)
		return g, nil, checkpoint.Adjustment{}, err
	})
}

// branchAt returns the goal to bring the files of a branch to the folder f: from the state at
// its branch point to its newest state in another folder.
func (r *reading) branchAt(ref string, f *Folder) (*goal, error) {
	p, err := r.view.Place(ref, false)
	if err != nil {
		return nil, err
	}
	path, scope := p.Path(p.Node), r.scope(p)
	at := slices.Index(path, forkOf(p))
	if at < 0 {
		return nil, &fault.Error{
			Code: fault.Refused, Message: fmt.Sprintf("%q is not a branch", ref),
			Hint: "files come from a branch that was made with a folder of its own",
		}
	}
	newest := func(nodes []int, fits func(folder string) bool) (*states.State, error) {
		return r.newestOf(p.Line, nodes, scope, fits)
	}
	home := func(id string) bool { return id == f.ID }
	away := func(id string) bool { return id != f.ID && (r.machines[id] == "" || r.standsFor(f, id)) }
	base, err := newest(path[:at+1], home)
	if err == nil && base == nil {
		base, err = newest(path[:at+1], away)
	}
	if err != nil {
		return nil, err
	}
	target, err := newest(path[at:], away)
	if err != nil {
		return nil, err
	}
	switch {
	case target == nil:
		return nil, &fault.Error{
			Code: fault.NotFound, Message: fmt.Sprintf("no state of %q in a folder of its own", ref),
			Hint: "take one in the folder in which the branch continued", Next: fault.Do(fault.SnapFolder),
		}
	case base == nil:
		return nil, &fault.Error{
			Code: fault.NotFound, Message: fmt.Sprintf("no state at the branch point of %q or before it", ref),
			Hint: "what the branch changed since is not known", Next: fault.Do(fault.ListStates),
		}
	}
	g, err := r.between(base, target)
	if err == nil {
		g.mapped = r.mappedBy(target, f)
	}
	return g, err
}

// newestOf returns the newest state of some nodes, of the folders for whose ids fits returns
// true, nil if there is none.
func (r *reading) newestOf(l *store.Line, nodes []int, scope []string, fits func(folder string) bool) (*states.State, error) {
	for _, node := range slices.Backward(nodes) {
		if st, err := r.ofAny(l, node, scope, fits); st != nil || err != nil {
			return st, err
		}
	}
	return nil, nil
}

// between returns the goal to change files as they changed from one state to another, which
// may be of another folder.
func (r *reading) between(base, target *states.State) (*goal, error) {
	c, err := r.CoverageOf(base)
	if err != nil {
		return nil, err
	}
	t := timeline{own: []restore.Span{{From: target.Tree, To: base.Tree}}, last: base}
	return &goal{target: target, exact: true, timeline: t, left: c.Left}, nil
}

// forkOf returns the message at which the branch at a place leaves its origin, -1 if it is no
// branch.
func forkOf(p *store.Place) int {
	if p.Node < 0 {
		return -1
	}
	path, children := p.Path(p.Node), p.Children()
	for _, node := range slices.Backward(path[:len(path)-1]) {
		if len(children[node]) > 1 {
			return node
		}
	}
	for _, node := range p.Find(p.Parts[0].Meta.BranchPoint) {
		if slices.Contains(path, node) {
			return node
		}
	}
	return -1
}
