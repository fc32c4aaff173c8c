// Package server shows a workspace over HTTP as Acontext's API does, so that
// programs which were written for Acontext work with a folder of session files
// when their client is pointed at it.
//
// A session over HTTP is a line: a conversation with whatever continues it, under
// the UUID of its first file. A message goes by its UUID, its parent is the message
// that it answers, and a message without answers is a leaf. Beyond Acontext, a
// message may be stored below any other of its session (parent_id), the path to any
// message can be read (leaf_id), and the leaves can be listed (branches).
//
// Every answer is JSON, but for the bytes of an attachment:
//
//	{"code": 0, "data": ..., "msg": ""}
//	{"code": 404, "msg": "no session ...", "error": "not_found: ..."}
//
// where msg is for a person, error is the detail, and code of a failure is the
// status of the answer. openapi.json describes every route; a test keeps it true.
//
// The server is made for the machine that it runs on. A request is answered only if
// it was sent to a name of that machine, comes from no web page but one of its own,
// and brings the token; see [Options]. What may be large is bounded by [Limits], and
// who is slow is cut off.
//
// A handler reads the request, calls the workspace once and writes what that
// returns. All that is to be decided about conversations is decided there.
package server

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/workspace"
	"github.com/google/uuid"
)

// Options are the choices for a server.
type Options struct {
	// Token is what a client brings as its bearer token. It must not be empty.
	Token string

	// Hosts are names and addresses, without a port, under which the server may be
	// asked beside localhost, the loopback addresses and the address that the
	// client connected to.
	Hosts []string

	// Buffer has what is stored looked at. Nil is one without a processor, where all
	// stays pending. Serve closes it.
	Buffer *buffer.Buffer

	// Count returns how many tokens of a language model a text is. It is asked about
	// every text of a conversation each time that is read, so it should remember them.
	// Nil means that nothing is counted, and all is 0.
	Count func(text string) int

	// Limits bound what a client may ask for.
	Limits Limits

	// Now is the clock. Nil means time.Now.
	Now func() time.Time

	// Random is where ids of tool calls come from. Nil means crypto/rand.
	Random io.Reader

	// Log is told, in one line each, what went wrong that is not the client's
	// fault. Nil means that nobody is told.
	Log func(string)
}

// Limits bound what a client may ask for. The zero value of each is its default.
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
	Requests int   // at once; 256
	Long     int   // of these, requests that take as long as they do; 32
	Copy     int   // messages of a session that is to be copied; 100,000

	// Connections is how many connections there may be at once; 512. When there are
	// more, the one on which no request has come for longest is closed.
	Connections int

	// Headers is how long a client may take to send its headers, Request to send
	// all, Answer how long until it has the answer, Idle until it sends another
	// request: 10 s, 2 min, 5 min, 1 min. Only a flush may take as long as it does.
	Headers, Request, Answer, Idle time.Duration
	// Stop is how long requests may go on when the server is to stop; 10 s.
	Stop time.Duration
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
	l.Connections = orElse(l.Connections, 512)
	l.Copy = orElse(l.Copy, 100_000)
	l.Headers = orElse(l.Headers, 10*time.Second)
	l.Request = orElse(l.Request, 2*time.Minute)
	l.Answer = orElse(l.Answer, 5*time.Minute)
	l.Idle = orElse(l.Idle, time.Minute)
	l.Stop = orElse(l.Stop, 10*time.Second)
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
	buffer    *buffer.Buffer
	project   uuid.UUID // what the workspace is called in answers, and names in it are made with
	mux       *http.ServeMux
	slots     chan struct{} // one taken per request under way
	long      chan struct{} // one taken per request under way that has no time limit
	conns     *connections
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
		conns:     newConnections(o.Limits.Connections),
	}
	for _, e := range endpoints {
		s.mux.Handle(e.pattern, &route{e, s})
	}
	return s
}

// Serve answers requests that come to l until ctx ends. Then it takes no more of
// them, lets those that are under way, and the processor of the buffer, come to their
// end within [Limits].Stop, and returns nil. It closes l and the buffer.
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
		err = h.Close()
	}
	<-failed
	if late := <-closed; late != nil {
		s.opts.Log("what was looking for tasks was stopped: " + late.Error())
	}
	return err
}
