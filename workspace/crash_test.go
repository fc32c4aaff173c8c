package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// TestCrash: nothing is ever lost. Each verb is stopped after each thing that it
// asks of the file system, on a disk that keeps everything and on one that
// forgets what was not synced; and each thing that it asks for fails once with
// each error. The workspace then opens without a person's help: what was
// acknowledged is there, the verb has happened or it has not, the next writer
// leaves no trace of it, and doctor finds nothing. With the race detector
// nothing is left out on purpose, and no index is large.
func TestCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder cannot be synced there")
	}
	d := &disks{taps: map[string]func(durable.Step) error{}}
	t.Cleanup(durable.Interpose(d.step))
	var sum tally
	needed := &used{rows: map[string]bool{}}
	t.Run("verbs", func(t *testing.T) {
		for _, sc := range scenarios {
			if underRace && sc.most > 0 {
				continue // it has a large index
			}
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				c := newCrash(t, d, &sum, needed, sc)
				sum.verbs.Add(1)
				c.crashes()
				c.faults()
				c.report()
				if !underRace {
					c.controls()
				}
			})
		}
	})
	for _, row := range slices.Concat(unfinished, needless) {
		if underRace || sum.verbs.Load() < int64(len(scenarios)) {
			break // not everything was tried
		}
		if name := row.verb + ": " + row.what; !needed.rows[name] {
			t.Errorf("nothing needs the row %q any longer", name)
		}
	}
	t.Logf("%d verbs, stopped at %d steps: %d folders a crash may leave, %d of them different; %d failing steps; %d negative controls",
		sum.verbs.Load(), sum.stops.Load(), sum.states.Load(), sum.judged.Load(), sum.faults.Load(), sum.controls.Load())
}

// A tally counts what was tried.
type tally struct{ verbs, stops, states, judged, faults, controls atomic.Int64 }

// disks hands each step to the test in whose folder it is taken.
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
			return nil // what is only remembered may be lost
		}
		return tap(s)
	}
	return nil
}

// during calls f, and tap before every step in the folder base meanwhile.
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

// place is where the workspace is in the folder of a test.
const place = "deep/chat"

// A crash is a scenario that was recorded.
type crash struct {
	scenario
	*testing.T
	disks *disks
	sum   *tally
	used  *used
	base  string // for folders

	verb     verb
	aside    string // a session that the verb has nothing to do with, "" if there is none
	before   crashdisk.Tree
	trace    *crashdisk.Trace
	old, new view
	names    []string          // of all files, at last
	trash    map[string]string // what is in the trash at last, and where
	verdicts map[crashdisk.Sum]*verdict
	found    map[string]*finding // what is wrong, by cause
	sampled  bool                // not everything is tried
}

// A finding is something wrong, where it was seen first, and how often it was.
type finding struct {
	complaint
	where string
	times int
}

// A verb is what is stopped.
type verb func(*space) error

// A verdict is what is to be said of a folder.
type verdict struct {
	done    bool // the change is there, to whoever reads
	tidy    bool // the files have the names that they have in the end
	healthy bool // doctor finds nothing, before anybody writes
	wrong   []complaint
}

// A complaint is about something that must not be after a crash.
type complaint struct{ cause, detail string }

func newCrash(t *testing.T, d *disks, sum *tally, needed *used, sc scenario) *crash {
	c := &crash{scenario: sc, T: t, disks: d, sum: sum, used: needed, base: memoryDir(t), verdicts: map[crashdisk.Sum]*verdict{}, found: map[string]*finding{}}
	if c.sampled = c.most > 0; !c.sampled {
		c.most = 256
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
		healthyBut(t, s, sc.mends)
	}
	c.before = c.read(base)
	c.old = c.mustLook(base)
	c.record()
	return c
}

// memoryDir returns an empty folder, in memory where that is to be had: nothing
// here waits for a disk.
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

// open opens the workspace in base, on the day of that number.
func (c *crash) open(base string, day int) *space {
	s := &space{t: c.T}
	now := time.Date(2026, 5, day, 15, 32, 0, 0, time.UTC)
	w, err := workspace.Open(context.Background(), filepath.Join(base, place), &workspace.Options{
		Limit: c.limit,
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

// read returns what base holds, without what is only remembered.
func (c *crash) read(base string) crashdisk.Tree {
	t, err := crashdisk.Read(base, func(name string) bool { return name == place+"/"+session.CacheDir })
	if err != nil {
		c.Fatal(err)
	}
	return t
}

// folderOf makes a folder of what a crash left.
func (c *crash) folderOf(t crashdisk.Tree) string {
	base := c.folder()
	if err := t.Write(base); err != nil {
		c.Fatal(err)
	}
	return base
}

// record calls the verb once and keeps what it asks for.
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
	c.names = names(c.read(base))
	c.trash = map[string]string{}
	for name, f := range c.read(base) {
		if f != nil && strings.HasPrefix(name, place+"/.bough/trash/") {
			c.trash[string(f.Data)] = name
		}
	}
	is := withoutLock(c.read(base))
	for said := range trace.Kept(len(steps)) { // the first is whole
		said = withoutLock(said)
		if !slices.Equal(names(said), names(is)) {
			c.Fatalf("the folder holds %q, and what was done leaves %q", names(is), names(said))
		}
		for name, f := range is {
			if f != nil && (!bytes.Equal(f.Data, said[name].Data) || !f.Time.Equal(said[name].Time)) {
				c.Fatalf("%s has %d bytes and is of %v, and what was done leaves %d and %v", name, len(f.Data), f.Time, len(said[name].Data), said[name].Time)
			}
		}
		break
	}
}

// names returns the names in t, but for the lock and the journal of the index, which
// is not waited for.
func names(t crashdisk.Tree) []string {
	t = withoutLock(maps.Clone(t))
	delete(t, place+"/"+index.JournalPath)
	return slices.Sorted(maps.Keys(t))
}

// withoutLock leaves out the lock, which is taken without asking.
func withoutLock(t crashdisk.Tree) crashdisk.Tree {
	for _, name := range []string{"lock", "lock.holder"} {
		delete(t, place+"/.bough/"+name)
	}
	return t
}

// A view is what a reader sees: the sessions by id, with all that is said of them
// and their messages, and the head.
type view struct {
	sessions map[string]string
	head     string
	log      []string // what was done, the newest first
}

// look reads the workspace in base, the session aside apart.
func (c *crash) look(base, aside string) (v view, err error) {
	s := c.open(base, 3)
	v.sessions = map[string]string{}
	listing, err := s.List(context.Background(), "")
	if code(err) == workspace.NotFound {
		return v, nil // there is no workspace yet
	}
	if err != nil {
		return v, err
	}
	ops, err := s.Log(context.Background(), workspace.LogOptions{})
	if err != nil {
		return v, err
	}
	for _, o := range ops.Operations {
		v.log = append(v.log, fmt.Sprintf("%d %s %q", o.Seq, o.Verb, o.Sessions))
	}
	for _, e := range listing.Sessions {
		if e.ID == aside {
			continue
		}
		conversation, err := s.Show(context.Background(), e.ID, workspace.ReadOptions{})
		if err != nil {
			return v, err
		}
		text, err := json.Marshal(e)
		if err != nil {
			return v, err
		}
		var b strings.Builder
		b.Write(text)
		for _, m := range conversation.Messages {
			b.WriteByte('\n')
			b.Write(m.Raw)
		}
		v.sessions[e.ID] = b.String()
	}
	head, err := s.Head(context.Background())
	if head != nil {
		v.head = fmt.Sprint(*head)
	}
	return v, err
}

func (c *crash) mustLook(base string) view {
	v, err := c.look(base, c.aside)
	if err != nil {
		c.Fatal(err)
	}
	return v
}

func (v view) same(o view) bool { return v.head == o.head && maps.Equal(v.sessions, o.sessions) }

// half says what of a view is neither old nor new, "" if it is wholly one of them.
func (c *crash) half(v view) string {
	if maps.Equal(v.sessions, c.old.sessions) || maps.Equal(v.sessions, c.new.sessions) {
		return ""
	}
	for id, text := range c.old.sessions {
		if v.sessions[id] != text && v.sessions[id] != c.new.sessions[id] {
			return fmt.Sprintf("%s is %.200q, was %.200q", id, v.sessions[id], text)
		}
	}
	return fmt.Sprintf("the sessions are %q, were %q, will be %q",
		slices.Sorted(maps.Keys(v.sessions)), slices.Sorted(maps.Keys(c.old.sessions)), slices.Sorted(maps.Keys(c.new.sessions)))
}

// judge says what is wrong with a folder that a crash may leave.
func (c *crash) judge(t crashdisk.Tree) *verdict {
	c.sum.states.Add(1)
	sum := t.Sum()
	if v := c.verdicts[sum]; v != nil {
		return v
	}
	c.sum.judged.Add(1)
	base := c.folderOf(t)
	defer os.RemoveAll(base)
	v := &verdict{}
	c.verdicts[sum] = v
	c.readers(v, base)
	v.tidy = slices.Equal(names(t), c.names)
	v.healthy = c.doctor(v, base, "before the next writer", c.passing()...) == 0
	again := c.folderOf(t) // doctor may have helped
	defer os.RemoveAll(again)
	c.writers(v, again, c.open(again, 4))
	return v
}

// passing returns the kinds of problems that the next writer takes away.
func (c *crash) passing() []string {
	kinds := slices.Clip(c.mends)
	if c.old.head != "" && c.new.head == "" {
		kinds = append(kinds, workspace.LostHead)
	}
	return kinds
}

func (v *verdict) is(cause, detail string, args ...any) {
	v.wrong = append(v.wrong, complaint{cause, fmt.Sprintf(detail, args...)})
}

// readers reads what was left.
func (c *crash) readers(v *verdict, base string) view {
	saw, err := c.look(base, c.aside)
	if err != nil {
		v.is("cannot be read", "%v", err)
		return saw
	}
	v.done = saw.same(c.new)
	if half := c.half(saw); half != "" {
		v.is("half", "%s", half)
	}
	if saw.head != c.old.head && saw.head != c.new.head {
		v.is("head", "the head is %s, was %s, will be %s", saw.head, c.old.head, c.new.head)
	}
	c.trashed(v, base)
	return saw
}

// trashed looks for what the verb moves to the trash: it is where it was, or
// there.
func (c *crash) trashed(v *verdict, base string) {
	there := map[string]bool{}
	for _, f := range c.read(base) {
		if f != nil {
			there[string(f.Data)] = true
		}
	}
	for text, name := range c.trash {
		if !there[text] {
			v.is("lost", "%s is gone, and not in the trash", name)
		}
	}
}

// writers goes on with what was left.
func (c *crash) writers(v *verdict, base string, s *space) {
	aside, want, err := c.aside, "aside afterwards", error(nil)
	if aside == "" {
		var e *workspace.Entry
		e, err = s.New(context.Background(), "Afterwards")
		aside, want = e.ID, ""
	} else {
		_, err = s.Append(context.Background(), workspace.Append{Session: aside, Text: "afterwards"})
	}
	if err != nil {
		v.is("cannot be written to", "%v", err)
		return
	}
	if got, err := c.texts(base, aside); err != nil || got != want {
		v.is("cannot be written to", "%q, %v", got, err)
	}
	now, err := c.look(base, aside)
	if err != nil {
		v.is("cannot be read afterwards", "%v", err)
		return
	}
	if c.aside == "" { // the session from afterwards has the head
		now.head = c.old.head
		if maps.Equal(now.sessions, c.new.sessions) {
			now.head = c.new.head
		}
	}
	isOld, isNew := now.same(c.old), now.same(c.new)
	switch half := c.half(now); {
	case half != "":
		v.is("half afterwards", "%s", half)
	case !isOld && !isNew:
		v.is("head afterwards", "the head is %s, was %s, will be %s", now.head, c.old.head, c.new.head)
	case v.done && !isNew:
		v.is("taken back", "a reader saw the change")
	}
	log := now.log[min(1, len(now.log)):] // without what was done afterwards
	if len(c.mends) > 0 {
		log = now.log // what was to be mended came from elsewhere, which is told
	} else if want := c.new.log; isNew && !isOld && !slices.Equal(log, want) {
		v.is("log", "the log is %q, want %q", log, want)
	} else if want := c.old.log; isOld && !isNew && !slices.Equal(log, want) {
		v.is("log", "the log is %q, want %q", log, want)
	}
	for name := range c.read(base) {
		if strings.HasSuffix(name, durable.TempSuffix) {
			v.is("temporary file", "%s stays", name)
		}
	}
	var may []string
	if isOld {
		may = c.mends
	}
	c.doctor(v, base, "afterwards", may...)
}

// texts returns the texts of a session, as s.texts does.
func (c *crash) texts(base, id string) (string, error) {
	conversation, err := c.open(base, 5).Show(context.Background(), id, workspace.ReadOptions{})
	if err != nil {
		return "", err
	}
	var list []string
	for _, m := range conversation.Messages {
		list = append(list, m.Text())
	}
	return strings.Join(list, " "), nil
}

// doctor lets doctor look for what may not be, and returns how much it finds.
func (c *crash) doctor(v *verdict, base, when string, may ...string) int {
	report, err := c.open(base, 5).Doctor(context.Background(), workspace.DoctorOptions{})
	if code(err) == workspace.NotFound {
		return 0
	}
	if err != nil {
		v.is("doctor "+when, "%v", err)
	}
	for _, p := range report.Problems {
		if !slices.Contains(may, p.Kind) {
			v.is("doctor "+when+": "+p.Kind, "%s: %s", p.Path, p.Detail)
		}
	}
	return len(report.Problems)
}

func healthyBut(t *testing.T, s *space, kinds []string) {
	t.Helper()
	if got := s.kinds(workspace.DoctorOptions{}); !slices.Equal(got, kinds) {
		t.Fatalf("before the verb doctor finds %q, want %q", got, kinds)
	}
}

// left yields what a crash after k steps of a trace may leave.
func left(trace *crashdisk.Trace, k, most int, f func(how string, t crashdisk.Tree) (goOn bool)) bool {
	for t := range trace.Kept(k) {
		if !f("kept", t) {
			return false
		}
	}
	for t := range trace.Lost(k, most) {
		if !f("lost", t) {
			return false
		}
	}
	return true
}

// crashes stops the verb after each step.
func (c *crash) crashes() {
	for k := range len(c.trace.Steps) + 1 {
		c.sum.stops.Add(1)
		left(c.trace, k, c.most, func(how string, t crashdisk.Tree) bool {
			for _, w := range c.after(k, c.trace, t) {
				c.find(w, func() string {
					return fmt.Sprintf("stopped after step %d (%s), %s: %s", k, c.stepName(k-1), how, describe(t))
				})
			}
			return true
		})
	}
}

// after says what is wrong with a folder that a crash after k steps of a trace
// may leave. The verb was acknowledged if that is all of them: then it has left
// nothing to others.
func (c *crash) after(k int, trace *crashdisk.Trace, t crashdisk.Tree) []complaint {
	v := c.judge(t)
	wrong := slices.Clip(v.wrong)
	if k == len(trace.Steps) && !v.done {
		wrong = append(wrong, complaint{"acknowledged", "and not there"})
	}
	if k == len(trace.Steps) && !v.tidy {
		wrong = append(wrong, complaint{"acknowledged", "and there are other files"})
	}
	if k == len(trace.Steps) && !v.healthy {
		wrong = append(wrong, complaint{"acknowledged", "and something is left to mend"})
	}
	return wrong
}

var (
	sessionID = regexp.MustCompile(`session_[0-9]+_[0-9]+_[0-9a-f]+`)
	stamp     = regexp.MustCompile(`[0-9]{8}T[0-9.]+`)
)

// stepName says what step i does, without ids.
func (c *crash) stepName(i int) string {
	if i < 0 {
		return "nothing"
	}
	name := strings.ReplaceAll(c.trace.Steps[i].String(), place+"/", "")
	return stamp.ReplaceAllString(sessionID.ReplaceAllString(name, "SESSION"), "STAMP")
}

// describe lists the files of t with their sizes.
func describe(t crashdisk.Tree) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if f := t[name]; f != nil {
			list = append(list, fmt.Sprintf("%s:%d", strings.TrimPrefix(name, place+"/"), len(f.Data)))
		}
	}
	return strings.Join(list, " ")
}

func (c *crash) find(w complaint, where func() string) {
	if f := c.found[w.cause]; f != nil {
		f.times++
		return
	}
	c.found[w.cause] = &finding{w, where(), 1}
}

// report fails the test with what was found, unless that is not better today.
func (c *crash) report() {
	for _, cause := range slices.Sorted(maps.Keys(c.found)) {
		if f := c.found[cause]; !c.used.has(unfinished, c.name, cause) {
			c.Errorf("%s: %s: %s\n%d times, first %s", c.name, cause, f.detail, f.times, f.where)
		}
	}
}

// failures are what a step fails with.
var failures = []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES}

// faults lets each step of the verb fail.
func (c *crash) faults() {
	first := slices.IndexFunc(c.trace.Steps, func(s crashdisk.Step) bool { return s.Do == "rename" || s.Do == "swap" })
	for k := range c.trace.Steps {
		for i, failure := range failures {
			if c.sampled && i != k%len(failures) {
				continue
			}
			c.sum.faults.Add(1)
			for _, w := range c.fault(k, k <= first, failure) {
				c.find(w, func() string { return fmt.Sprintf("where step %d (%s) fails: %v", k+1, c.stepName(k), failure) })
			}
		}
	}
}

// fault calls the verb while step k fails. early says that nothing has changed
// before that.
func (c *crash) fault(k int, early bool, failure error) []complaint {
	base := c.folderOf(c.before)
	defer os.RemoveAll(base)
	s := c.open(base, 2)
	var n atomic.Int64
	var err error
	c.disks.during(base, func(durable.Step) error {
		if n.Add(1) == int64(k)+1 {
			return failure
		}
		return nil
	}, func() { err = c.verb(s) })
	v := &verdict{}
	saw := c.readers(v, base)
	switch {
	case err == nil && !maps.Equal(saw.sessions, c.new.sessions):
		v.is("acknowledged", "and not there")
	case err != nil && early && !saw.same(c.old):
		v.is("refused", "and there: %v", err)
	case err != nil && !errors.Is(err, failure):
		v.is("another error", "%v", err)
	}
	before := v.done
	v.done = err == nil
	c.writers(v, base, s)
	v.done = before
	return v.wrong
}

// controls makes sure that what the verb waits for is needed: without any one
// wait, and with what follows a wait before it, something goes wrong.
func (c *crash) controls() {
	seen := map[string]int{}
	try := func(what string, trace *crashdisk.Trace) {
		c.sum.controls.Add(1)
		if seen[what]++; seen[what] > 1 {
			what = fmt.Sprintf("%s (%d)", what, seen[what])
		}
		if !c.breaks(trace) && !c.used.has(needless, c.name, what) {
			c.Errorf("%s: nothing goes wrong %s", c.name, what)
		}
	}
	for i := range c.trace.Steps {
		if c.trace.Removes(i) && i > 0 && c.trace.Steps[i-1].Do != "make" {
			try("with "+c.stepName(i)+" before "+c.stepName(i-1), c.trace.Move(i, i-1))
		}
	}
	for _, i := range c.trace.Syncs() {
		try("without "+c.stepName(i), c.trace.Drop(i))
		if j := c.waits(i); j > 0 {
			try("with "+c.stepName(j)+" before "+c.stepName(i), c.trace.Move(j, i))
		}
	}
}

// waits returns the step that waits for the sync i: the rename of the file that
// is synced, or the next change of a name that was there then; 0 if there is none.
func (c *crash) waits(i int) int {
	steps := c.trace.Steps
	for j := i + 1; j < len(steps); j++ {
		switch {
		case steps[i].Do == "sync" && c.trace.Renames(j) && c.trace.Same(i, j):
			return j
		case steps[i].Do == "syncdir" && (steps[j].Do == "make" || steps[j].Do == "mkdir"):
			return 0
		case steps[i].Do == "syncdir" && (c.trace.Renames(j) || c.trace.Removes(j)):
			return j
		}
	}
	return 0
}

// breaks reports whether something goes wrong with a trace that does not today.
func (c *crash) breaks(trace *crashdisk.Trace) bool {
	for k := len(trace.Steps); k >= 0; k-- {
		if k < len(trace.Steps) && trace.Steps[k].Do == "write" {
			continue // what is half written then is so after it too
		}
		if !left(trace, k, c.most, func(how string, t crashdisk.Tree) bool {
			return !slices.ContainsFunc(c.after(k, trace, t), func(w complaint) bool {
				return !unfinished.has(c.name, w.cause)
			})
		}) {
			return true
		}
	}
	return false
}

// A table is a list of what must be known of some verbs, with the reasons.
type table []struct{ verb, what, why string } // verb is "" for all of them

func (t table) has(verb, what string) bool { return t.find(verb, what) >= 0 }

func (t table) find(verb, what string) int {
	for i, row := range t {
		if (row.verb == "" || row.verb == verb) && row.what == what {
			return i
		}
	}
	return -1
}

// used are the rows of tables that have been needed.
type used struct {
	mu   sync.Mutex
	rows map[string]bool
}

func (u *used) has(t table, verb, what string) bool {
	i := t.find(verb, what)
	if i >= 0 {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.rows[t[i].verb+": "+what] = true
	}
	return i >= 0
}
