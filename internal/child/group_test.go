//go:build unix

package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestGroup: no process that a command started is left, however it ended.
func TestGroup(t *testing.T) {
	for _, c := range []struct {
		how string
		end End
	}{
		{"leaves", Exited},
		{"deaf parent", TimedOut},
		{"deaf parent", Cancelled},
	} {
		var pid int
		ended := started(t, func(limit time.Duration) (*Outcome, bool) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			command := this(c.how)
			command.Grace = 100 * time.Millisecond
			switch c.end {
			case TimedOut:
				command.Timeout = limit
			case Cancelled:
				time.AfterFunc(limit, cancel)
			}
			o := run(t, ctx, command)
			// The process beside it prints "up" before or after its number is written.
			_, err := fmt.Sscan(strings.TrimPrefix(string(o.Output), "up\n"), &pid)
			return o, err == nil
		})
		if ended.End != c.end {
			t.Fatalf("%s: it ended %+v", c.how, ended)
		}
		gone(t, pid)
	}

	// Run does not wait for a process without the output.
	o := run(t, t.Context(), &Command{Line: "sleep 3600 >/dev/null 2>&1 & echo $!", Grace: time.Hour})
	var pid int
	if _, err := fmt.Sscan(string(o.Output), &pid); err != nil || o.End != Exited || o.Exit != 0 {
		t.Fatalf("it ended %+v: %v", o, err)
	}
	gone(t, pid)
}

// TestEscape: a process that has left the group survives, and Run does not wait for
// it.
func TestEscape(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	left := filepath.Join(t.TempDir(), "left")
	o := run(t, t.Context(), &Command{
		Line: `setsid sh -c ': >"$LEFT"; exec sleep 3600' & echo $!; until [ -e "$LEFT" ]; do sleep 0.01; done`,
		Bind: []string{"LEFT=" + left}, Grace: 300 * time.Millisecond,
	})
	var pid int
	if _, err := fmt.Sscan(string(o.Output), &pid); err != nil || o.End != Exited || o.Exit != 0 {
		t.Fatalf("it ended %+v: %v", o, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("it is reported as running: %v", err)
	}
}

// gone waits until a process is dead, and fails after a minute.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 6000 {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && dead(string(stat)) {
			return // a zombie
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d lives on", pid)
}

// dead reports whether a line of /proc/PID/stat is that of a zombie.
func dead(stat string) bool {
	var pid int
	var name, state string
	n, _ := fmt.Sscan(stat, &pid, &name, &state)
	return n == 3 && state == "Z"
}
