package remote_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
)

// packsIn returns the names of the packs in a store.
func packsIn(t *testing.T, store bucket.Store) (list []string) {
	for _, o := range must(store.List(t.Context(), bucket.ListOptions{Prefix: "p/"})) {
		list = append(list, o.Name)
	}
	return list
}

// dieUploaded has the process die at the first step in the folder of a computer after a pack was uploaded. It returns a
// function that ends this, and reports whether it died.
func (c *computer) dieUploaded(store bucket.Store) (end func() (died bool)) {
	t := c.t.(*testing.T)
	before, died := len(packsIn(t, store)), false
	restore := durable.Interpose(func(root *os.Root, _ durable.Step) error {
		if strings.HasPrefix(root.Name(), c.w.Dir()) && (died || len(packsIn(t, store)) > before) {
			died = true
			return errDead
		}
		return nil
	})
	return func() bool {
		restore()
		return died
	}
}

// TestLostGarbage: a purge finds a pack that nothing names, and names its machine until all machines have seen that it is not
// needed; then it is deleted.
func TestLostGarbage(t *testing.T) {
	small, large := "a secret", strings.Repeat("a secret ", 10_000) // in the record, and in a pack
	for _, c := range []struct {
		name, text string
		lose       func(t *testing.T, store bucket.Store, a, b *computer, secret string)
	}{
		{"a process died when it had uploaded it", small, func(t *testing.T, store bucket.Store, a, _ *computer, _ string) {
			must(a.w.New(t.Context(), "Another"))
			end := a.dieUploaded(store)
			r := a.remote()
			defer r.Close()
			r.SetBaseEvery(1) // a base moves the messages to a pack
			if _, err := r.Sync(t.Context(), remote.PullOptions{}); !end() {
				t.Fatalf("the process did not die: %v", err)
			}
			must(a.sync())
		}},
		{"the rows that say what is garbage were damaged", large, func(t *testing.T, _ bucket.Store, a, _ *computer, secret string) {
			must(a.remote().Purge(t.Context(), secret))
			a.damageRows()
			if got := must(a.sync()); len(got.Problems) > 0 {
				t.Fatalf("with damaged rows: %+v", got)
			}
		}},
		{"its machine became another one", large, func(t *testing.T, _ bucket.Store, a, b *computer, secret string) {
			ctx := t.Context()
			must(a.remote().Purge(ctx, secret)) // which the others have not seen
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(a.w.Dir())); err != nil {
				t.Fatal(err)
			}
			copied := &computer{t: t, opts: a.opts, name: "laptop"}
			copied.w = must(workspace.Open(ctx, dir, &workspace.Options{Settle: -1, Now: clock(), Random: source(50)}))
			must(copied.w.New(ctx, "On the copy"))
			copied.push()
			must(a.w.New(ctx, "On the laptop"))
			former := must(a.remote().Info()).Machine
			if got := must(a.sync()); !got.Renewed {
				t.Fatalf("a machine with a copy: %+v", got)
			}
			must(b.sync())
			must(b.remote().Retire(ctx, string(former))) // the copy is gone
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop")
			a, b := list[0], list[1]
			secret := must(a.w.New(ctx, "Secret"))
			must(a.w.Append(ctx, workspace.Append{Session: secret.ID, Text: c.text}))
			for range 2 {
				must(a.sync())
				must(b.sync())
			}
			c.lose(t, store, a, b, secret.ID)
			lost := packsIn(t, store)
			if len(lost) != 1 {
				t.Fatalf("there are the packs %v", lost)
			}
			if got := must(a.remote().Purge(ctx, secret.ID)); len(got.Holders) == 0 || !slices.Contains(got.Waiting, "desktop") {
				t.Errorf("the pack is there, and the purge says %+v", got)
			}
			for range 3 {
				must(b.sync())
				must(a.sync())
			}
			if got := must(a.remote().Purge(ctx, secret.ID)); len(got.Holders)+len(got.Waiting) != 0 {
				t.Errorf("seen by all: %+v", got)
			}
			if left := packsIn(t, store); slices.Contains(left, lost[0]) {
				t.Errorf("the pack is still there: %v", left)
			}
			a.lacks(store, "a secret")
			if report := must(a.friend("phone").remote().Check(ctx, remote.CheckOptions{ReadData: true})); !report.OK {
				t.Errorf("a newcomer finds %+v", report)
			}
		})
	}
}

// damageRows has what the workspace of a computer has read of the remote damaged.
func (c *computer) damageRows() {
	c.t.Helper()
	name := filepath.Join(c.w.Dir(), ".bough/remotes/home/joined/files.json")
	if err := os.WriteFile(name, []byte("damaged"), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// TestTwinGarbage: a copy of a workspace whose disk was copied while a base was made deletes no pack that this base names,
// whether it still takes itself for that machine or has become another one.
func TestTwinGarbage(t *testing.T) {
	for _, renewed := range []bool{false, true} {
		t.Run(map[bool]string{false: "one machine", true: "another machine"}[renewed], func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop")
			a, b := list[0], list[1]
			s := must(a.w.New(ctx, "Kept"))
			must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "a text"}))
			for range 2 {
				must(a.sync())
				must(b.sync())
			}
			must(b.w.New(ctx, "Another")) // which says what it has seen
			must(b.sync())
			must(a.sync())
			dir := filepath.Join(t.TempDir(), "twin")
			before, copied := len(packsIn(t, store)), false
			restore := durable.Interpose(func(root *os.Root, _ durable.Step) error {
				if strings.HasPrefix(root.Name(), a.w.Dir()) && !copied && len(packsIn(t, store)) > before {
					copied = true
					return os.CopyFS(dir, os.DirFS(a.w.Dir()))
				}
				return nil
			})
			a.syncEvery(1)
			restore()
			if !copied {
				t.Fatal("no pack was uploaded")
			}
			twin := &computer{t: t, opts: a.opts, name: "laptop"}
			twin.w = must(workspace.Open(ctx, dir, &workspace.Options{Settle: -1, Now: clock(), Random: source(50)}))
			twin.syncEvery(1)
			if renewed {
				must(a.w.New(ctx, "On the laptop"))
				must(a.sync())
				must(twin.w.New(ctx, "On the twin"))
				if got := must(twin.sync()); !got.Renewed {
					t.Fatalf("the twin: %+v", got)
				}
			}
			for range 3 {
				if renewed { // and they say what they have seen
					must(a.w.New(ctx, "One more"))
					must(a.sync())
				}
				must(b.w.New(ctx, "One more"))
				must(b.sync())
				twin.syncEvery(1)
			}
			n := a.friend("newcomer")
			if report := must(n.remote().Check(ctx, remote.CheckOptions{ReadData: true})); !report.OK {
				t.Errorf("a newcomer finds %+v", report)
			}
			n.pull()
			if ms := must(n.w.Mirror().Messages(ctx, s.ID)); len(ms) != 1 {
				t.Errorf("a newcomer gets %v", ms)
			}
		})
	}
}

// An unlistedStore does not list bases while hide is set.
type unlistedStore struct {
	bucket.Store
	hide bool
}

func (s *unlistedStore) List(ctx context.Context, o bucket.ListOptions) ([]bucket.Object, error) {
	list, err := s.Store.List(ctx, o)
	return slices.DeleteFunc(list, func(o bucket.Object) bool { return s.hide && strings.Contains(o.Name, "/base-") }), err
}

// TestUnlistedBase: the rows of a machine were damaged, and no listing shows the base that replaces its records. It reports
// that and sends nothing, until a listing shows the base.
func TestUnlistedBase(t *testing.T) {
	ctx := t.Context()
	store := &unlistedStore{Store: &bucket.Memory{}}
	a := computers(t, store, "laptop")[0]
	s := must(a.w.New(ctx, "First"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "a text"}))
	a.syncEvery(1)
	if has := names(t, store); slices.ContainsFunc(has, func(name string) bool { return strings.HasSuffix(name, "/00000001") }) {
		t.Fatalf("the records are there: %s", has)
	}
	must(a.w.New(ctx, "Second"))
	a.damageRows()
	store.hide = true
	before := names(t, store)
	for range 2 {
		_, sync := a.sync()
		_, push := a.remote().Push(ctx, remote.PushOptions{})
		for _, err := range []error{sync, push} {
			if err == nil || err.Error() != "not all of the remote could be read" {
				t.Errorf("if nothing shows the own records: %v", err)
			}
		}
	}
	if after := names(t, store); !slices.Equal(after, before) {
		t.Errorf("the store has %s, before %s", after, before)
	}
	store.hide = false
	must(a.sync())
	n := a.friend("newcomer")
	n.pull()
	if x, y := a.answers(), n.answers(); x != y {
		t.Error(difference(x, y))
	}
}
