package buffer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/task"
)

// Environment variables that select the role of a process started by these tests.
const (
	asCommand = "BOUGH_TEST_COMMAND" // a processor, see commands
	asServer  = "BOUGH_TEST_SERVER"  // a process that flushes the line s of the workspace in that folder
	until     = "BOUGH_TEST_UNTIL"   // where it stops: in the processor, or before a step
)

func TestMain(m *testing.M) {
	if name := os.Getenv(asCommand); name != "" {
		os.Exit(commands[name]())
	}
	if dir := os.Getenv(asServer); dir != "" {
		serve(dir, os.Getenv(until))
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the programs that the tests start: under the race detector each sleeps for a second
	os.Exit(testsize.InMemory(testsize.Waiting(m)).Run())
}

// commands are the processors that a process can run; each returns its exit code.
var commands = map[string]func() int{
	"find": func() int {
		var c buffer.Context
		if err := json.NewDecoder(os.Stdin).Decode(&c); err != nil {
			return 9
		}
		var texts []string
		for _, m := range c.Messages {
			var text string
			json.Unmarshal(m.Content, &text)
			texts = append(texts, strings.TrimPrefix(text, "text of "))
		}
		json.NewEncoder(os.Stdout).Encode(map[string]any{"tasks": []any{
			map[string]any{"task_description": strings.Join(texts, "+"), "data": map[string]any{"progresses": []string{"<a>"}}, "more": 1},
		}})
		return 0
	},
	"nothing": func() int { return 0 },
	"blank":   func() int { fmt.Println(" "); return 0 },
	"empty":   func() int { io.Copy(io.Discard, os.Stdin); fmt.Println("{}"); return 0 },
	"fail": func() int {
		fmt.Fprint(os.Stderr, "some \x1b[31mtrouble\r\n\nno model\n\n")
		return 3
	},
	"silent": func() int { return 4 },
	"talk": func() int {
		for n := range 30 {
			fmt.Fprintln(os.Stderr, n, strings.Repeat("long ", 200))
		}
		return 0
	},
	"flood": func() int {
		for {
			if _, err := os.Stdout.Write(make([]byte, 1<<16)); err != nil {
				time.Sleep(time.Minute) // until it is killed
			}
		}
	},
	"hang":    func() int { time.Sleep(time.Minute); return 0 }, // until it is killed
	"garbage": func() int { fmt.Println("I found nothing."); return 0 },
	"twice":   func() int { fmt.Println("{} {}"); return 0 },
	"array":   func() int { fmt.Println("[]"); return 0 },
	"number":  func() int { fmt.Println(`{"tasks":[{"task_description":7}]}`); return 0 },
	"latin":   func() int { fmt.Println("{\"tasks\":[{\"task_description\":\"caf\xe9\"}]}"); return 0 },
}

// serve processes messages until it reaches a place, reports that, and blocks.
func serve(dir, place string) {
	w, err := workspace.Open(context.Background(), dir, nil)
	if err != nil {
		panic(err)
	}
	stay := func(at string) {
		if at == place {
			fmt.Println("there")
			select {}
		}
	}
	durable.Interpose(func(_ *os.Root, s durable.Step) error {
		if s.Name == task.Path {
			stay("before " + string(s.Do))
		}
		return nil
	})
	b := buffer.New(w, buffer.Options{Processor: func(context.Context, buffer.Context) (buffer.Result, error) {
		stay("in the processor")
		return found("of one who was killed"), nil
	}})
	if err := b.Flush(context.Background(), "s"); err != nil {
		panic(err)
	}
	stay("after it")
}

// TestKilled: if the process is killed between the call of the processor and the
// record, the messages stay pending. They are processed again, and the tasks are
// recorded once.
func TestKilled(t *testing.T) {
	for _, place := range []string{"in the processor", "before make", "before open", "before write", "before sync", "after it"} {
		r := newRoom(t, buffer.Options{}, func(context.Context, buffer.Context) (buffer.Result, error) {
			return found("of another"), nil
		})
		r.put("s", "m1 m2")
		if place == "before open" {
			if err := os.MkdirAll(r.w.Dir()+"/.bough", 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(r.w.Dir()+"/"+task.Path, []byte("torn"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asServer+"="+r.w.Dir(), until+"="+place)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "there\n" {
			t.Fatalf("%s: it says %q, %v", place, line, err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		r.is(place+": a flush", r.flush("s"), "")
		again, tasks := "m1 m2", "1 of another"
		if place == "after it" || place == "before sync" { // the system did not crash
			again, tasks = "", "1 of one who was killed"
		}
		r.gave(place, again)
		r.is(place, r.tasks("s", ""), tasks)
		r.is(place, r.status("s"), "2/0/0/0")
		if len(r.notes) > 0 {
			t.Errorf("%s: it says %q", place, r.notes)
		}
	}
}
