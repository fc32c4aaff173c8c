package folders

import (
	"context"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
)

// UndoTurn takes back what the turn of the message at a REF changed in the folder dir.
func UndoTurn(ctx context.Context, w *store.Store, dir, ref string, op operation.Operation, o restores.Options) (*lines.Position, error) {
	return bring(ctx, w, dir, op, o, func(r *reading, f *Folder) (*goal, *store.Place, checkpoint.Adjustment, error) {
		g, err := r.turnAt(ref, f)
		return g, nil, checkpoint.Adjustment{}, err
	})
}

// Turn returns what the turn of the message at a REF changed in the folder dir.
func Turn(ctx context.Context, w *store.Store, dir, ref string, o files.DiffOptions) (*files.Diff, error) {
	f, err := only(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	return store.Read(ctx, w, func(v *store.View) (*files.Diff, error) {
		return read(v, func(r *reading) (*files.Diff, error) {
			g, err := r.turnAt(ref, f)
			if err != nil {
				return nil, err
			}
			return r.compare(g.target, g.last, o)
		})
	})
}

// turnAt returns the goal to take a turn back: from the last state of the turn to the one
// before it. The turn is that of the message at a REF, from the message of the user to the
// last one before the next message of the user. If it has no state because it was stopped, the
// last state is that of the next prompt.
func (r *reading) turnAt(ref string, f *Folder) (*goal, error) {
	p, err := r.view.Place(ref, false)
	if err != nil {
		return nil, err
	}
	path, first, err := r.turnOf(p)
	if err != nil {
		return nil, err
	}
	if first < 0 {
		return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%q is in no turn: there is no message of the user at it or before it", ref), Hint: "a turn begins with a message of the user"}
	}
	scope := r.scope(p)
	state := func(nodes []int) (*states.State, error) {
		for _, node := range slices.Backward(nodes) {
			if st, err := r.of(p.Line, node, scope, f); st != nil || err != nil {
				return st, err
			}
		}
		return nil, nil
	}
	target, err := state(path[max(first-1, 0) : first+1])
	if err == nil && target == nil {
		err = noneAround(f, "before", ref)
	}
	if err != nil {
		return nil, err
	}
	last, err := state(path[first+1:])
	if err == nil && last == nil {
		if last, err = r.nextPrompt(p, path[len(path)-1], scope, f); last != nil {
			r.view.Store.Opts.Note("the turn was stopped, so it has no state of its end; what you changed before the next prompt counts too")
		}
	}
	if err == nil && last == nil {
		err = noneAround(f, "after", ref)
	}
	if err != nil {
		return nil, err
	}
	if target.Folder != last.Folder {
		missing := none(nil, fmt.Sprintf(" after the turn at %q of %s, of which the one before it is", ref, r.nameOf(target.Folder)))
		missing.Next = fault.Do(fault.ListStates)
		return nil, missing
	}
	return r.goalUntil(target, last, p)
}

// noneAround is the error for a turn without a state before or after it.
func noneAround(f *Folder, where, ref string) *fault.Error {
	missing := none(f, fmt.Sprintf(" %s the turn at %q", where, ref))
	missing.Hint, missing.Next = "hooks, agents and watching take states of turns by themselves", fault.Do(fault.ListStates)
	return missing
}

// nextPrompt returns the state of the prompt that follows a message, nil if there is none. A
// transcript can have a message of the user before it which says that the turn was stopped.
func (r *reading) nextPrompt(p *store.Place, node int, scope []string, f *Folder) (*states.State, error) {
	children := p.Children()
	for len(children[node]) == 1 {
		node = children[node][0]
		if m, err := r.view.Message(p.Line, node); err != nil || m.Role() != "user" {
			return nil, err
		}
		st, err := r.of(p.Line, node, scope, f)
		if err != nil || st != nil && st.At == states.Prompt {
			return st, err
		}
	}
	return nil, nil
}

// goalUntil returns the goal of a state as it was when a later one was taken.
func (r *reading) goalUntil(target, last *states.State, p *store.Place) (*goal, error) {
	conversation, err := r.conversations(p)
	if err != nil {
		return nil, err
	}
	var list []*states.State
	for _, st := range r.list {
		if st.Folder == target.Folder {
			list = append(list, st)
		}
		if st.ID == last.ID {
			break
		}
	}
	if !slices.Contains(list, target) {
		return nil, &fault.Error{
			Code: fault.NotFound, Message: "the state after the turn is older than the one before it, so what the turn changed is not known",
			Next: fault.Do(fault.ListStates),
		}
	}
	t := timelineOf(list, target, conversation)
	t.last, t.open = last, false
	return &goal{target: target, exact: true, timeline: t}, nil
}

// turnOf returns the path through the turn of a place, up to its end, and where in the path
// the message of the user is, -1 if there is none.
func (r *reading) turnOf(p *store.Place) (path []int, first int, err error) {
	if p.Node < 0 {
		return nil, -1, nil
	}
	isUser := func(node int) bool {
		m, failed := r.view.Message(p.Line, node)
		if failed != nil {
			err = failed
		}
		return m.Role() == "user"
	}
	path, children := p.Path(p.Node), p.Children()
	for first = len(path) - 1; first >= 0 && !isUser(path[first]); first-- {
	}
	for node := p.Node; err == nil; {
		next := slices.IndexFunc(children[node], func(child int) bool { return !isUser(child) })
		if next < 0 {
			break
		}
		node = children[node][next]
		path = append(path, node)
	}
	return path, first, err
}
