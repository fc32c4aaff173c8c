package blame_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/blame"
)

// back returns the origins of the lines of the newest of some versions, which are newest first.
func back(versions ...string) []int {
	t := blame.New(versions[0])
	for i, v := range versions[1:] {
		t.Back(v, i)
	}
	return t.Origins()
}

// TestBack: a line is of the version that brought it.
func TestBack(t *testing.T) {
	for _, c := range []struct {
		versions []string // newest first
		want     []int
	}{
		{[]string{"a\nb\n", "a\n", ""}, []int{1, 0}},
		{[]string{"a\nb", "a\nb\n", ""}, []int{1, 0}}, // the last line lost its line break
		{[]string{"a\n", "a\n", "b\n"}, []int{1}},
		{[]string{"a\nx\nb\n", "a\nb\n"}, []int{blame.None, 0, blame.None}},
		{[]string{"b\na\n", "a\nb\n", ""}, []int{1, 0}},
		{[]string{"}\n\nf\n}\n\ng\n}\n", "}\n\ng\n}\n", ""}, []int{1, 1, 0, 0, 0, 1, 1}},
		{[]string{"}\n}\nU\n", "U\n}\n}\n", ""}, []int{0, 0, 1}}, // a unique line counts more than a brace
		{[]string{"", "a\n"}, []int{}},
		{[]string{"ab\n", "b\n", ""}, []int{0}}, // the end of a line is not a line
		{[]string{"c", "b\nc", ""}, []int{1}},
	} {
		if got := back(c.versions...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.versions, got, c.want)
		}
	}
}

// TestUndo: edits are taken back as far as the text has them.
func TestUndo(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		edits func(*blame.Trace)
		want  []int
	}{
		{"found", "a\nnew one\nb\n", func(t *blame.Trace) { t.Undo("old one\n", "new one\n", false, 1) }, []int{-1, 1, -1}},
		{"context", "a\nnew\nb\n", func(t *blame.Trace) { t.Undo("a\nb\n", "a\nnew\nb\n", false, 1) }, []int{-1, 1, -1}},
		{"all", "x\na\nx\n", func(t *blame.Trace) { t.Undo("y\n", "x\n", true, 1) }, []int{1, -1, 1}},
		{"the place where old is unique", "x = 1\nkeep\nx = 1\nend\n", func(t *blame.Trace) { t.Undo("keep\nold\nend\n", "keep\nx = 1\nend\n", false, 1) }, []int{-1, -1, 1, -1}},
		{"changed since", "first()\n}\n\nother()\n", func(t *blame.Trace) { t.Undo("", "first()\n}\nsecond()\n", false, 1) }, []int{1, 1, -1, -1}},
		{"later edits first", "three\n", func(t *blame.Trace) { t.Undo("two\n", "three\n", false, 2); t.Undo("one\n", "two\n", false, 1) }, []int{2}},
		{"deleted only", "a\n", func(t *blame.Trace) { t.Undo("b\n", "", false, 1) }, []int{-1}},
		{"rewritten", "kept line\nadded line\nmine\n", func(t *blame.Trace) {
			t.Rewrite("kept line\nadded line\n", 2)
			t.Rewrite("kept line\n", 1)
		}, []int{1, 2, -1}},
		{"moved in a rewritten one", "second line\nfirst line\n", func(t *blame.Trace) { t.Rewrite("first line\nsecond line\n", 1) }, []int{1, 1}},
		{"moved before it was rewritten", "second line\nfirst line\n", func(t *blame.Trace) {
			t.Rewrite("first line\nsecond line\n", 2)
			t.Undo("", "first line\n", false, 1)
		}, []int{2, 1}},
		{"only some lines", "a\nb\n", func(t *blame.Trace) { t.Only(1, 1); t.Back("", 1) }, []int{-1, 1}},
	} {
		tr := blame.New(c.text)
		c.edits(tr)
		if got := tr.Origins(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// FuzzBack: each line of the text that an older version has as a unique line, in the same order,
// is not of the change between; and a line that it lacks is.
func FuzzBack(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\n")
	f.Add("}\nx\n}\n", "}\n}")
	f.Fuzz(func(t *testing.T, text, older string) {
		tr := blame.New(text)
		tr.Back(older, 7)
		if tr.Text() != older {
			t.Fatalf("reached %q", tr.Text())
		}
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, line)
		}
		origins := tr.Origins()
		if len(origins) != len(lines) {
			t.Fatalf("%d origins of %d lines", len(origins), len(lines))
		}
		there := map[string]int{}
		for line := range strings.Lines(older) {
			there[line]++
		}
		kept := map[string]int{}
		for i, line := range lines {
			if origins[i] == blame.None {
				kept[line]++
			}
		}
		for line, n := range kept {
			if n > there[line] {
				t.Fatalf("%d lines %q are kept of %d", n, line, there[line])
			}
		}
		if open := tr.Open(); open != len(lines)-count(origins, 7) {
			t.Fatalf("%d lines are open", open)
		}
	})
}

func count(list []int, value int) (n int) {
	for _, v := range list {
		if v == value {
			n++
		}
	}
	return n
}

func TestLikeness(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"", "", 0}, {"a\n", "a\n", 1}, {"a\nb\n", "a\nc\n", 0.5}, {"a\na\n", "a\n", 2. / 3}} {
		if got := blame.Likeness(c.a, c.b); got != c.want {
			t.Errorf("Likeness(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

// BenchmarkBack follows a file of 2,000 lines through 1,000 versions, each of which changes
// three lines.
func BenchmarkBack(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("\tline %d of the first version\n", i))
	}
	versions := []string{strings.Join(lines, "")}
	for i := range 1000 {
		for j := range 3 {
			lines[r.IntN(len(lines))] = fmt.Sprintf("\tline %d of version %d\n", j, i)
		}
		versions = append(versions, strings.Join(lines, ""))
	}
	slices.Reverse(versions)
	for b.Loop() {
		back(versions...)
	}
}
