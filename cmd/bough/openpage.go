package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/bough-dev/bough/cmd/bough/internal/daemon"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/server/page"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

func (p *program) openPageVerb() verb {
	return verb{
		name:  "open",
		args:  "[REF] [--print | --stop]",
		short: "open the conversations in a browser",
		long: `Opens the page of the workspace in a browser: at REF, which can also be an agent or an
exploration, else at the head. The page is that of the running 'bough serve' of the workspace. If
none runs, one is started in the background; it ends 30 minutes after the last page was closed, and
--stop ends it at once.

The address has a code that works once, within five minutes. With --print, or if there is no
browser, two addresses are printed; use the second one (by IP address) if the browser cannot resolve
the name in the first. docs/page.md describes the page, and how to open the page of another machine.
$BROWSER names another browser.`,
		example: `bough open
bough open "Fix the parser"
bough open --print`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "print", DisableDefaultText: true, Usage: "print the addresses and open no browser"},
			&cli.BoolFlag{Name: "stop", DisableDefaultText: true, Usage: "end the server that was started in the background"},
		},
		max:        1,
		standalone: p.openPage,
	}
}

// serverKind is the kind of process whose page 'bough open' opens.
func serverKind() daemon.Kind { return daemon.Kind{Name: "server", Dir: page.ServerDir} }

// untilIdle is how long the server that 'bough open' starts runs without an open page.
const untilIdle = 30 * time.Minute

// An openedPage is the document of 'bough open'.
type openedPage struct {
	Workspace string    `json:"workspace"`
	URL       string    `json:"url"`       // with a code
	ByIP      string    `json:"url_by_ip"` // for a browser that does not resolve the name in URL
	Expires   time.Time `json:"expires_at"`
	Opened    bool      `json:"opened"`  // in a browser
	Started   bool      `json:"started"` // a server was started for it
}

func (p *program) openPage(c *cli.Context) error {
	w, err := p.openShared(c.Context)
	if err != nil {
		return err
	}
	if c.Bool("stop") {
		if c.NArg() > 0 || c.Bool("print") {
			return usageError("--stop takes no REF and no --print")
		}
		return p.stopServer(c, w)
	}
	path := "/"
	if c.NArg() > 0 {
		if path, err = pagePath(c.Context, w, c.Args().First()); err != nil {
			return err
		}
	}
	if err := w.Make(c.Context); err != nil {
		return err
	}
	keys, err := page.LoadKeys(c.Context, w.Dir())
	if err != nil {
		return err
	}
	running, started, err := findServer(c.Context, w, keys)
	if err != nil {
		return err
	}
	s := &site{keys: keys, port: running.Port}
	keys.Run = running.Run
	return p.openAt(w, s, path, openOptions{print: c.Bool("print"), started: started})
}

// pagePath returns the path of the page of a REF, an agent or an exploration.
func pagePath(ctx context.Context, w *workspace.Workspace, ref string) (string, error) {
	if l, err := w.Lineage(ctx, ref, session.ReadOptions{Partial: true}); err == nil {
		return sessionPage(ctx, w, l.IDs[len(l.IDs)-1])
	}
	shown, err := w.Show(ctx, ref, session.ReadOptions{Partial: true})
	switch {
	case err == nil:
		path := "/c/" + url.PathEscape(shown.Entry.ID)
		if n := len(shown.Messages); n > 0 {
			id := shown.Messages[n-1].ID
			path += "?leaf=" + url.QueryEscape(id) + "#m-" + url.PathEscape(id)
		}
		return path, nil
	case !errors.Is(err, fault.NotFound):
		return "", err
	}
	if a, err := w.Agent(ref).Info(ctx); err == nil {
		return "/agents/" + url.PathEscape(a.Name), nil
	}
	if id, err := w.ExplorationID(ctx, ref); err == nil {
		return "/explore/" + url.PathEscape(id), nil
	}
	return "", err
}

// sessionPage returns the path of the page of a session.
func sessionPage(ctx context.Context, w *workspace.Workspace, id string) (string, error) {
	list, err := w.List(ctx, session.Checkpoint)
	if err != nil {
		return "", err
	}
	for _, e := range list.Sessions {
		if e.ID == id {
			return "/k/" + url.PathEscape(id), nil
		}
	}
	return "/c/" + url.PathEscape(id), nil
}

// findServer returns the running server of w that has the keys, and starts one if none runs.
func findServer(ctx context.Context, w *workspace.Workspace, keys *page.Keys) (s page.Server, started bool, err error) {
	state, err := serverKind().Look(w.Dir())
	if err != nil {
		return s, false, err
	}
	if state.Running {
		s, err := recordedServer(ctx, w, state.PID)
		switch {
		case err != nil || s.Host == keys.Host():
			return s, false, err
		case !s.Background:
			return s, false, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the server of %s, process %d, has other keys than .bough/page/keys.json", w.Dir(), s.PID), Hint: "start it again"}
		}
		if _, err := serverKind().Stop(ctx, w.Dir()); err != nil {
			return s, false, err
		}
	}
	program, err := programPath()
	if err != nil {
		return s, false, err
	}
	if state, err = serverKind().Start(ctx, w.Dir(), program, serverArgs(ctx, w)...); err != nil {
		return s, false, err
	}
	s, err = recordedServer(ctx, w, state.PID)
	return s, true, err
}

// serverArgs returns the arguments of bough for the server that 'bough open' starts. It gets
// the port of the last one if that is free, so that open pages find it.
func serverArgs(ctx context.Context, w *workspace.Workspace) []string {
	addr := "127.0.0.1:0"
	if last, ok := page.LastServer(w.Dir()); ok {
		usual := fmt.Sprintf("127.0.0.1:%d", last.Port)
		if l, err := listenAt(ctx, usual); err == nil {
			l.Close()
			addr = usual
		}
	}
	return []string{"-w", w.Dir(), "serve", "--background", "--until-idle", untilIdle.String(), "--addr", addr}
}

// recordedServer returns the server that the process pid has recorded. It waits for the
// process, which acquires its lock first.
func recordedServer(ctx context.Context, w *workspace.Workspace, pid int) (page.Server, error) {
	const (
		patience = 10 * time.Second
		poll     = 10 * time.Millisecond
	)
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		if s, ok := page.LastServer(w.Dir()); ok && s.PID == pid {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return page.Server{}, &fault.Error{Code: fault.Failed, Message: fmt.Sprintf("process %d serves the workspace, but its address is unknown", pid), Hint: "end it and try again"}
		case <-time.After(poll):
		}
	}
}

// A site is the page of a server.
type site struct {
	keys    *page.Keys // nil if the server has no page
	port    int
	record  func() error // has 'bough open' find the server
	release func()       // ends the registration of the server
}

// url returns the address of the page, "" for none.
func (s *site) url() string {
	if s.keys == nil {
		return ""
	}
	own, _ := s.keys.Address(s.port)
	return own
}

// registerServer makes this process the server whose page 'bough open' opens, once it is
// recorded, unless another one is. A server that does not listen at a loopback address has no
// page.
func (p *program) registerServer(ctx context.Context, c *cli.Context, w *workspace.Workspace, at address) (*site, error) {
	s := &site{port: at.port, record: func() error { return nil }, release: func() {}}
	if !at.local {
		return s, nil
	}
	keys, err := page.LoadKeys(ctx, w.Dir())
	if err != nil {
		return nil, err
	}
	keys.Run, s.keys = page.NewRun(), keys
	lock, err := serverKind().Acquire(ctx, w.Dir())
	var held *writelock.HeldError
	switch {
	case errors.As(err, &held) && !c.Bool("background"):
		p.note(fmt.Sprintf("process %d serves this workspace too; 'bough open' opens the page of that one", held.Holder.PID))
		return s, nil
	case err != nil:
		return nil, err
	}
	s.release = lock.Release
	s.record = func() error {
		return page.Server{
			PID: os.Getpid(), Addr: c.String("addr"), Port: at.port, Host: keys.Host(), Run: keys.Run, Background: c.Bool("background"), Since: time.Now(),
		}.Record(w.Dir())
	}
	return s, nil
}

// endBackground ends the server that 'bough open' started, because this process takes its
// place.
func (p *program) endBackground(c *cli.Context, w *workspace.Workspace) error {
	state, err := serverKind().Look(w.Dir())
	if err != nil || !state.Running || c.Bool("background") {
		return nil // the workspace may not exist yet
	}
	if last, ok := page.LastServer(w.Dir()); !ok || last.PID != state.PID || !last.Background {
		return nil
	}
	_, err = serverKind().Stop(c.Context, w.Dir())
	return err
}

// stopServer ends the server that 'bough open' started.
func (p *program) stopServer(c *cli.Context, w *workspace.Workspace) error {
	state, err := serverKind().Look(w.Dir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if last, ok := page.LastServer(w.Dir()); state.Running && ok && last.PID == state.PID && !last.Background {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the server of %s was started by 'bough serve', process %d", w.Dir(), state.PID), Hint: "interrupt it there"}
	}
	if state.Running {
		if _, err := serverKind().Stop(c.Context, w.Dir()); err != nil {
			return err
		}
	}
	if p.json {
		return p.printJSON(map[string]bool{"stopped": state.Running})
	}
	if state.Running {
		fmt.Fprintf(p.stderr, "Stopped the server of %s\n", clean(w.Dir()))
	} else {
		fmt.Fprintf(p.stderr, "The server of %s is not running.\n", clean(w.Dir()))
	}
	return nil
}

type openOptions struct {
	print   bool // and open no browser
	started bool
}

// openAt opens a path of the page in a browser, or prints its addresses.
func (p *program) openAt(w *workspace.Workspace, s *site, path string, o openOptions) error {
	now := time.Now()
	own, byNumber := s.keys.Address(s.port)
	login := "/login?to=" + url.QueryEscape(path) + "#" + s.keys.Code(now)
	d := openedPage{Workspace: w.Dir(), URL: own + login, ByIP: byNumber + login, Expires: now.Add(page.CodeTime), Started: o.started}
	if !o.print {
		d.Opened = openBrowser(d.URL) == nil
	}
	switch {
	case p.json:
		return p.printJSON(d)
	case d.Opened:
		fmt.Fprintf(p.stderr, "Opened %s\n", own+path)
		return nil
	case !o.print:
		p.note("no browser was found; open one of these addresses, the second one if the browser does not find the first")
	}
	_, err := fmt.Fprintf(p.stdout, "%s\n%s\n", d.URL, d.ByIP)
	return err
}

// openFirst opens the page of this process.
func (p *program) openFirst(s *site) {
	own, byNumber := s.keys.Address(s.port)
	code := "/login#" + s.keys.Code(time.Now())
	if openBrowser(own+code) != nil {
		p.noteShared()("no browser was found; open " + own + code + ", or " + byNumber + code + " if the browser does not find it")
	}
}
