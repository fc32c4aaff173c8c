package server_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/server"
)

// TestV1Hostile: no argument of any verb, however odd, is an internal error or opens a path
// outside of the workspace.
func TestV1Hostile(t *testing.T) {
	t.Parallel()
	texts := []any{"../../etc/passwd", "", "a\x00b", strings.Repeat("x", 5000), "/etc/passwd", "*", "HEAD~99999999999999999999", "@", "-", "urn:uuid:", "\u202e\n", "~"}
	odd := []any{-1, int64(1) << 62, 1.5, []any{}, map[string]any{"a": 1}, true}
	texts, odd = texts[:testsize.Of(1, 3, len(texts))], odd[:testsize.Of(1, 2, len(odd))]
	s := newSite(t, server.Options{})
	s.v1("new", `{"title":"Bread"}`).want(200)
	s.append("one")
	s.v1("agent/create", `{"name":"ada"}`).want(200)
	for _, v := range api.Verbs() {
		for name, p := range v.In().Properties {
			values := odd
			if p.Type == "string" {
				values = append(values, texts...)
			}
			for _, value := range values {
				in := map[string]any{}
				for _, required := range v.In().Required {
					in[required] = "Bread"
				}
				if in["agent"] != nil {
					in["agent"] = "ada"
				}
				in[name] = value
				body, err := json.Marshal(in)
				if err != nil {
					t.Fatal(err)
				}
				r := s.request("POST", "/v1/"+v.Name, bytes.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				send := s.fetchV1
				if testsize.Of(false, false, true) {
					send = s.doV1
				}
				got := send(r)
				if got.status >= 500 {
					t.Errorf("%s %.200s: status %d: %s", v.Name, body, got.status, got.Raw)
				}
				if strings.Contains(got.Raw, "root:") {
					t.Errorf("%s %s returns a file of the machine", v.Name, body)
				}
			}
		}
	}
	if got := s.v1("doctor", ""); !got.Get("ok").Bool() {
		t.Errorf("doctor: %s", got.Raw)
	}
}
