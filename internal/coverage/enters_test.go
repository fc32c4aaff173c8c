package coverage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/scan"
)

// TestEnters: the directories that can have files of a state are those that a scan reads.
func TestEnters(t *testing.T) {
	f := newFolder(t)
	f.write(".gitignore", "build/\n", "src/a", "a", "src/build/x", "x", "build/x", "x", "node_modules/p/x", "x",
		"cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n", "cache/deep/x", "x", "venv/pyvenv.cfg", "home = /usr\n", "venv/lib/x", "x")
	j := coverage.NewJudge(coverage.Look(f.dir, coverage.Options{Env: env}), func(dir string, names []string) (list []scan.Source) {
		for _, name := range names {
			if data, err := os.ReadFile(filepath.Join(f.dir, dir, name)); err == nil {
				list = append(list, scan.Source{Name: name, Data: data})
			}
		}
		return list
	})
	for dir, want := range map[string]bool{
		".": true, "src": true, "src/build": false, "build": false, "node_modules": false, "node_modules/p": false,
		"cache": false, "cache/deep": false, "venv": false, "venv/lib": false, "new": true,
	} {
		if got := j.Enters(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}
