package session_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
)

// A part is one file of a line, in short.
type part struct {
	id, metadata string
	messages     []string
}

func decodeParts(t *testing.T, parts []part) []*session.Session {
	t.Helper()
	list := make([]*session.Session, len(parts))
	for i, p := range parts {
		list[i] = decode(t, p.id, file(p.metadata, p.messages...))
	}
	return list
}

// newTree builds the tree of sessions in memory.
func newTree(parts ...*session.Session) (*session.Tree, error) {
	var outlines []*session.Outline
	for _, s := range parts {
		outlines = append(outlines, s.Outline)
	}
	return session.NewTree(outlines, func(o *session.Outline) (*session.Session, error) {
		return parts[slices.Index(outlines, o)], nil
	})
}

func tree(t *testing.T, parts []part) *session.Tree {
	t.Helper()
	tree, err := newTree(decodeParts(t, parts)...)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// edges formats every node of a tree as id<parent, or id~parent if it is joined:
// "-" for a root, "?" for an orphan.
func edges(t *session.Tree) string {
	var list []string
	for n := range t.Len() {
		parent := "-"
		if t.Orphan(n) {
			parent = "?"
		}
		sign := "<"
		if t.Parent(n) >= 0 {
			parent = t.ID(t.Parent(n))
		}
		if t.Joined(n) {
			sign = "~"
		}
		list = append(list, t.ID(n)+sign+parent)
	}
	return strings.Join(list, " ")
}

func pathIDs(t *session.Tree, at int) string {
	var list []string
	for _, n := range t.Path(at) {
		list = append(list, t.ID(n))
	}
	return strings.Join(list, " ")
}

// m is a message without metadata, under one with a parent, late a message that was
// appended after its file had been continued. joined has the raw JSON value parent
// as its parent_id and is joined to another message, replaced is replaced by
// another, and marker ends a header.
func m(id string) string             { return message(id, "") }
func under(parent, id string) string { return message(id, fmt.Sprintf(`"parent_id":%q`, parent)) }
func late(parent, id string) string {
	return message(id, fmt.Sprintf(`"parent_id":%q,"bough":{"continued":true}`, parent))
}
func joined(parent, to, id string) string {
	return message(id, fmt.Sprintf(`"parent_id":%s,"bough":{"joined":%q}`, parent, to))
}
func replaced(parent, by, id string) string {
	if parent != "" {
		parent = fmt.Sprintf(`"parent_id":%q,`, parent)
	}
	return message(id, fmt.Sprintf(`%s"bough":{"replaced_by":%q}`, parent, by))
}
func marker(previous, more string) string {
	return message("marker of "+previous, fmt.Sprintf(`"type":"session_transition","previous_session":%q%s`, previous, more))
}

func TestTree(t *testing.T) {
	const fromP = `"continued_from":"p"`
	p := part{"p", "", []string{m("a"), m("b"), m("c")}}
	for _, c := range []struct {
		name  string
		parts []part
		want  string
	}{
		{"no files", nil, ""},
		{"no messages", []part{{"p", "", nil}}, ""},
		{"one after the other", []part{p}, "a<- b<a c<b"},
		{"a parent", []part{{"p", "", []string{m("a"), m("b"), under("a", "c"), m("d")}}}, "a<- b<a c<a d<c"},
		{"a parent further down", []part{{"p", "", []string{under("c", "a"), m("b"), message("c", `"parent_id":null`)}}}, "a<c b<a c<-"},
		{"null", []part{{"p", "", []string{m("a"), message("b", `"parent_id":null`), m("c")}}}, "a<- b<- c<b"},
		{"no string", []part{{"p", "", []string{m("a"), message("b", `"parent_id":7`), message("c", `"parent_id":""`)}}}, "a<- b<- c<-"},
		{"a missing parent", []part{{"p", "", []string{m("a"), under("x", "b"), m("c")}}}, "a<- b<? c<b"},
		{"an escaped name", []part{{"p", "", []string{m("a"), m("b"), message("c", `"parent\u005fid":"\u0061"`)}}}, "a<- b<a c<a"},
		{"a parent deeper in the metadata", []part{{"p", "", []string{m("a"), m("b"), message("c", `"x":{"parent_id":"a"}`)}}}, "a<- b<a c<b"},

		{"a header", []part{p, {"q", fromP, []string{m("h1"), m("h2"), marker("p", ""), m("d"), m("e")}}},
			"a<- b<a c<b d<c e<d"},
		{"a header with older markers", []part{p, {"q", fromP, []string{marker("o", ""), m("h"), marker("p", ""), m("d")}}},
			"a<- b<a c<b d<c"},
		{"a header in bough's dialect", []part{p, {"q", `"continued_from":["p"]`, []string{m("h"), marker("p", ""), m("d")}}},
			"a<- b<a c<b d<c"},
		{"no header", []part{p, {"q", fromP, []string{m("d"), m("e")}}}, "a<- b<a c<b d<c e<d"},
		{"a marker for another", []part{p, {"q", fromP, []string{marker("x", ""), m("d")}}}, "a<- b<a c<b marker of x<c d<marker of x"},
		{"only a header", []part{p, {"q", fromP, []string{m("h"), marker("p", "")}}}, "a<- b<a c<b"},
		{"a marker with a parent", []part{p, {"q", fromP, []string{marker("p", `,"parent_id":"b"`), m("d"), m("e")}}},
			"a<- b<a c<b d<b e<d"},
		{"a marker with a missing parent", []part{p, {"q", fromP, []string{marker("p", `,"parent_id":"x"`), m("d")}}},
			"a<- b<a c<b d<c"},
		{"a marker with a null parent", []part{p, {"q", fromP, []string{marker("p", `,"parent_id":null`), m("d")}}},
			"a<- b<a c<b d<c"},
		{"a marker in a root", []part{{"p", "", []string{m("a"), marker("p", ""), m("b")}}}, "a<- marker of p<a b<marker of p"},
		{"a marker in a snapshot", []part{{"s", `"continued_from":["p"],"flattened_snapshot":true`, []string{m("a"), marker("p", ""), m("b")}}},
			"a<- marker of p<a b<marker of p"},

		{"a late branch", []part{
			{"p", "", []string{m("a"), m("b"), late("a", "x"), m("y")}},
			{"q", fromP, []string{m("h"), marker("p", ""), m("c")}},
		}, "a<- b<a x<a y<x c<b"},
		{"a branch that is not late", []part{
			{"p", "", []string{m("a"), m("b"), under("a", "x")}},
			{"q", fromP, []string{marker("p", ""), m("c")}},
		}, "a<- b<a x<a c<x"},
		{"only late messages", []part{
			{"o", "", []string{m("a")}},
			{"p", `"continued_from":"o"`, []string{marker("o", ""), late("a", "x")}},
			{"q", fromP, []string{marker("p", ""), m("c")}},
		}, "a<- x<a c<a"},
		{"three files, the second empty", []part{
			p,
			{"q", fromP, []string{m("h"), marker("p", "")}},
			{"r", `"continued_from":"q"`, []string{m("h"), marker("p", ""), marker("q", ""), m("d")}},
		}, "a<- b<a c<b d<c"},
		{"two continuations", []part{
			p,
			{"q", fromP, []string{marker("p", ""), m("d")}},
			{"r", fromP, []string{marker("p", `,"parent_id":"a"`), m("e")}},
			{"s", `"continued_from":"q"`, []string{marker("q", ""), m("f")}},
		}, "a<- b<a c<b d<c e<a f<d"},
		{"a file that is missing", []part{p, {"r", `"continued_from":"q"`, []string{m("h"), marker("q", ""), m("e"), m("f")}}},
			"a<- b<a c<b e<- f<e"},
		{"a parent in an earlier file", []part{p, {"q", fromP, []string{marker("p", ""), m("d"), under("b", "e"), m("f")}}},
			"a<- b<a c<b d<c e<b f<e"},
		{"a parent in a header", []part{p, {"q", fromP, []string{m("h"), marker("p", ""), under("h", "d")}}},
			"a<- b<a c<b d<?"},

		{"joined, the parent null", []part{{"p", "", []string{m("a"), m("b"), joined("null", "b", "c"), m("d")}}}, "a<- b<a c~b d<c"},
		{"joined, with a missing parent", []part{{"p", "", []string{m("a"), m("b"), joined(`"x"`, "a", "c"), m("d")}}}, "a<- b<a c~a d<c"},
		{"joined, with an existing parent", []part{{"p", "", []string{m("a"), m("b"), joined(`"a"`, "b", "c")}}}, "a<- b<a c<a"},
		{"joined, the parent further down", []part{{"p", "", []string{m("a"), joined(`"x"`, "a", "c"), message("x", `"parent_id":null`)}}}, "a<- c<x x<-"},
		{"joined, no parent named", []part{{"p", "", []string{m("a"), m("b"), message("c", `"bough":{"joined":"a"}`)}}}, "a<- b<a c<b"},
		{"joined to a missing message", []part{{"p", "", []string{m("a"), joined(`"x"`, "y", "b"), joined("null", "y", "c")}}}, "a<- b<? c<-"},
		{"joined to a later message", []part{{"p", "", []string{m("a"), joined("null", "c", "b"), message("c", `"parent_id":"a"`)}}}, "a<- b~c c<a"},
		{"joined to itself", []part{{"p", "", []string{m("a"), joined(`"x"`, "b", "b"), joined("null", "c", "c")}}}, "a<- b<? c<-"},
		{"joined to its descendant", []part{{"p", "", []string{joined("null", "c", "a"), m("b"), m("c")}}}, "a<- b<a c<b"},
		{"joined to each other", []part{{"p", "", []string{joined("null", "b", "a"), joined(`"x"`, "a", "b"), m("c")}}}, "a<- b~a c<b"},
		{"joined below a cycle of joins", []part{{"p", "", []string{joined("null", "c", "a"), m("b"), joined("null", "b", "c"), joined("null", "c", "d")}}}, "a<- b<a c~b d~c"},
		{"joined to an earlier file", []part{p, {"q", fromP, []string{marker("p", ""), joined(`"x"`, "b", "d"), m("e")}}}, "a<- b<a c<b d~b e<d"},
		{"joined, the nearest", []part{p, {"q", fromP, []string{marker("p", ""), message("b", `"x":1`), joined("null", "b", "d")}}}, "a<- b<a c<b b<c d~b"},
		{"joined, no text", []part{{"p", "", []string{m("a"), message("b", `"parent_id":null,"bough":{"joined":7}`), message("c", `"parent_id":null,"bough":"joined"`)}}}, "a<- b<- c<-"},
		{"joined, escaped and twice", []part{{"p", "", []string{m("a"), m("b"), message("c", `"parent_id":null,"bo\u0075gh":{"j\u006fined":"\u0061","joined":"b"}`)}}}, "a<- b<a c~a"},

		{"the same message twice", []part{p, {"q", fromP, []string{marker("p", ""), m("c"), m("d")}}}, "a<- b<a c<b d<c"},
		{"the same message twice, apart", []part{p, {"q", fromP, []string{marker("p", ""), m("d"), m("a"), m("e")}}}, "a<- b<a c<b d<c e<a"},
		{"another message under the same id", []part{p, {"q", fromP, []string{marker("p", ""), message("b", `"x":1`), m("d")}}},
			"a<- b<a c<b b<c d<b"},
		{"a parent with a duplicate id", []part{p, {"q", fromP, []string{marker("p", ""), message("a", `"x":1`), under("a", "d")}}},
			"a<- b<a c<b a<c d<a"},
	} {
		if got := edges(tree(t, c.parts)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestTreeNearest: if two messages have the same id, a parent_id names the one in
// its own file, else the nearest above.
func TestTreeNearest(t *testing.T) {
	tr := tree(t, []part{
		{"p", "", []string{m("a"), under("a", "b")}},
		{"q", `"continued_from":"p"`, []string{marker("p", ""), message("a", `"x":1`), under("a", "c")}},
		{"r", `"continued_from":"q"`, []string{marker("q", ""), under("a", "d")}},
	})
	if got := tr.Find("a"); len(got) != 2 {
		t.Fatalf("a is at %v, want two nodes", got)
	}
	for id, want := range map[string]int{"b": tr.Find("a")[0], "c": tr.Find("a")[1], "d": tr.Find("a")[1]} {
		if got := tr.Parent(tr.Find(id)[0]); got != want {
			t.Errorf("the parent of %s is node %d, want %d", id, got, want)
		}
	}
}

// TestTreeSnapshotContinued: a late message of the source is not late in a snapshot
// that copied it, which Penguin's marker continues at its end.
func TestTreeSnapshotContinued(t *testing.T) {
	got := edges(tree(t, []part{
		{"s", `"branched_from":"p","branch_point":"x","flattened_snapshot":true`, []string{m("a"), late("a", "x")}},
		{"t", `"continued_from":"s"`, []string{m("h"), marker("s", ""), m("c")}},
	}))
	if want := "a<- x<a c<x"; got != want {
		t.Errorf("edges are %s, want %s", got, want)
	}
}

// TestTreeFrozen: if another program continued a checkpoint, the messages that it
// first appended to the checkpoint are part of the path.
func TestTreeFrozen(t *testing.T) {
	edit := decode(t, "s", sealed(m("a"), m("b"))).Edit()
	edit.Append([]byte(m("c")))
	tr, err := newTree(
		decode(t, "s", edit.Edited()),
		decode(t, "q", file(`"continued_from":"s"`, m("h"), marker("s", ""), m("d"))),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := edges(tr), "a<- b<a c<b d<c"; got != want {
		t.Errorf("edges are %s, want %s", got, want)
	}
}

func TestTreeCycles(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []part
		ring  []string // the messages in it
	}{
		{"itself", []part{{"p", "", []string{m("a"), under("b", "b")}}}, []string{"b"}},
		{"each other", []part{{"p", "", []string{under("b", "a"), m("b")}}}, []string{"a", "b"}},
		{"over two files", []part{
			{"p", "", []string{under("d", "a"), m("b")}},
			{"q", `"continued_from":"p"`, []string{marker("p", ""), m("d")}},
		}, []string{"a", "b", "d"}},
		{"below a complete path", []part{{"p", "", []string{m("r"), m("s"), under("c", "a"), m("b"), m("c")}}}, []string{"a", "b", "c"}},
	} {
		_, err := newTree(decodeParts(t, c.parts)...)
		var damage *session.DamageError
		if !errors.As(err, &damage) {
			t.Errorf("%s: %v, want a *DamageError", c.name, err)
			continue
		}
		for _, p := range c.parts {
			if damage.Path != session.FileName(p.id) {
				continue
			}
			rest := string(file(p.metadata, p.messages...))[damage.Offset:]
			if !slices.ContainsFunc(c.ring, func(id string) bool {
				return strings.HasPrefix(rest, `{"role":"user","content":"text of `+id+`"`) && strings.Contains(damage.Problem, `"`+id+`"`)
			}) {
				t.Errorf("%s: %v, want one of %q at its place", c.name, err, c.ring)
			}
		}
	}
}
