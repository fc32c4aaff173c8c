package nodes_test

import (
	"testing"

	"github.com/bough-dev/bough/convert/internal/nodes"
)

// TestManyCopies: a hostile file with one id in all of its records is read in time that is linear in their number.
func TestManyCopies(t *testing.T) {
	var tree nodes.Tree
	seen, last := map[string]bool{}, ""
	for range 20_000 {
		last = tree.Append(nodes.Node{ID: "a", Parent: last, Record: []byte(`{"id":"a"}`)})
		if seen[last] {
			t.Fatal("two records have one id")
		}
		seen[last] = true
	}
}
