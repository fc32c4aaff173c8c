package main

import (
	"bufio"
	"bytes"
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
