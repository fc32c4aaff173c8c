package server_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace"
	"github.com/tidwall/gjson"
)

// waiting is a store to which nothing is sent before its client gives up.
type waiting struct {
	bucket.Store
	begun chan struct{}
	ended chan error
}

func (w waiting) Put(ctx context.Context, name string, data []byte) error {
	close(w.begun)
	<-ctx.Done()
	w.ended <- ctx.Err()
	return ctx.Err()
}

// TestV1Remote: an exchange over HTTP reports its progress, its changes are events, and it ends with its
// client. What needs a remote says if there is none.
func TestV1Remote(t *testing.T) {
	store := bucket.Store(&bucket.Memory{})
	reached := func(remote.Info) remote.Options {
		return remote.Options{OpenStore: func(context.Context, string) (bucket.Store, error) { return store, nil }}
	}
	f := newSite(t, server.Options{Remotes: reached})
	if a := f.v1("sync", `{}`); a.status != http.StatusNotFound || a.Get("error.message").Str != "there is no remote" {
		t.Fatalf("without a remote: %d %s", a.status, a.Raw)
	}
	post := func(ctx context.Context, verb, accept string) (*http.Response, error) {
		r := f.request(http.MethodPost, "/v1/"+verb, strings.NewReader(`{}`)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", accept)
		return http.DefaultClient.Do(r)
	}
	key := filepath.Join(t.TempDir(), "key")
	add := func(w *workspace.Workspace, name string) {
		t.Helper()
		if _, err := remote.Add(t.Context(), w, "home", remote.AddOptions{URL: "memory:", Key: key, Machine: name, Store: store}, remote.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	add(f.w, "laptop")
	session, err := f.w.New(t.Context(), "Trip")
	if err == nil {
		_, err = f.w.Append(t.Context(), workspace.Append{Session: session.ID, Text: "Where to?"})
	}
	if err != nil {
		t.Fatal(err)
	}

	held := waiting{store, make(chan struct{}), make(chan error, 1)}
	store = held
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-held.begun
		leave()
	}()
	if a, err := post(ctx, "push", "*/*"); err == nil {
		a.Body.Close()
		t.Error("the push has an answer")
	}
	if err := <-held.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the push ends with %v", err)
	}
	store = held.Store

	a, err := post(t.Context(), "sync", "text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	names, data := map[string]int{}, map[string]string{}
	name := ""
	for lines := bufio.NewScanner(a.Body); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = v
			names[name]++
		}
		if v, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			data[name] = v
		}
	}
	if names["progress"] == 0 || names["result"] != 1 || gjson.Get(data["progress"], "doing").Str == "" || gjson.Get(data["result"], "sent.records").Int() != 1 {
		t.Errorf("the stream has %v: %v", names, data)
	}

	other, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	add(other, "desktop")
	r, err := remote.Open(t.Context(), other, "home", reached(remote.Info{}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Sync(t.Context(), remote.PullOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Append(t.Context(), workspace.Append{Session: session.ID, Text: "To Lisbon."}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Push(t.Context(), remote.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	if a := f.v1("ls/remote", `{}`); a.Get("sessions.0.count").Int() != 2 {
		t.Errorf("ls/remote: %s", a.Raw)
	}
	before, err := f.w.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a := f.v1("pull", `{}`); a.Get("sessions.0").Str != session.ID {
		t.Errorf("pull: %d %s", a.status, a.Raw)
	}
	after, err := f.w.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	added := 0
	for e, err := range f.w.EventsBetween(t.Context(), before, after.Seq) {
		if err == nil && e.Type == "message_added" && string(e.Session) == session.ID {
			added++
		}
	}
	if added != 1 {
		t.Errorf("%d messages of the pull are events", added)
	}
	if a := f.v1("remote/check", `{}`); !a.Get("ok").Bool() {
		t.Errorf("remote/check: %s", a.Raw)
	}
}
