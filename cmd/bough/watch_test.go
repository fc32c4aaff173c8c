package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// do runs bough, which must succeed, and returns its output.
func do(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("bough %q exits with %d: %s", args, code, errs.String())
	}
	return strings.TrimSpace(out.String())
}

// TestWatch: 'bough watch' prints changes, makes a checkpoint of every user message, and
// ends with exit code 0 when it is interrupted.
func TestWatch(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt")
	}
	dir := filepath.Join(t.TempDir(), "ws")
	bread := do(t, "-w", dir, "new", "--title", "Bread")
	cmd := exec.Command("bough", "-w", dir, "watch", "--checkpoint", "--from", "0", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	want := func(paths ...string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no event comes: %v", lines.Err())
		}
		for i := 0; i < len(paths); i += 2 {
			if got := gjson.Get(lines.Text(), paths[i]).String(); got != paths[i+1] {
				t.Errorf("%s of %s is %q, want %q", paths[i], lines.Text(), got, paths[i+1])
			}
		}
	}
	want("seq", "1", "type", "session_created", "session_id", bread, "verb", "new")
	want("type", "head_moved")
	_, message, _ := strings.Cut(do(t, "-w", dir, "append", bread, "How wet is too wet?"), "@")
	want("seq", "2", "type", "message_added", "message_id", message, "role", "user", "external", "false")
	want("seq", "3", "type", "checkpoint_created", "verb", "checkpoint")
	do(t, "-w", dir, "append", bread, "Rather wet.", "--role", "assistant")
	want("seq", "4", "type", "message_added", "role", "assistant")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("another event comes: %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("bough watch ends with %v", err)
	}
	saved := do(t, "-w", dir, "ls", "--kind", "checkpoint", "--json")
	if n := gjson.Get(saved, "sessions.#").Int(); n != 1 || gjson.Get(saved, "sessions.0.message_count").Int() != 1 {
		t.Errorf("the checkpoints are %s", saved)
	}
}

// TestWatchFiles: 'bough watch --files' prints a line for each state of the folder, which belongs to
// the message that arrived before it, and does not begin in a folder that cannot have states.
func TestWatchFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt")
	}
	home := t.TempDir()
	dir, garden := filepath.Join(home, "ws"), filepath.Join(home, "garden")
	bread := do(t, "-w", dir, "new", "--title", "Bread")
	if err := os.Mkdir(garden, 0o700); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{filepath.Join(home, "none"): 3, string(filepath.Separator): 4, "": 2} {
		var out bytes.Buffer
		if code := run([]string{"-w", dir, "watch", "--files", args}, strings.NewReader(""), &out, &out); code != want {
			t.Errorf("--files %q exits with %d: %s", args, code, out.Bytes())
		}
	}
	cmd := exec.Command("bough", "-w", dir, "watch", "--files", garden, "--json")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(home, "state"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	want := func(at, message, files string) {
		t.Helper()
		for lines.Scan() {
			v := gjson.GetMany(lines.Text(), "type", "state.at", "state.message_id", "state.files")
			if v[0].Str == "state_taken" {
				if v[1].Str != at || v[2].Str != message || v[3].Raw != files {
					t.Errorf("got %s, want %s of %q with %s files", lines.Text(), at, message, files)
				}
				return
			}
		}
		t.Fatalf("no state comes: %v", lines.Err())
	}
	want("checkpoint", "", "0")
	_, message, _ := strings.Cut(do(t, "-w", dir, "append", bread, "How wet is too wet?"), "@")
	want("prompt", message, "0")
	if err := os.WriteFile(filepath.Join(garden, "bed"), []byte("tulips"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("checkpoint", message, "1")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("another line comes: %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("bough watch ends with %v", err)
	}
}

// TestWatchImport: 'bough watch --import' prints a line for each conversation that another program
// begins or continues, and makes checkpoints of the user's messages in it.
func TestWatchImport(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt")
	}
	home := t.TempDir()
	dir := filepath.Join(home, "ws")
	path := filepath.Join(home, "claude", "projects", "p", "s.jsonl")
	grow := func(kind, id, parent, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprintf(f, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":%[1]q,"content":%[4]q}}`+"\n", kind, id, parent, content)
	}
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, "claude"))
	f := startWatch(t, dir, "--import", "--from", "claude-code", "--from", "0", "--checkpoint")
	want := f.want
	grow("user", "u1", "null", "Hello")
	want("conversation_imported", "conversation.status", "new", "conversation.messages", "1", "conversation.title", "Hello")
	want("message_added", "message_id", "u1", "role", "user", "verb", "import")
	want("checkpoint_created")
	grow("assistant", "a1", `"u1"`, "Hi.")
	want("conversation_imported", "conversation.status", "updated", "conversation.messages", "2", "conversation.added", "1")
	want("message_added", "message_id", "a1", "parent_id", "u1", "role", "assistant", "verb", "import")
	grow("user", "u2", `"a1"`, "And now?")
	want("checkpoint_created")
	f.stop()
}

// A watching is a process of 'bough watch --json'.
type watching struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	seen  map[string]string // the last line of each type; events and imports are printed independently
}

// startWatch starts 'bough watch' with these flags.
func startWatch(t *testing.T, dir string, flags ...string) *watching {
	t.Helper()
	cmd := exec.Command("bough", append([]string{"-w", dir, "watch", "--json"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return &watching{t, cmd, bufio.NewScanner(out), map[string]string{}}
}

// want waits for a line of a type, and compares values at paths in it.
func (w *watching) want(kind string, paths ...string) {
	w.t.Helper()
	for w.seen[kind] == "" {
		if !w.lines.Scan() {
			w.t.Fatalf("no %s comes: %v", kind, w.lines.Err())
		}
		w.seen[gjson.Get(w.lines.Text(), "type").String()] = w.lines.Text()
	}
	for i := 0; i < len(paths); i += 2 {
		if got := gjson.Get(w.seen[kind], paths[i]).String(); got != paths[i+1] {
			w.t.Errorf("%s of %s is %q, want %q", paths[i], w.seen[kind], got, paths[i+1])
		}
	}
	delete(w.seen, kind)
}

// stop interrupts the process, which must then end.
func (w *watching) stop() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	for w.lines.Scan() {
	}
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("bough watch ends with %v", err)
	}
}

// TestWatchFrom: --from takes the number of an operation and, with --import, names of tools.
func TestWatchFrom(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ws")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--from", "codex"}, `--from takes the number of an operation, not "codex"`},
		{[]string{"--import", "--from", "nothing"}, `unknown tool "nothing"`},
		{[]string{"--import", "--from="}, `unknown tool ""`},
		{[]string{"--import", "--from", "markdown"}, "bough does not know where markdown keeps its conversations"},
	} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"-w", dir, "watch"}, c.args...), strings.NewReader(""), &out, &errs); code != 2 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("watch %q exits with %d: %s", c.args, code, errs.String())
		}
	}
}
