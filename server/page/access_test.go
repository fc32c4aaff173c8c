package page_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/server/page"
)

// TestLogin: a code is exchanged for a cookie that only the browser sees, once, and the
// browser goes where it wanted to.
func TestLogin(t *testing.T) {
	v := arrive(t, nil)
	for _, path := range []string{"/", "/c/x", "/nothing", "/login"} {
		a := v.get(path)
		text := body(t, a)
		if want := http.StatusUnauthorized; path != "/login" && a.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, a.StatusCode, want)
		}
		if !strings.Contains(text, `name="code"`) || strings.Contains(text, `id="tree"`) {
			t.Errorf("%s without a cookie: %s", path, text)
		}
	}
	if a := v.get("/events"); a.StatusCode != http.StatusUnauthorized || strings.Contains(body(t, a), "event") {
		t.Errorf("/events without a cookie: status %d", a.StatusCode)
	}
	if status, d := v.act("new"); status != http.StatusUnauthorized || d.Error.Code != "refused" {
		t.Errorf("a form without a cookie: status %d, %+v", status, d)
	}
	code := v.keys.Code(v.now)
	a := v.post("/login", url.Values{"code": {" " + strings.ToUpper(code) + "\n"}, "to": {"/c/x?leaf=m#m-m"}})
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/c/x?leaf=m#m-m" {
		t.Fatalf("status %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	c := a.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.Path != "/" || c.Name != "bough" {
		t.Errorf("the cookie is %v", c)
	}
	v.cookies = a.Cookies()
	if a := v.get("/"); a.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: status %d", a.StatusCode)
	}
	if a := v.get("/events"); body(t, a) != "event" {
		t.Errorf("/events: status %d", a.StatusCode)
	}
	// With the cookie the form is not shown, and a code in the address is removed from it.
	a = v.get("/login?to=%2Flog")
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/log#main" {
		t.Errorf("again: status %d to %q", a.StatusCode, a.Header.Get("Location"))
	}

	v.cookies = nil
	a = v.post("/login", url.Values{"code": {code}})
	if a.StatusCode != http.StatusUnauthorized || len(a.Cookies()) > 0 || !strings.Contains(body(t, a), "used before") {
		t.Errorf("a code used twice: status %d", a.StatusCode)
	}
}

// TestLocalPath: after the login the browser goes to no other server.
func TestLocalPath(t *testing.T) {
	v := arrive(t, nil)
	for to, want := range map[string]string{
		"":                       "/#main",
		"/log":                   "/log#main",
		"/c/x?leaf=a%2Fb#m-a":    "/c/x?leaf=a%2Fb#m-a",
		"//evil.example":         "/#main",
		"/\\evil.example":        "/#main",
		"/\t/evil.example":       "/#main",
		"https://evil.example/":  "/#main",
		"javascript:alert(1)":    "/#main",
		"log":                    "/#main",
		"/log\r\nSet-Cookie: a=": "/#main",
	} {
		a := v.post("/login", url.Values{"code": {v.keys.Code(v.now)}, "to": {to}})
		if got := a.Header.Get("Location"); got != want {
			t.Errorf("to %q goes to %q, want %q", to, got, want)
		}
	}
}

// TestCodes: a code is valid for minutes, for one run of the server, and cannot be guessed.
func TestCodes(t *testing.T) {
	v := arrive(t, nil)
	other, err := page.LoadKeys(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other.Run = v.keys.Run
	earlier := *v.keys
	earlier.Run = page.NewRun()
	valid := v.keys.Code(v.now)
	for name, code := range map[string]string{
		"no code":              "",
		"of another workspace": other.Code(v.now),
		"of another run":       earlier.Code(v.now),
		"expired":              v.keys.Code(v.now.Add(-page.CodeTime - time.Second)),
		"shortened":            valid[:len(valid)-1],
		"lengthened":           valid + "a",
		"with a line break":    valid[:8] + "\n" + valid[8:],
		"changed":              changed(valid),
		"not base32":           strings.Repeat("1", len(valid)),
	} {
		a := v.post("/login", url.Values{"code": {code}})
		if a.StatusCode != http.StatusUnauthorized || len(a.Cookies()) > 0 {
			t.Errorf("%s: status %d", name, a.StatusCode)
		}
	}
	if a := v.post("/login", url.Values{"code": {valid}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the code itself: status %d", a.StatusCode)
	}
	// Wrong codes lock out no user.
	for range 200 {
		if a := v.post("/login", url.Values{"code": {changed(v.keys.Code(v.now))}}); a.StatusCode != http.StatusUnauthorized {
			t.Fatalf("a wrong code: status %d", a.StatusCode)
		}
	}
	if a := v.post("/login", url.Values{"code": {v.keys.Code(v.now)}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("after many wrong codes: status %d", a.StatusCode)
	}
}

// TestLogout: signing out ends the sessions of all browsers, in the server that runs, and their
// streams of events. A new code opens the page again, at the same name.
func TestLogout(t *testing.T) {
	v := visit(t)
	other := *v
	other.login()
	code := v.keys.Code(v.now)
	if text := body(t, v.get("/logout")); !strings.Contains(text, `<form method="post" action="/logout">`) {
		t.Errorf("the page is %s", text)
	}
	stranger := *v
	stranger.cookies = nil
	if a := stranger.post("/logout", nil); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a cookie: status %d", a.StatusCode)
	}
	if a := v.get("/"); a.StatusCode != http.StatusOK {
		t.Fatalf("status %d", a.StatusCode)
	}
	a := v.post("/logout", nil)
	if c := a.Cookies(); a.StatusCode != http.StatusSeeOther || len(c) != 1 || c[0].Name != v.cookies[0].Name || c[0].MaxAge >= 0 || c[0].Path != "/" {
		t.Errorf("status %d, %v", a.StatusCode, c)
	}
	for _, browser := range []*visitor{v, &other} {
		if a := browser.get("/"); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("afterwards: status %d", a.StatusCode)
		}
	}
	if a := stranger.post("/login", url.Values{"code": {code}}); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a code from before: status %d", a.StatusCode)
	}
	keys, err := page.LoadKeys(t.Context(), v.w.Dir())
	if err != nil || keys.Name != v.keys.Name {
		t.Fatalf("the keys are %+v, %v", keys, err)
	}
	keys.Run, v.keys = v.keys.Run, keys
	v.login()
	if a := v.get("/"); a.StatusCode != http.StatusOK {
		t.Errorf("with a new code: status %d", a.StatusCode)
	}
	// So does the removal of the file, and damage of it admits no user.
	file := filepath.Join(v.w.Dir(), ".bough", "page", "keys.json")
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func() error{func() error { return os.Remove(file) }, func() error { return os.WriteFile(file, []byte("{"), 0o600) }} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if a := v.get("/"); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("without the file: status %d", a.StatusCode)
		}
	}
	if err := os.WriteFile(file, stored, 0o600); err != nil {
		t.Fatal(err)
	}
	if a := v.get("/"); a.StatusCode != http.StatusOK {
		t.Errorf("with the file again: status %d", a.StatusCode)
	}
}

// TestStreamEnds: the stream of events of a browser ends with its session.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	v := visit(t)
	begun, ended := make(chan struct{}), make(chan struct{})
	v.stream = func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		close(ended)
	}
	go v.get("/events")
	<-begun
	v.post("/logout", nil)
	<-ended
}

// changed returns a text with another first letter.
func changed(s string) string {
	if s[0] == 'a' {
		return "b" + s[1:]
	}
	return "a" + s[1:]
}

// TestCodeRace: of several requests with one code, one gets a cookie.
func TestCodeRace(t *testing.T) {
	v := arrive(t, nil)
	code := v.keys.Code(v.now)
	var all sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		all.Go(func() { statuses[i] = v.post("/login", url.Values{"code": {code}}).StatusCode })
	}
	all.Wait()
	n := 0
	for _, status := range statuses {
		if status == http.StatusSeeOther {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d logins: %v", n, statuses)
	}
}

// TestCookies: a cookie is valid for one address of one workspace, until it expires or is
// changed.
func TestCookies(t *testing.T) {
	v := visit(t)
	own := v.cookies[0]
	admitted := func(host string, c http.Cookie) bool {
		there := *v
		there.host, there.cookies = host, []*http.Cookie{&c}
		return there.get("/").StatusCode == http.StatusOK
	}
	if !admitted(v.host, *own) || !admitted(strings.ToUpper(v.host), *own) {
		t.Fatal("the cookie is refused")
	}
	stranger := visit(t)
	numeric := *v
	numeric.host, numeric.cookies = "127.0.0.1:"+port, nil
	numeric.login()
	if c := numeric.cookies[0]; c.Name != "bough-"+port || !admitted(numeric.host, *c) {
		t.Errorf("at 127.0.0.1 the cookie is %v", c)
	}
	renamed := func(c *http.Cookie, name string) http.Cookie {
		changed := *c
		changed.Name = name
		return changed
	}
	with := func(value string) http.Cookie {
		changed := *own
		changed.Value = value
		return changed
	}
	for name, c := range map[string]struct {
		host   string
		cookie http.Cookie
	}{
		"of the server of another port":      {"127.0.0.1:8030", *numeric.cookies[0]},
		"renamed for another port":           {"127.0.0.1:8030", renamed(numeric.cookies[0], "bough-8030")},
		"of 127.0.0.1, at the name":          {v.host, renamed(numeric.cookies[0], "bough")},
		"of the name, at 127.0.0.1":          {"127.0.0.1:" + port, renamed(own, "bough-"+port)},
		"of the name, at another port":       {v.keys.Host() + ":8030", *own},
		"of 127.0.0.1, at localhost":         {"localhost:" + port, *numeric.cookies[0]},
		"of another workspace":               {v.host, *stranger.cookies[0]},
		"with another name":                  {v.host, renamed(own, "boughs")},
		"changed at the beginning":           {v.host, with(changed(own.Value))},
		"changed at the end":                 {v.host, with(own.Value[:len(own.Value)-2] + "AA")},
		"shortened":                          {v.host, with(own.Value[:len(own.Value)-4])},
		"lengthened":                         {v.host, with(own.Value + "AAAA")},
		"empty":                              {v.host, with("")},
		"a code":                             {v.host, with(v.keys.Code(v.now))},
		"of the name, with a dot at its end": {v.keys.Host() + ".:" + port, *own},
	} {
		if admitted(c.host, c.cookie) {
			t.Errorf("a cookie %s is accepted", name)
		}
	}
	v.now = v.now.Add(30*24*time.Hour + time.Second)
	if admitted(v.host, *own) {
		t.Error("an expired cookie is accepted")
	}
}

// TestElsewhere: requests for another host, such as one that resolves to this machine, and
// those of other pages are refused, with and without the cookie.
func TestElsewhere(t *testing.T) {
	v := visit(t)
	for _, host := range []string{"evil.example", "evil.example:" + port, v.keys.Host() + ".evil.example", "x" + v.keys.Host(), "a.localhost:" + port, "10.0.0.1", ""} {
		r := v.request("GET", "/", nil)
		r.Host = host
		if v.page.Serves(r) {
			t.Errorf("it serves the host %q", host)
		}
	}
	own := "http://" + v.host
	for _, c := range []struct {
		origin, site string
		allowed      bool
	}{
		{own, "same-origin", true},
		{own, "", true},
		{"", "none", true},
		{"", "", true},
		{"null", "same-origin", false},
		{"http://evil.example", "cross-site", false},
		{"http://127.0.0.1:" + port, "same-site", false},
		{"http://" + v.keys.Host() + ":1", "same-site", false},
		{"https://" + v.host, "", false},
		{"", "cross-site", false},
		{"", "same-site", false},
		{"", "anything", false},
	} {
		for _, method := range []string{"GET", "POST"} {
			path := "/"
			if method == http.MethodPost {
				path = "/do/new"
			}
			r := v.request(method, path, url.Values{})
			r.Header.Del("Origin")
			r.Header.Del("Sec-Fetch-Site")
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			a := v.do(r)
			if allowed := a.StatusCode != http.StatusForbidden; allowed != c.allowed {
				t.Errorf("%s, origin %q, site %q: status %d", method, c.origin, c.site, a.StatusCode)
			}
			if len(a.Header["Access-Control-Allow-Origin"]) > 0 {
				t.Error("other pages may read it")
			}
		}
	}
}

// TestLoopback: at a loopback address the page has only its own paths, and says that other
// programs have the address too.
func TestLoopback(t *testing.T) {
	v := arrive(t, nil)
	v.host = "127.0.0.1:" + port
	if text := body(t, v.get("/")); !strings.Contains(text, "other ports of 127.0.0.1 ") || strings.Contains(text, v.keys.Name) {
		t.Errorf("the form is %s", text)
	}
	v.host = v.keys.Host() + ":" + port
	if text := body(t, v.get("/")); strings.Contains(text, "other ports") {
		t.Errorf("at the name, the form is %s", text)
	}
	for _, host := range []string{"127.0.0.1:" + port, "localhost:9", "[::1]:9", "127.0.0.1"} {
		v.host = host
		for path, want := range map[string]bool{
			"/": true, "/login": true, "/static/style.css": true, "/events": true,
			"/v1/ls": false, "/api/v1/ping": false, "/mcp": false, "/health": false, "/openapi.json": false, "/nothing": false,
		} {
			if got := v.page.Serves(v.request("GET", path, nil)); got != want {
				t.Errorf("at %s it serves %s: %v", host, path, got)
			}
		}
		if !v.page.Serves(v.request("POST", "/do/new", nil)) || !v.page.Serves(v.request("POST", "/login", nil)) {
			t.Errorf("at %s it does not serve forms", host)
		}
	}
}

// TestKeys: the keys remain, no one else can read them, and damaged ones are not replaced.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	keys := make([]*page.Keys, 4)
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = page.LoadKeys(t.Context(), dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, k := range keys {
		if k == nil || k.Host() != keys[0].Host() || string(k.Secret) != string(keys[0].Secret) {
			t.Fatal("several keys were made")
		}
	}
	file := filepath.Join(dir, ".bough", "page", "keys.json")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Separator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("the keys have the permissions %v", info.Mode())
	}
	for _, damaged := range []string{"", "{", `{"name":"","secret":""}`, `{"name":"a","secret":"YQ=="}`} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if k, err := page.LoadKeys(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "keys.json") {
			t.Errorf("%q: %v, %v", damaged, k, err)
		}
	}
}

// TestServer: the description of a server is found again, and a damaged one is none.
func TestServer(t *testing.T) {
	dir := t.TempDir()
	if s, ok := page.LastServer(dir); ok {
		t.Errorf("there is %+v", s)
	}
	s := page.Server{PID: 7, Addr: "127.0.0.1:0", Port: 8029, Run: "r", Background: true, Since: time.Now().UTC().Truncate(time.Second)}
	if err := s.Record(dir); err != nil {
		t.Fatal(err)
	}
	if got, ok := page.LastServer(dir); !ok || got != s {
		t.Errorf("LastServer() = %+v, %v", got, ok)
	}
	if err := os.WriteFile(filepath.Join(dir, ".bough", "server", "server.json"), []byte(`{"port":99999}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, ok := page.LastServer(dir); ok {
		t.Errorf("a damaged one is %+v", s)
	}
}
