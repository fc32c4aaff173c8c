package remote_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
)

// A computer is a workspace with a remote called home.
type computer struct {
	t    testing.TB
	w    *workspace.Workspace
	opts remote.Options
	name string
}

// computers returns workspaces with a remote in a store.
func computers(t testing.TB, store bucket.Store, names ...string) (list []*computer) {
	key := filepath.Join(t.TempDir(), "key.txt")
	for i, name := range names {
		w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{Settle: -1, Now: clock(), Random: source(byte(i + 1))})
		if err != nil {
			t.Fatal(err)
		}
		c := &computer{t: t, w: w, name: name}
		c.opts.OpenStore = func(context.Context, string) (bucket.Store, error) { return store, nil }
		c.add(key)
		list = append(list, c)
	}
	return list
}

// friend returns another workspace with the same remote.
func (c *computer) friend(name string) *computer {
	c.t.Helper()
	w, err := workspace.Open(c.t.Context(), c.t.TempDir(), &workspace.Options{Settle: -1, Now: clock(), Random: source(99)})
	if err != nil {
		c.t.Fatal(err)
	}
	n := &computer{t: c.t, w: w, opts: c.opts, name: name}
	n.add(must(c.remote().Info()).Key)
	return n
}

func (c *computer) add(key string) {
	c.t.Helper()
	if _, err := remote.Add(c.t.Context(), c.w, "home", remote.AddOptions{URL: "memory:", Key: key, Machine: c.name}, c.opts); err != nil {
		c.t.Fatal(err)
	}
}

func (c *computer) remote() *remote.Remote {
	c.t.Helper()
	r, err := remote.Open(c.t.Context(), c.w, "home", c.opts)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func (c *computer) push() *remote.Result {
	c.t.Helper()
	result, err := c.remote().Push(c.t.Context(), remote.PushOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return result
}

func (c *computer) pull() *remote.Result {
	c.t.Helper()
	result, err := c.remote().Pull(c.t.Context(), remote.PullOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return result
}

// must returns the result of a verb that must work.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return v
}

// TestGoals: the requests of the smallest exchanges.
func TestGoals(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	s := must(a.w.New(ctx, "First"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Role: "user", Text: "Hello"}))
	check := func(what string, got *remote.Result, requests int64, sent, received int) {
		t.Helper()
		if got.Requests != requests || got.Sent.Records != sent || got.Got.Records != received || len(got.Problems)+len(got.Left)+len(got.Conflicts) > 0 {
			t.Errorf("%s: %+v, and not %d requests, %d and %d records", what, got, requests, sent, received)
		}
	}
	check("the first push", a.push(), 1, 1, 0)
	check("nothing new pushed", a.push(), 0, 0, 0)
	check("the first pull", b.pull(), 3, 0, 1)
	check("the name of a machine", b.push(), 1, 1, 0)
	a.pull()
	b.pull()
	check("what was just pulled", b.push(), 0, 0, 0)
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Role: "assistant", Text: "Hello you"}))
	a.push()
	b.pull() // from now on each knows that the other one knows it
	check("nothing new pulled", b.pull(), 3, 0, 0)
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "How are you?"}))
	check("a message pushed", a.push(), 1, 1, 0)
	check("a message pulled", b.pull(), 3, 0, 1)
	check("what was just pulled", b.push(), 0, 0, 0)
}
