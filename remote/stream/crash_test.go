package stream_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/stream"
)

// A change is what a machine does when its system crashes. It says which values are acknowledged.
type change struct {
	name  string
	setup func(*machine) // nil for one that begins without a machine
	do    func(m *machine, acknowledged func(...string))
}

var changes = []change{
	{"a new machine", nil, func(*machine, func(...string)) {}},
	{"append", func(m *machine) { m.publish("0") }, func(m *machine, acknowledged func(...string)) {
		m.say("1")
		acknowledged("1")
	}},
	{"append and upload", func(m *machine) { m.publish("0") }, func(m *machine, acknowledged func(...string)) {
		m.say("1")
		acknowledged("1")
		m.say("2")
		acknowledged("2")
		m.upload()
	}},
	{"append with a pack", nil, func(m *machine, acknowledged func(...string)) {
		m.pack(messages("a", 3, 100))
		acknowledged("pack")
		m.upload()
	}},
	{"a pack for a base", nil, func(m *machine, _ func(...string)) {
		m.publish("0")
		p := m.Packer()
		if _, err := p.Add(messages("a", 3, 100)); err != nil {
			m.Fatal(err)
		}
		if err := errors.Join(p.Close(), m.UploadPacks(ctx)); err != nil {
			m.Fatal(err)
		}
	}},
	{"renew", func(m *machine) {
		m.publish("0")
		m.pack(messages("a", 3, 100))
		m.say("1")
	}, func(m *machine, acknowledged func(...string)) {
		if _, err := m.Renew(); err != nil {
			m.Fatal(err)
		}
		m.upload()
	}},
}

// A recording is a change with what was on the disk and in the store at each of its steps.
type recording struct {
	change
	remote *stream.Remote
	trace  *crashdisk.Trace
	stores []map[string][]byte // before each step, and after the last one
	values map[string]int      // after how many steps they were acknowledged
}

func newRecording(t *testing.T, c change) *recording {
	store := new(bucket.Memory)
	rec := &recording{change: c, remote: newRemote(t, store), values: map[string]int{}}
	m := &machine{TB: t, Remote: rec.remote, dir: t.TempDir(), have: stream.Cursors{}, got: map[string]int{}}
	if c.setup != nil {
		m.reopen()
		c.setup(m)
		rec.values["0"] = 0
		for _, r := range m.Unsent() {
			for _, v := range valuesOf(t, r) {
				rec.values[v] = 0
			}
		}
	}
	before, err := crashdisk.Read(m.dir, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	var steps []crashdisk.Step
	end := durable.Interpose(func(_ *os.Root, st durable.Step) error {
		rec.stores = append(rec.stores, dump(t, store))
		steps = append(steps, crashdisk.Step{Do: string(st.Do), Name: st.Name, To: st.To, At: st.At, Data: slices.Clone(st.Data)})
		return nil
	})
	if c.setup == nil {
		m.reopen()
	}
	c.do(m, func(values ...string) {
		for _, v := range values {
			rec.values[v] = len(steps)
		}
	})
	end()
	rec.stores = append(rec.stores, dump(t, store))
	if rec.trace, err = crashdisk.Follow(before, steps); err != nil {
		t.Fatal(err)
	}
	return rec
}

// judge returns the defects after a crash that left a folder and a store.
func (rec *recording) judge(t *testing.T, tree crashdisk.Tree, objects map[string][]byte, step int) error {
	dir := t.TempDir()
	if err := tree.Write(dir); err != nil {
		return err
	}
	store := new(bucket.Memory)
	for name, data := range objects {
		if err := store.Put(ctx, name, data); err != nil {
			return err
		}
	}
	r := through(rec.remote, store)
	root := rootOf(t, dir)
	w, err := r.OpenWriter(root)
	if err != nil {
		return err
	}
	if err := w.Upload(ctx); err != nil {
		return err
	}
	if _, err := w.Append(nil, nil, ops("after")); err != nil {
		return err
	}
	if err := w.Upload(ctx); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	if err != nil {
		return err
	}
	packs, err := os.ReadDir(filepath.Join(dir, "packs"))
	if err != nil {
		return err
	}
	top, err := os.ReadDir(dir)
	top = slices.DeleteFunc(top, func(e os.DirEntry) bool { return e.Name() == "made" })
	if err != nil || len(files)+len(packs) > 0 || len(top) != 3 {
		return fmt.Errorf("%v, %v and %v are left, %w", files, packs, top, err)
	}
	got, err := r.Fetch(ctx, stream.Request{Scope: stream.Names})
	if err != nil || len(got.Problems)+len(got.Held) > 0 {
		return fmt.Errorf("%+v, %w", got, err)
	}
	values := map[string]bool{}
	found, err := w.Made()
	if err != nil {
		return err
	}
	for _, record := range got.Records {
		for _, v := range valuesOf(t, record) {
			values[v] = true
		}
		for _, op := range record.Ops {
			if op.Body == nil {
				continue
			}
			found = append(found, op.Body.Pack)
			for _, err := range r.OpenPacks(rootOf(t, t.TempDir()), 1<<20).Items(ctx, op.Body) {
				if err != nil {
					return err
				}
			}
		}
	}
	for name := range dump(t, store) {
		if pack, ok := strings.CutPrefix(name, "p/"); ok && !slices.Contains(found, pack) {
			return fmt.Errorf("no record names the pack %s, and the machine does not know that it made it", pack)
		}
	}
	for v, after := range rec.values {
		if step >= after && !values[v] {
			return fmt.Errorf("%q was acknowledged, and is lost", v)
		}
	}
	return nil
}

// crashes judges the folders that a crash at each step of a trace may leave, which is that of the
// recording without step omitted, unless that is negative.
func (rec *recording) crashes(t *testing.T, trace *crashdisk.Trace, omitted int) (n int, err error) {
	seen := map[string]bool{}
	for k := range len(trace.Steps) + 1 {
		step := k
		if omitted >= 0 && k >= omitted {
			step++
		}
		trees := slices.Collect(trace.Lost(k, testsize.Of(2, 3, 64)))
		if omitted < 0 {
			trees = slices.AppendSeq(trees, trace.Kept(k))
		}
		for _, tree := range trees {
			key := fmt.Sprintf("%x %d %v", tree.Sum(), len(rec.stores[step]), rec.acknowledgedBy(step))
			if seen[key] {
				continue
			}
			seen[key] = true
			if err := rec.judge(t, tree, rec.stores[step], step); err != nil {
				return len(seen), fmt.Errorf("after %d of %d steps: %w", k, len(trace.Steps), err)
			}
		}
	}
	return len(seen), nil
}

// acknowledgedBy returns how many values are acknowledged after a step.
func (rec *recording) acknowledgedBy(step int) (n int) {
	for _, after := range rec.values {
		if step >= after {
			n++
		}
	}
	return n
}

// TestCrash: after a crash at any step, on a disk that keeps or forgets what was not flushed, what was
// acknowledged gets into the store, once the machine is opened again, and nothing is left over.
func TestCrash(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			rec := newRecording(t, c)
			n, err := rec.crashes(t, rec.trace, -1)
			if err != nil {
				t.Errorf("%v\n%s", err, strings.Join(stepNames(rec.trace), "\n"))
			}
			t.Logf("%d steps, %d folders", len(rec.trace.Steps), n)
		})
	}
}

// TestCrashControl: without any flush, the test finds a loss. A removal need not be durable, and the
// first folder is also flushed with the second one. That a machine made a pack needs to be known only if no record
// names it.
func TestCrashControl(t *testing.T) {
	for _, c := range changes[1:5] {
		rec := newRecording(t, c)
		flushes := slices.DeleteFunc(rec.trace.Syncs(), func(i int) bool {
			made := strings.HasPrefix(rec.trace.Steps[i].Name, "made") || i > 0 && rec.trace.Steps[i-1].Name == "made"
			return made != (c.name == "a pack for a base") || i == 1 || rec.trace.Removes(i-1) || rec.trace.Removes(i-2)
		})
		for _, i := range testsize.Sample(t, c.name, flushes, 4) {
			if _, err := rec.crashes(t, rec.trace.Drop(i), i); err == nil {
				t.Errorf("%s: nothing is wrong without step %d, %s\n%s", c.name, i, rec.trace.Steps[i], strings.Join(stepNames(rec.trace), "\n"))
			}
		}
	}
}

func stepNames(t *crashdisk.Trace) (list []string) {
	for i, s := range t.Steps {
		list = append(list, fmt.Sprint(i, " ", s))
	}
	return list
}

// TestFailingSteps: if a step of the disk fails, acknowledged records are kept, and the machine
// continues when it is opened again.
func TestFailingSteps(t *testing.T) {
	for _, c := range changes {
		if c.setup == nil {
			continue
		}
		steps := len(newRecording(t, c).trace.Steps)
		for k := range steps {
			m := newMachine(t, newRemote(t, new(bucket.Memory)))
			c.setup(m)
			begun := []string{"0"}
			for _, r := range m.Unsent() {
				begun = append(begun, valuesOf(t, r)...)
			}
			n := 0
			end := durable.Interpose(func(*os.Root, durable.Step) error {
				if n++; n == k+1 {
					return errBroken
				}
				return nil
			})
			err := m.attempt(c.name)
			end()
			if err != nil && !errors.Is(err, errBroken) {
				t.Fatalf("%s, step %d: %v", c.name, k, err)
			}
			m.reopen()
			m.upload()
			reader := newMachine(t, m.Remote)
			if got := reader.fetch(stream.Names); len(got.Problems) > 0 {
				t.Fatalf("%s, step %d: %v", c.name, k, got.Problems[0])
			}
			for _, v := range begun {
				if reader.got[v] != 1 {
					t.Fatalf("%s, step %d: %q was applied %d times", c.name, k, v, reader.got[v])
				}
			}
		}
	}
}

// attempt makes a change that may fail.
func (m *machine) attempt(name string) error {
	if name == "renew" {
		if _, err := m.Renew(); err != nil {
			return err
		}
		return m.Upload(ctx)
	}
	if _, err := m.Append(m.have, nil, append(ops("1"), ops("2")...)); err != nil {
		return err
	}
	return m.Upload(ctx)
}
