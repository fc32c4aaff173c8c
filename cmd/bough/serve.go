package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/tokens"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

// tokenVariable is the environment variable whose token overrides that of the workspace.
const tokenVariable = "BOUGH_TOKEN"

func (p *program) serveVerb() verb {
	return verb{
		name:  "serve",
		args:  "[--addr HOST:PORT] [--on-message CMD]",
		short: "serve the workspace over HTTP, with the API of Acontext",
		long: `Serves the API of Acontext, with branches, until it is interrupted. It prints the settings for a
client; docs/clients.md describes where they go. Clients need the token: $BOUGH_TOKEN, else that in
.bough/token, which is created at the first start. Requests from web pages are refused.

--on-message runs a shell command that extracts tasks from stored messages: it reads the messages
of one branch as JSON and prints the tasks in them as JSON; see docs/tasks.md.`,
		example: `bough serve
bough serve --addr 127.0.0.1:0 --json
bough serve --on-message 'python3 find_tasks.py' --timeout 1m`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8029", Usage: "listen on `HOST:PORT`; port 0 means any free port"},
			&cli.StringSliceFlag{Name: "host", Usage: "accept requests for the host `NAME` too; repeatable"},
			&cli.StringFlag{Name: "on-message", Usage: "run the command `CMD` to extract tasks"},
			&cli.IntFlag{Name: "batch", Value: 16, Usage: "run CMD when `N` messages wait on a branch"},
			&cli.DurationFlag{Name: "idle", Value: 8 * time.Second, Usage: "run CMD when no message arrived for the time `D`"},
			&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "stop CMD after the time `D`"},
		},
		standalone: p.serve,
	}
}

func (p *program) serve(c *cli.Context) error {
	if c.Int("batch") < 1 {
		return usageError("--batch takes a positive number")
	}
	for _, name := range []string{"idle", "timeout"} {
		if c.Duration(name) <= 0 {
			return usageError("--%s takes a time, such as 10s", name)
		}
	}
	ctx, stop := untilInterrupt(c.Context)
	defer stop()
	w, err := p.openShared(ctx)
	if err != nil {
		return err
	}
	l, err := listen(ctx, c.String("addr"))
	if err != nil {
		return err
	}
	defer l.Close()
	token, file, err := p.serveToken(ctx, w)
	if err != nil {
		return err
	}
	if err := w.Make(ctx); err != nil {
		return err
	}
	at := addressOf(c.String("addr"), l.Addr())
	if err := p.printServing(w, at, token, file); err != nil {
		return err
	}
	var counter tokens.Counter
	s := server.New(w, server.Options{
		Token:  token,
		Hosts:  append(c.StringSlice("host"), at.host),
		Buffer: p.buffer(c, w),
		Count:  counter.Count,
		Log:    p.noteShared(),
	})
	return s.Serve(ctx, l)
}

// buffer returns the buffer that runs the command of --on-message.
func (p *program) buffer(c *cli.Context, w *workspace.Workspace) *buffer.Buffer {
	o := buffer.Options{
		Batch:   c.Int("batch"),
		Idle:    c.Duration("idle"),
		Timeout: c.Duration("timeout"),
		Note:    p.noteShared(),
	}
	if command := c.String("on-message"); command != "" {
		o.Processor = buffer.Command(command, p.noteShared())
	}
	return buffer.New(w, o)
}

// openShared opens the workspace for use from several goroutines.
func (p *program) openShared(ctx context.Context) (*workspace.Workspace, error) {
	dir, err := p.workspaceDir()
	if err != nil {
		return nil, err
	}
	o, err := p.options(dir)
	if err != nil {
		return nil, err
	}
	o.Note = p.noteShared()
	return workspace.Open(ctx, dir, o)
}

// noteShared returns note in a form that is safe for concurrent use.
func (p *program) noteShared() func(string) {
	return func(s string) {
		const most = 1000 // number of notes that are remembered to print each only once
		p.noting.Lock()
		defer p.noting.Unlock()
		if len(p.noted) == most {
			p.noted = nil
		}
		p.note(s)
	}
}

// serveToken returns the token, and the file that contains it, "" for none.
func (p *program) serveToken(ctx context.Context, w *workspace.Workspace) (token, file string, err error) {
	if token := p.token; token != "" {
		if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return "", "", &fault.Error{Code: fault.Usage, Message: "$" + tokenVariable + " is not a valid token", Hint: "a token is ASCII without spaces"}
		}
		return token, "", nil
	}
	if token, err = w.Token(ctx); err != nil {
		e := workspace.Explain(err)
		e.Hint = cmp.Or(e.Hint, "with a token in $"+tokenVariable+" bough does not store one")
		return "", "", e
	}
	return token, filepath.Join(w.Dir(), ".bough", "token"), nil
}

// listen listens at an address.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, usageError("--addr takes HOST:PORT, not %q", addr)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	e := &fault.Error{
		Code:    fault.Failed,
		Message: fmt.Sprintf("listen on %s: %v", addr, err),
		Hint:    "choose another address, such as --addr 127.0.0.1:0 for any free port",
		Err:     err,
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		e.Message = addr + " is in use by another program"
		e.Hint = "if that is another 'bough serve', clients can use it; else " + e.Hint
	}
	return nil, e
}

// An address is the address of the server.
type address struct {
	host string // as given, "" for all interfaces
	url  string
	far  bool // reachable from other machines
}

// addressOf returns the address of a listener for addr.
func addressOf(addr string, l net.Addr) address {
	tcp := l.(*net.TCPAddr)
	host, _, _ := net.SplitHostPort(addr)
	a := address{host: host, far: !tcp.IP.IsLoopback()}
	if tcp.IP.IsUnspecified() {
		a.host, host = "", "127.0.0.1"
	}
	a.url = "http://" + net.JoinHostPort(host, fmt.Sprint(tcp.Port))
	return a
}

// printServing prints the settings for a client. A token from the environment is not
// printed.
func (p *program) printServing(w *workspace.Workspace, at address, token, file string) error {
	if at.far {
		p.note("other machines can reach this server, and the connection is not encrypted")
	}
	base := at.url + "/api/v1"
	if p.json {
		settings := struct {
			URL       string     `json:"url"`
			BaseURL   string     `json:"base_url"`
			Token     session.ID `json:"token"`
			TokenFile session.ID `json:"token_file"`
		}{at.url, base, session.ID(token), session.ID(file)}
		if file == "" {
			settings.Token = ""
		}
		if err := p.printJSON(settings); err != nil {
			return err
		}
		return p.stdout.Flush()
	}
	fmt.Fprintf(p.stderr, "Serving %s at %s; interrupt to end.\n", clean(w.Dir()), at.url)
	if file == "" {
		token = "$" + tokenVariable
	}
	fmt.Fprintf(p.stdout, "ACONTEXT_BASE_URL=%s\nACONTEXT_API_KEY=%s\n", base, token)
	return p.stdout.Flush()
}
