package native

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/server/internal/eventstream"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// TestEndpoints: the endpoints answer with the documents of the verbs and with failures.
// Package server has the tests of all of them.
func TestEndpoints(t *testing.T) {
	w, err := workspace.Open(context.Background(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, e := range Endpoints(&Options{
		Env: api.Env{Workspace: w}, Events: &eventstream.Source{}, Body: exchange.Limits{Body: 1 << 10, Depth: 8}, Request: time.Minute,
	}) {
		mux.HandleFunc(e.Pattern, func(w http.ResponseWriter, r *http.Request) {
			if !Owns(r) {
				t.Errorf("%s is not of the API", r.URL)
			}
			if err := e.Serve(w, r); err != nil {
				WriteFailure(w, err)
			}
		})
	}
	for _, c := range []struct {
		path, body string
		status     int
		member     string
		want       string
	}{
		{"new", `{"title":"Bread"}`, 200, "title", "Bread"},
		{"append", `{"text":"How wet?"}`, 200, "parent_id", ""},
		{"show?ref=Bread&last=1", "", 200, "messages.0.content", "How wet?"},
		{"show?ref=nothing", "", 404, "error.code", "not_found"},
		{"show?last=x", "", 400, "error.message", `last must be a whole number, not "x"`},
		{"show?ref=%zz", "", 400, "error.message", "the query cannot be parsed"},
		{"append", `{"text":"` + strings.Repeat("x", 1<<10) + `"}`, 413, "error.message", "the body is too large"},
		{"append", `[]`, 400, "error.message", "the body must be a JSON object"},
		{"agent/chat", `{"agent":"ada","prompt":"Hi"}`, 404, "error.code", "not_found"},
		{"openapi.json", "", 200, "paths./v1/append.post.operationId", "append"},
	} {
		method := http.MethodPost
		if c.body == "" {
			method = http.MethodGet
		}
		r := httptest.NewRecorder()
		mux.ServeHTTP(r, httptest.NewRequest(method, prefix+c.path, strings.NewReader(c.body)))
		if got := gjson.Get(r.Body.String(), c.member); r.Code != c.status || got.String() != c.want {
			t.Errorf("%s %s: %d, %s is %q, want %d, %q", c.path, c.body, r.Code, c.member, got, c.status, c.want)
		}
	}
}

// TestExplain: each error has a status and a code, and keeps the hint of the library.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   fault.Code
		hint   string
	}{
		{&fault.Error{Code: fault.Refused, Hint: "why"}, 409, fault.Refused, "why"},
		{&fault.Error{Code: fault.Locked}, 503, fault.Locked, ""},
		{&fault.Error{Code: fault.Damaged}, 500, fault.Damaged, ""},
		{&fault.Error{Code: fault.Failed, Hint: "explore/resume continues it", Err: context.Canceled}, 500, fault.Failed, "explore/resume continues it"},
		{&fault.Error{Code: fault.Failed, Next: fault.Do(fault.RetryTurn, "ada"), Err: context.Canceled}, 500, fault.Failed, "POST /v1/agent/chat with the agent ada and retry repeats the turn"},
		{context.Canceled, 503, fault.Busy, "context canceled"},
		{fmt.Errorf("reading: %w", os.ErrDeadlineExceeded), 408, fault.Usage, "reading: i/o timeout"},
		{fmt.Errorf("a copy: %w", workspace.ErrTooLarge), 413, fault.Usage, "refused"},
		{exchange.Fail(401, "Unauthorized", ""), 401, fault.Refused, ""},
		{exchange.Fail(404, "no endpoint", "see"), 404, fault.NotFound, "see"},
		{errors.New("disk full"), 500, fault.Failed, "failed"},
	} {
		if f := explain(c.err); f.status != c.status || f.Code != c.code || f.Hint != c.hint {
			t.Errorf("%v: %d, %s, %q; want %d, %s, %q", c.err, f.status, f.Code, f.Hint, c.status, c.code, c.hint)
		}
	}
	several := &fault.AmbiguousError{Candidates: []fault.Candidate{{Session: "a"}, {Session: "b"}}}
	if f := explain(several); f.status != 409 || len(f.Candidates) != 2 {
		t.Errorf("an ambiguous name: %+v", f)
	}
}
