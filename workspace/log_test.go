package workspace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
)

// spoilLog replaces the log by f of it and returns the result.
func (s *space) spoilLog(f func(log string) string) string {
	s.t.Helper()
	log := f(s.read(operation.Path))
	if err := os.WriteFile(filepath.Join(s.Dir(), filepath.FromSlash(operation.Path)), []byte(log), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return log
}

// TestBrokenLog: a log that is garbage or lost its line breaks is moved to the trash and
// reported; its numbers are not used again.
func TestBrokenLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(log string) string
		next  operation.Seq
	}{
		{"no line breaks", func(log string) string { return strings.ReplaceAll(log, "\n", "") }, 4},
		{"line breaks of old computers", func(log string) string { return strings.ReplaceAll(log, "\n", "\r") }, 4},
		{"no line breaks after the first", func(log string) string {
			first, rest, _ := strings.Cut(log, "\n")
			return first + "\n" + strings.ReplaceAll(rest, "\n", "")
		}, 4},
		{"garbage", func(string) string { return strings.Repeat("\xff\x00garbage", 99) }, 1},
		{"lines of garbage", func(string) string { return "garbage\ngarbage\n" }, 1},
		{"garbage at the end", func(log string) string { return log + "garbage" }, 4},
	} {
		s := openSpace(t, t.TempDir(), 0)
		id := s.new("Bread")
		s.say("a", "b")
		log := s.spoilLog(c.spoil)
		if got := s.kinds(doctor.Options{}); !slices.Equal(got, []string{doctor.DamagedLog}) {
			t.Errorf("%s: doctor finds %q", c.name, got)
		}
		if s.read(operation.Path) != log {
			t.Errorf("%s: doctor changed it without --fix", c.name)
		}
		for _, fix := range []bool{true, false} {
			s.notes = nil
			if fix {
				s.mend()
			} else {
				s.spoilLog(func(string) string { return log })
				s.append(workspace.Append{Session: id, Text: "c"})
				if !slices.ContainsFunc(s.notes, func(note string) bool { return strings.Contains(note, doctor.DamagedLog) }) {
					t.Errorf("%s: the notes are %q", c.name, s.notes)
				}
				ops, err := s.Log(t.Context(), history.LogOptions{Limit: 1})
				if err != nil || ops.Operations[0].Seq != c.next {
					t.Errorf("%s: the next operation is %+v, %v, want %d", c.name, ops, err, c.next)
				}
				if _, err := s.undo(""); err != nil || s.texts(id) != "a b" {
					t.Errorf("%s: undo = %v, and the texts are %q", c.name, err, s.texts(id))
				}
			}
			kept := 0
			trash, err := s.Trash(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range trash.Files {
				if data, err := os.ReadFile(f.Path); err == nil && f.File == operation.Path && string(data) == log {
					kept++
				}
			}
			if want := map[bool]int{true: 1, false: 2}[fix]; kept != want {
				t.Errorf("%s, fix %v: the trash has the log %d times: %+v", c.name, fix, kept, trash.Files)
			}
			healthy(t, s)
		}
	}
}

// TestTornLog: a partial last line of the log is not damage.
func TestTornLog(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("Bread")
	s.spoilLog(func(log string) string { return log + log[:40] + strings.Repeat("\x00", 99) })
	healthy(t, s)
	s.say("a")
	if len(s.notes) > 0 || strings.Contains(s.read(operation.Path), "\x00") {
		t.Errorf("notes are %q", s.notes)
	}
}

// TestLogMemory: log and doctor read a log that is much larger than the memory they use.
func TestLogMemory(t *testing.T) {
	if underRace {
		t.Skip("this test writes a log of 96 MB")
	}
	s := openSpace(t, t.TempDir(), 0)
	s.new("Bread")
	f, err := os.OpenFile(filepath.Join(s.Dir(), filepath.FromSlash(operation.Path)), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := string(bytes.Repeat([]byte("x"), 96<<10))
	lines, most := testsize.Of(120, 120, 1000), testsize.Of[uint64](10<<20, 10<<20, 32<<20)
	for i := range lines {
		o := operation.Operation{Seq: operation.Seq(i + 2), Time: "2026-05-25T15:32:04.000000+00:00", Verb: "agent set", Changes: []operation.Change{
			{File: "agents/ada.json", Was: &operation.State{}, Is: &operation.State{}, Before: text},
		}}
		line := o.Encode()
		if i == lines/2 {
			line = append([]byte("damaged\n"), line...)
		}
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"log", func() error { _, err := s.Log(t.Context(), history.LogOptions{}); return err }},
		{"doctor", func() error { _, err := s.Doctor(t.Context(), doctor.Options{}); return err }},
		{"doctor --fix", func() error { _, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); return err }},
	} {
		if peak := peakHeap(t, c.do); peak > most {
			t.Errorf("%s holds %d MB", c.name, peak>>20)
		}
	}
	ops, err := s.Log(t.Context(), history.LogOptions{})
	if err != nil || len(ops.Operations) < lines+1 {
		t.Errorf("%d operations are left, %v", len(ops.Operations), err)
	}
}

// peakHeap returns the maximum growth of the heap while f runs.
func peakHeap(t *testing.T, f func() error) uint64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(testsize.Of(20, 20, 100))) // little garbage in the peak
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	var peak atomic.Uint64
	done := make(chan struct{})
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapAlloc))
			}
		}
	}()
	err := f()
	close(done)
	<-sampled
	if err != nil {
		t.Fatal(err)
	}
	return max(peak.Load(), before) - before
}

// TestCompactLog: undo works as far back as the log keeps changes and no farther, the
// numbers stay, and a reader of events sees no difference.
func TestCompactLog(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 5, 25, 12, 0, 0, 0, time.UTC).UnixMilli())
	s := &space{t: t}
	w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{
		UndoAge: time.Hour, UndoOperations: 3, CompactEvery: 4,
		Now:  func() time.Time { return time.UnixMilli(clock.Add(1)) },
		Note: func(note string) { s.notes = append(s.notes, note) },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Workspace = w
	id := s.new("Bread")
	s.say("a", "b", "c", "d", "e")
	whole := s.read(operation.Path)
	added := s.events(5)
	next := func(list ...events.Type) {
		t.Helper()
		for _, want := range list {
			if got := added.next(); !strings.HasPrefix(got, string(want)+" ") {
				t.Fatalf("the event is %q, want %s", got, want)
			}
		}
	}
	next(events.MessageAdded, events.HeadMoved)
	clock.Add((2 * time.Hour).Milliseconds())
	s.say("f", "g")
	compacted := s.read(operation.Path)
	if len(compacted) >= len(whole) || strings.Contains(compacted, "\n\n\n") {
		t.Fatalf("the log is %q", compacted)
	}
	next(events.MessageAdded, events.HeadMoved, events.MessageAdded, events.HeadMoved)
	if got := s.seqs(history.LogOptions{}); got != "8 7 6 5 4 3 2 1" {
		t.Errorf("the log is %s", got)
	}
	healthy(t, s)
	for range 3 {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.undo(""); code(err) != fault.Refused || s.texts(id) != "a b c d" {
		t.Errorf("undo of a compacted operation = %v, with %q", err, s.texts(id))
	}
	if len(s.notes) > 0 {
		t.Errorf("notes are %q", s.notes)
	}
}

// TestLogAgent: the log of an operation on an agent with many trees has only the
// difference, events name the new head, and undo restores every byte.
func TestLogAgent(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	if _, err := s.Agent("ada").Create(t.Context(), agents.Options{System: strings.Repeat("Be brief. ", 99)}); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, err := s.Agent("ada").NewTree(t.Context(), fmt.Sprint("tree", i)); err != nil {
			t.Fatal(err)
		}
	}
	const file = "agents/ada.json"
	before := len(s.read(operation.Path))
	states := []string{s.read(file)}
	n := testsize.Of(5, 15, 40)
	events := s.events(51)
	for i := range n {
		to, err := s.Agent("ada").Switch(t.Context(), fmt.Sprint("tree", i*7%50), checkpoint.CutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, s.read(file))
		events.want("head_moved " + to.Head.Tree)
	}
	whole := len(s.read(file))
	if each := (len(s.read(operation.Path)) - before) / n; each > whole/4 {
		t.Errorf("an operation has %d bytes in the log, and the file %d", each, whole)
	}
	for i := range n {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
		if s.read(file) != states[n-1-i] {
			t.Fatalf("undo %d left another file", i)
		}
	}
	for i := range n {
		if _, err := s.redo(""); err != nil {
			t.Fatal(err)
		}
		if s.read(file) != states[i+1] {
			t.Fatalf("redo %d left another file", i)
		}
	}
	s.write(file, s.read(file)[:99]) // torn
	s.expect(doctor.Options{Fix: true}, "damaged_agent fixed")
	if s.read(file) != states[n] {
		t.Error("doctor restored another file than the log has")
	}
}
