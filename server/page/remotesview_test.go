package page_test

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
)

// slow is a store that waits before it stores something.
type slow struct {
	bucket.Store
	begun chan struct{}
}

func (s slow) Put(ctx context.Context, _ string, _ []byte) error {
	s.begun <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

// TestRemotes: the page shows machines, what was exchanged, conflicts with links to both sides, and what
// is not here, which a button gets. An exchange that takes long shows that it does, and can be canceled.
func TestRemotes(t *testing.T) {
	v := visit(t)
	ctx, memory := t.Context(), bucket.Store(&bucket.Memory{})
	store := memory
	reached := remote.Options{OpenStore: func(context.Context, string) (bucket.Store, error) { return store, nil }}
	v.remotes = func(remote.Info) remote.Options { return reached }
	if text := body(t, v.get("/remotes")); !strings.Contains(text, "There is no remote") {
		t.Errorf("without a remote: %s", text)
	}
	key := filepath.Join(t.TempDir(), "key")
	add := func(w *workspace.Workspace, name string) {
		t.Helper()
		if _, err := remote.Add(ctx, w, "home", remote.AddOptions{URL: "memory:", Key: key, Machine: name, Store: memory}, remote.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	add(v.w, "laptop")
	other, err := workspace.Open(ctx, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	add(other, "desktop")
	elsewhere := func() {
		t.Helper()
		r, err := remote.Open(ctx, other, "home", reached)
		if err == nil {
			_, err = r.Sync(ctx, remote.PullOptions{})
			r.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shared, err := v.w.New(ctx, "Shared")
	if err == nil {
		_, err = v.w.Append(ctx, workspace.Append{Session: shared.ID, Text: "Where to?"})
	}
	if err != nil {
		t.Fatal(err)
	}

	held := slow{memory, make(chan struct{}, 1)}
	store = held
	answer := make(chan *http.Response, 1)
	go func() { answer <- v.post("/do/sync", url.Values{"remote": {"home"}}) }()
	<-held.begun
	for text := ""; !strings.Contains(text, `action="/do/sync/cancel"`); text = body(t, v.get("/remotes")) {
		time.Sleep(time.Millisecond)
	}
	v.post("/do/sync/cancel", url.Values{"remote": {"home"}})
	<-answer
	for text := "cancel"; strings.Contains(text, "sync/cancel"); text = body(t, v.get("/remotes")) {
		time.Sleep(time.Millisecond)
	}
	store = memory

	sync := func(fields url.Values, verb string) string {
		t.Helper()
		if a := v.post("/do/"+verb, fields); a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/remotes") {
			t.Fatalf("%s: status %d, to %s", verb, a.StatusCode, a.Header.Get("Location"))
		}
		return body(t, v.get("/remotes"))
	}
	home := url.Values{"remote": {"home"}}
	if text := sync(home, "sync"); !strings.Contains(text, "this machine") || !strings.Contains(text, "sent 1 record") {
		t.Errorf("after the first exchange: %s", text)
	}
	elsewhere()
	absent, err := other.New(ctx, "Only there")
	if err == nil {
		_, err = other.Append(ctx, workspace.Append{Session: absent.ID, Text: "Here."})
	}
	for w, text := range map[*workspace.Workspace]string{v.w: "To Oslo.", other: "To Lisbon."} {
		if err == nil {
			_, err = w.Append(ctx, workspace.Append{Session: shared.ID, Text: text})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	elsewhere()
	text := sync(home, "ls/remote")
	if !strings.Contains(text, "Only there") || !strings.Contains(text, `aria-label="Get Only there"`) || !strings.Contains(text, "desktop") {
		t.Errorf("what is not here: %s", text)
	}
	text = sync(url.Values{"remote": {"home"}, "session_id": {absent.ID}}, "pull")
	if strings.Contains(text, `aria-label="Get Only there"`) {
		t.Errorf("it is not here: %s", text)
	}
	text = sync(home, "sync")
	if !strings.Contains(text, "All conversations that were seen there are here.") {
		t.Errorf("after all: %s", text)
	}
}
