package remote_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/sjson"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
)

// many adds files of n sessions to a workspace, as another program would.
func (c *computer) many(n int) {
	c.t.Helper()
	dir := filepath.Join(c.w.Dir(), "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	for i := range n {
		const file = `{"session_id":%q,"created_at":%q,"last_active":%[2]q,"metadata":{"title":"Conversation %[3]d","continued_from":[],"continued_to":[]},` +
			`"messages":[{"id":"m%[3]d","role":"user","content":"Hello %[3]d","timestamp":%[2]q,"metadata":{}}]}`
		text := fmt.Sprintf(file, manyID(i), "2026-05-25T15:32:00.000000+00:00", i)
		if err := os.WriteFile(filepath.Join(dir, manyID(i)+".json"), []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

func manyID(i int) string { return fmt.Sprintf("session_20260525_153200_%08x", i) }

// bytesBelow returns the size of the files below a folder of the remote in a workspace.
func (c *computer) bytesBelow(name string) (n int64) {
	c.t.Helper()
	err := filepath.WalkDir(filepath.Join(c.w.Dir(), ".bough/remotes/home", name), func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += info.Size()
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// TestScale: a message costs the same requests, and the same bytes in the folder of the remote, in a
// small and in a large workspace; and no exchange of it reads the others.
func TestScale(t *testing.T) {
	var grew [2]int64
	for i, n := range []int{510, testsize.Of(550, 600, 3000)} { // from 500 on, the index remembers the folder
		list := computers(t, &bucket.Memory{}, "laptop", "desktop")
		a, b := list[0], list[1]
		a.many(n)
		id := manyID(n / 2)
		say := func() {
			t.Helper()
			must(a.w.Append(t.Context(), workspace.Append{Session: id, Text: "Hello"}))
		}
		say()
		a.push()
		b.pull()
		b.push()
		a.pull()
		for range 3 {
			say()
			a.push()
			b.pull()
		}
		// A session that is unreadable now is noticed only by who reads it.
		for _, c := range list {
			if err := os.WriteFile(filepath.Join(c.w.Dir(), "conversations", manyID(1)+".json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			c.opts.Note = func(s string) { t.Errorf("%s of %d sessions: %s", c.name, n, s) }
		}
		before := a.bytesBelow("joined") + b.bytesBelow("joined")
		for range 3 {
			say()
			if r := a.push(); r.Requests != 1 || r.Sent.Records != 1 {
				t.Errorf("of %d sessions, a message is pushed with %+v", n, r)
			}
			if r := a.push(); r.Requests != 0 {
				t.Errorf("of %d sessions, nothing is pushed with %+v", n, r)
			}
			if r := b.pull(); r.Requests != 3 || len(r.Sessions) != 1 {
				t.Errorf("of %d sessions, a message is pulled with %+v", n, r)
			}
			if r := b.pull(); r.Requests != 3 || len(r.Sessions) != 0 {
				t.Errorf("of %d sessions, nothing is pulled with %+v", n, r)
			}
		}
		grew[i] = a.bytesBelow("joined") + b.bytesBelow("joined") - before
	}
	if grew[0] < 100 || grew[1] > grew[0]*5/4 {
		t.Errorf("three messages add %d bytes in a small workspace and %d in a large one", grew[0], grew[1])
	}
}

var sessions = flag.Int("sessions", 1000, "")

// BenchmarkMessage measures the exchange of a message of one of -sessions.
func BenchmarkMessage(b *testing.B) {
	list := computers(b, &bucket.Memory{}, "laptop", "desktop")
	one, other := list[0], list[1]
	one.many(*sessions)
	say := func() {
		must(one.w.Append(b.Context(), workspace.Append{Session: manyID(*sessions / 2), Text: "Hello"}))
	}
	say()
	for range 3 {
		one.push()
		other.pull()
		other.push()
		one.pull()
	}
	for _, step := range []struct {
		name string
		c    *computer
		does func() *remote.Result
	}{{"push", one, one.push}, {"pull", other, other.pull}} {
		b.Run(step.name, func(b *testing.B) {
			var wrote int64
			for range b.N {
				b.StopTimer()
				say()
				if step.c == other {
					one.push()
				}
				before := step.c.bytesBelow("joined")
				b.StartTimer()
				step.does()
				b.StopTimer()
				wrote += max(0, step.c.bytesBelow("joined")-before)
			}
			b.ReportMetric(float64(wrote)/float64(b.N), "stored-B/op")
		})
		b.Run("nothing to "+step.name, func(b *testing.B) {
			for range b.N {
				step.does()
			}
		})
	}
}

// BenchmarkCatalog measures what a new machine needs for the catalog of -sessions, from the records of a first push. As real
// ones, each session takes some 0.6 kB of a record.
func BenchmarkCatalog(b *testing.B) {
	ctx := b.Context()
	a := computers(b, &bucket.Memory{}, "laptop")[0]
	a.many(*sessions)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range *sessions {
		name := filepath.Join(a.w.Dir(), "conversations", manyID(i)+".json")
		var about []string
		for range 62 {
			about = append(about, fmt.Sprintf("%016x", random.Uint64()))
		}
		text := must(sjson.Set(string(must(os.ReadFile(name))), "metadata.about", strings.Join(about, " ")))
		must(0, os.WriteFile(name, []byte(text), 0o600))
	}
	a.push()
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		c := a.friend("phone")
		b.StartTimer()
		got := must(c.remote().Fetch(ctx))
		b.StopTimer()
		one := must(c.remote().Pull(ctx, remote.PullOptions{Session: manyID(*sessions / 2), Cached: true}))
		if n := len(must(c.remote().Sessions(ctx))); n != *sessions || len(one.Sessions) != 1 {
			b.Fatalf("the catalog has %d sessions, and one of them is %v", n, one.Sessions)
		}
		b.ReportMetric(float64(got.Requests), "requests")
		b.ReportMetric(float64(got.Got.Bytes), "B")
		b.ReportMetric(float64(one.Requests), "requests-for-one")
		b.StartTimer()
	}
}
