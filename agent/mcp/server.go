package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bough-dev/bough/internal/child"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is the maximum size of a message in bytes. A larger one ends the
// connection.
const maxMessage = 16 << 20

// maxPages is the maximum number of pages of a server's list of tools.
const maxPages = 1000

// established is the protocol version in the first request. All servers can
// negotiate from it; some older ones exit at a request for a newer one.
const established = "2025-11-25"

// A server is a server of a [Config], connected or not.
type server struct {
	config  Server
	secrets []string
	options *Options

	turn   chan struct{} // holds a token while the fields below are free
	live   *live         // nil before the first connection
	tools  []*sdk.Tool   // the tools as last listed
	end    chan struct{} // closed to stop the server
	ending sync.Once
}

// A live is the connection to a server.
type live struct {
	session *sdk.ClientSession
	process *child.Process // nil if it is at a URL
	cut     context.CancelFunc
	changed atomic.Bool   // the server reported that its tools changed
	gone    chan struct{} // closed when the connection has ended
	why     error         // why it ended, set before
}

func newServer(s Server, secrets []string, o *Options) *server {
	return &server{config: s, secrets: secrets, options: o, turn: make(chan struct{}, 1), end: make(chan struct{})}
}

// errorf returns an error that names the server and contains no secrets.
func (s *server) errorf(format string, a ...any) error {
	text := fmt.Sprintf(format, a...)
	return fmt.Errorf("the MCP server %q %s", s.config.Name, hide(text, s.secrets))
}

func (s *server) isClosed() bool {
	select {
	case <-s.end:
		return true
	default:
		return false
	}
}

// take waits for exclusive use of the connection.
func (s *server) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connected returns the connection. If there is none, it connects and lists the
// tools.
func (s *server) connected(ctx context.Context) (*live, error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.turn }()
	switch {
	case s.isClosed():
		return nil, s.errorf("is closed")
	case s.live != nil && !s.live.isOver():
		return s.live, nil
	case s.live != nil:
		s.live.stop(s.options.Grace)
		s.live = nil
	}
	start, cancel := context.WithTimeout(ctx, s.options.StartTime)
	defer cancel()
	l, err := s.connect(start, established)
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		l, err = s.connect(start, "")
	}
	switch {
	case err == nil:
		s.live = l
		return l, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case start.Err() != nil:
		return nil, s.errorf("did not start within %v%s", s.options.StartTime, s.said(l))
	case errors.Is(err, errClosed):
		return nil, s.errorf("is closed")
	}
	return nil, s.errorf("cannot be started: %s%s", l.explain(err), s.said(l))
}

// connect connects with a protocol version, "" for the newest, and lists the
// tools. If that fails, the returned connection has ended.
func (s *server) connect(ctx context.Context, version string) (*live, error) {
	l := &live{gone: make(chan struct{})}
	transport, err := s.transport(l)
	if err != nil {
		close(l.gone)
		return l, err
	}
	options := &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.changed.Store(true) },
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "bough", Version: s.options.Version}, options)
	life, cut := context.WithCancel(context.Background()) // the connection outlives ctx
	l.cut = cut
	l.session, err = await(ctx, s.end, func() (*sdk.ClientSession, error) {
		return client.Connect(life, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	})
	if err != nil {
		close(l.gone)
		l.stop(s.options.Grace)
		return l, err
	}
	go func() {
		l.why = l.session.Wait()
		close(l.gone)
	}()
	if err := s.relist(ctx, l); err != nil {
		l.stop(s.options.Grace)
		return l, err
	}
	return l, nil
}

// await returns the result of f, or an error as soon as ctx or end is done.
func await[T any](ctx context.Context, end <-chan struct{}, f func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	var none T
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-end:
		return none, errClosed
	}
}

var errClosed = errors.New("is closed")

// transport returns the transport to the server. It starts the server if it is
// a program.
func (s *server) transport(l *live) (sdk.Transport, error) {
	c, limit := &s.config, s.options.maxMessage
	switch {
	case c.SSE:
		return &sdk.SSEClientTransport{Endpoint: c.URL, HTTPClient: httpClient(c, limit), MaxEventSize: limit}, nil
	case c.URL != "":
		return &sdk.StreamableClientTransport{Endpoint: c.URL, HTTPClient: httpClient(c, limit), MaxEventSize: limit}, nil
	}
	cmd := exec.Command(c.Command, c.Args...)
	cmd.Env = c.environment(s.options.Inherit)
	p, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	l.process = p
	return &sdk.IOTransport{Reader: messages(p), Writer: p.Stdin, MaxLineLength: limit}, nil
}

// relist asks for the tools.
func (s *server) relist(ctx context.Context, l *live) error {
	l.changed.Store(false)
	tools, err := await(ctx, s.end, func() ([]*sdk.Tool, error) { return pages(ctx, l.session, s.options.MaxTools) })
	if err == nil {
		s.tools = tools
	}
	return err
}

// pages returns the tools of all pages. It returns none for a server that does
// not support tools.
func pages(ctx context.Context, session *sdk.ClientSession, most int) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	cursor := ""
	for range maxPages {
		r, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		var unknown *jsonrpc.Error
		switch {
		case errors.As(err, &unknown) && unknown.Code == jsonrpc.CodeMethodNotFound:
			return nil, nil
		case err != nil:
			return nil, err
		}
		for _, t := range r.Tools {
			if t != nil && t.Name != "" {
				all = append(all, t)
			}
		}
		if len(all) > most {
			return nil, fmt.Errorf("it has more than %d tools", most)
		}
		if cursor = r.NextCursor; cursor == "" {
			return all, nil
		}
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", maxPages)
}

// list returns the tools, the last known ones if the request fails.
func (s *server) list(ctx context.Context) []*sdk.Tool {
	l, err := s.connected(ctx)
	if s.take(ctx) != nil {
		return nil
	}
	defer func() { <-s.turn }()
	if err == nil && l.changed.Load() {
		ctx, cancel := context.WithTimeout(ctx, s.options.StartTime)
		defer cancel()
		if s.relist(ctx, l) != nil {
			l.changed.Store(true)
		}
	}
	return s.tools
}

// call calls a tool by the server's name for it.
func (s *server) call(ctx context.Context, tool string, args json.RawMessage) (*sdk.CallToolResult, error) {
	l, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, s.options.CallTime)
	defer cancel()
	// A server that does not read its input must not block callers.
	r, err := await(limited, s.end, func() (*sdk.CallToolResult, error) {
		return l.session.CallTool(limited, &sdk.CallToolParams{Name: tool, Arguments: args})
	})
	var refused *jsonrpc.Error
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, s.errorf("did not answer the call of %q within %v", tool, s.options.CallTime)
	case errors.Is(err, errClosed):
		return nil, s.errorf("is closed")
	case errors.As(err, &refused):
		return nil, s.errorf("refused the call of %q: %s", tool, strings.ToValidUTF8(refused.Message, "\uFFFD"))
	case l.goesNow():
		l.stop(s.options.Grace)
		return nil, s.errorf("stopped after the call of %q: %s%s", tool, l.explain(l.why), s.said(l))
	}
	return nil, s.errorf("could not be called for %q: %s", tool, err)
}

// close ends the server. It may still be starting.
func (s *server) close() {
	s.ending.Do(func() { close(s.end) })
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.live != nil {
		s.live.stop(s.options.Grace)
	}
}

// isOver reports whether the connection has ended.
func (l *live) isOver() bool {
	select {
	case <-l.gone:
		return true
	case <-l.ended():
		return true
	default:
		return false
	}
}

// goesNow reports whether the connection has ended or, because the program is
// exiting, is about to end.
func (l *live) goesNow() bool {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-l.gone:
		return true
	case <-t.C:
		return l.isOver()
	}
}

// ended returns a channel that is closed when the program has exited.
func (l *live) ended() <-chan struct{} {
	if l.process == nil {
		return nil
	}
	return l.process.Done()
}

// stop ends the connection, and notifies a server at a URL.
func (l *live) stop(grace time.Duration) {
	if l.process != nil {
		l.process.Stop(grace)
	}
	if l.session != nil {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		await(ctx, nil, func() (struct{}, error) { return struct{}{}, l.session.Close() })
	}
	if l.cut != nil {
		l.cut()
	}
}

// explain returns why a connection ended, or could not be made. The exit status
// of a program takes precedence over the error of the connection.
func (l *live) explain(err error) string {
	if l.process != nil {
		if failure := l.process.Failure(); failure != "" {
			return "it exited with " + failure
		}
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return "it closed the connection"
	}
	return err.Error()
}

// said quotes the end of a program's standard error.
func (s *server) said(l *live) string {
	if l.process == nil {
		return ""
	}
	if text := l.process.Said(); text != "" {
		return fmt.Sprintf("; it wrote %q", hide(text, s.secrets))
	}
	return ""
}
