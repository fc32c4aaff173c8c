package mcp

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/feed"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// subscribe begins to watch a resource for a client.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	k, arg, ok := parseURI(uri)
	if !ok {
		return sdk.ResourceNotFoundError(uri)
	}
	if err := s.watcher.add(ctx, req.Session, uri, k, arg); err != nil {
		return protocolError(err, uri)
	}
	return nil
}

func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.watcher.remove(req.Session, req.Params.URI)
	return nil
}

// updated notifies the subscribers of a resource that it changed.
func (s *Server) updated(ctx context.Context, uri string) {
	if err := s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil && ctx.Err() == nil {
		s.opts.Log("notifying of " + uri + ": " + err.Error())
	}
}

// A watcher follows the events of the workspace while clients subscribe to
// resources: one for all clients.
type watcher struct {
	w       *workspace.Workspace
	feed    *feed.Feed
	updated func(ctx context.Context, uri string)
	ctx     context.Context // until close
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	watched map[string]*watched // by URI
	adding  int                 // calls of add in progress
	reader  *feed.Reader        // nil without subscribers
}

// A watched is a resource with subscribers.
type watched struct {
	kind kind
	arg  string
	by   map[*sdk.ServerSession]bool
	line string            // of a conversation: id of its first file
	sum  [sha256.Size]byte // of a conversation: of its last message; else of the content
}

const (
	// maxSubscriptions is the maximum number of resources that a client can subscribe to.
	maxSubscriptions = 100

	// backlog is how many operations a watcher can be behind.
	backlog = 1000

	// retryWatch is the time after which a watch that failed begins again.
	retryWatch = 5 * time.Second
)

func newWatcher(w *workspace.Workspace, updated func(context.Context, string), log func(string)) *watcher {
	wr := &watcher{w: w, feed: feed.New(w, backlog, log), updated: updated, watched: map[string]*watched{}}
	wr.ctx, wr.stop = context.WithCancel(context.Background())
	return wr
}

// add adds a subscriber, and begins to watch if it is the first one. The error
// is that of reading the resource.
func (wr *watcher) add(ctx context.Context, by *sdk.ServerSession, uri string, k kind, arg string) error {
	r := &watched{kind: k, arg: arg, by: map[*sdk.ServerSession]bool{}}
	if err := wr.begin(); err != nil {
		return err
	}
	err := wr.look(ctx, r)
	wr.mu.Lock()
	wr.adding--
	if err != nil {
		wr.end()
		wr.mu.Unlock()
		return err
	}
	known := wr.watched[uri]
	first := known == nil || !known.by[by]
	if first && wr.subscriptions(by) >= maxSubscriptions {
		wr.end()
		wr.mu.Unlock()
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("a client can subscribe to at most %d resources", maxSubscriptions)}
	}
	if known == nil {
		wr.watched[uri], known = r, r
	}
	known.by[by] = true
	wr.mu.Unlock()
	if first {
		go func() {
			by.Wait()
			wr.remove(by, uri)
		}()
	}
	return nil
}

// subscriptions returns the number of resources that a client subscribed to.
func (wr *watcher) subscriptions(by *sdk.ServerSession) (n int) {
	for _, r := range wr.watched {
		if r.by[by] {
			n++
		}
	}
	return n
}

// look sets what r is compared with later. Only follow calls it for a resource
// with subscribers. An error leaves r as it was.
func (wr *watcher) look(ctx context.Context, r *watched) error {
	if r.kind.conversation {
		conv, err := wr.w.Show(ctx, r.arg, session.ReadOptions{})
		if err != nil {
			return err
		}
		line, err := wr.w.Line(conv.Entry.ID).Entry(ctx)
		if err != nil {
			return err
		}
		leaf := ""
		if n := len(conv.Messages); n > 0 {
			leaf = conv.Messages[n-1].ID
		}
		r.line, r.sum = line.ID, sha256.Sum256([]byte(conv.Entry.ID+" "+leaf))
		return nil
	}
	data, err := r.kind.read(ctx, wr.w, r.arg)
	if err == nil {
		r.sum = sha256.Sum256(data)
	}
	return err
}

// remove removes a subscriber, and ends the watch if it was the last one.
func (wr *watcher) remove(by *sdk.ServerSession, uri string) {
	wr.mu.Lock()
	defer wr.mu.Unlock()
	r := wr.watched[uri]
	if r == nil {
		return
	}
	delete(r.by, by)
	if len(r.by) == 0 {
		delete(wr.watched, uri)
	}
	wr.end()
}

// begin begins to watch, unless it does already, for a subscriber that is being added.
func (wr *watcher) begin() error {
	wr.mu.Lock()
	defer wr.mu.Unlock()
	if wr.reader == nil {
		r, err := wr.feed.Subscribe(wr.ctx)
		if err != nil {
			return err
		}
		wr.reader = r
		wr.running.Go(func() { wr.follow(r) })
	}
	wr.adding++
	return nil
}

// end ends the watch if there are no subscribers, and none is being added.
func (wr *watcher) end() {
	if len(wr.watched) == 0 && wr.adding == 0 && wr.reader != nil {
		wr.reader.Close()
		wr.reader = nil
	}
}

// close ends the watch.
func (wr *watcher) close() {
	wr.stop()
	wr.feed.Close()
	wr.running.Wait()
}

// follow notifies subscribers of the changes that a reader of the feed gets, until
// the watch ends. If the reader is closed for another reason, another one takes
// its place, and all resources are compared.
func (wr *watcher) follow(r *feed.Reader) {
	for {
		for items := range r.Items {
			wr.handle(r, items)
		}
		for again := false; !again; {
			select {
			case <-wr.ctx.Done():
				return
			case <-time.After(retryWatch):
			}
			wr.mu.Lock()
			if wr.reader != r {
				wr.mu.Unlock()
				return
			}
			next, err := wr.feed.Subscribe(wr.ctx)
			if again = err == nil; again {
				wr.reader, r = next, next
			}
			wr.mu.Unlock()
		}
		wr.compare(nil, true, true)
	}
}

// handle notifies subscribers of the changes by an operation, and by those that
// came after it meanwhile.
func (wr *watcher) handle(r *feed.Reader, items []feed.Item) {
	lines := map[string]bool{} // those that changed
	var seen, all, moved bool  // an event; everything may have changed; a ref may mean another message
	for more := true; more && len(items) > 0; {
		for _, e := range items {
			if e.Type == events.ChatContent {
				continue
			}
			seen, all = true, all || e.Reset
			if e.Session != "" {
				lines[wr.lineOf(string(e.Session))] = true
			}
			switch e.Type {
			case events.HeadMoved, events.NodeBookmarked, events.BookmarkRemoved, events.SessionRenamed, events.SessionRemoved:
				moved = true
			}
		}
		select {
		case items, more = <-r.Items:
		default:
			more = false
		}
	}
	if seen {
		wr.compare(lines, moved, all)
	}
}

// lineOf returns the first file of a session's line, or the session if it does
// not exist any more.
func (wr *watcher) lineOf(id string) string {
	line, err := wr.w.Line(id).Entry(wr.ctx)
	if err != nil {
		return id
	}
	return line.ID
}

// compare notifies the subscribers of the resources that changed: conversations in
// lines or, with all, all of them; paths that end elsewhere since a ref moved; and
// any other resource with another content.
func (wr *watcher) compare(lines map[string]bool, moved, all bool) {
	wr.mu.Lock()
	list := maps.Clone(wr.watched)
	wr.mu.Unlock()
	for _, uri := range slices.Sorted(maps.Keys(list)) {
		r := list[uri]
		was, changed := r.sum, false
		if r.kind.conversation {
			changed = all || lines[r.line]
		}
		if !r.kind.conversation || changed || moved {
			if err := wr.look(wr.ctx, r); err != nil && !r.kind.conversation {
				r.sum = sha256.Sum256([]byte(err.Error())) // it was removed, or cannot be read
			}
		}
		if wr.ctx.Err() != nil {
			return
		}
		if changed || r.sum != was {
			wr.updated(wr.ctx, uri)
		}
	}
}
