// Package crashdisk computes the states that a crash may leave. Only tests use it.
//
// Its input is the initial content of a folder and the calls to the file system
// after that, step by step. A disk that keeps everything has after a crash the
// visible state; the last write may be partial. On a disk that forgets only synced
// data is certain to survive, and of the rest any subset:
//
//   - A file has its durable bytes, the new ones, a part of the new ones, or zeros
//     in their place. Syncing a file makes its bytes and its time durable, not its
//     name.
//   - A folder has its durable names, and any subset of the changes since it was
//     synced; changes of the same name keep their order. A rename within a folder is
//     one change, and so is a swap, which is durable when both folders are synced. A
//     rename into another folder is two changes: the old name never disappears without
//     the new one appearing.
//   - A folder that loses its own name loses its content.
package crashdisk

import (
	"iter"
	"math/rand/v2"
)

// Kept yields the trees that a crash after k steps of t may leave on a disk that
// keeps everything: the visible tree, and, if the next step is a write, that tree
// with half of its bytes written.
func (t *Trace) Kept(k int) iter.Seq[Tree] {
	return func(yield func(Tree) bool) {
		d := t.after(k)
		if !yield(d.kept()) || k == len(t.ops) || t.ops[k].Do != "write" {
			return
		}
		next := t.ops[k]
		next.Data, next.half = next.Data[:len(next.Data)/2], true
		d.do(next)
		yield(d.kept())
	}
}

// Lost yields the trees that a crash after k steps of t may leave on a disk that
// forgets: all of them if they are at most most, else nothing kept, all kept, each
// change kept or lost alone, and random others. The random ones are the same in
// every run.
func (t *Trace) Lost(k, most int) iter.Seq[Tree] {
	return t.after(k).lost(most, rand.New(rand.NewPCG(uint64(k), 0)))
}

func (t *Trace) after(k int) *disk {
	d := t.disk()
	for _, o := range t.ops[:k] {
		d.do(o)
	}
	return d
}
