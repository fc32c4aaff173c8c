package session

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Whole returns all messages of the tree in runs for a single file. The file has
// the same tree, and its last message is the newest leaf. A message whose implied
// parent changes gets an explicit parent_id; Whole calls open for its session.
func (t *Tree) Whole(open func(*Outline) (*Session, error)) ([]Run, error) {
	var runs []Run
	before := none
	for _, n := range t.newestLast() {
		o, i := t.Parts[t.Part(n)], t.Index(n)
		if o.marks[i].edge == follows && t.Parent(n) != before {
			raw, err := t.withParent(n, open)
			if err != nil {
				return nil, err
			}
			runs = append(runs, Run{Raw: raw})
		} else if last := len(runs) - 1; last >= 0 && runs[last].Part == o && runs[last].To == i {
			runs[last].To++
		} else {
			runs = append(runs, Run{Part: o, From: i, To: i + 1})
		}
		before = n
	}
	return runs, nil
}

// newestLast returns the nodes in their order, except that the newest leaf and its
// ancestors with a single child come last.
func (t *Tree) newestLast() []int {
	order := make([]int, t.Len())
	for n := range order {
		order[n] = n
	}
	if len(order) == 0 || t.Newest(0) == len(order)-1 {
		return order
	}
	children := make([]int, t.Len())
	for n := range t.nodes {
		if p := t.Parent(n); p != none {
			children[p]++
		}
	}
	newest := t.Newest(0)
	tail := map[int]bool{newest: true}
	last := []int{newest}
	for n := t.Parent(newest); n != none && children[n] == 1; n = t.Parent(n) {
		tail[n] = true
		last = append(last, n)
	}
	slices.Reverse(last)
	return append(slices.DeleteFunc(order, func(n int) bool { return tail[n] }), last...)
}

// withParent returns the message at n with an explicit parent_id.
func (t *Tree) withParent(n int, open func(*Outline) (*Session, error)) ([]byte, error) {
	o := t.Parts[t.Part(n)]
	s, err := open(o)
	if err != nil {
		return nil, err
	}
	parent := []byte("null")
	if p := t.Parent(n); p != none {
		parent = rawjson.Compact(t.ID(p))
	}
	raw := s.Messages[t.Index(n)].Raw
	if v := gjson.GetBytes(raw, "metadata"); v.Exists() && v.Type != gjson.Null && !v.IsObject() {
		return nil, fmt.Errorf("the message %q cannot hold a parent_id: its metadata is not an object", t.ID(n))
	}
	return sjson.SetRawBytes(slices.Clone(raw), "metadata.parent_id", parent)
}
