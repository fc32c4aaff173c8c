package eventstream_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/feed"
	"github.com/bough-dev/bough/server/internal/eventstream"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tmaxmax/go-sse"
)

// newSource returns a source with a workspace of one conversation.
func newSource(t *testing.T) *eventstream.Source {
	t.Helper()
	w, err := workspace.Open(context.Background(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	f := feed.New(w, 10, func(text string) { t.Error(text) })
	t.Cleanup(f.Close)
	return &eventstream.Source{Workspace: w, Feed: f, Heartbeat: time.Minute, Write: time.Minute, Log: func(text string) { t.Error(text) }}
}

// listen opens a stream and returns its next event, in each call.
func listen(t *testing.T, src *eventstream.Source, query, last string) func() sse.Event {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := src.Serve(w, r); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(web.Close)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop) // before the server is closed
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	list := make(chan sse.Event)
	go func() {
		defer close(list)
		for e, err := range sse.Read(a.Body, nil) {
			if err != nil {
				return
			}
			select {
			case list <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() sse.Event {
		t.Helper()
		select {
		case e := <-list:
			return e
		case <-time.After(20 * time.Second):
			t.Fatal("no event comes")
			return sse.Event{}
		}
	}
}

// TestServe: a stream begins with the present position, sends what follows, and continues
// after any event that has an id.
func TestServe(t *testing.T) {
	t.Parallel()
	src := newSource(t)
	next := listen(t, src, "", "")
	begin := next()
	if begin.Type != "ready" || !strings.HasSuffix(begin.LastEventID, "-1") {
		t.Fatalf("the stream begins with %+v", begin)
	}
	if _, err := src.Workspace.Append(t.Context(), workspace.Append{Text: "How wet?"}); err != nil {
		t.Fatal(err)
	}
	added, moved := next(), next()
	if !strings.Contains(added.Data, `"message_added"`) || !strings.Contains(moved.Data, `"head_moved"`) || !strings.HasSuffix(moved.LastEventID, "-2") {
		t.Errorf("the events are %+v and %+v", added, moved)
	}
	for _, again := range []func() sse.Event{listen(t, src, "/?from="+begin.LastEventID, ""), listen(t, src, "/?from=x", begin.LastEventID)} {
		if a, b, ready := again(), again(), again(); !strings.Contains(a.Data, `"message_added"`) || b.LastEventID != moved.LastEventID || ready.Type != "ready" {
			t.Errorf("continued: %+v, %+v, %+v", a, b, ready)
		}
	}
	if e := listen(t, src, "", "another-1")(); e.Type != "reset" || e.LastEventID != moved.LastEventID {
		t.Errorf("after an event of another log: %+v", e)
	}
}

// TestRefused: a failure comes before anything is sent.
func TestRefused(t *testing.T) {
	t.Parallel()
	src := newSource(t)
	serve := func(method, query string) error {
		w := httptest.NewRecorder()
		err := src.Serve(w, httptest.NewRequest(method, "/"+query, nil))
		if w.Body.Len() > 0 {
			t.Errorf("%s %s sends %s", method, query, w.Body)
		}
		return err
	}
	if err := serve("GET", "?from=x"); !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), "LOG-SEQ") {
		t.Errorf("an invalid position: %v", err)
	}
	var f *exchange.Failure
	if err := serve("GET", "?from=%zz"); !errors.As(err, &f) || f.Status != http.StatusBadRequest {
		t.Errorf("an invalid query: %v", err)
	}
	if err := serve("HEAD", ""); err != nil {
		t.Errorf("HEAD: %v", err)
	}
	src.Feed.Close()
	if err := serve("GET", ""); !errors.As(err, &f) || f.Status != http.StatusServiceUnavailable {
		t.Errorf("after the feed is closed: %v", err)
	}
}
