// Package server provides access to a workspace over HTTP: with its own API below /v1,
// and with Acontext's API below /api/v1, so that programs for Acontext can use a folder of
// session files by changing the address in their client.
//
// Below /v1 each verb of the command that runs no program and takes no path has the same
// arguments and the same JSON; see docs/http.md. /v1/openapi.json describes them, and
// /v1/events sends the events of the workspace as they happen.
//
// In Acontext's API a session is a line: a conversation with its continuations, under the
// UUID of its first file. Messages are identified by UUIDs; the parent of a message
// is the message that it answers. In addition to Acontext, a message can be stored
// below any other message of its session (parent_id), the path to any message can
// be read (leaf_id), and the leaves can be listed (branches).
//
// Every answer of it is JSON, except for the bytes of an attachment:
//
//	{"code": 0, "data": ..., "msg": ""}
//	{"code": 404, "msg": "no session ...", "error": "not_found: ..."}
//
// msg is for a person, error is the detail, and the code of a failure is its HTTP
// status. openapi.json describes every route; a test verifies it.
//
// The server is meant for the machine that it runs on. A request is accepted only
// if it was sent to a name of that machine, does not come from a web page of
// another server, and has the token; see [Options]. [Limits] bound sizes and times.
//
// A handler decodes the request, calls the workspace once and encodes the result.
// All rules about conversations are in the workspace.
package server

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/feed"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/server/internal/eventstream"
	"github.com/bough-dev/bough/server/internal/native"
	webpage "github.com/bough-dev/bough/server/page"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/google/uuid"
)

// Options configure a server.
type Options struct {
	// Token is the bearer token that clients must send. It must not be empty.
	Token string

	// Hosts are names and addresses, without a port, that requests may have as
	// their host besides localhost, the loopback addresses and the address that the
	// client connected to.
	Hosts []string

	// Buffer processes stored messages. If nil, the server uses one without a
	// processor, and all messages stay pending. Serve closes it.
	Buffer Buffer

	// MCP handles the requests at /mcp, over streamable HTTP, which need the token as
	// all others do. If nil, there is no such endpoint.
	MCP http.Handler

	// Page serves the page for people, to requests for its name and at the loopback
	// addresses. It needs a cookie, which is for it alone: all other requests need the
	// token. If nil, there is no page.
	Page *webpage.Keys

	// Models opens the model with an id, for turns of agents; a request ends its turns
	// when its client disconnects. The id comes from a client, so the model should not be
	// a program. If nil, what needs a model is refused.
	Models func(ctx context.Context, id string) (model.Model, error)

	// Commands and Command are the commands that the page may run to explore strategies; see
	// [webpage.Options]. If nil, it runs none.
	Commands func() ([]string, error)
	Command  func(name string) (string, error)

	// Machine describes where other programs keep their conversations, which clients may
	// import. If nil, import takes only the text of a transcript.
	Machine *transcript.Machine

	// Remotes returns how a remote of the workspace is reached. If nil, what needs a remote is
	// refused.
	Remotes func(remote.Info) remote.Options

	// Count returns the number of tokens of a text for a language model. It is
	// called for every text of a conversation each time that the conversation is
	// read, so it should cache its results. If nil, all counts are 0.
	Count func(text string) int

	// Limits bound the requests of clients.
	Limits Limits

	// Now is the clock. If nil, time.Now is used.
	Now func() time.Time

	// Random is the source of tool call ids. If nil, crypto/rand is used.
	Random io.Reader

	// Log is called with one line for each error that is not the client's fault. If
	// nil, these are discarded.
	Log func(string)
}

// A Buffer processes the messages that a server stored, in batches. Its methods
// must be safe for concurrent use. line is the name of a line, message the id
// of a message.
type Buffer interface {
	// Stored is called after a message was stored. It must not block.
	Stored(line, message string)

	// Flush processes the pending messages of a line and waits until that is done.
	Flush(ctx context.Context, line string) error

	// Running reports whether a message is being processed.
	Running(message string) bool

	// Status returns how many messages of a line are in each state.
	Status(ctx context.Context, line string) (*lines.Tracking, error)

	// Close processes the pending messages, until ctx is done.
	Close(ctx context.Context) error
}

// Limits bound the requests of clients. Zero means the default, given after each
// field.
type Limits struct {
	Body     int64 // bytes of a body of JSON; 32 MiB
	Upload   int64 // bytes of a body with files; 128 MiB
	Inline   int64 // bytes of attachments in the messages of one answer; 32 MiB
	Files    int   // in one body; 32
	Object   int   // bytes of configs, of the metadata of a message, of an event; 64 KiB
	Parts    int   // of one message; 4,096
	Depth    int   // of arrays and objects in a body; 512
	Query    int   // bytes of a query; 64 KiB
	Header   int   // bytes of all headers; 128 KiB
	Requests int   // concurrent; 256
	Long     int   // of these, requests without a time limit; 32
	Streams  int   // concurrent streams of events and of MCP clients, beside Requests; 128
	Backlog  int   // operations that a stream may be behind before it is closed; 256
	Copy     int   // messages of a session that is to be copied; 100,000

	// Connections is the maximum number of open connections; 512. If there are
	// more, the longest waiting one is closed.
	Connections int

	// Headers is how long a client may take to send its headers, Request to send
	// the complete request, Answer until it has the answer, Idle until it sends
	// another request: 10 s, 2 min, 5 min, 1 min. A flush and a turn of an agent have no
	// time limit.
	Headers, Request, Answer, Idle time.Duration
	// Stop is how long requests may continue when the server stops; 10 s.
	Stop time.Duration
	// Heartbeat is the time between comments in a stream of events, which show that the
	// connection is alive; 15 s.
	Heartbeat time.Duration
	// Write is how long a client may take to receive a part of a stream; 30 s.
	Write time.Duration
}

func (l Limits) withDefaults() Limits {
	const (
		kib = 1 << 10
		mib = 1 << 20
	)
	l.Body = orElse(l.Body, 32*mib)
	l.Upload = orElse(l.Upload, 128*mib)
	l.Inline = orElse(l.Inline, 32*mib)
	l.Files = orElse(l.Files, 32)
	l.Object = orElse(l.Object, 64*kib)
	l.Parts = orElse(l.Parts, 4096)
	l.Depth = orElse(l.Depth, 512)
	l.Query = orElse(l.Query, 64*kib)
	l.Header = orElse(l.Header, 128*kib)
	l.Requests = orElse(l.Requests, 256)
	l.Long = orElse(l.Long, 32)
	l.Streams = orElse(l.Streams, 128)
	l.Backlog = orElse(l.Backlog, 256)
	l.Connections = orElse(l.Connections, 512)
	l.Copy = orElse(l.Copy, 100_000)
	l.Headers = orElse(l.Headers, 10*time.Second)
	l.Request = orElse(l.Request, 2*time.Minute)
	l.Answer = orElse(l.Answer, 5*time.Minute)
	l.Idle = orElse(l.Idle, time.Minute)
	l.Stop = orElse(l.Stop, 10*time.Second)
	l.Heartbeat = orElse(l.Heartbeat, 15*time.Second)
	l.Write = orElse(l.Write, 30*time.Second)
	return l
}

func orElse[T int | int64 | time.Duration](n, byDefault T) T {
	if n <= 0 {
		return byDefault
	}
	return n
}

// A Server answers requests about one workspace. It is an [http.Handler].
type Server struct {
	workspace *workspace.Workspace
	opts      Options
	buffer    Buffer
	project   uuid.UUID // identifies the workspace in answers, and is the namespace of UUIDs in it
	mux       *http.ServeMux
	slots     chan struct{} // one element per request in progress
	long      chan struct{} // one element per request in progress without a time limit
	streams   chan struct{} // one element per stream of events
	feed      *feed.Feed
	conns     *connections
	page      *webpage.Page // nil for none
	activity  activity
}

// New returns a server of w. It panics if there is no token.
func New(w *workspace.Workspace, o Options) *Server {
	if o.Token == "" {
		panic("server: no token")
	}
	o.Limits = o.Limits.withDefaults()
	if o.Buffer == nil {
		o.Buffer = buffer.New(w, buffer.Options{})
	}
	if o.Count == nil {
		o.Count = func(string) int { return 0 }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	s := &Server{
		workspace: w,
		opts:      o,
		buffer:    o.Buffer,
		project:   uuid.NewSHA1(uuid.NameSpaceURL, []byte("file://"+w.Dir())),
		mux:       http.NewServeMux(),
		slots:     make(chan struct{}, o.Limits.Requests),
		long:      make(chan struct{}, o.Limits.Long),
		streams:   make(chan struct{}, o.Limits.Streams),
		feed:      feed.New(w, o.Limits.Backlog, o.Log),
		conns:     newConnections(o.Limits.Connections),
		activity:  activity{ended: o.Now()},
	}
	events := &eventstream.Source{Workspace: w, Feed: s.feed, Heartbeat: o.Limits.Heartbeat, Write: o.Limits.Write, Log: o.Log}
	for _, e := range slices.Concat(endpoints, s.nativeEndpoints(events)) {
		s.mux.Handle(e.pattern, &route{e, s})
	}
	if o.MCP != nil {
		s.mux.Handle("GET /mcp", &route{endpoint{stream: true, answer: streamMCP}, s})
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			s.mux.Handle(method+" /mcp", &route{endpoint{long: true, answer: serveMCP}, s})
		}
	}
	if o.Page != nil {
		stream := endpoint{stream: true, answer: func(c *call) (*answer, error) { return nil, events.Serve(c.w, c.r) }}
		s.page = webpage.New(w, webpage.Options{
			Keys: o.Page, Events: &route{stream, s}, Models: o.Models, Commands: o.Commands, Command: o.Command, Machine: o.Machine, Remotes: o.Remotes, Now: o.Now, Log: o.Log,
		})
	}
	return s
}

// nativeEndpoints returns the endpoints of the native API.
func (s *Server) nativeEndpoints(events *eventstream.Source) (list []endpoint) {
	l := s.opts.Limits
	for _, e := range native.Endpoints(&native.Options{
		Env:     api.Env{Workspace: s.workspace, Models: s.opts.Models, Machine: s.opts.Machine, Remotes: s.opts.Remotes},
		Events:  events,
		Body:    s.bodyLimits(),
		Request: l.Request,
	}) {
		list = append(list, endpoint{pattern: e.Pattern, open: e.Open, long: e.Long, stream: e.Stream, answer: func(c *call) (*answer, error) {
			return nil, e.Serve(c.w, c.r)
		}})
	}
	return list
}

// Serve answers requests on l until ctx is done. Then it accepts no more, lets
// requests in progress and the processor of the buffer complete within
// [Limits].Stop, and returns nil. It closes l and the buffer.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.opts.Limits.Headers,
		ReadTimeout:       s.opts.Limits.Request,
		WriteTimeout:      s.opts.Limits.Answer,
		IdleTimeout:       s.opts.Limits.Idle,
		MaxHeaderBytes:    s.opts.Limits.Header,
		ErrorLog:          s.errorLog(),
		ConnState:         s.conns.changed,
		ConnContext:       withConnection,
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	h.RegisterOnShutdown(s.feed.Close)
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	patience, end := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Limits.Stop)
	defer end()
	closed := make(chan error, 1)
	go func() { closed <- s.buffer.Close(patience) }()
	err := h.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		cut()
		s.awaitLong()
		err = h.Close()
	}
	if s.page != nil {
		s.page.Close(patience)
	}
	<-failed
	if late := <-closed; late != nil {
		s.opts.Log("the task processor was stopped: " + late.Error())
	}
	return err
}

// awaitLong waits until the requests without a time limit, whose context is done, have
// returned: an aborted turn stores the part of the reply that arrived.
func (s *Server) awaitLong() {
	const most = 2 * time.Second
	late := time.After(most)
	for range cap(s.long) {
		select {
		case s.long <- struct{}{}:
		case <-late:
			return
		}
	}
}

// An activity is when a server answered requests.
type activity struct {
	mu      sync.Mutex
	answers int       // in progress
	ended   time.Time // when the last one ended
}

// begin records a request until the function that it returns is called.
func (a *activity) begin(now func() time.Time) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.answers--
		a.ended = now()
	}
}

// Idle returns how long ago the last request ended, or the server was made. It is 0 while a
// request, a stream of events or a turn of an agent is in progress.
func (s *Server) Idle() time.Duration {
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	if s.activity.answers > 0 || s.page != nil && s.page.Busy() {
		return 0
	}
	return s.opts.Now().Sub(s.activity.ended)
}
