package page

import (
	"context"
	"sync"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// exchanges are the exchanges with remotes that the page began: at most one with each.
type exchanges struct {
	mu   sync.Mutex
	list map[string]*remoteExchange // by remote
}

// A remoteExchange is one with a remote. It is in progress, or failed.
type remoteExchange struct {
	all    *exchanges
	remote string
	verb   string
	end    context.CancelFunc // nil after its end
	at     remote.Progress
	failed *fault.Error
}

// begin begins an exchange, unless one with the remote is in progress.
func (x *exchanges) begin(ctx context.Context, name, verb string) (*remoteExchange, context.Context, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.list[name]; e != nil && e.end != nil {
		return nil, nil, &fault.Error{Code: fault.Busy, Message: "an exchange with " + name + " is in progress"}
	}
	ctx, end := context.WithCancel(ctx)
	e := &remoteExchange{all: x, remote: name, verb: verb, end: end}
	if x.list == nil {
		x.list = map[string]*remoteExchange{}
	}
	x.list[name] = e
	return e, ctx, nil
}

// progress records how far the exchange is.
func (e *remoteExchange) progress(p remote.Progress) {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	e.at = p
}

// ended records the end of the exchange.
func (e *remoteExchange) ended(err error) {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	e.end()
	e.end = nil
	if err != nil {
		e.failed = workspace.Explain(err)
	}
}

// of returns the exchange with a remote, the zero value if there was none.
func (x *exchanges) of(name string) remoteExchange {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.list[name]; e != nil {
		return *e
	}
	return remoteExchange{}
}

// cancel ends the exchange with a remote. What was sent or stored stays, and the next one continues.
func (x *exchanges) cancel(name string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.list[name]
	if e == nil || e.end == nil {
		return &fault.Error{Code: fault.NotFound, Message: "no exchange is in progress"}
	}
	e.end()
	return nil
}
