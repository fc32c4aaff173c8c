package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/google/uuid"
)

// TestExplorationPlace: every form of REF resolves to its line, its message, and the agent
// that owns it.
func TestExplorationPlace(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3) // three messages a file
	ctx := t.Context()
	id := s.new("Talk")
	var said []string
	newest := ""
	for _, m := range [][2]string{{"user", "first"}, {"assistant", "two ways"}, {"user", "second"}, {"assistant", "three ways"}} {
		written := s.append(workspace.Append{Session: id, Role: m[0], Text: m[1]})
		said, newest = append(said, written.Message), written.Session
	}
	s.bookmark("Talk@"+said[1], "here")
	frozen := s.checkpoint("Talk@" + said[2])
	a := s.agent("ada")
	asked := s.answer("ada", "mine?")
	if newest == id {
		t.Fatal("the line is one file")
	}
	for _, c := range []struct{ ref, session, message, agent, question, reply, frozen string }{
		{"Talk", id, said[3], "", "second", "three ways", ""},
		{newest, id, said[3], "", "second", "three ways", ""},
		{"here", id, said[1], "", "first", "two ways", ""},
		{id + "/" + said[0], id, said[0], "", "first", "", ""},
		{frozen.ID, frozen.ID, said[2], "", "second", "", frozen.ID},
		{a.Head.Tree + "/" + asked[0], a.Head.Tree, asked[0], "ada", "mine?", "", ""},
	} {
		f, err := s.ExplorationPlace(ctx, c.ref)
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		agent := ""
		if f.Agent != nil {
			agent = f.Agent.Name
		}
		if f.Session != c.session || f.Message != c.message || agent != c.agent || f.Question != c.question || f.Reply != c.reply || f.Frozen != c.frozen {
			t.Errorf("%s resolves to %+v of %q, want %+v", c.ref, f, agent, c)
		}
	}
	s.new("Empty")
	if _, err := s.ExplorationPlace(ctx, "Empty"); code(err) != fault.Refused {
		t.Errorf("of an empty conversation: %v", err)
	}
	if _, err := s.ExplorationPlace(ctx, "nothing"); code(err) != fault.NotFound {
		t.Errorf("of an unknown reference: %v", err)
	}
}

// TestCancelRequest: a request to cancel lasts until it is removed, and its path never leads
// out of the workspace.
func TestCancelRequest(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 100)
	s.new("Talk")
	ctx, id := t.Context(), uuid.NewString()
	if s.Exploration(id).IsCancelled(ctx) || s.Exploration(id).ClearCancel(ctx) != nil {
		t.Error("a new exploration is already cancelled")
	}
	for range 2 {
		if err := s.Exploration(id).Cancel(ctx); err != nil || !s.Exploration(id).IsCancelled(ctx) {
			t.Errorf("Cancel: %v", err)
		}
	}
	if err := s.Exploration(id).ClearCancel(ctx); err != nil || s.Exploration(id).IsCancelled(ctx) {
		t.Errorf("ClearCancel: %v", err)
	}
	if err := s.Exploration("../../x").Cancel(ctx); code(err) != fault.Usage {
		t.Errorf("a hostile id: %v", err)
	}
}

// TestAppendLearnings: an incomplete line is ignored, and a new line is added as a line of
// its own.
func TestAppendLearnings(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 100)
	s.new("Talk")
	ctx := t.Context()
	if data, err := s.Learnings(ctx); err != nil || data != nil {
		t.Errorf("at first the content is %q, %v", data, err)
	}
	for _, lines := range []string{"one\ntwo\n", "three\n"} {
		if err := s.AppendLearnings(ctx, []byte(lines)); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(s.Dir(), ".bough", "learnings.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(`{"torn`)
		f.Close()
	}
	if data, err := s.Learnings(ctx); err != nil || string(data) != "one\ntwo\nthree\n"+`{"torn` {
		t.Errorf("there is %q, %v", data, err)
	}
	if ops, err := s.Log(ctx, history.LogOptions{}); err != nil || len(ops.Operations) != 1 {
		t.Errorf("the log has %v, %v", ops, err)
	}
}

// TestExplorationSettings: the settings file is not listed as an exploration, and an
// invalid settings file is an error.
func TestExplorationSettings(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 100)
	s.new("Talk")
	ctx := t.Context()
	if data, err := s.ExplorationSettings(ctx); err != nil || data != nil {
		t.Errorf("at first the content is %q, %v", data, err)
	}
	dir := filepath.Join(s.Dir(), "explorations")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := s.ExplorationSettings(ctx); err != nil || string(data) != "{}" {
		t.Errorf("then there is %q, %v", data, err)
	}
	if ids, err := s.Explorations(ctx); err != nil || len(ids) != 0 {
		t.Errorf("explorations are %q, %v", ids, err)
	}
	if err := os.Remove(filepath.Join(dir, "config.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "config.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ExplorationSettings(ctx); err == nil || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("of a folder: %v", err)
	}
}
