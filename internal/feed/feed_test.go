package feed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/feed"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(testsize.LazyGC(m)).Run()) }

// A source is a workspace with a feed.
type source struct {
	*feed.Feed
	t testing.TB
	w *workspace.Workspace
}

func newSource(t testing.TB, buffer int) *source {
	t.Helper()
	w, err := workspace.Open(context.Background(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(context.Background(), "Bread"); err != nil {
		t.Fatal(err)
	}
	f := feed.New(w, buffer, func(s string) { t.Error(s) })
	t.Cleanup(f.Close)
	return &source{f, t, w}
}

func (s *source) append(text string) string {
	s.t.Helper()
	m, err := s.w.Append(context.Background(), workspace.Append{Text: text, Role: "user"})
	if err != nil {
		s.t.Fatal(err)
	}
	return m.Message
}

func (s *source) subscribe() *feed.Reader {
	s.t.Helper()
	r, err := s.Subscribe(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(r.Close)
	return r
}

// next returns the next items, nil if the reader was closed.
func (s *source) next(r *feed.Reader) []feed.Item {
	s.t.Helper()
	select {
	case items := <-r.Items:
		return items
	case <-time.After(20 * time.Second):
		s.t.Fatal("no item comes")
		return nil
	}
}

// TestFeed: all readers get the operations after their positions, those of an operation
// together, with the position after its last event.
func TestFeed(t *testing.T) {
	t.Parallel()
	s := newSource(t, 16)
	a := s.subscribe()
	first := s.append("a")
	for _, want := range []string{first, s.append("b")} {
		items := s.next(a)
		last := items[len(items)-1]
		if len(items) != 2 || string(items[0].Message) != want || items[0].At != (events.Position{}) || last.At != last.Position() {
			t.Fatalf("the items are %+v", items)
		}
	}
	b := s.subscribe()
	if b.From.Seq != 3 {
		t.Errorf("the second reader begins at %v", b.From)
	}
	third := s.append("c")
	for _, r := range []*feed.Reader{a, b} {
		if items := s.next(r); string(items[0].Message) != third {
			t.Errorf("the items are %+v", items)
		}
	}
	a.Close()
	if s.next(a) != nil {
		t.Error("a closed reader gets items")
	}
	fourth := s.append("d")
	if items := s.next(b); string(items[0].Message) != fourth {
		t.Errorf("the items are %+v", items)
	}
	b.Close()
	s.append("nobody reads this")
	c := s.subscribe()
	if now, err := s.w.Position(t.Context()); err != nil || c.From != now {
		t.Errorf("a reader after all others begins at %v, not %v; %v", c.From, now, err)
	}
}

// TestFeedSlow: a reader that takes nothing is closed after some operations, and the others
// are not.
func TestFeedSlow(t *testing.T) {
	t.Parallel()
	const buffer = 3
	s := newSource(t, buffer)
	slow, quick := s.subscribe(), s.subscribe()
	for i := range buffer + 2 {
		want := s.append(fmt.Sprint(i))
		if items := s.next(quick); string(items[0].Message) != want {
			t.Fatalf("the items are %+v", items)
		}
	}
	n := 0
	for range slow.Items { // it is closed
		n++
	}
	if n != buffer {
		t.Errorf("the slow reader gets %d operations, want %d", n, buffer)
	}
}

// TestFeedReset: if another log takes the place of the log, readers get a reset and then
// its operations.
func TestFeedReset(t *testing.T) {
	t.Parallel()
	s := newSource(t, 16)
	r := s.subscribe()
	s.append("a")
	s.next(r)
	if err := os.Remove(filepath.Join(s.w.Dir(), ".bough", "operations.jsonl")); err != nil {
		t.Fatal(err)
	}
	message := s.append("b")
	items := s.next(r)
	if len(items) < 2 || !items[0].Reset || items[0].At.Seq != 0 || items[0].At.Log == r.From.Log || string(items[1].Message) != message {
		t.Errorf("the items are %+v", items)
	}
}

// TestFeedClose: closing the feed closes the readers and refuses others.
func TestFeedClose(t *testing.T) {
	t.Parallel()
	s := newSource(t, 16)
	r := s.subscribe()
	s.Close()
	s.Close()
	if s.next(r) != nil {
		t.Error("the reader is open")
	}
	if _, err := s.Subscribe(t.Context()); !errors.Is(err, feed.ErrClosed) {
		t.Errorf("Subscribe after Close = %v", err)
	}
}
