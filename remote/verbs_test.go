package remote_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
)

// names returns the names of all objects of a store.
func names(t *testing.T, store bucket.Store) (list []string) {
	t.Helper()
	for _, o := range must(store.List(t.Context(), bucket.ListOptions{})) {
		list = append(list, o.Name)
	}
	return list
}

// TestWrongKey: with another key nothing is written, by Add or by a verb after it.
func TestWrongKey(t *testing.T) {
	store := &bucket.Memory{}
	a := computers(t, store, "laptop")[0]
	s := must(a.w.New(t.Context(), "First"))
	a.push()
	before := names(t, store)
	other := filepath.Join(t.TempDir(), "other")
	must(seal.OpenKeyFile(other))
	w := must(workspace.Open(t.Context(), t.TempDir(), nil))
	_, err := remote.Add(t.Context(), w, "home", remote.AddOptions{URL: "memory:", Key: other}, a.opts)
	if !errors.Is(err, fault.Refused) || !errors.Is(err, seal.ErrKey) {
		t.Errorf("adding it with another key: %v", err)
	}
	if list, err := remote.List(w); err != nil || len(list) > 0 {
		t.Errorf("after that there is %v, %v", list, err)
	}
	_, err = remote.Add(t.Context(), w, "home", remote.AddOptions{URL: "memory:", Key: other + ".absent"}, a.opts)
	if !errors.Is(err, fault.NotFound) {
		t.Errorf("adding it without its key: %v", err)
	}
	if _, err := os.Stat(other + ".absent"); err == nil {
		t.Error("a key was made although the remote has one")
	}

	info := must(a.remote().Info())
	if err := os.WriteFile(info.Key, must(os.ReadFile(other)), 0o600); err != nil {
		t.Fatal(err)
	}
	must(a.w.Append(t.Context(), workspace.Append{Session: s.ID, Text: "Hello"}))
	if _, err := a.sync(); !errors.Is(err, fault.Refused) {
		t.Errorf("a sync with another key: %v", err)
	}
	if after := names(t, store); !slices.Equal(before, after) {
		t.Errorf("there was %v, and is %v", before, after)
	}
}

// TestRefused: what cannot be a remote is refused and leaves nothing.
func TestRefused(t *testing.T) {
	w := must(workspace.Open(t.Context(), t.TempDir(), nil))
	key := filepath.Join(t.TempDir(), "key")
	for _, c := range []struct {
		name, url string
		code      fault.Code
	}{
		{"../x", "file:///tmp", fault.Usage},
		{"", "file:///tmp", fault.Usage},
		{"home", "/tmp", fault.Usage},
		{"home", "file://host/tmp", fault.Usage},
		{"home", "s3://bucket", fault.Usage},
		{"home", "https://user:password@host/bucket", fault.Usage},
		{"home", "file://" + filepath.ToSlash(filepath.Join(t.TempDir(), "absent")), fault.NotFound},
	} {
		_, err := remote.Add(t.Context(), w, c.name, remote.AddOptions{URL: c.url, Key: key}, remote.Options{})
		if !errors.Is(err, c.code) || strings.Contains(err.Error(), "user:password") {
			t.Errorf("%q %s: %v", c.name, c.url, err)
		}
	}
	if _, err := os.Stat(key); err == nil {
		t.Error("a key was made")
	}
	_, err := remote.Add(t.Context(), w, "home", remote.AddOptions{URL: "file:///tmp", Key: filepath.Join(w.Dir(), "key")}, remote.Options{})
	if !errors.Is(err, fault.Refused) {
		t.Errorf("a key in the workspace: %v", err)
	}
	if _, err := remote.Open(t.Context(), w, "home", remote.Options{}); !errors.Is(err, fault.NotFound) {
		t.Errorf("a remote that is not there: %v", err)
	}
}

// TestDryRun: a dry run says what would be done, and changes nothing.
func TestDryRun(t *testing.T) {
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	s := must(a.w.New(t.Context(), "First"))
	must(a.w.Append(t.Context(), workspace.Append{Session: s.ID, Text: strings.Repeat("a long text ", 10000)}))
	dry := must(a.remote().Push(t.Context(), remote.PushOptions{DryRun: true}))
	if dry.Sent.Records != 1 || dry.Sent.Bytes < 100_000 || !dry.DryRun || len(names(t, store)) != 1 {
		t.Errorf("a dry push is %+v and leaves %v", dry, names(t, store))
	}
	a.push()
	before := b.answers()
	dry = must(b.remote().Sync(t.Context(), remote.PullOptions{DryRun: true}))
	if dry.Got.Records != 1 || !slices.Equal(dry.Sessions, []string{s.ID}) || b.answers() != before {
		t.Errorf("a dry sync is %+v", dry)
	}
	if got := b.pull(); got.Got.Records != 1 || !slices.Equal(got.Sessions, []string{s.ID}) {
		t.Errorf("the pull after it is %+v", got)
	}
}

// TestSynced: a copy of a workspace becomes a machine of its own before it writes anything, where the
// store cannot tell.
func TestSynced(t *testing.T) {
	dir := t.TempDir()
	u := (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
	system := []string{"one"}
	o := remote.Options{System: func() ([]string, error) { return system, nil }}
	w := must(workspace.Open(t.Context(), t.TempDir(), nil))
	added := must(remote.Add(t.Context(), w, "home", remote.AddOptions{URL: u, Key: filepath.Join(t.TempDir(), "key"), Synced: true}, o))
	must(w.New(t.Context(), "First"))
	sync := func(w *workspace.Workspace) (*remote.Result, remote.Info) {
		r := must(remote.Open(t.Context(), w, "home", o))
		defer r.Close()
		return must(r.Sync(t.Context(), remote.PullOptions{})), must(r.Info())
	}
	if got, info := sync(w); got.Renewed || info.Machine != added.Machine {
		t.Errorf("without a copy it is another machine: %+v", got)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(w.Dir())); err != nil {
		t.Fatal(err)
	}
	if got, info := sync(must(workspace.Open(t.Context(), copied, nil))); !got.Renewed || info.Machine == added.Machine {
		t.Errorf("a copy is the same machine: %+v", got)
	}
	system = []string{"two", "host"}
	if got, _ := sync(w); !got.Renewed {
		t.Errorf("on another computer it is the same machine: %+v", got)
	}
	system = []string{"three", "two"}
	if got, _ := sync(w); got.Renewed {
		t.Errorf("where an earlier version identified the computer otherwise, it is another machine: %+v", got)
	}
	system = []string{"three", "four"}
	if got, _ := sync(w); got.Renewed {
		t.Errorf("it was not bound to the first identifier: %+v", got)
	}
}

// TestConflicts: both sides of a conflict are kept, and both machines report it.
func TestConflicts(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	s := must(a.w.New(ctx, "First"))
	m := must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "one"}))
	gone := must(a.w.New(ctx, "Removed"))
	for _, c := range []*computer{a, b, a, b} {
		must(c.sync())
	}
	for _, c := range list {
		must(c.w.Append(ctx, workspace.Append{Session: s.ID, Text: "by " + c.name}))
		must(c.w.Rename(ctx, s.ID, c.name))
	}
	must(a.w.Bookmark(ctx, s.ID+"@"+m.Message, "x", workspace.BookmarkOptions{}))
	must(b.w.Bookmark(ctx, s.ID+"@last", "x", workspace.BookmarkOptions{}))
	must(a.w.Remove(ctx, gone.ID, workspace.RemoveOptions{}))
	must(b.w.Append(ctx, workspace.Append{Session: gone.ID, Text: "not gone"}))
	must(a.sync())
	got := must(b.sync())
	var kinds []string
	for _, c := range got.Conflicts {
		kinds = append(kinds, c.Kind)
		if len(c.Kept) == 0 {
			t.Errorf("%+v keeps nothing", c)
		}
	}
	for _, kind := range []string{plan.Appended, plan.Renamed, plan.Labelled, plan.Removed} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("the conflicts %v lack %s", kinds, kind)
		}
	}
	// The machine that removed it reports that too.
	if got = must(a.sync()); !slices.ContainsFunc(got.Conflicts, func(c plan.Conflict) bool { return c.Kind == plan.Removed && c.Session == gone.ID }) {
		t.Errorf("where it was removed, the conflicts are %+v", got.Conflicts)
	}
	if x, y := a.answers(), b.answers(); x != y {
		t.Error(difference(x, y))
	}
}

// TestUndoPull: a pull can be undone, and the next one does it again; it does not undo what others did.
func TestUndoPull(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	s := must(a.w.New(ctx, "First"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "one"}))
	must(a.w.Bookmark(ctx, s.ID+"@last", "x", workspace.BookmarkOptions{}))
	must(a.sync())
	must(b.sync())
	must(b.w.Undo(ctx, history.UndoOptions{}))
	if f := must(b.w.Mirror().Facts(ctx, noKnown)); len(f.Sessions)+len(f.Bookmarks) != 0 {
		t.Errorf("after the undo there is %+v", f)
	}
	for _, c := range []*computer{b, a, b, a} {
		must(c.sync())
	}
	if x, y := a.answers(), b.answers(); x != y {
		t.Error(difference(x, y))
	}
	if f := must(a.w.Mirror().Facts(ctx, noKnown)); len(f.Sessions) != 1 || len(f.Bookmarks) != 1 {
		t.Errorf("the undo of a pull removed something elsewhere: %+v", f)
	}
}

// TestOne: a single session can be pulled, and the others later.
func TestOne(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	one, two := must(a.w.New(ctx, "One")), must(a.w.New(ctx, "Two"))
	must(a.w.Append(ctx, workspace.Append{Session: one.ID, Text: "one"}))
	must(a.w.Append(ctx, workspace.Append{Session: two.ID, Text: "two"}))
	a.push()
	got := must(b.remote().Pull(ctx, remote.PullOptions{Session: two.ID}))
	if !slices.Equal(got.Sessions, []string{two.ID}) {
		t.Errorf("pulled %v", got.Sessions)
	}
	sessions := must(b.remote().Sessions(ctx))
	if len(sessions) != 2 || sessions[0].Here || !sessions[1].Here || sessions[0].Count != 1 {
		t.Errorf("there is %+v", sessions)
	}
	must(a.w.Append(ctx, workspace.Append{Session: one.ID, Text: "more"}))
	a.push()
	b.pull()
	if x, y := a.answers(), b.answers(); x != y {
		t.Error(difference(x, y))
	}
}

// TestCheck: a remote that lost an object is reported, and its other objects are still read.
func TestCheck(t *testing.T) {
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	s := must(a.w.New(ctx, "One"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: strings.Repeat("a long text ", 10000)}))
	a.push()
	must(b.sync())
	if report := must(b.remote().Check(ctx, remote.CheckOptions{})); !report.OK {
		t.Errorf("nothing is wrong, but %+v", report)
	}
	for _, name := range names(t, store) {
		if strings.HasPrefix(name, "p/") || strings.HasPrefix(name, "m/"+string(must(a.remote().Info()).Machine)) {
			if err := store.Delete(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	report := must(b.remote().Check(ctx, remote.CheckOptions{}))
	if report.OK || len(report.Problems) == 0 || len(report.Packs) != 1 {
		t.Errorf("objects are gone, and the report is %+v", report)
	}
	if _, err := b.sync(); err != nil {
		t.Errorf("a sync with what is left: %v", err)
	}
}

// TestCheckReadData: a check that reads all of it finds what an earlier exchange had read and somebody changed since.
func TestCheckReadData(t *testing.T) {
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	s := must(a.w.New(ctx, "One"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: strings.Repeat("a long text ", 10000)}))
	a.push()
	for _, text := range []string{"two", "three"} {
		must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: text}))
		a.push()
	}
	must(b.sync())
	all := remote.CheckOptions{ReadData: true}
	for _, c := range list {
		if report := must(c.remote().Check(ctx, all)); !report.OK || len(report.Machines) != 2 {
			t.Fatalf("nothing is wrong, but %+v", report)
		}
	}
	record := fmt.Sprintf("m/%s/00000002", must(a.remote().Info()).Machine)
	for _, name := range names(t, store) {
		if strings.HasPrefix(name, "p/") {
			must(0, errors.Join(store.Delete(ctx, name), store.Put(ctx, name, []byte("other bytes"))))
		}
	}
	if err := store.Delete(ctx, record); err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if report := must(c.remote().Check(ctx, remote.CheckOptions{})); !report.OK {
			t.Errorf("what was read before is read again: %+v", report)
		}
		report := must(c.remote().Check(ctx, all))
		if len(report.Packs) != 1 || len(report.Problems) == 0 || report.Problems[0].Object != record {
			t.Errorf("the report of %s is %+v", c.name, report)
		}
	}
}

// TestRetire: a machine that does not come back is retired by its name.
func TestRetire(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	must(a.w.New(t.Context(), "One"))
	for _, c := range []*computer{a, b, a} {
		must(c.sync())
	}
	if _, err := a.remote().Retire(t.Context(), "laptop"); !errors.Is(err, fault.Refused) {
		t.Errorf("retiring oneself: %v", err)
	}
	if _, err := a.remote().Retire(t.Context(), "phone"); !errors.Is(err, fault.NotFound) {
		t.Errorf("retiring a machine that is not there: %v", err)
	}
	got := must(a.remote().Retire(t.Context(), "desktop"))
	i := slices.IndexFunc(got.Machines, func(m remote.Machine) bool { return m.Name == "desktop" })
	if i < 0 || !got.Machines[i].Retired || got.Sent.Records != 1 {
		t.Errorf("after retiring there is %+v", got)
	}
	must(b.w.New(t.Context(), "Back"))
	for _, c := range []*computer{b, a} {
		must(c.sync())
	}
	if x, y := a.answers(), b.answers(); x != y {
		t.Error(difference(x, y))
	}
}

// TestPurge: a purged session leaves the store, also what others wrote of it, and stays in the
// workspaces that have it. What was copied from it stays whole.
func TestPurge(t *testing.T) {
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	secret, other := must(a.w.New(ctx, "Secret")), must(a.w.New(ctx, "Other"))
	must(a.w.Append(ctx, workspace.Append{Session: secret.ID, Text: strings.Repeat("a secret ", 10000)}))
	must(a.w.Append(ctx, workspace.Append{Session: other.ID, Text: strings.Repeat("another text ", 1000)}))
	must(a.w.Branch(ctx, secret.ID, workspace.SnapshotOptions{Name: "Copy"}))
	for _, c := range []*computer{a, b} {
		must(c.sync())
	}
	must(b.w.Append(ctx, workspace.Append{Session: secret.ID, Text: "said by the desktop"}))
	for _, c := range []*computer{b, a, b, a} {
		must(c.sync())
	}
	must(a.w.Bookmark(ctx, secret.ID+"@last", "secret place", workspace.BookmarkOptions{}))
	must(a.w.Rename(ctx, secret.ID, "Secret title"))
	must(b.w.Rename(ctx, other.ID, "Another title"))
	for _, c := range []*computer{a, b, a} {
		must(c.sync())
	}
	before := names(t, store)
	got := must(a.remote().Purge(ctx, secret.ID))
	if !slices.Contains(got.Holders, "desktop") {
		t.Errorf("the holders are %v", got.Holders)
	}
	for range 3 {
		must(b.sync())
		must(a.sync())
	}
	if got = must(a.remote().Purge(ctx, secret.ID)); len(got.Holders) != 0 {
		t.Errorf("the holders are %v", got.Holders)
	}
	for _, c := range list {
		c.lacks(store, "Secret", "secret place", "said by the desktop")
	}
	for _, name := range names(t, store) {
		if strings.HasPrefix(name, "p/") && slices.Contains(before, name) {
			t.Errorf("the pack %s is still there", name)
		}
	}
	if x, y := a.answers(), b.answers(); x != y {
		t.Error(difference(x, y))
	}
	if f := must(a.w.Mirror().Facts(ctx, noKnown)); len(f.Bookmarks) != 1 {
		t.Errorf("the workspace has the bookmarks %v", f.Bookmarks)
	}
	c := a.friend("phone")
	must(c.sync())
	f := must(c.w.Mirror().Facts(ctx, noKnown))
	if len(f.Sessions) != 2 {
		t.Errorf("a newcomer gets %+v", f.Sessions)
	}
	if report := must(c.remote().Check(ctx, remote.CheckOptions{})); !report.OK {
		t.Errorf("after the purge there is %+v", report)
	}
}

// TestOthers: explorations, learnings and attachments travel, the last ones also if they are large.
func TestOthers(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	must(a.w.New(ctx, "One"))
	content := []byte(strings.Repeat("an attachment ", 20000))
	sum := sha256.Sum256(content)
	attachment := hex.EncodeToString(sum[:])
	for name, data := range map[string][]byte{
		"files/" + attachment: content,
		"explorations/4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77.json": []byte("{\"id\":\"4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77\", \"n\": 1.50}\n"),
	} {
		path := filepath.Join(a.w.Dir(), filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.w.AppendLearnings(ctx, []byte("{\"a\":1}\n{\"b\":2}\n")); err != nil {
		t.Fatal(err)
	}
	a.push()
	if got := b.pull(); len(got.Left) > 0 {
		t.Errorf("left: %v", got.Left)
	}
	for _, c := range list {
		f := must(c.w.Mirror().Facts(ctx, noKnown))
		if len(f.Explorations) != 1 || len(f.Learnings) != 2 || !slices.Equal(f.Attachments, []string{attachment}) {
			t.Errorf("%s has %s, %s, %s", c.name, f.Explorations, f.Learnings, f.Attachments)
		}
	}
	if got := must(b.w.Mirror().Attachment(ctx, attachment)); !slices.Equal(got, content) {
		t.Error("the attachment has other bytes")
	}
	must(b.sync())
	for _, c := range list {
		if got := must(c.sync()); got.Sent.Records > 0 {
			t.Errorf("%s sends %+v", c.name, got.Sent)
		}
	}
}

// lacks fails if an object of the remote, or the folder of the remote in the workspace, has one of
// the texts.
func (c *computer) lacks(store bucket.Store, texts ...string) {
	c.t.Helper()
	dir := filepath.Join(c.w.Dir(), ".bough/remotes/home")
	key := must(seal.ReadKeyFile(must(c.remote().Info()).Key)).Key
	look := func(where string, data []byte) {
		for _, text := range texts {
			if strings.Contains(string(data), text) {
				c.t.Errorf("%s: %s has %q", c.name, where, text)
			}
		}
	}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			look(name, must(os.ReadFile(name)))
		}
		return err
	})
	if err != nil {
		c.t.Error(err)
	}
	for _, o := range must(store.List(c.t.Context(), bucket.ListOptions{})) {
		if strings.HasPrefix(o.Name, "m/") {
			look(o.Name, must(key.Open(must(store.Get(c.t.Context(), o.Name)), 1<<30)))
		}
	}
}

// TestUndoOfPull: undoing a pull takes back here what it did, until the next one: also that it removed a
// message.
func TestUndoOfPull(t *testing.T) {
	ctx := t.Context()
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	s := must(a.w.New(ctx, "First")).ID
	must(a.w.Append(ctx, workspace.Append{Session: s, Text: "one"}))
	must(a.w.Append(ctx, workspace.Append{Session: s, Text: "two"}))
	must(a.sync())
	must(b.sync())
	must(a.w.Undo(ctx, history.UndoOptions{In: s}))
	must(a.sync())
	state := func(c *computer) (list []string) {
		for _, m := range must(c.w.Mirror().Messages(ctx, s)) {
			list = append(list, textOf(m))
		}
		return list
	}
	before, want := state(b), state(a)
	if slices.Equal(before, want) {
		t.Fatalf("nothing is different: %q", want)
	}
	must(b.sync())
	if got := state(b); !slices.Equal(got, want) {
		t.Errorf("after a pull there is %q, want %q", got, want)
	}
	must(b.w.Undo(ctx, history.UndoOptions{}))
	if got := state(b); !slices.Equal(got, before) {
		t.Errorf("after its undo there is %q, want %q", got, before)
	}
	must(b.sync())
	must(a.sync())
	for _, c := range list {
		if got := state(c); !slices.Equal(got, want) {
			t.Errorf("after the next pull %s has %q, want %q", c.name, got, want)
		}
	}
}

// A fullStore stores nothing more.
type fullStore struct {
	bucket.Store
	full bool
}

func (s *fullStore) Put(ctx context.Context, name string, data []byte) error {
	if s.full {
		return errors.New("the store is full")
	}
	return s.Store.Put(ctx, name, data)
}

// TestSyncWithoutSending: if a sync receives and cannot send, its error comes with what it received, as no
// later one reports the conflicts again.
func TestSyncWithoutSending(t *testing.T) {
	store := &fullStore{Store: &bucket.Memory{}}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	s := must(a.w.New(t.Context(), "Trip"))
	must(a.sync())
	must(b.sync())
	for _, c := range list {
		must(c.w.Rename(t.Context(), s.ID, "Trip of "+c.name))
	}
	a.push()
	store.full = true
	got, err := b.sync()
	if err == nil || got == nil || len(got.Conflicts) != 1 || got.Got.Records != 1 {
		t.Errorf("the sync is %+v, %v", got, err)
	}
	store.full = false
	if got, err = b.sync(); err != nil || len(got.Conflicts) != 0 || got.Sent.Records == 0 {
		t.Errorf("the next one is %+v, %v", got, err)
	}
}
