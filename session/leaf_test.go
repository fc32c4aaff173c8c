package session_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

// at is a message with a time, and members of its metadata.
func at(id, time, metadata string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":%q,"metadata":{%s}}`, id, time, metadata)
}

func TestNewest(t *testing.T) {
	inZone(t, 2)
	const fromP = `"continued_from":"p"`
	for _, c := range []struct {
		name  string
		parts []part
		of    int
		want  string // the id, "" for none
	}{
		{"an empty file", []part{{"p", "", nil}}, 0, ""},
		{"the last message", []part{{"p", "", []string{m("a"), m("b")}}}, 0, "b"},
		{"the last message of two branches", []part{{"p", "", []string{m("a"), m("b"), m("c"), under("a", "d")}}}, 0, "d"},
		{"a clock that ran backwards", []part{{"p", "", []string{at("a", "2026-01-01T00:00:00", ""), at("b", "2026-01-03T00:00:00", ""), at("c", "2026-01-02T00:00:00", `"parent_id":"a"`)}}}, 0, "b"},
		{"the same time", []part{{"p", "", []string{m("a"), at("b", "2026-01-01T12:00:00", ""), at("c", "2026-01-01T12:00:00", `"parent_id":"a"`), at("d", "2026-01-01T11:00:00", `"parent_id":"a"`)}}}, 0, "c"},
		{"one time that cannot be read", []part{{"p", "", []string{m("a"), at("b", "0001-01-01T00:00:00Z", ""), at("c", "noon", `"parent_id":"a"`)}}}, 0, "b"},
		{"no time that can be read", []part{{"p", "", []string{m("a"), at("b", "noon", ""), at("c", "", `"parent_id":"a"`)}}}, 0, "c"},
		{"a message that is replaced", []part{{"p", "", []string{m("a"), at("b", "2026-01-03T00:00:00", `"bough":{"replaced_by":"c"}`), at("c", "2026-01-02T00:00:00", `"parent_id":"a"`)}}}, 0, "c"},
		{"a continuation", []part{{"p", "", []string{m("a"), m("b")}}, {"q", fromP, []string{marker("p", ""), m("c")}}}, 0, "c"},
		{"an empty continuation", []part{{"p", "", []string{m("a"), m("b")}}, {"q", fromP, []string{marker("p", "")}}}, 0, "b"},
		{"of an empty continuation", []part{{"p", "", []string{m("a"), m("b")}}, {"q", fromP, []string{marker("p", `,"parent_id":"a"`)}}}, 1, "a"},
		{"a later branch in the first file", []part{
			{"p", "", []string{at("a", "2026-01-01T00:00:00", ""), at("b", "2026-01-01T00:00:01", ""), at("x", "2026-01-01T00:00:03", `"parent_id":"a","bough":{"continued":true}`)}},
			{"q", fromP, []string{marker("p", ""), at("c", "2026-01-01T00:00:02", "")}},
		}, 0, "x"},
		{"the same, asked of the continuation", []part{
			{"p", "", []string{at("a", "2026-01-01T00:00:00", ""), at("x", "2026-01-01T00:00:03", `"parent_id":"a","bough":{"continued":true}`)}},
			{"q", fromP, []string{marker("p", ""), at("c", "2026-01-01T00:00:02", "")}},
		}, 1, "c"},
		{"an earlier branch in the first file", []part{
			{"p", "", []string{at("a", "2026-01-01T00:00:00", ""), at("x", "2026-01-01T00:00:01", `"parent_id":"a","bough":{"continued":true}`)}},
			{"q", fromP, []string{marker("p", ""), at("c", "2026-01-01T00:00:02", "")}},
		}, 0, "c"},
		{"the same time in two zones", []part{
			{"p", "", []string{at("a", "2026-01-01T00:00:00Z", ""), at("x", "2026-01-01T12:00:00Z", `"parent_id":"a","bough":{"continued":true}`)}},
			{"q", fromP, []string{marker("p", ""), at("c", "2026-01-01T14:00:00", "")}},
		}, 0, "c"},
		{"naive and zoned times", []part{
			{"p", "", []string{at("a", "2026-01-01T00:00:00Z", ""), at("x", "2026-01-01T12:00:00.000001Z", `"parent_id":"a","bough":{"continued":true}`)}},
			{"q", fromP, []string{marker("p", ""), at("c", "2026-01-01T14:00:00", "")}},
		}, 0, "x"},
		{"one without a time", []part{
			{"p", "", []string{m("a"), at("x", "2026-01-01T12:00:00", `"parent_id":"a","bough":{"continued":true}`)}},
			{"q", fromP, []string{marker("p", ""), m("c")}},
		}, 0, "x"},
		{"no times", []part{
			{"p", "", []string{m("a"), message("x", `"metadata":{"parent_id":"a","bough":{"continued":true}}`)}},
			{"q", fromP, []string{marker("p", ""), m("c")}},
		}, 0, "c"},
		{"two continuations", []part{
			{"p", "", []string{m("a")}},
			{"q", fromP, []string{marker("p", ""), at("b", "2026-01-02T00:00:00", "")}},
			{"r", fromP, []string{marker("p", ""), at("c", "2026-01-01T00:00:00", "")}},
			{"s", `"continued_from":"r"`, []string{marker("r", ""), at("d", "2026-01-01T00:00:01", "")}},
		}, 0, "b"},
		{"of the second continuation", []part{
			{"p", "", []string{m("a")}},
			{"q", fromP, []string{marker("p", ""), at("b", "2026-01-02T00:00:00", "")}},
			{"r", fromP, []string{marker("p", ""), at("c", "2026-01-01T00:00:00", "")}},
			{"s", `"continued_from":"r"`, []string{marker("r", ""), at("d", "2026-01-01T00:00:01", "")}},
		}, 2, "d"},
	} {
		tr := tree(t, c.parts)
		got := ""
		if n := tr.Newest(c.of); n >= 0 {
			got = tr.ID(n)
		}
		if got != c.want {
			t.Errorf("%s: the newest leaf is %q, want %q", c.name, got, c.want)
		}
	}
	if n := tree(t, nil).Newest(0); n != -1 {
		t.Errorf("the newest leaf of an empty tree is %d, want -1", n)
	}
}

func TestPathsAndRuns(t *testing.T) {
	tr := tree(t, []part{
		{"p", "", []string{m("a"), m("b"), m("c"), under("b", "d")}},
		{"q", `"continued_from":"p"`, []string{m("h"), marker("p", `,"parent_id":"c"`), m("e"), under("b", "f"), m("g")}},
	})
	node := func(id string) int { return tr.Find(id)[0] }
	for id, want := range map[string]string{"a": "a", "c": "a b c", "d": "a b d", "e": "a b c e", "g": "a b f g"} {
		if got := pathIDs(tr, node(id)); got != want {
			t.Errorf("the path to %s is %s, want %s", id, got, want)
		}
	}
	if path := tr.Path(-1); len(path) != 0 {
		t.Errorf("the path to no node is %v", path)
	}
	p, q := tr.Parts[0], tr.Parts[1]
	for id, want := range map[string][]session.Run{
		"c": {{Part: p, From: 0, To: 3}},
		"d": {{Part: p, From: 0, To: 2}, {Part: p, From: 3, To: 4}},
		"e": {{Part: p, From: 0, To: 3}, {Part: q, From: 2, To: 3}},
		"g": {{Part: p, From: 0, To: 2}, {Part: q, From: 3, To: 5}},
	} {
		if got := tr.Runs(node(id)); !reflect.DeepEqual(got, want) {
			t.Errorf("the runs of the path to %s are %v, want %v", id, got, want)
		}
	}
	children := tr.Children()
	for id, want := range map[string]string{"a": "b", "b": "c d f", "c": "e", "f": "g", "g": ""} {
		var list []string
		for _, n := range children[node(id)] {
			list = append(list, tr.ID(n))
		}
		if got := strings.Join(list, " "); got != want {
			t.Errorf("the children of %s are %q, want %q", id, got, want)
		}
	}
	for p, want := range []string{"d", "g"} {
		if got := tr.ID(tr.Follows(p)); got != want {
			t.Errorf("a message added to part %d follows %s, want %s", p, got, want)
		}
	}
	if n := tree(t, []part{{"p", "", nil}}).Follows(0); n != -1 {
		t.Errorf("a message added to an empty file follows %d, want -1", n)
	}
}

// checkLeaves verifies the leaves of a tree against its edges: they are the nodes
// without children, and their number is that of the roots plus one for each
// additional child of a node.
func checkLeaves(t *testing.T, tr *session.Tree) {
	t.Helper()
	want := 0
	var without []int
	for n, children := range tr.Children() {
		if tr.Parent(n) < 0 {
			want++
		}
		want += max(0, len(children)-1)
		if len(children) > 0 {
			continue
		}
		if by, replaced := tr.Replaced(n); !replaced {
			without = append(without, n)
		} else if want--; tr.Parent(by) != tr.Parent(n) || by <= n {
			t.Errorf("node %d is replaced by %d, which is not a later sibling", n, by)
		}
	}
	leaves := tr.Leaves()
	if !slices.Equal(leaves, without) || len(leaves) != want {
		t.Errorf("the leaves are %v, want %d, %v", leaves, want, without)
	}
	for _, n := range leaves {
		if !tr.IsLeaf(n) {
			t.Errorf("node %d is listed as a leaf and is not one", n)
		}
	}
}

// leaves formats the leaves of a tree as id:depth.
func leaves(tr *session.Tree) string {
	depths := tr.Depths()
	var list []string
	for _, n := range tr.Leaves() {
		list = append(list, fmt.Sprint(tr.ID(n), ":", depths[n]))
	}
	return strings.Join(list, " ")
}

func TestLeaves(t *testing.T) {
	const fromP, fromQ, fromR = `"continued_from":"p"`, `"continued_from":"q"`, `"continued_from":"r"`
	for _, c := range []struct {
		name  string
		parts []part
		want  string // in the order of the nodes
	}{
		{"nothing", nil, ""},
		{"an empty file", []part{{"p", "", nil}}, ""},
		{"one path", []part{{"p", "", []string{m("1"), m("2"), m("3")}}}, "3:3"},
		{"a fork", []part{{"p", "", []string{m("1"), m("2"), m("3"), m("4"), m("5"), m("6"), under("2", "7"), m("8")}}}, "6:6 8:4"},
		{"two roots", []part{{"p", "", []string{m("1"), m("2"), message("3", `"parent_id":null`), m("4")}}}, "2:2 4:2"},
		{"an orphan", []part{{"p", "", []string{m("1"), under("gone", "2"), m("3")}}}, "1:1 3:2"},
		{"a parent further down", []part{{"p", "", []string{under("3", "1"), under("1", "2"), message("3", `"parent_id":null`)}}}, "2:3"},
		{"a fork in the second of four files", []part{
			{"p", "", []string{m("h"), m("1")}},
			{"q", fromP, []string{m("h2"), marker("p", `,"parent_id":"1"`), m("2"), m("3"), late("2", "7"), m("8")}},
			{"r", fromQ, []string{m("h3"), marker("q", `,"parent_id":"3"`), m("4"), m("5")}},
			{"s", fromR, []string{m("h4"), marker("r", `,"parent_id":"5"`), m("6")}},
		}, "8:5 6:7"},
		{"a fork that continues in a separate file", []part{
			{"p", "", []string{m("1"), m("2"), m("3"), late("2", "7")}},
			{"q", fromP, []string{marker("p", `,"parent_id":"3"`), m("4")}},
			{"r", fromP, []string{marker("p", `,"parent_id":"7"`), m("8")}},
		}, "4:4 8:4"},
		{"an empty continuation", []part{{"p", "", []string{m("1")}}, {"q", fromP, []string{marker("p", "")}}}, "1:1"},
		{"a file that is missing", []part{{"p", "", []string{m("1"), m("2")}}, {"r", fromQ, []string{m("h"), marker("q", ""), m("5")}}}, "2:2 5:1"},
		{"a message that is replaced", []part{{"p", "", []string{m("1"), replaced("", "3", "2"), under("1", "3"), m("4")}}}, "4:3"},
		{"by an end", []part{{"p", "", []string{m("1"), replaced("", "3", "2"), under("1", "3")}}}, "3:2"},
		{"replaced and answered", []part{{"p", "", []string{m("1"), replaced("", "3", "2"), under("1", "3"), under("2", "4")}}}, "3:2 4:3"},
		{"by a missing message", []part{{"p", "", []string{m("1"), replaced("", "5", "2"), under("1", "3")}}}, "2:2 3:2"},
		{"by another branch", []part{{"p", "", []string{m("1"), replaced("", "4", "2"), under("1", "3"), m("4")}}}, "2:2 4:3"},
		{"by an earlier message", []part{{"p", "", []string{m("1"), m("2"), replaced("1", "2", "3")}}}, "2:2 3:2"},
		{"by each other", []part{{"p", "", []string{m("1"), replaced("", "3", "2"), replaced("1", "2", "3")}}}, "3:2"},
		{"by itself", []part{{"p", "", []string{m("1"), replaced("", "2", "2")}}}, "2:2"},
		{"in a chain", []part{{"p", "", []string{m("1"), replaced("", "3", "2"), replaced("1", "4", "3"), under("1", "4")}}}, "4:2"},
		{"in another file", []part{{"p", "", []string{m("1"), replaced("", "3", "2")}}, {"q", fromP, []string{marker("p", ""), under("1", "3")}}}, "3:2"},
		{"two messages under one id", []part{{"p", "", []string{m("1"), m("2")}}, {"q", fromP, []string{marker("p", ""), message("1", `"x":1`)}}}, "1:3"},
	} {
		tr := tree(t, c.parts)
		checkLeaves(t, tr)
		if got := leaves(tr); got != c.want {
			t.Errorf("%s: the leaves are %q, want %q", c.name, got, c.want)
		}
	}
}

// TestDeepTree builds, walks and searches lines of 100,000 messages. A quadratic
// algorithm takes minutes here.
func TestDeepTree(t *testing.T) {
	n := testsize.Of(5_000, 50_000, 100_000)
	for _, c := range []struct {
		name               string
		metadata           func(i int) string
		root, leaf, length int
	}{
		{"without parents", func(i int) string { return "" }, 0, n - 1, n},
		{"each with a parent", func(i int) string { return fmt.Sprintf(`"parent_id":"%d"`, i-1) }, 0, n - 1, n},
		{"the last one a root", func(i int) string { return fmt.Sprintf(`"parent_id":"%d"`, i+1) }, n - 1, 0, n},
		{"all under one", func(i int) string { return `"parent_id":"0"` }, 0, n - 1, 2},
		{"two under each", func(i int) string { return fmt.Sprintf(`"parent_id":"%d"`, max(0, (i-1)/2*2-1)) }, 0, n - 1, n/2 + 1},
	} {
		messages := make([]string, n)
		for i := range messages {
			metadata := `"parent_id":null`
			if i != c.root {
				metadata = c.metadata(i)
			}
			messages[i] = fmt.Sprintf(`{"id":"%d","metadata":{%s}}`, i, metadata)
		}
		tr := tree(t, []part{{"p", "", messages}})
		leaf := tr.Newest(0)
		path := tr.Path(leaf)
		children := tr.Children()
		if leaf != c.leaf || len(path) != c.length || path[0] != c.root || len(children[leaf]) != 0 {
			t.Errorf("%s: the path to leaf %d has %d messages from %d, want leaf %d, %d messages from %d",
				c.name, leaf, len(path), path[0], c.leaf, c.length, c.root)
		}
		if depth := tr.Depths()[leaf]; depth != c.length {
			t.Errorf("%s: leaf %d is %d deep, want %d", c.name, leaf, depth, c.length)
		}
		checkLeaves(t, tr)
	}
}

// TestChildrenOldestFirst: the continuation of a file is older than the messages
// that were appended to the file later.
func TestChildrenOldestFirst(t *testing.T) {
	q := part{"q", `"continued_from":"p"`, []string{marker("p", ""), m("c"), m("d")}}
	for _, c := range []struct {
		name     string
		messages []string
		want     string // the children of b
	}{
		{"no fork", []string{m("a"), m("b")}, "c"},
		{"late", []string{m("a"), m("b"), late("b", "e"), late("b", "f")}, "c e f"},
		{"before", []string{m("a"), m("b"), under("b", "e"), under("a", "f"), late("b", "g")}, "e g"},
		{"another after it", []string{m("a"), m("b"), late("b", "e"), late("a", "f"), late("b", "g")}, "c e g"},
	} {
		tr := tree(t, []part{{"p", "", c.messages}, q})
		var list []string
		for _, n := range tr.Children()[tr.Find("b")[0]] {
			list = append(list, tr.ID(n))
		}
		if got := strings.Join(list, " "); got != c.want {
			t.Errorf("%s: the children are %q, want %q", c.name, got, c.want)
		}
	}
}

func TestStored(t *testing.T) {
	for metadata, want := range map[string]bool{
		``:                                     false,
		`"bough":{"format":"openai"}`:          true,
		`"bough":{"format":""}`:                true,
		`"bo\u0075gh":{"format":"anthropic"}`:  true,
		`"bough":{"format":7}`:                 false,
		`"bough":{"meta":{"format":"openai"}}`: false,
		`"bough":"format"`:                     false,
		`"x":{"bough":{"format":"openai"}}`:    false,
	} {
		s := decode(t, "s", file("", m("a"), message("b", metadata)))
		if s.Stored(0) || s.Stored(1) != want {
			t.Errorf("with %s a message is stored: %v, want %v", metadata, s.Stored(1), want)
		}
		edited := decode(t, "t", file("", m("c"))).Edit()
		edited.Append([]byte(message("b", metadata)))
		if o := decode(t, "t", edited.Edited()); o.Stored(1) != want {
			t.Errorf("with %s a message that is added is stored: %v, want %v", metadata, o.Stored(1), want)
		}
	}
}
