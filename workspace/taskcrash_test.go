package workspace_test

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/task"
)

// TestWorkedCrash: an acknowledged record survives a crash; any other is complete or
// absent, and the next record is written on a line of its own. A failing step loses no
// earlier record.
func TestWorkedCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot sync a folder")
	}
	for _, first := range []bool{true, false} {
		base := memoryDir(t)
		s := openSpace(t, base, 0)
		s.chat("s", "", "m1 m2 m3 m4")
		if !first {
			s.look("s", "m1", found("one", "m1"))
		}
		before := readTree(t, base)
		var steps []crashdisk.Step
		restore := durable.Interpose(func(_ *os.Root, step durable.Step) error {
			steps = append(steps, crashdisk.Step{Do: string(step.Do), Name: step.Name, At: step.At, Data: slices.Clone(step.Data)})
			return nil
		})
		s.look("s", "m2", found("two", "m2"))
		restore()
		trace, err := crashdisk.Follow(before, steps)
		if err != nil {
			t.Fatal(err)
		}
		states := 0
		for k := range len(steps) + 1 {
			left(trace, k, 64, func(how string, tree crashdisk.Tree) bool {
				states++
				dir := memoryDir(t)
				if err := tree.Write(dir); err != nil {
					t.Fatal(err)
				}
				after := openAnew(t, dir)
				got := after.tasks("s", "")
				acknowledged := "1 one, 2 two"
				none := "1 one"
				if first {
					acknowledged, none = "1 two", ""
				}
				if got != acknowledged && (got != none || k == len(steps)) {
					t.Errorf("after %d of %d steps (%s) the tasks are %q", k, len(steps), how, got)
				}
				after.look("s", "m3", found("three", "m3"))
				if again := after.tasks("s", ""); !strings.HasSuffix(again, "three") || !strings.HasPrefix(again, got) {
					t.Errorf("after %d of %d steps (%s) and another record the tasks are %q, and were %q", k, len(steps), how, again, got)
				}
				return true
			})
		}
		if states < len(steps) || len(steps) < 3 {
			t.Fatalf("%d states of %d steps", states, len(steps))
		}
		for k := range steps {
			dir := memoryDir(t)
			if err := before.Write(dir); err != nil {
				t.Fatal(err)
			}
			n, failing := 0, openAnew(t, dir)
			was := failing.tasks("s", "")
			restore := durable.Interpose(func(*os.Root, durable.Step) error {
				if n++; n == k+1 {
					return syscall.ENOSPC
				}
				return nil
			})
			_, err := failing.RecordTasks(t.Context(), task.Record{Session: "s", Messages: []string{"m2"}, Status: task.Success, Tasks: []task.Task{found("two", "m2")}})
			restore()
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("where step %d fails: %v", k+1, err)
			}
			if got := failing.tasks("s", ""); got != was {
				t.Errorf("if step %d fails the tasks are %q, and were %q", k+1, got, was)
			}
			failing.look("s", "m2", found("two", "m2"))
		}
	}
}

func readTree(t *testing.T, dir string) crashdisk.Tree {
	t.Helper()
	tree, err := crashdisk.Read(dir, func(name string) bool { return name == session.CacheDir || strings.HasPrefix(name, ".bough/lock") })
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// openAnew opens a workspace with ids that no other has.
func openAnew(t *testing.T, dir string) *space {
	t.Helper()
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &space{t: t, Workspace: w}
}
