package remote_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
)

// TestRestored: a workspace that was restored from a backup sends records with numbers that it had used after the
// backup, and whose records it had deleted as garbage. The store takes them, and nobody reads them; so it becomes
// another machine and sends their content again, whatever it does next.
func TestRestored(t *testing.T) {
	for _, c := range []struct {
		name string
		next func(*testing.T, *computer)
	}{
		{"pull", func(_ *testing.T, c *computer) { c.pull(); c.push() }},
		{"sync", func(t *testing.T, c *computer) { c.syncEvery(100) }},
		{"garbage", func(t *testing.T, c *computer) {
			r := c.remote()
			defer r.Close()
			r.SetBaseEvery(1)
			must(c.w.New(t.Context(), "Another"))
			if got := must(r.Push(t.Context(), remote.PushOptions{})); !got.Renewed {
				t.Errorf("a push that collects garbage: %+v", got)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop")
			a, b := list[0], list[1]
			s := must(a.w.New(ctx, "Trip"))
			say := func(c *computer, text string) {
				must(c.w.Append(ctx, workspace.Append{Session: s.ID, Text: text}))
			}
			say(a, "before")
			a.push()
			b.pull()
			b.push()
			a.pull()
			backup := filepath.Join(t.TempDir(), "backup")
			if err := os.CopyFS(backup, os.DirFS(a.w.Dir())); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"one", "two", "three"} {
				say(a, text)
				a.syncEvery(2)
				b.syncEvery(100)
			}
			must(b.w.New(ctx, "Another")) // b says what it has seen
			b.syncEvery(100)
			say(a, "four")
			a.syncEvery(1)
			before := names(t, store)
			restored := &computer{t: t, opts: a.opts, name: "laptop"}
			restored.w = must(workspace.Open(ctx, backup, &workspace.Options{Settle: -1, Now: clock(), Random: source(50)}))
			say(restored, "after the backup")
			if got := restored.push(); got.Sent.Records != 1 || got.Renewed {
				t.Fatalf("the store has %s, and the push: %+v", before, got)
			}
			c.next(t, restored)
			b.pull()
			if got := b.pull(); len(got.Problems) > 0 {
				t.Errorf("another machine: %+v", got)
			}
			for _, c := range []*computer{b, restored} {
				if c == restored {
					c.pull()
				}
				var texts []string
				for _, m := range must(c.w.Mirror().Messages(ctx, s.ID)) {
					texts = append(texts, textOf(m))
				}
				slices.Sort(texts)
				if want := []string{"after the backup", "before", "four", "one", "three", "two"}; !slices.Equal(texts, want) {
					t.Errorf("%s has %q", c.name, texts)
				}
			}
			if report := must(b.remote().Check(ctx, remote.CheckOptions{})); !report.OK {
				t.Errorf("the check finds %+v", report)
			}
		})
	}
}

// syncEvery syncs with a base after so many records.
func (c *computer) syncEvery(n uint64) {
	c.t.Helper()
	r := c.remote()
	defer r.Close()
	r.SetBaseEvery(n)
	if _, err := r.Sync(c.t.Context(), remote.PullOptions{}); err != nil {
		c.t.Fatal(err)
	}
}
