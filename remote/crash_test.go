package remote_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/faults"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

var errDead = errors.New("the process is dead")

// dieAfter has the process die before a step in the folder of a computer, n steps from now. It returns
// a function that ends this, and reports whether it died.
func (c *computer) dieAfter(n int) (end func() (died bool)) {
	died := false
	restore := durable.Interpose(func(root *os.Root, _ durable.Step) error {
		if !strings.HasPrefix(root.Name(), c.w.Dir()) {
			return nil
		}
		if n--; n >= 0 {
			return nil
		}
		died = true
		return errDead
	})
	return func() bool {
		restore()
		return died
	}
}

// again returns a computer with a copy of the disk of c, and a store with a copy of the objects.
func (w *world) again(t testing.TB, store bucket.Store) *world {
	ctx := t.Context()
	memory := &bucket.Memory{}
	for _, o := range must(store.List(ctx, bucket.ListOptions{})) {
		if err := memory.Put(ctx, o.Name, must(store.Get(ctx, o.Name))); err != nil {
			t.Fatal(err)
		}
	}
	n := &world{t: t, random: w.random, net: faults.NewNetwork(memory, 1, faults.Rates{}), key: w.key, seeds: w.seeds,
		texts: w.texts, gone: w.gone, titles: w.titles, labels: w.labels, owners: w.owners, kin: w.kin, places: w.places, attached: w.attached, dir: w.dir, baseEvery: 1 << 30}
	for _, c := range w.list {
		dir := filepath.Join(t.TempDir(), c.name)
		if err := os.CopyFS(dir, os.DirFS(c.w.Dir())); err != nil {
			t.Fatal(err)
		}
		n.join(c.name, dir)
	}
	return n
}

// TestCrash: a process that dies before any step on the disk or any request leaves a workspace and a
// remote that the next exchange completes: nothing is lost, sent twice with another content, or
// removed.
func TestCrash(t *testing.T) {
	store := &bucket.Memory{}
	w := newWorld(t, 1, 0, faults.Rates{})
	w.net = faults.NewNetwork(store, 1, faults.Rates{})
	a, b := w.join("laptop", t.TempDir()), w.join("desktop", t.TempDir())
	w.prepare(a, b)
	for _, verb := range []string{"push", "pull", "sync"} {
		t.Run(verb, func(t *testing.T) {
			steps := w.again(t, store).countSteps(verb)
			for n := range steps.disk {
				if sampled(n, steps.disk) {
					w.again(t, store).crash(verb, n, -1)
				}
			}
			for n := range steps.requests {
				if sampled(n, steps.requests) {
					w.again(t, store).crash(verb, 1<<30, n)
				}
			}
			t.Logf("%d steps on the disk, %d requests", steps.disk, steps.requests)
		})
	}
}

// sampled reports whether step n of all is tried: of each of as many equal parts as the size of the
// tests says, the one in the middle.
func sampled(n, all int) bool {
	part := max(1, all/min(all, testsize.Of(1, 1, 24**more)))
	return n%part == part/2
}

// prepare has two computers do different things, that are not exchanged yet.
func (w *world) prepare(a, b *computer) {
	ctx := w.t.Context()
	s := must(a.w.New(ctx, "First"))
	w.titles[s.ID] = []string{"First", "Second", "Third"}
	say := func(c *computer) { w.append(c, must(c.w.Mirror().Facts(ctx, noKnown)).Sessions[0], "") }
	say(a)
	say(a)
	must(a.w.Bookmark(ctx, s.ID+"@last", "here", workspace.BookmarkOptions{}))
	for _, c := range []*computer{a, b, a} {
		must(c.sync())
	}
	for i, c := range []*computer{a, b} {
		say(c)
		must(c.w.Rename(ctx, s.ID, []string{"Second", "Third"}[i]))
		must(c.w.Checkpoint(ctx, s.ID, workspace.SnapshotOptions{}))
		must(c.w.Bookmark(ctx, s.ID+"@first", "x", workspace.BookmarkOptions{}))
		must(c.w.Agent("ada").Create(ctx, agents.Options{Model: "echo"}))
		big := must(c.w.New(ctx, fmt.Sprint("Big ", i)))
		w.titles[big.ID] = []string{big.Title}
		must(c.w.Append(ctx, workspace.Append{Session: big.ID, Text: strings.Repeat(c.name, 10000)}))
	}
	must(a.w.RemoveBookmark(ctx, "here"))
	must(a.sync())
}

func (c *computer) sync() (*remote.Result, error) {
	r := c.remote()
	defer r.Close()
	return r.Sync(c.t.Context(), remote.PullOptions{})
}

func (c *computer) do(verb string) error {
	r := c.remote()
	defer r.Close()
	var err error
	switch verb {
	case "push":
		_, err = r.Push(c.t.Context(), remote.PushOptions{})
	case "pull":
		_, err = r.Pull(c.t.Context(), remote.PullOptions{})
	case "sync":
		_, err = r.Sync(c.t.Context(), remote.PullOptions{})
	}
	return err
}

type steps struct{ disk, requests int }

// countSteps returns how many steps a verb makes on the second computer.
func (w *world) countSteps(verb string) (n steps) {
	c := w.list[1]
	client := &counting{Store: w.net.Client()}
	c.opts.OpenStore = func(context.Context, string) (bucket.Store, error) { return client, nil }
	restore := durable.Interpose(func(root *os.Root, _ durable.Step) error {
		if strings.HasPrefix(root.Name(), c.w.Dir()) {
			n.disk++
		}
		return nil
	})
	defer restore()
	if err := c.do(verb); err != nil {
		w.fail("%v", err)
	}
	n.requests = client.n
	return n
}

type counting struct {
	bucket.Store
	n int
}

func (c *counting) Put(ctx context.Context, name string, data []byte) error {
	c.n++
	return c.Store.Put(ctx, name, data)
}

// crash has the second computer do a verb and die, at a step on the disk or in a request, and then has
// both computers settle.
func (w *world) crash(verb string, disk, request int) {
	c := w.list[1]
	client := w.restart(c)
	if request >= 0 {
		client.CrashAfter(request)
	}
	w.note(c, "%s dies at step %d, request %d", verb, disk, request)
	end := c.dieAfter(disk)
	err := c.do(verb)
	died := end()
	w.note(c, "%s dies at step %d, request %d: %v", verb, disk, request, err)
	if died && err == nil && verb != "push" {
		w.note(c, "it did not matter")
	}
	w.settle()
}

func (c *counting) Get(ctx context.Context, name string) ([]byte, error) {
	c.n++
	return c.Store.Get(ctx, name)
}

func (c *counting) List(ctx context.Context, o bucket.ListOptions) ([]bucket.Object, error) {
	c.n++
	return c.Store.List(ctx, o)
}

// TestPurgeCrash: a process that dies before any step of a purge leaves no pack of the session in the
// store, after the next sync and purge.
func TestPurgeCrash(t *testing.T) {
	ctx := t.Context()
	tried := 0
	for n, died := 0, true; died; n += testsize.Of(9, 5, 1) {
		store := &bucket.Memory{}
		a := computers(t, store, "laptop")[0]
		s := must(a.w.New(ctx, "Purged"))
		must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: strings.Repeat("purged ", 20_000)}))
		a.push()
		was := names(t, store)
		if len(was) != 3 || !strings.HasPrefix(was[2], "p/") {
			t.Fatalf("the store has %v, and not a record and a pack", was)
		}
		r := a.remote()
		end := a.dieAfter(n)
		_, err := r.Purge(ctx, s.ID)
		died = end()
		r.Close()
		if !died && err != nil {
			t.Fatal(err)
		}
		must(a.sync())
		other := must(a.w.New(ctx, "Other"))
		must(a.w.Append(ctx, workspace.Append{Session: other.ID, Text: "kept"}))
		a.push()
		r = a.remote()
		got := must(r.Purge(ctx, s.ID))
		r.Close()
		if len(got.Holders) > 0 || slices.Contains(names(t, store), was[2]) {
			t.Errorf("after a crash before step %d: holders %v, objects %v", n, got.Holders, names(t, store))
		}
		tried++
	}
	t.Logf("%d steps", tried)
}
