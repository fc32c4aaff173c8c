package restore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/restore"
)

// BenchmarkApply restores 1,000 files of 4 KiB in 20 directories, and compares that with
// writing these files into new directories and flushing all of them, as many at a time.
func BenchmarkApply(b *testing.B) {
	const dirs, files = 20, 50
	r := rand.New(rand.NewPCG(1, 1))
	random := func() string {
		data := make([]byte, 4096)
		for i := range data {
			data[i] = byte('a' + r.IntN(26))
		}
		return "f644 " + string(data)
	}
	s := &story{target: state{}, last: state{}}
	for i := range dirs {
		dir := fmt.Sprintf("dir%d", i)
		s.target[dir], s.last[dir] = "d755", "d755"
		for j := range files {
			name := fmt.Sprintf("%s/file%d", dir, j)
			s.target[name], s.last[name] = random(), random()
		}
	}
	s.now, s.spans = s.last, [][2]state{{s.target, s.last}}
	p := s.plan(b, restore.Options{})
	var restored, written time.Duration
	for b.Loop() {
		b.StopTimer()
		d := newDesk(b, s.now)
		b.StartTimer()
		start := time.Now()
		d.apply(s.objects, p)
		restored += time.Since(start)
		b.StopTimer()
		start = time.Now()
		writeAll(b, s.target)
		written += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(restored)/float64(written), "x")
	b.ReportMetric(float64(written.Nanoseconds())/float64(b.N), "ns-written/op")
}

// writeAll writes a state into a new folder and flushes it.
func writeAll(b *testing.B, s state) {
	d := newDesk(b, state{})
	var flusher durable.Flusher
	var dirs []string
	for name, has := range s {
		if has[0] == 'd' {
			dirs = append(dirs, name)
			if err := os.Mkdir(filepath.Join(d.dir, name), 0o755); err != nil {
				b.Fatal(err)
			}
		}
	}
	for name, has := range s {
		if has[0] == 'd' {
			continue
		}
		dir, base := path.Split(name)
		at, err := durable.OpenDir(d.folder, path.Clean(dir))
		if err != nil {
			b.Fatal(err)
		}
		f, err := at.Create(base, 0o644, nil, "")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write([]byte(has[len("f644 "):])); err != nil {
			b.Fatal(err)
		}
		flusher.Add(f)
		at.Close()
	}
	if err := flusher.Wait(); err != nil {
		b.Fatal(err)
	}
	if err := durable.SyncDirs(d.folder, append(dirs, ".")); err != nil {
		b.Fatal(err)
	}
}
