package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

var states = flag.Int("states", 0, "how many folders per step TestCrash tries, and every error at each step, in a full run, and TestFilesCrash at most 12; 0 for what the size of the tests says")

// TestCrash: no acknowledged write is ever lost. Each verb is stopped after each of its
// file operations, on a disk that keeps everything and on one that loses unsynced data; and
// each file operation fails once. The workspace must then open without manual repair:
// acknowledged writes are present, the verb has happened completely or not
// at all, the next writer removes its remains, and doctor finds nothing. The race detector
// runs without the scenarios of large indexes and the negative controls. A full run tries every
// step, and every second of the states in which a single change is lost, and combinations; with
// -states all of them and more, and any other run tries a sample of the steps and states of every eighth verb, with the
// negative controls of half of those.
func TestCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot sync a folder")
	}
	d := &disks{taps: map[string]func(durable.Step) error{}}
	t.Cleanup(durable.Interpose(d.step))
	var sum tally
	needed := &used{rows: map[string]bool{}}
	scenarios := slices.Concat(scenarios, packScenarios, packRecoveries())
	t.Run("verbs", func(t *testing.T) {
		n, large := 0, 0
		for _, sc := range testsize.Sample(t, "verbs", scenarios, testsize.Of(2, len(scenarios)/8, len(scenarios))) {
			if sc.most > 0 { // it has a large index
				if large++; underRace || large%testsize.Of(1, 2, 1) != 0 {
					continue
				}
			}
			n++
			controlled := n%testsize.Of(1, 2, 1) == 0
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				c := newCrash(t, d, needed, sc)
				c.sum.verbs.Add(1)
				c.crashes()
				c.faults()
				c.report()
				// A recovery has the negative controls of its verb and of append.
				if !underRace && sc.interrupted == nil && controlled {
					c.controls()
				}
				t.Log(&c.sum)
				sum.add(&c.sum)
			})
		}
	})
	for _, row := range slices.Concat(unfinished, needless) {
		if *states == 0 || !testsize.Full() || underRace || sum.verbs.Load() < int64(len(scenarios)) {
			break // not everything was tried
		}
		if name := row.verb + ": " + row.what; !needed.rows[name] {
			t.Errorf("the row %q is no longer needed", name)
		}
	}
	t.Log(&sum)
}

// A tally counts the checks.
type tally struct{ verbs, stops, states, judged, faults, controls atomic.Int64 }

func (t *tally) add(o *tally) {
	t.verbs.Add(o.verbs.Load())
	t.stops.Add(o.stops.Load())
	t.states.Add(o.states.Load())
	t.judged.Add(o.judged.Load())
	t.faults.Add(o.faults.Load())
	t.controls.Add(o.controls.Load())
}

func (t *tally) String() string {
	return fmt.Sprintf("%d verbs, stopped at %d steps: %d folders a crash may leave, %d of them different; %d failing steps; %d negative controls",
		t.verbs.Load(), t.stops.Load(), t.states.Load(), t.judged.Load(), t.faults.Load(), t.controls.Load())
}

// disks passes each file operation to the test that owns its folder.
type disks struct {
	mu   sync.RWMutex
	taps map[string]func(durable.Step) error
}

func (d *disks) step(root *os.Root, s durable.Step) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for base, tap := range d.taps {
		in, err := filepath.Rel(base, root.Name())
		if err != nil || in == ".." || strings.HasPrefix(in, "../") {
			continue
		}
		in = filepath.ToSlash(in)
		s.Name = path.Join(in, s.Name)
		if s.To != "" {
			s.To = path.Join(in, s.To)
		}
		if strings.Contains(s.Name+"/", "/"+session.CacheDir+"/") {
			return nil // caches may be lost
		}
		return tap(s)
	}
	return nil
}

// during calls f and calls tap before every file operation in the folder base until f
// returns.
func (d *disks) during(base string, tap func(durable.Step) error, f func()) {
	d.mu.Lock()
	d.taps[base] = tap
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.taps, base)
		d.mu.Unlock()
	}()
	f()
}

// place is the path of the workspace in the folder of a test.
const place = "deep/chat"

// A crash is a recorded scenario.
type crash struct {
	scenario
	*testing.T
	disks *disks
	sum   tally
	used  *used
	base  string // for folders

	verb     verb
	aside    string // a session that the verb does not use, "" for none
	before   crashdisk.Tree
	trace    *crashdisk.Trace
	old, new view
	parts    []unit            // operations of the verb, if they are independent
	names    []string          // of all files at the end
	ledger   string            // of imports, at the end
	trash    map[string]string // the final contents of the trash, and their places
	verdicts map[crashdisk.Sum]*verdict
	repacked map[crashdisk.Sum][]complaint // what repack finds
	found    map[string]*finding           // problems, by cause
	sampled  bool                          // each folder has a large index
	rare     int                           // as most, for the negative controls, as some of them lose data only in a rare state
}

// A finding is a violation, with its first occurrence and their number.
type finding struct {
	complaint
	where string
	times int
}

// A verb is an operation to interrupt.
type verb func(*space) error

func newCrash(t *testing.T, d *disks, needed *used, sc scenario) *crash {
	c := &crash{scenario: sc, T: t, disks: d, used: needed, base: memoryDir(t), verdicts: map[crashdisk.Sum]*verdict{}, repacked: map[crashdisk.Sum][]complaint{}, found: map[string]*finding{}}
	if c.sampled = c.most > 0; c.sampled {
		c.most = min(c.most, testsize.Of(1, 1, c.most))
		c.rare = c.most
	} else {
		c.most = testsize.Of(2, 2, 4)
		c.rare = 64
		if testsize.Full() && c.packs { // there are five times as many steps, and more checks of each folder
			c.most, c.rare = 6, 20
		}
		if *states > 0 {
			c.most, c.rare = *states, *states
		}
	}
	base := c.folder()
	dir := filepath.Join(base, place)
	if sc.absent {
		c.verb = sc.setup(nil)
	} else {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if sc.files != nil {
			if err := sc.files(dir); err != nil {
				t.Fatal(err)
			}
		}
		s := c.open(base, 1)
		c.aside = s.new("Aside")
		s.say("aside")
		c.verb = sc.setup(s)
		if sc.interrupted != nil {
			c.interrupt(base, sc.interrupted(s))
		} else {
			healthyBut(t, s, slices.Concat(sc.mends, sc.notes))
		}
	}
	c.before = c.read(base)
	c.old = c.mustLook(base)
	c.record()
	return c
}

// memoryDir returns an empty folder, in memory if possible: the recorded steps make no use
// of a real disk.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "bough-crash-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// folder makes an empty folder.
func (c *crash) folder() string {
	dir, err := os.MkdirTemp(c.base, "")
	if err != nil {
		c.Fatal(err)
	}
	return dir
}

// open opens the workspace in base with a clock at this day.
func (c *crash) open(base string, day int) *space {
	s := &space{t: c.T}
	now := time.Date(2026, 5, day, 15, 32, 0, 0, time.UTC)
	w, err := workspace.Open(context.Background(), filepath.Join(base, place), &workspace.Options{
		Limit:   c.limit,
		UndoAge: c.log.Age, UndoOperations: c.log.Operations, CompactEvery: c.log.Every,
		Settle: -1,
		Now: func() time.Time {
			now = now.Add(time.Second)
			return now
		},
		Random: rand.NewChaCha8([32]byte{byte(day)}),
	})
	if err != nil {
		c.Fatal(err)
	}
	s.Workspace = w
	return s
}

// read returns the contents of base, without the cache.
func (c *crash) read(base string) crashdisk.Tree {
	t, err := crashdisk.Read(base, func(name string) bool { return name == place+"/"+session.CacheDir })
	if err != nil {
		c.Fatal(err)
	}
	return t
}

// folderOf writes the files of t into a new folder.
func (c *crash) folderOf(t crashdisk.Tree) string {
	base := c.folder()
	if err := t.Write(base); err != nil {
		c.Fatal(err)
	}
	return base
}

// interrupt stops a verb after its first rename, as a kill of its process does.
func (c *crash) interrupt(base string, verb verb) {
	var renames, more atomic.Int64
	killed := errors.New("killed")
	c.disks.during(base, func(s durable.Step) error {
		if renames.Load() > 0 {
			more.Add(1)
			return killed
		}
		if s.Do == durable.Rename || s.Do == durable.Swap {
			renames.Add(1)
		}
		return nil
	}, func() { verb(c.open(base, 1)) })
	if more.Load() == 0 {
		c.Fatal("the verb has nothing to interrupt")
	}
}

// record runs the verb once and records its file operations.
func (c *crash) record() {
	base := c.folderOf(c.before)
	var mu sync.Mutex
	var steps []crashdisk.Step
	date := func() {
		if len(steps) == 0 {
			return
		}
		last := &steps[len(steps)-1]
		if info, err := os.Stat(filepath.Join(base, last.Name)); err == nil {
			last.Time = info.ModTime()
		}
	}
	c.disks.during(base, func(s durable.Step) error {
		mu.Lock()
		defer mu.Unlock()
		date()
		steps = append(steps, crashdisk.Step{Do: string(s.Do), Name: s.Name, To: s.To, At: s.At, Data: slices.Clone(s.Data)})
		return nil
	}, func() {
		if err := c.verb(c.open(base, 2)); err != nil {
			c.Fatal(err)
		}
	})
	date()
	trace, err := crashdisk.Follow(c.before, steps)
	if err != nil {
		c.Fatal(err)
	}
	c.trace = trace
	c.new = c.mustLook(base)
	if c.apart {
		c.parts = c.units(base)
	}
	end := c.read(base)
	c.names, c.ledger = names(end), ledgerOf(end)
	c.trash = map[string]string{}
	for name, f := range c.read(base) {
		if f != nil && strings.HasPrefix(name, place+"/.bough/trash/") {
			c.trash[string(f.Data)] = name
		}
	}
	is := withoutLock(c.read(base))
	for said := range trace.Kept(len(steps)) { // the first one is complete
		said = withoutLock(said)
		if !slices.Equal(names(said), names(is)) {
			c.Fatalf("the folder has %q, and the recorded steps make %q", names(is), names(said))
		}
		for name, f := range is {
			if f != nil && (!bytes.Equal(f.Data, said[name].Data) || !f.Time.Equal(said[name].Time)) {
				c.Fatalf("%s has %d bytes and time %v, and the recorded steps make %d and %v", name, len(f.Data), f.Time, len(said[name].Data), said[name].Time)
			}
		}
		break
	}
}

// names returns the file names in t, except for the lock and the index journal, whose
// writes are not synced.
func names(t crashdisk.Tree) []string {
	t = withoutLock(maps.Clone(t))
	delete(t, place+"/"+index.JournalPath)
	return slices.Sorted(maps.Keys(t))
}

// withoutLock returns t without the lock, which durable does not record.
func withoutLock(t crashdisk.Tree) crashdisk.Tree {
	for _, name := range []string{"lock", "lock.holder"} {
		delete(t, place+"/.bough/"+name)
	}
	return t
}
