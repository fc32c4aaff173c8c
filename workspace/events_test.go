package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
)

// An eventList reads events in the background.
type eventList struct {
	t    testing.TB
	list chan events.Event
}

func (s *space) events(from operation.Seq) *eventList {
	e := &eventList{s.t, make(chan events.Event)}
	ctx, stop := context.WithCancel(s.t.Context())
	done := make(chan bool)
	go func() {
		defer close(done)
		for event, err := range s.Events(ctx, from) {
			if err != nil {
				s.t.Error(err)
				return
			}
			select {
			case e.list <- event:
			case <-ctx.Done():
				return
			}
		}
	}()
	s.t.Cleanup(func() { stop(); <-done })
	return e
}

// newEvents reads the events from now on.
func (s *space) newEvents() *eventList { return s.events(s.lastSeq()) }

// lastSeq returns the number of the last operation.
func (s *space) lastSeq() operation.Seq {
	s.t.Helper()
	done, err := s.Log(context.Background(), history.LogOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return done.Operations[0].Seq
}

// next returns the next event as text: type, session, message and actor.
func (e *eventList) next() string {
	e.t.Helper()
	select {
	case event := <-e.list:
		return turnEvent(event)
	case <-time.After(20 * time.Second):
		e.t.Fatal("no event comes")
	}
	return ""
}

func turnEvent(e events.Event) string {
	words := []string{string(e.Type), string(e.Session)}
	if e.Message != "" {
		words = append(words, string(e.Message))
	}
	if e.Role != "" {
		words = append(words, e.Role)
	}
	if e.External {
		words = append(words, "external")
	}
	return strings.Join(words, " ")
}

func (e *eventList) want(list ...string) {
	e.t.Helper()
	for _, want := range list {
		if got := e.next(); got != want {
			e.t.Fatalf("the event is %q, want %q", got, want)
		}
	}
}

// TestEvents: bough's operations produce events as they happen, and a reader can start at
// any number.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	bread := s.new("Bread")
	e := s.newEvents()
	a := s.append(workspace.Append{Text: "a"})
	e.want("message_added "+bread+" "+a.Message+" user", "head_moved "+bread+" "+a.Message)
	b := s.append(workspace.Append{Session: bread, Text: "b", Role: "assistant"})
	e.want("message_added " + bread + " " + b.Message + " assistant")
	c := s.append(workspace.Append{Session: bread, Text: "c"})
	e.want("session_created "+c.Session, "message_added "+c.Session+" "+c.Message+" user")
	point := s.checkpoint(bread)
	e.want("checkpoint_created " + point.ID)
	branch := s.branch(bread)
	e.want("branch_created "+branch.ID, "head_moved "+branch.ID+" "+c.Message)
	if _, err := s.Rename(t.Context(), branch.ID, "Cake"); err != nil {
		t.Fatal(err)
	}
	e.want("session_renamed " + branch.ID)
	if _, err := s.Remove(t.Context(), point.ID, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	e.want("session_removed " + point.ID)
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}
	e.want("session_created " + point.ID)

	for _, do := range []struct {
		what func() error
		want []string
	}{
		{func() error { return label(bread, "here")(s) }, []string{"node_bookmarked " + bread + " " + c.Message}},
		{func() error { _, err := s.undo(""); return err }, []string{"bookmark_removed " + bread + " " + c.Message}},
		{func() error { _, err := s.redo(""); return err }, []string{"node_bookmarked " + bread + " " + c.Message}},
		{func() error {
			_, err := s.Bookmark(t.Context(), bread+"@"+a.Message, "here", workspace.BookmarkOptions{Move: true})
			return err
		}, []string{"node_bookmarked " + bread + " " + a.Message}},
		{func() error { _, err := s.RemoveBookmark(t.Context(), "here"); return err }, []string{"bookmark_removed " + bread + " " + a.Message}},
		{func() error { _, err := s.Pack(t.Context(), point.ID); return err }, []string{"session_changed " + point.ID}},
		{func() error { _, err := s.undo(""); return err }, []string{"session_changed " + point.ID}},
		{func() error { _, err := s.redo(""); return err }, []string{"session_changed " + point.ID}},
		{func() error { _, err := s.Rename(t.Context(), point.ID, "Crust"); return err }, []string{"session_renamed " + point.ID}},
		{func() error { _, err := s.Unpack(t.Context(), point.ID); return err }, []string{"session_changed " + point.ID}},
		{func() error { _, err := s.Pack(t.Context(), point.ID); return err }, []string{"session_changed " + point.ID}},
		{func() error {
			_, err := s.Remove(t.Context(), point.ID, workspace.RemoveOptions{})
			return err
		}, []string{"session_removed " + point.ID}},
	} {
		if err := do.what(); err != nil {
			t.Fatal(err)
		}
		e.want(do.want...)
	}

	again := s.events(0)
	again.want("session_created "+bread, "head_moved "+bread, "message_added "+bread+" "+a.Message+" user")
	again = s.events(8)
	again.want("session_created " + point.ID)
}

// TestEventsNew: a reader of new events gets no earlier event.
func TestEventsNew(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.say("a", "b")
	before := s.lastSeq()
	e := s.events(-1)
	timeout, again := time.After(20*time.Second), time.NewTicker(10*time.Millisecond)
	defer again.Stop()
	for { // the start of the reader is unknown, so messages are added until it reports one
		select {
		case event := <-e.list:
			if event.Seq <= before || event.Type != events.MessageAdded || string(event.Session) != bread {
				t.Errorf("after operation %d, the first event is %+v", before, event)
			}
			return
		case <-again.C:
			s.append(workspace.Append{Session: bread, Text: "new"})
		case <-timeout:
			t.Fatal("no event comes")
		}
	}
}

// TestEventsOfOthers: changes by other programs are events too, and the index is updated
// with them.
func TestEventsOfOthers(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.say("a")
	e := s.newEvents()
	message := `{"role":"assistant","content":"b","id":"m2"}`
	name := session.FileName(bread)
	whole := s.read(name)
	at := strings.LastIndex(whole[:strings.Index(whole, `"llm_request`)], "]")
	s.replace(name, whole[:at]+","+message+whole[at:])
	e.want("message_added " + bread + " m2 assistant external")
	s.replace("conversations/other.json", `{"metadata":{"continued_from":[]},"messages":[{"id":"m","role":"user"}]}`)
	e.want("session_created other external", "message_added other m user external")
	s.replace(name, strings.Replace(s.read(name), `"Bread"`, `"Cake"`, 1))
	e.want("session_changed " + bread + " external")
	if err := os.Remove(filepath.Join(s.Dir(), "conversations", "other.json")); err != nil {
		t.Fatal(err)
	}
	e.want("session_removed other external")
	s.write(session.IndexPath, "{}")
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.read(session.IndexPath), bread); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the index is %s", s.read(session.IndexPath))
		}
	}
	healthy(t, s)
}

// replace writes a file as another program does: beside it, then over it.
func (s *space) replace(name, content string) {
	s.t.Helper()
	s.write(name+".temp", content)
	path := filepath.Join(s.Dir(), filepath.FromSlash(name))
	if err := os.Rename(path+".temp", path); err != nil {
		s.t.Fatal(err)
	}
}

// TestEventsSlow: a slow reader misses no event, and gets a note.
func TestEventsSlow(t *testing.T) {
	t.Parallel()
	const n = 50
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	e := s.newEvents()
	var want []string
	for i := range n {
		a := s.append(workspace.Append{Session: bread, Text: fmt.Sprint(i)})
		want = append(want, "message_added "+bread+" "+a.Message+" user")
	}
	var got []string
	behind := 0
	for range n {
		event := <-e.list
		behind = max(behind, event.Behind)
		got = append(got, turnEvent(event))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	if behind < n/2-1 { // the log is read at most twice, the second time for the missing events
		t.Errorf("the note says %d events behind", behind)
	}
}

// TestEventsNewLog: if the log is removed, the events continue with the new log.
func TestEventsNewLog(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	a := s.append(workspace.Append{Session: bread, Text: "a"})
	e := s.events(0)
	e.want("session_created "+bread, "head_moved "+bread, "message_added "+bread+" "+a.Message+" user") // the old log is read
	if err := os.Remove(filepath.Join(s.Dir(), filepath.FromSlash(operation.Path))); err != nil {
		t.Fatal(err)
	}
	b := s.append(workspace.Append{Session: bread, Text: "b"})
	e.want("message_added " + bread + " " + b.Message + " user")
}
