package index_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
)

// TestGaps holds the results if sessions are missing.
func TestGaps(t *testing.T) {
	const snapshot = `"flattened_snapshot":true,"branched_from":%q,"lineage":[%s]`
	branch := func(from string, lineage ...string) string {
		var list []string
		for _, id := range lineage {
			list = append(list, `"`+id+`"`)
		}
		return fmt.Sprintf(snapshot, from, strings.Join(list, ","))
	}
	for _, c := range []struct {
		name     string
		metadata map[string]string
		of       string
		lineage  string
		line     string
		missing  string // "id from", of the line and, without a snapshot above, of the lineage
		whole    bool   // the lineage is complete nevertheless
	}{
		{"a branch of a missing session", map[string]string{"b": branch("g", "r", "g")}, "b", "r g b", "b", "", true},
		{"a branch of a missing session, without a recorded lineage", map[string]string{"b": branch("g")}, "b", "g b", "b", "", true},
		{"a branch of a missing branch", map[string]string{"r": "", "b": branch("g", "r", "g")}, "b", "r g b", "b", "", true},
		{"a continuation of a branch of a missing session", map[string]string{"b": branch("g", "r", "g"), "c": `"continued_from":"b"`}, "c", "r g b c", "b c", "", true},
		{"a branch of a branch of a missing session", map[string]string{"b": branch("g", "r", "g"), "d": branch("b", "r", "g", "b")}, "d", "r g b d", "d", "", true},
		{"a branch of a continuation of a missing session", map[string]string{"c": `"continued_from":"g"`, "b": branch("c", "r", "g", "c")}, "b", "r g c b", "b", "", true},
		{"a branch of a continuation of a missing session, with a short lineage", map[string]string{"c": `"continued_from":"g"`, "b": branch("c", "c")}, "b", "c b", "b", "", true},
		{"a continuation of a missing session", map[string]string{"c": `"continued_from":["g"]`}, "c", "c", "c", "g c", false},
		{"further down", map[string]string{"r": "", "c": `"continued_from":"g"`, "d": `"continued_from":"c"`, "e": `"continued_from":"d"`}, "e", "c d e", "c d e", "g c", false},
	} {
		f := newFolder(t)
		for i, id := range slices.Sorted(maps.Keys(c.metadata)) {
			f.session(id, i, c.metadata[id])
		}
		x := f.load()
		check := func(what string, got []string, want string, err error, missing string) {
			t.Helper()
			if s := strings.Join(got, " "); s != want {
				t.Errorf("%s: the %s is %q, want %q", c.name, what, s, want)
			}
			var gone *index.MissingError
			switch {
			case missing == "" && err != nil:
				t.Errorf("%s: the %s: %v", c.name, what, err)
			case missing != "" && (!errors.As(err, &gone) || gone.ID+" "+gone.From != missing):
				t.Errorf("%s: the %s: %v, want %q missing", c.name, what, err, missing)
			}
		}
		lineage, err := x.Lineage(c.of)
		missing := c.missing
		if c.whole {
			missing = ""
		}
		check("lineage", lineage, c.lineage, err, missing)
		line, err := x.Line(c.of)
		check("line", line, c.line, err, c.missing)
	}
}

func TestCycles(t *testing.T) {
	f := newFolder(t)
	f.session("a", 1, `"continued_from":["c"]`)
	f.session("b", 2, `"continued_from":["a"]`)
	f.session("c", 3, `"continued_from":["b"]`)
	f.session("below", 4, `"continued_from":["c"]`)
	f.session("self", 5, `"continued_from":"self"`)
	f.session("s", 6, `"branched_from":"t","flattened_snapshot":true`)
	f.session("t", 7, `"continued_from":"s"`)
	f.session("fine", 8, ``)
	x := f.load()
	for id, want := range map[string][]string{
		"a": {"a", "b", "c"}, "b": {"a", "b", "c"}, "c": {"a", "b", "c"}, "below": {"a", "b", "c"}, "self": {"self"}, "s": {"s", "t"}, "t": {"s", "t"},
	} {
		var ring *index.CycleError
		if _, err := x.Lineage(id); !errors.As(err, &ring) || !slices.Equal(slices.Sorted(slices.Values(ring.IDs)), want) {
			t.Errorf("lineage of %s: %v, want a cycle of %q", id, err, want)
		}
		if id == "s" || id == "t" {
			want := []string{"s", "t"}
			if line, err := x.Line(id); err != nil || !slices.Equal(line, want) {
				t.Errorf("line of %s: %q, %v, want %q: a snapshot begins a line", id, line, err, want)
			}
			continue
		}
		if line, err := x.Line(id); !errors.As(err, &ring) || !slices.Equal(slices.Sorted(slices.Values(ring.IDs)), want) {
			t.Errorf("line of %s: %q, %v, want a cycle of %q", id, line, err, want)
		}
	}
	if lineage, err := x.Lineage("fine"); err != nil || !slices.Equal(lineage, []string{"fine"}) {
		t.Errorf("lineage of a session in no cycle: %q, %v", lineage, err)
	}
	if parents := x.Parents(); len(parents) != 0 {
		t.Errorf("parents in rings: %v", parents)
	}
	f.save(x)
	f.healthy("rings")
}

func TestParents(t *testing.T) {
	f := newFolder(t)
	f.session("r", 1, ``)
	f.session("c", 2, `"continued_from":"r"`)
	f.session("b", 3, `"branched_from":"gone","lineage":["r","c","gone"],"flattened_snapshot":true`)
	f.session("lost", 4, `"branched_from":"gone","flattened_snapshot":true`)
	f.session("torn", 5, `"continued_from":"alsogone"`)
	got := f.load().Parents()
	want := map[string]string{"c": "r", "b": "c"}
	if !maps.Equal(got, want) {
		t.Errorf("parents are %v, want %v", got, want)
	}
}

// TestAliases: an origin may be one of Penguin's checkpoints.
func TestAliases(t *testing.T) {
	f := newFolder(t)
	f.session("r", 1, ``)
	f.session("b", 2, `"branched_from":"cp_1","lineage":["r"],"flattened_snapshot":true`)
	f.session("cp_2", 3, ``)
	f.session("d", 4, `"branched_from":"cp_2","flattened_snapshot":true`)
	f.aliases = map[string]string{"cp_1": "r", "cp_2": "r"}
	x := f.load()
	for id, want := range map[string][]string{"b": {"r", "b"}, "d": {"cp_2", "d"}} {
		if got, err := x.Lineage(id); err != nil || !slices.Equal(got, want) {
			t.Errorf("lineage of %s is %q, %v, want %q", id, got, err, want)
		}
	}
	if x.Origin("b") != "r" || x.Origin("r") != "" || x.Origin("unknown") != "" {
		t.Errorf("origins are %q, %q, %q", x.Origin("b"), x.Origin("r"), x.Origin("unknown"))
	}
	if got := x.Children("r"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("the children of r are %q", got)
	}
}

// TestDamagedOrigin: a file that cannot be used is reported with its damage.
func TestDamagedOrigin(t *testing.T) {
	f := newFolder(t)
	f.session("c", 2, `"continued_from":"r"`)
	f.write("r.json", `{"messages":[`)
	x := f.load()
	for what, ask := range map[string]func(string) ([]string, error){"lineage": x.Lineage, "line": x.Line} {
		var damage *session.DamageError
		got, err := ask("c")
		if !errors.As(err, &damage) || damage.Path != "conversations/r.json" || !slices.Equal(got, []string{"c"}) {
			t.Errorf("the %s is %q, %v, want c and the damage of r", what, got, err)
		}
	}
}
