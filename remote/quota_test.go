package remote_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
)

// TestQuota: a session that other machines would refuse is not sent, nor a branch that repeats so much that they would;
// the exchange says so, and sends the others, which they apply.
func TestQuota(t *testing.T) {
	const room = 40_000
	ctx := t.Context()
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	var said []string
	a.opts.Note = func(s string) { said = append(said, s) }
	open := func(c *computer) *remote.Remote {
		r := c.remote()
		t.Cleanup(func() { r.Close() })
		r.SetQuotaLess(1<<30 - room)
		return r
	}
	say := func(title string, bytes int) string {
		s := must(a.w.New(ctx, title))
		must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: strings.Repeat("x", bytes)}))
		return s.ID
	}
	small, half, large := say("Small", 100), say("Half", room/2), say("Large", room)
	if got := must(open(a).Push(ctx, remote.PushOptions{})); got.Sent.Records != 1 {
		t.Errorf("the push: %+v", got)
	}
	branch := must(a.w.Branch(ctx, half, workspace.SnapshotOptions{})).ID
	must(a.w.Append(ctx, workspace.Append{Session: small, Text: "next"}))
	must(open(a).Push(ctx, remote.PushOptions{}))
	must(open(a).Push(ctx, remote.PushOptions{}))
	if len(said) != 2 || !strings.HasPrefix(said[0], large+" is not sent") || !strings.HasPrefix(said[1], branch+" is not sent") {
		t.Errorf("it says %q, and not that %s and %s are not sent", said, large, branch)
	}
	got := must(open(b).Pull(ctx, remote.PullOptions{}))
	slices.Sort(got.Sessions)
	want := []string{small, half}
	slices.Sort(want)
	if len(got.Left)+len(got.Problems) > 0 || !slices.Equal(got.Sessions, want) {
		t.Errorf("another machine: %+v", got)
	}
	if n := b.count(t, small); n != 2 {
		t.Errorf("it has %d messages of the small one", n)
	}
}

func (c *computer) count(t *testing.T, id string) int {
	return len(must(c.w.Mirror().Messages(t.Context(), id)))
}
