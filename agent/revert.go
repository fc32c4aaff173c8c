package agent

import "slices"

// Revert returns the file of the agent with a name as it is now, without what one change
// made of it, which had it before and left it as after. What others did since stays,
// above all to the queue and the turn, which go on without regard to what is taken back.
// A message that the change delivered or dropped is queued again, and held; a turn that
// it found running is over, as aborted. It reports false where something that the change
// made is another now, and where one of the files is none of an agent.
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
		revert(&a.Policy, was.Policy, made.Policy) &&
		revert(&a.NoCheckpoint, was.NoCheckpoint, made.NoCheckpoint)
	if !slices.EqualFunc(was.Trees, made.Trees, Tree.same) || was.Head != made.Head {
		ok = ok && slices.EqualFunc(a.Trees, made.Trees, Tree.same) && a.Head == made.Head
		a.Trees, a.Head = was.Trees, was.Head
	}
	for _, e := range made.Queue {
		if was.Queue.at(e.ID) < 0 {
			ok = a.Queue.Drop(e.ID) && ok
		}
	}
	for i, e := range was.Queue {
		if made.Queue.at(e.ID) < 0 && a.Queue.at(e.ID) < 0 {
			e.State = Held
			a.Queue = slices.Insert(a.Queue, min(i, len(a.Queue)), e)
		}
	}
	if string(was.encodeTurn()) != string(made.encodeTurn()) {
		a.Turn = was.Turn
		a.Turn.Unwritten = nil
		if a.Turn.State != Idle && a.Turn.State != "" {
			a.Turn = Turn{State: Idle, Prompt: was.Turn.Prompt, Last: was.Turn.Last, Ended: Aborted}
		}
		if n := len(was.Turn.Unwritten); n > 0 {
			a.Turn.Last = was.Turn.Unwritten[0].Parent // what was not written then is not any more
		}
	}
	return a.Encode(), ok
}

// revert takes a change of a value back, and reports false if it is another by now.
func revert[T comparable](value *T, was, made T) bool {
	if was == made {
		return true
	}
	ok := *value == made
	*value = was
	return ok
}
