package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/bough-dev/bough/agent"
)

// TestQueueRestore: an entry that a step removed is stored until its message is written.
func TestQueueRestore(t *testing.T) {
	was := agent.Queue{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	for name, c := range map[string]struct {
		q         agent.Queue
		unwritten []agent.Node
		want      string
	}{
		"delivered":        {was[:2], []agent.Node{{ID: "x"}, {ID: "c"}}, `"a" "b" "c" `},
		"in its place":     {agent.Queue{was[0], was[2]}, []agent.Node{{ID: "b"}}, `"a" "b" "c" `},
		"all":              {nil, []agent.Node{{ID: "c"}, {ID: "b"}, {ID: "a"}}, `"a" "b" "c" `},
		"dropped":          {was[1:], []agent.Node{{ID: "x"}}, `"b" "c" `},
		"still there":      {was, []agent.Node{{ID: "b"}}, `"a" "b" "c" `},
		"never queued":     {nil, []agent.Node{{ID: "x"}}, ``},
		"nothing to write": {was[2:], nil, `"c" `},
	} {
		q := slices.Clone(c.q)
		q.Restore(was, c.unwritten)
		got := ""
		for _, e := range q {
			got += fmt.Sprintf("%q ", e.ID)
		}
		if got != c.want {
			t.Errorf("%s: the queue is %s, want %s", name, got, c.want)
		}
	}
}

func TestQueue(t *testing.T) {
	var q agent.Queue
	q.Add(agent.Entry{ID: "a", Mode: agent.FollowUp, Content: "the same"})
	q.Add(agent.Entry{ID: "b", Mode: agent.FollowUp, Content: "the same"})
	q.Add(agent.Entry{ID: "b", Mode: agent.FollowUp, Content: "another"})
	q.Hold()
	q.Add(agent.Entry{ID: "c", Mode: agent.Steer, Content: "now", State: agent.Held})
	if q.Drop("d") || !q.Drop("a") || q.Drop("a") {
		t.Error("another entry was dropped than the one that was named")
	}
	want := `[{"id":"b","delivery_mode":"follow_up","content":"the same","state":"held"},` +
		`{"id":"c","delivery_mode":"steer","content":"now","state":"waiting"}]`
	if got, _ := json.Marshal(q); string(got) != want {
		t.Errorf("the queue is\n%s\nwant\n%s", got, want)
	}
	q.Resume()
	if q[0].State != agent.Waiting {
		t.Errorf("the queue is resumed, and %s is %s", q[0].ID, q[0].State)
	}
}
