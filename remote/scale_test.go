package remote_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
)

// many writes files of n sessions into a workspace that has none.
func (c *computer) many(n int) {
	c.t.Helper()
	dir := filepath.Join(c.w.Dir(), "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	for i := range n {
		id := manyID(i)
		text := fmt.Sprintf(`{"session_id":%q,"created_at":"2026-05-25T15:32:00.000000+00:00","last_active":"2026-05-25T15:32:00.000000+00:00","metadata":{"title":"Conversation %d","continued_from":[],"continued_to":[]},"messages":[{"id":"m%d","role":"user","content":"Hello %d","timestamp":"2026-05-25T15:32:00.000000+00:00","metadata":{}}]}`, id, i, i, i)
		if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

func manyID(i int) string { return fmt.Sprintf("session_20260525_153200_%08x", i) }

// written counts bytes below a folder that changed, by size and time of files.
func sizesBelow(t testing.TB, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestScaleProbe(t *testing.T) {
	if os.Getenv("SCALE") == "" {
		return
	}
	var n int
	fmt.Sscan(os.Getenv("SCALE"), &n)
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := context.Background()
	timed := func(what string, f func()) {
		at := time.Now()
		f()
		t.Logf("%d: %-30s %v", n, what, time.Since(at).Round(10*time.Microsecond))
	}
	a.many(n)
	last := manyID(n / 2)
	timed("open", func() { must(a.w.Append(ctx, workspace.Append{Session: last, Text: "x"})) })
	timed("first push", func() { t.Logf("%+v", a.push()) })
	timed("nothing", func() { a.push() })
	timed("first pull", func() { r := b.pull(); t.Log(r.Requests, r.Got, len(r.Sessions)) })
	timed("push b", func() { b.push() })
	timed("pull a", func() { a.pull() })
	for i := range 4 {
		timed("append", func() { must(a.w.Append(ctx, workspace.Append{Session: last, Text: fmt.Sprint("y", i)})) })
		timed("push", func() { t.Log(a.push().Requests) })
		timed("pull", func() { r := b.pull(); t.Log(r.Requests, r.Sessions) })
		timed("push nothing", func() { t.Log(b.push().Requests) })
		timed("pull nothing", func() { t.Log(b.pull().Requests) })
	}
	t.Log(sizesBelow(t, filepath.Join(a.w.Dir(), ".bough/remotes")))
	_ = strings.Repeat
	_ = testsize.Full
	_ = remote.Options{}
}
