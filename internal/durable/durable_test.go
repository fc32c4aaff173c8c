package durable_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

func open(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func put(t *testing.T, name, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func wantMode(t *testing.T, name string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want && runtime.GOOS != "windows" {
		t.Errorf("%s has mode %o, want %o", filepath.Base(name), got, want)
	}
}

func TestReplace(t *testing.T) {
	root, dir := open(t)
	for _, c := range []struct {
		name string
		had  fs.FileMode // 0 for no file
		want fs.FileMode
	}{
		{"new.json", 0, durable.Mode},
		{"shared.json", 0o644, 0o644},
		{"group.json", 0o660, 0o660},
		{"private.json", 0o600, 0o600},
	} {
		file := filepath.Join(dir, c.name)
		if c.had != 0 {
			put(t, file, "old and longer", c.had)
		}
		if _, err := durable.Replace(root, c.name, durable.Bytes([]byte("a"), nil, []byte("b"))); err != nil {
			t.Fatal(err)
		}
		if got := content(t, file); got != "ab" {
			t.Errorf("%s holds %q, want %q", c.name, got, "ab")
		}
		wantMode(t, file, c.want)
	}
	if got := names(t, dir); len(got) != 4 {
		t.Errorf("the folder holds %q, want the four files", got)
	}
}

// TestReplaceKeepsReaders: a reader that has the old file open still reads the old
// content.
func TestReplaceKeepsReaders(t *testing.T) {
	root, dir := open(t)
	file := filepath.Join(dir, "a.json")
	put(t, file, "old", 0o600)
	reader, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := durable.Replace(root, "a.json", durable.Bytes([]byte("new"))); err != nil {
		t.Fatal(err)
	}
	if old, err := io.ReadAll(reader); err != nil || string(old) != "old" {
		t.Errorf("the reader gets %q, %v, want %q", old, err, "old")
	}
	if got := content(t, file); got != "new" {
		t.Errorf("the file holds %q, want %q", got, "new")
	}
}

func TestFailedWrite(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, "a.json"), "old", 0o600)
	broken := errors.New("broken")
	write := func(w *durable.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return broken
	}
	if _, err := durable.Replace(root, "a.json", write); !errors.Is(err, broken) {
		t.Errorf("Replace returns %v, want %v", err, broken)
	}
	if _, err := durable.Create(root, "b.json", write); !errors.Is(err, broken) {
		t.Errorf("Create returns %v, want %v", err, broken)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a.json"}) {
		t.Errorf("the folder holds %q, want only a.json", got)
	}
	if got := content(t, filepath.Join(dir, "a.json")); got != "old" {
		t.Errorf("a.json holds %q, want %q", got, "old")
	}
}

// TestTemp examines the folder while a file is being written. Leftovers of a crash
// do not matter.
func TestTemp(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, ".a.json"+durable.TempSuffix), "left over by a crash", 0o644)
	for _, c := range []struct {
		name   string
		change func(*os.Root, string, func(*durable.Writer) error) (fs.FileInfo, error)
	}{
		{"a.json", durable.Replace},
		{"b.json", durable.Create},
	} {
		var temp []string
		info, err := c.change(root, c.name, func(w *durable.Writer) error {
			temp = slices.DeleteFunc(names(t, dir), func(name string) bool { return name == "a.json" })
			_, err := io.WriteString(w, "new")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if there, err := root.Stat(c.name); err != nil || durable.Identify(info) != durable.Identify(there) {
			t.Errorf("%s is reported as %v, is %v, %v", c.name, info, there, err)
		}
		if len(temp) != 1 || temp[0][0] != '.' || !strings.HasSuffix(temp[0], durable.TempSuffix) || strings.HasSuffix(temp[0], ".json") {
			t.Errorf("%s is written in %q", c.name, temp)
		}
		if got := content(t, filepath.Join(dir, c.name)); got != "new" {
			t.Errorf("%s holds %q, want %q", c.name, got, "new")
		}
		wantMode(t, filepath.Join(dir, c.name), durable.Mode)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a.json", "b.json"}) {
		t.Errorf("the folder holds %q, want the two files", got)
	}
}

func TestCreate(t *testing.T) {
	root, dir := open(t)
	if _, err := durable.Create(root, "a.json", durable.Bytes([]byte("new"))); err != nil {
		t.Fatal(err)
	}
	wantMode(t, filepath.Join(dir, "a.json"), durable.Mode)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.json", "folder", "link"} {
		if _, err := durable.Create(root, name, durable.Bytes([]byte("other"))); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create(%q) = %v, want fs.ErrExist", name, err)
		}
	}
	if got := content(t, filepath.Join(dir, "a.json")); got != "new" {
		t.Errorf("a.json holds %q, want %q", got, "new")
	}
}

func TestMove(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, "a.json"), "a", 0o640)
	if err := durable.MakeDir(root, "trash/today"); err != nil {
		t.Fatal(err)
	}
	wantMode(t, filepath.Join(dir, "trash"), durable.DirMode)
	wantMode(t, filepath.Join(dir, "trash", "today"), durable.DirMode)
	if err := durable.MakeDir(root, "trash/today"); err != nil {
		t.Errorf("MakeDir of an existing folder: %v", err)
	}
	if err := durable.Move(root, "a.json", "trash/today/a.json"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(dir, "trash", "today", "a.json")); got != "a" {
		t.Errorf("the moved file holds %q, want %q", got, "a")
	}
	wantMode(t, filepath.Join(dir, "trash", "today", "a.json"), 0o640)
	if got := names(t, dir); !slices.Equal(got, []string{"trash"}) {
		t.Errorf("the folder holds %q, want only the trash", got)
	}
	if err := durable.Move(root, "a.json", "b.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Move of a missing file: %v, want fs.ErrNotExist", err)
	}
	if err := durable.MakeDir(root, "trash/today/a.json"); err == nil {
		t.Error("MakeDir replaces a file")
	}
}

// TestEscape: no name leads out of the root.
func TestEscape(t *testing.T) {
	root, dir := open(t)
	outside := t.TempDir()
	put(t, filepath.Join(outside, "a.json"), "outside", 0o600)
	put(t, filepath.Join(dir, "in.json"), "inside", 0o600)
	for link, to := range map[string]string{"dir": outside, "file.json": filepath.Join(outside, "a.json")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	before := names(t, dir)
	up, err := filepath.Rel(dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	write := durable.Bytes([]byte("changed"))
	for _, name := range []string{
		filepath.ToSlash(up) + "/a.json",
		filepath.ToSlash(up) + "/b.json",
		filepath.Join(outside, "a.json"),
		"x/../../a.json",
		"../b.json",
		"dir/a.json",
		"dir/b.json",
	} {
		_, replaced := durable.Replace(root, name, write)
		_, created := durable.Create(root, name, write)
		for verb, err := range map[string]error{
			"Replace": replaced,
			"Create":  created,
			"Move to": durable.Move(root, "in.json", name),
		} {
			if err == nil {
				t.Errorf("%s %q is not refused", verb, name)
			}
		}
		if err := durable.Move(root, name, "stolen.json"); err == nil {
			t.Errorf("Move from %q is not refused", name)
		}
	}
	for _, name := range []string{"../d", "dir/d", filepath.Join(outside, "d")} {
		if err := durable.MakeDir(root, name); err == nil {
			t.Errorf("MakeDir %q is not refused", name)
		}
	}
	if _, err := durable.Replace(root, "file.json", write); err == nil {
		t.Error("Replace of a link that leads out is not refused")
	}
	if got := content(t, filepath.Join(outside, "a.json")); got != "outside" {
		t.Errorf("the file outside holds %q", got)
	}
	if got := names(t, outside); !slices.Equal(got, []string{"a.json"}) {
		t.Errorf("the folder outside holds %q", got)
	}
	if got := names(t, dir); !slices.Equal(got, before) {
		t.Errorf("the folder holds %q, want %q", got, before)
	}
}

func TestWriteAt(t *testing.T) {
	root, dir := open(t)
	_, err := durable.Create(root, "a.json", func(w *durable.Writer) error {
		for _, s := range []string{"sum 00, ", strings.Repeat("long ", 1<<15)} {
			if _, err := w.WriteString(s); err != nil {
				return err
			}
		}
		if _, err := w.WriteAt([]byte("4f"), 4); err != nil {
			return err
		}
		_, err := w.WriteString("end")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "sum 4f, " + strings.Repeat("long ", 1<<15) + "end"
	if got := content(t, filepath.Join(dir, "a.json")); got != want {
		t.Errorf("the file holds %.20q … of %d bytes, want %.20q … of %d", got, len(got), want, len(want))
	}
}

func TestAppend(t *testing.T) {
	for _, c := range []struct{ name, before, want string }{
		{"new", "", "line\n"},
		{"after a line", "one\n", "one\nline\n"},
		{"after half a line", "one\ntw", "one\nline\n"},
		{"after only half a line", "tw", "line\n"},
		{"after half a long line", "one\n" + strings.Repeat("long", 50_000), "one\nline\n"},
		{"after only half a long line", strings.Repeat("long", 50_000), "line\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, dir := open(t)
			file := filepath.Join(dir, "log")
			if c.before != "" {
				put(t, file, c.before, 0o600)
			}
			info, err := durable.Append(root, "log", []byte("line\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := content(t, file); got != c.want {
				t.Errorf("the file holds %q, want %q", got, c.want)
			}
			if there, err := root.Stat("log"); err != nil || durable.Identify(info) != durable.Identify(there) {
				t.Errorf("the file is reported as %v, is %v, %v", info, there, err)
			}
			wantMode(t, file, durable.Mode)
		})
	}
}

func TestCache(t *testing.T) {
	root, dir := open(t)
	for _, want := range []string{"one", "another"} {
		if err := durable.Cache(root, ".", "cache", []byte(want[:2]), []byte(want[2:])); err != nil {
			t.Fatal(err)
		}
		if got := content(t, filepath.Join(dir, "cache")); got != want {
			t.Errorf("the file holds %q, want %q", got, want)
		}
	}
	if err := durable.Cache(root, "absent", "absent/too/cache", []byte("x")); err != nil || content(t, filepath.Join(dir, "absent", "too", "cache")) != "x" {
		t.Errorf("a cache in a missing folder: %v", err)
	}
	if err := durable.Cache(root, "cache", "cache/cache", nil); err == nil {
		t.Error("a cache is written although its folder is a file")
	}
	if got := names(t, dir); !slices.Equal(got, []string{"absent", "cache"}) {
		t.Errorf("the folder holds %q, want only the caches", got)
	}
	temp := fmt.Sprintf("absent/.too-cache.%d%s", os.Getpid(), durable.TempSuffix)
	if err := root.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.Cache(root, "absent", "absent/too/cache", []byte("y")); err == nil {
		t.Errorf("a cache is written although its temporary file cannot be %s", temp)
	}
}

// TestCacheDir: caches are created and replaced, and what cannot be written is removed.
func TestCacheDir(t *testing.T) {
	root, dir := open(t)
	for _, want := range []string{"one", "another"} {
		d, err := durable.OpenCacheDir(root, "some/cache")
		if err != nil {
			t.Fatal(err)
		}
		info, err := d.Write("a", []byte(want[:2]), []byte(want[2:]))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "some", "cache", "a")
		if got := content(t, name); got != want {
			t.Errorf("the file holds %q, want %q", got, want)
		}
		wantMode(t, name, durable.Mode)
		if there, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && durable.Identify(info) != durable.Identify(there) {
			t.Errorf("the file is reported as %v, is %v, %v", info, there, err)
		}
		broken := errors.New("broken")
		for _, fails := range []durable.Action{durable.Make, durable.Write} {
			restore := durable.Interpose(func(_ *os.Root, s durable.Step) error {
				if s.Do == fails {
					return broken
				}
				return nil
			})
			_, err := d.Write("b", []byte("text"))
			restore()
			if !errors.Is(err, broken) {
				t.Errorf("%s: %v, want %v", fails, err, broken)
			}
		}
		if err := root.Mkdir("some/cache/c", 0o700); err == nil {
			put(t, filepath.Join(dir, "some", "cache", "c", "file"), "x", 0o600)
		}
		if _, err := d.Write("c", nil); err == nil {
			t.Error("a cache replaces a folder")
		}
		if got := names(t, filepath.Join(dir, "some", "cache")); !slices.Equal(got, []string{"a", "c"}) {
			t.Errorf("the folder holds %q", got)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	put(t, filepath.Join(dir, "file"), "x", 0o600)
	if _, err := durable.OpenCacheDir(root, "file/cache"); err == nil {
		t.Error("a file is opened as a folder of caches")
	}
}

// TestIdentity: a file that was changed in place, with the same size and
// modification time, has another identity if the system reports the time of the
// change, as soon as its clock has advanced.
func TestIdentity(t *testing.T) {
	root, dir := open(t)
	info, err := durable.Create(root, "a.json", durable.Bytes([]byte("one")))
	if err != nil {
		t.Fatal(err)
	}
	before := durable.Identify(info)
	for start := time.Now(); time.Since(start) < 2*time.Second; {
		put(t, filepath.Join(dir, "a.json"), "two", 0o600)
		if err := durable.Touch(root, "a.json", info.ModTime()); err != nil {
			t.Fatal(err)
		}
		there, err := root.Stat("a.json")
		if err != nil {
			t.Fatal(err)
		}
		after := durable.Identify(there)
		if before.Size != after.Size || before.ModTime != after.ModTime {
			t.Fatalf("size and time are %v, were %v", after, before)
		}
		if before.Inode == 0 || before != after {
			return
		}
	}
	t.Errorf("the changed file has its former identity: %v", before)
}

// TestOpenCache: only a regular file within the size limit is opened.
func TestOpenCache(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, "cache"), "12345", 0o600)
	if err := os.Symlink("cache", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	f, err := durable.OpenCache(root, "cache", 5)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if runtime.GOOS == "linux" {
		if err := exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cache", "link", ".", "absent", "pipe"} {
		if f, err := durable.OpenCache(root, name, 4); err == nil {
			t.Errorf("%s is read as a cache", name)
			f.Close()
		}
	}
}
