package durable

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// TestDirMove: a rename replaces no file, and an exchange across directories exchanges.
func TestDirMove(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"a", "d/b", "d/c"} {
		root.MkdirAll("d", 0o700)
		if err := root.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	top, err := OpenDir(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	sub, err := OpenDir(root, "d")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := top.Move("a", sub, "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a rename to a name in use: %v", err)
	}
	if err := top.Move("absent", sub, "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a rename of nothing: %v", err)
	}
	if err := sub.Move("c", top, "c"); err != nil {
		t.Error(err)
	}
	want := map[string]string{"a": "a", "c": "d/c", "d/b": "d/b"}
	if err := top.Swap("a", sub, "b"); err == nil {
		want["a"], want["d/b"] = "d/b", "a"
	} else if !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	for name, content := range want {
		if data, err := root.ReadFile(name); string(data) != content {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
}

// TestDirMoveNew: of many who give different files one name, one succeeds, and its file has the name.
func TestDirMoveNew(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	const movers = 16
	results := make(chan error, movers)
	start := make(chan struct{})
	for i := range movers {
		name := string(rune('a' + i))
		if err := root.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		go func() {
			<-start
			results <- moveNewIn(root, name)
		}()
	}
	close(start)
	moved := 0
	for range movers {
		switch err := <-results; {
		case err == nil:
			moved++
		case !errors.Is(err, fs.ErrExist):
			t.Error(err)
		}
	}
	data, err := root.ReadFile("sub/new")
	if err != nil || moved != 1 {
		t.Fatalf("%d succeeded, %v", moved, err)
	}
	if _, err := root.Stat(string(data)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s has both names: %v", data, err)
	}
}

// moveNewIn gives a file of root the name sub/new.
func moveNewIn(root *os.Root, name string) error {
	top, err := OpenDir(root, ".")
	if err != nil {
		return err
	}
	defer top.Close()
	sub, err := OpenDir(root, "sub")
	if err != nil {
		return err
	}
	defer sub.Close()
	return top.MoveNew(name, sub, "new")
}

// TestOpenDirNoLink: a directory is not opened through a link, nor is a file, and Rmdir
// removes no file.
func TestOpenDirNoLink(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.MkdirAll("d/e", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile("f", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := root.Symlink("d", "l"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"l", "l/e", "f"} {
		d, err := OpenDir(root, name)
		if _, ok := errors.AsType[*NotRegularError](err); !ok {
			t.Errorf("OpenDir(%s) = %v, %v", name, d, err)
		}
	}
	top, err := OpenDir(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	for _, name := range []string{"f", "l", "d"} {
		if err := top.Rmdir(name); err == nil {
			t.Errorf("Rmdir removes %s", name)
		}
	}
	if err := top.Rmdir("d"); !IsNotEmpty(err) {
		t.Errorf("a directory that is not empty: %v", err)
	}
	if f, err := top.Open("l"); err == nil {
		t.Errorf("a link is opened: %v", f.Name())
	}
	if err := top.Chmod("l", 0o700); err == nil {
		t.Error("the target of a link is changed")
	}
}
