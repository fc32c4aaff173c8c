package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
)

// A synced is the document of 'bough watch --remote' for an exchange.
type synced struct {
	Type   string         `json:"type"` // synced or sync_failed
	Time   time.Time      `json:"time"`
	Remote string         `json:"remote"`
	Result *remote.Result `json:"result,omitempty"`
	Error  *syncError     `json:"error,omitempty"`
}

type syncError struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint"`
}

// followRemote exchanges the workspace with a remote in the background. The function that it returns
// waits for the end and returns the error; the channel receives the events of the workspace.
func (p *program) followRemote(ctx context.Context, stop func(), r *remote.Remote, info remote.Info, w *workspace.Workspace) (seen func(events.Event), wait func() error) {
	changed := make(chan struct{}, 1)
	done := make(chan error, 1)
	go func() {
		defer stop()
		defer r.Close()
		done <- r.Watch(ctx, remote.WatchOptions{Changed: changed, Each: func(result *remote.Result, err error) {
			p.noting.Lock()
			defer p.noting.Unlock()
			p.synced(ctx, w, info, result, err)
			p.stdout.Flush()
		}})
	}()
	return func(e events.Event) {
		if e.Verb == operation.Pull {
			return
		}
		select {
		case changed <- struct{}{}:
		default:
		}
	}, func() error { return <-done }
}

// synced prints the result of an exchange, or its error.
func (p *program) synced(ctx context.Context, w *workspace.Workspace, info remote.Info, r *remote.Result, err error) {
	now := time.Now()
	switch {
	case r == nil:
	case p.json:
		p.printJSON(synced{"synced", now, info.Name, r, nil})
	default:
		fmt.Fprintf(p.stdout, "-  %s  %-18s  %s  %s\n", clock(now), "synced", line(info.Name), exchangeText(r, "sync"))
		for _, note := range exchangeNotes(r, info, titles(ctx, w)) {
			fmt.Fprintln(p.stdout, note)
		}
	}
	switch {
	case err != nil && p.json:
		e := workspace.Explain(err)
		p.printJSON(synced{"sync_failed", now, info.Name, nil, &syncError{e.Code, e.Message, cmp.Or(hint(e), remoteHint(err))}})
	case err != nil:
		e := workspace.Explain(err)
		fmt.Fprintf(p.stdout, "-  %s  %-18s  %s  %s\n", clock(now), "sync_failed", line(info.Name), line(e.Message))
		if advice := cmp.Or(hint(e), remoteHint(err)); advice != "" {
			fmt.Fprintf(p.stdout, "   %s\n", line(advice))
		}
	}
}
