package buffer_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// FuzzAnswer: for any output of a command, either all of it is ignored, or it can
// be recorded and decodes to the same tasks, which refer only to the path.
func FuzzAnswer(f *testing.F) {
	const known = "5f0f9d3a-7c55-4d0c-9a31-0a6f62f4c1b7"
	b := &lines.Batch{
		Line: "s", UUID: sessionid.UUID("s"), Branch: "m1", Order: 4,
		New: []string{"m2", "m3"}, Path: []string{"m1", "m2", "m3"},
		Tasks: []task.Task{{
			ID: known, Session: "s", Message: "m1", Branch: "m1", Order: 1, Status: task.Running,
			Data: json.RawMessage(`{"task_description":"bake","progresses":["a"]}`), Messages: []string{"m1"},
		}},
	}
	about := sessionid.MessageUUID(b.UUID, "m1")
	for _, answer := range []string{
		``, `{}`, `{"tasks":null}`, `[]`,
		`{"tasks":[{"task_description":"x","message_ids":["` + about + `"]}]}`,
		`{"tasks":[{"id":"` + known + `","status":"success","data":{"progresses":null,"task_description":"\ud800"}}]}`,
		`{"tasks":[{"data":{"task_description":"x","n":1e999,"deep":[[[]]]},"is_planning":true},{"task_description":"y"}]}`,
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		result, err := buffer.DecodeResult(answer)
		if err != nil {
			return
		}
		tasks, err := buffer.TasksOf(b, result)
		if err != nil {
			if tasks != nil {
				t.Fatalf("of %s, %v, %+v counts", answer, err, tasks)
			}
			return
		}
		if len(tasks) != len(result.Tasks) {
			t.Fatalf("%s has %d tasks, and %d count", answer, len(result.Tasks), len(tasks))
		}
		for i := range tasks {
			if tasks[i].ID == "" {
				tasks[i].ID = "new"
			} else if tasks[i].ID != known {
				t.Fatalf("%s changes the task %q", answer, tasks[i].ID)
			}
			for _, id := range tasks[i].Messages {
				if !slices.Contains(b.Path, id) {
					t.Fatalf("%s is about %q", answer, id)
				}
			}
			tasks[i].Created, tasks[i].Updated = time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
		}
		r := task.Record{Time: time.Unix(0, 0).UTC(), Session: "s", Messages: b.New, Status: task.Success, Tasks: tasks}
		again, err := task.Decode(r.Encode())
		if err != nil {
			t.Fatalf("%s cannot be recorded: %v", answer, err)
		}
		if len(tasks) > 0 && !reflect.DeepEqual(encoded(again.Tasks), encoded(tasks)) {
			t.Fatalf("%s is read as %+v, and was %+v", answer, again.Tasks, tasks)
		}
	})
}

// encoded returns tasks as text, their data without white space.
func encoded(tasks []task.Task) string {
	data, err := json.Marshal(tasks)
	if err != nil {
		panic(err)
	}
	return string(data)
}
