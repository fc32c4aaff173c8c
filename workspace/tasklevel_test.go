package workspace_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/task"
	"github.com/tidwall/gjson"
)

// TestTaskPoint: a checkpoint stores the turn, the tasks of its path and the queue of the agent,
// plain and packed; the seal covers it, and the tasks are visible in the checkpoint itself.
func TestTaskPoint(t *testing.T) {
	t.Parallel()
	for _, packing := range []checkpoint.Packing{checkpoint.PackNone, checkpoint.PackAll} {
		t.Run(string(packing), func(t *testing.T) {
			b := newBounded(t, checkpoint.Retention{})
			b.opts.Packing = packing
			b.open(b.Dir(), 0)
			tree := b.agent("ada").Head.Tree
			asked := b.append(workspace.Append{Session: tree, Text: "Book a hotel."}).Message
			answer := b.append(workspace.Append{Session: tree, Text: "Which one?", Role: "assistant"}).Message
			one := task.Task{ID: "22222222-2222-4222-8222-222222222222", Order: 1, Message: asked, Data: json.RawMessage(`{"task_description": "Book <it>"}`), Status: task.Running, Messages: []string{asked}}
			b.look(tree, asked, one)
			later := b.append(workspace.Append{Session: tree, Text: "The small one."}).Message
			b.look(tree, later, task.Task{ID: "33333333-3333-4333-8333-333333333333", Order: 2, Message: later, Data: json.RawMessage(`{"task_description": "x"}`), Status: task.Pending, Messages: []string{later}})
			b.write("agents/ada.json", strings.Replace(b.read("agents/ada.json"), `"queue": []`,
				`"queue": [{"id": "11111111-1111-4111-8111-111111111111", "delivery_mode": "follow_up", "content": "And a train.", "state": "held"}]`, 1))
			snap, err := b.Checkpoint(t.Context(), tree+"@"+answer, workspace.SnapshotOptions{Task: true, Name: "Half done"})
			if err != nil {
				t.Fatal(err)
			}
			p := snap.Task
			if p == nil || p.Turn != session.ID(asked) || p.Agent != "ada" || len(p.Tasks) != 1 || p.Tasks[0].ID != one.ID || len(p.Queue) != 1 || p.Queue[0].Content != "And a train." {
				t.Fatalf("the task is %+v", p)
			}
			shown, err := b.Show(t.Context(), snap.ID, session.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(shown)
			if err != nil {
				t.Fatal(err)
			}
			var got agents.TaskPoint
			if err := json.Unmarshal([]byte(gjson.GetBytes(data, "metadata.bough.task").Raw), &got); err != nil {
				t.Fatalf("%v in %s", err, data)
			}
			got.Tasks[0].Data = p.Tasks[0].Data
			if !reflect.DeepEqual(&got, p) {
				t.Errorf("the checkpoint has %+v, want %+v", got, p)
			}
			if tasks, err := b.Line(snap.ID).Tasks(t.Context(), ""); err != nil || len(tasks) != 1 {
				t.Errorf("the tasks of the checkpoint are %+v, %v", tasks, err)
			}
			healthy(t, b.space)
			plain, err := b.Checkpoint(t.Context(), tree, workspace.SnapshotOptions{})
			if err != nil || plain.Task != nil {
				t.Errorf("without the option: %+v, %v", plain.Task, err)
			}
			empty := b.new("Empty")
			if snap, err := b.Checkpoint(t.Context(), empty, workspace.SnapshotOptions{Task: true}); err == nil && (snap.Task.Turn != "" || snap.Task.Agent != "") {
				t.Errorf("of an empty session: %+v", snap.Task)
			}
		})
	}
}
