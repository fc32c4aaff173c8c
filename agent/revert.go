package agent

import (
	"github.com/bough-dev/bough/agent/turn"
	"slices"
)

// Revert returns the file of an agent without the effect of one change. now is
// the current file; before and after are the file before and after the change.
// Later changes are kept, in particular in the queue and the turn. A message
// that the change delivered or dropped is queued again and held. A turn that
// was running before the change ends as aborted. ok is false if a value that
// the change set has been changed again, or if a file is not a valid agent.
func Revert(name string, now, before, after []byte) (data []byte, ok bool) {
	var list [3]*Agent
	for i, data := range [][]byte{now, before, after} {
		a, err := Decode(name, data)
		if err != nil {
			return nil, false
		}
		list[i] = a
	}
	a, was, made := list[0], list[1], list[2]
	ok = revert(&a.ID, was.ID, made.ID) &&
		revert(&a.Model, was.Model, made.Model) &&
		revert(&a.System, was.System, made.System) &&
		revert(&a.Memory, was.Memory, made.Memory) &&
		revert(&a.Policy, was.Policy, made.Policy) &&
		revert(&a.NoCheckpoint, was.NoCheckpoint, made.NoCheckpoint)
	if !slices.EqualFunc(was.Trees, made.Trees, Tree.same) || was.Head != made.Head {
		ok = ok && slices.EqualFunc(a.Trees, made.Trees, Tree.same) && a.Head == made.Head
		a.Trees, a.Head = was.Trees, was.Head
	}
	for _, e := range made.Queue {
		if !was.Queue.Has(e.ID) {
			ok = a.Queue.Drop(e.ID) && ok
		}
	}
	for i, e := range was.Queue {
		if !made.Queue.Has(e.ID) && !a.Queue.Has(e.ID) {
			e.State = turn.Held
			a.Queue = slices.Insert(a.Queue, min(i, len(a.Queue)), e)
		}
	}
	if string(was.encodeTurn()) != string(made.encodeTurn()) {
		a.Turn = was.Turn
		a.Turn.Unwritten = nil
		if a.Turn.State != turn.Idle && a.Turn.State != "" {
			a.Turn = turn.Turn{State: turn.Idle, Prompt: was.Turn.Prompt, Last: was.Turn.Last, Ended: turn.Aborted}
		}
		if n := len(was.Turn.Unwritten); n > 0 {
			a.Turn.Last = was.Turn.Unwritten[0].Parent // it will not be written any more
		}
	}
	return a.Encode(), ok
}

// revert restores a value, and reports false if it has been changed again.
func revert[T comparable](value *T, was, made T) bool {
	if was == made {
		return true
	}
	ok := *value == made
	*value = was
	return ok
}
