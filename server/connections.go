package server

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// connections bounds how many connections a server has. Those on which no request is
// carried out are waiting: they sent nothing yet, or a part of a header, or are idle. When
// there are too many connections, the one that has been waiting longest is closed, so that
// clients that send nothing keep nobody else out.
type connections struct {
	most int

	mu      sync.Mutex
	open    map[net.Conn]*list.Element // in waiting, nil while a request is carried out
	waiting list.List                  // of net.Conn, the longest waiting first
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]*list.Element{}}
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
		if len(s.open) > s.most {
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

// begin notes that a request of a connection is carried out.
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

// stop has c not be waiting.
func (s *connections) stop(c net.Conn) {
	if at := s.open[c]; at != nil {
		s.waiting.Remove(at)
		s.open[c] = nil
	}
}
