package workspace_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestDependents: Dependents lists exactly the sessions because of which Remove refuses.
func TestDependents(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Long")
	s.say("a", "b", "c")
	next := s.entry(root).ContinuedTo[0]
	point := s.checkpoint(next)
	branch := s.branch(point.ID)
	alone := s.new("Alone")
	s.say("d")
	if _, err := s.Checkpoint(t.Context(), alone, workspace.SnapshotOptions{Auto: true}); err != nil {
		t.Fatal(err)
	}
	ids := func(list []workspace.Entry) (ids []string) {
		for _, e := range list {
			ids = append(ids, e.ID)
		}
		return ids
	}
	for _, tt := range []struct {
		name                  string
		o                     workspace.RemoveOptions
		continuedBy, originOf []string
	}{
		{root, workspace.RemoveOptions{}, []string{next}, nil},
		{root, workspace.RemoveOptions{Line: true}, nil, []string{point.ID}},
		{root, workspace.RemoveOptions{Line: true, Force: true}, nil, []string{point.ID}},
		{next, workspace.RemoveOptions{}, nil, []string{point.ID}},
		{point.ID, workspace.RemoveOptions{}, nil, []string{branch.ID}},
		{branch.ID, workspace.RemoveOptions{}, nil, nil},
		{"Alone", workspace.RemoveOptions{}, nil, nil}, // its automatic checkpoint does not count
	} {
		d, err := s.Dependents(t.Context(), tt.name, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(d.ContinuedBy); !slices.Equal(got, tt.continuedBy) {
			t.Errorf("%s with %+v is continued by %q, want %q", tt.name, tt.o, got, tt.continuedBy)
		}
		if got := ids(d.OriginOf); !slices.Equal(got, tt.originOf) {
			t.Errorf("%s with %+v is the origin of %q, want %q", tt.name, tt.o, got, tt.originOf)
		}
		if len(tt.continuedBy)+len(tt.originOf) > 0 && !tt.o.Force {
			if _, err := s.Remove(t.Context(), tt.name, tt.o); code(err) != fault.HasChildren {
				t.Errorf("Remove(%s, %+v): %v", tt.name, tt.o, err)
			}
		}
	}
	if _, err := s.Dependents(t.Context(), "nothing", workspace.RemoveOptions{}); !errors.Is(err, fault.NotFound) {
		t.Errorf("of an unknown session: %v", err)
	}
	for _, name := range []string{branch.ID, point.ID, alone} {
		if _, err := s.Remove(t.Context(), name, workspace.RemoveOptions{}); err != nil {
			t.Errorf("Remove(%s): %v", name, err)
		}
	}
}

// TestDependentsOfTree: DeleteTree refuses a tree exactly if it has dependents.
func TestDependentsOfTree(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	ada := s.Agent("ada")
	created, err := ada.Create(t.Context(), agents.Options{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	tree := created.Head.Tree
	reply := s.tell("ada", "Hello", modelSaying("Hi"))
	branch, err := ada.BranchTree(t.Context(), string(reply.Node), "", checkpoint.CutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Dependents(t.Context(), tree, workspace.RemoveOptions{Line: true})
	if err != nil || len(d.OriginOf) != 1 || d.OriginOf[0].ID != branch.Tree {
		t.Errorf("the tree has the dependents %+v, %v", d, err)
	}
	if _, err := ada.DeleteTree(t.Context(), tree, agents.DeleteTreeOptions{}); code(err) != fault.HasChildren {
		t.Errorf("DeleteTree of the origin of another tree: %v", err)
	}
}
