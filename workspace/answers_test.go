package workspace_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
)

// tell calls every verb that writes and returns the ids of the new sessions.
func tell(s *space) (ids []string) {
	root := s.new("Bread")
	said := s.say("one", "two", "three", "four")
	point := s.checkpoint(root + "@" + said[1])
	branch := s.branch(root + "@" + said[0])
	s.say("other")
	if _, err := s.Rewind(s.t.Context(), root+"@"+said[2], checkpoint.CutOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.say("in place")
	fork := s.append(workspace.Append{Session: point.ID, Text: "after the checkpoint"})
	return []string{root, point.ID, branch.ID, fork.Session}
}

// chosen matches the values in the log that the file system determines: modification times,
// and the checksums of lines with such times.
var chosen = regexp.MustCompile(`"mtime":"\d+"|,"crc32c":"[0-9a-f]{8}"}(?m:$)`)

// TestReproducible: the same clock and the same random bytes produce the same files.
func TestReproducible(t *testing.T) {
	t.Parallel()
	var files [2]map[string]string
	for i := range files {
		s := openSpace(t, t.TempDir(), 3)
		tell(s)
		files[i] = s.files()
		delete(files[i], session.IndexPath) // it has file times
		files[i][operation.Path] = chosen.ReplaceAllString(files[i][operation.Path], "")
	}
	sameFiles(t, "the second time", files[0], files[1])
	if len(files[0]) < 6 {
		t.Errorf("only %d files", len(files[0]))
	}
}

// TestReadsWriteNothing: a verb that reads creates or changes no file or folder, even if
// the index is missing or torn.
func TestReadsWriteNothing(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	ids := tell(s)
	if err := os.RemoveAll(filepath.Join(s.Dir(), ".bough")); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{s.read("conversations/session_index.json"), `{"x"`, ""} {
		s.write("conversations/session_index.json", index)
		if index == "" {
			if err := os.Remove(filepath.Join(s.Dir(), "conversations", "session_index.json")); err != nil {
				t.Fatal(err)
			}
		}
		before := s.files()
		_, list := s.List(t.Context(), session.Checkpoint)
		_, show := s.Show(t.Context(), ids[0], session.ReadOptions{Partial: true})
		_, lineage := s.Lineage(t.Context(), ids[3], session.ReadOptions{})
		_, tree := s.Tree(t.Context(), "")
		_, diff := s.Diff(t.Context(), ids[0], ids[2], session.ReadOptions{})
		_, head := s.Head(t.Context())
		_, doctor := s.Doctor(t.Context(), doctor.Options{})
		for verb, err := range map[string]error{"List": list, "Show": show, "Lineage": lineage, "Tree": tree, "Diff": diff, "Head": head, "Doctor": doctor} {
			if err != nil {
				t.Errorf("with the index %.5q, %s: %v", index, verb, err)
			}
		}
		sameFiles(t, "reading", before, s.files())
		if _, err := os.Stat(filepath.Join(s.Dir(), ".bough")); err == nil {
			t.Error("reading makes .bough")
		}
	}
}

// TestJSON: results have the keys that other programs rely on, and an empty list is [], not
// null.
func TestJSON(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	e, err := s.New(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	const entry = "id kind title message_count created_at last_active continued_from continued_to branched_from branch_point lineage tool directory git_branch model"
	diff, err := s.Diff(t.Context(), e.ID, e.ID, session.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Doctor(t.Context(), doctor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pos, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	forest, err := s.Tree(t.Context(), "")
	nodes := forest.Roots
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer     any
		keys, part string
	}{
		{e, entry, `"continued_from":[],"continued_to":[],"branched_from":null,"branch_point":null`},
		{nodes[0], strings.Replace(entry, "lineage", "lineage head", 1) + " children", `"head":true,"tool":"","directory":"","git_branch":"","model":"","children":[]`},
		{s.checkpoint(e.ID), entry + " path bytes", `"branch_point":null`},
		{diff, "common a b messages_a messages_b", `{"common":null,"a":[],"b":[],"messages_a":[],"messages_b":[]}`},
		{report, "ok problems", `{"ok":true,"problems":[]}`},
		{pos, "head read_only", `{"head":{"session_id":"` + e.ID + `","message_id":null},"read_only":false}`},
		{s.append(workspace.Append{Session: e.ID, Text: "x"}), "session_id message_id parent_id forked_from", `"parent_id":null,"forked_from":null`},
	} {
		data, err := json.Marshal(c.answer)
		if err != nil {
			t.Fatal(err)
		}
		members, err := rawjson.Members(data, rawjson.Root(data))
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, m := range members {
			keys = append(keys, m.Key)
		}
		if got := strings.Join(keys, " "); got != c.keys || !strings.Contains(string(data), c.part) {
			t.Errorf("%T is %s, want the keys %s and %s", c.answer, data, c.keys, c.part)
		}
	}
}
