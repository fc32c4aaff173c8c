package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/origin"
)

// BenchmarkBlame blames a file of 2,000 lines in a folder with 100 files and 1,000 states, each
// of which changes three lines of it.
func BenchmarkBlame(b *testing.B) {
	const states, lines = 1000, 2000
	s := openSpace(b, b.TempDir(), 0)
	s.new("Bench")
	dir := b.TempDir()
	for i := range 100 {
		os.WriteFile(filepath.Join(dir, fmt.Sprintf("other%d.go", i)), fmt.Appendf(nil, "package other%d\n", i), 0o644)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var text []string
	for i := range lines {
		text = append(text, fmt.Sprintf("\tline %d of the first version\n", i))
	}
	for i := range states {
		for j := range 3 {
			text[r.IntN(len(text))] = fmt.Sprintf("\tline %d of version %d\n", j, i)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(strings.Join(text, "")), 0o644); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Folder(dir).Snap(b.Context(), "", files.SnapOptions{KeepOld: true}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		got, err := s.Folder(dir).Blame(b.Context(), "main.go", origin.BlameOptions{})
		if err != nil || len(got.Lines) != lines {
			b.Fatalf("%v, %v", got, err)
		}
	}
}
