package server_test

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/server/page"
)

// TestPageCookie: the cookie of the page opens the page alone, and the token opens everything
// but the page.
func TestPageCookie(t *testing.T) {
	dir := t.TempDir()
	keys, err := page.LoadKeys(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	keys.Run = page.NewRun()
	s := newSiteOf(t, dir, nil, server.Options{Page: keys})
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	ask := func(method, host, path string, form url.Values, c *http.Cookie, bearer bool) *http.Response {
		t.Helper()
		r, err := http.NewRequest(method, s.url+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host + ":" + port
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if c != nil {
			r.AddCookie(c)
		}
		if bearer {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Body.Close() })
		return a
	}
	for _, host := range []string{keys.Host(), "127.0.0.1", "localhost"} {
		a := ask("POST", host, "/login", url.Values{"code": {keys.Code(time.Now())}}, nil, false)
		if a.StatusCode != http.StatusSeeOther || len(a.Cookies()) != 1 {
			t.Fatalf("%s: login: status %d", host, a.StatusCode)
		}
		c := a.Cookies()[0]
		if a := ask("GET", host, "/", nil, c, false); a.StatusCode != http.StatusOK {
			t.Errorf("%s: the page: status %d", host, a.StatusCode)
		}
		if a := ask("GET", host, "/", nil, nil, true); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the page with the token: status %d", host, a.StatusCode)
		}
		other := http.StatusUnauthorized // there is an interface for programs
		if host == keys.Host() {
			other = http.StatusNotFound
		}
		for _, path := range []string{"/v1/ls", "/v1/events", "/v1/nothing", "/api/v1/ping", "/api/v1/session", "/mcp"} {
			want := other
			if a := ask("GET", host, path, nil, c, false); a.StatusCode != want {
				t.Errorf("%s: %s with the cookie: status %d, want %d", host, path, a.StatusCode, want)
			}
			if a := ask("POST", host, path, url.Values{}, c, false); a.StatusCode != want && a.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s: POST %s with the cookie: status %d", host, path, a.StatusCode)
			}
		}
		events := ask("GET", host, "/events", nil, c, false)
		if line, err := bufio.NewReader(events.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "id: ") {
			t.Errorf("%s: the events begin with %q, %v", host, line, err)
		}
		if a := ask("GET", host, "/events", nil, nil, true); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the events of the page with the token: status %d", host, a.StatusCode)
		}
	}
	for _, host := range []string{"evil.example", "other.localhost", keys.Host() + ".evil.example"} {
		if a := ask("GET", host, "/", nil, nil, false); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s: status %d", host, a.StatusCode)
		}
	}
	s.ask("GET", "/api/v1/ping", nil).want(200)
	s.ask("GET", "/nothing", nil).want(404)
}

// TestIdle: a server is idle while nothing is asked and no page is open.
func TestIdle(t *testing.T) {
	s := newSite(t, server.Options{})
	for s.server.Idle() == 0 {
		time.Sleep(time.Millisecond)
	}
	r := s.request("GET", "/v1/events", nil)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(a.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if d := s.server.Idle(); d != 0 {
		t.Errorf("with a stream of events it is idle for %v", d)
	}
	a.Body.Close()
	for s.server.Idle() == 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestPageSlots: a stream of events of the page takes no slot for requests, and has a limit of
// its own.
func TestPageSlots(t *testing.T) {
	dir := t.TempDir()
	keys, err := page.LoadKeys(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	keys.Run = page.NewRun()
	s := newSiteOf(t, dir, nil, server.Options{Page: keys, Limits: server.Limits{Requests: 1, Streams: 1}})
	var c *http.Cookie
	get := func(path string) *http.Response {
		t.Helper()
		r, err := http.NewRequest("GET", s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil {
			r.AddCookie(c)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Body.Close() })
		return a
	}
	noRedirect := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := noRedirect.PostForm(s.url+"/login", url.Values{"code": {keys.Code(time.Now())}})
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	c = a.Cookies()[0]
	events := bufio.NewReader(get("/events").Body)
	for line := ""; !strings.HasPrefix(line, "event: ready"); {
		if line, err = events.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if a := get("/"); a.StatusCode != http.StatusOK {
		t.Errorf("with a stream: status %d", a.StatusCode)
	}
	if a := get("/events"); a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a second stream: status %d", a.StatusCode)
	}
	if _, err := s.w.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	for line := ""; !strings.Contains(line, "session_created"); {
		if line, err = events.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
}
