package workspace_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestCheckpointTools: a turn makes a checkpoint first only if one of its tools may change
// something.
func TestCheckpointTools(t *testing.T) {
	t.Parallel()
	read := func(context.Context) (model.Result, error) { return model.Result{Text: "x"}, nil }
	for _, c := range []struct {
		name  string
		tools tools
		want  int
	}{
		{"none", nil, 0},
		{"one that reads", tools{"look": read}, 0},
		{"one of two writes", tools{"look": read, "write": read}, 1},
	} {
		s := openSpace(t, t.TempDir(), 0)
		s.agent("ada")
		s.tell("ada", "1", modelSaying("a"))
		o := with(c.tools, map[string]model.Model{"m": &script{}})
		o.NoCheckpoint = false
		s.tell("ada", "2", o)
		list, err := s.List(t.Context(), "checkpoint")
		if err != nil || len(list.Sessions) != c.want {
			t.Errorf("%s: the checkpoints are %+v, %v", c.name, list, err)
		}
		healthy(t, s)
	}
}

// TestCheckpointOnce: a path has at most one automatic checkpoint, even if the turn is
// retried or the path was copied.
func TestCheckpointOnce(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	checkpoints := func(want int) {
		t.Helper()
		list, err := s.List(t.Context(), "checkpoint")
		if err != nil || len(list.Sessions) != want {
			t.Fatalf("the checkpoints are %+v, %v; want %d", list, err, want)
		}
	}
	at := s.tell("ada", "1", writing("a")).Node
	if _, err := s.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "2"}, writing("|fail gone")); err == nil {
		t.Fatal("the turn did not fail")
	}
	checkpoints(1)
	if _, err := s.Agent("ada").Retry(t.Context(), writing("b")); err != nil {
		t.Fatal(err)
	}
	checkpoints(1)
	for range 2 { // the same path, copied
		p := agents.Prompt{Text: "3", From: string(at)}
		if _, err := s.Agent("ada").Chat(t.Context(), p, writing("c")); err != nil {
			t.Fatal(err)
		}
	}
	checkpoints(1)
	s.tell("ada", "4", writing("d"))
	checkpoints(2)
	healthy(t, s)
}

// TestTooManyCalls: a reply with more calls than a turn allows fails the turn, and none of
// the calls is made or stored.
func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit, calls int
		fails        bool
	}{{0, testsize.Of(10, 40, 128), false}, {0, 129, true}, {2, 2, false}, {2, 3, true}} {
		s := openSpace(t, t.TempDir(), 0)
		s.agent("ada")
		ran := 0
		look := tools{"look": func(context.Context) (model.Result, error) { ran++; return model.Result{Text: "x"}, nil }}
		o := with(look, map[string]model.Model{"m": &script{lines: []string{"well|" + strings.Repeat("look ", c.calls), "done"}}})
		o.MaxCalls = c.limit
		_, err := s.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "go"}, o)
		switch {
		case !c.fails:
			if err != nil || ran != c.calls {
				t.Errorf("limit %d: %d of %d calls made, %v", c.limit, ran, c.calls, err)
			}
		case err == nil || workspace.Explain(err).Code != fault.Failed || !strings.Contains(err.Error(), "calls in one message"):
			t.Errorf("limit %d, %d calls: %v", c.limit, c.calls, err)
		default:
			if got := s.said("ada"); ran != 0 || got != "user: go\nassistant: well" {
				t.Errorf("limit %d: %d calls made, and the path is\n%s", c.limit, ran, got)
			}
		}
		healthy(t, s)
	}
}
