package page

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"golang.org/x/net/html"
)

// rowsOf returns the rows of the tree, as kinds with titles, indented by level.
func (d *drawn) rowsOf() string {
	var b strings.Builder
	for _, n := range d.with("role", "treeitem") {
		var level int
		fmt.Sscan(attr(n, "aria-level"), &level)
		fmt.Fprintf(&b, "%s%s %s", strings.Repeat("  ", level-1), attr(n, "data-kind"), words(d.name(n)))
		if attr(n, "aria-selected") == "true" {
			b.WriteString(" <")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// name returns the element with the title of a row.
func (d *drawn) name(row *html.Node) *html.Node {
	for n := range row.Descendants() {
		if attr(n, "class") == "name" {
			return n
		}
	}
	d.t.Fatal("a row has no title")
	return nil
}

// TestSidebar holds the rows of the tree for each view and filter.
func TestSidebar(t *testing.T) {
	s := tell(t)
	for _, c := range []struct{ path, rows string }{
		{"/", `session Where do trams go?
session A weekend in Lisbon <
  fork One museum, no more. And I would like to see the sea.
    branch Or stay in Lisbon: Cacilhas is ten minutes by ferry.
  bookmark the sea
  checkpoint Before the sea
  copy Only museums
`},
		{"/c/" + lisbon + "?leaf=" + s.fork, "branch Or stay in Lisbon: Cacilhas is ten minutes by ferry. <"},
		{"/c/" + s.branch, "copy Only museums <"},
		{"/k/" + s.checkpoint, "checkpoint Before the sea <"},
		{"/piece/tree?text=museums", "session A weekend in Lisbon\n  copy Only museums\n"},
		{"/piece/tree?filter=bookmarks&session=" + lisbon, "  bookmark the sea\n"},
		{"/piece/tree?filter=people&session=" + lisbon, "  message I have two days in Lisbon and good shoes. What should I do?\n"},
		{"/piece/tree?root=session/" + s.branch, "copy Only museums"},
		{"/piece/tree?root=session/nothing", ""},
	} {
		d := draw(t, s.Workspace, c.path)
		if rows := d.rowsOf(); !strings.Contains(rows, c.rows) || c.rows == "" && rows != "" {
			t.Errorf("%s has the rows\n%s", c.path, rows)
		}
		focusable := 0
		for _, n := range d.with("role", "treeitem") {
			if attr(n, "tabindex") == "0" {
				focusable++
			}
			if p := n.Parent; attr(p, "role") != "tree" && attr(p, "role") != "group" {
				t.Errorf("%s: a row is in %s", c.path, p.Data)
			}
		}
		if c.rows != "" && focusable != 1 {
			t.Errorf("%s has %d rows with the focus", c.path, focusable)
		}
	}
	d := draw(t, s.Workspace, "/c/"+lisbon+"?root=session%2F"+lisbon)
	if rows := d.rowsOf(); strings.Contains(rows, "trams") || !strings.Contains(rows, "Only museums") {
		t.Errorf("the tree of one conversation has the rows\n%s", rows)
	}
	if back := d.find(func(n *html.Node) bool { return words(n) == "All conversations" && n.Data == "a" }); len(back) != 1 || attr(back[0], "href") != "/c/"+lisbon {
		t.Error("there is no way back to all conversations")
	}
	answer(t, s.Workspace, "/piece/tree?filter=nothing", 400, nil)
	// Links of a hoisted tree keep it.
	for _, n := range d.class("row") {
		for a := range n.Descendants() {
			if a.Data == "a" && !strings.Contains(attr(a, "href"), "root="+url.QueryEscape("session/"+lisbon)) {
				t.Errorf("%s leaves the tree", attr(a, "href"))
			}
		}
	}
}

// TestRecentTrees: the trees that were active last are listed, and that of the session
// that is shown.
func TestRecentTrees(t *testing.T) {
	var f workspace.Forest
	at := time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	for i := range maxRoots + 10 {
		e := workspace.TreeEntry{Entry: workspace.Entry{ID: fmt.Sprint("s", i), Kind: session.Root, LastActive: at.Add(time.Duration(i) * time.Hour)}}
		f.Roots = append(f.Roots, e)
	}
	// The first tree is the oldest, but a branch of it is new.
	f.Roots[0].Children = []workspace.TreeEntry{{Entry: workspace.Entry{ID: "b", Kind: session.Branch, LastActive: at.Add(1e6 * time.Hour)}}}
	recent, more := recentTrees(&f, ancestors(f.Roots, "s3"))
	if len(recent.Roots) != maxRoots || more != 10 || recent.Roots[0].ID != "s3" || recent.Roots[1].ID != "s0" || recent.Roots[2].ID != fmt.Sprint("s", maxRoots+9) {
		t.Errorf("%d trees, %d more: %s, %s, %s", len(recent.Roots), more, recent.Roots[0].ID, recent.Roots[1].ID, recent.Roots[2].ID)
	}
	if all, more := recentTrees(&workspace.Forest{Roots: f.Roots[:3]}, nil); len(all.Roots) != 3 || more != 0 {
		t.Errorf("of 3 trees %d are listed, %d more", len(all.Roots), more)
	}
}

// TestMatches: a text that many rows have sends some of them.
func TestMatches(t *testing.T) {
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const extra = 7
	for i := range maxMatches + extra {
		if _, err := w.New(t.Context(), fmt.Sprint("Bread ", i)); err != nil {
			t.Fatal(err)
		}
	}
	d := draw(t, w, "/piece/tree?text=bread")
	if n := len(d.with("role", "treeitem")); n != maxMatches {
		t.Errorf("%d rows are sent", n)
	}
	if cut := d.find(func(n *html.Node) bool {
		return n.Data == "p" && words(n) == fmt.Sprint(extra, " more rows are not listed; a longer text finds them.")
	}); len(cut) != 1 {
		t.Error("the tree does not say how many rows are missing")
	}
	if n := len(draw(t, w, "/piece/tree?text=bread+20").with("role", "treeitem")); n != 8 {
		t.Errorf("%d rows match a longer text", n)
	}
}
