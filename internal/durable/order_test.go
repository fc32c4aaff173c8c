package durable

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestOrder verifies the order of a commit: all content is durable before any
// rename; the first rename, and derived files, are durable before the others begin.
// Concurrent steps have no order.
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
	var steps []string
	defer Interpose(func(_ *os.Root, s Step) error {
		mu.Lock()
		defer mu.Unlock()
		if s.Do != Make && s.Do != Chmod {
			steps = append(steps, string(s.Do)+" "+s.Name)
		}
		return nil
	})()
	named := 0
	b.Named = func(fs.FileInfo) {
		mu.Lock()
		defer mu.Unlock()
		named = len(steps)
	}
	if err := root.WriteFile("moved", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sub/first", "sub/second", "head"} {
		if _, err := b.Replace(name, Bytes([]byte(name))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Derive("sub/index", Bytes(nil)); err != nil {
		t.Fatal(err)
	}
	if err := b.Move("moved", "sub/moved"); err != nil {
		t.Fatal(err)
	}
	if err := b.Log("log", []byte("line\n")); err != nil {
		t.Fatal(err)
	}
	if _, later, err := b.Commit(t.Context()); err != nil || later != nil {
		t.Fatal(later, err)
	}
	want := `write sub/.first.bough-tmp
write sub/.second.bough-tmp
write .head.bough-tmp
write log
sync log
syncdir .
sync sub/.first.bough-tmp
sync sub/.second.bough-tmp
sync .head.bough-tmp
sync sub/.index.bough-tmp
rename sub/.first.bough-tmp
rename sub/.index.bough-tmp
syncdir sub
rename sub/.second.bough-tmp
rename .head.bough-tmp
rename moved
syncdir .
syncdir sub
write log`
	if got := strings.Join(steps, "\n"); got != want {
		t.Errorf("a commit does\n%s\nwant\n%s", got, want)
	}
	if named < 12 {
		t.Errorf("Named is called after %d steps", named)
	}
}

// TestCreateLate: a new file does not replace a file that was created meanwhile.
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
