package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace/fault"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

func openFolder(t *testing.T, dir string) *bucket.Folder {
	t.Helper()
	f, err := bucket.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// write writes files, whose folders it creates.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func names(list []bucket.Object) (names []string) {
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names
}

func TestOpenFolder(t *testing.T) {
	if _, err := bucket.OpenFolder(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fault.NotFound) {
		t.Errorf("an absent folder: %v", err)
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": ""})
	if _, err := bucket.OpenFolder(filepath.Join(dir, "file")); err == nil {
		t.Error("a file is a folder")
	}
}

// TestFolderLinks: no symbolic link is followed, neither to a directory nor to a file.
func TestFolderLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"secret": "outside", "m/secret": "outside"})
	write(t, dir, map[string]string{"m/x/1": "inside"})
	for name, target := range map[string]string{
		"p": outside, "m/y": filepath.Join(outside, "m"), "m/x/2": filepath.Join(outside, "secret"), "m/x/3": "1", "m/x/4": "absent", "m/z": "x",
	} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	f := openFolder(t, dir)
	for _, name := range []string{"p/secret", "m/y/secret", "m/x/2", "m/x/3", "m/x/4", "m/z/1"} {
		if data, err := f.Get(t.Context(), name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Get(%s) = %q, %v", name, data, err)
		}
	}
	for _, name := range []string{"p/new", "m/y/new", "m/z/new"} {
		if err := f.Put(t.Context(), name, []byte("x")); err == nil || errors.Is(err, bucket.ErrExists) {
			t.Errorf("Put(%s) = %v", name, err)
		}
	}
	if err := f.Put(t.Context(), "m/x/4", []byte("x")); !errors.Is(err, bucket.ErrExists) {
		t.Errorf("Put to the name of a link = %v", err)
	}
	for _, shallow := range []bool{false, true} {
		list, err := f.List(t.Context(), bucket.ListOptions{Prefix: "m/", Shallow: shallow})
		want := []string{"m/x/1"}
		if shallow {
			want = []string{"m/x/"}
		}
		if err != nil || !slices.Equal(names(list), want) {
			t.Errorf("the folder has %v, %v", list, err)
		}
	}
	for _, name := range []string{"p/secret", "m/y/secret"} {
		f.Delete(t.Context(), name)
	}
	for _, name := range []string{"secret", "m/secret"} {
		if _, err := os.Stat(filepath.Join(outside, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
}

// TestFolderConflicts: copies that sync programs keep are listed as such, and are no objects.
func TestFolderConflicts(t *testing.T) {
	dir := t.TempDir()
	copies := map[string]string{
		"bough.sync-conflict-20261124-101500-7XYZABC.json":            "bough.json",
		"m/ab/00000042.sync-conflict-20261124-101500-7XYZABC":         "m/ab/00000042",
		"m/ab/00000042 (laptop's conflicted copy 2026-11-24)":         "m/ab/00000042",
		"bough (In Konflikt stehende Kopie von Jörg 2026-11-24).json": "bough.json",
		"m/ab/base-00000400 (conflicted copy 2026-11-24 101500)":      "m/ab/base-00000400",
		"m/ab/00000043 (1)": "m/ab/00000043",
		"bough 2.json":      "bough.json",
		"p/0f-LAPTOP-7":     "p/0f",
		"bough-LAPTOP.json": "bough.json",
	}
	objects := []string{"bough.json", "m/ab/00000042", "m/ab/base-00000400", "p/0f"}
	files := map[string]string{
		".stversions/bough 2.json": "", "Thumbs.db": "", "m/.DS_Store": "", "m/ab/~syncthing~00000044.tmp": "", ".~bough/0f (1)": "", "README": "", "Ünders 2": "",
	}
	for file := range copies {
		files[file] = "other"
	}
	for _, name := range objects {
		files[name] = "x"
	}
	write(t, dir, files)
	f := openFolder(t, dir)
	got, err := f.Conflicts(t.Context())
	if err != nil || len(got) != len(copies) {
		t.Errorf("%d conflicts, %v; want %d", len(got), err, len(copies))
	}
	for _, c := range got {
		if copies[c.File] != c.Object {
			t.Errorf("%+v; want %q", c, copies[c.File])
		}
	}
	if !slices.IsSortedFunc(got, func(a, b bucket.Conflict) int { return strings.Compare(a.File, b.File) }) {
		t.Errorf("%v does not ascend", got)
	}
	if list, err := f.List(t.Context(), bucket.ListOptions{}); err != nil || !slices.Equal(names(list), objects) {
		t.Errorf("the folder has %v, %v; want %v", list, err, objects)
	}
}

// TestFolderNothingLeft: no Put leaves a file beside its object, and a file that another process
// left a day ago is removed.
func TestFolderNothingLeft(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{".~bough/old.tmp": "x", ".~bough/new.tmp": "x"})
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, ".~bough", "old.tmp"), old, old); err != nil {
		t.Fatal(err)
	}
	f := openFolder(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 10 {
		name := fmt.Sprintf("m/ab/%d", i%5)
		if err := f.Put(ctx, name, []byte("x")); (err == nil) != (i < 5) {
			t.Errorf("Put(%s) = %v", name, err)
		}
	}
	cancel()
	f.Put(ctx, "m/ab/9", []byte("x"))
	entries, err := os.ReadDir(filepath.Join(dir, ".~bough"))
	if err != nil || len(entries) != 1 || entries[0].Name() != "new.tmp" {
		t.Errorf("left are %v, %v", entries, err)
	}
}

// TestFolderDurable: when Put returns, the bytes, the name and the names of all directories are
// flushed, each before what needs it; also if the object was there already.
func TestFolderDurable(t *testing.T) {
	f := openFolder(t, t.TempDir())
	var steps []string
	restore := durable.Interpose(func(_ *os.Root, s durable.Step) error {
		if s.Do == durable.Make || s.Do == durable.Write || s.Do == durable.Sync {
			s.Name = path.Dir(s.Name)
		}
		if s.Do == durable.Rename {
			s.Name = s.To
		}
		steps = append(steps, string(s.Do)+" "+s.Name)
		return nil
	})
	defer restore()
	for _, want := range []struct {
		name  string
		err   error
		steps string
	}{
		{"m/ab/1", nil, "mkdir m, syncdir ., mkdir m/ab, syncdir m, mkdir .~bough, syncdir ., make .~bough, write .~bough, sync .~bough, rename m/ab/1, syncdir m/ab"},
		{"m/ab/2", nil, "make .~bough, write .~bough, sync .~bough, rename m/ab/2, syncdir m/ab"},
		{"m/ab/1", bucket.ErrExists, "syncdir m/ab"},
	} {
		steps = nil
		if err := f.Put(t.Context(), want.name, []byte("x")); !errors.Is(err, want.err) {
			t.Errorf("Put(%s) = %v", want.name, err)
		}
		if got := strings.Join(slices.DeleteFunc(steps, func(s string) bool { return strings.HasPrefix(s, "chmod") }), ", "); got != want.steps {
			t.Errorf("Put(%s) does\n%s; want\n%s", want.name, got, want.steps)
		}
	}
}

// TestFolderStops: whichever step fails, a Put that returns an error leaves no part of an object,
// and the next one succeeds.
func TestFolderStops(t *testing.T) {
	broken := errors.New("broken")
	for stop := 0; ; stop++ {
		f := openFolder(t, t.TempDir())
		step := 0
		restore := durable.Interpose(func(*os.Root, durable.Step) error {
			if step++; step > stop {
				return broken
			}
			return nil
		})
		err := f.Put(t.Context(), "m/ab/1", []byte("all of it"))
		restore()
		if err == nil {
			if stop < 10 {
				t.Errorf("a Put has only %d steps", stop)
			}
			return
		}
		if !errors.Is(err, broken) {
			t.Errorf("step %d: %v", stop, err)
		}
		if data, err := f.Get(t.Context(), "m/ab/1"); !errors.Is(err, fs.ErrNotExist) && string(data) != "all of it" {
			t.Errorf("step %d: %q, %v", stop, data, err)
		}
		if err := f.Put(t.Context(), "m/ab/1", []byte("all of it")); err != nil && !errors.Is(err, bucket.ErrExists) {
			t.Errorf("step %d: a second Put: %v", stop, err)
		}
		if data, err := f.Get(t.Context(), "m/ab/1"); string(data) != "all of it" {
			t.Errorf("step %d: after a second Put: %q, %v", stop, data, err)
		}
	}
}

// TestFolderServers: a file server whose answer is lost says that the new name exists, and it is that
// of the new file; and one that cannot rename without replacing is refused.
func TestFolderServers(t *testing.T) {
	for _, c := range []struct {
		name   string
		rename func(root *os.Root, s durable.Step) error
		err    error
		stored bool
	}{
		{"lost answer", func(root *os.Root, s durable.Step) error {
			return errors.Join(root.Link(s.Name, s.To), fs.ErrExist)
		}, nil, true},
		{"another won", func(root *os.Root, s durable.Step) error {
			return errors.Join(root.WriteFile(s.To, []byte("its"), 0o600), fs.ErrExist)
		}, bucket.ErrExists, true},
		{"no such rename", func(*os.Root, durable.Step) error { return errors.ErrUnsupported }, fault.Refused, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			f := openFolder(t, dir)
			restore := durable.Interpose(func(root *os.Root, s durable.Step) error {
				if s.Do == durable.Rename {
					return c.rename(root, s)
				}
				return nil
			})
			defer restore()
			err := f.Put(t.Context(), "m/1", []byte("own"))
			if !errors.Is(err, c.err) {
				t.Errorf("Put = %v", err)
			}
			if _, ok := errors.AsType[*bucket.NoCreateOnlyError](err); ok != (c.err == fault.Refused) {
				t.Errorf("Put = %#v", err)
			}
			if _, err := f.Get(t.Context(), "m/1"); (err == nil) != c.stored {
				t.Errorf("Get = %v", err)
			}
			if left, err := os.ReadDir(filepath.Join(dir, ".~bough")); err != nil || len(left) > 0 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
}

// TestFolderTooLarge: a file that is larger than any object is not read into memory.
func TestFolderTooLarge(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"large": ""})
	if err := os.Truncate(filepath.Join(dir, "large"), bucket.MaxObject+1); err != nil {
		t.Fatal(err)
	}
	if data, err := openFolder(t, dir).Get(t.Context(), "large"); !errors.Is(err, fault.Refused) {
		t.Errorf("Get = %d bytes, %v", len(data), err)
	}
}

// TestFolderPermissions: all who may write to the folder may write to its directories, and those who
// may read it may read its objects, as far as the umask allows.
func TestFolderPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no permissions
	}
	for folder, file := range map[fs.FileMode]fs.FileMode{0o700: 0o600, 0o770: 0o640, 0o755: 0o644} {
		dir := t.TempDir()
		if err := os.Chmod(dir, folder); err != nil {
			t.Fatal(err)
		}
		f := openFolder(t, dir)
		if err := f.Put(t.Context(), "m/ab/1", []byte("x")); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]fs.FileMode{"m": folder, "m/ab": folder, "m/ab/1": file} {
			info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil || info.Mode().Perm()&^0o022 != want&^0o022 || info.IsDir() && info.Mode().Perm() != want {
				t.Errorf("in a folder of mode %v, %s has %v, %v", folder, name, info.Mode(), err)
			}
		}
	}
}

// TestFolderMachines: many processes with the folder open create each object once.
func TestFolderMachines(t *testing.T) {
	dir := t.TempDir()
	const machines, objects = 8, 20
	won := make(chan string, machines*objects)
	done := make(chan error)
	for i := range machines {
		f := openFolder(t, dir)
		go func() {
			for k := range objects {
				name := fmt.Sprintf("m/ab/%d", k)
				switch err := f.Put(context.Background(), name, []byte{byte(i)}); {
				case err == nil:
					won <- name
				case !errors.Is(err, bucket.ErrExists):
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range machines {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	close(won)
	winners := map[string]int{}
	for name := range won {
		winners[name]++
	}
	for name, n := range winners {
		if n != 1 {
			t.Errorf("%s was created %d times", name, n)
		}
	}
	if len(winners) != objects {
		t.Errorf("%d of %d objects were created", len(winners), objects)
	}
}
