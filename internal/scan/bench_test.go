package scan_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
)

// BenchmarkUnchanged scans a tree of 100,000 files, of which none or one changed. It reports
// medians of one run, in which all alternate: the time divided by that of a parallel walk
// that lists all directories and calls lstat for each name, x-walk, and by that of git with an
// index of its own, 'git add -A' and 'git write-tree', x-git; and the processor time divided
// by that of the walk, x-walk-cpu, which depends less on what else the machine does.
func BenchmarkUnchanged(b *testing.B) {
	dir := b.TempDir()
	const files = 100_000
	for i := range files {
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
	begin := time.Now()
	opts := scan.Options{Now: func() time.Time { return time.Now().Add(time.Minute) }}
	first := mustStore(b, dir, nil, opts)
	cache, err := scan.ParseCache(first.Cache)
	if err != nil || first.Files != files {
		b.Fatal(err, first.Files)
	}
	git := shadowGit(b, dir)
	git("init", "--quiet")
	git("add", "-A")
	time.Sleep(time.Until(begin.Add(2 * time.Second))) // until git trusts its index
	for _, changed := range []int{0, 1} {
		b.Run(fmt.Sprintf("%d changed", changed), func(b *testing.B) {
			var walks, gits, ours []time.Duration
			var walkCPU, ourCPU time.Duration
			for i := 0; b.Loop(); i++ {
				if changed > 0 {
					if err := os.WriteFile(filepath.Join(dir, "module3", "pkg1", "part0", "changed.go"), fmt.Appendf(nil, "package p%d\n", i), 0o644); err != nil {
						b.Fatal(err)
					}
				}
				begin := cpuTime()
				walks = append(walks, timed(func() { lstatAll(b, dir) }))
				walkCPU += cpuTime() - begin
				gits = append(gits, timed(func() { git("add", "-A"); git("write-tree") }))
				begin = cpuTime()
				ours = append(ours, timed(func() {
					r := mustStore(b, dir, cache, opts)
					if r.Read != changed {
						b.Fatalf("%d files were read", r.Read)
					}
				}))
				ourCPU += cpuTime() - begin
			}
			b.ReportMetric(ratio(ours, walks), "x-walk")
			b.ReportMetric(ratio(ours, gits), "x-git")
			b.ReportMetric(float64(ourCPU)/float64(walkCPU), "x-walk-cpu")
			b.ReportMetric(float64(median(walks).Microseconds())/1000, "ms-walk")
		})
	}
}

// BenchmarkFirst scans the source code of Go for the first time, into a file that is fsynced.
// It reports the time divided by that of 'git add -A' into an empty repository, x-git, as
// medians of one run in which both alternate.
func BenchmarkFirst(b *testing.B) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	src := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	if _, missing := os.Stat(src); err != nil || missing != nil {
		b.Skipf("no source code of Go in %s: %v", src, err)
	}
	var gits, ours []time.Duration
	for b.Loop() {
		git := shadowGit(b, src)
		git("init", "--quiet")
		gits = append(gits, timed(func() { git("add", "-A") }))
		ours = append(ours, timed(func() { mustStore(b, src, nil, scan.Options{}) }))
	}
	b.ReportMetric(ratio(ours, gits), "x-git")
}

// mustStore scans a folder and fsyncs the new objects.
func mustStore(b *testing.B, dir string, cache *scan.Cache, opts scan.Options) *scan.Result {
	s, err := scan.Look(b.Context(), dir, cache, opts)
	if err != nil {
		b.Fatal(err)
	}
	if s.Same() {
		r, err := s.Store(b.Context(), nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	f, err := os.CreateTemp(b.TempDir(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := pack.NewObjectWriter(f, 0, 0, true)
	r, err := s.Store(b.Context(), w, func(pack.ID) bool { return false })
	if err := cmp.Or(err, w.Flush(), f.Sync()); err != nil {
		b.Fatal(err)
	}
	return r
}

// shadowGit returns a function that runs git on a folder, with a repository outside of it.
func shadowGit(b *testing.B, dir string) func(args ...string) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("the program git is not installed")
	}
	repository := b.TempDir()
	return func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_DIR="+repository, "GIT_WORK_TREE="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", cmd, err, bytes.TrimSpace(out))
		}
	}
}

// lstatAll lists all directories below dir, and calls lstat for each name, concurrently.
func lstatAll(b *testing.B, dir string) {
	var mu sync.Mutex
	var more sync.Cond
	more.L = &mu
	stack, busy := []string{dir}, 0
	var working sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		working.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for {
				for len(stack) == 0 && busy > 0 {
					more.Wait()
				}
				if len(stack) == 0 {
					more.Broadcast()
					return
				}
				dir := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				busy++
				mu.Unlock()
				found := lstatNames(b, dir)
				mu.Lock()
				stack = append(stack, found...)
				busy--
				more.Broadcast()
			}
		})
	}
	working.Wait()
}

func timed(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func ratio(a, b []time.Duration) float64 { return float64(median(a)) / float64(median(b)) }
