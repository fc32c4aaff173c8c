package remote_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace"
)

// TestCatalog: a new machine gets the catalog of many sessions with at most 20 requests, and one of them
// with at most 3 more; from records, and from a base, whose bodies are in packs.
func TestCatalog(t *testing.T) {
	n := testsize.Of(60, 120, *sessions)
	store := &bucket.Memory{}
	a := computers(t, store, "laptop")[0]
	ctx := t.Context()
	a.many(n)
	a.push()
	look := func(name string) {
		t.Helper()
		c := a.friend(name)
		r := must(c.remote().Fetch(ctx))
		list := must(c.remote().Sessions(ctx))
		if r.Requests > 20 || len(list) != n || list[n-1].Title != fmt.Sprint("Conversation ", n-1) || list[n-1].Here {
			t.Errorf("%s: the catalog has %d sessions after %+v", name, len(list), r)
		}
		id := manyID(n / 3)
		got := must(c.remote().Pull(ctx, remote.PullOptions{Session: id}))
		t.Logf("%s: the catalog takes %d requests, and one session %d", name, r.Requests, got.Requests)
		if got.Requests > 3 || !slices.Equal(got.Sessions, []string{id}) {
			t.Errorf("%s: one session with %+v", name, got)
		}
	}
	look("phone")
	r := a.remote()
	defer r.Close()
	r.SetBaseEvery(4)
	for i := range 12 {
		must(a.w.Append(ctx, workspace.Append{Session: manyID(i), Text: "inline text"}))
		must(r.Push(ctx, remote.PushOptions{}))
	}
	if based := slices.DeleteFunc(names(t, store), func(name string) bool { return !strings.Contains(name, "base") }); len(based) == 0 {
		t.Fatal("there is no base")
	} else if data := a.opened(store, based[len(based)-1]); strings.Contains(data, "inline text") {
		t.Errorf("%s has bodies", based)
	}
	look("tablet")
	other := a.friend("desktop")
	other.pull()
	if x, y := a.answers(), other.answers(); x != y {
		t.Error(difference(x, y))
	}
}

// TestOneSession: one session of a catalog takes at most 3 requests, however many machines there are. If its messages have
// been moved since the catalog was read, it says so, and a pull that looks for that gets it.
func TestOneSession(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop", "tablet", "phone", "server")
	a := list[0]
	moved, purged := must(a.w.New(ctx, "Moved")), must(a.w.New(ctx, "Purged"))
	for _, s := range []string{moved.ID, purged.ID} {
		must(a.w.Append(ctx, workspace.Append{Session: s, Text: strings.Repeat("many words ", 10_000)}))
	}
	for range 2 {
		for _, c := range list {
			must(c.w.New(ctx, "Of "+c.name))
			must(c.sync())
		}
	}
	one, late := a.friend("one"), a.friend("late")
	for _, c := range []*computer{one, late} {
		must(c.remote().Fetch(ctx))
	}
	got := must(one.remote().Pull(ctx, remote.PullOptions{Session: moved.ID, Cached: true}))
	if got.Requests > 3 || !slices.Equal(got.Sessions, []string{moved.ID}) {
		t.Errorf("one session with %+v", got)
	}
	must(a.remote().Purge(ctx, purged.ID))
	for range 3 {
		for _, c := range list {
			must(c.sync())
		}
	}
	if left := must(late.remote().Pull(ctx, remote.PullOptions{Session: moved.ID, Cached: true})).Left; len(left) != 1 {
		t.Errorf("of a session whose pack is gone, there is left %+v", left)
	}
	if got := must(late.remote().Pull(ctx, remote.PullOptions{Session: moved.ID})); !slices.Equal(got.Sessions, []string{moved.ID}) {
		t.Errorf("then, %+v", got)
	}
}

// TestFirstPush: much goes in few objects: at most 10 for 100 MB.
func TestFirstPush(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	mb := testsize.Of(1, 2, 20)
	a := computers(t, &bucket.Memory{}, "laptop")[0]
	dir := filepath.Join(a.w.Dir(), "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var total int
	for i := range mb {
		var messages []string
		for j := range 500 {
			words := make([]string, 300)
			for w := range words {
				words[w] = fmt.Sprintf("w%x", random.IntN(3000))
			}
			messages = append(messages, fmt.Sprintf(`{"id":"m%d-%d","role":"user","content":%q,"timestamp":"2026-05-25T15:32:00.000000+00:00","metadata":{}}`, i, j, strings.Join(words, " ")))
		}
		text := fmt.Sprintf(`{"session_id":%q,"created_at":"2026-05-25T15:32:00.000000+00:00","metadata":{"continued_from":[]},"messages":[%s]}`, manyID(i), strings.Join(messages, ","))
		total += len(text)
		if err := os.WriteFile(filepath.Join(dir, manyID(i)+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := a.push()
	if most := int64(2 + total/10_000_000); r.Requests > most {
		t.Errorf("%d bytes with %d requests, and %d are possible", total, r.Requests, most)
	}
	t.Logf("%d bytes: %d requests, %d bytes sent", total, r.Requests, r.Sent.Bytes)
}

// TestPartner: a message costs no more if another machine only pulls, or only pushes.
func TestPartner(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "reader", "writer")
	a, reader, writer := list[0], list[1], list[2]
	ctx := t.Context()
	s := must(a.w.New(ctx, "First"))
	must(writer.w.New(ctx, "Second"))
	a.push()
	writer.push()
	reader.pull()
	a.pull()
	for range 3 {
		must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "Hello"}))
		if r := a.push(); r.Requests != 1 {
			t.Errorf("pushed with %+v", r)
		}
		if r := reader.pull(); r.Requests != 4 || r.Got.Records != 1 { // of two machines, the next record of one, and a list
			t.Errorf("pulled with %+v", r)
		}
		if r := reader.pull(); r.Requests != 3 {
			t.Errorf("nothing is pulled with %+v", r)
		}
	}
}

// TestMarkOfRemoved: a bookmark on a message that no other machine will ever have goes with the message,
// and is reported nowhere.
func TestMarkOfRemoved(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	s := must(a.w.New(ctx, "First"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "one"}))
	for _, c := range []*computer{a, b, a, b} {
		must(c.sync())
	}
	m := must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "never sent"}))
	must(a.w.Bookmark(ctx, s.ID+"@"+m.Message, "x", workspace.BookmarkOptions{}))
	must(a.w.Remove(ctx, s.ID, workspace.RemoveOptions{}))
	must(b.w.Append(ctx, workspace.Append{Session: s.ID, Text: "goes on"}))
	for _, c := range []*computer{a, b, a, b, a} {
		if r := must(c.sync()); len(r.Left) > 0 {
			t.Errorf("%s: left is %+v", c.name, r.Left)
		}
	}
	if x, y := a.answers(), b.answers(); x != y {
		t.Error(difference(x, y))
	}
}

// TestLarge: a message that is larger than a pack travels in one of its own, and one that fits into no
// object stays, and is named.
func TestLarge(t *testing.T) {
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	s := must(a.w.New(ctx, "First"))
	var notes []string
	a.opts.Note = func(s string) { notes = append(notes, s) }
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: strings.Repeat("many megabytes ", testsize.Of(1<<10, 1<<10, 2<<20))}))
	a.push()
	b.pull()
	if x, y := a.answers(), b.answers(); x != y || len(notes) > 0 {
		t.Error(difference(x, y), notes)
	}
	if testsize.Of(true, true, false) {
		return
	}
	random := make([]byte, 60<<20)
	source := rand.NewChaCha8([32]byte{})
	source.Read(random)
	for i := range random {
		random[i] = 'a' + random[i]%64
		if random[i] == 0x7f || random[i] >= 0x80 {
			random[i] = '0' + random[i]%10
		}
	}
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: string(random)}))
	a.push()
	if len(notes) != 1 {
		t.Errorf("the notes are %q", notes)
	}
}

// opened returns the content of an object of the remote.
func (c *computer) opened(store bucket.Store, name string) string {
	c.t.Helper()
	key := must(seal.ReadKeyFile(must(c.remote().Info()).Key)).Key
	return string(must(key.Open(must(store.Get(c.t.Context(), name)), 1<<30)))
}

// TestOneOfIncomplete: one session of a catalog that was read in part, because a pull of it was interrupted, is got by
// reading the rest. Machines are read in the order of their ids, which are random.
func TestOneOfIncomplete(t *testing.T) {
	for range 30 {
		if n, s := incomplete(t); n != nil {
			got, err := n.remote().Pull(t.Context(), remote.PullOptions{Session: s, Cached: true})
			if err != nil || !slices.Equal(got.Sessions, []string{s}) {
				t.Errorf("one session: %+v, %v", got, err)
			}
			return
		}
	}
	t.Fatal("no request that fails leaves a base without all that it has seen")
}

// incomplete returns a new computer that has read the base of another one, with a session, but not all that this has seen.
// It is nil if the machines are read in another order.
func incomplete(t *testing.T) (n *computer, id string) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	s := must(a.w.New(ctx, "First"))
	must(b.w.New(ctx, "Other"))
	a.push()
	must(b.sync())
	a.pull()
	for range 5 {
		must(b.w.New(ctx, "Other"))
		b.push()
	}
	a.pull()
	must(a.w.New(ctx, "Second"))
	a.syncEvery(1) // its base has seen the records of the other machine
	n = a.friend("newcomer")
	for most := 1; most < 50; most++ {
		failing := &failingStore{Store: store}
		failing.left.Store(int64(most))
		n.opts.OpenStore = func(context.Context, string) (bucket.Store, error) { return failing, nil }
		r := n.remote()
		r.SetFetchBytes(500)
		_, err := r.Fetch(ctx)
		known := must(r.HasSession(ctx, s.ID))
		r.Close()
		if known && err != nil {
			n.opts.OpenStore = a.opts.OpenStore
			return n, s.ID
		}
	}
	return nil, ""
}

// A failingStore answers some requests.
type failingStore struct {
	bucket.Store
	left atomic.Int64
}

func (s *failingStore) Get(ctx context.Context, name string) ([]byte, error) {
	if s.left.Add(-1) < 0 {
		return nil, errors.New("the store does not answer")
	}
	return s.Store.Get(ctx, name)
}
