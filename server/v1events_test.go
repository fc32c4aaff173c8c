package server_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace"
	"github.com/tidwall/gjson"
	"github.com/tmaxmax/go-sse"
)

// A follower reads a stream of events.
type follower struct {
	t      testing.TB
	events chan sse.Event
	stop   context.CancelFunc
	last   string // the id of the last event
}

// follow opens a stream that continues after the event with an id, or begins now for "". It
// returns when the server has sent the position.
func (s *site) follow(after string) *follower {
	s.t.Helper()
	return s.followTo(s.request("GET", "/v1/events", nil), after)
}

func (s *site) followTo(r *http.Request, after string) *follower {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	a, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		s.t.Fatal(err)
	}
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("the answer is %s, %s", a.Status, a.Header.Get("Content-Type"))
	}
	f := &follower{t: s.t, events: make(chan sse.Event), stop: stop, last: after}
	go func() {
		defer close(f.events)
		defer a.Body.Close()
		for e, err := range sse.Read(a.Body, nil) {
			if err != nil {
				return
			}
			select {
			case f.events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	s.t.Cleanup(stop)
	return f
}

// next returns the next event: its type, and its session and message. ok is false at the
// end of the stream.
func (f *follower) next() (text string, ok bool) {
	f.t.Helper()
	select {
	case e, ok := <-f.events:
		if !ok {
			return "", false
		}
		f.last = e.LastEventID
		switch e.Type {
		case "ready":
			return f.next()
		case "reset":
			return e.Type, true
		}
		data := gjson.Parse(e.Data)
		return strings.TrimSpace(data.Get("type").Str + " " + data.Get("message_id").Str), true
	case <-time.After(20 * time.Second):
		f.t.Fatal("no event comes")
		return "", false
	}
}

func (f *follower) want(list ...string) {
	f.t.Helper()
	for _, want := range list {
		if got, ok := f.next(); !ok || got != want {
			f.t.Fatalf("the event is %q, %v; want %q", got, ok, want)
		}
	}
}

// append adds a message, and returns its id.
func (s *site) append(text string) string {
	s.t.Helper()
	return s.v1("append", `{"text":"`+text+`"}`).want(200).Get("message_id").Str
}

// external adds a session with n messages as another program does.
func (s *site) external(name string, n int) (want []string) {
	s.t.Helper()
	var list []string
	want = append(want, "session_created")
	for i := range n {
		list = append(list, fmt.Sprintf(`{"id":"%s%d","role":"user"}`, name, i))
		want = append(want, fmt.Sprintf("message_added %s%d", name, i))
	}
	path := filepath.Join(s.w.Dir(), "conversations", name+".json")
	if err := os.WriteFile(path+".temp", []byte(`{"metadata":{},"messages":[`+strings.Join(list, ",")+`]}`), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".temp", path); err != nil {
		s.t.Fatal(err)
	}
	return want
}

// TestV1Events: two clients get the changes of this and of other programs, in the JSON of
// the command; one that connects again gets what it missed.
func TestV1Events(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	s.v1("new", `{"title":"Bread"}`).want(200)
	a, b := s.follow(""), s.follow("")
	first := s.append("one")
	a.want("message_added "+first, "head_moved "+first)
	b.want("message_added "+first, "head_moved "+first)
	b.stop()
	second := s.append("two")
	a.want("message_added "+second, "head_moved "+second)
	c := s.follow(b.last)
	c.want("message_added "+second, "head_moved "+second)
	third := s.append("three")
	for _, f := range []*follower{a, c} {
		f.want("message_added "+third, "head_moved "+third)
	}
	if a.last != c.last || !strings.HasSuffix(a.last, "-4") {
		t.Errorf("the ids are %q and %q", a.last, c.last)
	}
	want := s.external("other", 3)
	a.want(want...)
	c.want(want...)
	r := s.request("GET", "/v1/events?from="+b.last, nil)
	d := s.followTo(r, "")
	d.want("message_added "+second, "head_moved "+second, "message_added "+third, "head_moved "+third)
	d.want(want...)
	head, err := http.DefaultClient.Do(s.request("HEAD", "/v1/events", nil))
	if err != nil || head.StatusCode != 200 || head.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %+v, %v", head, err)
	}
	s.v1("events?from=x", "").fails(400, "usage", "from must be the id of an event")
}

// TestV1EventsDrop: a connection that ends in the middle of the events of an operation loses
// none of them.
func TestV1EventsDrop(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	s.v1("new", `{"title":"Bread"}`).want(200)
	f := s.follow("")
	one := s.append("one")
	f.want("message_added "+one, "head_moved "+one)
	want := s.external("other", 50)
	f.want(want[:20]...)
	f.stop()
	again := s.follow(f.last)
	again.want(want...)
	again.stop()
	two := s.append("two")
	s.follow(again.last).want("message_added "+two, "head_moved "+two)
}

// TestV1EventsRestart: a client of a server continues with the next server of the workspace,
// also with what happened in between.
func TestV1EventsRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	last, want := "", []string(nil)
	t.Run("first", func(t *testing.T) {
		s := newSiteOf(t, dir, nil, server.Options{})
		s.v1("new", `{"title":"Bread"}`).want(200)
		f := s.follow("")
		one := s.append("one")
		f.want("message_added "+one, "head_moved "+one)
		last = f.last
		two := s.append("two")
		want = append(want, "message_added "+two, "head_moved "+two)
	})
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	three, err := w.Append(t.Context(), workspace.Append{Text: "three", Role: "user"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteOf(t, dir, nil, server.Options{})
	f := s.follow(last)
	f.want(append(want, "message_added "+three.Message, "head_moved "+three.Message)...)
	four := s.append("four")
	f.want("message_added "+four, "head_moved "+four)
}

// TestV1EventsReset: a client whose position is of another log, or beyond the log, gets a
// reset with the present position; so does one whose log is replaced.
func TestV1EventsReset(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	s.v1("new", `{"title":"Bread"}`).want(200)
	f := s.follow("")
	one := s.append("one")
	f.want("message_added "+one, "head_moved "+one)
	log, _, _ := strings.Cut(f.last, "-")
	for _, id := range []string{"0123456789ab-1", log + "-99", "x"} {
		g := s.follow(id)
		g.want("reset")
		if g.last != f.last {
			t.Errorf("after %s, the present id is %q, want %q", id, g.last, f.last)
		}
		g.stop()
	}
	if err := os.Remove(filepath.Join(s.w.Dir(), ".bough", "operations.jsonl")); err != nil {
		t.Fatal(err)
	}
	two := s.append("two")
	f.want("reset", "message_added "+two, "head_moved "+two)
	if !strings.HasSuffix(f.last, "-1") || strings.HasPrefix(f.last, log) {
		t.Errorf("after the reset, the id is %q", f.last)
	}
}

// TestV1EventsCompacted: a client whose position was compacted away gets a reset.
func TestV1EventsCompacted(t *testing.T) {
	t.Parallel()
	s := newSiteOf(t, t.TempDir(), &workspace.Options{UndoAge: time.Nanosecond, UndoOperations: 1, CompactEvery: 2}, server.Options{})
	s.v1("new", `{"title":"Bread"}`).want(200)
	f := s.follow("")
	for i := range 6 {
		m := s.append(fmt.Sprint(i))
		f.want("message_added "+m, "head_moved "+m)
	}
	log, _, _ := strings.Cut(f.last, "-")
	g := s.follow(log + "-1")
	g.want("reset")
	if g.last != f.last {
		t.Errorf("the present id is %q, want %q", g.last, f.last)
	}
}

// TestV1EventsLimits: streams have a limit of their own and take no slot of requests; a
// silent stream has heartbeats; and all streams end when the server stops.
func TestV1EventsLimits(t *testing.T) {
	t.Parallel()
	addr, stop := serve(t, server.Options{Limits: server.Limits{Requests: 1, Streams: 2, Heartbeat: 20 * time.Millisecond, Stop: time.Hour}})
	s := &site{t: t, url: "http://" + addr}
	s.v1("new", `{}`).want(200)
	a, b := s.follow(""), s.follow("")
	s.v1("events", "").fails(503, "busy", "too many requests")
	s.v1("status", "").want(200)
	r := s.request("GET", "/v1/events", nil)
	b.stop()
	beat := make(chan bool)
	go func() {
		defer close(beat)
		for {
			c, err := http.DefaultClient.Do(r.Clone(context.Background()))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Body.Close()
			if c.StatusCode == 503 { // the server does not know yet that b has ended
				continue
			}
			var text strings.Builder
			buf := make([]byte, 100)
			for !strings.Contains(text.String(), "\n: heartbeat\n\n: heartbeat\n\n") {
				n, err := c.Body.Read(buf)
				if err != nil {
					t.Errorf("after %q: %v", &text, err)
					return
				}
				text.Write(buf[:n])
			}
			return
		}
	}()
	select {
	case <-beat:
	case <-time.After(20 * time.Second):
		t.Fatal("no heartbeat comes")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if text, ok := a.next(); ok {
		t.Errorf("the server sends %s after it stopped", text)
	}
}

// A stuck is a connection whose client receives nothing from the second event on.
type stuck struct {
	deadlines
	header http.Header
	lines  chan string
	freed  chan struct{}
}

type deadlines struct{}

func (deadlines) SetWriteDeadline(time.Time) error { return nil }
func (deadlines) SetReadDeadline(time.Time) error  { return nil }

func (c *stuck) Header() http.Header { return c.header }
func (c *stuck) WriteHeader(int)     {}
func (c *stuck) FlushError() error   { return nil }
func (c *stuck) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "message_added") {
		<-c.freed
	}
	select {
	case c.lines <- string(b):
	default:
	}
	return len(b), nil
}

// TestV1EventsSlow: a client that receives nothing is disconnected after some operations,
// and gets all of them when it connects again.
func TestV1EventsSlow(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{Limits: server.Limits{Backlog: 2}})
	s.v1("new", `{"title":"Bread"}`).want(200)
	from := s.v1("log?limit=1", "").Get("operations.0.seq").Int()
	c := &stuck{header: http.Header{}, lines: make(chan string, 100), freed: make(chan struct{})}
	r := s.request("GET", "/v1/events", nil)
	r.RequestURI, r.RemoteAddr = "/v1/events", "127.0.0.1:1"
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.server.ServeHTTP(c, r)
	}()
	id := ""
	for id == "" {
		select {
		case line := <-c.lines:
			if strings.HasSuffix(line, fmt.Sprint("-", from)) {
				id = line
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the stream does not begin")
		}
	}
	other := s.follow("")
	var want []string
	for i := range 5 {
		m := s.append(fmt.Sprint(i))
		other.want("message_added "+m, "head_moved "+m)
		want = append(want, "message_added "+m, "head_moved "+m)
	}
	close(c.freed)
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the slow client is not disconnected")
	}
	s.follow(id).want(want...)
}
