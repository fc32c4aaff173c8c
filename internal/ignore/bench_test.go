package ignore_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/ignore"
)

// fifty are patterns as projects have them.
const fifty = `*.o
*.a
*.so
*.exe
*.dll
*.dylib
*.test
*.out
*.class
*.jar
*.py[cod]
*$py.class
__pycache__/
.venv/
venv/
env/
build/
/dist/
downloads/
eggs/
.eggs/
/lib64/
parts/
sdist/
var/
wheels/
*.egg-info/
.installed.cfg
*.egg
pip-log.txt
pip-delete-this-directory.txt
htmlcov/
.tox/
.nox/
.coverage
.coverage.*
.cache
nosetests.xml
coverage.xml
*.cover
.hypothesis/
/docs/_build/
node_modules/
npm-debug.log*
/packages/*/dist/
**/generated/**/*.pb.go
.idea/
.vscode/*
!.vscode/settings.json
*~
`

// BenchmarkMatch matches 100,000 paths against 50 patterns and compares that with a walk of
// them that reads each file's metadata.
func BenchmarkMatch(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		sub := filepath.Join(dir, fmt.Sprintf("packages/p%d/src/d%d", i%40, i))
		if err := os.MkdirAll(sub, 0o777); err != nil {
			b.Fatal(err)
		}
		for k := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("component_%d.go", k)), nil, 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	root := ignore.Root(false, ignore.Source{Name: ignore.GitName, Data: []byte(fifty)})
	var walking, matching time.Duration
	for b.Loop() {
		type directory struct {
			name    string
			entries []fs.DirEntry
			below   []*directory
		}
		files := 0
		begin := time.Now()
		var read func(path, name string) *directory
		read = func(path, name string) *directory {
			d := &directory{name: name}
			var err error
			if d.entries, err = os.ReadDir(path); err != nil {
				b.Fatal(err)
			}
			for _, e := range d.entries {
				if _, err := e.Info(); err != nil {
					b.Fatal(err)
				}
				if e.IsDir() {
					d.below = append(d.below, read(filepath.Join(path, e.Name()), e.Name()))
				}
			}
			return d
		}
		tree := read(dir, "")
		walking += time.Since(begin)
		begin = time.Now()
		var match func(d *directory, r *ignore.Rules)
		match = func(d *directory, r *ignore.Rules) {
			for _, e := range d.entries {
				if !r.Ignored(e.Name(), e.IsDir()) && !e.IsDir() {
					files++
				}
			}
			for _, below := range d.below {
				match(below, r.Enter(below.name))
			}
		}
		match(tree, root)
		matching += time.Since(begin)
		if files != 100_000 {
			b.Fatalf("%d files are included", files)
		}
	}
	b.ReportMetric(float64(matching)/float64(walking), "of-walk")
	b.ReportMetric(float64(matching.Nanoseconds())/float64(b.N)/100_000, "ns/path")
}
