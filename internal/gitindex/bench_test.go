package gitindex_test

import (
	"fmt"
	"testing"

	"github.com/bough-dev/bough/internal/gitindex"
)

// BenchmarkParse parses an index of 100,000 paths.
func BenchmarkParse(b *testing.B) {
	for _, version := range []string{"2", "4"} {
		b.Run("version "+version, func(b *testing.B) {
			r := newRepository(b)
			var paths []string
			for i := range 100_000 {
				paths = append(paths, fmt.Sprintf("packages/p%d/src/d%d/component_%d.go", i%40, i/100, i))
			}
			r.track(paths, nil)
			r.git("", "update-index", "--index-version", version)
			data := r.read("index")
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				paths, err := gitindex.Parse(data, gitindex.SHA1, nil)
				if err != nil || paths.Len() != 100_000 {
					b.Fatal(paths.Len(), err)
				}
			}
		})
	}
}
