//go:build !linux

package scan_test

import (
	"os"
	"path/filepath"
	"testing"
)

// lstatNames calls lstat for each name in a directory, and returns its subdirectories.
func lstatNames(b *testing.B, dir string) (dirs []string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			b.Fatal(err)
		}
		if info.IsDir() {
			dirs = append(dirs, filepath.Join(dir, e.Name()))
		}
	}
	return dirs
}
