package workspace_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// Each benchmark reports the time of a verb divided by the time of plain I/O on the same
// bytes, as the metric x-raw: the medians of one run, in which both alternate. The plain
// I/O (raw) reads the bytes that the verb needs through one buffer, and writes the bytes
// that it makes into one file: write, fsync, rename, fsync of the folder. The last result
// of the verb is compared with the chat, message by message.

// chat is the workload: 10,000 messages in 12 files, about 19 MB.
var chat = testchat.Chat{Messages: 10_000, PerFile: 834, Text: 1530}

// BenchmarkCheckpoint measures Workspace.Checkpoint of a line of 12 files: "seen" if all of
// them were validated before, "unseen" if they are read for the first time, without index
// and cache.
func BenchmarkCheckpoint(b *testing.B) {
	files := chat.Files()
	tail := files[len(files)-1].ID
	checkpoint := func(b *testing.B, s *space) string {
		snap, err := s.Checkpoint(b.Context(), tail, workspace.SnapshotOptions{})
		if err != nil {
			b.Fatal(err)
		}
		return snap.ID
	}
	b.Run("seen", func(b *testing.B) {
		s := benchSpace(b, files)
		s.remove(checkpoint(b, s))
		s.measure(b, files, job{verb: func() string { return checkpoint(b, s) }, after: s.remove})
		s.verify(checkpoint(b, s), testchat.All(files))
	})
	b.Run("unseen", func(b *testing.B) {
		s := benchSpace(b, files)
		s.measure(b, files, job{
			before: func() { s.forget() },
			verb:   func() string { return checkpoint(b, s) },
			after:  s.remove,
		})
		s.forget()
		s.verify(checkpoint(b, s), testchat.All(files))
	})
}

// BenchmarkBranch measures Workspace.Branch at message 5,000 of 10,000.
func BenchmarkBranch(b *testing.B) {
	files := chat.Files()
	at := testchat.All(files)[4999].ID
	s := benchSpace(b, files)
	branch := func() string {
		snap, err := s.Branch(b.Context(), files[0].ID+"@"+at, workspace.SnapshotOptions{})
		if err != nil {
			b.Fatal(err)
		}
		return snap.ID
	}
	s.remove(branch())
	s.measure(b, files[:6], job{verb: branch, after: s.remove})
	s.verify(branch(), testchat.All(files)[:5000])
}

// BenchmarkAppend measures Workspace.Append of one message to a full session file: of a
// conversation in one file, and the last file of a line of 12. Raw rewrites that file and
// the index.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name string
		chat testchat.Chat
	}{
		{"file", testchat.Chat{Messages: chat.PerFile, PerFile: chat.PerFile, Text: chat.Text}},
		{"line", chat},
	} {
		b.Run(c.name, func(b *testing.B) {
			files := c.chat.Files()
			s := benchSpace(b, files)
			say := func() string {
				out, err := s.Append(b.Context(), workspace.Append{Session: files[0].ID, Text: "One more."})
				if err != nil {
					b.Fatal(err)
				}
				return out.Session
			}
			say()
			s.measure(b, files[len(files)-1:], job{
				rewrites: true,
				verb:     say,
				raw:      func() { s.copyRaw([]string{session.IndexPath}, "raw.index") },
			})
		})
	}
}

// BenchmarkInPlace measures Workspace.Branch at message 5,000 and Workspace.Append at the end
// of a line of 12 files with 1,000 in-place branches. The metric x-plain is the ratio to the
// same line without branches. The branches are in the last file.
func BenchmarkInPlace(b *testing.B) {
	files := chat.Files()
	all := testchat.All(files)
	branched := slices.Clone(files)
	last := &branched[len(branched)-1]
	last.Data = withBranches(b, last.Data, all, 1000)
	for _, verb := range []string{"branch", "append"} {
		b.Run(verb, func(b *testing.B) {
			plain, many := benchSpace(b, files), benchSpace(b, branched)
			run := func(s *space) (id string) {
				if verb == "append" {
					return s.append(workspace.Append{Session: last.ID, Parent: all[len(all)-1].ID, Text: "One more."}).Session
				}
				return s.branch(files[0].ID + "@" + all[4999].ID).ID
			}
			times := map[*space][]time.Duration{}
			for _, s := range []*space{plain, many} {
				run(s)
			}
			for b.Loop() {
				for _, s := range []*space{plain, many} {
					var id string
					times[s] = append(times[s], timed(func() { id = run(s) }))
					if verb == "branch" {
						s.remove(id)
					}
				}
			}
			if leaves := len(many.branches(last.ID).Leaves); leaves < 1001 {
				b.Fatalf("%d leaves, want 1,001", leaves)
			}
			b.ReportMetric(ratio(times[many], times[plain]), "x-plain")
		})
	}
}

// withBranches adds n messages to a session file, each below another message of the line.
func withBranches(b *testing.B, data []byte, line []testchat.Message, n int) []byte {
	at := bytes.LastIndex(data, []byte("\n  ],\n  \"llm_request_lifecycles\""))
	if at < 0 {
		b.Fatal("the file has no end of messages")
	}
	var added bytes.Buffer
	for i := range n {
		fmt.Fprintf(&added, ",\n"+`    {"role": "user", "content": "Another way %d.", "category": "DIALOG", "id": "branch-%[1]d", `+
			`"timestamp": "2026-05-25T16:00:00", "metadata": {"parent_id": %[2]q, "kind": "user"}}`, i, line[len(line)/n*i].ID)
	}
	return slices.Concat(data[:at], added.Bytes(), data[at:])
}

// BenchmarkLoad measures Workspace.Show of all messages. Raw reads the bytes.
func BenchmarkLoad(b *testing.B) {
	files := chat.Files()
	s := benchSpace(b, files)
	var raw, load []time.Duration
	for b.Loop() {
		raw = append(raw, timed(func() {
			for _, f := range files {
				s.readRaw(session.FileName(f.ID), rawBuffer)
			}
		}))
		load = append(load, timed(func() {
			c, err := s.Show(b.Context(), files[0].ID, session.ReadOptions{})
			if err != nil || len(c.Messages) != 10_000 {
				b.Fatalf("%d messages, %v", len(c.Messages), err)
			}
		}))
	}
	b.ReportMetric(ratio(load, raw), "x-raw")
}

// BenchmarkBranches measures Workspace.Branches of a conversation of 10,000 messages with
// 100 branches. The metric x-parse is its time divided by the time to parse the file:
// "seen" if bough wrote or read the file before, "unseen" without a cache.
func BenchmarkBranches(b *testing.B) {
	file := testchat.Chat{Messages: 10_000, PerFile: 10_000, Text: 1530}.Files()[0]
	for _, name := range []string{"seen", "unseen"} {
		b.Run(name, func(b *testing.B) {
			s := benchSpace(b, []testchat.File{file})
			for i := range 100 {
				s.append(workspace.Append{Session: file.ID, Parent: file.Messages[100*i].ID, Text: "Again."})
			}
			data := []byte(s.read(session.FileName(file.ID)))
			s.forget()                         // the cache of the writer; a reader's is enough
			time.Sleep(100 * time.Millisecond) // recently changed files are not cached
			s.branches(file.ID)
			var parse, ours []time.Duration
			for b.Loop() {
				if name == "unseen" {
					s.forget()
				}
				ours = append(ours, timed(func() {
					found, err := s.Branches(b.Context(), file.ID, workspace.BranchesOptions{})
					if err != nil || len(found.Leaves) != 101 {
						b.Fatalf("%+v, %v", found, err)
					}
				}))
				parse = append(parse, timed(func() {
					if _, err := session.Decode(file.ID, data); err != nil {
						b.Fatal(err)
					}
				}))
			}
			b.ReportMetric(ratio(ours, parse), "x-parse")
		})
	}
}

// rawBuffer is the buffer that raw work reads through.
var rawBuffer = make([]byte, 4<<20)

// verify fails the test unless a session has exactly these messages.
func (s *space) verify(id string, want []testchat.Message) {
	s.t.Helper()
	got := s.session(id).Messages
	if len(got) != len(want) {
		s.t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i, m := range want {
		if !bytes.Equal(got[i].Raw, m.Raw) {
			s.t.Fatalf("message %d is %s, want %s", i, got[i].Raw, m.Raw)
		}
	}
}

// A job is a measured task: a verb that returns the session it wrote, its setup and
// cleanup, and the comparable raw work.
type job struct {
	rewrites bool // existing files, as the raw work does
	before   func()
	verb     func() (id string)
	after    func(id string)
	raw      func()
}

func benchSpace(b *testing.B, files []testchat.File) *space {
	s := openSpace(b, b.TempDir(), 1<<30) // full files accept one more message
	if err := testchat.Write(s.Dir(), files); err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(s.Dir(), session.FileName(f.ID)), old, old); err != nil {
			b.Fatal(err)
		}
	}
	time.Sleep(100 * time.Millisecond) // recently changed files are not cached
	if _, err := s.New(b.Context(), "Another"); err != nil {
		b.Fatal(err) // and creates the index
	}
	return s
}

// measure times a job against the raw work on files.
func (s *space) measure(b *testing.B, files []testchat.File, j job) {
	var names []string
	var size int64
	for _, f := range files {
		names = append(names, session.FileName(f.ID))
		size += int64(len(f.Data))
	}
	b.SetBytes(size)
	var raw, verb []time.Duration
	for b.Loop() {
		raw = append(raw, timed(func() {
			s.copyRaw(names, "raw")
			if j.raw != nil {
				j.raw()
			}
		}))
		if !j.rewrites {
			s.removeRaw()
		}
		if j.before != nil {
			j.before()
		}
		var id string
		verb = append(verb, timed(func() { id = j.verb() }))
		info, err := os.Stat(filepath.Join(s.Dir(), session.FileName(id)))
		if err != nil || info.Size() < size*9/10 {
			b.Fatalf("the session has %v of %d bytes: %v", info, size, err)
		}
		if j.after != nil {
			j.after(id)
		}
	}
	b.ReportMetric(ratio(verb, raw), "x-raw")
}

// remove removes a session as another program does.
func (s *space) remove(id string) {
	for _, name := range []string{session.FileName(id), session.CacheDir + "/sessions/" + id} {
		if err := os.RemoveAll(filepath.Join(s.Dir(), name)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// forget removes the cache and the index.
func (s *space) forget() {
	for _, name := range []string{session.CacheDir, session.IndexPath} {
		if err := os.RemoveAll(filepath.Join(s.Dir(), name)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// copyRaw reads files through one buffer and writes one file of their bytes.
func (s *space) copyRaw(names []string, to string) {
	check := func(err error) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	dir := filepath.Join(s.Dir(), session.Dir)
	temp, target := filepath.Join(dir, to+".temp"), filepath.Join(dir, to)
	out, err := os.Create(temp)
	check(err)
	for _, name := range names {
		_, err = out.Write(s.readRaw(name, rawBuffer))
		check(err)
	}
	check(out.Sync())
	check(out.Close())
	check(os.Rename(temp, target))
	folder, err := os.Open(dir)
	check(err)
	check(folder.Sync())
	check(folder.Close())
}

// removeRaw removes the files of copyRaw outside of the measured time.
func (s *space) removeRaw() {
	for _, name := range []string{"raw", "raw.index"} {
		if err := os.RemoveAll(filepath.Join(s.Dir(), session.Dir, name)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// readRaw reads a file into buf.
func (s *space) readRaw(name string, buf []byte) []byte {
	in, err := os.Open(filepath.Join(s.Dir(), name))
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.Close()
	n, err := io.ReadFull(in, buf)
	if err != io.ErrUnexpectedEOF {
		s.t.Fatal(fmt.Errorf("%s does not fit the buffer: %w", name, err))
	}
	return buf[:n]
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func ratio(a, b []time.Duration) float64 { return float64(median(a)) / float64(median(b)) }

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
