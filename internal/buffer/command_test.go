package buffer_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
)

// TestCommand: a program can be a processor, whatever it does.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		name  string // of commands
		fails string
		tasks string
		logs  int // lines
	}{
		{"find", "", "1 m1+m2", 0},
		{"nothing", "", "", 0},
		{"blank", "", "", 0},
		{"empty", "", "", 0},
		{"fail", "no model", "", 2},
		{"silent", "exit status 4", "", 0},
		{"talk", "", "", 21},
		{"flood", "it answered more than 1048576 bytes", "", 0},
		{"hang", "it took longer than 100ms", "", 0},
		{"garbage", "its answer is invalid: invalid character 'I'", "", 0},
		{"twice", "its answer is invalid", "", 0},
		{"array", "its answer is invalid", "", 0},
		{"number", "its answer is invalid", "", 0},
		{"latin", "its answer is not valid UTF-8", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(asCommand, c.name)
			var logs []string
			line := strconv.Quote(os.Args[0])
			if runtime.GOOS == "windows" {
				line = `"` + os.Args[0] + `"`
			}
			timeout := time.Minute
			if c.name == "hang" {
				timeout = 100 * time.Millisecond
			}
			r := newRoom(t, buffer.Options{Timeout: timeout}, buffer.Command(line, func(s string) { logs = append(logs, s) }))
			r.put("s", "m1 m2")
			if got := r.flush("s"); !strings.HasPrefix(got, c.fails) || (got == "") != (c.fails == "") {
				t.Errorf("a flush says %q, want %q", got, c.fails)
			}
			r.is("the tasks", r.tasks("s", ""), c.tasks)
			if len(logs) != c.logs {
				t.Errorf("it logs %q, want %d lines", logs, c.logs)
			}
			for _, s := range logs {
				if len(s) > 310 || strings.ContainsAny(s, "\x1b\r\n") {
					t.Errorf("it logs %q", s)
				}
			}
		})
	}
}

// shellContext is an input for a command.
var shellContext = buffer.Context{Session: "s", New: []string{"m"}, Leaf: "m"}

func needShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh on Windows")
	}
}

// TestCommandGroup: if a command exceeds its timeout, all its processes are killed.
func TestCommandGroup(t *testing.T) {
	t.Parallel()
	needShell(t)
	one, other := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() {
		for !exists(one) || !exists(other) {
			time.Sleep(time.Millisecond)
		}
		cancel(errors.New("too late"))
	}()
	start := time.Now()
	_, err := buffer.Command(`(`+marking(one)+`) & (trap "" TERM HUP INT; `+marking(other)+`) & sleep 60`, nil)(ctx, shellContext)
	if err == nil || err.Error() != "too late" {
		t.Errorf("it ends with %v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	unmarked(t, one, other)
}

// TestCommandLeftProcess: a process that a command leaves behind with its output is
// killed without waiting for it, and the output of the command counts.
func TestCommandLeftProcess(t *testing.T) {
	t.Parallel()
	needShell(t)
	here := filepath.Join(t.TempDir(), "here")
	start := time.Now()
	r, err := buffer.CommandWithGrace(`(`+marking(here)+`) & echo '{"tasks":[{"task_description":"x"}]}'; until [ -e '`+here+`' ]; do sleep 0.01; done`, 300*time.Millisecond)(t.Context(), shellContext)
	if err != nil || len(r.Tasks) != 1 || r.Tasks[0].Description != "x" {
		t.Errorf("it answers %+v, %v", r, err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	unmarked(t, here)
}

// marking is a program of the shell that makes a file over and over again, for a minute.
func marking(name string) string {
	return `i=0; while [ $i -lt 3000 ]; do : >'` + name + `'; sleep 0.02; i=$((i+1)); done`
}

// unmarked makes sure that nothing makes the files any longer.
func unmarked(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
	time.Sleep(200 * time.Millisecond) // ten times as long as a process that is left would wait
	for _, name := range names {
		if exists(name) {
			t.Errorf("something still makes %s", name)
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestCommandLarge: a command may read all, part or nothing of a large context.
func TestCommandLarge(t *testing.T) {
	needShell(t)
	large := shellContext
	for range 40_000 {
		large.Path = append(large.Path, "5f0f9d3a-7c55-4d0c-9a31-0a6f62f4c1b7")
	}
	data, err := json.Marshal(large)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		`wc -c | sed 's/.*/{"tasks":[{"task_description":"&"}]}/'`:               strconv.Itoa(len(data)),
		`head -c 5 >/dev/null; echo '{"tasks":[{"task_description":"a part"}]}'`: "a part",
		`echo '{"tasks":[{"task_description":"nothing"}]}'`:                      "nothing",
		`exec <&-; echo '{"tasks":[{"task_description":"closed"}]}'`:             "closed",
	} {
		r, err := buffer.Command(line, nil)(t.Context(), large)
		if err != nil || len(r.Tasks) != 1 || strings.TrimSpace(r.Tasks[0].Description) != want {
			t.Errorf("%s answers %+v, %v, want %s", line, r, err, want)
		}
	}
	if _, err := buffer.Command("bough-is-no-command-of-this-name", nil)(t.Context(), shellContext); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a missing command: %v", err)
	}
}
