// Package page serves a workspace to people: its conversations, trees and checkpoints as
// HTML in a browser, with forms for what changes something and events for what changes
// meanwhile. It works without scripts.
//
// # Access
//
// A request is answered only if it has the cookie, and the cookie is given only for a code
// that a program of the same user made; see [Keys]. The page is at NAME.localhost, where
// NAME is random, because a browser sends the cookies of localhost to the programs on all
// ports of it. At a loopback address the page works too, for browsers that do not resolve
// NAME.localhost. The cookie is valid for the page alone: no other interface of the server
// reads it.
//
// Nothing changes by GET. A request of another web page is refused by its headers Host,
// Origin and Sec-Fetch-Site. The policy of every answer allows no script but those of this
// package, and nothing from elsewhere. Text of a conversation is text.
//
// # Views
//
// A view is a function from a request to a template with its data; routes.go has the table.
// The shell (shell.go) draws what all views share, and errors. A request with the header
// Bough-Fragment gets the view without the shell. /do/VERB calls a verb of package api
// (do.go).
package page

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
)

// EventsPath is the path of the stream of events, which has no end.
const EventsPath = "/events"

// Options configure a page.
type Options struct {
	// Keys decide who may see the page: their name and run are those of this page, and the
	// secret is that of the file of the workspace, as [LoadKeys] stores it, at each request.
	Keys *Keys

	// Events sends the events of the workspace to a client. It is called only for requests
	// that have the cookie.
	Events http.Handler

	// Models opens the model with an id, for turns of agents. If nil, what needs a model is
	// refused.
	Models func(ctx context.Context, id string) (model.Model, error)

	// Commands returns the names of the commands that may try the strategies of an exploration,
	// and Command the command line with a name, or an error if there is none, or if the user did
	// not approve exactly this one. They must be safe for concurrent use. If nil, no command runs.
	Commands func() ([]string, error)
	Command  func(name string) (string, error)

	// Machine describes where other programs keep their conversations, which the page offers
	// to import. If nil, it offers none.
	Machine *transcript.Machine

	// Remotes returns how a remote of the workspace is reached. If nil, what needs a remote is
	// refused.
	Remotes func(remote.Info) remote.Options

	// Now is the clock. If nil, time.Now is used.
	Now func() time.Time

	// Log is called with one line for each error that is not the client's fault. If nil,
	// these are discarded.
	Log func(string)
}

// A Page answers requests about one workspace. It is an [http.Handler].
type Page struct {
	workspace *workspace.Workspace
	opts      Options
	mux       *http.ServeMux
	cross     *http.CrossOriginProtection
	keys      *keyring
	codes     *codes
	turns     *turns
	kept      keptPaths
	exchanges exchanges
	replays   replays
	summaries summaries
}

// New returns a page of w.
func New(w *workspace.Workspace, o Options) *Page {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	keys := &keyring{workspace: w.Dir(), is: o.Keys}
	p := &Page{
		workspace: w,
		opts:      o,
		keys:      keys,
		mux:       http.NewServeMux(),
		cross:     http.NewCrossOriginProtection(),
		codes:     newCodes(keys, o.Now),
		turns:     newTurns(),
	}
	p.routes()
	return p
}

// Close waits until the turns that the page began have ended. When ctx is done, it aborts
// them, and waits until what arrived is stored.
func (p *Page) Close(ctx context.Context) { p.turns.close(ctx) }

// Busy reports whether a turn that the page began is in progress.
func (p *Page) Busy() bool { return len(p.turns.slots) > 0 }

// Serves reports whether a request is one for the page: all those to its name, and those
// to a loopback address whose path is one of the page.
func (p *Page) Serves(r *http.Request) bool {
	switch p.opts.Keys.addressOf(r.Host) {
	case ownName:
		return true
	case loopback:
		_, pattern := p.mux.Handler(r)
		if pattern == "" {
			other := *r
			other.Method = http.MethodPost
			_, pattern = p.mux.Handler(&other)
		}
		return pattern != ""
	}
	return false
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if err := p.refusal(r); err != nil {
		p.plain(w, err)
		return
	}
	if _, pattern := p.mux.Handler(r); pattern == "" && r.Method == http.MethodGet {
		p.admitted(p.show(missing))(w, r)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// setHeaders sets the headers of every answer.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// With no-referrer browsers send forms with "Origin: null".
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Origin-Agent-Cluster", "?1")
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Cookie, Bough-Fragment")
}

// policy is the content security policy of every answer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types bough"

// maxTurns is the maximum number of turns, imports and explorations at once that the page began.
const maxTurns = 32

// turns are the turns of agents in progress. They continue when the request that began
// them has its answer.
type turns struct {
	ctx     context.Context
	abort   context.CancelFunc
	slots   chan struct{}
	running sync.WaitGroup
}

func newTurns() *turns {
	ctx, abort := context.WithCancel(context.Background())
	return &turns{ctx: ctx, abort: abort, slots: make(chan struct{}, maxTurns)}
}

// run calls f in the background. It returns false if too many turns are in progress.
func (t *turns) run(f func(context.Context)) bool {
	select {
	case t.slots <- struct{}{}:
	default:
		return false
	}
	t.running.Go(func() {
		defer func() { <-t.slots }()
		f(t.ctx)
	})
	return true
}

func (t *turns) close(ctx context.Context) {
	const most = 2 * time.Second // to store what arrived
	done := make(chan struct{})
	go func() {
		t.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		t.abort()
		return
	case <-ctx.Done():
	}
	t.abort()
	select {
	case <-done:
	case <-time.After(most):
	}
}
