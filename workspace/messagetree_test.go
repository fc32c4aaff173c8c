package workspace_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

func (s *space) messageTree(name string) *workspace.MessageTree {
	s.t.Helper()
	tree, err := s.MessageTree(s.t.Context(), name, session.ReadOptions{})
	if err != nil {
		s.t.Fatalf("MessageTree(%q): %v", name, err)
	}
	return tree
}

// runs formats straight runs as FIRST..LAST count parent flags.
func runs(tree *workspace.MessageTree) string {
	var list []string
	for _, r := range tree.Runs {
		text := fmt.Sprintf("%s..%s %d", r.First, r.Last, r.Count)
		if r.Parent != nil {
			text += fmt.Sprint(" <", *r.Parent)
		}
		for _, flag := range []struct {
			set  bool
			mark string
		}{{r.Orphan, "?"}, {r.Leaf, "."}, {r.Newest, "!"}} {
			if flag.set {
				text += flag.mark
			}
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func TestMessageTree(t *testing.T) {
	t.Parallel()
	said := func(id string, more ...string) string {
		var metadata string
		if len(more) > 0 {
			metadata = `"parent_id":` + more[0]
		}
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-01-01T00:00:0%cZ","metadata":{%s}}`, id, id[1], metadata)
	}
	for _, c := range []struct {
		name     string
		messages []string
		want     string
	}{
		{"nothing", nil, ""},
		{"one message", []string{said("m1")}, "m1..m1 1.!"},
		{"one run", []string{said("m1"), said("m2"), said("m3")}, "m1..m3 3.!"},
		{"a fork", []string{said("m1"), said("m2"), said("m3"), said("m4"), said("m5"), said("m6"), said("m7", `"m2"`), said("m8")},
			"m1..m2 2, m3..m6 4 <0., m7..m8 2 <0.!"},
		{"the older first, in any order", []string{said("m1"), said("m5"), said("m6"), said("m3", `"m1"`), said("m4")},
			"m1..m1 1, m3..m4 2 <0., m5..m6 2 <0.!"},
		{"forks below a fork", []string{said("m1"), said("m2"), said("m3"), said("m4", `"m2"`), said("m5"), said("m6", `"m1"`), said("m7", `"m4"`), said("m8", `"m4"`)},
			"m1..m1 1, m2..m2 1 <0, m3..m3 1 <1., m4..m4 1 <1, m5..m5 1 <3., m7..m7 1 <3., m8..m8 1 <3.!, m6..m6 1 <0."},
		{"roots and orphans", []string{said("m2"), said("m3", `"gone"`), said("m4"), said("m1", `null`)},
			"m1..m1 1., m2..m2 1., m3..m4 2?.!"},
	} {
		s := openSpace(t, t.TempDir(), 0)
		s.messages("a", "", c.messages...)
		tree := s.messageTree("a")
		if got := runs(tree); got != c.want {
			t.Errorf("%s: the runs are\n%s\nwant\n%s", c.name, got, c.want)
		}
		checkRuns(t, s, "a", len(c.messages))
	}
}

// TestMessageTreeFork: the runs of M1 to M8 do not depend on the files.
func TestMessageTreeFork(t *testing.T) {
	t.Parallel()
	for _, f := range forks() {
		s := openSpace(t, t.TempDir(), f.limit)
		first := f.begin(s)
		ids := map[string]string{}
		for _, m := range s.show(first).Messages {
			ids[m.Text()] = m.ID
		}
		side := s.append(workspace.Append{Session: first, Parent: ids["M2"], Text: "M7"})
		ids["M7"] = side.Message
		ids["M8"] = s.append(workspace.Append{Session: first, Parent: side.Message, Text: "M8"}).Message
		want := fmt.Sprintf("%s..%s 2, %s..%s 4 <0., %s..%s 2 <0.!", ids["M1"], ids["M2"], ids["M3"], ids["M6"], ids["M7"], ids["M8"])
		for _, name := range s.line(first) {
			tree := s.messageTree(name)
			if got := runs(tree); got != want || tree.Session != first {
				t.Errorf("%s: the runs of %s are\n%s\nwant\n%s", f.name, tree.Session, got, want)
			}
			if r := tree.Runs[1]; r.Depth != 6 || r.Message.Text() != "M3" || !r.LastActive.After(r.CreatedAt) {
				t.Errorf("%s: the second run is %+v", f.name, r)
			}
			if r := tree.Runs[2]; r.Depth != 4 || r.Message.Text() != "M7" {
				t.Errorf("%s: the third run is %+v", f.name, r)
			}
		}
		checkRuns(t, s, first, 8)
	}
}

func TestMessageTreeJSON(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.write(session.FileName("a"), `{"created_at":"2026-01-01T00:00:00Z","messages":[`+
		`{"id":"x","timestamp":"2026-01-01T00:00:01+00:00"},{"id":"y"},{"id":"z","timestamp":"2026-01-01T00:00:03Z","metadata":{"parent_id":"x"}}]}`)
	s.new("Empty")
	for name, want := range map[string]string{
		"a": `{"session_id":"a","runs":[` +
			`{"first":"x","last":"x","count":1,"parent":null,"parent_id":null,"depth":1,"created_at":"2026-01-01T00:00:01.000000+00:00","last_active":"2026-01-01T00:00:01.000000+00:00","orphan":false,"leaf":false,"newest":false,"joined":[],"head_node_id":null,"replaced_by":null,"sub_agents":[],"merges":[],"role":"","text":"","bookmarks":[]},` +
			`{"first":"y","last":"y","count":1,"parent":0,"parent_id":"x","depth":2,"created_at":"2026-01-01T00:00:00.000000+00:00","last_active":"2026-01-01T00:00:00.000000+00:00","orphan":false,"leaf":true,"newest":false,"joined":[],"head_node_id":null,"replaced_by":null,"sub_agents":[],"merges":[],"role":"","text":"","bookmarks":[]},` +
			`{"first":"z","last":"z","count":1,"parent":0,"parent_id":"x","depth":2,"created_at":"2026-01-01T00:00:03.000000+00:00","last_active":"2026-01-01T00:00:03.000000+00:00","orphan":false,"leaf":true,"newest":true,"joined":[],"head_node_id":null,"replaced_by":null,"sub_agents":[],"merges":[],"role":"","text":"","bookmarks":[]}]}`,
		"Empty": fmt.Sprintf(`{"session_id":%q,"runs":[]}`, s.messageTree("Empty").Session),
	} {
		got, err := json.Marshal(s.messageTree(name))
		if err != nil || string(got) != want {
			t.Errorf("the tree of %s is\n%s, %v, want\n%s", name, got, err, want)
		}
	}
}

// checkRuns checks the message tree of a conversation against its leaves: each message is
// in one run, a run that is not a leaf has two or more children, and the leaf runs are the
// branches.
func checkRuns(t *testing.T, s *space, name string, messages int) {
	t.Helper()
	tree := s.messageTree(name)
	children := make([]int, len(tree.Runs))
	total := 0
	depths := map[string]int{}
	for i, r := range tree.Runs {
		total += r.Count
		above := 0
		if r.Parent != nil {
			if *r.Parent >= i {
				t.Fatalf("run %d comes before its parent %d", i, *r.Parent)
			}
			children[*r.Parent]++
			above = tree.Runs[*r.Parent].Depth
		}
		if len(r.Messages) != r.Count || r.Messages[0].ID != r.First || r.Messages[r.Count-1].ID != r.Last {
			t.Errorf("run %d has the messages %v, not %d from %s to %s", i, r.Messages, r.Count, r.First, r.Last)
		}
		if path := tree.PathTo(r.Last); len(path) != r.Depth || path[r.Depth-1].ID != r.Last {
			t.Errorf("the path to %s has %d messages, not %d", r.Last, len(path), r.Depth)
		}
		if r.Depth != above+r.Count {
			t.Errorf("run %d is %d deep, below one of %d and with %d messages", i, r.Depth, above, r.Count)
		}
		if r.Leaf {
			depths[r.Last] = r.Depth
		}
	}
	for i, n := range children {
		if n == 1 || (n == 0) != tree.Runs[i].Leaf {
			t.Errorf("run %d has %d children: %+v", i, n, tree.Runs[i])
		}
	}
	leaves := s.branches(name).Leaves
	for _, leaf := range leaves {
		if depths[leaf.ID] != leaf.Depth {
			t.Errorf("leaf %s is %d deep, in the tree %d", leaf.ID, leaf.Depth, depths[leaf.ID])
		}
	}
	if total != messages || len(leaves) != len(depths) {
		t.Errorf("the runs hold %d messages and %d leaves, want %d and %d", total, len(depths), messages, len(leaves))
	}
}

// TestMessageTreeAny checks the trees of conversations with branches at random messages.
func TestMessageTreeAny(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		s := openSpace(t, t.TempDir(), 0)
		var messages []string
		for n := range 1 + random.IntN(40) {
			metadata := ""
			switch random.IntN(8) {
			case 0, 1, 2:
				metadata = fmt.Sprintf(`"parent_id":"m%d"`, random.IntN(n+1)/2)
			case 3:
				metadata = `"parent_id":null`
			}
			if metadata == fmt.Sprintf(`"parent_id":"m%d"`, n) {
				metadata = ""
			}
			messages = append(messages, fmt.Sprintf(`{"id":"m%d","timestamp":"2026-01-01T00:00:%02dZ","metadata":{%s}}`, n, random.IntN(60), metadata))
		}
		s.messages("a", "", messages...)
		checkRuns(t, s, "a", len(messages))
	}
}

// TestMessageTreeDeep: a conversation with a branch at each message, and one whose first
// message has many answers. A quadratic algorithm takes minutes here, and recursion per
// level overflows the stack.
func TestMessageTreeDeep(t *testing.T) {
	t.Parallel()
	n := testsize.Of(1_001, 3_001, 100_001)
	for name, c := range map[string]struct {
		parent func(i int) int
		runs   int
	}{
		"a comb":   {func(i int) int { return max(0, (i-1)/2*2-1) }, n},
		"a brush":  {func(int) int { return 0 }, n},
		"straight": {func(i int) int { return i - 1 }, 1},
	} {
		s := openSpace(t, t.TempDir(), 0)
		messages := make([]string, n)
		messages[0] = `{"id":"m0"}`
		for i := 1; i < n; i++ {
			messages[i] = fmt.Sprintf(`{"id":"m%d","timestamp":"2026-01-01T00:00:00Z","metadata":{"parent_id":"m%d"}}`, i, c.parent(i))
		}
		s.messages("a", "", messages...)
		tree := s.messageTree("a")
		leaves := s.branches("a").Leaves
		ends := 0
		for _, r := range tree.Runs {
			if r.Leaf {
				ends++
			}
		}
		if len(tree.Runs) != c.runs || ends != len(leaves) {
			t.Errorf("%s: %d runs, %d leaves, want %d and %d", name, len(tree.Runs), ends, c.runs, len(leaves))
		}
		deepest := slices.MaxFunc(leaves, func(a, b workspace.Leaf) int { return a.Depth - b.Depth })
		if got := len(s.show("a@" + deepest.ID).Messages); got != deepest.Depth {
			t.Errorf("%s: the path to a leaf has %d messages, want %d", name, got, deepest.Depth)
		}
		data, err := json.Marshal(tree)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back workspace.MessageTree
		if err := json.Unmarshal(data, &back); err != nil || len(back.Runs) != len(tree.Runs) {
			t.Errorf("%s: the encoded tree decodes to %d runs, %v", name, len(back.Runs), err)
		}
	}
}
