package coverage_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/testsize"
)

// onDisk returns the sources of the folder dir.
func onDisk(dir string) coverage.Sources {
	return func(at string, names []string) (list []scan.Source) {
		for _, name := range names {
			full := filepath.Join(dir, at, name)
			if info, err := os.Lstat(full); err == nil {
				data, _ := os.ReadFile(full)
				list = append(list, scan.Source{Name: name, IsDir: info.IsDir(), Data: data})
			}
		}
		return list
	}
}

// TestJudge: about each path a Judge decides as a scan of the folder, with the rules of the
// present and with those that a state records, in a repository and in a folder of it.
func TestJudge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := []string{"a", "b/", "!b", "/a", "a/b", "b/**/a", ".env", "!a/b/", "*.o"}
	names := []string{"a", "b", "c", ".env", "x.o", "node_modules"}
	ignored := 0
	for range testsize.Of(10, 30, 300) {
		f := newFolder(t)
		f.git(".", "init", "-q")
		f.write(".git/info/exclude", lines[r.IntN(len(lines))]+"\n")
		var paths []string
		for range 12 {
			name := "sub/" + names[r.IntN(len(names))]
			for range r.IntN(3) {
				name = path.Join(name, names[r.IntN(len(names))])
			}
			if info, err := os.Stat(filepath.Join(f.dir, name)); err == nil && info.IsDir() {
				continue
			}
			if os.MkdirAll(filepath.Join(f.dir, path.Dir(name)), 0o755) == nil {
				f.write(name, "x")
			}
		}
		for _, dir := range []string{".", "sub", "sub/a", "sub/b"} {
			if info, err := os.Stat(filepath.Join(f.dir, dir)); err == nil && info.IsDir() {
				f.write(path.Join(dir, []string{".gitignore", ".boughignore"}[r.IntN(2)]), lines[r.IntN(len(lines))]+"\n"+lines[r.IntN(len(lines))]+"\n")
			}
		}
		for _, dir := range []string{".", "sub"} {
			full := filepath.Join(f.dir, dir)
			held := map[string]bool{}
			files, left := f.scan(dir, false)
			for _, name := range files {
				held[name] = true
			}
			live := coverage.Look(full, coverage.Options{Env: env})
			sources := onDisk(full)
			judges := map[string]*coverage.Judge{
				"present":  coverage.NewJudge(live, sources),
				"recorded": coverage.NewJudge(coverage.Recorded(full, live.Outside, sources(".", []string{".gitignore", ".boughignore"}), coverage.Options{Env: env}), sources),
			}
			filepath.WalkDir(full, func(name string, e fs.DirEntry, err error) error {
				rel, _ := filepath.Rel(full, name)
				if rel = filepath.ToSlash(rel); rel == "." || e.IsDir() {
					return err
				}
				paths = append(paths, rel)
				for which, j := range judges {
					if got := j.Verdict(rel, false) == scan.Hold; got != held[rel] {
						t.Errorf("%s in %s: %s holds it: %t, a scan: %t, omitted: %v", rel, dir, which, got, held[rel], left)
					}
				}
				if !held[rel] {
					ignored++
				}
				return nil
			})
		}
		if t.Failed() {
			t.Fatal(paths)
		}
	}
	if ignored == 0 {
		t.Error("nothing was ignored")
	}
}
