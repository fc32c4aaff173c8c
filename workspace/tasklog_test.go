package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/task"
)

// forgetTasks removes the records.
func (s *space) forgetTasks() {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.Dir(), filepath.FromSlash(task.Path))); err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
}

// TestWorked: a new task gets its missing fields, and a message that was tracked twice
// counts once.
func TestWorked(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.chat("s", "", "m1 m2 m3")
	ahead := found("three", "m1")
	ahead.Order = 7
	r := s.look("s", "m1", found("one", "m1"), found("two", "m1"), ahead)
	seen := map[string]bool{}
	for i, f := range r.Tasks {
		if len(f.ID) != 36 || f.ID[14] != '4' || seen[f.ID] || f.Created.IsZero() || !f.Created.Equal(f.Updated) {
			t.Errorf("a new task is %+v", f)
		}
		if i > 0 && !f.Created.After(r.Tasks[i-1].Created) {
			t.Errorf("task %d is not newer than the one before it", i)
		}
		seen[f.ID] = true
	}
	changed := r.Tasks[0]
	changed.Status, changed.Message = task.Success, "m2"
	again := s.look("s", "m2", changed, found("four", "m2"))
	if c := again.Tasks[0]; c.ID != changed.ID || c.Order != 1 || !c.Created.Equal(changed.Created) || !c.Updated.After(changed.Updated) {
		t.Errorf("a task that changed is %+v, and was %+v", c, changed)
	}
	const want = "1 one, 2 two, 7 three, 8 four"
	if got := s.tasks("s", ""); got != want {
		t.Errorf("the tasks are %s, want %s", got, want)
	}
	if other := openSpace(t, s.Dir(), 0); other.tasks("s", "") != want || other.pending("s") != "m3:1 from m3" {
		t.Error("another process reads other tasks")
	}

	before := s.read(task.Path)
	for name, c := range map[string]struct {
		r    task.Record
		code fault.Code
	}{
		"twice":       {task.Record{Session: "s", Messages: []string{"m3", "m2"}, Status: task.Success}, fault.Refused},
		"failed then": {task.Record{Session: "s", Messages: []string{"m2"}, Status: task.Failed}, fault.Refused},
		"no messages": {task.Record{Session: "s", Status: task.Success}, fault.Usage},
		"no status":   {task.Record{Session: "s", Messages: []string{"m3"}}, fault.Usage},
		"no anchor":   {task.Record{Session: "s", Messages: []string{"m3"}, Status: task.Success, Tasks: []task.Task{found("x", "")}}, fault.Usage},
		"no text":     {task.Record{Session: "s", Messages: []string{"m3"}, Status: task.Success, Tasks: []task.Task{found("", "m3")}}, fault.Usage},
	} {
		_, err := s.RecordTasks(t.Context(), c.r)
		if e := workspace.Explain(err); e == nil || e.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if s.read(task.Path) != before {
		t.Error("a refused record left a file")
	}
	if ops, err := s.Log(t.Context(), history.LogOptions{}); err != nil || len(ops.Operations) != 0 {
		t.Errorf("it is an operation: %+v, %v", ops, err)
	}
}

// TestTaskLog: the records are those of the file, whatever happens to the file.
func TestTaskLog(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.chat("s", "", "m1 m2 m3 m4 m5")
	is := func(what, want string) {
		t.Helper()
		fresh := openSpace(t, s.Dir(), 0)
		if got, also := s.tracking("s"), fresh.tracking("s"); got != want || also != want {
			t.Errorf("%s: it is %s, and for a new reader %s, want %s", what, got, also, want)
		}
	}
	is("nothing", "0/1/4/0")
	s.look("s", "m1")
	s.look("s", "m3")
	is("two records", "2/1/2/0")
	lines := strings.SplitAfter(s.read(task.Path), "\n")

	s.write(task.Path, lines[0]+lines[1]+strings.Repeat("x", 20))
	is("a line that is being written", "2/1/2/0")
	s.look("s", "m4")
	is("a line after one that was torn", "3/1/1/0")
	if strings.Contains(s.read(task.Path), "xxx") {
		t.Error("the torn line was not removed")
	}
	s.write(task.Path, lines[0]+lines[1])
	is("a line taken back", "2/1/2/0")
	s.write(task.Path, lines[0]+strings.Replace(lines[1], "m3", "m5", 1))
	is("another last line of the same length", "2/1/2/0")
	if got := s.batch("s", "m3", wide); !strings.HasSuffix(got, "m2 m3 of m1 m2 m3") {
		t.Errorf("the batch is %s", got)
	}
	s.look("s", "m4")
	same := strings.Replace(s.read(task.Path), "m1", "m2", 1)
	s.replace(task.Path, same)
	is("another file with the same last line", "3/0/2/0")
	s.notes = nil
	s.write(task.Path, "{}\n"+lines[0]+"\n\x00\n"+lines[1])
	is("damaged lines", "2/1/2/0")
	is("damaged lines once more", "2/1/2/0")
	if said := strings.Join(s.notes, "\n"); strings.Count(said, "2 lines of .bough/tasks.jsonl") != 1 || strings.Count(said, task.Path) != 1 {
		t.Errorf("the notes on damaged lines are %q", said)
	}
	whole := s.read(task.Path)
	s.forgetTasks()
	is("no file", "0/1/4/0")
	s.write(task.Path, whole)
	is("the file again", "2/1/2/0")
	s.forgetTasks()
	s.write(task.Path+"/x", "")
	for _, err := range []error{
		func() error { _, err := s.Line("s").Tracking(t.Context(), nil); return err }(),
		func() error { _, err := s.Line("s").Pending(t.Context()); return err }(),
		func() error { _, err := s.Line("s").Tasks(t.Context(), ""); return err }(),
		func() error {
			_, err := s.RecordTasks(t.Context(), task.Record{Session: "s", Messages: []string{"m1"}, Status: task.Success})
			return err
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), task.Path) {
			t.Errorf("with a folder in place of the file: %v", err)
		}
	}
}

// TestWorkedConcurrent: several processes that record at once lose no record, and a message
// that two of them track counts once.
func TestWorkedConcurrent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSpace(t, dir, 0)
	var messages []string
	for i := range 40 {
		messages = append(messages, fmt.Sprintf("m%02d", i))
	}
	s.chat("s", "", strings.Join(messages, " "))
	var wg sync.WaitGroup
	for range 4 {
		w, err := workspace.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for _, id := range messages {
				_, err := w.RecordTasks(t.Context(), task.Record{Session: "s", Messages: []string{id}, Status: task.Success, Tasks: []task.Task{found(id, id)}})
				if e := workspace.Explain(err); e != nil && e.Code != fault.Refused {
					t.Error(err)
				}
				if _, err := w.Line("s").Tasks(t.Context(), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list, err := s.Line("s").Tasks(t.Context(), "")
	if err != nil || len(list) != len(messages) {
		t.Fatalf("%d tasks, want %d: %v", len(list), len(messages), err)
	}
	for i, f := range list {
		if f.Order != i+1 {
			t.Errorf("task %d has the order %d", i+1, f.Order)
		}
	}
}
