package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/tokens"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/server/mcp"
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
		args:  "[--addr HOST:PORT] [--open] [--on-message CMD] [FLAG ...]",
		short: "serve the workspace over HTTP, to programs in any language and to browsers",
		long: `Serves the verbs of bough below /v1, with the same JSON and with events, and the API of Acontext,
with branches, below /api/v1, until it is interrupted. It prints the settings for a client of
Acontext; docs/clients.md describes where they go, and docs/http.md the native interface. Clients
need the token: $BOUGH_TOKEN, else that in .bough/token, which is created at the first start.
Requests from web pages are refused.

At a loopback address it also serves a page for browsers, which 'bough open' opens; see
docs/page.md. --open opens it at once.

--on-message runs a shell command that extracts tasks from stored messages: it reads the messages
of one branch as JSON and prints the tasks in them as JSON; see docs/tasks.md.`,
		example: `bough serve
bough serve --open
bough serve --addr 127.0.0.1:0 --json
bough serve --on-message 'python3 find_tasks.py' --timeout 1m`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8029", Usage: "listen on `HOST:PORT`; port 0 means any free port"},
			&cli.StringSliceFlag{Name: "host", Usage: "accept requests for the host `NAME` too; repeatable"},
			&cli.BoolFlag{Name: "open", DisableDefaultText: true, Usage: "open the page in a browser"},
			&cli.DurationFlag{Name: "until-idle", DefaultText: "never", Usage: "end when there was no request, no open page and no turn for the time `D`"},
			&cli.BoolFlag{Name: "background", DisableDefaultText: true, Usage: "write to .bough/server/log instead of printing, as the server of 'bough open' does"},
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
	for _, name := range []string{"idle", "timeout", "until-idle"} {
		if c.Duration(name) <= 0 && (name != "until-idle" || c.IsSet(name)) {
			return usageError("--%s takes a time, such as 10s", name)
		}
	}
	ctx, stop := untilInterrupt(c.Context)
	defer stop()
	w, err := p.openShared(ctx)
	if err != nil {
		return err
	}
	if err := p.endBackground(c, w); err != nil {
		return err
	}
	l, err := p.listen(ctx, c.String("addr"))
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
	site, err := p.registerServer(ctx, c, w, at)
	if err != nil {
		return err
	}
	defer site.release()
	if c.Bool("background") {
		file := serverKind().OpenLog(w.Dir())
		defer file.Close()
		lines := log.New(file, "", log.LstdFlags)
		defer p.logTo(lines)()
		lines.Printf("serving at %s, process %d", at.url, os.Getpid())
	} else if err := p.printServing(w, at, site, token, file); err != nil {
		return err
	}
	m, err := mcp.New(w, p.mcpOptions(w))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, m.Close)() // ends the streams, so that the server can stop
	var counter tokens.Counter
	here := machine()
	s := server.New(w, server.Options{
		Token:  token,
		Hosts:  append(c.StringSlice("host"), at.host),
		Page:   site.keys,
		Buffer: p.buffer(c, w),
		Models: servedModel,
		Commands: func() ([]string, error) {
			commands, err := settingCommands(w)
			return slices.Sorted(maps.Keys(commands)), err
		},
		Command: mcpCommand(w),
		Machine: &here,
		Remotes: p.servedRemote,
		Count:   counter.Count,
		MCP:     m,
		Log:     p.noteShared(),
	})
	if limit := c.Duration("until-idle"); limit > 0 {
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		defer end()
		go endIdle(ctx, s, limit, end)
	}
	if err := site.record(); err != nil {
		return err
	}
	if c.Bool("open") && site.keys != nil {
		go p.openFirst(site)
	}
	return s.Serve(ctx, l)
}

// endIdle calls end when s has been idle for the time limit.
func endIdle(ctx context.Context, s *server.Server, limit time.Duration, end func()) {
	tick := time.NewTicker(max(limit/20, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.Idle() >= limit {
			end()
			return
		}
	}
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

// listen listens at an address and, if that is 127.0.0.1, at the same port of [::1]: a
// browser tries both for the name of the page, and sends the cookie to the server that answers.
func (p *program) listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := listenAt(ctx, addr)
	if err != nil {
		return nil, err
	}
	tcp := l.Addr().(*net.TCPAddr)
	if !tcp.IP.Equal(net.IPv4(127, 0, 0, 1)) {
		return l, nil
	}
	other, err := (&net.ListenConfig{}).Listen(ctx, "tcp6", fmt.Sprintf("[::1]:%d", tcp.Port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		p.note(fmt.Sprintf("another program listens at [::1]:%d; a browser may open its page instead of that of bough", tcp.Port))
		return l, nil
	case err != nil: // there is no IPv6
		return l, nil
	}
	return join(l, other), nil
}

// listenAt listens at an address.
func listenAt(ctx context.Context, addr string) (net.Listener, error) {
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
	host  string // as given, "" for all interfaces
	port  int
	url   string
	far   bool // reachable from other machines
	local bool // reachable at 127.0.0.1
}

// addressOf returns the address of a listener for addr.
func addressOf(addr string, l net.Addr) address {
	tcp := l.(*net.TCPAddr)
	host, _, _ := net.SplitHostPort(addr)
	a := address{host: host, port: tcp.Port, far: !tcp.IP.IsLoopback()}
	a.local = tcp.IP.IsUnspecified() || tcp.IP.Equal(net.IPv4(127, 0, 0, 1))
	if tcp.IP.IsUnspecified() {
		a.host, host = "", "127.0.0.1"
	}
	a.url = "http://" + net.JoinHostPort(host, fmt.Sprint(tcp.Port))
	return a
}

// printServing prints the settings for a client. A token from the environment is not
// printed.
func (p *program) printServing(w *workspace.Workspace, at address, site *site, token, file string) error {
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
			Page      session.ID `json:"page"`
		}{at.url, base, session.ID(token), session.ID(file), session.ID(site.url())}
		if file == "" {
			settings.Token = ""
		}
		if err := p.printJSON(settings); err != nil {
			return err
		}
		return p.stdout.Flush()
	}
	fmt.Fprintf(p.stderr, "Serving %s at %s; interrupt to end.\n", clean(w.Dir()), at.url)
	if site.keys != nil {
		fmt.Fprintln(p.stderr, "'bough open' opens it in a browser.")
	}
	if file == "" {
		token = "$" + tokenVariable
	}
	fmt.Fprintf(p.stdout, "ACONTEXT_BASE_URL=%s\nACONTEXT_API_KEY=%s\n", base, token)
	return p.stdout.Flush()
}
