package states_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/internal/testsize"
)

// A scene is a change that is interrupted.
type scene struct {
	name  string
	setup func(*space) // before it
	do    func(*states.Store, *space) error
	lost  []string // states that it may remove
	fails string   // the first step that fails, "" for none
}

func take(s *states.Store, in *space, id string) error {
	_, err := s.Take(context.Background(), states.Request{
		State: states.State{ID: id, Folder: "folder", At: states.Manual}, Dir: in.dir, Scan: in.opts, Sources: sources()})
	return err
}

var scenes = []scene{
	{"first take", func(s *space) { s.write("a", "1") }, func(s *states.Store, in *space) error { return take(s, in, "new") }, nil, ""},
	{"next take", func(s *space) {
		s.write("a", "1")
		s.take()
		s.write("b", "2")
	}, func(s *states.Store, in *space) error { return take(s, in, "new") }, nil, ""},
	{"take of what is there", func(s *space) {
		s.write("a", "1")
		s.take()
		s.write("a", "2")
		s.take()
		s.write("a", "1")
	}, func(s *states.Store, in *space) error { return take(s, in, "new") }, nil, ""},
	{"take after one that could not flush the name of its pack", func(s *space) {
		s.write("a", "1")
		s.take()
		s.write("a", "2")
	}, func(s *states.Store, in *space) error {
		if err := take(s, in, "failed"); err == nil {
			in.Error("the step did not fail")
		}
		return take(s, in, "new")
	}, nil, "syncdir states"},
	{"remove", func(s *space) {
		for i := range 3 {
			s.write("a", fmt.Sprint(i))
			s.take()
		}
	}, func(s *states.Store, _ *space) error { return s.Remove("state-2") }, []string{"state-2"}, ""},
	{"tidy that removes a pack", func(s *space) {
		for i := range 3 {
			s.write("a", fmt.Sprint(i))
			s.take()
		}
		if err := s.Remove("state-2"); err != nil {
			s.Fatal(err)
		}
	}, func(s *states.Store, _ *space) error { return s.Tidy(context.Background()) }, nil, ""},
	{"tidy that rewrites a pack", func(s *space) {
		s.write("large", strings.Repeat("x", 10_000))
		s.take()
		if err := os.Remove(filepath.Join(s.dir, "large")); err != nil {
			s.Fatal(err)
		}
		s.take()
		if err := s.Remove("state-1"); err != nil {
			s.Fatal(err)
		}
	}, func(s *states.Store, _ *space) error { return s.Tidy(context.Background()) }, nil, ""},
	{"shrink that removes a pack and rewrites another", func(s *space) {
		for name, size := range map[string]int{"little": 1000, "large": 10_000} {
			content := make([]byte, size)
			rand.NewChaCha8([32]byte{byte(size % 7)}).Read(content)
			s.write(name, string(content))
		}
		s.take()
		for i := range 2 {
			s.write("little", fmt.Sprint(i))
			s.take()
		}
		if err := s.Remove("state-1", "state-2"); err != nil {
			s.Fatal(err)
		}
	}, func(s *states.Store, _ *space) error { return s.Shrink(context.Background(), 11_000) }, nil, ""},
	{"forget", func(s *space) {
		s.write("a", "1")
		s.write("token", "secret")
		s.take()
	}, func(s *states.Store, _ *space) error {
		_, err := s.Forget(context.Background(), "folder", "token")
		return err
	}, nil, ""},
	{"register", func(s *space) {
		if _, err := s.Register(s.workspace, "1"); err != nil {
			s.Fatal(err)
		}
	}, func(s *states.Store, in *space) error {
		_, err := s.Register(in.dir, "2")
		return err
	}, nil, ""},
	{receiveScene, func(s *space) {
		s.write("a", "1")
		s.take()
		s.receive(travelling(1).parcel(s))
	}, func(s *states.Store, in *space) error { return receive(s, travelling(2).parcel(in)) }, []string{travelling(2).state.ID}, ""},
}

const receiveScene = "receive"

// travelling returns a state of another workspace.
func travelling(n int) *forgery {
	f := forge(func(f *forgery) []filetree.Entry {
		return []filetree.Entry{f.file("always", "there"), f.file("b", fmt.Sprint(n))}
	})
	f.state.ID = fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	return f
}

func receive(s *states.Store, p *parcel) error {
	r, err := s.Receive(context.Background(), p.consignment())
	if err != nil {
		return err
	}
	return r.Commit(context.Background())
}

// A recording is a scene and its steps on the disk.
type recording struct {
	*testing.T
	scene
	in       *space
	before   crashdisk.Tree
	trace    *crashdisk.Trace
	contents map[string]map[string]string // of each state
	seen     map[crashdisk.Sum]error
}

func inCache(name string) bool { return strings.HasPrefix(name, ".bough") }

// record makes the change once, in a copy of the workspace.
func record(t *testing.T, sc scene) *recording {
	r := &recording{T: t, scene: sc, in: newSpace(t), contents: map[string]map[string]string{}, seen: map[crashdisk.Sum]error{}}
	r.in.write("always", "there")
	sc.setup(r.in)
	var err error
	if r.before, err = crashdisk.Read(r.in.workspace, inCache); err != nil {
		t.Fatal(err)
	}
	r.remember(r.in.Store)
	var mu sync.Mutex
	var steps []crashdisk.Step
	restore := durable.Interpose(func(_ *os.Root, st durable.Step) error {
		mu.Lock()
		defer mu.Unlock()
		step := crashdisk.Step{Do: string(st.Do), Name: st.Name, To: st.To, At: st.At, Data: slices.Clone(st.Data)}
		switch {
		case inCache(st.Name):
		case step.String() == sc.fails:
			sc.fails = ""
			return syscall.EIO
		default:
			steps = append(steps, step)
		}
		return nil
	})
	err = sc.do(r.in.Store, r.in)
	restore()
	if err != nil {
		t.Fatal(err)
	}
	r.in.healthy()
	r.remember(r.in.Store)
	if r.trace, err = crashdisk.Follow(r.before, steps); err != nil {
		t.Fatal(err)
	}
	return r
}

// remember notes what states hold.
func (r *recording) remember(s *states.Store) {
	r.Helper()
	list, err := s.States()
	if err != nil {
		r.Fatal(err)
	}
	for _, st := range list {
		got, err := holds(s, st)
		if err != nil && !errors.Is(err, states.ErrForgotten) {
			r.Fatal(err)
		}
		if r.contents[st.ID] == nil {
			r.contents[st.ID] = got
		}
	}
}

// judge returns the defects of the workspace after a crash, nil if nothing is.
func (r *recording) judge(t crashdisk.Tree) error {
	sum := t.Sum()
	err, known := r.seen[sum]
	if !known {
		err = r.open(t)
		r.seen[sum] = err
	}
	return err
}

// open opens what a crash left: each state is whole, those from before are there, and the next
// writer works and leaves nothing behind.
func (r *recording) open(t crashdisk.Tree) error {
	dir, err := os.MkdirTemp(filepath.Dir(r.in.workspace), "")
	if err != nil {
		r.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := t.Write(dir); err != nil {
		r.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		r.Fatal(err)
	}
	defer root.Close()
	s := states.Open(root, ".bough/cache")
	defer s.Close()
	if err := r.whole(s); err != nil {
		return err
	}
	if _, err := s.Folders(); err != nil {
		return err
	}
	if err := take(s, r.in, "after the crash"); err != nil {
		return err
	}
	if err := r.whole(s); err != nil {
		return fmt.Errorf("after the next take: %w", err)
	}
	if r.name == receiveScene { // it is repeated, and removes what was left
		if err := receive(s, travelling(2).parcel(r.in)); err != nil {
			return err
		}
	}
	if err := s.Tidy(context.Background()); err != nil {
		return err
	}
	if err := r.whole(s); err != nil {
		return fmt.Errorf("after Tidy: %w", err)
	}
	if problems, err := s.Verify(); err != nil || len(problems) > 0 {
		return fmt.Errorf("Verify: %v, %v", problems, err)
	}
	return fs.WalkDir(root.FS(), states.Dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, durable.TempSuffix) {
			err = fmt.Errorf("%s is left", name)
		}
		return err
	})
}

func (r *recording) whole(s *states.Store) error {
	list, err := s.States()
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, st := range list {
		found[st.ID] = true
		got, err := holds(s, st)
		if errors.Is(err, states.ErrForgotten) && r.name == "forget" {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", st.ID, err)
		}
		if want := r.contents[st.ID]; want != nil && !maps.Equal(got, want) {
			return fmt.Errorf("%s holds %q, want %q", st.ID, got, want)
		}
	}
	for id := range r.contents {
		if !found[id] && id != "new" && !slices.Contains(r.lost, id) {
			return fmt.Errorf("%s is lost", id)
		}
	}
	return nil
}

// crashes judges every disk that a crash after some step of a trace may leave, until one is
// wrong, and returns their number.
func (r *recording) crashes(t *crashdisk.Trace, most int) (n int, err error) {
	for k := range len(t.Steps) + 1 {
		for tree := range t.Kept(k) {
			n++
			if err := r.judge(tree); err != nil {
				return n, fmt.Errorf("a disk that keeps everything, after step %d: %w", k, err)
			}
		}
		for tree := range t.Lost(k, most) {
			n++
			if err := r.judge(tree); err != nil {
				return n, fmt.Errorf("a disk that forgets, after step %d: %w", k, err)
			}
		}
	}
	return n, nil
}

// harmless are flushes that a scene does not need, with the reason.
var harmless = map[string]string{
	"forget: syncdir states, step 4": "the folder is flushed again before the old pack is removed",
}

// TestCrash: a change that is stopped after any step, on a disk that keeps everything and on
// one that loses what was not flushed, leaves each acknowledged state whole, and the new one
// whole or absent. Without a flush, some disk is wrong.
func TestCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot sync a folder")
	}
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			r := record(t, sc)
			n, err := r.crashes(r.trace, testsize.Of(3, 5, 128))
			if err != nil {
				t.Error(err)
			}
			t.Logf("%d steps, %d disks, %d of them different", len(r.trace.Steps), n, len(r.seen))
			for _, i := range r.trace.Syncs() {
				what := fmt.Sprintf("%s, step %d", r.trace.Steps[i], i+1)
				if _, err := r.acknowledged(i); err == nil && harmless[sc.name+": "+what] == "" {
					t.Errorf("nothing is wrong without %s of %v", what, r.trace.Steps)
				}
			}
		})
	}
}

// acknowledged judges the disks of the trace without step i, and whether the change exists at
// its end.
func (r *recording) acknowledged(i int) (n int, err error) {
	without, most := r.trace.Drop(i), testsize.Of(16, 16, 64)
	if n, err = r.crashes(without, most); err != nil {
		return n, err
	}
	want := r.outcome(r.trace)
	for tree := range without.Lost(len(without.Steps), most) {
		if got := outcome(tree); got != want {
			return n, errors.New("an acknowledged change is lost")
		}
	}
	return n, nil
}

// outcome returns what a change leaves in the end: the files that decide, and the packs.
func (r *recording) outcome(t *crashdisk.Trace) string {
	for tree := range t.Kept(len(t.Steps)) {
		return outcome(tree)
	}
	return ""
}

func outcome(t crashdisk.Tree) string {
	var list []string
	for name, f := range t {
		if f != nil {
			list = append(list, fmt.Sprintf("%s %x", name, f.Data))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// TestFailingSteps: if any step fails, because the disk is full for example, the change fails
// or is complete; no state ever has content of another moment, and the next change works.
func TestFailingSteps(t *testing.T) {
	for _, sc := range scenes {
		if sc.fails != "" {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			r := record(t, sc)
			var steps []int
			for k := range r.trace.Steps {
				steps = append(steps, k)
			}
			for _, k := range testsize.Sample(t, "steps", steps, testsize.Of(2, 4, len(steps))) {
				if err := r.fail(k); err != nil {
					t.Errorf("step %d, %s, fails: %v", k+1, r.trace.Steps[k], err)
				}
			}
		})
	}
}

// fail makes the change in a copy of the workspace, where step k fails.
func (r *recording) fail(k int) error {
	dir := r.TempDir()
	if err := r.before.Write(dir); err != nil {
		r.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		r.Fatal(err)
	}
	defer root.Close()
	s := states.Open(root, ".bough/cache")
	n := 0
	var mu sync.Mutex
	restore := durable.Interpose(func(_ *os.Root, st durable.Step) error {
		mu.Lock()
		defer mu.Unlock()
		if inCache(st.Name) {
			return nil
		}
		if n++; n == k+1 {
			return syscall.ENOSPC
		}
		return nil
	})
	failed := r.do(s, r.in)
	restore()
	s.Close()
	list, err := s.States()
	if err != nil {
		return err
	}
	for _, st := range list {
		if st.ID == "new" && failed != nil && r.trace.Steps[k].Do != "sync" && r.trace.Steps[k].Do != "syncdir" {
			return fmt.Errorf("the state exists, and its change failed: %w", failed)
		}
	}
	s.Close()
	tree, err := crashdisk.Read(dir, inCache)
	if err != nil {
		r.Fatal(err)
	}
	return r.open(tree)
}

// TestFlushes: a state of a folder that did not change takes one flush, and any other one
// three, however many files changed.
func TestFlushes(t *testing.T) {
	s := newSpace(t)
	s.write("a/b", "1")
	s.take()
	for want, change := range map[int]func(){
		1: func() {},
		3: func() {
			for i := range 50 {
				s.write(fmt.Sprintf("%d/c", i), fmt.Sprint(i))
			}
		},
	} {
		change()
		var n atomic.Int32
		restore := durable.Interpose(func(_ *os.Root, st durable.Step) error {
			if st.Do == durable.Sync || st.Do == durable.SyncDir {
				n.Add(1)
			}
			return nil
		})
		s.take()
		if restore(); int(n.Load()) != want {
			t.Errorf("%d flushes, want %d", n.Load(), want)
		}
	}
}
