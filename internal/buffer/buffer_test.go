package buffer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/task"
)

// later advances the time, and waits until all goroutines are blocked.
func later(d time.Duration) {
	synctest.Wait()
	time.Sleep(d) // of the clock of synctest
	synctest.Wait()
}

const second = time.Second

// TestIdle: messages are processed after a time without new messages on their
// branch.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{}, nil)
		r.store("s", "m1")
		later(5 * second)
		r.store("s", "m2")
		later(7 * second)
		r.gave("before the silence is long enough", "")
		later(2 * second)
		r.gave("after it", "m1 m2")
		r.is("then", r.status("s"), "2/0/0/0")
		later(time.Hour)
		r.gave("later", "")

		r.store("s", "m3")
		later(4 * second)
		r.store("s", "b<m2")
		later(5 * second)
		r.gave("a message in another branch does not matter", "m3")
		later(5 * second)
		r.gave("and has its own silence", "b")
	})
}

// TestBatch: a full batch is processed without waiting, and has at most twice the
// threshold.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{Batch: 4, Before: 1}, nil)
		r.store("s", "m1 m2 m3")
		later(second)
		r.gave("too few", "")
		r.store("s", "m4")
		later(second)
		r.gave("enough", "m1 m2 m3 m4")
		r.store("s", "m5 m6 m7")
		later(second)
		r.gave("those after them", "")
		later(10 * second)
		r.gave("after a silence", "m5 m6 m7")

		r.put("s", "n1 n2 n3 n4 n5 n6 n7 n8 n9")
		r.store("s", "n10 n11")
		later(second)
		r.gave("many", "n1 n2 n3 n4 n5 n6 n7 n8")
		later(10 * second)
		r.gave("the rest of them", "n9 n10 n11")
		if n := len(r.notes); n > 0 {
			t.Errorf("it says %q", r.notes)
		}
	})
}

// TestTree: the example of the feature. The messages that two branches share are
// processed once, and each branch has only its own tasks.
func TestTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{Concurrent: 1}, func(_ context.Context, c buffer.Context) (buffer.Result, error) {
			var last string
			json.Unmarshal(c.Messages[len(c.Messages)-1].Content, &last)
			res := found(strings.TrimPrefix(last, "text of "))
			for _, t := range c.Tasks { // each task continues with the new messages
				if t.Order == 1 {
					res.Tasks = append(res.Tasks, buffer.Found{ID: t.ID, Data: json.RawMessage(fmt.Sprintf(`{"progresses":[%q]}`, last))})
				}
			}
			return res, nil
		})
		r.put("s", "m1 m2 m3 m4 m5 m6 m7<m2 m8")
		r.is("a flush", r.flush("s"), "")
		calls := strings.Split(r.given(), ", ")
		if len(calls) != 3 || calls[0] != "m1 m2" || !slices.Contains(calls, "m3 m4 m5 m6") || !slices.Contains(calls, "m7 m8") {
			t.Errorf("it was given %q", calls)
		}
		order := map[bool][2]string{true: {"2 m6", "3 m8"}, false: {"3 m6", "2 m8"}}[calls[1] == "m3 m4 m5 m6"]
		for name, want := range map[string]string{
			"m1": "", "m2": "1 m2", "m3": "1 m2", "m6": "1 m2, " + order[0], "m7": "1 m2", "m8": "1 m2, " + order[1],
		} {
			r.is("the tasks at "+name, r.tasks("s", name), want)
		}
		for name, progress := range map[string]string{"m2": "", "m6": `["text of m6"]`, "m8": `["text of m8"]`} {
			list, err := r.w.Line("s").Tasks(t.Context(), r.ids[name])
			if err != nil {
				t.Fatal(err)
			}
			if got := member(list[0].Data, "progresses"); got != progress || list[0].Branch != r.ids[map[string]string{"m2": "m1", "m6": "m1", "m8": "m7"}[name]] {
				t.Errorf("at %s the task is %+v, %s", name, list[0], list[0].Data)
			}
		}
		r.is("at last", r.status("s"), "8/0/0/0")
	})
}

func member(object json.RawMessage, name string) string {
	var m map[string]json.RawMessage
	json.Unmarshal(object, &m)
	return string(m[name])
}

// gate is a processor that blocks until it is released.
type gate struct {
	room   chan string
	let    chan buffer.Result
	inside atomic.Int32
	most   atomic.Int32
}

func newGate() *gate { return &gate{room: make(chan string, 100), let: make(chan buffer.Result)} }

func (g *gate) process(ctx context.Context, c buffer.Context) (buffer.Result, error) {
	n := g.inside.Add(1)
	for m := g.most.Load(); n > m && !g.most.CompareAndSwap(m, n); m = g.most.Load() {
	}
	defer g.inside.Add(-1)
	g.room <- c.Leaf
	select {
	case r := <-g.let:
		return r, nil
	case <-ctx.Done():
		return buffer.Result{}, ctx.Err()
	}
}

// TestSiblings: branches are processed concurrently after the messages that they
// share, up to the limit.
func TestSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRoom(t, buffer.Options{Concurrent: 2}, g.process)
		r.store("s", "m1 m2 a b<m2 c<m2")
		later(9 * second)
		r.gave("what they have in common", "m1 m2")
		r.is("how far it is", r.status("s"), "0/2/3/0")
		if !r.b.Running(r.ids["m1"]) || r.b.Running(r.ids["a"]) {
			t.Error("another batch is running")
		}
		r.store("s", "d<m2")
		later(9 * second)
		r.gave("a branch more", "")
		g.let <- found("shared")
		later(second)
		r.is("then two of them are", r.status("s"), "2/2/2/0")
		g.let <- found("one")
		later(second)
		r.is("then two others", r.status("s"), "3/2/1/0")
		for range 3 {
			g.let <- found("one")
		}
		later(second)
		r.is("then none", r.status("s"), "6/0/0/0")
		if most := g.most.Load(); most != 2 {
			t.Errorf("%d were processed concurrently, want 2", most)
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			if tasks := r.tasks("s", name); !strings.HasPrefix(tasks, "1 shared, ") || strings.Count(tasks, ",") != 1 {
				t.Errorf("at %s the tasks are %s", name, tasks)
			}
		}
	})
}

// TestBelow: messages below a message in progress wait for it, but not longer than
// their own idle time.
func TestBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRoom(t, buffer.Options{Batch: 2}, g.process)
		r.store("s", "m1 m2")
		later(second)
		r.gave("the first two", "m1 m2")
		r.store("s", "m3 m4 m5")
		later(20 * second)
		r.gave("those below them", "")
		r.is("how far it is", r.status("s"), "0/2/3/0")
		g.let <- found("early")
		later(0)
		r.gave("when the first are done", "m3 m4 m5")
		r.store("s", "m6")
		g.let <- found("late")
		later(second)
		r.gave("one that is too little", "")
		later(8 * second)
		r.gave("after its silence", "m6")
		g.let <- buffer.Result{}
		later(0)
		r.is("at last", r.tasks("s", "m6"), "1 early, 2 late")
	})
}

// TestFailures: a failed batch is retried when a new message arrives, three times
// in all, and later messages are then processed without it.
func TestFailures(t *testing.T) {
	for name, answer := range map[string]buffer.Processor{
		"an error": func(context.Context, buffer.Context) (buffer.Result, error) {
			return buffer.Result{}, errors.New("no model")
		},
		"a panic": func(context.Context, buffer.Context) (buffer.Result, error) { panic("no model") },
		"an exit": func(context.Context, buffer.Context) (buffer.Result, error) { runtime.Goexit(); panic("") },
		"garbage": func(context.Context, buffer.Context) (buffer.Result, error) { return found(""), nil },
		"too late": func(ctx context.Context, _ buffer.Context) (buffer.Result, error) {
			<-ctx.Done()
			return found("x"), ctx.Err()
		},
		"too silly": func(context.Context, buffer.Context) (buffer.Result, error) {
			time.Sleep(time.Hour)
			return found("x"), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const timeout = 30 * second
				r := newRoom(t, buffer.Options{Timeout: timeout}, answer)
				want := map[string]string{
					"an error": "no model", "a panic": "it panicked: no model", "an exit": "it ended without an answer",
					"garbage": "a task has no task_description", "too late": "it took longer than 30s", "too silly": "it took longer than 30s",
				}[name]
				r.store("s", "m1")
				later(60 * second)
				r.gave("the first time", "m1")
				r.is("how far it is", r.status("s"), "0/0/1/0")
				later(time.Hour)
				r.gave("without anything new", "")
				r.is("a flush", r.flush("s"), want)
				r.gave("the second time", "m1")
				r.store("s", "m2")
				later(60 * second)
				r.gave("the third time", "m1 m2")
				r.is("how far it is", r.status("s"), "0/0/1/1")
				r.mu.Lock()
				r.answer = nil
				if len(r.notes) != 3 || !strings.HasSuffix(r.notes[0], want) {
					t.Errorf("it says %q", r.notes)
				}
				r.mu.Unlock()
				r.is("another flush", r.flush("s"), "")
				r.gave("what is left", "m2")
				r.is("at last", r.status("s"), "1/0/0/1")
				r.is("another flush", r.flush("s"), "")
				r.gave("at last", "")
				r.is("the tasks", r.tasks("s", ""), "")
				later(time.Hour) // for processors that do not return
			})
		})
	}
}

// TestAnswers: an invalid answer is a failure and is ignored completely.
func TestAnswers(t *testing.T) {
	other := "8c0e4f6a-5f5b-4d0a-9a53-2f8f1f7c3a11"
	yes := true
	for _, c := range []struct {
		name   string
		answer func(c buffer.Context, sibling string) buffer.Result
		fails  string
		tasks  string // on the path
	}{
		{"nothing", func(buffer.Context, string) buffer.Result { return buffer.Result{} }, "", "1 shared"},
		{"a new task", func(buffer.Context, string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{Data: json.RawMessage(`{"task_description":"x","n":12345678901234567890}`), Status: task.Running, Planning: &yes}}}
		}, "", "1 shared, 3 x running"},
		{"two", func(buffer.Context, string) buffer.Result { return found("x", "y") }, "", "1 shared, 3 x, 4 y"},
		{"a task that has changed", func(c buffer.Context, _ string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{ID: c.Tasks[0].ID, Status: task.Success, Data: json.RawMessage(`{"more":null}`)}}}
		}, "", "1 shared success"},
		{"a task with another text", func(c buffer.Context, _ string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{ID: c.Tasks[0].ID, Description: "other", Messages: []string{c.Path[0]}}}}
		}, "", "1 other"},
		{"a task without messages", func(buffer.Context, string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{Description: "x", Messages: []string{}}}}
		}, "", "1 shared, 3 x"},

		{"a task of the sibling", func(_ buffer.Context, sibling string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{ID: sibling, Status: task.Success}}}
		}, "which is not on this path", "1 shared"},
		{"an unknown task", func(buffer.Context, string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{Description: "good"}, {ID: other, Description: "x"}}}
		}, "which is not on this path", "1 shared"},
		{"a task twice", func(c buffer.Context, _ string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{ID: c.Tasks[0].ID}, {ID: c.Tasks[0].ID}}}
		}, "changed it twice", "1 shared"},
		{"an unknown message", func(buffer.Context, string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{Description: "x", Messages: []string{other}}}}
		}, "which is not on this path", "1 shared"},
		{"no text", func(buffer.Context, string) buffer.Result { return buffer.Result{Tasks: []buffer.Found{{}}} }, "no task_description", "1 shared"},
		{"a removed text", func(c buffer.Context, _ string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{ID: c.Tasks[0].ID, Data: json.RawMessage(`{"task_description":null}`)}}}
		}, "no task_description", "1 shared"},
		{"an invalid status", func(buffer.Context, string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{Description: "x", Status: task.Untracked}}}
		}, `the status "disable_tracking"`, "1 shared"},
		{"invalid data", func(buffer.Context, string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{Description: "x", Data: json.RawMessage(`["x"]`)}}}
		}, "the data of a task that it found", "1 shared"},
		{"data that clients reject", func(buffer.Context, string) buffer.Result {
			return buffer.Result{Tasks: []buffer.Found{{Description: "x", Data: json.RawMessage(`{"progresses":"all"}`)}}}
		}, "progresses is not an array", "1 shared"},
		{"too much data", func(buffer.Context, string) buffer.Result { return found(strings.Repeat("x", task.MaxData)) }, "bytes, over", "1 shared"},
		{"no text at all", func(buffer.Context, string) buffer.Result { return found("x\xff") }, "", "1 shared, 3 x\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t, buffer.Options{}, func(context.Context, buffer.Context) (buffer.Result, error) { return found("shared"), nil })
				r.put("s", "m1")
				r.flush("s")
				r.put("s", "b1")
				r.mu.Lock()
				r.answer = func(context.Context, buffer.Context) (buffer.Result, error) { return found("sibling"), nil }
				r.mu.Unlock()
				r.flush("s")
				list, err := r.w.Line("s").Tasks(t.Context(), r.ids["b1"])
				if err != nil || len(list) != 2 {
					t.Fatal(list, err)
				}
				r.put("s", "a1<m1 a2")
				r.mu.Lock()
				r.answer = func(_ context.Context, given buffer.Context) (buffer.Result, error) {
					return c.answer(given, list[1].ID), nil
				}
				r.mu.Unlock()
				if got := r.flush("s"); !strings.Contains(got, c.fails) || (got == "") != (c.fails == "") {
					t.Errorf("a flush says %q, want %q", got, c.fails)
				}
				r.is("the tasks", r.tasks("s", "a2"), c.tasks)
				r.is("the tasks of the sibling", r.tasks("s", "b1"), "1 shared, 2 sibling")
				if got := r.tasks("s", "m1"); got != "1 shared" {
					t.Errorf("the tasks further up are %s", got)
				}
			})
		})
	}
}

// TestAbout: a task refers to the messages that the processor names, by default the
// new ones, and to all its earlier ones.
func TestAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var name []string
		r := newRoom(t, buffer.Options{}, func(_ context.Context, c buffer.Context) (buffer.Result, error) {
			f := buffer.Found{Description: "x", Messages: name}
			if len(c.Tasks) > 0 {
				f.ID = c.Tasks[0].ID
			}
			return buffer.Result{Tasks: []buffer.Found{f}}, nil
		})
		for _, c := range []struct{ put, about, want string }{
			{"m1 m2", "", "m1 m2"},
			{"m3", "", "m1 m2 m3"},
			{"m4 m5", "m5 m1", "m1 m2 m3 m5"},
		} {
			r.put("s", c.put)
			name = nil
			for _, about := range strings.Fields(c.about) {
				name = append(name, r.ids[about])
			}
			r.is("a flush", r.flush("s"), "")
			list, err := r.w.Line("s").Tasks(t.Context(), "")
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			r.is("it is about", r.say(list[0].Messages), c.want)
		}
	})
}

// TestFlush: a flush waits for all branches, and returns the error.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := "nothing"
		r := newRoom(t, buffer.Options{}, nil)
		r.answer = func(_ context.Context, c buffer.Context) (buffer.Result, error) {
			time.Sleep(3 * second)
			if c.Leaf == r.idOfName(fails) {
				return buffer.Result{}, errors.New("not " + fails)
			}
			return found("x"), nil
		}
		r.store("s", "m1 m2 a b<m2 c<m2")
		r.is("an unknown line", r.flush("gone"), `no session "gone"`)
		fails = "b"
		start := time.Now()
		r.is("a flush", r.flush("s"), "not b")
		if took := time.Since(start); took < 6*second || took > 7*second {
			t.Errorf("it took %v, want 6s", took)
		}
		r.is("after that", r.status("s"), "4/0/1/0")
		fails = "nothing"
		r.is("another", r.flush("s"), "")
		r.is("after that", r.status("s"), "5/0/0/0")
		r.given()

		fails = "n1"
		r.put("s", "n1 n2 x<n1 y<n1")
		r.is("their common messages fail", r.flush("s"), "not n1")
		r.gave("and is tried once", "n1")
		later(time.Hour)
		r.gave("and not again", "")
		fails = "nothing"
		ctx, cancel := context.WithTimeout(t.Context(), second)
		defer cancel()
		if err := r.b.Flush(ctx, "s"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a flush with an ended context returns %v", err)
		}
		later(20 * second)
		r.is("processing continues", r.status("s"), "9/0/0/0")
	})
}

// TestFlushTogether: concurrent flushes, while messages arrive, all wait for the
// existing messages, and no message is processed twice.
func TestFlushTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{Batch: 2}, func(context.Context, buffer.Context) (buffer.Result, error) {
			time.Sleep(second)
			return buffer.Result{}, nil
		})
		r.put("s", "m1 m2 a1 a2 a3 b1<m2 b2 b3")
		for range 5 {
			go func() {
				if got := r.flush("s"); got != "" {
					t.Error(got)
				}
				if s, err := r.w.Line("s").Tracking(t.Context(), nil); err != nil || s.Observed < 8 {
					t.Errorf("after a flush it is %+v, %v", s, err)
				}
			}()
		}
		later(second / 2)
		r.store("s", "b4 b5")
		later(20 * second)
		seen := map[string]int{}
		for _, name := range strings.Fields(strings.ReplaceAll(r.given(), ",", "")) {
			seen[name]++
		}
		if len(seen) != 10 {
			t.Errorf("it was given %v", seen)
		}
		for name, n := range seen {
			if n != 1 {
				t.Errorf("the processor got %s %d times", name, n)
			}
		}
	})
}

// TestDeleted: a session that is deleted while it is processed causes no error, and
// if it is restored it is already processed.
func TestDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRoom(t, buffer.Options{}, g.process)
		r.store("s", "m1 m2")
		later(9 * second)
		r.store("s", "m3")
		if _, err := r.w.Remove(t.Context(), "s", workspace.RemoveOptions{}); err != nil {
			t.Fatal(err)
		}
		g.let <- found("x")
		later(time.Minute)
		r.gave("while it was there", "m1 m2")
		r.store("t", "n1")
		later(9 * second)
		g.let <- found("y")
		later(second)
		r.gave("another", "n1")
		if len(r.notes) > 0 {
			t.Errorf("it says %q", r.notes)
		}
		if _, err := r.w.Undo(t.Context(), history.UndoOptions{In: "s"}); err != nil {
			t.Fatal(err)
		}
		r.is("when it is back", r.tasks("s", ""), "1 x")
		go func() { g.let <- buffer.Result{} }()
		r.is("a flush", r.flush("s"), "")
		r.gave("when it is back", "m3")
	})
}

// TestDamaged: a session that cannot be read is reported, and is processed when it
// can be.
func TestDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{}, nil)
		r.store("s", "m1")
		synctest.Wait()
		name := filepath.Join(r.w.Dir(), filepath.FromSlash(session.FileName("s")))
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, whole[:len(whole)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		later(time.Minute)
		if len(r.notes) != 1 || !strings.Contains(r.notes[0], "s.json") {
			t.Errorf("it says %q", r.notes)
		}
		if got := r.flush("s"); !strings.Contains(got, "s.json") {
			t.Errorf("a flush says %q", got)
		}
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		r.store("s", "m2")
		later(9 * second)
		r.gave("when it is whole", "m1 m2")
	})
}

// TestUnrecorded: if a result cannot be recorded, the batch is processed again with
// the next message.
func TestUnrecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{}, func(context.Context, buffer.Context) (buffer.Result, error) { return found("x"), nil })
		r.answer = func(context.Context, buffer.Context) (buffer.Result, error) {
			err := os.MkdirAll(filepath.Join(r.w.Dir(), filepath.FromSlash(task.Path), "x"), 0o700)
			return found("x"), err
		}
		r.store("s", "m1")
		later(time.Minute)
		r.gave("the first time", "m1")
		if len(r.notes) != 2 || !strings.Contains(r.notes[0], "is lost") {
			t.Errorf("it says %q", r.notes)
		}
		if err := os.RemoveAll(filepath.Join(r.w.Dir(), filepath.FromSlash(task.Path))); err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		r.answer = func(context.Context, buffer.Context) (buffer.Result, error) { return found("y"), nil }
		r.mu.Unlock()
		r.store("s", "m2")
		later(9 * second)
		r.gave("the second time", "m1 m2")
		r.is("the tasks", r.tasks("s", ""), "1 y")
	})
}

// TestLocked: a result is recorded when the lock becomes free, however long that
// takes; the workspace waits for it for 30 s at once.
func TestLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{}, nil)
		r.answer = func(context.Context, buffer.Context) (buffer.Result, error) {
			root, err := os.OpenRoot(r.w.Dir())
			if err != nil {
				return buffer.Result{}, err
			}
			defer root.Close()
			unlock, err := writelock.Lock(t.Context(), root, ".bough", writelock.Holder{Verb: "doctor"}, 0)
			if err != nil {
				return buffer.Result{}, err
			}
			time.AfterFunc(testsize.Of(35*time.Second, 35*time.Second, 2*time.Minute), unlock)
			return found("x"), nil
		}
		r.put("s", "m1")
		r.is("a flush", r.flush("s"), "")
		r.gave("once", "m1")
		r.is("the tasks", r.tasks("s", ""), "1 x")
	})
}

// TestNoProcessor: without a processor all messages stay pending.
func TestNoProcessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{}, nil)
		r.close()
		r.b = buffer.New(r.w, buffer.Options{})
		r.store("s", "m1")
		later(time.Minute)
		r.is("a flush", r.flush("s"), "")
		r.is("how far it is", r.status("s"), "0/0/1/0")
	})
}

// TestUnlocked: the processor is not called while the lock of the workspace is
// held.
func TestUnlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{}, nil)
		quick, err := workspace.Open(t.Context(), r.w.Dir(), &workspace.Options{Wait: -1})
		if err != nil {
			t.Fatal(err)
		}
		r.answer = func(ctx context.Context, c buffer.Context) (buffer.Result, error) {
			_, err := quick.New(ctx, "made meanwhile")
			return found("x"), err
		}
		r.store("s", "m1")
		r.is("a flush", r.flush("s"), "")
	})
}

// TestCopies: the messages that a line and its copy share are processed once, even
// if both are flushed.
func TestCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{}, func(context.Context, buffer.Context) (buffer.Result, error) {
			time.Sleep(second)
			return found("x"), nil
		})
		r.put("home", "m1 m2 m3")
		copied, err := r.w.Branch(t.Context(), "home", workspace.SnapshotOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r.put("home", "m4")
		for _, line := range []string{"home", copied.ID, "home", copied.ID} {
			go func() { r.is("a flush", r.flush(line), "") }()
		}
		later(time.Minute)
		seen := strings.Fields(strings.ReplaceAll(r.given(), ",", ""))
		slices.Sort(seen)
		r.is("it was given", strings.Join(seen, " "), "m1 m2 m3 m4")
	})
}

// TestLateNotification: a late notification about a message that was already in the batch
// changes nothing.
func TestLateNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, buffer.Options{}, func(context.Context, buffer.Context) (buffer.Result, error) {
			time.Sleep(20 * second)
			return buffer.Result{}, errors.New("no model")
		})
		r.put("s", "m1")
		r.store("s", "m2")
		later(9 * second)
		r.gave("both", "m1 m2")
		r.b.Stored("s", r.ids["m1"])
		later(time.Hour)
		r.gave("after they failed", "")
		r.store("s", "m3")
		later(9 * second)
		r.gave("with another", "m1 m2 m3")
		r.store("s", "m4")
		later(25 * second)
		r.gave("with one that came after they were begun", "m1 m2 m3 m4")
		later(time.Hour)
		r.gave("and no more", "")
	})
}

// TestProcessedElsewhere: messages that another program has processed meanwhile are skipped,
// and later ones are processed at once.
func TestProcessedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRoom(t, buffer.Options{Concurrent: 2}, g.process)
		r.store("t", "t1")
		r.store("u", "u1")
		later(9 * second)
		r.given()
		r.store("s", "m1 m2")
		later(9 * second) // it waits for a slot
		other := func(messages ...string) {
			t.Helper()
			_, err := r.w.RecordTasks(t.Context(), task.Record{Session: "s", Messages: messages, Status: task.Success})
			if err != nil {
				t.Fatal(err)
			}
		}
		other(r.ids["m1"])
		go r.b.Flush(t.Context(), "s")
		later(second)
		g.let <- buffer.Result{}
		g.let <- buffer.Result{}
		later(second)
		r.gave("what is left", "m2")
		other(r.ids["m2"])
		g.let <- found("too late")
		later(second)
		r.is("then", r.status("s"), "2/0/0/0")
		r.is("the tasks", r.tasks("s", ""), "")
		if len(r.notes) > 0 {
			t.Errorf("it says %q", r.notes)
		}
	})
}
