package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace"
)

const token = "sk-ac-test"

// A site is a server of a new workspace with a real connection. Every request and
// every answer must conform to openapi.json.
type site struct {
	t      testing.TB
	w      *workspace.Workspace
	server *server.Server
	url    string
}

func newSite(t testing.TB, o server.Options) *site {
	return newSiteOf(t, t.TempDir(), nil, o)
}

func newSiteOf(t testing.TB, dir string, wo *workspace.Options, o server.Options) *site {
	t.Helper()
	w, err := workspace.Open(context.Background(), dir, wo)
	if err != nil {
		t.Fatal(err)
	}
	o.Token = token
	if o.Log == nil {
		o.Log = func(s string) { t.Logf("log: %s", s) }
	}
	s := &site{t: t, w: w, server: server.New(w, o)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.server.Serve(ctx, l) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve() = %v", err)
		}
	})
	return s
}

// A reply is the answer to a request.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   []byte
	Code   int             `json:"code"`
	Data   json.RawMessage `json:"data"`
	Msg    string          `json:"msg"`
	Error  string          `json:"error"`
}

// ask sends a request with the token. body is nil, JSON as a string, or any value
// for json.Marshal.
func (s *site) ask(method, path string, body any) *reply {
	s.t.Helper()
	var in io.Reader
	contentType := ""
	switch b := body.(type) {
	case nil:
	case string:
		in, contentType = strings.NewReader(b), "application/json"
	default:
		data, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		in, contentType = bytes.NewReader(data), "application/json"
	}
	r := s.request(method, path, in)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return s.do(r)
}

func (s *site) request(method, path string, body io.Reader) *http.Request {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// do sends a request, and verifies the common properties of its answer.
func (s *site) do(r *http.Request) *reply {
	s.t.Helper()
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	re := &reply{t: s.t, what: r.Method + " " + r.URL.RequestURI(), status: a.StatusCode, header: a.Header, body: body}
	if strings.HasPrefix(r.URL.Path, "/api/v1/material/") && a.StatusCode < 300 || a.Header.Get("Content-Disposition") != "" {
		return re
	}
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		s.t.Errorf("%s: Content-Type is %q", re.what, got)
	}
	if err := json.Unmarshal(body, re); err != nil && r.Method != http.MethodHead {
		s.t.Errorf("%s: %v in %s", re.what, err, body)
	}
	described(s.t, r, re)
	return re
}

// want checks the status.
func (re *reply) want(status int) *reply {
	re.t.Helper()
	if re.status != status {
		re.t.Fatalf("%s: status %d, want %d: %s", re.what, re.status, status, re.body)
	}
	return re
}

// fails checks a failure: its status, and a substring of its message.
func (re *reply) fails(status int, msg string) {
	re.t.Helper()
	re.want(status)
	if re.Code != status || !strings.Contains(re.Msg, msg) || re.Data != nil {
		re.t.Errorf("%s: %s, want code %d and a message with %q", re.what, re.body, status, msg)
	}
}

// data decodes the data of an answer.
func (re *reply) data(v any) {
	re.t.Helper()
	if re.Code != 0 || re.Error != "" {
		re.t.Errorf("%s: %s is not a success", re.what, re.body)
	}
	if err := json.Unmarshal(re.Data, v); err != nil {
		re.t.Fatalf("%s: %v in %s", re.what, err, re.body)
	}
}

// hold acquires the lock of a workspace, like another process, until it is
// released.
func hold(t *testing.T, dir string) (release func()) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	release, err = writelock.Lock(t.Context(), root, ".bough", writelock.Holder{PID: os.Getpid(), Verb: "doctor"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return release
}
