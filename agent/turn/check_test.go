package turn_test

import (
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
)

func TestQueueCheck(t *testing.T) {
	good := turn.Queue{{ID: "a", Mode: turn.Steer, State: turn.Held}, {ID: "b", Mode: turn.FollowUp, State: turn.Waiting}}
	if err := good.Check(); err != nil || !good.Has("b") || good.Has("c") {
		t.Errorf("a valid queue: %v, has b: %v, has c: %v", err, good.Has("b"), good.Has("c"))
	}
	for want, e := range map[string]turn.Entry{
		"a queued message has no id":           {Mode: turn.Normal, State: turn.Held},
		`duplicate queued message "a"`:         {ID: "a", Mode: turn.Normal, State: turn.Held},
		`unknown delivery_mode "soon"`:         {ID: "c", Mode: "soon", State: turn.Held},
		`unknown state "" of a queued message`: {ID: "c", Mode: turn.Normal},
	} {
		if err := append(good[:2:2], e).Check(); err == nil || err.Error() != want {
			t.Errorf("with %+v: %v, want %s", e, err, want)
		}
	}
}

func TestTurnCheck(t *testing.T) {
	call := turn.OpenCall{Call: model.Call{ID: "c"}, Node: "n"}
	for _, c := range []struct {
		turn turn.Turn
		want string
	}{
		{turn.Turn{}, ""},
		{turn.Turn{State: turn.Idle, Unwritten: []turn.Node{{ID: "n", Kind: turn.KindUser}}}, ""},
		{turn.Turn{State: turn.Streaming, Reply: "n"}, ""},
		{turn.Turn{State: turn.InTool, Calls: []turn.OpenCall{call}}, ""},
		{turn.Turn{State: turn.Idle, Reply: "n"}, "an idle turn has a reply or calls"},
		{turn.Turn{State: turn.Streaming}, "a streaming turn has no reply, or has calls"},
		{turn.Turn{State: turn.Confirming}, "a turn that waits for a tool has no call, or has a reply"},
		{turn.Turn{State: "asleep"}, `unknown state "asleep" of the turn`},
		{turn.Turn{State: turn.InTool, Calls: []turn.OpenCall{call, {Node: "m"}}}, "a call of the turn has no id"},
		{turn.Turn{Unwritten: []turn.Node{{ID: "n", Kind: "odd"}}}, "a message of the turn has no id, or no kind"},
	} {
		got := ""
		if err := c.turn.Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.turn, got, c.want)
		}
	}
}
