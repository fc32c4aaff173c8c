package states_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
)

// BenchmarkDisk takes 50 states of the source code of Go, with three changed files each, and
// reports the size of the store after Tidy, divided by that of git's objects after 50 commits
// and 'git gc', x-gc, and the part of the first state in it, x-first.
func BenchmarkDisk(b *testing.B) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	src := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	if _, missing := os.Stat(src); err != nil || missing != nil {
		b.Skipf("no source code of Go in %s: %v", src, err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("the program git is not installed")
	}
	for b.Loop() {
		s := newSpace(b)
		if err := os.CopyFS(s.dir, os.DirFS(src)); err != nil {
			b.Fatal(err)
		}
		repository := b.TempDir()
		git := func(args ...string) {
			cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0"}, args...)...)
			cmd.Env = append(os.Environ(), "GIT_DIR="+repository, "GIT_WORK_TREE="+s.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
			cmd.Dir = s.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %v\n%s", args, err, out)
			}
		}
		git("init", "--quiet")
		var files []string
		if err := fs.WalkDir(os.DirFS(s.dir), ".", func(name string, d fs.DirEntry, err error) error {
			if strings.HasSuffix(name, ".go") {
				files = append(files, name)
			}
			return err
		}); err != nil {
			b.Fatal(err)
		}
		first := int64(0)
		for i := range 50 {
			for k := range 3 {
				name := filepath.Join(s.dir, files[(i*7+k*1001)%len(files)])
				data, err := os.ReadFile(name)
				if err != nil {
					b.Fatal(err)
				}
				half := len(data) / 2
				s.write(files[(i*7+k*1001)%len(files)], string(data[:half])+fmt.Sprintf("// change %d of %d\n", k, i)+string(data[half:]))
			}
			s.take()
			git("add", "-A")
			git("commit", "--quiet", "-m", fmt.Sprint(i))
			if i == 0 {
				if first, err = s.Size(); err != nil {
					b.Fatal(err)
				}
			}
		}
		before, err := s.Size()
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Tidy(b.Context()); err != nil {
			b.Fatal(err)
		}
		after, err := s.Size()
		if err != nil {
			b.Fatal(err)
		}
		git("gc", "--quiet")
		theirs := size(b, filepath.Join(repository, "objects"))
		b.ReportMetric(float64(after)/float64(theirs), "x-gc")
		b.ReportMetric(float64(before)/float64(theirs), "x-before-tidy")
		b.ReportMetric(float64(first)/float64(theirs), "x-first")
		b.ReportMetric(float64(theirs)/1e6, "MB-gc")
	}
}

// size returns the size of all files in a folder.
func size(b *testing.B, dir string) (n int64) {
	if err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += info.Size()
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkTake takes states of the source code of Go, of which none or one file changed. It
// reports the time divided by that of listing the folder with a cache, x-look, as medians of
// one run in which both alternate.
func BenchmarkTake(b *testing.B) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip(err)
	}
	for _, changed := range []bool{false, true} {
		b.Run(fmt.Sprintf("changed=%v", changed), func(b *testing.B) {
			s := newSpace(b)
			if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(strings.TrimSpace(string(goroot)), "src"))); err != nil {
				b.Skip(err)
			}
			s.take()
			look, err := scan.Look(b.Context(), s.dir, nil, s.opts)
			if err != nil {
				b.Fatal(err)
			}
			r, err := look.Store(b.Context(), pack.NewObjectWriter(io.Discard, 0, 0, true), func(pack.ID) bool { return true })
			if err != nil {
				b.Fatal(err)
			}
			cache, err := scan.ParseCache(r.Cache)
			if err != nil {
				b.Fatal(err)
			}
			var looks, takes []time.Duration
			for i := 0; b.Loop(); i++ {
				if changed {
					s.write("changed.go", fmt.Sprint(i))
				}
				begin := time.Now()
				if _, err := scan.Look(b.Context(), s.dir, cache, s.opts); err != nil {
					b.Fatal(err)
				}
				looks = append(looks, time.Since(begin))
				s.reopen()
				begin = time.Now()
				s.take()
				takes = append(takes, time.Since(begin))
			}
			slices.Sort(looks)
			slices.Sort(takes)
			b.ReportMetric(float64(takes[len(takes)/2])/float64(looks[len(looks)/2]), "x-look")
			b.ReportMetric(float64(looks[len(looks)/2].Microseconds())/1000, "ms-look")
		})
	}
}
