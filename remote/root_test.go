package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestAnotherRoot: an exchange that reads finds that a store was emptied, or has another remote with this key or
// another one.
func TestAnotherRoot(t *testing.T) {
	for name, want := range map[string]fault.Code{"nothing": fault.NotFound, "the same key": fault.Refused, "another key": fault.Refused} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop")
			a, b := list[0], list[1]
			must(a.w.New(ctx, "First"))
			for range 2 {
				must(a.sync())
				must(b.sync())
			}
			for _, object := range names(t, store) {
				if err := store.Delete(ctx, object); err != nil {
					t.Fatal(err)
				}
			}
			if name != "nothing" {
				other := computers(t, &bucket.Memory{}, "other")[0]
				key := must(other.remote().Info()).Key
				if name == "the same key" {
					key = must(a.remote().Info()).Key
				}
				other.opts.OpenStore = func(context.Context, string) (bucket.Store, error) { return store, nil }
				must(remote.Add(ctx, other.w, "new", remote.AddOptions{URL: "memory:", Key: key}, other.opts))
				must(must(remote.Open(ctx, other.w, "new", other.opts)).Push(ctx, remote.PushOptions{}))
			}
			must(a.w.New(ctx, "Second"))
			before := len(names(t, store))
			for _, verb := range []func() (*remote.Result, error){
				func() (*remote.Result, error) { return a.remote().Pull(ctx, remote.PullOptions{}) },
				func() (*remote.Result, error) {
					_, err := b.remote().Check(ctx, remote.CheckOptions{})
					return nil, err
				},
			} {
				if _, err := verb(); !errors.Is(err, want) {
					t.Errorf("the error is %v", err)
				}
			}
			if n := len(names(t, store)); n != before {
				t.Errorf("the store had %d objects, and has %d", before, n)
			}
		})
	}
}

// TestAbsentStream: a stream that is deleted whole is reported by check, and by the third pull, on its machine and on others,
// until its machine stores it again with a sync.
func TestAbsentStream(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	s := must(a.w.New(ctx, "First"))
	for range 2 {
		must(a.sync())
		must(b.sync())
	}
	info := must(a.remote().Info())
	for _, object := range names(t, store) {
		if strings.HasPrefix(object, "m/"+string(info.Machine)) {
			if err := store.Delete(ctx, object); err != nil {
				t.Fatal(err)
			}
		}
	}
	must(b.w.New(ctx, "Second"))
	b.push()
	is := func(list []*stream.Problem) bool {
		return len(list) == 1 && list[0].Kind == stream.RolledBack && list[0].Machine == info.Machine
	}
	for _, c := range list {
		for i := range 3 {
			if got := c.pull(); is(got.Problems) != (i == 2) {
				t.Errorf("pull %d of %s: %+v", i, c.name, got)
			}
		}
		if report := must(c.remote().Check(ctx, remote.CheckOptions{})); report.OK || !is(report.Problems) {
			t.Errorf("a check of %s: %+v", c.name, report)
		}
	}
	must(a.sync())
	for _, c := range append(list, a.friend("phone")) {
		if got := c.pull(); len(got.Problems) > 0 || c.name == "phone" && !slices.Contains(got.Sessions, s.ID) {
			t.Errorf("a pull of %s after that: %+v", c.name, got)
		}
		if report := must(c.remote().Check(ctx, remote.CheckOptions{})); !report.OK {
			t.Errorf("a check of %s after that: %+v", c.name, report)
		}
	}
}

// TestCheckBase: a check reads the newest base of each stream, also one that no machine here needs.
func TestCheckBase(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	a := computers(t, store, "laptop")[0]
	root := must(os.OpenRoot(t.TempDir()))
	defer root.Close()
	w := must(must(stream.Open(ctx, store, must(seal.ReadKeyFile(must(a.remote().Info()).Key)).Key)).OpenWriter(root))
	say := func(i int) {
		must(w.Append(stream.Cursors{}, nil, []record.Op{{Do: record.Set, Entity: "x/y", Field: "z", Value: json.RawMessage(fmt.Sprint(i))}}))
		if err := w.Upload(ctx); err != nil {
			t.Fatal(err)
		}
		a.pull()
	}
	say(1)
	if report := must(a.remote().Check(ctx, remote.CheckOptions{})); !report.OK {
		t.Fatalf("before: %+v", report)
	}
	must(w.PutBase(ctx, seal.Base{Content: []byte("garbage")}, func(*seal.Base) error { return nil }))
	say(2)
	report := must(a.remote().Check(ctx, remote.CheckOptions{}))
	if report.OK || len(report.Problems) != 1 || report.Problems[0].Kind != stream.Malformed || !strings.HasSuffix(report.Problems[0].Object, "/base-00000001") {
		t.Errorf("the report is %+v", report)
	}
}

// TestAddTwice: of two processes that add a remote with one name, one does.
func TestAddTwice(t *testing.T) {
	ctx := t.Context()
	w := must(workspace.Open(ctx, t.TempDir(), nil))
	keys := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		o := remote.Options{OpenStore: func(context.Context, string) (bucket.Store, error) { return &bucket.Memory{}, nil }}
		wg.Go(func() {
			_, errs[i] = remote.Add(ctx, w, "home", remote.AddOptions{URL: fmt.Sprint("memory:", i), Key: filepath.Join(keys, fmt.Sprint(i)), OneWriter: true}, o)
		})
	}
	wg.Wait()
	added := 0
	for _, err := range errs {
		if err == nil {
			added++
		} else if !errors.Is(err, fault.Refused) {
			t.Error(err)
		}
	}
	if list := must(remote.List(w)); added != 1 || len(list) != 1 || list[0].Machine == "" {
		t.Errorf("%d were added, and there is %+v", added, list)
	}
}

// TestAbsentRetired: a retired machine of which the store lost the whole stream stores it again, whatever it did before.
func TestAbsentRetired(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	s := must(a.w.New(ctx, "First"))
	for range 2 {
		must(a.sync())
		must(b.sync())
	}
	must(b.remote().Retire(ctx, "laptop"))
	info := must(a.remote().Info())
	for _, object := range names(t, store) {
		if strings.HasPrefix(object, "m/"+string(info.Machine)) {
			if err := store.Delete(ctx, object); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 4 {
		a.pull()
	}
	must(a.sync())
	must(a.sync())
	if got := a.friend("phone").pull(); !slices.Contains(got.Sessions, s.ID) {
		t.Errorf("a new machine gets %+v, without %s", got, s.ID)
	}
}
