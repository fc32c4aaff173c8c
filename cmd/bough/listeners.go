package main

import (
	"errors"
	"net"
	"sync"
)

// listeners accept the connections of two listeners. The address is that of the first one.
type listeners struct {
	net.Listener
	other    net.Listener
	accepted chan acceptance
	closed   chan struct{}
	once     sync.Once
}

// An acceptance is the result of an Accept.
type acceptance struct {
	conn net.Conn
	err  error
}

// join returns a listener that accepts the connections of both.
func join(l, other net.Listener) net.Listener {
	j := &listeners{Listener: l, other: other, accepted: make(chan acceptance), closed: make(chan struct{})}
	go j.pass(l)
	go j.pass(other)
	return j
}

// pass passes on what a listener accepts.
func (j *listeners) pass(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case j.accepted <- acceptance{conn, err}:
		case <-j.closed:
			if conn != nil {
				conn.Close()
			}
			return
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

func (j *listeners) Accept() (net.Conn, error) {
	select {
	case a := <-j.accepted:
		return a.conn, a.err
	case <-j.closed:
		return nil, net.ErrClosed
	}
}

func (j *listeners) Close() error {
	j.once.Do(func() { close(j.closed) })
	return errors.Join(j.Listener.Close(), j.other.Close())
}
