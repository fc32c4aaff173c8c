package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/server/internal/eventstream"
	"github.com/bough-dev/bough/server/internal/native"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/tidwall/gjson"
)

// v1Document is the OpenAPI document of the native API.
var v1Document = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(native.Describe())
	if err == nil {
		err = doc.Validate(context.Background())
	}
	return doc, err
})

// A v1Reply is an answer of the native API.
type v1Reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	gjson.Result
}

// v1 sends a request to the native API. A body is the JSON of a POST; "" is a GET.
func (s *site) v1(path, body string) *v1Reply {
	s.t.Helper()
	method, in := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, in = http.MethodPost, strings.NewReader(body)
	}
	r := s.request(method, "/v1/"+path, in)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return s.doV1(r)
}

// fetchV1 sends a request, whose answer must be JSON.
func (s *site) fetchV1(r *http.Request) *v1Reply {
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
	re := &v1Reply{s.t, r.Method + " " + r.URL.RequestURI(), a.StatusCode, a.Header, gjson.ParseBytes(body)}
	if !json.Valid(body) || a.Header.Get("Content-Type") != "application/json" {
		s.t.Errorf("%s: the answer is %s %q", re.what, a.Header.Get("Content-Type"), body)
	}
	return re
}

// doV1 sends a request. The answer must conform to the document, and so must the request
// if it is answered.
func (s *site) doV1(r *http.Request) *v1Reply {
	s.t.Helper()
	re := s.fetchV1(r)
	doc, err := v1Document()
	if err != nil {
		s.t.Fatal(err)
	}
	route, params := find(doc, r.Method, r.URL.Path)
	if route == nil {
		if re.status < 400 {
			s.t.Errorf("%s: status %d, which is not described", re.what, re.status)
		}
		return re
	}
	sent := r.Clone(context.Background())
	if r.GetBody != nil {
		sent.Body, _ = r.GetBody()
	}
	in := &openapi3filter.RequestValidationInput{
		Request: sent, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, SkipSettingDefaults: true},
	}
	if re.status < 300 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			s.t.Errorf("%s: the request is not as described: %v", re.what, err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: re.status, Header: re.header, Options: in.Options}
	out.SetBodyBytes([]byte(re.Raw))
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		s.t.Errorf("%s: the answer is not as described: %v", re.what, err)
	}
	return re
}

// want checks the status.
func (re *v1Reply) want(status int) *v1Reply {
	re.t.Helper()
	if re.status != status {
		re.t.Fatalf("%s: status %d, want %d: %s", re.what, re.status, status, re.Raw)
	}
	return re
}

// fails checks a failure: its status, its code and a part of its message and hint.
func (re *v1Reply) fails(status int, code fault.Code, part string) {
	re.t.Helper()
	e := re.want(status).Get("error")
	if e.Get("code").Str != string(code) || !strings.Contains(e.Get("message").Str+"; "+e.Get("hint").Str, part) {
		re.t.Errorf("%s: %s, want code %s and %q", re.what, re.Raw, code, part)
	}
	if strings.Contains(re.Raw, "bough ") {
		re.t.Errorf("%s: %s names a command", re.what, re.Raw)
	}
}

// TestV1Description: the document and the server have the same routes.
func TestV1Description(t *testing.T) {
	doc, err := v1Document()
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	ids := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			described = append(described, method+" "+path)
			if ids[o.OperationID] || o.OperationID == "" {
				t.Errorf("%s %s has the operation id %q", method, path, o.OperationID)
			}
			ids[o.OperationID] = true
		}
	}
	var served []string
	for _, e := range native.Endpoints(&native.Options{Events: &eventstream.Source{}}) {
		served = append(served, e.Pattern)
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described:\n%s\nserved:\n%s", strings.Join(described, "\n"), strings.Join(served, "\n"))
	}
	s := newSite(t, server.Options{})
	r := s.request("GET", "/v1/openapi.json", nil)
	r.Header.Del("Authorization")
	if got := s.doV1(r).want(200); got.Get("openapi").Str != "3.1.0" {
		t.Errorf("served: %.100s", got.Raw)
	}
}

// TestV1 uses the native API as a client does.
func TestV1(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	bread := s.v1("new", `{"title":"Bread & butter"}`).want(200).Get("id").Str
	first := s.v1("append", `{"text":"How wet is too wet?"}`).want(200).Get("message_id").Str
	s.v1("append", `{"session_id":"Bread & butter","text":"It depends.","role":"assistant"}`).want(200)
	s.v1("append", `{"session_id":"`+bread+`","text":"With rye?","parent_id":"`+first+`"}`).want(200)
	if got := s.v1("show?ref="+url.QueryEscape("Bread & butter")+"&last=1", "").want(200).Get("messages.#.content").Raw; got != `["With rye?"]` {
		t.Errorf("the last message is %s", got)
	}
	if a, b := s.v1("show", "").want(200), s.v1("show", `{}`).want(200); a.Raw != b.Raw || a.Get("messages.#").Int() != 2 {
		t.Errorf("GET: %s\nPOST: %s", a.Raw, b.Raw)
	}
	if got := s.v1("branches?partial=true", "").want(200).Get("leaves.#").Int(); got != 2 {
		t.Errorf("there are %d branches", got)
	}
	s.v1("tree", "").want(200)
	s.v1("tree/messages", "").want(200)
	s.v1("ls?limit=1&kind=root", "").want(200)
	s.v1("search?text=wet&limit=0", "").want(200)
	s.v1("checkpoint", `{"name":"Before"}`).want(200)
	s.v1("branch", `{"ref":"`+first+`","name":"Other"}`).want(200)
	s.v1("restore", `{"session_id":"Before"}`).want(200)
	s.v1("status", "").want(200)
	s.v1("bookmark", `{"ref":"Before@first","label":"start"}`).want(200)
	s.v1("diff?a=Before&b=Other", "").want(200)
	s.v1("export", `{"ref":"Before","to":"markdown"}`).want(200)
	s.v1("import", `{"content":"{\"messages\":[{\"role\":\"user\",\"content\":\"pie?\"}]}"}`).want(200)
	s.v1("agent/create", `{"name":"ada"}`).want(200)
	s.v1("agent/snapshot?agent=ada", "").want(200)
	s.v1("agent/ls", "").want(200)
	s.v1("rm", `{"session_id":"Other"}`).want(200)
	s.v1("undo", `{}`).want(200)
	s.v1("log?limit=2", "").want(200)
	s.v1("trash", "").want(200)
	s.v1("explore/ls", "").want(200)
	s.v1("learnings", "").want(200)
	s.v1("du", "").want(200)
	s.v1("config", "").want(200)
	s.v1("config/get?key=pack", "").want(200)
	if got := s.v1("doctor", "").want(200); !got.Get("ok").Bool() {
		t.Errorf("doctor: %s", got.Raw)
	}
}

// TestV1Failures: failures have the code of the command, a fitting status, and no hint
// about the command.
func TestV1Failures(t *testing.T) {
	t.Parallel()
	s := newSiteOf(t, t.TempDir(), &workspace.Options{Wait: -1}, server.Options{Limits: server.Limits{Body: 4 << 10, Depth: 8}})
	s.v1("new", `{"title":"Bread"}`).want(200)
	s.v1("show?ref=nothing", "").fails(404, fault.NotFound, "GET /v1/ls lists the sessions")
	s.v1("show?ref=nothing&last=x", "").fails(400, fault.Usage, `last must be a whole number, not "x"`)
	s.v1("show?partial=x", "").fails(400, fault.Usage, `partial must be true or false, not "x"`)
	s.v1("show?last=1&last=2", "").fails(400, fault.Usage, "more than once")
	s.v1("show?lats=1", "").fails(400, fault.Usage, `unknown argument "lats"; arguments are last, partial, ref, since`)
	s.v1("diff?a=Bread", "").fails(400, fault.Usage, `the argument "b" is missing`)
	s.v1("append", `{"text":7}`).fails(400, fault.Usage, `"text" is a number`)
	s.v1("append", `[]`).fails(400, fault.Usage, "the body must be a JSON object")
	s.v1("append", `{"text":`).fails(400, fault.Usage, "the body is not JSON")
	s.v1("append", `{"text":"`+strings.Repeat("x", 5<<10)+`"}`).fails(413, fault.Usage, "too large")
	s.v1("append", `{"text":`+strings.Repeat("[", 9)+`}`).fails(400, fault.Usage, "nested too deeply")
	s.v1("bookmark", `{"label":"a","scope":"all"}`).fails(400, fault.Usage, "one of message, branch, subtree")
	s.v1("nothing", "").fails(404, fault.NotFound, "/v1/openapi.json lists all endpoints")
	s.v1("append", "").fails(405, fault.Usage, "allowed: POST")
	s.v1("new", `{"title":"Bread"}`).want(200)
	got := s.v1("show?ref=Bread", "")
	got.fails(409, fault.Ambiguous, "ambiguous")
	if got.Get("error.candidates.#").Int() != 2 {
		t.Errorf("the candidates are %s", got.Raw)
	}
	s.v1("append", `{"text":"one"}`).want(200)
	s.v1("checkpoint", `{"name":"Before"}`).want(200)
	s.v1("rm", `{"session_id":"`+s.v1("status", "").Get("head.session_id").Str+`"}`).fails(409, fault.HasChildren, "force removes it anyway")
	s.v1("agent/create", `{"name":"ada"}`).want(200)
	s.v1("agent/create", `{"name":"ada"}`).fails(409, fault.Refused, "GET /v1/agent/ls lists them")
	if err := os.WriteFile(filepath.Join(s.w.Dir(), "conversations", "torn.json"), []byte(`{"messages": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.v1("show?ref=torn", "").fails(500, fault.Damaged, "torn.json")
	release := hold(t, s.w.Dir())
	locked := s.v1("append", `{"text":"two"}`)
	release()
	locked.fails(503, fault.Locked, "")
	if locked.header.Get("Retry-After") == "" {
		t.Error("the answer to a locked workspace has no Retry-After")
	}
}

// TestV1Guard: the native API has the guards of the server.
func TestV1Guard(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	for _, path := range []string{"/v1/status", "/v1/events"} {
		for _, c := range []struct {
			name   string
			change func(*http.Request)
			status int
		}{
			{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
			{"another token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401},
			{"a cookie", func(r *http.Request) {
				r.Header.Del("Authorization")
				r.AddCookie(&http.Cookie{Name: "token", Value: token})
			}, 401},
			{"a foreign host", func(r *http.Request) { r.Host = "evil.example" }, 403},
			{"a foreign page", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
			{"a request for a foreign page", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		} {
			r := s.request("GET", path, nil)
			c.change(r)
			s.doV1(r).fails(c.status, fault.Refused, "")
		}
	}
}
