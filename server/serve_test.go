package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace"
)

// serve runs a server of a new workspace until the test calls stop, which returns
// the result of Serve.
func serve(t *testing.T, o server.Options) (addr string, stop func() error) {
	t.Helper()
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Token = token
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.New(w, o).Serve(ctx, l) }()
	t.Cleanup(cancel)
	return l.Addr().String(), func() error {
		cancel()
		return <-done
	}
}

// TestSlow: clients that stop sending are disconnected.
func TestSlow(t *testing.T) {
	t.Parallel()
	// Two servers, so that a client whose headers come late on a busy machine still gets its 408.
	headers, stop := serve(t, server.Options{Limits: server.Limits{Headers: 50 * time.Millisecond}})
	defer stop()
	body, stop := serve(t, server.Options{Limits: server.Limits{Request: 100 * time.Millisecond}})
	defer stop()
	post := "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
		"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
	for _, c := range []struct {
		name string
		addr string
		sent string
		want string // in the status line; "" for an answer or none
	}{
		{"nothing", headers, "", ""},
		{"half a line", headers, "GET /api/v1/pi", ""},
		{"half of the headers", headers, post, ""},
		{"half of a body", body, post + "\r\n" + `{"user":"a`, "408"},
		{"no body", body, post + "\r\n", "408"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", c.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(20 * time.Second)) // much longer than needed
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn) // until the server closes the connection
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatalf("the server waits: %v", err)
			}
			status, _, _ := strings.Cut(string(answer), "\r\n")
			if !strings.Contains(status, c.want) || strings.Contains(status, " 20") {
				t.Errorf("answered %q, want %q", answer, c.want)
			}
		})
	}
	for _, addr := range []string{headers, body} {
		r, err := http.Get("http://" + addr + "/health")
		for deadline := time.Now().Add(20 * time.Second); err != nil && time.Now().Before(deadline); { // this client may be too slow, too
			r, err = http.Get("http://" + addr + "/health")
		}
		if err != nil || r.StatusCode != 200 {
			t.Fatalf("after them: %v, %v", r, err)
		}
		r.Body.Close()
	}
}

// TestHeaders: headers of unlimited size are refused.
func TestHeaders(t *testing.T) {
	t.Parallel()
	addr, stop := serve(t, server.Options{Limits: server.Limits{Header: 8 << 10}})
	defer stop()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprint(conn, "GET /health HTTP/1.1\r\nHost: localhost\r\n")
	go func() {
		for i := range 1000 {
			if _, err := fmt.Fprintf(conn, "X-%d: %s\r\n", i, strings.Repeat("x", 100)); err != nil {
				return
			}
		}
	}()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if !strings.Contains(line, "431") && err == nil {
		t.Errorf("answered %q", line)
	}
}

// begin sends the headers of a request with a body of some bytes, and returns when the
// server reads the body. The reader is for the answer.
func begin(t *testing.T, conn net.Conn, size int) *bufio.Reader {
	t.Helper()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(conn, "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", token, size)
	answer := bufio.NewReader(conn)
	if r, err := http.ReadResponse(answer, nil); err != nil || r.StatusCode != http.StatusContinue {
		t.Fatalf("the server does not read the body: %+v, %v", r, err)
	}
	return answer
}

// TestStop: a stopping server completes a request in progress, and accepts no
// other.
func TestStop(t *testing.T) {
	addr, stop := serve(t, server.Options{})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"user":"somebody"}`
	answer := begin(t, conn, len(body))
	fmt.Fprint(conn, body[:5])
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-stopped:
		t.Fatalf("it stopped in the middle of a request: %v", err)
	default:
	}
	fmt.Fprint(conn, body[5:])
	r, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != 201 {
		t.Errorf("status %d", r.StatusCode)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}

// TestStopLate: a server stops even if a request does not complete.
func TestStopLate(t *testing.T) {
	addr, stop := serve(t, server.Options{Limits: server.Limits{Stop: 50 * time.Millisecond}})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begin(t, conn, 10)
	fmt.Fprint(conn, "{")
	if err := stop(); err != nil {
		t.Errorf("Serve() = %v", err)
	}
	conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	if answer, err := io.ReadAll(conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection stays: %q, %v", answer, err)
	}
}
