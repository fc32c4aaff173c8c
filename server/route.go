package server

import (
	"fmt"
	"log"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/server/internal/native"
	webpage "github.com/bough-dev/bough/server/page"
)

// An endpoint is a method and a path with its handler.
type endpoint struct {
	pattern string // of http.ServeMux
	open    bool   // does not require the token
	shared  bool   // also for pages of other servers
	long    bool   // has no time limit
	stream  bool   // sends until the client disconnects, outside of the slots for requests
	// answer handles a request. If it returns neither an answer nor an error, it
	// has written the answer itself.
	answer func(*call) (*answer, error)
}

// endpoints are all endpoints of the server. openapi.json describes each of them.
var endpoints = []endpoint{
	{pattern: "GET /health", open: true, answer: health},
	{pattern: "GET /openapi.json", open: true, answer: describe},
	{pattern: "GET /api/v1/ping", answer: ping},

	{pattern: "GET /api/v1/session", answer: listSessions},
	{pattern: "POST /api/v1/session", answer: createSession},
	{pattern: "DELETE /api/v1/session/{session_id}", answer: deleteSession},
	{pattern: "GET /api/v1/session/{session_id}/configs", answer: getConfigs},
	{pattern: "PUT /api/v1/session/{session_id}/configs", answer: putConfigs},
	{pattern: "PATCH /api/v1/session/{session_id}/configs", answer: patchConfigs},
	{pattern: "POST /api/v1/session/{session_id}/copy", answer: copySession},

	{pattern: "POST /api/v1/session/{session_id}/messages", answer: storeMessage},
	{pattern: "GET /api/v1/session/{session_id}/messages", answer: getMessages},
	{pattern: "PATCH /api/v1/session/{session_id}/messages/{message_id}/meta", answer: patchMeta},
	{pattern: "GET /api/v1/session/{session_id}/branches", answer: listBranches},
	{pattern: "GET /api/v1/session/{session_id}/token_counts", answer: countTokens},

	{pattern: "GET /api/v1/session/{session_id}/observing_status", answer: observingStatus},
	{pattern: "POST /api/v1/session/{session_id}/flush", long: true, answer: flush},
	{pattern: "GET /api/v1/session/{session_id}/task", answer: listTasks},

	{pattern: "POST /api/v1/session/{session_id}/events", answer: addEvent},
	{pattern: "GET /api/v1/session/{session_id}/events", answer: listEvents},

	{pattern: "GET /api/v1/session/{session_id}/asset/download", answer: downloadAsset},
	{pattern: "GET " + assetPath + "{sha256}", open: true, shared: true, answer: sharedAsset},
}

// A route is an endpoint of a server.
type route struct {
	endpoint
	server *Server
}

// A call is a request in progress.
type call struct {
	*Server
	w http.ResponseWriter
	r *http.Request
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.recover(w, r)
	defer s.activity.begin(s.opts.Now)()
	s.conns.begin(r.Context())
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	if s.page != nil && s.page.Serves(r) {
		s.servePage(w, r)
		return
	}
	h, _ := s.mux.Handler(r)
	rt, found := h.(*route)
	if !found {
		rt = &route{endpoint{answer: notFound}, s}
	}
	if err := s.admit(rt, r); err != nil {
		s.fail(w, r, err)
		return
	}
	taken := []chan struct{}{s.slots}
	switch {
	case rt.stream:
		taken = []chan struct{}{s.streams}
	case rt.long:
		taken = append(taken, s.long)
	}
	for _, slots := range taken {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			writeFailure(w, r, exchange.Fail(http.StatusServiceUnavailable, "too many requests at once", fmt.Sprintf("at most %d are accepted", cap(slots))))
			return
		}
	}
	if found {
		s.mux.ServeHTTP(w, r) // which sets the path values of r
		return
	}
	rt.ServeHTTP(w, r)
}

// servePage passes a request to the page. A stream of events is outside of the slots for
// requests.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	slots := s.slots
	if r.URL.Path == webpage.EventsPath {
		slots = s.streams
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "There are too many requests at once.", http.StatusServiceUnavailable)
		return
	}
	s.page.ServeHTTP(w, r)
}

// admit returns why a request is refused, or nil.
func (s *Server) admit(rt *route, r *http.Request) error {
	if err := s.refusal(r); err != nil {
		return err
	}
	if !rt.shared {
		if err := fromElsewhere(r); err != nil {
			return err
		}
	}
	if !rt.open && !s.authorized(r) {
		return exchange.Fail(http.StatusUnauthorized, "Unauthorized", "")
	}
	if n := len(r.URL.RawQuery); n > s.opts.Limits.Query {
		return exchange.Fail(http.StatusRequestURITooLong, "the query is too long", fmt.Sprintf("%d bytes; at most %d are accepted", n, s.opts.Limits.Query))
	}
	return nil
}

func (rt *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rt.long || rt.stream {
		c := http.NewResponseController(w)
		c.SetReadDeadline(time.Time{})
		c.SetWriteDeadline(time.Time{})
	}
	a, err := rt.answer(&call{rt.server, w, r})
	switch {
	case err != nil:
		rt.server.fail(w, r, err)
	case a != nil:
		write(w, a)
	}
}

// fail answers with the failure for err, and logs internal errors.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := explain(err)
	if f.Status == http.StatusInternalServerError {
		s.opts.Log(fmt.Sprintf("%s %s: %s", r.Method, exchange.Quote(r.URL.Path), f.Message))
	}
	writeFailure(w, r, err)
}

// recover answers for a handler that panicked. A partially written answer is cut
// off.
func (s *Server) recover(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	s.opts.Log(fmt.Sprintf("%s %s: %v\n%s", r.Method, exchange.Quote(r.URL.Path), p, debug.Stack()))
	writeFailure(w, r, exchange.Fail(http.StatusInternalServerError, "internal error", "see the server's log"))
}

// errorLog returns the logger for net/http.
func (s *Server) errorLog() *log.Logger { return log.New(logWriter(s.opts.Log), "", 0) }

type logWriter func(string)

func (f logWriter) Write(b []byte) (int, error) {
	f(strings.TrimSpace(string(b)))
	return len(b), nil
}

// methods are all methods that endpoints use.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// notFound answers a path without an endpoint, or a method that the endpoint does
// not support.
func notFound(c *call) (*answer, error) {
	var allowed []string
	for _, m := range methods {
		other := *c.r
		other.Method = m
		if h, _ := c.mux.Handler(&other); isRoute(h) {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) == 0 || slices.Contains(allowed, c.r.Method) {
		list := "openapi.json lists all endpoints"
		if native.Owns(c.r) {
			list = native.Description + " lists all endpoints"
		}
		return nil, exchange.Fail(http.StatusNotFound, "no endpoint at "+exchange.Quote(c.r.URL.Path), list)
	}
	c.w.Header().Set("Allow", strings.Join(allowed, ", "))
	return nil, exchange.Fail(http.StatusMethodNotAllowed, c.r.Method+" is not allowed at "+exchange.Quote(c.r.URL.Path), "allowed: "+strings.Join(allowed, ", "))
}

func isRoute(h http.Handler) bool {
	_, ok := h.(*route)
	return ok
}

// serveMCP passes a request to the handler of MCP, which writes the answer.
func serveMCP(c *call) (*answer, error) {
	c.opts.MCP.ServeHTTP(c.w, c.r)
	return nil, nil
}

// streamMCP passes the request of a client of MCP that listens for notifications to
// the handler of MCP. A client that is too slow to receive them is disconnected.
func streamMCP(c *call) (*answer, error) {
	c.opts.MCP.ServeHTTP(&timedWriter{c.w, http.NewResponseController(c.w), c.opts.Limits.Write}, c.r)
	return nil, nil
}

// A timedWriter limits the time of each write.
type timedWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	limit time.Duration
}

func (w *timedWriter) Write(b []byte) (int, error) {
	w.rc.SetWriteDeadline(time.Now().Add(w.limit))
	return w.ResponseWriter.Write(b)
}

// FlushError is for [http.ResponseController].
func (w *timedWriter) FlushError() error {
	w.rc.SetWriteDeadline(time.Now().Add(w.limit))
	return w.rc.Flush()
}

func health(*call) (*answer, error) { return &answer{status: http.StatusOK, msg: "ok"}, nil }

func ping(*call) (*answer, error) { return &answer{status: http.StatusOK, msg: "pong"}, nil }
