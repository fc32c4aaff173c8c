package mcp

import (
	"context"

	"github.com/bough-dev/bough/workspace"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Watch calls m for each request.
func (s *Server) Watch(m sdk.Middleware) { s.sdk.AddReceivingMiddleware(m) }

// OnUpdated calls f instead of notifying subscribers.
func (s *Server) OnUpdated(f func(uri string)) {
	s.watcher.updated = func(_ context.Context, uri string) { f(uri) }
}

// SubscribeDuring subscribes to the list of sessions, and calls f while it is read.
func (s *Server) SubscribeDuring(by *sdk.ServerSession, f func()) error {
	k := kinds()[1]
	read := k.read
	k.read = func(ctx context.Context, w *workspace.Workspace, arg string) ([]byte, error) {
		if f != nil {
			f()
			f = nil
		}
		return read(ctx, w, arg)
	}
	return s.watcher.add(context.Background(), by, scheme+k.pattern, k, "")
}
