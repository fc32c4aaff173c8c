package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/bough-dev/bough/agent"
)

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
