package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// printed returns what f prints on a terminal of so many columns, 0 for none.
func printed(columns int, f func(*program)) string {
	var out, talk bytes.Buffer
	p := &program{stdout: bufio.NewWriter(&out), stderr: &talk, paint: paint{width: columns}}
	f(p)
	p.stdout.Flush()
	return out.String()
}

// saying returns a message with a text.
func saying(text string) session.Message {
	return session.Message{Raw: fmt.Appendf(nil, `{"content":%s}`, rawjson.Compact(text))}
}

// comb returns a tree of n levels. Each message has two answers, except on the last level.
func comb(n int) *workspace.MessageTree {
	t := &workspace.MessageTree{}
	add := func(parent *int) *int {
		i := len(t.Runs)
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", i)
		t.Runs = append(t.Runs, workspace.StraightRun{
			First: id, Last: id, Count: 1, Parent: parent, LastActive: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			Message: saying(fmt.Sprintf("message %d, which says something about 東京への旅行 and more", i)),
		})
		return &i
	}
	at := add(nil)
	var leaves []*int
	for range n - 1 {
		leaves = append(leaves, at)
		at = add(at)
	}
	t.Runs[len(t.Runs)-1].Leaf = true
	for i := len(leaves) - 1; i >= 0; i-- {
		t.Runs[*add(leaves[i])].Leaf = true
	}
	t.Runs[len(t.Runs)-1].Head = session.ID(t.Runs[len(t.Runs)-1].Last)
	return t
}

// TestMessageTreeDrawing: each run is drawn once, at any depth, no line is wider than the
// terminal, and continuations are below their parents.
func TestMessageTreeDrawing(t *testing.T) {
	deep := testsize.Of(2_000, 10_000, 50_000)
	for _, c := range []struct{ levels, columns int }{{1, 0}, {13, 0}, {14, 0}, {40, 80}, {40, 36}, {deep, 0}, {deep, 80}} {
		tree := comb(c.levels)
		out := printed(c.columns, func(p *program) { p.messageTree(tree) })
		drawn, below, on := 0, 0, 0
		for l := range strings.Lines(out) {
			l = strings.TrimSuffix(l, "\n")
			switch {
			case strings.HasSuffix(l, " continues:"):
				on++
			case l != "":
				drawn++
			}
			if strings.Contains(l, "(continues below") {
				below++
			}
			if n := width(l); c.columns > 0 && n > c.columns || n > 160 {
				t.Fatalf("%d levels on %d columns: a line of %d: %s", c.levels, c.columns, n, l)
			}
		}
		if drawn != len(tree.Runs) || on != below || (c.levels > 13) != (on > 0) {
			t.Errorf("%d levels on %d columns: %d of %d runs are drawn, %d continue below, %d do", c.levels, c.columns, drawn, len(tree.Runs), below, on)
		}
		if n := strings.Count(out, "*"); n != 1 {
			t.Errorf("%d levels on %d columns: %d heads", c.levels, c.columns, n)
		}
	}
}

func TestMessageTreeLines(t *testing.T) {
	at := func(i int) *int { return &i }
	tree := &workspace.MessageTree{Runs: []workspace.StraightRun{
		{First: "m1", Last: "m4", Count: 4, Head: "m2", Message: saying("Where to?")},
		{First: "m5", Last: "m5", Count: 1, Parent: at(0), Message: saying("")},
		{First: "m6", Last: "m7", Count: 2, Parent: at(1), Message: saying("By train,\n please.")},
		{First: "m8", Last: "m8", Count: 1, Parent: at(1), Head: "m8", Message: saying("By \x1b[2Jboat")},
		{First: "m9", Last: "mA", Count: 2000, Parent: at(0), Message: saying("Home")},
		{First: "mB", Last: "mB", Count: 1, Orphan: true, Message: saying("Lost")},
	}}
	want := `m1 … m4 (4 messages) Where to? * at m2
├─ m5
│  ├─ m6 … m7 (2 messages) By train, please.
│  └─ m8 By ` + "\ufffd" + `[2Jboat *
└─ m9 … mA (2,000 messages) Home
mB (parent missing; treated as a root) Lost
`
	if got := printed(0, func(p *program) { p.messageTree(tree) }); got != want {
		t.Errorf("the drawing is\n%s\nwant\n%s", got, want)
	}
}

func TestBranchesTable(t *testing.T) {
	const a, b, c = "0f3c2b1a-0000-4000-8000-000000000000", "7d3c2b1a-0000-4000-8000-000000000000", "7d3c2b1a-0000-4000-8000-000000000001"
	list := &workspace.Branches{Leaves: []workspace.Leaf{
		{ID: a, Depth: 6, CreatedAt: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), Newest: true, Message: saying("What if we take the train to the sea instead?")},
		{ID: b, Depth: 12345, CreatedAt: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), Head: true, Message: saying("")},
	}, Head: b}
	for _, columns := range []int{0, 80, 40} {
		out := printed(columns, func(p *program) { p.branches(list) })
		lines := strings.Split(out, "\n")
		if len(lines) != 4 || !strings.HasPrefix(lines[1], "  0f3c2b1a      6  ") || !strings.HasPrefix(lines[2], "* 7d3c2b1a  12345  ") || strings.HasSuffix(lines[2], " ") {
			t.Errorf("on %d columns the list is\n%s", columns, out)
		}
		for _, l := range lines {
			if columns > 0 && width(l) > columns {
				t.Errorf("a line has %d columns of %d: %s", width(l), columns, l)
			}
		}
	}
	list.Leaves[0].ID = c
	if out := printed(0, func(p *program) { p.branches(list) }); !strings.Contains(out, "  "+c+" ") || !strings.Contains(out, "* "+b+" ") {
		t.Errorf("ids with a common prefix are shortened in\n%s", out)
	}
}
