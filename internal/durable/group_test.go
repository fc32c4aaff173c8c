package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"
)

// several returns a batch of three operations with two files each, with lines in a
// log.
func several(t *testing.T) (*os.Root, *Batch) {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	if err := root.WriteFile("log", []byte("before\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := NewBatch(root)
	var lines [][]byte
	for i := range 3 {
		b.Begin()
		for _, name := range []string{"first", "second"} {
			if _, err := b.Create(fmt.Sprint(name, i), Bytes([]byte(name))); err != nil {
				t.Fatal(err)
			}
		}
		lines = append(lines, fmt.Appendf(nil, "line %d\n", i))
	}
	b.Begin()
	if _, err := b.Derive("index", Bytes([]byte("index"))); err != nil {
		t.Fatal(err)
	}
	if err := b.Log("log", lines...); err != nil {
		t.Fatal(err)
	}
	return root, b
}

// TestSeveral: the first file of every operation is renamed before any other file,
// and one fsync suffices for all of them.
func TestSeveral(t *testing.T) {
	root, b := several(t)
	var steps []string
	defer Interpose(func(_ *os.Root, s Step) error {
		if s.Do == Rename || s.Do == SyncDir {
			steps = append(steps, string(s.Do)+s.To)
		}
		return nil
	})()
	infos, later, err := b.Commit(t.Context())
	if err != nil || later != nil || len(infos) != 7 || slices.Contains(infos, nil) {
		t.Fatal(infos, later, err)
	}
	want := []string{"renamefirst0", "renamefirst1", "renamefirst2", "renameindex", "syncdir", "renamesecond0", "renamesecond1", "renamesecond2", "syncdir"}
	if !slices.Equal(steps, want) {
		t.Errorf("a commit does %q, want %q", steps, want)
	}
	if data, _ := root.ReadFile("log"); string(data) != "before\n\nline 0\nline 1\nline 2\n\n" {
		t.Errorf("the log holds %q", data)
	}
}

// TestPartial: if the first file of an operation cannot be renamed, the operations
// before it are made, and it and the later ones leave nothing.
func TestPartial(t *testing.T) {
	for fails, want := range []struct {
		log   string
		files []string
	}{
		{"before\n\n", []string{"log"}},
		{"before\n\nline 0\n\n", []string{"first0", "log", "second0"}},
		{"before\n\nline 0\nline 1\n\n", []string{"first0", "first1", "log", "second0", "second1"}},
	} {
		root, b := several(t)
		disk := errors.New("disk")
		restore := Interpose(func(_ *os.Root, s Step) error {
			if s.Do == Rename && s.To == fmt.Sprint("first", fails) {
				return disk
			}
			return nil
		})
		infos, later, err := b.Commit(t.Context())
		restore()
		var partial *PartialError
		if !errors.Is(err, disk) || later != nil || errors.As(err, &partial) != (fails > 0) || partial != nil && partial.Made != fails {
			t.Errorf("operation %d fails: %v, %v", fails, later, err)
		}
		made := 0
		for _, info := range infos {
			if info != nil {
				made++
			}
		}
		if made != 2*fails {
			t.Errorf("operation %d fails: %d files are reported", fails, made)
		}
		data, _ := root.ReadFile("log")
		entries, _ := fs.ReadDir(root.FS(), ".")
		var files []string
		for _, e := range entries {
			files = append(files, e.Name())
		}
		if string(data) != want.log || !slices.Equal(files, want.files) {
			t.Errorf("operation %d fails: the log holds %q, the folder %q", fails, data, files)
		}
	}
}

// TestTwice: no two operations of a batch may change the same file.
func TestTwice(t *testing.T) {
	root, b := several(t)
	defer b.Discard()
	if err := root.WriteFile("old", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Move("old", "new"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first0", "index", "old", "new"} {
		if _, err := b.Replace(name, Bytes(nil)); err == nil || !b.Touches(name) {
			t.Errorf("%s changes twice", name)
		}
	}
	if b.Touches("other") {
		t.Error("an unchanged file is reported as changed")
	}
}
