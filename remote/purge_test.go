package remote_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/mirror"
)

// TestPurgeEnds: a purge ends when the other machines have seen it, although the machine that purged writes nothing
// more, and names those that have not.
func TestPurgeEnds(t *testing.T) {
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop", "old")
	a, b, old := list[0], list[1], list[2]
	ctx := t.Context()
	secret := must(a.w.New(ctx, "Secret"))
	must(a.w.Append(ctx, workspace.Append{Session: secret.ID, Text: "a secret"}))
	for range 2 {
		for _, c := range list {
			must(c.sync())
		}
	}
	got := must(a.remote().Purge(ctx, secret.ID))
	if !slices.Equal(got.Waiting, []string{"desktop", "old"}) || !slices.Equal(got.Holders, []string{"laptop"}) {
		t.Errorf("purged: %+v", got)
	}
	for range 2 {
		must(b.sync()) // the second one says that the first one read it
	}
	must(a.sync())
	if got = must(a.remote().Purge(ctx, secret.ID)); !slices.Equal(got.Waiting, []string{"old"}) || !slices.Equal(got.Holders, []string{"laptop"}) {
		t.Errorf("seen by the desktop: %+v", got)
	}
	before := a.remote()
	if got := must(before.Push(ctx, remote.PushOptions{})); got.Requests != 0 {
		t.Errorf("while the purge waits, a push of nothing makes %d requests", got.Requests)
	}
	for range 2 {
		must(old.sync())
	}
	must(a.sync())
	if got = must(a.remote().Purge(ctx, secret.ID)); len(got.Waiting)+len(got.Holders) != 0 {
		t.Errorf("seen by all: %+v", got)
	}
	a.lacks(store, "Secret", "a secret")
	if report := must(a.friend("phone").remote().Check(ctx, remote.CheckOptions{})); !report.OK {
		t.Errorf("after the purge there is %+v", report)
	}
}

// TestPurgeNewer: an operation that is not valid does not delay a purge. One of a newer version does, and the
// machine that wrote it is named, until it is retired.
func TestPurgeNewer(t *testing.T) {
	for _, c := range []struct {
		op    record.Op
		newer bool
	}{
		{record.Op{Do: record.Set, Entity: "machine/" + strings.Repeat("ab", 16), Field: "name", Value: json.RawMessage(`"x"`)}, false},
		{record.Op{Do: "merge", Entity: "x/y"}, true},
	} {
		store := &bucket.Memory{}
		list := computers(t, store, "laptop", "desktop")
		a, b := list[0], list[1]
		ctx := t.Context()
		secret := must(a.w.New(ctx, "Secret"))
		must(a.sync())
		root := must(os.OpenRoot(t.TempDir()))
		w := must(must(stream.Open(ctx, store, must(seal.ReadKeyFile(must(a.remote().Info()).Key)).Key)).OpenWriter(root))
		must(w.Append(stream.Cursors{}, nil, []record.Op{c.op}))
		if err := errors.Join(w.Upload(ctx), root.Close()); err != nil {
			t.Fatal(err)
		}
		must(b.sync())
		must(a.sync())
		must(a.remote().Purge(ctx, secret.ID))
		purge := func(newer bool) {
			for range 3 {
				must(b.sync())
				must(a.sync())
			}
			got, report := must(a.remote().Purge(ctx, secret.ID)), must(a.remote().Check(ctx, remote.CheckOptions{}))
			if (len(got.Newer) == 1) != newer || !slices.Equal(got.Newer, report.Newer) {
				t.Errorf("with %+v: %+v, and the check reports %+v", c.op, got, report)
			}
			if held := newer || len(got.Waiting) > 0; (len(got.Holders) > 0) != held {
				t.Errorf("with %+v, it is held by %v, waits for %v", c.op, got.Holders, got.Waiting)
			}
		}
		purge(c.newer)
		must(a.remote().Retire(ctx, string(w.Machine())))
		purge(false)
		a.lacks(store, "Secret")
	}
}

// TestPurgeRemoved: a purge does not bring back a session that was removed, whose messages were in a pack with those of the
// purged one; and if another machine continued it meanwhile, it is whole.
func TestPurgeRemoved(t *testing.T) {
	for _, continued := range []bool{false, true} {
		ctx := t.Context()
		store := &bucket.Memory{}
		list := computers(t, store, "laptop", "desktop")
		a, b := list[0], list[1]
		secret, removed := must(a.w.New(ctx, "Secret")), must(a.w.New(ctx, "Removed"))
		for _, s := range []string{secret.ID, removed.ID} {
			must(a.w.Append(ctx, workspace.Append{Session: s, Text: strings.Repeat(s, 2000)}))
		}
		for range 2 {
			must(a.sync())
			must(b.sync())
		}
		if continued {
			must(b.w.Append(ctx, workspace.Append{Session: removed.ID, Text: "more"}))
		}
		must(a.w.Remove(ctx, removed.ID, workspace.RemoveOptions{}))
		must(a.sync())
		must(a.remote().Purge(ctx, secret.ID))
		for range 4 {
			must(b.sync())
			must(a.sync())
		}
		if got := must(a.remote().Purge(ctx, secret.ID)); len(got.Holders) > 0 {
			t.Errorf("continued %v: the holders are %v", continued, got.Holders)
		}
		for _, c := range []*computer{a, b} {
			has := slices.ContainsFunc(must(c.w.Mirror().Facts(ctx, noKnown)).Sessions, func(s mirror.Session) bool { return s.ID == removed.ID })
			if has != continued {
				t.Errorf("continued %v: %s has it: %v", continued, c.name, has)
			}
		}
		n := a.friend("phone")
		n.pull()
		if ms, err := n.w.Mirror().Messages(ctx, removed.ID); continued && (err != nil || len(ms) != 2) || !continued && err == nil {
			t.Errorf("continued %v: a new machine has %d messages, %v", continued, len(ms), err)
		}
	}
}
