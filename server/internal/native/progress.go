package native

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/tmaxmax/go-sse"
)

// reportEvery is the time between two reports of the progress of a verb.
const reportEvery = 100 * time.Millisecond

// wantsProgress reports whether a client asks for the progress of a verb, as a stream of events.
func wantsProgress(v *api.Verb, r *http.Request) bool {
	if !v.Remote {
		return false
	}
	for _, value := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(value, ",") {
			if kind, _, err := mime.ParseMediaType(part); err == nil && kind == "text/event-stream" {
				return true
			}
		}
	}
	return false
}

// A progressed is the data of an event progress.
type progressed struct {
	Doing string `json:"doing"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// A progressStream sends what a verb does to its client.
type progressStream struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	end context.CancelFunc // ends the verb

	mu   sync.Mutex
	last time.Time
}

// callWithProgress calls a verb, and sends its progress, and then its result or its error, as events.
func (o *Options) callWithProgress(w http.ResponseWriter, r *http.Request, v *api.Verb, in json.RawMessage) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	s := &progressStream{w: w, rc: http.NewResponseController(w), end: end}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies
	env := o.Env
	env.OnProgress = s.progress
	out, err := v.Call(ctx, env, in)
	if err != nil {
		if e := explain(err); e.status == http.StatusInternalServerError {
			o.Events.Log(v.Name + ": " + workspace.Explain(err).Message)
		}
		s.send("error", rawjson.Compact(map[string]any{"error": explain(err)}))
		return
	}
	s.send("result", api.Encode(out))
}

func (s *progressStream) progress(p remote.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.last) < reportEvery && p.Done != p.Total {
		return
	}
	s.last = now
	s.event("progress", rawjson.Compact(progressed{p.Doing, p.Done, p.Total}))
}

func (s *progressStream) send(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event(name, data)
}

// event sends an event. A client that does not receive it ends the verb.
func (s *progressStream) event(name string, data []byte) {
	m := sse.Message{Type: sse.Type(name)}
	m.AppendData(string(data))
	_, err := m.WriteTo(s.w)
	if err == nil {
		err = s.rc.Flush()
	}
	if err != nil {
		s.end()
	}
}
