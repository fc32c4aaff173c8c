package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
)

// many creates a workspace of n sessions in bough's dialect, in which a command has
// examined every session: conversations of four continuations and five branches
// each. Only the index is flushed to the disk.
func many(b *testing.B, n int) *folder {
	f := newFolder(b)
	for i := range n {
		data := fmt.Sprintf(`{"created_at":"2026-01-01T%02d:%02d:%02d+00:00","metadata":{"message_count":1,%s},"messages":[{"id":"m%d"}]}`,
			i/3600%24, i/60%60, i%60, oneOfMany(i), i)
		f.write(sessionID(i)+".json", data)
	}
	f.save(f.load())
	f.rest()
	f.load().Remember()
	return f
}

// oneOfMany returns the metadata of session i of many.
func oneOfMany(i int) string {
	switch k := i % 10; {
	case k == 0:
		return fmt.Sprintf(`"title":"Conversation %d","continued_from":[],"continued_to":[]`, i)
	case k < 5:
		return fmt.Sprintf(`"continued_from":[%q],"continued_to":[]`, sessionID(i-1))
	default:
		from := sessionID(i - k)
		return fmt.Sprintf(`"title":"Conversation %d (branch %d)","continued_from":[%q],"continued_to":[],"branched_from":%[3]q,"branch_point":"m%[1]d","lineage":[%[3]q],"flattened_snapshot":true,"bough":{"kind":"branch"}`, i-k, k, from)
	}
}

// sessionID returns the id of session i of many.
func sessionID(i int) string {
	return fmt.Sprintf("session_20260101_%06d_%08x", i, uint32(i)*2654435761)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkOpen measures what a command needs of an index of so many sessions: to
// open it and to get the lineage of one session, which has five.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		f := many(b, n)
		id := sessionID(n/20*10 + 4)
		for _, c := range []struct {
			name string
			run  func(*index.Index) bool
		}{
			{"nothing", func(*index.Index) bool { return true }},
			{"lineage", func(x *index.Index) bool { l, err := x.Lineage(id); return err == nil && len(l) == 5 }},
			{"title", func(x *index.Index) bool {
				l, err := x.Titled(fmt.Sprint("Conversation ", n/20*10))
				return err == nil && len(l) == 1
			}},
			{"piece", func(x *index.Index) bool { l, err := x.Containing(id[10:]); return err == nil && len(l) == 1 }},
			{"everything", func(x *index.Index) bool { return len(x.Entries()) == n }},
		} {
			b.Run(fmt.Sprint(n, "/", c.name), func(b *testing.B) {
				for b.Loop() {
					x, err := index.Open(f.root, nil, nil, nil)
					if err != nil || !c.run(x) {
						b.Fatalf("no answer: %v", err)
					}
					x.Close()
				}
			})
		}
	}
}

// BenchmarkAdd measures adding a session with its link to an index of so many
// sessions. The metric x-append is the ratio to the time of adding a line of the
// same length to a file: open, write, fsync, close. x-command is the same for all
// that a command does, with opening the index and caching it, but without the
// session file. x-1000 is the ratio to an index of 1,000 sessions. All are medians
// of one run, measured in turn in each iteration.
func BenchmarkAdd(b *testing.B) {
	var thousand time.Duration
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := adding{f: many(b, n), from: sessionID(n / 20 * 10)}
			for b.Loop() {
				b.StopTimer()
				a.open(b)
				b.StartTimer()
				a.add(b)
				b.StopTimer()
				a.close(b)
				b.StartTimer()
			}
			add, line := median(a.adds), median(a.lines)
			b.ReportMetric(float64(add)/float64(line), "x-append")
			b.ReportMetric(float64(median(a.commands))/float64(line), "x-command")
			if thousand > 0 {
				b.ReportMetric(float64(add)/float64(thousand), "x-1000")
			}
			thousand = add
		})
	}
}

// adding adds sessions that come from another.
type adding struct {
	f                     *folder
	from                  string
	x                     *index.Index
	s                     *session.Session
	st                    session.Stat
	command               time.Duration // the running one
	adds, lines, commands []time.Duration
}

// open begins a command: with the session file.
func (a *adding) open(b *testing.B) {
	id := fmt.Sprintf("session_20260601_000000_%08x", len(a.adds))
	data := []byte(strings.NewReplacer("FROM", a.from, "ID", id).Replace(`{"created_at":"2026-06-01T00:00:00+00:00","metadata":{"title":"Branch ID",` +
		`"continued_from":["FROM"],"continued_to":[],"branched_from":"FROM","branch_point":"m","lineage":["FROM"],"flattened_snapshot":true,"bough":{"kind":"branch"}},"messages":[{"id":"m"}]}`))
	var err error
	if a.s, err = session.Decode(id, data); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if a.x, err = index.Open(a.f.root, nil, nil, nil); err != nil {
		b.Fatal(err)
	}
	a.command = time.Since(start)
	if err := a.x.Change(func() error { return os.WriteFile(a.f.path(id+".json"), data, 0o600) }); err != nil {
		b.Fatal(err)
	}
	a.st = a.f.stat(id)
}

func (a *adding) add(b *testing.B) {
	start := time.Now()
	a.x.Put(a.s.Summary(), a.st)
	if err := a.x.Save(); err != nil {
		b.Fatal(err)
	}
	a.adds = append(a.adds, time.Since(start))
	a.command += time.Since(start)
}

// close ends the command, and adds a line to a file.
func (a *adding) close(b *testing.B) {
	start := time.Now()
	a.x.Remember()
	a.x.Close()
	a.commands = append(a.commands, a.command+time.Since(start))

	line := []byte(strings.Repeat("x", 600) + "\n")
	start = time.Now()
	f, err := os.OpenFile(filepath.Join(a.f.dir, "lines"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.Write(line); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	a.lines = append(a.lines, time.Since(start))
}
