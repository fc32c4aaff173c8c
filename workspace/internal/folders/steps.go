package folders

import (
	"context"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/internal/bisect"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/origin"
)

// Steps returns the states of the path to the message at a REF. If dir is empty, they are of the
// folder with states that contains the current directory, else of the one of the last state.
func Steps(ctx context.Context, w *store.Store, dir, ref string, o origin.BisectOptions) (*origin.Bisection, error) {
	plan, err := planBisection(ctx, w, dir, ref, o)
	if err != nil {
		return nil, err
	}
	return &plan.Bisection, nil
}

// A bisection is the steps of a path, and the search among them.
type bisection struct {
	origin.Bisection
	search *bisect.Search
}

func planBisection(ctx context.Context, w *store.Store, dir, ref string, o origin.BisectOptions) (*bisection, error) {
	f, err := only(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	return store.Read(ctx, w, func(v *store.View) (*bisection, error) {
		return read(v, func(r *reading) (*bisection, error) {
			p, err := v.Place(ref, false)
			if err != nil {
				return nil, err
			}
			return r.trail().steps(p, ref, f, o)
		})
	})
}

func (t *trail) steps(p *store.Place, ref string, f *Folder, o origin.BisectOptions) (*bisection, error) {
	if p.Node < 0 {
		return nil, &fault.Error{Code: fault.NotFound, Message: "the conversation is empty"}
	}
	path := p.Path(p.Node)
	first, err := t.onPath(p, path, o.Good, 0)
	if err != nil {
		return nil, err
	}
	last, err := t.onPath(p, path, o.Bad, len(path)-1)
	if err != nil {
		return nil, err
	}
	scope := t.scope(p)
	end, err := t.lastOf(p, path[:last+1], scope, f)
	if err != nil {
		return nil, err
	}
	if end == nil {
		return nil, none(f, fmt.Sprintf(" at %q or before it", ref))
	}
	b := &bisection{Bisection: origin.Bisection{Dir: t.paths[end.Folder], Steps: []origin.Step{}}}
	folder := &Folder{Path: b.Dir, ID: end.Folder}
	var before *states.State
	if o.Good != "" {
		if before, err = t.lastOf(p, path[:first+1], scope, folder); err != nil {
			return nil, err
		}
		if before == nil {
			return nil, none(folder, fmt.Sprintf(" at %q or before it", o.Good))
		}
		if err := t.addStep(b, p, path[first], before, nil); err != nil {
			return nil, err
		}
		first++
	}
	for _, node := range path[first : last+1] {
		st, err := t.of(p.Line, node, scope, folder)
		if err != nil {
			return nil, err
		}
		if st == nil || before != nil && st.Tree == before.Tree {
			continue
		}
		if err := t.addStep(b, p, node, st, before); err != nil {
			return nil, err
		}
		before = st
	}
	if len(b.Steps) < 2 {
		return nil, &fault.Error{
			Code: fault.Refused, Message: fmt.Sprintf("the files did not change on the path to %q, as far as states of %s say", ref, b.Dir),
			Hint: "hooks, agents and watching take states of turns by themselves", Next: fault.Do(fault.ListStates),
		}
	}
	b.Messages = last - slices.Index(path, p.Find(string(b.Steps[0].Message))[0]) + 1
	return b, t.next(b, p, path, o.Skip)
}

// next sets the step to test next, without those that cannot be tested.
func (t *trail) next(b *bisection, p *store.Place, path []int, skip []string) error {
	b.search = bisect.New(len(b.Steps))
	for _, ref := range skip {
		i, err := t.onPath(p, path, ref, 0)
		if err != nil {
			return err
		}
		step := slices.IndexFunc(b.Steps, func(s origin.Step) bool { return string(s.Message) == p.ID(path[i]) })
		if step > 0 && step < len(b.Steps)-1 { // else it is out of the question
			b.search.Record(step, bisect.Skip)
		}
	}
	if step, ok := b.search.Next(); ok {
		b.Next = &step
		_, b.Tests = b.search.Left()
	}
	return nil
}

// onPath returns where the message of a REF is in a path, otherwise for "".
func (t *trail) onPath(p *store.Place, path []int, ref string, otherwise int) (int, error) {
	if ref == "" {
		return otherwise, nil
	}
	at, err := t.view.Place(ref, false)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(path, func(node int) bool { return p.ID(node) == at.MessageID() })
	if i < 0 {
		return 0, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%q is not on the path", ref), Hint: "both ends are messages before the one at REF, or that one"}
	}
	return i, nil
}

// lastOf returns the state of the last message of a path that has one.
func (t *trail) lastOf(p *store.Place, path []int, scope []string, f *Folder) (*states.State, error) {
	for _, node := range slices.Backward(path) {
		if st, err := t.of(p.Line, node, scope, f); st != nil || err != nil {
			return st, err
		}
	}
	return nil, nil
}

// addStep adds a step. before is the state of the step before it, nil for the first.
func (t *trail) addStep(b *bisection, p *store.Place, node int, st, before *states.State) error {
	step := origin.Step{
		Session: session.ID(p.Parts[p.Part(node)].ID), Message: session.ID(p.ID(node)), State: st.ID, Time: timeOf(st.Time), By: origin.ByOlder, Sure: true,
	}
	if before != nil {
		a := t.between(before, st)
		step.By, step.Sure = a.by, a.sure()
		if a.by == origin.ByTurn {
			turn, err := t.turnOfRun(a)
			if err != nil {
				return err
			}
			step.Turn = &turn.Turn
		}
	}
	b.Steps = append(b.Steps, step)
	return nil
}

// between returns what changed a folder between two of its states: of several authors, the one
// of the last change.
func (t *trail) between(from, to *states.State) author {
	list := t.folders[to.Folder]
	authors := t.authorsIn(to.Folder)
	first, last := slices.Index(list, from), slices.Index(list, to)
	a := authors[max(last, 0)]
	changes := 0
	for i := last; i > first && i > 0; i-- {
		if list[i].Tree == list[i-1].Tree {
			continue
		}
		if changes++; changes == 1 {
			a = authors[i]
		} else if authors[i].run != a.run {
			a.shared = true
		}
	}
	return a
}
