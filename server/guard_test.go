package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/server"
)

// TestUnauthorized: requests without the token are refused and get no information.
func TestUnauthorized(t *testing.T) {
	s := newSite(t, server.Options{})
	for _, brought := range []string{
		"", "Bearer", "Bearer ", "bearer " + token, "Bearer  " + token, "Bearer " + token + "x",
		"Bearer " + token[:len(token)-1], "Basic " + token, token, "Bearer " + strings.ToUpper(token),
	} {
		for _, path := range []string{"/api/v1/ping", "/api/v1/session", "/api/v1/session/x/branches", "/api/v1/nothing", "/nothing", "/"} {
			r := s.request("GET", path, nil)
			r.Header.Set("Authorization", brought)
			re := s.do(r).want(401)
			if got := strings.TrimSpace(string(re.body)); got != `{"code":401,"msg":"Unauthorized"}` {
				t.Errorf("%q at %s: %s", brought, path, got)
			}
		}
	}
	r := s.request("POST", "/api/v1/session", strings.NewReader("{}"))
	r.Header.Del("Authorization")
	s.do(r).want(401)
	if _, err := os.Stat(filepath.Join(s.w.Dir(), "conversations")); err == nil {
		t.Error("a session was made")
	}
}

func TestOpen(t *testing.T) {
	s := newSite(t, server.Options{})
	for _, path := range []string{"/health", "/openapi.json"} {
		r := s.request("GET", path, nil)
		r.Header.Del("Authorization")
		s.do(r).want(200)
	}
	if re := s.ask("GET", "/api/v1/ping", nil).want(200); re.Msg != "pong" || re.Data != nil {
		t.Errorf("ping: %s", re.body)
	}
}

// TestPages: requests of web pages are refused, with any headers that a page can
// set.
func TestPages(t *testing.T) {
	s := newSite(t, server.Options{Hosts: []string{"desk.example", "10.1.2.3", ""}})
	own := strings.TrimPrefix(s.url, "http://")
	_, port, _ := strings.Cut(own, ":")
	for _, c := range []struct {
		host, origin, site string
		allowed            bool
	}{
		{"", "", "", true},
		{"localhost", "", "", true},
		{"LocalHost:" + port, "", "", true},
		{"127.0.0.1", "", "", true},
		{"127.255.0.9:1", "", "", true},
		{"[::1]", "", "", true},
		{"[::1]:" + port, "", "", true},
		{"[::ffff:127.0.0.1]:" + port, "", "", true},
		{"desk.example", "", "", true},
		{"DESK.example:" + port, "", "", true},
		{"10.1.2.3:80", "", "", true},

		{"evil.example", "", "", false},
		{"evil.example:" + port, "", "", false},
		{"localhost.evil.example", "", "", false},
		{"127.0.0.1.evil.example", "", "", false},
		{"localhost.", "", "", false},
		{"10.1.2.4", "", "", false},
		{"0.0.0.0:" + port, "", "", false},
		{"[::]:" + port, "", "", false},
		{"2130706433", "", "", false},
		{"0x7f.1", "", "", false},

		{"", "http://" + own, "", true},
		{"", "http://" + own, "same-origin", true},
		{"", "", "none", true},
		{"", "https://evil.example", "", false},
		{"", "http://evil.example", "cross-site", false},
		{"", "null", "", false},
		{"", "http://localhost:3000", "", false},
		{"", "http://localhost:" + port, "", false}, // it was requested by another name
		{"", "https://" + own, "", false},
		{"", "http://" + own + ".evil.example", "", false},
		{"", "file://", "", false},
		{"", "", "cross-site", false},
		{"", "", "same-site", false},
		{"desk.example", "http://desk.example", "", true},
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS", "DELETE"} {
			for _, path := range []string{"/api/v1/ping", "/health", "/nothing"} {
				r := s.request(method, path, nil)
				r.Host = c.host
				if c.origin != "" {
					r.Header.Set("Origin", c.origin)
				}
				if c.site != "" {
					r.Header.Set("Sec-Fetch-Site", c.site)
				}
				re := s.do(r)
				if allowed := re.status != http.StatusForbidden; allowed != c.allowed {
					t.Errorf("%s %s, host %q, origin %q, site %q: status %d", method, path, c.host, c.origin, c.site, re.status)
				}
				for name := range re.header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s: an answer has %s", method, path, name)
					}
				}
			}
		}
	}
	r := s.request("GET", "/health", nil)
	r.Header["Origin"] = []string{"http://" + own, "https://evil.example"}
	s.do(r).want(403)
}

// TestUnknownPaths: unknown paths are answered in JSON too.
func TestUnknownPaths(t *testing.T) {
	s := newSite(t, server.Options{})
	const id = "/api/v1/session/00000000-0000-4000-8000-000000000000"
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/", 404, ""},
		{"GET", "/api/v1", 404, ""},
		{"GET", "/api/v1/session/", 404, ""},
		{"GET", "/api/v1//session", 404, ""},
		{"GET", "/api/v1/../v1/ping", 404, ""},
		{"GET", "/api/v1/disk", 404, ""},
		{"POST", id + "/connect_to_space", 404, ""},
		{"GET", id + "/get_learning_status", 404, ""},
		{"GET", "/api/v1/session/x/y/z", 404, ""},
		{"POST", "/api/v1/ping", 405, "GET"},
		{"DELETE", "/api/v1/session", 405, "GET, POST"},
		{"GET", id, 405, "DELETE"},
		{"PUT", id + "/messages", 405, "GET, POST"},
		{"BREW", id + "/configs", 405, "GET, PUT, PATCH"},
		{"OPTIONS", "/api/v1/ping", 405, "GET"},
	} {
		re := s.ask(c.method, c.path, nil)
		re.fails(c.status, "")
		if got := re.header.Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow is %q, want %q", c.method, c.path, got, c.allow)
		}
	}
	re := s.ask("POST", id+"/connect_to_space", nil)
	if !strings.Contains(re.Msg, "connect_to_space") {
		t.Errorf("%s", re.body)
	}
	s.ask("HEAD", "/api/v1/ping", nil).want(200)
}
