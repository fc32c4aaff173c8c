package turn_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/bough-dev/bough/agent/turn"
)

// TestQueueRestore: an entry that a step removed is stored until its message is written.
func TestQueueRestore(t *testing.T) {
	was := turn.Queue{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	for name, c := range map[string]struct {
		q         turn.Queue
		unwritten []turn.Node
		want      string
	}{
		"delivered":        {was[:2], []turn.Node{{ID: "x"}, {ID: "c"}}, `"a" "b" "c" `},
		"in its place":     {turn.Queue{was[0], was[2]}, []turn.Node{{ID: "b"}}, `"a" "b" "c" `},
		"all":              {nil, []turn.Node{{ID: "c"}, {ID: "b"}, {ID: "a"}}, `"a" "b" "c" `},
		"dropped":          {was[1:], []turn.Node{{ID: "x"}}, `"b" "c" `},
		"still queued":     {was, []turn.Node{{ID: "b"}}, `"a" "b" "c" `},
		"never queued":     {nil, []turn.Node{{ID: "x"}}, ``},
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
	var q turn.Queue
	q.Add(turn.Entry{ID: "a", Mode: turn.FollowUp, Content: "the same"})
	q.Add(turn.Entry{ID: "b", Mode: turn.FollowUp, Content: "the same"})
	q.Add(turn.Entry{ID: "b", Mode: turn.FollowUp, Content: "another"})
	q.Hold()
	q.Add(turn.Entry{ID: "c", Mode: turn.Steer, Content: "now", State: turn.Held})
	if q.Drop("d") || !q.Drop("a") || q.Drop("a") {
		t.Error("another entry than the named one was dropped")
	}
	want := `[{"id":"b","delivery_mode":"follow_up","content":"the same","state":"held"},` +
		`{"id":"c","delivery_mode":"steer","content":"now","state":"waiting"}]`
	if got, _ := json.Marshal(q); string(got) != want {
		t.Errorf("the queue is\n%s\nwant\n%s", got, want)
	}
	q.Resume()
	if q[0].State != turn.Waiting {
		t.Errorf("the queue is resumed, and %s is %s", q[0].ID, q[0].State)
	}
}
