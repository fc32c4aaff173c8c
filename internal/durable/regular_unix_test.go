//go:build unix

package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
)

// TestSpecialFiles: special files are neither read nor overwritten, and no call
// blocks on a named pipe.
func TestSpecialFiles(t *testing.T) {
	root, dir := open(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "link"} {
		_, read := durable.ReadFile(root, name)
		_, replace := durable.Replace(root, name, durable.Bytes(nil))
		_, appended := durable.Append(root, name, []byte("x\n"))
		keep := durable.Keep(root, name, "kept")
		_, cache := durable.OpenCache(root, name, 10)
		for what, err := range map[string]error{"ReadFile": read, "Replace": replace, "Append": appended, "Keep": keep, "OpenCache": cache} {
			var special *durable.NotRegularError
			if !errors.As(err, &special) || !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s of %s = %v", what, name, err)
			}
		}
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("the folder holds %q", got)
	}
}

// TestReplaceThroughLink: a symbolic link is kept and its target is replaced, also
// with Expect.
func TestReplaceThroughLink(t *testing.T) {
	for _, to := range []string{"b", "sub/b", "second"} {
		root, dir := open(t)
		for _, folder := range []string{"sub", "here"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(dir, "sub", "b")
		if to == "b" {
			file = filepath.Join(dir, "b")
		}
		put(t, file, "old", 0o640)
		link := filepath.Join(dir, "here", "link")
		if to == "second" {
			if err := os.Symlink("sub/b", filepath.Join(dir, "second")); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("../"+to, link); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"new", "newer"} {
			info, err := root.Stat("here/link")
			if err != nil {
				t.Fatal(err)
			}
			b := durable.NewBatch(root)
			stage(t, b, "here/link", text)
			if text == "newer" {
				b.Expect(durable.Identify(info))
			}
			infos, later, err := b.Commit(t.Context())
			if err != nil || later != nil {
				t.Fatal(err, later)
			}
			if is, err := os.Lstat(link); err != nil || is.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("%s: the link is %v, %v", to, is, err)
			}
			if now, err := os.Stat(file); content(t, file) != text || err != nil || durable.Identify(now) != durable.Identify(infos[0]) {
				t.Errorf("%s: the file holds %q", to, content(t, file))
			}
			wantMode(t, file, 0o640)
		}
		if got := names(t, filepath.Join(dir, "here")); len(got) != 1 {
			t.Errorf("%s: the folder of the link holds %q", to, got)
		}
	}
	root, dir := open(t)
	if err := os.Symlink(filepath.Join(t.TempDir(), "out"), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if _, err := durable.Replace(root, "out", durable.Bytes(nil)); err == nil {
		t.Error("a file outside was replaced")
	}
}

func TestTypeName(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0o600:                             "regular file",
		fs.ModeDir | 0o700:                "folder",
		fs.ModeSymlink:                    "symbolic link",
		fs.ModeNamedPipe:                  "named pipe",
		fs.ModeSocket:                     "socket",
		fs.ModeDevice:                     "device",
		fs.ModeDevice | fs.ModeCharDevice: "device",
		fs.ModeIrregular:                  "special file",
	} {
		if got := durable.TypeName(mode); got != want {
			t.Errorf("TypeName(%v) = %q, want %q", mode, got, want)
		}
	}
}
