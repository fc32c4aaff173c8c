package server

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// connections limits the number of open connections. A connection without a request
// in progress is waiting: the client has sent nothing yet, or part of a header, or
// is idle. If there are too many connections, the longest waiting one is
// closed, so that clients that send nothing cannot block others.
type connections struct {
	maxOpen int

	mu      sync.Mutex
	open    map[net.Conn]*list.Element // elements of waiting, nil while a request is in progress
	waiting list.List                  // of net.Conn, longest waiting first
}

func newConnections(maxOpen int) *connections {
	return &connections{maxOpen: maxOpen, open: map[net.Conn]*list.Element{}}
}

type connectionKey struct{}

// withConnection is for [http.Server.ConnContext].
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// changed is for [http.Server.ConnState].
func (s *connections) changed(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew, http.StateIdle:
		s.stop(c)
		s.open[c] = s.waiting.PushBack(c)
		if len(s.open) > s.maxOpen {
			longest := s.waiting.Front().Value.(net.Conn)
			s.stop(longest)
			delete(s.open, longest)
			longest.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.stop(c)
		delete(s.open, c)
	}
}

// begin records that a request of a connection is in progress.
func (s *connections) begin(ctx context.Context) {
	c, ok := ctx.Value(connectionKey{}).(net.Conn)
	if !ok { // the server is used as a handler
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[c]; ok {
		s.stop(c)
	}
}

// stop removes c from the waiting connections.
func (s *connections) stop(c net.Conn) {
	if at := s.open[c]; at != nil {
		s.waiting.Remove(at)
		s.open[c] = nil
	}
}
