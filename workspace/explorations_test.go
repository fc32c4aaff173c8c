package workspace_test

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestBranchID: a branch with a given id is made once, and the id of any other session is
// refused.
func TestBranchID(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.New(t.Context(), "T")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, text := range []string{"one", "two"} {
		m, err := w.Append(t.Context(), workspace.Append{Session: s.ID, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, m.Message)
	}
	const id = "session_20260525_153200_4b9ad01c"
	o := workspace.SnapshotOptions{ID: id, Name: "b", KeepHead: true}
	for range 2 {
		if b, err := w.Branch(t.Context(), s.ID+"@"+said[0], o); err != nil || b.ID != id || b.Title != "b" {
			t.Errorf("the branch is %+v, %v", b, err)
		}
	}
	if list, err := w.List(t.Context(), ""); err != nil || len(list.Sessions) != 2 {
		t.Errorf("there are %+v, %v", list, err)
	}
	if _, err := w.Branch(t.Context(), s.ID+"@"+said[1], o); workspace.Explain(err) == nil || workspace.Explain(err).Code != fault.Refused {
		t.Errorf("as a branch of another message: %v", err)
	}
	o.ID = "../x"
	if _, err := w.Branch(t.Context(), s.ID, o); workspace.Explain(err) == nil || workspace.Explain(err).Code != fault.Usage {
		t.Errorf("with a hostile id: %v", err)
	}

	outcome := workspace.Outcome{ID: "0b0f4b3e-8a55-4c7b-9d67-0d6f0f1f2a3b", Session: s.ID, Parent: said[0], Text: "so", From: "exploration", Origin: map[string]any{"id": "e"}}
	for range 2 {
		if err := w.AddOutcome(t.Context(), outcome); err != nil {
			t.Fatal(err)
		}
	}
	all, err := w.Line(s.ID).All(t.Context(), session.ReadOptions{})
	if err != nil || len(all.Nodes) != 3 || !strings.Contains(string(all.Nodes[2].Raw), `"exploration"`) {
		t.Errorf("the conversation is %+v, %v", all, err)
	}
	next, err := w.Append(t.Context(), workspace.Append{Text: "three"})
	if err != nil || string(next.Parent) != said[1] {
		t.Errorf("the next message goes below %v, %v", next, err)
	}
}
