package operation

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Undoable returns the operation that undo reverts: the first one of newest,
// ordered newest first, that is not undone. With a session it is the first operation that
// changed that session. Operations of other programs, automatic ones, those without
// changes and those for which lost returns true are skipped. as is the operation
// that made the changes last: target itself, or its redo. Both are nil if there is
// nothing to undo.
func Undoable(newest iter.Seq[*Operation], session string, lost func(*Operation) bool) (target, as *Operation) {
	for t := range AllUndoable(newest, session, lost) {
		return t.Operation, t.As
	}
	return nil, nil
}

// AllUndoable returns the results of repeated calls of [Undoable], each undone
// before the next call.
func AllUndoable(newest iter.Seq[*Operation], session string, lost func(*Operation) bool) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		redone := map[Seq]*Operation{} // the last redo of an operation
		for o := range effective(newest, session, redone) {
			if as := cmp.Or(redone[o.Seq], o); o.Undoes == 0 && !lost(as) && !yield(Target{o, as}) {
				return
			}
		}
	}
}

// A Target is an operation to revert.
type Target struct {
	*Operation
	As *Operation // the operation that made the changes last: itself, or a redo
}

// Undoables returns the operations that undo reverts, in that order: the result of
// [Undoable], with all others of its group that are not undone. With a session it
// is a single operation. An interrupted undo of a group is continued with the rest
// of that group; then by is the group of that undo.
func Undoables(newest iter.Seq[*Operation], session string, lost func(*Operation) bool) (targets []Target, by Seq) {
	if session == "" {
		if group, by := undoing(newest); group != 0 {
			if targets := UndoablesOf(newest, group, lost); len(targets) > 0 {
				return targets, by
			}
		}
	}
	target, as := Undoable(newest, session, lost)
	switch {
	case target == nil:
		return nil, 0
	case session != "" || target.Group == 0:
		return []Target{{target, as}}, 0
	}
	return UndoablesOf(newest, target.Group, lost), 0
}

// GroupArg is the argument of an undo or redo that holds the group of the
// operation that it reverts.
const GroupArg = "group"

// undoing returns the group that the newest operation undoes and its own group, if
// it belongs to the undo of a group.
func undoing(newest iter.Seq[*Operation]) (group, by Seq) {
	for o := range effective(newest, "", map[Seq]*Operation{}) {
		if n, ok := o.Args[GroupArg].(float64); ok && o.Verb == Undo && o.Group != 0 {
			return Seq(n), o.Group
		}
		break
	}
	return 0, 0
}

// UndoablesOf returns the operations of a group that undo reverts, newest first.
func UndoablesOf(newest iter.Seq[*Operation], group Seq, lost func(*Operation) bool) (targets []Target) {
	redone := map[Seq]*Operation{}
	for o := range effective(newest, "", redone) {
		if o.Seq < group {
			break
		}
		if as := cmp.Or(redone[o.Seq], o); o.Group == group && o.Undoes == 0 && !lost(as) {
			targets = append(targets, Target{o, as})
		}
	}
	return targets
}

// Redoables returns the undos that redo reverts, in that order: the result of
// [Redoable], with all others of its group that are not reverted. With a session it
// is a single undo. If an operation after the newest undo prevents redo, it is
// returned as newer.
func Redoables(newest iter.Seq[*Operation], session string) (targets []Target, newer *Operation) {
	undo, newer := Redoable(newest, session)
	switch {
	case undo == nil:
		return nil, newer
	case session != "" || undo.Group == 0:
		return []Target{{undo, undo}}, nil
	}
	return RedoablesOf(newest, undo.Group), nil
}

// RedoablesOf returns the undos of a group that redo reverts, newest first.
func RedoablesOf(newest iter.Seq[*Operation], group Seq) (targets []Target) {
	for o := range effective(newest, "", map[Seq]*Operation{}) {
		if o.Seq < group {
			break
		}
		if o.Group == group && o.Verb == Undo {
			targets = append(targets, Target{o, o})
		}
	}
	return targets
}

// Find returns the operations of newest with the given numbers.
func Find(newest iter.Seq[*Operation], seqs []Seq) map[Seq]*Operation {
	found := make(map[Seq]*Operation, len(seqs))
	if len(seqs) == 0 {
		return found
	}
	for _, seq := range seqs {
		found[seq] = nil
	}
	first := slices.Min(seqs)
	for o := range newest {
		if o.Seq < first {
			break
		}
		if _, wanted := found[o.Seq]; wanted {
			found[o.Seq] = o
		}
	}
	maps.DeleteFunc(found, func(_ Seq, o *Operation) bool { return o == nil })
	return found
}

// Redoable returns the operation that redo reverts: the newest undo that is not
// reverted itself. If a newer operation prevents that, it is returned as newer.
func Redoable(newest iter.Seq[*Operation], session string) (undo, newer *Operation) {
	for o := range effective(newest, session, map[Seq]*Operation{}) {
		switch o.Verb {
		case Undo:
			return o, nil
		case Redo:
		default:
			return nil, o
		}
	}
	return nil, nil
}

// effective returns the operations of newest that changed session, "" for any, and
// that can be undone and are not. It stores in redone the last redo of each later
// operation.
func effective(newest iter.Seq[*Operation], session string, redone map[Seq]*Operation) iter.Seq[*Operation] {
	return func(yield func(*Operation) bool) {
		back := map[Seq]*Operation{} // what took an operation back
		for o := range newest {
			if by := back[o.Seq]; by != nil {
				if by.Verb == Redo && redone[o.Undoes] == nil {
					redone[o.Undoes] = by
				}
				continue
			}
			if o.Verb == External || o.Auto || !o.revertible() {
				continue
			}
			if o.Undoes != 0 {
				back[o.Undoes] = o
			}
			if session != "" && !slices.Contains(o.Sessions, session) {
				continue
			}
			if !yield(o) {
				return
			}
		}
	}
}
