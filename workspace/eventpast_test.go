package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
)

// position returns the position after the newest operation.
func (s *space) position() events.Position {
	s.t.Helper()
	at, err := s.Position(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return at
}

// between returns the events after a position up to operation through.
func (s *space) between(after events.Position, through events.Seq) (list []events.Event, err error) {
	s.t.Helper()
	for e, err := range s.EventsBetween(s.t.Context(), after, through) {
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
	return list, nil
}

// TestEventsBetween: from the position after any operation, the log has exactly the events
// that a watcher got after it, and the last event of each operation is marked.
func TestEventsBetween(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	if at := s.position(); at != (events.Position{Log: operation.NoIdentity}) {
		t.Errorf("the position in a new workspace is %v", at)
	}
	bread := s.new("Bread")
	s.say("a", "b", "c")
	s.checkpoint(bread)
	s.branch(bread)
	s.replace("conversations/other.json", `{"metadata":{},"messages":[{"id":"m","role":"user"},{"id":"n","role":"user"}]}`)
	s.say("d")
	all := s.logged()
	newest := s.position()
	if newest.Seq != s.lastSeq() || len(newest.Log) != 12 {
		t.Errorf("the position is %v", newest)
	}
	last := events.Seq(0)
	for i, e := range all {
		if ends := i+1 == len(all) || all[i+1].Seq != e.Seq; e.Last != ends {
			t.Errorf("event %d is %+v", i, e)
		}
		if e.Log != newest.Log {
			t.Errorf("event %d is of the log %q, not %q", i, e.Log, newest.Log)
		}
		if !e.Last {
			continue
		}
		at := e.Position()
		if parsed, ok := events.ParsePosition(at.String()); !ok || parsed != at {
			t.Errorf("ParsePosition(%q) = %v, %v", at, parsed, ok)
		}
		got, err := s.between(at, newest.Seq)
		for j := range got {
			got[j].Behind = all[i+1+j].Behind
		}
		if err != nil || !slices.Equal(got, all[i+1:]) {
			t.Errorf("after %v: %v, %v; want %v", at, got, err, all[i+1:])
		}
		if got, err := s.between(events.Position{Log: e.Log, Seq: last}, at.Seq); last > 0 && (err != nil || got[len(got)-1].Seq != at.Seq) {
			t.Errorf("up to %v: %v, %v", at, got, err)
		}
		last = at.Seq
	}
	for _, at := range []events.Position{{Log: "other", Seq: 3}, {Log: newest.Log, Seq: newest.Seq + 1}, {Log: operation.NoIdentity, Seq: 3}, {Log: newest.Log}} {
		if got, err := s.between(at, newest.Seq); !errors.Is(err, events.ErrPosition) || len(got) > 0 {
			t.Errorf("after %v: %v, %v", at, got, err)
		}
	}
	if got, err := s.between(events.Position{Log: operation.NoIdentity}, newest.Seq); err != nil || len(got) != len(all) {
		t.Errorf("from the beginning: %d events, %v; want %d", len(got), err, len(all))
	}
}

// TestParsePosition: text that is not a position is refused.
func TestParsePosition(t *testing.T) {
	for _, s := range []string{"", "-", "-1", "log", "log-", "log-x", "log--1", "log-1-2", "log-99999999999999999999"} {
		if p, ok := events.ParsePosition(s); ok {
			t.Errorf("ParsePosition(%q) = %v", s, p)
		}
	}
}

// TestPositionExternal: while only other programs have changed a workspace, its log has no
// identity; a position from that time is still one of the log after it.
func TestPositionExternal(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("First")
	s.removeLog()
	e := s.events(0)
	s.replace("conversations/more.json", `{"metadata":{},"messages":[{"id":"m","role":"user"}]}`)
	e.want("session_created more external", "message_added more m user external")
	before := s.position()
	if before.Log != operation.NoIdentity || before.Seq == 0 {
		t.Fatalf("the position is %v", before)
	}
	bread := s.new("Bread")
	after := s.position()
	got, err := s.between(before, after.Seq)
	if err != nil || len(got) == 0 || got[0].Type != events.SessionCreated || string(got[0].Session) != bread || got[0].Log != after.Log {
		t.Errorf("after %v: %v, %v", before, got, err)
	}
	if _, err := s.between(events.Position{Log: operation.NoIdentity, Seq: after.Seq}, after.Seq); !errors.Is(err, events.ErrPosition) {
		t.Errorf("a position without identity after an operation of bough: %v", err)
	}
}

// TestPositionCompacted: the identity of a log survives a compaction; positions before the
// compacted operations are refused, later ones are not.
func TestPositionCompacted(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 5, 25, 12, 0, 0, 0, time.UTC).UnixMilli())
	s := &space{t: t}
	w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{
		UndoAge: time.Hour, UndoOperations: 3, CompactEvery: 4,
		Now: func() time.Time { return time.UnixMilli(clock.Add(1)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Workspace = w
	s.new("Bread")
	s.say("a", "b", "c", "d", "e")
	before := s.position()
	clock.Add((2 * time.Hour).Milliseconds())
	s.say("f", "g")
	after := s.position()
	if after.Log != before.Log {
		t.Errorf("the log was %s and is %s", before.Log, after.Log)
	}
	for seq := range after.Seq + 1 {
		at := events.Position{Log: after.Log, Seq: seq}
		if seq == 0 {
			at.Log = operation.NoIdentity
		}
		got, err := s.between(at, after.Seq)
		switch compacted := events.Seq(5); { // operations 1 to 5 have no changes any more
		case seq < compacted && !errors.Is(err, events.ErrPosition):
			t.Errorf("after %v: %v, %v", at, got, err)
		case seq >= compacted && err != nil:
			t.Errorf("after %v: %v", at, err)
		}
	}
}

// TestPositionReplaced: another log in place of the log has another identity, and a watcher
// gets its operations from the first one.
func TestPositionReplaced(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.say("a", "b")
	before := s.position()
	e := s.events(before.Seq)
	c := s.append(workspace.Append{Session: bread, Text: "c"})
	e.want("message_added " + bread + " " + c.Message + " user")
	s.removeLog()
	d := s.append(workspace.Append{Session: bread, Text: "d"})
	after := s.position()
	if after.Log == before.Log || after.Log == operation.NoIdentity || after.Seq != 1 {
		t.Errorf("the position was %v and is %v", before, after)
	}
	if _, err := s.between(before, after.Seq); !errors.Is(err, events.ErrPosition) {
		t.Errorf("after a position in the former log: %v", err)
	}
	select {
	case got := <-e.list:
		if got.Position() != after || string(got.Message) != d.Message {
			t.Errorf("the watcher gets %+v", got)
		}
	case <-time.After(20 * time.Second):
		t.Error("the watcher gets nothing")
	}
}

func (s *space) removeLog() {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.Dir(), filepath.FromSlash(operation.Path))); err != nil {
		s.t.Fatal(err)
	}
}
