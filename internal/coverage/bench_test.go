package coverage_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/scan"
)

// BenchmarkJudge decides about 100,000 files of a repository that tracks them, in 1,000
// directories.
func BenchmarkJudge(b *testing.B) {
	f := newFolder(b)
	var in strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&in, "100644 %040x\tp%d/d%d/component_%d.go\n", 1, i/10_000, i/100, i)
	}
	f.write("top/.gitignore", strings.Repeat("*.o\nbuild/\n*.py[cod]\n/dist\n**/x/*.y\n", 10))
	f.git("top", "init", "-q")
	f.gitInput("top", in.String(), "update-index", "--index-info")
	names := make([]string, 100)
	b.ReportAllocs()
	for b.Loop() {
		root := coverage.Look(filepath.Join(f.dir, "top"), coverage.Options{Env: env}).Rules().Enter(".", nil)
		for p := range 10 {
			rules := root.Enter(fmt.Sprintf("p%d", p), nil)
			for d := range 100 {
				rules := rules.Enter(fmt.Sprintf("d%d", 100*p+d), nil)
				for i := range names {
					if names[i] == "" {
						names[i] = fmt.Sprintf("component_%d.go", i)
					}
					if rules.Judge(names[i], false) != scan.Hold {
						b.Fatal(names[i])
					}
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/file")
}
