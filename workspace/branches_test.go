package workspace_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

func (s *space) branches(name string) *workspace.Branches {
	s.t.Helper()
	b, err := s.Branches(s.t.Context(), name, workspace.BranchesOptions{Messages: true})
	if err != nil {
		s.t.Fatalf("Branches(%q): %v", name, err)
	}
	return b
}

// leaves writes leaves as text:depth, the newest with "!", the one at the head with
// "*".
func (s *space) leaves(name string) string {
	s.t.Helper()
	var list []string
	for _, leaf := range s.branches(name).Leaves {
		text := fmt.Sprint(leaf.Message.Text(), ":", leaf.Depth)
		if leaf.Newest {
			text += "!"
		}
		if leaf.Head {
			text += "*"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// A fork is a way to keep the conversation M1 to M6, of which M2 is going to be
// answered again.
type fork struct {
	name  string
	limit int
	files int // at first, and when M7 and M8 are there
	after int
	begin func(s *space) (first string)
}

func forks() []fork {
	say := func(s *space) string {
		first := s.new("Fork")
		s.say("M1", "M2", "M3", "M4", "M5", "M6")
		return first
	}
	files := func(s *space) string {
		said := func(text string) string {
			return fmt.Sprintf(`{"id":%q,"role":"user","content":%[1]q,"timestamp":"2026-05-25T15:00:0%[2]c+00:00","metadata":{}}`, text, text[1])
		}
		after := func(id string) string {
			return fmt.Sprintf(`{"id":"after %s","role":"system","metadata":{"type":"session_transition","previous_session":%[1]q}}`, id)
		}
		const header = `{"id":"%s","role":"system","category":"SYSTEM","content":"prompt"}`
		s.messages("f1", `"title":"Fork","continued_to":"f2"`, said("M1"))
		s.messages("f2", `"continued_from":"f1","continued_to":"f3"`, fmt.Sprintf(header, "h2"), after("f1"), said("M2"), said("M3"))
		s.messages("f3", `"continued_from":"f2","continued_to":"f4"`, fmt.Sprintf(header, "h3"), after("f2"), said("M4"), said("M5"))
		s.messages("f4", `"continued_from":"f3"`, fmt.Sprintf(header, "h4"), after("f3"), said("M6"))
		return "f1"
	}
	return []fork{
		{"in one file", 0, 1, 1, say},
		{"at the end of a file", 2, 3, 4, say},
		{"in the second of four files", 0, 4, 4, files},
		{"in the second of four files, which is full then", 3, 4, 5, files},
		{"in files of one message", 1, 6, 7, say},
	}
}

// line returns the files of the line that a session begins, each after the one that
// it continues.
func (s *space) line(first string) []string {
	s.t.Helper()
	ids := []string{first}
	for i := 0; i < len(ids); i++ {
		ids = append(ids, s.entry(ids[i]).ContinuedTo...)
	}
	return ids
}

// TestBranches is the example of M1 to M8: M2 is answered by M3 and by M7, and each
// answer leads to a leaf of its own.
func TestBranches(t *testing.T) {
	for _, f := range forks() {
		t.Run(f.name, func(t *testing.T) {
			s := openSpace(t, t.TempDir(), f.limit)
			first := f.begin(s)
			if got := s.line(first); len(got) != f.files {
				t.Fatalf("the line has the files %q, want %d", got, f.files)
			}
			ids := map[string]string{}
			for _, m := range s.show(first).Messages {
				ids[m.Text()] = m.ID
			}
			if got := strings.TrimSuffix(s.leaves(first), "*"); got != "M6:6!" {
				t.Errorf("before the fork the leaves are %s", got)
			}

			before := map[string]*session.Session{}
			for _, id := range s.line(first) {
				before[id] = s.session(id)
			}
			ids["M7"] = s.append(workspace.Append{Session: first, Parent: ids["M2"], Text: "M7"}).Message
			ids["M8"] = s.append(workspace.Append{Session: first, Parent: ids["M7"], Text: "M8", Role: "assistant"}).Message
			added := 0
			for _, id := range s.line(first) {
				is, was := s.session(id), before[id]
				switch {
				case was == nil:
					added += len(is.Messages) - is.Header
				case string(region(is, 0, len(was.Messages))) != string(region(was, 0, len(was.Messages))):
					t.Errorf("the messages of %s are now\n%s", id, region(is, 0, len(is.Messages)))
				default:
					added += len(is.Messages) - len(was.Messages)
				}
			}
			if added != 2 || len(s.line(first)) != f.after {
				t.Errorf("two messages add %d, and make the files %q", added, s.line(first))
			}

			// Whichever file is named, the whole line counts.
			for _, name := range append(s.line(first), "Fork") {
				if got := strings.ReplaceAll(s.leaves(name), "*", ""); got != "M6:6 M8:4!" {
					t.Errorf("the leaves of %s are %s", name, got)
				}
				list := s.branches(name).Leaves
				if list[0].ID != ids["M6"] || list[1].ID != ids["M8"] {
					t.Errorf("the leaves of %s are %+v", name, list)
				}
				for path, want := range map[string]string{"M6": "M1 M2 M3 M4 M5 M6", "M8": "M1 M2 M7 M8", "M7": "M1 M2 M7", "M2": "M1 M2"} {
					if got := s.texts(name + "@" + ids[path]); got != want {
						t.Errorf("the path to %s in %s is %s", path, name, got)
					}
				}
			}
			uuid := session.UUID(first)
			for _, leaf := range s.branches(first).Leaves {
				if leaf.UUID != session.MessageUUID(uuid, leaf.ID) || !strings.Contains(s.read(session.FileName(leaf.Session)), leaf.Message.ID) {
					t.Errorf("a leaf is %+v", leaf)
				}
			}

			s.snapshots(first, ids)
			s.rewindAndUndo(first, ids)
			healthy(t, s)
		})
	}
}

// snapshots takes a checkpoint and a copy branch of each path of the fork, and
// leaves the line as it was.
func (s *space) snapshots(first string, ids map[string]string) {
	s.t.Helper()
	line := map[string]string{}
	for _, id := range s.line(first) {
		line[id] = s.read(session.FileName(id))
	}
	for leaf, want := range map[string]string{"M6": "M1 M2 M3 M4 M5 M6", "M8": "M1 M2 M7 M8"} {
		for verb, snap := range map[string]*workspace.Snapshot{"checkpoint": s.checkpoint(first + "@" + ids[leaf]), "branch": s.branch(first + "@" + ids[leaf])} {
			if got := s.texts(snap.ID); got != want {
				s.t.Errorf("a %s of the path to %s holds %s", verb, leaf, got)
			}
			depth := len(strings.Fields(want))
			if got := strings.ReplaceAll(s.leaves(snap.ID), "*", ""); got != fmt.Sprint(leaf, ":", depth, "!") {
				s.t.Errorf("the leaves of a %s of the path to %s are %s", verb, leaf, got)
			}
			for i, m := range s.session(snap.ID).Messages {
				if !strings.Contains(strings.Join(slices.Collect(maps.Values(line)), ""), string(m.Raw)) {
					s.t.Errorf("message %d of a %s of the path to %s is in no file of the line: %s", i, verb, leaf, m.Raw)
				}
			}
		}
	}
	for id, was := range line {
		if s.read(session.FileName(id)) != was {
			s.t.Errorf("%s changed", id)
		}
	}
}

// rewindAndUndo begins a third branch at M2 from the head, and takes it back.
func (s *space) rewindAndUndo(first string, ids map[string]string) {
	s.t.Helper()
	was := s.truth()
	if _, err := s.Rewind(s.t.Context(), first+"@"+ids["M2"], workspace.CutOptions{}); err != nil {
		s.t.Fatal(err)
	}
	if b := s.branches(first); b.Head != ids["M2"] || b.Leaves[0].Head || b.Leaves[1].Head {
		s.t.Errorf("at M2 the head is %+v", b)
	}
	third := s.append(workspace.Append{Text: "M9"})
	if string(third.Parent) != ids["M2"] {
		s.t.Errorf("M9 answers %s", third.Parent)
	}
	if got := s.leaves(first); got != "M6:6 M8:4 M9:3!*" {
		s.t.Errorf("with a third branch the leaves are %s", got)
	}
	if got := s.texts(first); got != "M1 M2 M9" {
		s.t.Errorf("the newest path is %s", got)
	}
	for range 2 {
		if _, err := s.undo(""); err != nil {
			s.t.Fatal(err)
		}
	}
	sameFiles(s.t, "undo of the third branch", was, s.truth())
	if got := strings.ReplaceAll(s.leaves(first), "*", ""); got != "M6:6 M8:4!" {
		s.t.Errorf("after undo the leaves are %s", got)
	}
}

// TestBranchesJSON: over HTTP and from the command the answer is this, and nothing
// more.
func TestBranchesJSON(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	s.messages("a", ``,
		`{"id":"M1","timestamp":"2026-01-01T00:00:01+00:00"}`, `{"id":"M2","timestamp":"2026-01-01T00:00:02.5Z"}`,
		`{"id":"M3","timestamp":"2026-01-01T01:00:03.123456789+01:00","metadata":{"parent_id":"M1"}}`)
	s.new("Empty")
	for name, want := range map[string]string{
		"a": `{"leaves":[{"message_id":"M2","depth":2,"created_at":"2026-01-01T00:00:02.500000+00:00"},` +
			`{"message_id":"M3","depth":2,"created_at":"2026-01-01T00:00:03.123456+00:00"}]}`,
		"Empty": `{"leaves":[]}`,
	} {
		got, err := json.Marshal(s.branches(name))
		if err != nil || string(got) != want {
			t.Errorf("the branches of %s are %s, %v, want %s", name, got, err, want)
		}
	}
	if b, err := s.Branches(t.Context(), "a", workspace.BranchesOptions{}); err != nil || b.Leaves[0].Message.Raw != nil {
		t.Errorf("without its messages the answer is %+v, %v", b, err)
	}
}

// TestBranchesOrder: by time, whatever the place; and what says no time is of the
// time when the conversation began.
func TestBranchesOrder(t *testing.T) {
	said := func(id, time, parent string) string {
		return fmt.Sprintf(`{"id":%q,"content":%[1]q,"timestamp":%q,"metadata":{"parent_id":%q}}`, id, time, parent)
	}
	silent := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"content":%[1]q,"metadata":{"parent_id":"r"}}`, id)
	}
	const root = `{"id":"r","content":"r","timestamp":"2026-01-01T10:00:00Z"}`
	for _, c := range []struct {
		name     string
		messages []string
		want     string
	}{
		{"by time", []string{root, said("a", "2026-01-03", "r"), said("b", "2026-01-02", "r"), said("c", "2026-01-04", "r")}, "b a c!"},
		{"the same time", []string{root, said("b", "2026-01-02T00:00:00Z", "r"), said("a", "2026-01-02T01:00:00+01:00", "r")}, "b a!"},
		{"no time", []string{root, said("a", "2026-01-02", "r"), silent("b"), silent("c")}, "b c! a"},
		{"a time that is none", []string{root, said("a", "2026-01-02", "r"), said("b", "soon", "r")}, "b! a"},
		{"before the beginning", []string{root, said("a", "2026-01-01T09:00:00Z", "r"), silent("b"), said("c", "2026-01-01T09:59:00Z", "r")}, "a b c!"},
		{"at the beginning", []string{root, said("a", "2026-01-01T09:30:00Z", "r"), silent("b")}, "b! a"},
		{"two roots and an orphan", []string{root, said("b", "2026-01-02", "gone"), `{"id":"c","content":"c","timestamp":"2026-01-01T11:00:00Z","metadata":{"parent_id":null}}`}, "r c! b"},
	} {
		s := openSpace(t, t.TempDir(), 0)
		s.write(session.FileName("a"), fmt.Sprintf(`{"created_at":"2026-01-01T09:30:00Z","messages":[%s]}`, strings.Join(c.messages, ",")))
		var list []string
		last := ""
		for _, leaf := range s.branches("a").Leaves {
			text := leaf.Message.Text()
			if leaf.Newest {
				text += "!"
			}
			list = append(list, text)
			if leaf.CreatedAt < last {
				t.Errorf("%s: %s is of %s, after one of %s", c.name, leaf.ID, leaf.CreatedAt, last)
			}
			last = leaf.CreatedAt
		}
		if got := strings.Join(list, " "); got != c.want {
			t.Errorf("%s: the leaves are %s, want %s", c.name, got, c.want)
		}
	}
}

// TestBranchesCheckpoint: a checkpoint has the branches of what was frozen, which is
// one.
func TestBranchesCheckpoint(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("")
	ids := s.say("a", "b")
	s.append(workspace.Append{Session: root, Parent: ids[0], Text: "c"})
	point := s.checkpoint(root + "@" + ids[1])
	s.sayForeign(point.ID, `{"id":"x","content":"x"}`)
	if got := s.leaves(point.ID); got != "b:2!" {
		t.Errorf("the leaves of the checkpoint are %s", got)
	}
	if tree, err := s.MessageTree(t.Context(), point.ID, workspace.ReadOptions{}); err != nil || len(tree.Runs) != 1 || tree.Runs[0].Count != 2 || !tree.Runs[0].Newest {
		t.Errorf("the tree of the checkpoint is %+v, %v", tree, err)
	}
	if got := s.leaves(root); got != "b:2 c:2!*" {
		t.Errorf("the leaves of the conversation are %s", got)
	}
}

// TestBranchesHead: the head is where the next message goes that names no session.
func TestBranchesHead(t *testing.T) {
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("")
	ids := s.say("a", "b", "c", "d")
	check := func(what, name, want string) {
		t.Helper()
		if got := s.branches(name).Head; got != want {
			t.Errorf("%s: the head is %q, want %q", what, got, want)
		}
		tree, err := s.MessageTree(t.Context(), name, workspace.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		in := ""
		for _, run := range tree.Runs {
			in += run.Head
		}
		if in != want {
			t.Errorf("%s: in the tree the head is %q, want %q", what, in, want)
		}
	}
	check("where it was said", root, ids[3])
	if _, err := s.Rewind(t.Context(), root+"@"+ids[1], workspace.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	check("set back", root, ids[1])
	on := s.append(workspace.Append{Session: root, Parent: ids[2], Text: "e"})
	check("the conversation went on without it", root, on.Message)
	if got := s.append(workspace.Append{Text: "f"}); string(got.Parent) != on.Message {
		t.Errorf("the next message answers %s", got.Parent)
	}
	point := s.checkpoint(root)
	if _, err := s.Restore(t.Context(), point.ID); err != nil {
		t.Fatal(err)
	}
	check("in a checkpoint", root, "")
	check("the checkpoint", point.ID, string(point.BranchPoint))
	s.new("Elsewhere")
	check("elsewhere", root, "")
	s.delete("head.json")
	check("none", root, "")
}

// TestBranchesPartial: a line that is not all there is damaged, unless what is there
// is enough.
func TestBranchesPartial(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(s *space, files []string)
		ask     int // which file is named
		partial string
	}{
		{"the end is damaged", func(s *space, files []string) { s.write(session.FileName(files[2]), "{") }, 0, "d:4 x:2"},
		{"the end is damaged, and the side branch asks", func(s *space, files []string) { s.write(session.FileName(files[2]), "{") }, 1, "d:4 x:2"},
		{"the beginning is gone", func(s *space, files []string) { s.delete(session.FileName(files[0])) }, 2, "f:4"},
	} {
		s := openSpace(t, t.TempDir(), 2)
		root := s.new("")
		ids := s.say("a", "b", "c", "d", "e", "f")
		if c.ask < 2 {
			s.append(workspace.Append{Session: root, Parent: ids[0], Text: "x"})
		}
		files := s.line(root)
		c.spoil(s, files)
		for _, err := range []error{
			call(s.Branches(t.Context(), files[c.ask], workspace.BranchesOptions{})),
			call(s.MessageTree(t.Context(), files[c.ask], workspace.ReadOptions{})),
		} {
			if code(err) != workspace.Damaged {
				t.Errorf("%s: %v, want damaged", c.name, err)
			}
		}
		o := workspace.BranchesOptions{ReadOptions: workspace.ReadOptions{Partial: true}, Messages: true}
		b, err := s.Branches(t.Context(), files[c.ask], o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var list []string
		for _, leaf := range b.Leaves {
			list = append(list, fmt.Sprint(leaf.Message.Text(), ":", leaf.Depth))
		}
		if got, want := strings.Join(list, " "), c.partial; got != want {
			t.Errorf("%s: the leaves are %s, want %s", c.name, got, want)
		}
		if _, err := s.MessageTree(t.Context(), files[c.ask], o.ReadOptions); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func call[T any](_ T, err error) error { return err }
