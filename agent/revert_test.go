package agent_test

import (
	"slices"
	"testing"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
)

// TestRevert: a change is undone, later changes stay, and a value that was changed
// again is refused.
func TestRevert(t *testing.T) {
	type change = func(*agent.Agent)
	queued := func(ids ...string) change {
		return func(a *agent.Agent) {
			for _, id := range ids {
				a.Queue.Add(turn.Entry{ID: id, Mode: turn.FollowUp, Content: id})
			}
		}
	}
	for _, c := range []struct {
		name                string
		before, made, since change
		ok                  bool
		want                func(*agent.Agent) bool
	}{
		{"the head", nil, func(a *agent.Agent) { a.Move("one", "m0") }, queued("q"), true,
			func(a *agent.Agent) bool { return a.Head.Node == "m1" && len(a.Queue) == 1 }},
		{"the head, moved again", nil, func(a *agent.Agent) { a.Move("one", "m0") }, func(a *agent.Agent) { a.Move("two", "m1") }, false, nil},
		{"the model, while the head moved", nil, func(a *agent.Agent) { a.Model = "x" }, func(a *agent.Agent) { a.Move("one", "m0") }, true,
			func(a *agent.Agent) bool { return a.Model == "command:cat" && a.Head.Node == "m0" }},
		{"the model, changed again", nil, func(a *agent.Agent) { a.Model = "x" }, func(a *agent.Agent) { a.Model = "y" }, false, nil},
		{"a queued message", nil, queued("q"), queued("r"), true,
			func(a *agent.Agent) bool { return len(a.Queue) == 1 && a.Queue[0].ID == "r" }},
		{"a queued message that is delivered", nil, queued("q"), func(a *agent.Agent) { a.Queue.Drop("q") }, false, nil},
		{"a dropped message", queued("p", "q"), func(a *agent.Agent) { a.Queue.Drop("p") }, queued("r"), true,
			func(a *agent.Agent) bool {
				return slices.EqualFunc(a.Queue, []string{"p", "q", "r"}, func(e turn.Entry, id string) bool { return e.ID == id }) && a.Queue[0].State == turn.Held
			}},
		{"a message of a turn that ran", func(a *agent.Agent) {
			a.Turn = turn.Turn{State: turn.Streaming, Prompt: "m1", Last: "m1", Reply: "m2"}
		},
			func(a *agent.Agent) {
				a.Move("two", "m2")
				a.Turn = turn.Turn{State: turn.Idle, Prompt: "m1", Last: "m2", Ended: turn.Finished}
			}, queued("q"), true,
			func(a *agent.Agent) bool {
				return a.Head.Node == "m1" && a.Turn.State == turn.Idle && a.Turn.Ended == turn.Aborted && a.Turn.Prompt == "m1" && a.Turn.Last == "m1"
			}},
		{"a tree", nil, func(a *agent.Agent) {
			a.Trees = append(slices.Clone(a.Trees), agent.Tree{ID: "three"})
			a.Move("three", "")
		}, queued("q"), true, func(a *agent.Agent) bool { return len(a.Trees) == 2 && a.Head.Tree == "two" }},
	} {
		step := func(data []byte, do change) []byte {
			a := decode(t, string(data))
			if do != nil {
				do(a)
			}
			return a.Encode()
		}
		before := step([]byte(file), c.before)
		after := step(before, c.made)
		now := step(after, c.since)
		data, ok := agent.Revert("ada", now, before, after)
		if ok != c.ok || ok && !c.want(decode(t, string(data))) {
			t.Errorf("%s: %v, %s", c.name, ok, data)
		}
		if same, ok := agent.Revert("ada", after, before, after); !ok || c.before == nil && string(same) != string(before) {
			t.Errorf("%s, with nothing since: %v, %s", c.name, ok, same)
		}
	}
	if _, ok := agent.Revert("ada", []byte("{"), []byte(file), []byte(file)); ok {
		t.Error("a torn file is reverted")
	}
}
