package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/server/page"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(testsize.LazyGC(m)).Run()) }

const port = "8029"

// A visitor is a browser at the page of a workspace.
type visitor struct {
	t       *testing.T
	w       *workspace.Workspace
	page    *page.Page
	keys    *page.Keys
	now     time.Time
	host    string
	cookies []*http.Cookie
	stream  http.HandlerFunc // of events
	command func(name string) (string, error)
	remotes func(remote.Info) remote.Options
}

// visit returns a browser that has the cookie for the page of a new workspace, at its name.
func visit(t *testing.T) *visitor {
	v := arrive(t, nil)
	v.login()
	return v
}

// arrive returns a browser without the cookie.
func arrive(t *testing.T, models func(context.Context, string) (model.Model, error)) *visitor {
	t.Helper()
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := page.LoadKeys(t.Context(), w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	keys.Run = page.NewRun()
	v := &visitor{t: t, w: w, keys: keys, now: time.Now(), host: keys.Host() + ":" + port}
	home, _ := os.UserHomeDir()
	v.page = page.New(w, page.Options{
		Keys: keys, Models: models, Machine: &transcript.Machine{Home: home, Dir: home, Env: os.Getenv, Read: os.ReadFile}, Now: func() time.Time { return v.now }, Log: func(s string) { t.Log("log: " + s) },
		Commands: func() ([]string, error) { return []string{"try"}, nil },
		Command:  func(name string) (string, error) { return v.command(name) },
		Remotes:  func(i remote.Info) remote.Options { return v.remotes(i) },
		Events:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { v.stream(w, r) }),
	})
	v.stream = func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "event") }
	t.Cleanup(func() {
		ended, end := context.WithCancel(context.Background())
		end()
		v.page.Close(ended)
	})
	return v
}

// login exchanges a code for the cookie.
func (v *visitor) login() {
	v.t.Helper()
	a := v.post("/login", url.Values{"code": {v.keys.Code(v.now)}})
	if a.StatusCode != http.StatusSeeOther || len(a.Cookies()) != 1 {
		v.t.Fatalf("login: status %d, %v", a.StatusCode, a.Header)
	}
	v.cookies = a.Cookies()
}

func (v *visitor) get(path string) *http.Response { return v.do(v.request("GET", path, nil)) }

func (v *visitor) post(path string, form url.Values) *http.Response {
	return v.do(v.request("POST", path, form))
}

// request returns a request as a browser sends it for the page.
func (v *visitor) request(method, path string, form url.Values) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Host = v.host
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+v.host)
	}
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	return r
}

// do answers a request, 404 if it is not one for the page.
func (v *visitor) do(r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	if v.page.Serves(r) {
		v.page.ServeHTTP(w, r)
	} else {
		w.WriteHeader(http.StatusNotFound)
	}
	return w.Result()
}

func body(t *testing.T, a *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// act posts a form as a module does, and returns the answer.
func (v *visitor) act(verb string, fields ...string) (status int, d struct {
	Said  string
	Undo  *int64
	Redo  bool
	To    string
	Error struct{ Code, Message, Hint string }
}) {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r := v.request("POST", "/do/"+verb, form)
	r.Header.Set("Accept", "application/json")
	a := v.do(r)
	data := body(v.t, a)
	if err := json.NewDecoder(bytes.NewReader([]byte(data))).Decode(&d); err != nil {
		v.t.Fatalf("%s: %v: %s", verb, err, data)
	}
	return a.StatusCode, d
}

// TestShell: a view is answered in the shell, in an empty workspace too, with the headers
// that keep others out; a fragment is the view alone.
func TestShell(t *testing.T) {
	v := visit(t)
	a := v.get("/")
	text := body(t, a)
	if a.StatusCode != http.StatusOK || !strings.Contains(text, `<main id="main"`) || !strings.Contains(text, `<aside id="tree"`) {
		t.Errorf("status %d: %s", a.StatusCode, text)
	}
	for name, want := range map[string]string{
		"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types bough",
		"X-Content-Type-Options":       "nosniff",
		"Cache-Control":                "no-store",
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Content-Type":                 "text/html; charset=utf-8",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if strings.Contains(text, "<script>") || strings.Contains(text, "style=") {
		t.Errorf("the shell has an inline script or style: %s", text)
	}
	r := v.request("GET", "/", nil)
	r.Header.Set("Bough-Fragment", "1")
	if text := body(t, v.do(r)); strings.Contains(text, "<html") || !strings.Contains(text, "<h1") {
		t.Errorf("a fragment is %s", text)
	}
	for _, path := range []string{"//other.example/x", "/nothing/here", "/do/append"} {
		if text := body(t, v.get(path)); !strings.Contains(text, `<form class="filters" action="/"`) {
			t.Errorf("the filters of %s lead elsewhere: %s", path, text)
		}
	}
	a = v.get("/nothing/here")
	if text := body(t, a); a.StatusCode != http.StatusNotFound || !strings.Contains(text, `<aside id="tree"`) {
		t.Errorf("an unknown path: status %d: %s", a.StatusCode, text)
	}
}

// TestStatic: the files of the page need no cookie, and nothing else is a file of it.
func TestStatic(t *testing.T) {
	v := arrive(t, nil)
	a := v.get("/static/login.js")
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("status %d, %v", a.StatusCode, a.Header)
	}
	if a := v.get("/static/icon.svg"); a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("the icon: status %d, %v", a.StatusCode, a.Header)
	}
	if text := body(t, v.get("/")); !strings.Contains(text, `<link rel="icon" href="/static/icon.svg">`) {
		t.Errorf("the page has no icon: %s", text)
	}
	r := v.request("GET", "/static/login.js", nil)
	r.Header.Set("If-None-Match", a.Header.Get("ETag"))
	if a := v.do(r); a.StatusCode != http.StatusNotModified {
		t.Errorf("again: status %d", a.StatusCode)
	}
	for _, name := range []string{"nothing.js", "..%2fpage.go", "%2e%2e/page.go", "", "."} {
		if a := v.get("/static/" + name); a.StatusCode == http.StatusOK {
			t.Errorf("%q: status %d: %s", name, a.StatusCode, body(t, a))
		}
	}
}

func jsonNumber(n int64) string { return strconv.FormatInt(n, 10) }

var readOptions = session.ReadOptions{}
