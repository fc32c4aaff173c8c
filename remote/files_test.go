package remote_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
)

func withFiles() *bool { yes := true; return &yes }

// filed returns a computer with a conversation and a state of its folder for the first message.
func filed(t testing.TB, store bucket.Store) (a, b *computer, dir, session string) {
	list := computers(t, store, "laptop", "desktop")
	a, b = list[0], list[1]
	s := must(a.w.New(t.Context(), "First"))
	must(a.w.Append(t.Context(), workspace.Append{Session: s.ID, Text: "one"}))
	dir = t.TempDir()
	put(t, dir, "a.txt", "one\n")
	put(t, dir, "lib/b.txt", "same\n")
	must(a.w.Folder(dir).Snap(t.Context(), s.ID, files.SnapOptions{}))
	return a, b, dir, s.ID
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c *computer) pushFiles() *remote.Result {
	c.t.Helper()
	return must(c.remote().Push(c.t.Context(), remote.PushOptions{Files: withFiles()}))
}

func (c *computer) pullFiles() *remote.Result {
	c.t.Helper()
	return must(c.remote().Pull(c.t.Context(), remote.PullOptions{Files: withFiles()}))
}

// show returns the content of a file of the state at a REF.
func (c *computer) show(ref, name string) string {
	c.t.Helper()
	return string(must(c.w.Folder("").Show(c.t.Context(), ref, name)).Content)
}

func (c *computer) states() []files.State {
	c.t.Helper()
	list, err := c.w.States(c.t.Context(), "")
	if err != nil {
		c.t.Fatal(err)
	}
	return list.States
}

// TestFiles: nothing of files leaves a machine unless that is asked for, and then states are the same on
// the other one, each content is sent once, and nothing comes twice.
func TestFiles(t *testing.T) {
	store := &bucket.Memory{}
	a, b, dir, id := filed(t, store)
	t.Chdir(t.TempDir())
	a.push()
	if r := b.pullFiles(); r.Got.States != 0 {
		t.Errorf("states came: %+v", r)
	}
	if r := a.pushFiles(); r.Sent.States != 1 || r.Sent.Records != 1 {
		t.Errorf("a push with files: %+v", r)
	}
	b.pull()
	if n := len(must(b.w.Mirror().Files(t.Context(), nil)).States); n != 0 {
		t.Errorf("%d states came although they were not asked for", n)
	}
	if r := b.pullFiles(); r.Got.States != 1 || len(r.Left) > 0 {
		t.Errorf("a pull with files: %+v", r)
	}
	if got := b.show(id, "a.txt") + b.show(id, "lib/b.txt"); got != "one\nsame\n" {
		t.Errorf("the state has %q", got)
	}
	if st := b.states(); len(st) != 1 || st[0].Machine != "laptop" || st[0].Dir != dir {
		t.Errorf("the states are %+v", st)
	}

	must(a.w.Append(t.Context(), workspace.Append{Session: id, Text: "two"}))
	put(t, dir, "a.txt", "two\n")
	must(a.w.Folder(dir).Snap(t.Context(), id, files.SnapOptions{}))
	a.pushFiles()
	if r := b.pullFiles(); r.Got.States != 1 {
		t.Errorf("a second state: %+v", r)
	}
	if got := b.show(id, "a.txt") + b.show(id+"~1", "a.txt"); got != "two\none\n" {
		t.Errorf("the states have %q", got)
	}
	for what, r := range map[string]*remote.Result{"pull": b.pullFiles(), "push": b.pushFiles(), "own pull": a.pullFiles(), "own push": a.pushFiles()} {
		if r.Got.States+r.Sent.States > 0 || len(r.Left) > 0 {
			t.Errorf("%s again: %+v", what, r)
		}
	}
	if n := len(a.states()); n != 2 {
		t.Errorf("laptop has %d states", n)
	}
}

// TestFilesCost: what states cost is what changed, in the remote too.
func TestFilesCost(t *testing.T) {
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	t.Chdir(t.TempDir())
	s := must(a.w.New(ctx, "First"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "one"}))
	dir := t.TempDir()
	n, trees := testsize.Of(20, 50, 300), testsize.Of(100, 200, 1000)
	for i := range trees {
		put(t, dir, fmt.Sprintf("d%d/f%d", i/32, i), fmt.Sprintf("file %d\n%s", i, strings.Repeat(fmt.Sprintf("%x ", i*7919), 100)))
	}
	must(a.w.Folder(dir).Snap(ctx, s.ID, files.SnapOptions{}))
	first := a.pushFiles().Sent.Bytes
	for i := range n - 1 {
		put(t, dir, fmt.Sprintf("d%d/f%d", i%trees/32, i%trees), fmt.Sprintf("changed %d", i))
		must(a.w.Folder(dir).Snap(ctx, s.ID, files.SnapOptions{}))
	}
	rest := a.pushFiles()
	t.Logf("a tree of %d files: %d bytes; %d states more with a changed file each: %d bytes, %d each", trees, first, n-1, rest.Sent.Bytes, rest.Sent.Bytes/int64(n-1))
	if rest.Sent.States != n-1 || rest.Sent.Bytes/int64(n-1) > 2000 {
		t.Errorf("%d states take %d bytes", rest.Sent.States, rest.Sent.Bytes)
	}
	r := b.pullFiles()
	t.Logf("the other machine gets %d states with %d requests and %d bytes", r.Got.States, r.Requests, r.Got.Bytes)
	if r.Got.States != n || len(r.Left) > 0 {
		t.Errorf("it gets %+v", r)
	}
}

// TestFilesPartly: a state of which the remote lacks something is reported, not received, and received
// when it is there again; other states are received.
func TestFilesPartly(t *testing.T) {
	store := &bucket.Memory{}
	a, b, dir, id := filed(t, store)
	t.Chdir(t.TempDir())
	a.pushFiles()
	before := must(store.List(t.Context(), bucket.ListOptions{Prefix: "p/"}))
	noise := make([]byte, 200_000)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	put(t, dir, "large", string(noise))
	must(a.w.Append(t.Context(), workspace.Append{Session: id, Text: "two"}))
	must(a.w.Folder(dir).Snap(t.Context(), id, files.SnapOptions{}))
	a.pushFiles()
	after := must(store.List(t.Context(), bucket.ListOptions{Prefix: "p/"}))
	if len(after) != len(before)+1 {
		t.Fatalf("there are %d packs, and were %d", len(after), len(before))
	}
	name := after[slices.IndexFunc(after, func(o bucket.Object) bool { return !slices.Contains(before, o) })].Name
	data := must(store.Get(t.Context(), name))
	for what, stored := range map[string][]byte{"withheld": nil, "damaged": append([]byte("x"), data[1:]...)} {
		if err := store.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if stored != nil {
			if err := store.Put(t.Context(), name, stored); err != nil {
				t.Fatal(err)
			}
		}
		c := b.friend(what)
		r := c.pullFiles()
		if r.Got.States != 1 || len(r.Left) != 1 {
			t.Errorf("%s: %+v", what, r)
		}
		if got := c.show(id+"~1", "a.txt"); got != "one\n" {
			t.Errorf("%s: the other state has %q", what, got)
		}
		if err := store.Delete(t.Context(), name); err != nil && stored != nil {
			t.Fatal(err)
		}
		if err := store.Put(t.Context(), name, data); err != nil {
			t.Fatal(err)
		}
		if r := c.pullFiles(); r.Got.States != 1 || len(r.Left) != 0 {
			t.Errorf("%s before: %+v", what, r)
		}
		if got := c.show(id, "large"); got != string(noise) {
			t.Errorf("%s before: the state has %d bytes", what, len(got))
		}
	}
}

// TestFilesRemoved: a state that was removed here is not received again, unless its conversation is asked
// for.
func TestFilesRemoved(t *testing.T) {
	a, b, _, id := filed(t, &bucket.Memory{})
	a.pushFiles()
	b.pullFiles()
	path := filepath.Join(b.w.Dir(), "states", "states.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.pullFiles(); r.Got.States != 0 {
		t.Errorf("it comes back: %+v", r)
	}
	r := must(b.remote().Pull(t.Context(), remote.PullOptions{Session: id, Files: withFiles()}))
	if r.Got.States != 1 {
		t.Errorf("it does not come back: %+v", r)
	}
}

// TestFilesForgotten: what was deleted permanently is not sent; the rest of its state is.
func TestFilesForgotten(t *testing.T) {
	store := &bucket.Memory{}
	a, b, dir, id := filed(t, store)
	t.Chdir(t.TempDir())
	put(t, dir, "token", "a secret")
	st := must(a.w.Folder(dir).Snap(t.Context(), id, files.SnapOptions{}))
	gone := must(a.w.Folder(dir).Forget(t.Context(), "token", files.ForgetOptions{}))
	a.pushFiles()
	if held := must(a.remote().Holds(gone.Objects)); held {
		t.Error("the remote holds it")
	}
	if r := b.pullFiles(); r.Got.States != 2 || len(r.Left) > 0 {
		t.Fatalf("the pull: %+v", r)
	}
	if got := b.show(st.ID, "a.txt"); got != "one\n" {
		t.Errorf("the state has %q", got)
	}
	if e, err := b.w.Folder("").Show(t.Context(), st.ID, "token"); err == nil {
		t.Errorf("it came: %q", e.Content)
	}
	late := must(a.w.Folder(dir).Forget(t.Context(), "a.txt", files.ForgetOptions{}))
	if held := must(a.remote().Holds(late.Objects)); !held {
		t.Error("it is not said that the remote holds what was sent before")
	}
}

// TestFilesPurge: with a session, the states that belong to it alone leave the store, and so does content
// that no other state needs; the others stay whole.
func TestFilesPurge(t *testing.T) {
	store := &bucket.Memory{}
	a, b, dir, id := filed(t, store)
	t.Chdir(t.TempDir())
	other := must(a.w.New(t.Context(), "Second"))
	must(a.w.Append(t.Context(), workspace.Append{Session: other.ID, Text: "other"}))
	noise := make([]byte, 200_000)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	put(t, dir, "large", string(noise))
	must(a.w.Folder(dir).Snap(t.Context(), id, files.SnapOptions{}))
	if err := os.Remove(filepath.Join(dir, "large")); err != nil {
		t.Fatal(err)
	}
	must(a.w.Folder(dir).Snap(t.Context(), other.ID, files.SnapOptions{}))
	a.pushFiles()
	b.pullFiles()
	b.pushFiles()
	a.pullFiles()
	size := func() (n int64) {
		for _, o := range must(store.List(t.Context(), bucket.ListOptions{})) {
			n += o.Size
		}
		return n
	}
	if n := size(); n < 200_000 {
		t.Fatalf("the store has %d bytes", n)
	}
	if _, err := a.remote().Purge(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, c := range []*computer{b, a} {
			must(c.remote().Sync(t.Context(), remote.PullOptions{Files: withFiles()}))
		}
	}
	must(a.w.Append(t.Context(), workspace.Append{Session: other.ID, Text: "more"}))
	a.pushFiles() // garbage goes with the next record
	if n := size(); n > 100_000 {
		t.Errorf("the store still has %d bytes", n)
	}
	c := b.friend("late")
	if r := c.pullFiles(); r.Got.States != 1 || len(r.Left) > 0 {
		t.Errorf("a newcomer gets %+v", r)
	}
	if got := c.show(other.ID, "a.txt") + c.show(other.ID, "lib/b.txt"); got != "one\nsame\n" {
		t.Errorf("the state that stays has %q", got)
	}
	if n := len(b.states()); n != 3 {
		t.Errorf("desktop has %d states, and keeps 3", n)
	}
}
