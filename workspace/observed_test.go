package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
)

// TestObserved: notes of calls through an observed workspace go to its own
// function, and both see the same sessions.
func TestObserved(t *testing.T) {
	var own, observed []string
	w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{Note: func(s string) { own = append(own, s) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(w.Dir(), session.Dir, "session_20260101_000000_deadbeef.json")
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := w.Observed(nil, func(s string) { observed = append(observed, s) }).List(t.Context(), "")
	if err != nil || list.Total != 1 {
		t.Fatalf("List() = %+v, %v", list, err)
	}
	if len(own) > 0 || !strings.Contains(strings.Join(observed, "\n"), "deadbeef") {
		t.Errorf("the notes are %q and, of the observed workspace, %q", own, observed)
	}
	if _, err := w.Observed(nil, nil).List(t.Context(), ""); err != nil || len(own) == 0 {
		t.Errorf("without a function the notes are %q, %v", own, err)
	}
}

// TestUndoDryRun: a dry run returns the operations that the same undo then
// reverts, and changes nothing.
func TestUndoDryRun(t *testing.T) {
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Undo(t.Context(), history.UndoOptions{DryRun: true}); err == nil {
		t.Error("there is something to undo in an empty workspace")
	}
	for _, title := range []string{"one", "two", "three"} {
		if _, err := w.New(t.Context(), title); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []history.UndoOptions{{}, {Count: 2}} {
		o.DryRun = true
		plan, err := w.Undo(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		o.DryRun = false
		undone, err := w.Undo(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Operations) != max(o.Count, 1) || len(undone.Operations) != len(plan.Operations) {
			t.Fatalf("%+v: planned %+v, undone %+v", o, plan.Operations, undone.Operations)
		}
		reverted := map[any]bool{}
		for _, op := range undone.Operations {
			reverted[op.Undoes] = true
		}
		for _, op := range plan.Operations {
			if !reverted[op.Seq] {
				t.Errorf("%+v: operation %d was planned and not undone: %+v", o, op.Seq, undone.Operations)
			}
		}
	}
}
