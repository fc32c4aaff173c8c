// Package crashdisk says which folders a crash may leave. Only tests use it.
//
// It is given what a folder held and what was asked of the file system after
// that, step by step. A disk that keeps everything holds after a crash what
// programs saw; a write may be there by half. A disk that forgets holds for sure
// only what was synced, and of the rest whatever it likes:
//
//   - A file holds the bytes that were safe, the new ones, a part of the new ones,
//     or zeros in their place. To sync a file makes its bytes safe, and its time,
//     not its name.
//   - A folder has its safe names, and of the changes made to them since it was
//     synced any that it likes, those of one name in their order. A rename inside
//     a folder is one change, and so is a swap. A rename into another folder is
//     two: the name that is gone is never gone without the new one.
//   - A folder whose own name is lost takes with it what it holds.
package crashdisk

import (
	"iter"
	"math/rand/v2"
)

// Kept yields what a crash after k steps of t may leave on a disk that keeps
// everything: all of it, and, if bytes were to be written next, half of those too.
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

// Lost yields what a crash after k steps of t may leave on a disk that forgets:
// everything that it may if that is at most most trees, else nothing kept, all
// kept, each thing kept or lost alone, and others by chance, always the same.
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
