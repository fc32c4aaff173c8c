package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/bough-dev/bough/server"
)

// TestConnections: any number of clients that send nothing, or an incomplete
// header, cannot block others, and do not interrupt requests in progress.
func TestConnections(t *testing.T) {
	const most = 4
	s := newSite(t, server.Options{Limits: server.Limits{Connections: most}})
	entered, leave := make(chan bool), make(chan bool)
	s.server.Handle("GET /api/v1/slow", func() {
		entered <- true
		<-leave
	})
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", s.url[len("http://"):])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(time.Minute)) // much longer than needed
		return c
	}
	ask := func(c net.Conn, path string) {
		t.Helper()
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, token); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(r *bufio.Reader) {
		t.Helper()
		a, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, a.Body)
		if a.StatusCode != 200 {
			t.Errorf("status %d", a.StatusCode)
		}
	}
	slow := dial()
	ask(slow, "/api/v1/slow")
	<-entered

	var silent []net.Conn
	for i := range 5 * most {
		c := dial()
		if i%2 == 1 {
			fmt.Fprint(c, "GET /api/v1/ping HTTP/1.1\r\nHost: ")
		}
		silent = append(silent, c)
	}
	late := dial()
	reader := bufio.NewReader(late)
	for range 2 { // the second time after it was idle
		ask(late, "/api/v1/ping")
		answered(reader)
	}
	for i, c := range silent[:len(silent)-most] {
		if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the silent connection %d is not closed", i)
		}
	}
	leave <- true
	answered(bufio.NewReader(slow))
}

// TestLong: requests without a time limit leave room for others.
func TestLong(t *testing.T) {
	s := newSite(t, server.Options{Limits: server.Limits{Long: 1}})
	entered, leave := make(chan bool), make(chan bool)
	s.server.HandleLong("GET /api/v1/long", func() {
		entered <- true
		<-leave
	})
	status := make(chan int)
	go func() {
		r, err := http.DefaultClient.Do(s.request("GET", "/api/v1/long", nil))
		if err != nil {
			status <- 0
			return
		}
		r.Body.Close()
		status <- r.StatusCode
	}()
	<-entered
	s.ask("GET", "/api/v1/long", nil).fails(503, "too many requests")
	s.ask("GET", "/api/v1/ping", nil).want(200)
	leave <- true
	if got := <-status; got != 200 {
		t.Errorf("status %d", got)
	}
}
