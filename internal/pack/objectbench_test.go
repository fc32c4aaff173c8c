package pack_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/pack"
)

// BenchmarkObjects packs the source code of Go, as a tool would that sees a folder for the
// first time: all files, and for each folder a list of names. It reports the time divided by
// that of 'git add -A' into an empty repository, x-git, and the size divided by that of
// git's objects after a commit and 'git gc', x-gc. Only the pack is fsynced. x-index is the
// time to open the pack and make its index, divided by that to write it.
func BenchmarkObjects(b *testing.B) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	src := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	if _, missing := os.Stat(src); err != nil || missing != nil {
		b.Skipf("no source code of Go in %s: %v", src, err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("the program git is not installed")
	}
	s := &bench{b.TempDir(), nil}
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_DIR="+s.path("git"), "GIT_WORK_TREE="+src, "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	var gits, ours, index []time.Duration
	for b.Loop() {
		if err := os.RemoveAll(s.path("git")); err != nil {
			b.Fatal(err)
		}
		git("init", "--quiet")
		begin := time.Now()
		git("add", "-A")
		gits = append(gits, time.Since(begin))
		begin = time.Now()
		s.durably(b, "objects", 0, func(f *os.File) { packFolder(b, src, f) })
		ours = append(ours, time.Since(begin))
		begin = time.Now()
		p := s.open(b, "objects")
		x := pack.NewIndex(p)
		index = append(index, time.Since(begin))
		if x.Len() < 5000 {
			b.Fatalf("the pack has %d objects", x.Len())
		}
		p.Close()
	}
	git("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0", "commit", "--quiet", "-m", "all")
	git("gc", "--quiet")
	for _, list := range [][]time.Duration{gits, ours, index} {
		slices.Sort(list)
	}
	b.ReportMetric(float64(ours[len(ours)/2])/float64(gits[len(gits)/2]), "x-git")
	b.ReportMetric(float64(index[len(index)/2])/float64(ours[len(ours)/2]), "x-index")
	size := func(name string) (n int64) {
		filepath.WalkDir(s.path(name), func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				b.Fatal(err)
			}
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				n += info.Size()
			}
			return nil
		})
		return n
	}
	b.ReportMetric(float64(size("objects"))/float64(size("git/objects")), "x-gc")
}

// packFolder writes all files below dir, and a list of the names of each folder.
func packFolder(b *testing.B, dir string, f *os.File) {
	type file struct {
		path string
		id   pack.ID
		data []byte
		done chan struct{}
	}
	files := make(chan *file, 256)
	work := make(chan *file, 256)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for f := range work {
				f.data, _ = os.ReadFile(f.path)
				f.id = pack.IDOf(f.data)
				close(f.done)
			}
		}()
	}
	go func() {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				f := &file{path: path, done: make(chan struct{})}
				files <- f
				work <- f
			}
			return nil
		})
		close(files)
		close(work)
	}()
	w := pack.NewObjectWriter(f, 0, 0, true)
	have := map[pack.ID]bool{}
	add := func(id pack.ID, data []byte) {
		if !have[id] {
			have[id] = true
			if err := w.Add(id, data); err != nil {
				b.Fatal(err)
			}
		}
	}
	trees := map[string]*bytes.Buffer{}
	for f := range files {
		<-f.done
		add(f.id, f.data)
		tree := trees[filepath.Dir(f.path)]
		if tree == nil {
			tree = new(bytes.Buffer)
			trees[filepath.Dir(f.path)] = tree
		}
		fmt.Fprintf(tree, "%v %s\n", f.id, filepath.Base(f.path))
	}
	for _, tree := range trees {
		add(pack.IDOf(tree.Bytes()), tree.Bytes())
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}
