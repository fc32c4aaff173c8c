package workspace_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// BenchmarkFlatten measures a checkpoint of 10,000 messages in 12 files, about
// 19 MB: once what must be done, to read the files, flatten them, and write the
// snapshot durably, and once the whole verb, with lock and index. The metric
// x-raw is how many times as long that takes as to read the same files through
// one buffer and to write the same bytes durably: medians of one run, one after
// the other in each iteration.
func BenchmarkFlatten(b *testing.B) {
	files := testchat.Chat{Messages: 10_000, PerFile: 834, Text: 1530}.Files()
	tail := files[len(files)-1].ID
	b.Run("path", func(b *testing.B) {
		s := benchSpace(b, files)
		root, err := os.OpenRoot(s.Dir())
		if err != nil {
			b.Fatal(err)
		}
		defer root.Close()
		folder := session.NewFolder(root)
		s.measure(files, func() string {
			var parts []*session.Session
			for _, f := range files {
				part, err := folder.Read(f.ID)
				if err != nil {
					b.Fatal(err)
				}
				parts = append(parts, part)
			}
			t, err := session.NewTree(parts)
			if err != nil {
				b.Fatal(err)
			}
			d := checkpoint.Flatten(t, t.Newest(0), checkpoint.Spec{ID: "snap", Kind: session.Checkpoint, Source: tail})
			if _, err := folder.Create(d.ID, d.Pieces()); err != nil {
				b.Fatal(err)
			}
			return d.ID
		})
	})
	b.Run("verb", func(b *testing.B) {
		s := benchSpace(b, files)
		if _, err := s.Rename(b.Context(), tail, "Long"); err != nil {
			b.Fatal(err) // and the index is there
		}
		s.measure(files, func() string {
			snap, err := s.Checkpoint(b.Context(), tail, workspace.SnapshotOptions{})
			if err != nil {
				b.Fatal(err)
			}
			return snap.ID
		})
	})
}

func benchSpace(b *testing.B, files []testchat.File) *space {
	s := openSpace(b, b.TempDir(), 0)
	if err := testchat.Write(s.Dir(), files); err != nil {
		b.Fatal(err)
	}
	return s
}

// measure times f, which makes a session, against the raw work.
func (s *space) measure(files []testchat.File, f func() (id string)) {
	b := s.t.(*testing.B)
	var size int64
	for _, f := range files {
		size += int64(len(f.Data))
	}
	b.SetBytes(size)
	buf := make([]byte, 0, size/int64(len(files))*2)
	var raw, flat []time.Duration
	for b.Loop() {
		b.StopTimer()
		start := time.Now()
		s.copyRaw(files, buf)
		raw = append(raw, time.Since(start))
		b.StartTimer()
		start = time.Now()
		id := f()
		flat = append(flat, time.Since(start))
		b.StopTimer()
		info, err := os.Stat(filepath.Join(s.Dir(), session.FileName(id)))
		if err != nil || info.Size() < size*9/10 {
			b.Fatalf("the snapshot has %v of %d bytes: %v", info, size, err)
		}
		if err := os.Remove(filepath.Join(s.Dir(), session.FileName(id))); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(median(flat))/float64(median(raw)), "x-raw")
}

// copyRaw reads files through one buffer and writes one file of their bytes:
// write, fsync, rename, fsync of the folder.
func (s *space) copyRaw(files []testchat.File, buf []byte) {
	check := func(err error) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	dir := filepath.Join(s.Dir(), session.Dir)
	temp, target := filepath.Join(dir, "raw.temp"), filepath.Join(dir, "raw.bytes")
	out, err := os.Create(temp)
	check(err)
	for _, f := range files {
		in, err := os.Open(filepath.Join(dir, f.ID+".json"))
		check(err)
		buf = buf[:cap(buf)]
		n, err := io.ReadFull(in, buf)
		if err != io.ErrUnexpectedEOF {
			s.t.Fatalf("%s does not fit the buffer: %v", f.ID, err)
		}
		check(in.Close())
		_, err = out.Write(buf[:n])
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

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
