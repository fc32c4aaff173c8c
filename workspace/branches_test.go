package workspace_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

func (s *space) branches(name string) *workspace.Branches {
	s.t.Helper()
	b, err := s.Branches(s.t.Context(), name, workspace.BranchesOptions{Messages: true})
	if err != nil {
		s.t.Fatalf("Branches(%q): %v", name, err)
	}
	return b
}

// leaves formats leaves as text:depth, the newest with "!", the one at the head with "*".
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

// TestBranchesJSON: the JSON of branches has exactly these members.
func TestBranchesJSON(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.messages("a", ``,
		`{"id":"M1","timestamp":"2026-01-01T00:00:01+00:00"}`, `{"id":"M2","timestamp":"2026-01-01T00:00:02.5Z"}`,
		`{"id":"M3","timestamp":"2026-01-01T01:00:03.123456789+01:00","metadata":{"parent_id":"M1"}}`)
	s.new("Empty")
	for name, want := range map[string]string{
		"a": `{"leaves":[{"message_id":"M2","session_id":"a","depth":2,"created_at":"2026-01-01T00:00:02.500000+00:00","joins":0,"newest":false,"head":false,"role":"","text":"","bookmarks":[]},` +
			`{"message_id":"M3","session_id":"a","depth":2,"created_at":"2026-01-01T00:00:03.123456+00:00","joins":0,"newest":true,"head":false,"role":"","text":"","bookmarks":[]}],"head_node_id":null}`,
		"Empty": `{"leaves":[],"head_node_id":null}`,
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

// TestBranchesOrder: branches are sorted by time, not by place, and a message without a
// time has the creation time of the conversation.
func TestBranchesOrder(t *testing.T) {
	t.Parallel()
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
		{"no time", []string{root, said("a", "2026-01-02", "r"), silent("b"), silent("c")}, "b c a!"},
		{"an invalid time", []string{root, said("a", "2026-01-02", "r"), said("b", "soon", "r")}, "b a!"},
		{"before the beginning", []string{root, said("a", "2026-01-01T09:00:00Z", "r"), silent("b"), said("c", "2026-01-01T09:59:00Z", "r")}, "a b c!"},
		{"at the beginning", []string{root, said("a", "2026-01-01T09:30:00Z", "r"), silent("b")}, "b a!"},
		{"two roots and an orphan", []string{root, said("b", "2026-01-02", "gone"), `{"id":"c","content":"c","timestamp":"2026-01-01T11:00:00Z","metadata":{"parent_id":null}}`}, "r c b!"},
	} {
		s := openSpace(t, t.TempDir(), 0)
		s.write(session.FileName("a"), fmt.Sprintf(`{"created_at":"2026-01-01T09:30:00Z","messages":[%s]}`, strings.Join(c.messages, ",")))
		var list []string
		last := time.Time{}
		for _, leaf := range s.branches("a").Leaves {
			text := leaf.Message.Text()
			if leaf.Newest {
				text += "!"
			}
			list = append(list, text)
			if leaf.CreatedAt.Before(last) {
				t.Errorf("%s: %s has the time %s, after one with %s", c.name, leaf.ID, leaf.CreatedAt, last)
			}
			last = leaf.CreatedAt
		}
		if got := strings.Join(list, " "); got != c.want {
			t.Errorf("%s: the leaves are %s, want %s", c.name, got, c.want)
		}
	}
}

// TestBranchesCheckpoint: a checkpoint has one branch, its frozen path.
func TestBranchesCheckpoint(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("")
	ids := s.say("a", "b")
	s.append(workspace.Append{Session: root, Parent: ids[0], Text: "c"})
	point := s.checkpoint(root + "@" + ids[1])
	s.sayForeign(point.ID, `{"id":"x","content":"x"}`)
	if got := s.leaves(point.ID); got != "b:2!" {
		t.Errorf("the leaves of the checkpoint are %s", got)
	}
	if tree, err := s.MessageTree(t.Context(), point.ID, session.ReadOptions{}); err != nil || len(tree.Runs) != 1 || tree.Runs[0].Count != 2 || !tree.Runs[0].Newest {
		t.Errorf("the tree of the checkpoint is %+v, %v", tree, err)
	}
	if got := s.leaves(root); got != "b:2 c:2!*" {
		t.Errorf("the leaves of the conversation are %s", got)
	}
}

// TestBranchesPenguin: a checkpoint that Penguin keeps apart reads the files before it, and
// ignores damage in later files.
func TestBranchesPenguin(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	if err := os.CopyFS(s.Dir(), fixtures.Penguin()); err != nil {
		t.Fatal(err)
	}
	const point, after = "cp_20260314_093000_3e60a8d5", "session_20260316_190500_0b94c7d1"
	s.write(session.FileName(after), "{")
	if _, err := s.Branches(t.Context(), "session_20260314_081500_5c1e9a20", workspace.BranchesOptions{}); code(err) != fault.Damaged {
		t.Errorf("the line: %v, want damaged", err)
	}
	b := s.branches(point)
	conv := s.show(point)
	i := slices.IndexFunc(b.Leaves, func(l workspace.Leaf) bool { return l.ID == conv.Messages[len(conv.Messages)-1].ID })
	if i < 0 || b.Leaves[i].Depth != len(conv.Messages) {
		t.Errorf("the checkpoint with %d messages has the leaves %+v", len(conv.Messages), b.Leaves)
	}
	flat := gzipped(t, `{"metadata":{"type":"manual","session_id":"gone","created_at":"2026-03-01T00:00:00"},"session":{"metadata":{"flattened_snapshot":true},"messages":[{"id":"a"},{"id":"b"}]}}`)
	s.write("checkpoints/cp_flat.json.gz", flat)
	if b := s.branches("cp_flat"); len(b.Leaves) != 1 || b.Leaves[0].Depth != 2 || !b.Leaves[0].CreatedAt.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.Local)) {
		t.Errorf("the flat checkpoint has the leaves %+v", b.Leaves)
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// TestBranchesHead: the head is the parent of the next message that names no session.
func TestBranchesHead(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("")
	ids := s.say("a", "b", "c", "d")
	check := func(what, name, want string) {
		t.Helper()
		if got := s.branches(name).Head; string(got) != want {
			t.Errorf("%s: the head is %q, want %q", what, got, want)
		}
		tree, err := s.MessageTree(t.Context(), name, session.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		in := ""
		for _, run := range tree.Runs {
			in += string(run.Head)
		}
		if in != want {
			t.Errorf("%s: in the tree the head is %q, want %q", what, in, want)
		}
	}
	check("where it was said", root, ids[3])
	if _, err := s.Rewind(t.Context(), root+"@"+ids[1], checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	check("set back", root, ids[1])
	on := s.append(workspace.Append{Session: root, Parent: ids[2], Text: "e"})
	check("the conversation went on without it", root, on.Message)
	if got := s.append(workspace.Append{Text: "f"}); string(got.Parent) != on.Message {
		t.Errorf("the next message answers %s", got.Parent)
	}
	second := s.line(root)[1]
	if _, err := s.Rewind(t.Context(), second+"@"+ids[2], checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	check("set back in the second file", root, ids[2])
	s.append(workspace.Append{Session: root, Parent: ids[0], Text: "g"})
	end := s.show(second).Messages
	check("the first file went on", root, end[len(end)-1].ID)
	if got := s.append(workspace.Append{Text: "h"}); string(got.Parent) != end[len(end)-1].ID {
		t.Errorf("the next message of the second file answers %s", got.Parent)
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

// TestBranchesPartial: an incomplete line is an error unless Partial is set.
func TestBranchesPartial(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		spoil   func(s *space, files []string)
		ask     int // which file is named
		partial string
	}{
		{"the end is damaged", func(s *space, files []string) { s.write(session.FileName(files[2]), "{") }, 0, "d:4 x:2"},
		{"the end is damaged, and the side branch asks", func(s *space, files []string) { s.write(session.FileName(files[2]), "{") }, 1, "d:4 x:2"},
		{"another end is damaged", func(s *space, files []string) { s.write(session.FileName(files[2]), "{") }, 1, "f:6 x:2"},
		{"the first file is missing", func(s *space, files []string) { s.delete(session.FileName(files[0])) }, 2, "f:4"},
	} {
		s := openSpace(t, t.TempDir(), 2)
		root := s.new("")
		ids := s.say("a", "b", "c", "d", "e", "f")
		if c.ask < 2 {
			if _, err := s.Rewind(t.Context(), root+"@"+ids[1], checkpoint.CutOptions{}); err != nil {
				t.Fatal(err)
			}
			sideBranch(s, root, ids[0], strings.Contains(c.partial, "f"))
		}
		files := s.line(root)
		c.spoil(s, files)
		for _, err := range []error{
			call(s.Branches(t.Context(), files[c.ask], workspace.BranchesOptions{})),
			call(s.MessageTree(t.Context(), files[c.ask], session.ReadOptions{})),
		} {
			if code(err) != fault.Damaged {
				t.Errorf("%s: %v, want damaged", c.name, err)
			}
		}
		o := workspace.BranchesOptions{ReadOptions: session.ReadOptions{Partial: true}, Messages: true}
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
		if b.Head != "" {
			t.Errorf("%s: the head is %s, want none in a conversation with an unknown next message", c.name, b.Head)
		}
		if _, err := s.MessageTree(t.Context(), files[c.ask], o.ReadOptions); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// sideBranch adds the message x below parent to the first file of a line, which is full, and
// if continued is true, y in a continuation of this file, as earlier versions did.
func sideBranch(s *space, root, parent string, continued bool) {
	s.t.Helper()
	text := s.read(session.FileName(root))
	end := strings.LastIndex(text, "\n  ],\n  \"llm_request_lifecycles\"")
	if end < 0 {
		s.t.Fatalf("the file is\n%s", text)
	}
	s.write(session.FileName(root), text[:end]+fmt.Sprintf(
		`,{"id":"mx","role":"user","content":"x","timestamp":"2026-05-25T16:00:00+00:00","metadata":{"parent_id":%q,"bough":{"continued":true}}}`, parent)+text[end:])
	if continued {
		s.messages("side", fmt.Sprintf(`"continued_from":[%q],"continued_to":[]`, root),
			fmt.Sprintf(`{"id":"t","role":"system","metadata":{"type":"session_transition","previous_session":%q,"parent_id":"mx"}}`, root),
			`{"id":"my","role":"user","content":"y","timestamp":"2026-05-25T16:00:01+00:00","metadata":{}}`)
		if _, err := s.Rename(s.t.Context(), root, "Seen"); err != nil { // the index has the link
			s.t.Fatal(err)
		}
	}
}

func call[T any](_ T, err error) error { return err }
