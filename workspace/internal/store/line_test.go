package store

import (
	"errors"
	"testing"

	"github.com/bough-dev/bough/session"
)

// TestLastTree: a tree is built again only if an outline is another one.
func TestLastTree(t *testing.T) {
	decode := func(messages string) *session.Outline {
		s, err := session.Decode("s", []byte(`{"messages":[`+messages+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		return s.Outline
	}
	open := func(*session.Outline) (*session.Session, error) { return nil, errors.New("opened") }
	const a, b = `{"id":"a","timestamp":"2026-05-25T15:00:00"}`, `{"id":"b","timestamp":"2026-05-25T15:00:01"}`
	one, two := decode(a), decode(a+","+b)
	var last lastTree
	of := func(parts ...*session.Outline) *session.Tree {
		tree, err := last.of(parts, open)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	first := of(one)
	if again := of(one); again != first || again.Len() != 1 {
		t.Error("the tree of the same files is built again")
	}
	if grown := of(two); grown == first || grown.Len() != 2 {
		t.Error("the tree of a longer file has the old messages")
	}
	if copied := of(decode(a)); copied == first {
		t.Error("the tree of another outline is kept")
	}
	cyclic := decode(`{"id":"a","metadata":{"parent_id":"b"}},{"id":"b"}`)
	if _, err := last.of([]*session.Outline{cyclic}, open); err == nil {
		t.Error("a cycle has a tree")
	}
	if tree := of(one); tree.Len() != 1 {
		t.Error("after an error the tree is another one")
	}
}
