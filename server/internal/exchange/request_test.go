package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestDecode: a body is a JSON object within the limits, and each other one has a status.
func TestDecode(t *testing.T) {
	l := Limits{Body: 40, Depth: 3}
	for _, c := range []struct {
		contentType, body string
		status            int // 0 for none
		want              string
	}{
		{"", "", 0, ""},
		{"text/plain", " \n", 0, ""},
		{"", `{"name":"a"}`, 0, "a"},
		{"application/json; charset=utf-8", `{"name":"a"}`, 0, "a"},
		{"application/problem+json", `{"name":"a"}`, 0, "a"},
		{"text/plain", `{"name":"a"}`, 415, "must be JSON"},
		{"a/b/c", `{"name":"a"}`, 415, "must be JSON"},
		{"", `{"name":"` + strings.Repeat("x", 40) + `"}`, 413, "too large"},
		{"", "{\"name\":\"\xff\"}", 400, "not valid UTF-8"},
		{"", `{"x":[[[]]]}`, 400, "nested too deeply"},
		{"", `{"name":`, 400, "is not JSON"},
		{"", `["name"]`, 400, "must be a JSON object"},
		{"", `{"name":7}`, 400, "name has the wrong type: it must be a string"},
		{"", `{"on":"yes"}`, 400, "it must be true or false"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.contentType)
		var in struct {
			Name string `json:"name"`
			On   bool   `json:"on"`
		}
		err := l.Decode(httptest.NewRecorder(), r, &in)
		var f *Failure
		switch {
		case c.status == 0 && (err != nil || in.Name != c.want):
			t.Errorf("%q: %q, %v", c.body, in.Name, err)
		case c.status != 0 && (!errors.As(err, &f) || f.Status != c.status || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %q: %v, want %d, %q", c.contentType, c.body, err, c.status, c.want)
		}
	}
	var f *Failure
	if err := BodyError(errors.New("cut off")); !errors.As(err, &f) || f.Status != 400 {
		t.Errorf("a body that ends early: %v", err)
	}
}

func TestQuery(t *testing.T) {
	for query, want := range map[string]string{"a=1&a=2": "", "": "", "a=%zz": "cannot be parsed", "a=%ff": "not valid UTF-8"} {
		values, err := Query(&http.Request{URL: &url.URL{RawQuery: query}})
		if want == "" && (err != nil || values.Encode() != query) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v", query, values, err)
		}
	}
}

// TestAnswers: a document is sent in pieces, and a failure has the headers of its status.
func TestAnswers(t *testing.T) {
	w := httptest.NewRecorder()
	Send(w, http.StatusCreated, Pieces{[]byte(`{"a":`), []byte("1}")})
	if w.Code != http.StatusCreated || w.Body.String() != `{"a":1}` || w.Header().Get("Content-Length") != "7" {
		t.Errorf("the answer is %d %s, %v", w.Code, w.Body, w.Header())
	}
	for status, header := range map[int]string{401: "WWW-Authenticate", 503: "Retry-After", 408: "Connection"} {
		w := httptest.NewRecorder()
		SetFailureHeaders(w, status)
		if len(w.Header()) != 1 || w.Header().Get(header) == "" {
			t.Errorf("%d: %v", status, w.Header())
		}
	}
	if f := Explain(context.DeadlineExceeded); f == nil || f.Status != http.StatusServiceUnavailable {
		t.Errorf("a deadline: %v", f)
	}
	if f := Explain(errors.New("disk full")); f != nil {
		t.Errorf("another error: %v", f)
	}
	if got := Quote(strings.Repeat("ä", 60)); got != `"`+strings.Repeat("ä", 50)+`…"` {
		t.Errorf("the quoted text is %s", got)
	}
}

// FuzzDeeper: deeper agrees with the maximum number of open brackets in a decoder.
func FuzzDeeper(f *testing.F) {
	for _, s := range []string{`{}`, `[[]]`, `{"[":["]","\\\"["]}`, `"\\"`, `[{"a":[1]},[]]`, `{"a":"\u005b["}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			deeper(data, 1)
			return
		}
		depth, most := 0, 0
		for d := json.NewDecoder(bytes.NewReader(data)); ; {
			token, err := d.Token()
			if err != nil {
				break
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				depth++
			case json.Delim('}'), json.Delim(']'):
				depth--
			}
			most = max(most, depth)
		}
		if deeper(data, most) || most > 0 && !deeper(data, most-1) {
			t.Errorf("%s is %d deep", data, most)
		}
	})
}
