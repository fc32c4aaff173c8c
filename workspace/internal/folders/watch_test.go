package folders

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/watch"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// BenchmarkWatch takes states of a folder of 100,000 files in which one file changed, as Watch
// does once it knows the directory: without a repository, and in one that tracks all files. It
// reports the median and the largest of the times in milliseconds, and the median of writing and
// flushing a file and the names in its directory, of which a state needs three halves.
func BenchmarkWatch(b *testing.B) {
	for _, tracked := range []bool{false, true} {
		b.Run(fmt.Sprintf("tracked=%v", tracked), func(b *testing.B) {
			dir, err := filepath.EvalSymlinks(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			for i := range 100_000 {
				sub := filepath.Join(dir, fmt.Sprintf("module%d", i/10_000), fmt.Sprintf("pkg%d", i/100%100), fmt.Sprintf("part%d", i/10%10))
				if i%10 == 0 {
					if err := os.MkdirAll(sub, 0o755); err != nil {
						b.Fatal(err)
					}
				}
				if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("source_%d.go", i)), fmt.Appendf(nil, "package p%d\n", i), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			if tracked {
				for _, args := range [][]string{{"init", "--quiet"}, {"add", "-A"}} {
					if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
						b.Fatalf("git %v: %v, %s", args, err, out)
					}
				}
			}
			w := store.New(b.TempDir(), store.Options{}, store.Recovery{})
			fo := &following{folder: &Folder{Path: dir}}
			if fo.folder, err = Find(b.Context(), w, dir); err != nil {
				b.Fatal(err)
			}
			take := func() time.Duration {
				begin := time.Now()
				if st, err := fo.take(b.Context(), w, Wish{}, Wish{}); err != nil || st == nil {
					b.Fatal(st, err)
				}
				return time.Since(begin)
			}
			first := take()
			var times, flushes []time.Duration
			for i := 0; b.Loop(); i++ {
				data := fmt.Appendf(nil, "package p%d\n", i+1_000_000)
				begin := time.Now()
				if err := writeFlushed(filepath.Join(w.Dir, "flushed"), data); err != nil {
					b.Fatal(err)
				}
				flushes = append(flushes, time.Since(begin))
				if err := os.WriteFile(filepath.Join(dir, "module3", "pkg1", "part0", "changed.go"), data, 0o644); err != nil {
					b.Fatal(err)
				}
				fo.add(watch.Change{Dirs: []string{"module3/pkg1/part0"}})
				times = append(times, take())
			}
			slices.Sort(times)
			slices.Sort(flushes)
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			b.ReportMetric(ms(times[len(times)/2]), "ms")
			b.ReportMetric(ms(times[len(times)-1]), "max-ms")
			b.ReportMetric(ms(flushes[len(flushes)/2]), "flushed-ms")
			b.ReportMetric(ms(first), "first-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func writeFlushed(name string, data []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
