package s3

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/bough-dev/bough/remote/bucket"
)

const (
	// idleTimeout ends a connection on which nothing is sent or received, also amid an object.
	idleTimeout = time.Minute

	connectTimeout = 15 * time.Second
)

// A transport makes HTTP requests and counts them.
type transport struct {
	*http.Transport
	mu    sync.Mutex
	usage bucket.Usage
}

// newTransport returns a transport whose connections end when they are idle for a while.
func newTransport(secure bool, idle time.Duration) (*transport, error) {
	t, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: connectTimeout}
	t.DialContext = func(ctx context.Context, network, host string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, host)
		if err != nil {
			return nil, err
		}
		return idleConn{c, idle}, nil
	}
	return &transport{Transport: t}, nil
}

// RoundTrip makes a request. It counts the sent bytes: the transport below repeats a request whose
// connection the service has closed.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := func() {
		t.count(func(u *bucket.Usage) {
			switch {
			case r.Method == http.MethodPut:
				u.Puts++
			case r.Method == http.MethodDelete:
				u.Deletes++
			case r.URL.Query().Has("list-type"):
				u.Lists++
			default:
				u.Gets++
			}
			u.Sent += max(r.ContentLength, 0)
		})
	}
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: sent})
	response, err := t.Transport.RoundTrip(r.WithContext(ctx))
	if err == nil {
		response.Body = &countedBody{response.Body, t}
	}
	return response, err
}

func (t *transport) count(add func(u *bucket.Usage)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(&t.usage)
}

type countedBody struct {
	io.ReadCloser
	t *transport
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.t.count(func(u *bucket.Usage) { u.Received += int64(n) })
	return n, err
}

// An idleConn fails if nothing is sent or received for a while. A write extends the time of a read
// too: while a large object is being sent, a read waits for the answer.
type idleConn struct {
	net.Conn
	idle time.Duration
}

func (c idleConn) Read(p []byte) (int, error) {
	c.SetReadDeadline(time.Now().Add(c.idle))
	return c.Conn.Read(p)
}

func (c idleConn) Write(p []byte) (int, error) {
	c.SetDeadline(time.Now().Add(c.idle))
	return c.Conn.Write(p)
}
