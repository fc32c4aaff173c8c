package wire

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBytes: a response that exceeds the limit ends the request.
func TestBytes(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 1000))
	}))
	defer s.Close()
	a, err := NewAPI("OpenAI", "KEY", "", s.URL, "https://own.example")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	res, err := a.post(ctx, cancel, Limits{Bytes: 999}.withDefaults(), 0, "x", http.Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, err = io.ReadAll(res.Body)
	if want := "the reply of " + a.who() + " is larger than 999 bytes"; err == nil || err.Error() != want || context.Cause(ctx) != err {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// TestHosted: errors name the provider itself, not its address.
func TestHosted(t *testing.T) {
	a, err := NewAPI("OpenAI", "KEY", "sk-1", "", "https://own.example/v1/")
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Refusal(500, []byte("sk-1"), "m").Error(); !a.Hosted || got != "OpenAI failed (500): (the key)" {
		t.Errorf("the error is %s", got)
	}
}
