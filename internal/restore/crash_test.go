package restore_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/testsize"
)

// crashStories are restores that TestCrash stops. Modes are those that crashdisk writes.
var crashStories = []struct{ what, target, last string }{
	{"replaced", "a:f600 1\nb:f600 1", "a:f600 2\nb:f600 2"},
	{"new and removed", "a:f600 1\nd:d700\nd/b:f600 1", "c:f600 2\ne:d700\ne/f:f600 2"},
	{"types", "a:l x\nb:d700\nb/c:f600 1", "a:f600 x\nb:f600 1"},
	{"the other way", "a:f600 x\nb:f600 1", "a:l x\nb:d700\nb/c:f600 1"},
}

// A recording is what a run did to a disk.
type recording struct {
	t      *testing.T
	story  *story
	before crashdisk.Tree
	steps  []crashdisk.Step
}

// record runs f on a disk.
func (rec *recording) record(exchange bool, f func(d *desk) error) {
	rec.t.Helper()
	dir := rec.t.TempDir()
	if err := rec.before.Write(dir); err != nil {
		rec.t.Fatal(err)
	}
	d := deskAt(rec.t, dir, nil)
	stop := durable.Interpose(func(root *os.Root, s durable.Step) error {
		in := path.Base(root.Name())
		step := crashdisk.Step{Do: string(s.Do), Name: path.Join(in, s.Name), At: s.At, Data: slices.Clone(s.Data)}
		if s.To != "" {
			step.To = path.Join(in, s.To)
		}
		if s.Do == durable.Swap && root == d.folder && !exchange {
			return errors.ErrUnsupported
		}
		rec.steps = append(rec.steps, step)
		return nil
	})
	defer stop()
	if err := f(d); err != nil {
		rec.t.Fatal(err)
	}
}

// judge returns the defects of a disk after the next Resume. must says that the restore
// exists.
func (rec *recording) judge(dir string, must bool) string {
	d := deskAt(rec.t, dir, nil)
	defer d.folder.Close()
	defer d.journal.Root.Close()
	r, err := restore.Resume(d.folder, d.journal)
	if err != nil {
		return err.Error()
	}
	if pending, err := d.journal.Pending(); pending || err != nil {
		return fmt.Sprintf("the journal is left, %v", err)
	}
	got := d.read()
	switch {
	case r != nil && len(r.Kept) > 0:
		return "kept " + kept(r)
	case maps.Equal(got, rec.story.target) || !must && maps.Equal(got, rec.story.now):
		return ""
	}
	return fmt.Sprintf("the folder has %q", got)
}

// failures yields the defects after crashes in a trace, and counts the disks. The restore
// must be completed after exists steps.
func (rec *recording) failures(t *crashdisk.Trace, at []int, exists, most int, disks *int) iter.Seq[string] {
	return func(yield func(string) bool) {
		rec.crash(t, at, exists, most, disks, yield)
	}
}

func (rec *recording) crash(t *crashdisk.Trace, at []int, exists, most int, disks *int, yield func(string) bool) {
	seen := map[string]bool{}
	for _, k := range at {
		try := func(tree crashdisk.Tree, what string) bool {
			must := k >= exists
			key := fmt.Sprint(tree.Sum(), must)
			if seen[key] {
				return true
			}
			seen[key] = true
			*disks++
			dir, err := os.MkdirTemp(rec.t.TempDir(), "")
			if err != nil {
				rec.t.Fatal(err)
			}
			if err := tree.Write(dir); err != nil {
				rec.t.Fatal(err)
			}
			wrong := rec.judge(dir, must)
			os.RemoveAll(dir)
			return wrong == "" || yield(fmt.Sprintf("after %d steps, %s: %s", k, what, wrong))
		}
		for tree := range t.Kept(k) {
			if !try(tree, "kept") {
				return
			}
		}
		for tree := range t.Lost(k, most) {
			if !try(tree, "lost") {
				return
			}
		}
	}
}

// existing returns the number of steps after which the restore exists durably: the journal
// was renamed for the second time, and its folder flushed.
func existing(steps []crashdisk.Step) int {
	renamed := 0
	for i, s := range steps {
		if s.Do == "rename" && s.To == "store/states/restore-id.journal" {
			renamed++
		}
		if renamed == 2 && s.Do == "syncdir" && s.Name == "store/states" {
			return i + 1
		}
	}
	return len(steps)
}

// TestCrash: a restore that is stopped after any step, on a disk that keeps everything and on
// one that loses what was not flushed, is completed by Resume, or has not changed anything;
// so is one whose Resume is stopped. Without any one of its flushes, a crash is found that
// does harm.
func TestCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot sync a folder")
	}
	for _, row := range crashStories {
		for _, exchange := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%t", row.what, exchange), func(t *testing.T) { crashes(t, row.target, row.last, exchange) })
		}
	}
}

func crashes(t *testing.T, target, last string, exchange bool) {
	s := turn(target, last)
	p := s.plan(t, restore.Options{})
	begin := newDesk(t, s.now)
	before, err := crashdisk.Read(filepath.Dir(begin.dir), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	rec := &recording{t: t, story: s, before: before}
	rec.record(exchange, func(d *desk) error {
		_, err := restore.Apply(t.Context(), d.folder, d.journal, s.objects, p, nil)
		return err
	})
	trace, err := crashdisk.Follow(before, rec.steps)
	if err != nil {
		t.Fatal(err)
	}
	exists, disks := existing(rec.steps), 0
	all := make([]int, len(rec.steps)+1)
	for i := range all {
		all[i] = i
	}
	for wrong := range rec.failures(trace, all, exists, testsize.Of(2, 3, 256), &disks) {
		t.Error(wrong)
	}
	if t.Failed() {
		t.Log(rec.steps)
	}
	again := all[exists:]
	if n := testsize.Of(1, 1, len(again)); len(again) > n {
		again = []int{again[0], again[len(again)/3], again[len(again)/2], again[len(again)-1]}[:n]
	}
	for _, k := range again {
		for tree := range trace.Kept(k) {
			second := &recording{t: t, story: s, before: tree}
			second.record(exchange, func(d *desk) error {
				_, err := restore.Resume(d.folder, d.journal)
				return err
			})
			trace, err := crashdisk.Follow(tree, second.steps)
			if err != nil {
				t.Fatal(err)
			}
			steps := make([]int, len(second.steps)+1)
			for i := range steps {
				steps[i] = i
			}
			for wrong := range second.failures(trace, steps, 0, testsize.Of(1, 2, 64), &disks) {
				t.Errorf("Resume after %d steps: %s", k, wrong)
			}
		}
	}
	syncs := trace.Syncs()
	syncs = syncs[:len(syncs)-1] // without the last one, a journal comes back that finds no stage
	for _, i := range testsize.Sample(t, "controls", syncs, testsize.Of(1, 2, len(syncs))) {
		at := exists
		if i < exists {
			at--
		}
		found := false
		for range rec.failures(trace.Drop(i), all[:len(all)-1], at, 256, &disks) {
			found = true
			break
		}
		if !found {
			t.Errorf("nothing fails without step %d, %v", i, rec.steps[i])
		}
	}
	t.Logf("%d steps, %d disks", len(rec.steps), disks)
}
