package remote_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
)

// stuck is a store to which nothing can be sent.
type stuck struct{ bucket.Store }

func (stuck) Put(context.Context, string, []byte) error { return errors.New("stuck") }

// forget removes what the process of an exchange would have written after its change: the notes of
// what was published, and the end of the line of one that was being written.
func (c *computer) forget(id string, pending bool) {
	c.t.Helper()
	dir := filepath.Join(c.w.Dir(), ".bough", "remotes", "home", "published")
	list, err := os.ReadDir(dir)
	if err != nil || len(list) == 0 {
		c.t.Fatal(list, err)
	}
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, data[:min(len(data), 30)], 0o600)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	r := c.remote()
	defer r.Close()
	if err := r.Forget(c.t.Context(), id, pending); err != nil {
		c.t.Fatal(err)
	}
}

// counted returns how many messages of a session the remote has.
func (c *computer) counted(id string) int {
	c.t.Helper()
	r := c.remote()
	defer r.Close()
	for _, s := range must(r.Sessions(c.t.Context())) {
		if s.ID == id {
			return s.Count
		}
	}
	return 0
}

// TestRenote: messages are published once, although a process was killed between a change and its
// notes: then another machine could have other bytes of them than those that a path repeats.
func TestRenote(t *testing.T) {
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	s := must(a.w.New(ctx, "Trip"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: strings.Repeat("where ", 100)}))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Role: "assistant", Text: strings.Repeat("there ", 100)}))

	// Killed after the record was stored.
	stops := a.opts
	stops.OpenStore = func(context.Context, string) (bucket.Store, error) { return stuck{store}, nil }
	r := must(remote.Open(ctx, a.w, "home", stops))
	if _, err := r.Push(ctx, remote.PushOptions{}); err == nil {
		t.Fatal("the store took it")
	}
	r.Close()
	a.forget(s.ID, false)
	a.push()
	if n := a.counted(s.ID); n != 2 {
		t.Errorf("the remote has %d messages of 2", n)
	}

	// Killed after the changes of a pull.
	b.pull()
	b.forget(s.ID, true)
	must(b.w.Append(ctx, workspace.Append{Session: s.ID, Text: "And then?"}))
	b.push()
	if n := b.counted(s.ID); n != 3 {
		t.Errorf("the remote has %d messages of 3", n)
	}
	a.pull()
	if n := a.counted(s.ID); n != 3 {
		t.Errorf("the remote has %d messages of 3", n)
	}
}
