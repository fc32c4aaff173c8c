package task_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace/task"
)

func TestCheckData(t *testing.T) {
	for data, ok := range map[string]bool{
		`{"task_description":"bake"}`: true,
		`{"task_description":"bake","progresses":["a","b"],"user_preferences":null,"sop_thinking":"x","more":{"n":1}}`: true,
		`{"task_description":"bake","progresses":[]}`:                                                                  true,
		``:                            false,
		`null`:                        false,
		`[]`:                          false,
		`{}`:                          false,
		`{"task_description":""}`:     false,
		`{"task_description":7}`:      false,
		`{"Task_Description":"bake"}`: false,
		`{"task_description":"bake","progresses":"a"}`:                        false,
		`{"task_description":"bake","progresses":["a",7]}`:                    false,
		`{"task_description":"bake","user_preferences":{}}`:                   false,
		`{"task_description":"bake","sop_thinking":["x"]}`:                    false,
		`{"task_description":"bake"`:                                          false,
		`{"task_description":"bake","n":NaN}`:                                 false,
		"{\"task_description\":\"b\xff\"}":                                    false,
		`{"task_description":"` + strings.Repeat("x", task.MaxData) + `"}`:    false,
		`{"task_description":"` + strings.Repeat("x", task.MaxData-30) + `"}`: true,
	} {
		if err := task.CheckData([]byte(data)); (err == nil) != ok {
			t.Errorf("CheckData(%.80s): %v", data, err)
		}
	}
}

// at returns a time that grows with n.
func at(n int) time.Time {
	return time.Date(2026, 3, 14, 9, 30, n, 1000, time.UTC)
}

// a returns a version of a task that is anchored at a message.
func a(id, anchor string, order int) task.Task {
	return task.Task{
		ID: id, Session: "s", Message: anchor, Branch: "m1", Order: order,
		Data:   json.RawMessage(fmt.Sprintf(`{"task_description":"%s at %s"}`, id, anchor)),
		Status: task.Pending, Created: at(order), Updated: at(order), Messages: []string{anchor},
	}
}

func TestRecord(t *testing.T) {
	for _, r := range []task.Record{
		{Time: at(1), Session: "s", Messages: []string{"m1", "m2"}, Status: task.Success},
		{Time: at(1), Session: "s", Messages: []string{"m1"}, Status: task.Failed, Error: "no <model>\n"},
		{Time: at(1), Session: "s", Messages: []string{"m1"}, Status: task.Success, Tasks: []task.Task{a("t1", "m1", 1), a("t2", "m1", 2)}},
	} {
		line := r.Encode()
		if strings.Count(string(line), "\n") != 1 || !strings.HasSuffix(string(line), "\n") {
			t.Errorf("%q was skipped", line)
		}
		got, err := task.Decode(line)
		if err != nil || !reflect.DeepEqual(*got, r) {
			t.Errorf("%s is read as %+v, %v, want %+v", line, got, err, r)
		}
		more := strings.Replace(string(line), `{"time"`, `{"later":{"x":[1]},"time"`, 1)
		if got, err := task.Decode([]byte(more)); err != nil || !reflect.DeepEqual(*got, r) {
			t.Errorf("a record with an unknown member decodes to %+v, %v", got, err)
		}
	}
}

func TestDecodeDamage(t *testing.T) {
	whole := `{"time":"2026-03-14T09:30:01.000001+00:00","session_id":"s","message_ids":["m1"],"status":"success","tasks":[` +
		`{"id":"t1","session_id":"s","message_id":"m1","branch_id":"m1","order":1,"data":{"task_description":"bake"},` +
		`"status":"pending","is_planning":false,"created_at":"2026-03-14T09:30:01.000001+00:00","updated_at":"2026-03-14T09:30:01.000001+00:00","message_ids":["m1"]}]}`
	if _, err := task.Decode([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{whole, `null`},
		{whole, `[]`},
		{whole, whole[:100]},
		{`"session_id":"s","message_ids"`, `"session_id":"","message_ids"`},
		{`["m1"],"status"`, `[],"status"`},
		{`"status":"success"`, `"status":"pending"`},
		{`{"time":"2026`, `{"time":"in 2026`},
		{`"created_at":"2026`, `"created_at":"in 2026`},
		{`"id":"t1"`, `"id":""`},
		{`"message_id":"m1"`, `"message_id":""`},
		{`"status":"pending"`, `"status":"disable_tracking"`},
		{`"task_description"`, `"description"`},
		{`"order":1`, `"order":"one"`},
	} {
		damaged := strings.Replace(whole, c[0], c[1], 1)
		if damaged == whole {
			t.Fatalf("%s is not in the line", c[0])
		}
		if r, err := task.Decode([]byte(damaged)); err == nil {
			t.Errorf("%s is read as %+v", damaged, r)
		}
	}
}

func TestLog(t *testing.T) {
	success := func(messages string, tasks ...task.Task) *task.Record {
		return &task.Record{Time: at(1), Session: "s", Messages: strings.Fields(messages), Status: task.Success, Tasks: tasks}
	}
	failed := func(messages string) *task.Record {
		return &task.Record{Time: at(1), Session: "s", Messages: strings.Fields(messages), Status: task.Failed, Error: "no model"}
	}
	for _, c := range []struct {
		name    string
		records []*task.Record
		want    string // of the messages m1 to m3
	}{
		{"nothing", nil, "pending pending pending"},
		{"some", []*task.Record{success("m1 m2")}, "success success pending"},
		{"failed once", []*task.Record{failed("m1 m2")}, "pending pending pending"},
		{"failed twice", []*task.Record{failed("m1 m2"), failed("m1 m2 m3")}, "pending pending pending"},
		{"failed three times", []*task.Record{failed("m1"), failed("m1 m2"), failed("m1 m2 m3")}, "failed pending pending"},
		{"failed, then not", []*task.Record{failed("m1"), failed("m1"), success("m1")}, "success pending pending"},
		{"failed three times, then not", []*task.Record{failed("m1"), failed("m1"), failed("m1"), success("m1")}, "success pending pending"},
		{"done, then failed", []*task.Record{success("m1"), failed("m1"), failed("m1"), failed("m1")}, "success pending pending"},
	} {
		var l task.Log
		for _, r := range c.records {
			l.Add(r)
		}
		var got []string
		for _, id := range []string{"m1", "m2", "m3"} {
			s := l.State(id)
			got = append(got, string(s.Status(false)))
			if open := s.Status(false) == task.Pending; s.Open() != open {
				t.Errorf("%s: %s is open: %v", c.name, id, s.Open())
			}
			if running := s.Status(true); running != task.Running && !s.Done {
				t.Errorf("%s: %s is %s while its batch is running", c.name, id, running)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// TestVersions: a path has the tasks that were found on it, and its own version of a task
// that changed in two branches.
func TestVersions(t *testing.T) {
	var l task.Log
	if list := l.All(slices.Values([]string{"m1"})); len(list) != 0 || l.Order("s") != 0 {
		t.Errorf("an empty log has the tasks %v", list)
	}
	add := func(tasks ...task.Task) {
		l.Add(&task.Record{Session: "s", Messages: []string{"m"}, Status: task.Success, Tasks: tasks})
	}
	add(a("t1", "m2", 1), a("t2", "m2", 2)) // before the fork
	add(a("t1", "a3", 1))                   // it changes in one branch
	add(a("t3", "b3", 3), a("t1", "b3", 1)) // and in the other
	add(a("t2", "a4", 2))
	add(a("t2", "a3", 2))
	add(a("t1", "a3", 1)) // again, at the same message
	for path, want := range map[string]string{
		"":            "",
		"m1":          "",
		"m1 m2":       "t1 at m2, t2 at m2",
		"m1 m2 a3":    "t1 at a3, t2 at a3",
		"m1 m2 a3 a4": "t1 at a3, t2 at a4",
		"m1 m2 b3":    "t1 at b3, t2 at m2, t3 at b3",
		"m1 m2 c3":    "t1 at m2, t2 at m2",
	} {
		if got := descriptions(l.Visible(slices.Values(strings.Fields(path)))); got != want {
			t.Errorf("the path %q has the tasks %q, want %q", path, got, want)
		}
	}
	for messages, want := range map[string]string{
		"m1 m2 a3 a4 b3": "t1 at a3, t2 at a3, t3 at b3",
		"b3 a3 a4 m2 m1": "t1 at a3, t2 at a3, t3 at b3",
		"m1 m2 b3":       "t1 at b3, t2 at m2, t3 at b3",
	} {
		if got := descriptions(l.All(slices.Values(strings.Fields(messages)))); got != want {
			t.Errorf("the messages %q have the tasks %q, want %q", messages, got, want)
		}
	}
	if l.Order("s") != 3 || l.Order("other") != 0 {
		t.Errorf("the highest orders are %d and %d, want 3 and 0", l.Order("s"), l.Order("other"))
	}
}

func descriptions(tasks []task.Task) string {
	var list []string
	for _, t := range tasks {
		list = append(list, t.Description())
	}
	return strings.Join(list, ", ")
}
