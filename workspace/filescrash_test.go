package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	folderstates "github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/restores"
)

// A shelf is a disk with a workspace and a folder.
type shelf struct {
	*testing.T
	base string
	*workspace.Workspace
}

// shelfAt opens the disk in base. day is that of the clock.
func shelfAt(t *testing.T, base string, day int) *shelf {
	t.Helper()
	now := time.Date(2026, 5, day, 15, 32, 0, 0, time.UTC)
	w, err := workspace.Open(context.Background(), filepath.Join(base, "ws"), &workspace.Options{
		Settle: -1, UserState: filepath.Join(base, ".."),
		Now: func() time.Time {
			now = now.Add(time.Second)
			return now
		},
		Random: rand.NewChaCha8([32]byte{byte(day)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &shelf{t, base, w}
}

func (s *shelf) dir() string { return filepath.Join(s.base, "proj") }

// put writes files, which are given by name and content; those without a content are removed.
func (s *shelf) put(list ...string) {
	s.Helper()
	for i := 0; i < len(list); i += 2 {
		full := filepath.Join(s.dir(), list[i])
		var err error
		if list[i+1] == "" {
			err = os.RemoveAll(full)
		} else if err = os.MkdirAll(filepath.Dir(full), 0o700); err == nil {
			err = os.WriteFile(full, []byte(list[i+1]), 0o600)
		}
		if err != nil {
			s.Fatal(err)
		}
	}
}

// has returns what the folder has.
func (s *shelf) has() string {
	var list []string
	err := filepath.WalkDir(s.dir(), func(full string, e fs.DirEntry, err error) error {
		if err != nil || full == s.dir() {
			return err
		}
		name, _ := filepath.Rel(s.dir(), full)
		if e.IsDir() {
			list = append(list, name+"/")
			return nil
		}
		data, err := os.ReadFile(full)
		list = append(list, name+"="+string(data))
		return err
	})
	if err != nil {
		return err.Error()
	}
	return strings.Join(list, " ")
}

func (s *shelf) head() string {
	pos, err := s.Head(context.Background())
	if err != nil || pos == nil {
		return fmt.Sprint(pos, err)
	}
	return string(pos.Head.Session) + "@" + string(pos.Head.Message)
}

// newest returns the newest operation.
func (s *shelf) newest() string {
	ops, err := s.Log(context.Background(), history.LogOptions{Limit: 1})
	if err != nil || len(ops.Operations) == 0 {
		return fmt.Sprint(ops, err)
	}
	return ops.Operations[0].Verb
}

// shelfWithStates returns a shelf with a conversation of two messages with a state each, and a checkpoint of
// the first one.
func shelfWithStates(t *testing.T) *shelf {
	base := filepath.Join(memoryDir(t), "disk")
	s := shelfAt(t, base, 1)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	snap := func() {
		t.Helper()
		_, err := s.Folder(s.dir()).Snap(t.Context(), "", files.SnapOptions{})
		must(err)
	}
	_, err := s.New(t.Context(), "Bread")
	must(err)
	for i, text := range []string{"one", "two"} {
		_, err := s.Append(t.Context(), workspace.Append{Text: text})
		must(err)
		if i == 0 {
			s.put("a", "1", "d/b", "1")
		} else {
			s.put("a", "2", "d", "", "c", "2")
		}
		snap()
		if i == 0 {
			_, err := s.Checkpoint(t.Context(), "HEAD", workspace.SnapshotOptions{Name: "Kept"})
			must(err)
		}
	}
	return s
}

// fileScenarios are what TestFilesCrash stops. op is the operation that it logs; with rolls,
// it completes an interrupted one, which nothing may drop.
var fileScenarios = []struct {
	name, op string
	rolls    bool
	setup    func(*shelf)
	verb     func(*shelf) error
	part     int // a full run stops after one of so many steps; 0 and 1 mean after each
}{
	{"completion", "restore", true, func(s *shelf) {
		moves := 0
		stop := durable.Interpose(func(root *os.Root, step durable.Step) error {
			if root.Name() == s.dir() && (step.Do == durable.Swap || step.Do == durable.Rename) {
				moves++
			}
			if moves > 1 {
				return errors.New("killed")
			}
			return nil
		})
		_, err := s.Folder(s.dir()).Restore(context.Background(), "Kept", restores.Options{})
		if stop(); err == nil {
			s.Fatal("nothing was interrupted")
		}
	}, func(s *shelf) error {
		_, err := s.Folder(s.dir()).Snap(context.Background(), "", files.SnapOptions{})
		return err
	}, 0},
	{"snap", "", false, func(s *shelf) { s.put("c", "3") }, func(s *shelf) error {
		_, err := s.Folder(s.dir()).Snap(context.Background(), "", files.SnapOptions{})
		return err
	}, 0},
	{"forget", "", false, func(*shelf) {}, func(s *shelf) error {
		_, err := s.Folder(s.dir()).Forget(context.Background(), "a", files.ForgetOptions{})
		return err
	}, 0},
	{"restore files", "restore files", false, func(*shelf) {}, func(s *shelf) error {
		_, err := s.Folder(s.dir()).RestoreFiles(context.Background(), "Kept", restores.Options{})
		return err
	}, 0},
	{"restore both", "restore", false, func(s *shelf) { s.put("mine", "1") }, func(s *shelf) error {
		_, err := s.Folder(s.dir()).Restore(context.Background(), "Kept", restores.Options{})
		return err
	}, 0},
	{"merge with files", "merge", false, func(s *shelf) {
		ctx := context.Background()
		if _, err := s.Branch(ctx, "HEAD", workspace.SnapshotOptions{Name: "Rye"}); err != nil {
			s.Fatal(err)
		}
		if _, err := s.Append(ctx, workspace.Append{Text: "three"}); err != nil {
			s.Fatal(err)
		}
		s.put("a", "3")
		if _, err := s.Folder(s.dir()).Snap(ctx, "", files.SnapOptions{}); err != nil {
			s.Fatal(err)
		}
		s.put("a", "2")
		if _, err := s.Rewind(ctx, "Bread", checkpoint.CutOptions{}); err != nil {
			s.Fatal(err)
		}
	}, func(s *shelf) error {
		_, err := s.Merge(context.Background(), "Rye", merge.Options{Files: true, Dir: s.dir()})
		return err
	}, 4},
	{"undo", "undo", false, func(s *shelf) {
		if _, err := s.Folder(s.dir()).Rewind(context.Background(), "HEAD^", checkpoint.CutOptions{}, restores.Options{}); err != nil {
			s.Fatal(err)
		}
	}, func(s *shelf) error {
		_, err := s.Undo(context.Background(), history.UndoOptions{})
		return err
	}, 0},
}

// TestFilesCrash: a verb on the files of a folder that is stopped after any step, on a disk
// that keeps everything and on one that loses what was not flushed, has happened completely or
// not at all when the next writer, of the folder or of the workspace, is done: its files, its head and its operation.
// Then an undo gives the files and the head back.
func TestFilesCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot sync a folder")
	}
	for _, sc := range testsize.Sample(t, "scenarios", fileScenarios, testsize.Of(2, 3, len(fileScenarios))) {
		t.Run(sc.name, func(t *testing.T) {
			s := shelfWithStates(t)
			sc.setup(s)
			before, err := crashdisk.Read(s.base, isCache)
			if err != nil {
				t.Fatal(err)
			}
			c := &filesCrash{T: t, op: sc.op, rolls: sc.rolls, before: before, judged: map[seen]string{}, old: outcome{s.has(), s.head(), s.newest()}}
			c.record(sc.verb)
			n, most := testsize.Of(1, 2, len(c.trace.Steps)+1), testsize.Of(1, 1, max(4, min(12, *states)))
			var all []int
			for k := len(c.trace.Steps); k >= 0; k -= max(sc.part, 1) {
				all = append(all, k)
			}
			for _, k := range testsize.Sample(t, "steps to stop after", all, n) {
				for wrong := range c.failures(c.trace, k, most) {
					t.Errorf("after %d of %d steps: %s", k, len(c.trace.Steps), wrong)
				}
			}
			c.control()
			t.Logf("%d steps, %d disks, %d of them different", len(c.trace.Steps), c.disks, len(c.judged))
		})
	}
}

// An outcome is what a crash must not tear apart.
type outcome struct{ files, head, op string }

type filesCrash struct {
	*testing.T
	op       string
	rolls    bool
	before   crashdisk.Tree
	old, new outcome
	trace    *crashdisk.Trace
	disks    int
	judged   map[seen]string // the defects
}

// A seen is a disk that was judged.
type seen struct {
	sum  crashdisk.Sum
	done bool
	next int
}

func isCache(name string) bool {
	return name == "ws/"+session.CacheDir || strings.HasPrefix(path.Base(name), "lock")
}

// disk writes a disk. The folder that the workspace knows is that of this disk.
func (c *filesCrash) disk(t crashdisk.Tree) string {
	base := filepath.Join(memoryDir(c.T), "disk")
	if err := os.Mkdir(base, 0o700); err != nil {
		c.Fatal(err)
	}
	if err := t.Write(base); err != nil {
		c.Fatal(err)
	}
	name := filepath.Join(base, "ws", "states", "folders.json")
	var known struct {
		Folders []map[string]any `json:"folders"`
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	if err != nil {
		c.Fatal(err)
	}
	real, id, err := folderstates.IdentityOf(filepath.Join(base, "proj"))
	if err != nil {
		c.Fatal(err)
	}
	known.Folders[0]["path"], known.Folders[0]["identity"] = real, id
	if data, err = json.Marshal(known); err == nil {
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		c.Fatal(err)
	}
	return base
}

// record runs the verb and records what it does to the disk.
func (c *filesCrash) record(verb func(*shelf) error) {
	s := shelfAt(c.T, c.disk(c.before), 2)
	var mu sync.Mutex
	var steps []crashdisk.Step
	date := func() {
		if len(steps) > 0 {
			last := &steps[len(steps)-1]
			if info, err := os.Lstat(filepath.Join(s.base, last.Name)); err == nil {
				last.Time = info.ModTime()
			}
		}
	}
	stop := durable.Interpose(func(root *os.Root, step durable.Step) error {
		mu.Lock()
		defer mu.Unlock()
		in, err := filepath.Rel(s.base, root.Name())
		if err != nil || strings.HasPrefix(in, "..") {
			return nil
		}
		date()
		made := crashdisk.Step{Do: string(step.Do), Name: path.Join(in, step.Name), At: step.At, Data: slices.Clone(step.Data)}
		if step.To != "" {
			made.To = path.Join(in, step.To)
		}
		if !strings.Contains(made.Name+"/", "/"+session.CacheDir+"/") {
			steps = append(steps, made)
		}
		return nil
	})
	err := verb(s)
	stop()
	if err != nil {
		c.Fatal(err)
	}
	date()
	c.new = outcome{s.has(), s.head(), s.newest()}
	if c.op != "" && (c.new.files == c.old.files || c.new.op != c.op) {
		c.Fatalf("the verb makes %+v of %+v", c.new, c.old)
	}
	if c.trace, err = crashdisk.Follow(c.before, steps); err != nil {
		c.Fatal(err)
	}
}

// failures yields the defects after a crash.
func (c *filesCrash) failures(trace *crashdisk.Trace, k, most int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		left(trace, k, most, func(how string, tree crashdisk.Tree) bool {
			c.disks++
			disk := seen{tree.Sum(), k == len(trace.Steps), k % 3}
			wrong, known := c.judged[disk]
			if !known {
				wrong = c.judge(tree, disk.done, disk.next)
				c.judged[disk] = wrong
			}
			return wrong == "" || yield(how+": "+wrong)
		})
	}
}

// judge returns the defects of a disk after the next writer. done says that the verb was
// acknowledged; next is the next writer: a repair, a state of the folder, or a verb that has
// nothing to do with it.
func (c *filesCrash) judge(tree crashdisk.Tree, done bool, next int) string {
	s := shelfAt(c.T, c.disk(tree), 3)
	defer os.RemoveAll(filepath.Dir(s.base))
	ctx := context.Background()
	if _, err := s.States(ctx, ""); err != nil {
		return fmt.Sprintf("no states: %v", err)
	}
	if _, err := s.Doctor(ctx, doctor.Options{}); err != nil {
		return fmt.Sprintf("no examination: %v", err)
	}
	switch next {
	case 1:
		if _, err := s.Folder(s.dir()).Snap(ctx, "", files.SnapOptions{}); err != nil {
			return fmt.Sprintf("no state: %v", err)
		}
	case 2:
		if _, err := s.Prune(ctx, workspace.PruneOptions{}); err != nil {
			return fmt.Sprintf("no prune: %v", err)
		}
		if list, _ := filepath.Glob(filepath.Join(s.base, "ws", "states", "restoring", "*.journal")); len(list) > 0 {
			return fmt.Sprintf("a writer left %q", list)
		}
	}
	report, err := s.Doctor(ctx, doctor.Options{Fix: true})
	if err != nil || !report.OK {
		return fmt.Sprintf("no repair: %+v, %v", report, err)
	}
	journals, _ := filepath.Glob(filepath.Join(s.base, "ws", "states", "restoring", "*.journal"))
	stages, _ := filepath.Glob(filepath.Join(s.dir(), ".restore-*"))
	if len(journals)+len(stages) > 0 {
		return fmt.Sprintf("%q are left", slices.Concat(journals, stages))
	}
	got := outcome{s.has(), s.head(), s.newest()}
	switch {
	case c.op == "" && got.files != c.old.files:
		return "the folder has " + got.files
	case c.op == "":
		return ""
	case done && got != c.new:
		return fmt.Sprintf("it was acknowledged, and there is %+v", got)
	case got != c.new && (c.rolls || got != c.old):
		return fmt.Sprintf("there is %+v", got)
	case got == c.old:
		return ""
	}
	undo := s.Undo
	if c.op == "undo" {
		undo = s.Redo
	}
	if _, err := undo(ctx, history.UndoOptions{}); err != nil {
		return fmt.Sprintf("no undo: %v", err)
	}
	if got := (outcome{s.has(), s.head(), c.old.op}); got != c.old && !c.rolls {
		return fmt.Sprintf("after the undo, there is %+v", got)
	}
	return ""
}

// control checks that the test finds a journal that is removed before the operation is logged.
func (c *filesCrash) control() {
	logs, removes := -1, -1
	for i, step := range c.trace.Steps {
		if step.Name == "ws/.bough/operations.jsonl" && logs < 0 {
			logs = i
		}
		if strings.HasSuffix(step.Name, ".journal") && c.trace.Removes(i) {
			removes = i
		}
	}
	if removes < 0 {
		return // the verb restores nothing
	}
	if logs < 0 || removes < logs {
		c.Fatalf("the log is step %d, the journal is removed in step %d", logs, removes)
	}
	for range c.failures(c.trace.Move(removes, logs), logs+1, 1) {
		return
	}
	c.Errorf("nothing fails if the journal is removed before the operation is logged")
}

// TestInterruptedRestore: a restore that fails at any step says so, and the next state of the
// folder completes it or finds nothing to complete.
func TestInterruptedRestore(t *testing.T) {
	for k := 0; ; k += testsize.Of(23, 17, 1) {
		s := shelfWithStates(t)
		old, n := s.has(), 0
		stop := durable.Interpose(func(root *os.Root, step durable.Step) error {
			if n++; n > k {
				return errors.New("the disk is gone")
			}
			return nil
		})
		_, err := s.Folder(s.dir()).Restore(t.Context(), "Kept", restores.Options{})
		stop()
		if err == nil && n <= k {
			if k == 0 {
				t.Error("there were no steps")
			}
			return
		}
		var e *fault.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("step %d: %v", k, err)
		}
		if _, err := s.Folder(s.dir()).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
			t.Fatalf("step %d: %v", k, err)
		}
		restored := s.newest() == "restore"
		switch has := s.has(); {
		case restored && has != "a=1 d/ d/b=1", !restored && has != old, err == nil && !restored:
			t.Errorf("step %d, %v: the folder has %s, the newest operation is %s", k, err, has, s.newest())
		case restored:
			if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil || s.has() != old {
				t.Errorf("step %d: undo: %v, the folder has %s", k, err, s.has())
			}
		}
	}
}

// TestUndoOfInterruptedRestore: an undo after a restore that failed at any step undoes the
// restore, not the operation before it, unless the restore does not exist.
func TestUndoOfInterruptedRestore(t *testing.T) {
	for k := 0; ; k += testsize.Of(23, 17, 1) {
		s := shelfWithStates(t)
		old, head, n := s.has(), s.head(), 0
		stop := durable.Interpose(func(*os.Root, durable.Step) error {
			if n++; n > k {
				return errors.New("the disk is gone")
			}
			return nil
		})
		_, err := s.Folder(s.dir()).Restore(t.Context(), "Kept", restores.Options{})
		stop()
		if err == nil && n <= k {
			return
		}
		journals := filepath.Join(s.base, "ws", "states", "restoring", "*.journal")
		exists := false
		if names, _ := filepath.Glob(journals); len(names) > 0 {
			data, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			exists = bytes.Contains(data, []byte(`"staged":true`))
		}
		done, err := s.Undo(t.Context(), history.UndoOptions{})
		if err != nil {
			t.Fatalf("step %d: %v", k, err)
		}
		verb := done.Operations[0].Original.Verb
		left, _ := filepath.Glob(journals)
		if s.has() != old || len(left) > 0 || exists && (verb != "restore" || s.head() != head) {
			t.Errorf("step %d: the undo of %q left %q, the folder has %s, the head is %s", k, verb, left, s.has(), s.head())
		}
	}
}
