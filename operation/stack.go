package operation

import (
	"cmp"
	"iter"
	"slices"
)

// Undoable returns the operation that an undo takes back: of newest, which are the
// newest first, the first one that is not taken back. With a session it is the
// first that changed that session. What other programs did, what nobody asked for,
// what changed no file and what is lost, as its files were purged from the trash,
// is passed over. As is the operation that made its changes last, a redo
// where there was one. Both are nil if there is none.
func Undoable(newest iter.Seq[*Operation], session string, lost func(*Operation) bool) (target, as *Operation) {
	redone := map[Seq]*Operation{} // the last redo of an operation
	for o := range standing(newest, session, redone) {
		if as := cmp.Or(redone[o.Seq], o); o.Undoes == 0 && !lost(as) {
			return o, as
		}
	}
	return nil, nil
}

// Redoable returns the operation that a redo takes back: the newest undo that is
// not taken back itself, unless something was done after it, which then is
// returned as newer.
func Redoable(newest iter.Seq[*Operation], session string) (undo, newer *Operation) {
	for o := range standing(newest, session, map[Seq]*Operation{}) {
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

// standing returns the operations of newest that changed session, "" for any, that
// can be taken back and are not. It puts into redone the last redo of those that
// come later.
func standing(newest iter.Seq[*Operation], session string, redone map[Seq]*Operation) iter.Seq[*Operation] {
	return func(yield func(*Operation) bool) {
		back := map[Seq]*Operation{} // what took an operation back
		for o := range newest {
			if by := back[o.Seq]; by != nil {
				if by.Verb == Redo && redone[o.Undoes] == nil {
					redone[o.Undoes] = by
				}
				continue
			}
			if o.Verb == External || o.Auto || len(o.Changes) == 0 {
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
