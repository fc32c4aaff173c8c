package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/server"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// description returns openapi.json, changed so that answers of bough must not have
// undeclared members.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromFile("openapi.json")
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	closed := false
	for _, s := range doc.Components.Schemas {
		if v := s.Value; v.AdditionalProperties.Has == nil && v.AdditionalProperties.Schema == nil {
			v.AdditionalProperties.Has = &closed
		}
	}
	return doc, nil
})

// TestDescription: openapi.json and the server have the same routes.
func TestDescription(t *testing.T) {
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	slices.Sort(described)
	served := server.Patterns()
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described:\n%s\nserved:\n%s", strings.Join(described, "\n"), strings.Join(served, "\n"))
	}

	s := newSite(t, server.Options{})
	r := s.request("GET", "/openapi.json", nil)
	r.Header.Del("Authorization")
	var got, want any
	if err := json.Unmarshal(s.do(r).want(200).body, &got); err != nil || got.(map[string]any)["openapi"] != "3.1.0" {
		t.Errorf("served: %v, %v", err, want)
	}
}

// An asked is a kind of request in a test.
type asked struct {
	test, method, path string
	status             int
}

// known has each asked that described has verified. The validator compiles a schema for
// each value, so that a repetition is not verified with -short.
var known sync.Map

// described verifies that an answer conforms to openapi.json, and for a success
// also the request.
func described(t testing.TB, r *http.Request, re *reply) {
	t.Helper()
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	route, params := find(doc, r.Method, r.URL.Path)
	if route == nil {
		if re.status != 404 && re.status != 405 && re.status < 400 {
			t.Errorf("%s: status %d, which is not described", re.what, re.status)
		}
		return
	}
	_, again := known.LoadOrStore(asked{t.Name(), r.Method, route.Path, re.status}, true)
	if again && testsize.Of(true, false, false) {
		return
	}
	body := io.NopCloser(bytes.NewReader(nil))
	if r.GetBody != nil {
		if body, err = r.GetBody(); err != nil {
			t.Fatal(err)
		}
	}
	sent := r.Clone(context.Background())
	sent.Body = body
	in := &openapi3filter.RequestValidationInput{
		Request:    sent,
		PathParams: params,
		Route:      route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true,
			SkipSettingDefaults:   true,
		},
	}
	if re.status < 300 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			t.Errorf("%s: the request is not as described: %v", re.what, err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: re.status, Header: re.header, Options: in.Options}
	out.SetBodyBytes(re.body)
	if r.Method == http.MethodHead {
		return
	}
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		t.Errorf("%s: the answer is not as described: %v", re.what, err)
	}
}

// find returns the operation for a path, with the values of its parameters.
func find(doc *openapi3.T, method, path string) (*routers.Route, map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	parts := strings.Split(path, "/")
next:
	for pattern, item := range doc.Paths.Map() {
		names := strings.Split(pattern, "/")
		if len(names) != len(parts) || item.GetOperation(method) == nil {
			continue
		}
		params := map[string]string{}
		for i, name := range names {
			if strings.HasPrefix(name, "{") {
				params[strings.Trim(name, "{}")] = parts[i]
			} else if name != parts[i] {
				continue next
			}
		}
		return &routers.Route{Spec: doc, Path: pattern, PathItem: item, Method: method, Operation: item.GetOperation(method)}, params
	}
	return nil, nil
}

// validate validates a value against a schema of openapi.json.
func validate(t testing.TB, schema string, data []byte) {
	t.Helper()
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if err := doc.Components.Schemas[schema].Value.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("no %s: %v", schema, err)
	}
}
