// Package eventstream sends the events of a workspace to HTTP clients as server-sent events.
package eventstream

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/bough-dev/bough/internal/feed"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tmaxmax/go-sse"
)

// retryAfter is how long a client waits before it connects again.
const retryAfter = time.Second

// A Source is where the events come from.
type Source struct {
	Workspace *workspace.Workspace
	Feed      *feed.Feed
	Heartbeat time.Duration // between comments that show that the connection is alive
	Write     time.Duration // how long a client may take to receive an event
	Log       func(string)  // is called with each error that is not the client's fault
}

// A stream sends events to a client.
type stream struct {
	*Source
	w    http.ResponseWriter
	rc   *http.ResponseController
	sent events.Position    // the client has all events up to it
	have map[session.ID]int // how many characters of each reply in progress the client has
}

// Serve sends the events of the workspace, with the id LOG-SEQ at the last event of each
// operation, until the client disconnects. If it returns an error, it has sent nothing.
func (src *Source) Serve(w http.ResponseWriter, r *http.Request) error {
	from, resumed, err := lastEvent(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies
	if r.Method == http.MethodHead {
		return nil
	}
	rd, err := src.Feed.Subscribe(r.Context())
	if errors.Is(err, feed.ErrClosed) {
		return exchange.Fail(http.StatusServiceUnavailable, err.Error(), "")
	}
	if err != nil {
		return err
	}
	defer rd.Close()
	s := &stream{src, w, http.NewResponseController(w), from, map[session.ID]int{}}
	if !resumed {
		s.sent = rd.From
	} else if err := s.catchUp(r.Context(), rd.From); err != nil {
		return nil // the client has disconnected
	}
	if s.at("ready") == nil && s.replies() == nil {
		s.follow(r.Context(), rd)
	}
	return nil
}

// replies sends the text so far of the replies in progress. Those that begin after s.sent
// follow whole.
func (s *stream) replies() error {
	for _, p := range s.Workspace.Replies() {
		if p.After > s.sent.Seq {
			continue
		}
		if err := s.event(p.Event); err != nil {
			return err
		}
	}
	return nil
}

// lastEvent returns the position after which a client continues, from the header
// Last-Event-ID or else the parameter from. resumed is false without either. A position
// that cannot be parsed is one of no log.
func lastEvent(r *http.Request) (from events.Position, resumed bool, err error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		from, _ = events.ParsePosition(id)
		return from, true, nil
	}
	q, err := exchange.Query(r)
	id := q.Get("from")
	if err != nil || id == "" {
		return from, false, err
	}
	from, ok := events.ParsePosition(id)
	if !ok {
		return from, false, &fault.Error{Code: fault.Usage, Message: "from must be the id of an event, LOG-SEQ, not " + exchange.Quote(id)}
	}
	return from, true, nil
}

// catchUp sends the events after s.sent up to a position, or a reset if the log does not
// have them.
func (s *stream) catchUp(ctx context.Context, to events.Position) error {
	for e, err := range s.Workspace.EventsBetween(ctx, s.sent, to.Seq) {
		if errors.Is(err, events.ErrPosition) {
			s.sent = to
			return s.at("reset")
		}
		if err != nil {
			s.Log("reading past events failed: " + err.Error())
			return err
		}
		if err := s.event(e); err != nil {
			return err
		}
	}
	if to.Seq > s.sent.Seq {
		s.sent = to
	}
	return nil
}

// follow sends the items of a reader, and a comment if nothing was sent for some time.
func (s *stream) follow(ctx context.Context, r *feed.Reader) {
	beat := time.NewTicker(s.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			var m sse.Message
			m.AppendComment("heartbeat")
			if s.send(&m) != nil {
				return
			}
		case items, ok := <-r.Items:
			if !ok {
				return // the client connects again
			}
			for _, item := range items {
				if s.item(item) != nil {
					return
				}
			}
		}
	}
}

// item sends an item, unless the client has it.
func (s *stream) item(item feed.Item) error {
	if item.Reset {
		s.sent = item.At
		return s.at("reset")
	}
	if item.Seq > 0 && item.Seq <= s.sent.Seq {
		return nil
	}
	return s.event(item.Event)
}

func (s *stream) event(e events.Event) error {
	var m sse.Message
	if e.Type != events.ChatContent {
		delete(s.have, e.Message)
	} else if !s.trim(&e) {
		return nil
	}
	if e.Last {
		s.sent = e.Position()
		m.ID = sse.ID(s.sent.String())
	}
	m.AppendData(string(rawjson.Answer(e)))
	return s.send(&m)
}

// trim removes the text that the client has from a chunk of a reply, and reports whether any
// is left.
func (s *stream) trim(e *events.Event) bool {
	text := []rune(e.Text)
	known := min(max(s.have[e.Message]-e.Offset, 0), len(text))
	e.Text, e.Offset = string(text[known:]), e.Offset+known
	s.have[e.Message] = max(s.have[e.Message], e.Offset+len(text)-known)
	return len(text) > known
}

// at sends an event about the position s.sent: ready if the client has all events up to
// it, reset if the client has to read everything again.
func (s *stream) at(name string) error {
	id := s.sent.String()
	m := sse.Message{ID: sse.ID(id), Type: sse.Type(name), Retry: retryAfter}
	m.AppendData(string(rawjson.Compact(map[string]string{"id": id})))
	return s.send(&m)
}

// send sends a message. A client that is too slow to receive it is disconnected.
func (s *stream) send(m *sse.Message) error {
	s.rc.SetWriteDeadline(time.Now().Add(s.Write))
	if _, err := m.WriteTo(s.w); err != nil {
		return err
	}
	return s.rc.Flush()
}
