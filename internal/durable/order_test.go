package durable

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestOrder holds the order of what a commit does: all bytes are safe before any
// name changes; the first name, and what is derived, is safe before the others
// change. What happens side by side is in no order.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	b := NewBatch(root)
	var mu sync.Mutex
	var ops []string
	b.trace = func(op, name string) {
		mu.Lock()
		defer mu.Unlock()
		ops = append(ops, op+" "+name)
	}
	named := 0
	b.Named = func(fs.FileInfo) {
		mu.Lock()
		defer mu.Unlock()
		named = len(ops)
	}
	for _, name := range []string{"sub/first", "sub/second", "head"} {
		if _, err := b.Replace(name, Bytes([]byte(name))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Derive("sub/index", Bytes(nil)); err != nil {
		t.Fatal(err)
	}
	if _, later, err := b.Commit(t.Context()); err != nil || later != nil {
		t.Fatal(later, err)
	}
	slices.Sort(ops[:4])
	slices.Sort(ops[len(ops)-2:])
	want := "sync head, sync sub/first, sync sub/index, sync sub/second, " +
		"rename sub/first, rename sub/index, sync sub, rename sub/second, rename head, sync ., sync sub"
	if got := strings.Join(ops, ", "); got != want {
		t.Errorf("a commit does\n%s\nwant\n%s", got, want)
	}
	if named < 5 {
		t.Errorf("Named is called after %d steps", named)
	}
}

// TestCreateLate: a new file does not take the place of one that came while it
// was being written.
func TestCreateLate(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = Create(root, "a", func(w *Writer) error {
		return root.WriteFile("a", []byte("other"), 0o600)
	})
	data, _ := root.ReadFile("a")
	if err == nil || string(data) != "other" {
		t.Errorf("Create = %v, the file holds %q", err, data)
	}
	if entries, _ := fs.ReadDir(root.FS(), "."); len(entries) != 1 {
		t.Errorf("the folder holds %s", fmt.Sprint(entries))
	}
}
