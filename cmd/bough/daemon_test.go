package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
)

// copyProgram copies bough to path, by rename.
func copyProgram(t *testing.T, path string) {
	t.Helper()
	from, err := exec.LookPath("bough")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	// A process that another test starts meanwhile would have the file open until it runs its
	// program, and the system does not run a file that is open for writing.
	syscall.ForkLock.RLock()
	err = os.WriteFile(path+".new", data, 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestDaemonReplaced: the daemon restarts, as the same process, when the program is replaced, and
// keeps running if the new program cannot start.
func TestDaemonReplaced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not replace a running program")
	}
	dir := t.TempDir()
	program, ws := filepath.Join(dir, "bough"), filepath.Join(dir, "ws")
	copyProgram(t, program)
	daemon := func(verb string) string {
		t.Helper()
		cmd := exec.Command(program, "-w", ws, "daemon", verb)
		cmd.Env = append(os.Environ(), "HOME="+dir, "CLAUDE_CONFIG_DIR="+filepath.Join(dir, "claude"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("bough daemon %s: %v: %s", verb, err, out)
		}
		return string(out)
	}
	started := daemon("start")
	t.Cleanup(func() { daemon("stop") })
	pid := regexp.MustCompile(`process (\d+)`).FindStringSubmatch(started)[1]
	copyProgram(t, program)
	awaitLog(t, ws, program+" was replaced; restarting", "started bough "+version+", process "+pid)
	if status := daemon("status"); !strings.Contains(status, "running, process "+pid) {
		t.Errorf("its status is %s", status)
	}
	if !testsize.Full() {
		return // for time
	}
	if err := os.WriteFile(program+".new", []byte("nonsense"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	awaitLog(t, ws, "restarting failed; going on as before")
	copyProgram(t, program)
	awaitLog(t, ws, "was replaced; restarting", "started bough")
}

// TestDaemonUpgraded: the daemon restarts when the symbolic link by which it was started leads to
// another version, as package managers do, and settings name the link.
func TestDaemonUpgraded(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows needs a privilege for symbolic links")
	}
	dir := t.TempDir()
	program, ws := filepath.Join(dir, "bough"), filepath.Join(dir, "ws")
	version := func(name string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		copyProgram(t, filepath.Join(dir, name, "bough"))
		if err := os.Symlink(filepath.Join(name, "bough"), program+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(program+".new", program); err != nil {
			t.Fatal(err)
		}
	}
	version("1.0")
	bough := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, append([]string{"-w", ws}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "CLAUDE_CONFIG_DIR="+filepath.Join(dir, "claude"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("bough %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	bough("daemon", "start")
	t.Cleanup(func() { bough("daemon", "stop") })
	version("1.1")
	if err := os.RemoveAll(filepath.Join(dir, "1.0")); err != nil {
		t.Fatal(err)
	}
	awaitLog(t, ws, program+" was replaced; restarting", "started bough")
	if diff := bough("hook", "install", "claude-code", "--dry-run"); !strings.Contains(diff, program+" -w ") {
		t.Errorf("a hook does not name %s:\n%s", program, diff)
	}
}

// TestDaemonWorkspaceReplaced: the daemon of a workspace that is removed and created again is the
// daemon of the new one, so that there are not two.
func TestDaemonWorkspaceReplaced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove a file that is open")
	}
	home := t.TempDir()
	ws := filepath.Join(home, "ws")
	bough := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("bough", append([]string{"-w", ws}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "CLAUDE_CONFIG_DIR="+filepath.Join(home, "claude"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("bough %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	pid := regexp.MustCompile(`process (\d+)`).FindStringSubmatch(bough("daemon", "start"))[1]
	t.Cleanup(func() { bough("daemon", "stop") })
	awaitLog(t, ws, "process "+pid)                  // before that, the log of this start would be one of the new workspace
	if err := os.Rename(ws, ws+".old"); err != nil { // at once, unlike RemoveAll
		t.Fatal(err)
	}
	bough("new")
	awaitLog(t, ws, "started bough "+version+", process "+pid)
	if status := bough("daemon", "status"); !strings.Contains(status, "running, process "+pid) {
		t.Errorf("its status is %s", status)
	}
}

// awaitLog waits until the log of the daemon has these texts, in this order, and empties it.
func awaitLog(t *testing.T, ws string, texts ...string) {
	t.Helper()
	log := filepath.Join(ws, ".bough", "daemon", "log")
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = regexp.QuoteMeta(text)
	}
	wanted := regexp.MustCompile("(?s)" + strings.Join(quoted, ".*"))
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		data, _ := os.ReadFile(log)
		if wanted.Match(data) {
			if err := os.Truncate(log, 0); err != nil {
				t.Fatal(err)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the log has not %s:\n%s", fmt.Sprint(texts), data)
		}
	}
}
