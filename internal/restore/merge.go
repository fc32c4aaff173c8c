package restore

import (
	"bytes"
	"slices"

	"github.com/aymanbagabas/go-udiff"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// maxMerge is the maximum size of a file that is merged, in bytes.
const maxMerge = 4 << 20

// merge takes the changes of the conversation back from what the folder has. ok is false if
// that is impossible. If the path also changed between the spans, they are taken back one
// after the other, the last one first, so that these changes stay.
func (p *planning) merge(c Conflict) (merged filetree.Entry, ok bool, err error) {
	if !p.interrupted(c.Path, c.Theirs, c.Base) {
		return p.merge3(c.Base, c.Yours, c.Theirs)
	}
	merged = c.Yours
	for _, v := range slices.Backward(p.own[c.Path]) {
		if merged, ok, err = p.merge3(v.to, merged, v.from); !ok || err != nil {
			return merged, false, err
		}
	}
	return merged, true, nil
}

// merge3 merges the changes from base to yours with those from base to theirs.
func (p *planning) merge3(base, yours, theirs filetree.Entry) (merged filetree.Entry, ok bool, err error) {
	switch {
	case same(base, yours) || same(yours, theirs):
		return theirs, true, nil
	case same(base, theirs):
		return yours, true, nil
	}
	merged = yours
	if yours.Perm == base.Perm {
		merged.Perm = theirs.Perm
	} else if theirs.Perm != base.Perm && theirs.Perm != yours.Perm {
		return merged, false, nil
	}
	texts := make([][]byte, 3)
	for i, e := range []filetree.Entry{base, yours, theirs} {
		if e.Type != filetree.File || e.Size > maxMerge || p.Forgotten != nil && p.Forgotten(e.ID) {
			return merged, false, nil
		}
		if data, ok := p.plan.Merged[e.ID]; ok {
			texts[i] = data
		} else if texts[i], err = p.Read(e.ID); err != nil {
			return merged, false, err
		}
		if bytes.IndexByte(texts[i], 0) >= 0 {
			return merged, false, nil // not text
		}
	}
	text, ok, err := merge3(string(texts[0]), string(texts[1]), string(texts[2]))
	if !ok || err != nil {
		return merged, false, err
	}
	merged.ID, merged.Size = pack.IDOf(text), int64(len(text))
	if merged.ID != yours.ID && merged.ID != theirs.ID {
		p.plan.Merged[merged.ID] = text
	}
	return merged, true, nil
}

// merge3 merges two changes of a text. ok is false if they change the same lines, or lines
// without one between them. udiff.Merge alone would combine such changes.
func merge3(base, yours, theirs string) (merged []byte, ok bool, err error) {
	x, y := udiff.Lines(base, yours), udiff.Lines(base, theirs)
	if touch(x, y) {
		return nil, false, nil
	}
	edits, ok := udiff.Merge(x, y)
	if !ok {
		return nil, false, nil
	}
	merged, err = udiff.ApplyBytes([]byte(base), edits)
	return merged, true, err
}

// touch reports whether two different edits overlap or are side by side.
func touch(x, y []udiff.Edit) bool {
	for len(x) > 0 && len(y) > 0 {
		switch a, b := x[0], y[0]; {
		case a == b:
			x, y = x[1:], y[1:]
		case a.End < b.Start:
			x = x[1:]
		case b.End < a.Start:
			y = y[1:]
		default:
			return true
		}
	}
	return false
}
