package durable_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

// in calls do with an open directory.
func in(root *os.Root, name string, do func(d *durable.Dir) error) error {
	d, err := durable.OpenDir(root, name)
	if err != nil {
		return err
	}
	defer d.Close()
	return do(d)
}

// written writes a new file.
func written(f *durable.NewFile, err error, end func(*durable.NewFile) error) error {
	if err != nil {
		return err
	}
	if _, err := f.Write([]byte("new")); err != nil {
		f.Close()
		return err
	}
	return end(f)
}

// calls are those that change the folder with the files a, whose line is torn, dir/b and dir/sub/c.
var calls = map[string]func(root *os.Root) error{
	"Remove":    func(root *os.Root) error { return durable.Remove(root, "a", "dir/b") },
	"RemoveAll": func(root *os.Root) error { return durable.RemoveAll(root, "dir") },
	"Keep":      func(root *os.Root) error { return durable.Keep(root, "a", "dir/kept") },
	"MakeDir":   func(root *os.Root) error { return durable.MakeDir(root, "x/y/z") },
	"SyncNames": func(root *os.Root) error { return durable.SyncNames(root, "dir") },
	"SyncDirs":  func(root *os.Root) error { return durable.SyncDirs(root, []string{"dir", "absent", "a", "dir/sub"}) },
	"Touch":     func(root *os.Root) error { return durable.Touch(root, "a", time.Unix(1, 0)) },
	"CutLog":    func(root *os.Root) error { return durable.CutLog(root, "a", 1) },
	"NewDir": func(root *os.Root) error {
		_, err := durable.NewDir(root, "dir/x")
		return err
	},
	"MakeRoot": func(root *os.Root) error {
		made, err := durable.MakeRoot(filepath.Join(root.Name(), "x", "y"))
		if err == nil {
			made.Close()
		}
		return err
	},
	"Append to a new file": func(root *os.Root) error {
		_, err := durable.Append(root, "dir/log", []byte("line\n"))
		return err
	},
	"Append after a torn line": func(root *os.Root) error {
		_, err := durable.Append(root, "a", []byte("line\n"))
		return err
	},
	"AppendCache": func(root *os.Root) error {
		_, err := durable.AppendCache(root, "a", []byte("line\n"))
		return err
	},
	"Batch.Flush, Batch.Rename": func(root *os.Root) error {
		b := durable.NewBatch(root)
		defer b.Discard()
		if _, err := b.Create("dir/x", durable.Bytes([]byte("new"))); err != nil {
			return err
		}
		if err := errors.Join(b.Flush(), b.Rename("dir/y")); err != nil {
			return err
		}
		_, _, err := b.Commit(context.Background())
		return err
	},
	"Dir.Mkdir": func(root *os.Root) error {
		return in(root, "dir", func(d *durable.Dir) error { return d.Mkdir("x", 0o700) })
	},
	"Dir.Symlink": func(root *os.Root) error {
		return in(root, "dir", func(d *durable.Dir) error { return d.Symlink("b", "x") })
	},
	"Dir.Unlink": func(root *os.Root) error { return in(root, "dir", func(d *durable.Dir) error { return d.Unlink("b") }) },
	"Dir.Rmdir": func(root *os.Root) error {
		return in(root, "dir/sub", func(d *durable.Dir) error {
			if err := d.Unlink("c"); err != nil {
				return err
			}
			return in(root, "dir", func(d *durable.Dir) error { return d.Rmdir("sub") })
		})
	},
	"Dir.Chmod": func(root *os.Root) error {
		return in(root, "dir", func(d *durable.Dir) error { return d.Chmod("b", 0o600) })
	},
	"Dir.Move": func(root *os.Root) error {
		return in(root, "dir", func(d *durable.Dir) error { return d.Move("b", d, "x") })
	},
	"Dir.Swap": func(root *os.Root) error {
		return in(root, "dir", func(d *durable.Dir) error {
			return in(root, "dir/sub", func(sub *durable.Dir) error { return d.Swap("b", sub, "c") })
		})
	},
	"Dir.Sync": func(root *os.Root) error { return in(root, "dir", (*durable.Dir).Sync) },
	"Dir.Create": func(root *os.Root) error {
		return in(root, "dir", func(d *durable.Dir) error {
			f, err := d.Create("x", 0o600, d, "b")
			return written(f, err, (*durable.NewFile).Flush)
		})
	},
	"Dir.CreateMasked": func(root *os.Root) error {
		return in(root, "dir", func(d *durable.Dir) error {
			f, err := d.CreateMasked("x", 0o600)
			return written(f, err, (*durable.NewFile).Close)
		})
	},
	"Flusher": func(root *os.Root) error {
		return in(root, "dir", func(d *durable.Dir) error {
			f, err := d.CreateMasked("x", 0o600)
			return written(f, err, func(f *durable.NewFile) error {
				var all durable.Flusher
				all.Add(f)
				return all.Wait()
			})
		})
	},
}

// filled returns a folder with files.
func filled(t *testing.T) *os.Root {
	t.Helper()
	root, dir := open(t)
	if err := os.MkdirAll(filepath.Join(dir, "dir", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "dir/b", "dir/sub/c"} {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), "torn", 0o600)
	}
	return root
}

// TestFaults: if a step of a call fails, the call fails with the error of the step, and makes no
// further step except to take back what it began.
func TestFaults(t *testing.T) {
	for name, do := range calls {
		t.Run(name, func(t *testing.T) {
			steps := 0
			for k := 0; ; k++ {
				root, n := filled(t), 0
				var failed durable.Action
				var after []durable.Action
				restore := durable.Interpose(func(_ *os.Root, s durable.Step) error {
					if n++; n == k+1 {
						failed = s.Do
						return syscall.EIO
					} else if n > k+1 {
						after = append(after, s.Do)
					}
					return nil
				})
				err := do(root)
				restore()
				if n <= k {
					if steps = n; err != nil && !errors.Is(err, errors.ErrUnsupported) {
						t.Errorf("without a fault: %v", err)
					}
					break
				}
				if !errors.Is(err, syscall.EIO) {
					t.Errorf("step %d fails, and the call returns %v", k+1, err)
				}
				for _, a := range after {
					several := a == durable.SyncDir && failed == a // they are flushed at the same time
					if a != durable.Cut && a != durable.Unlink && !several {
						t.Errorf("after the fault in step %d, %s: %s", k+1, failed, a)
					}
				}
			}
			if steps == 0 {
				t.Error("the call makes no step")
			}
		})
	}
}

// TestWrongNames: what is absent, or of another type, is an error that says so, and changes nothing.
func TestWrongNames(t *testing.T) {
	notRegular := func(err error) bool {
		_, ok := errors.AsType[*durable.NotRegularError](err)
		return ok && errors.Is(err, fs.ErrInvalid)
	}
	absent := func(err error) bool { return errors.Is(err, fs.ErrNotExist) }
	for what, c := range map[string]struct {
		do   func(root *os.Root) error
		want func(error) bool
	}{
		"ReadFile of nothing":     {func(root *os.Root) error { _, err := durable.ReadFile(root, "x"); return err }, absent},
		"ReadFile of a folder":    {func(root *os.Root) error { _, err := durable.ReadFile(root, "dir"); return err }, notRegular},
		"ReadDir of nothing":      {func(root *os.Root) error { _, err := durable.ReadDir(root, "x"); return err }, absent},
		"ReadDir of a file":       {func(root *os.Root) error { _, err := durable.ReadDir(root, "a"); return err }, notRegular},
		"RemoveAll of nothing":    {func(root *os.Root) error { return durable.RemoveAll(root, "x") }, absent},
		"RemoveAll of a file":     {func(root *os.Root) error { return durable.RemoveAll(root, "a") }, notRegular},
		"Keep of nothing":         {func(root *os.Root) error { return durable.Keep(root, "x", "y") }, absent},
		"Keep of a folder":        {func(root *os.Root) error { return durable.Keep(root, "dir", "y") }, notRegular},
		"Keep under a name":       {func(root *os.Root) error { return durable.Keep(root, "a", "dir/b") }, func(err error) bool { return errors.Is(err, fs.ErrExist) }},
		"KeepOriginal of nothing": {func(root *os.Root) error { return durable.KeepOriginal(root, "x", "y") }, absent},
		"CutLog of nothing":       {func(root *os.Root) error { return durable.CutLog(root, "x", 0) }, absent},
		"AppendCache to a folder": {func(root *os.Root) error { _, err := durable.AppendCache(root, "dir", nil); return err }, notRegular},
		"Append below nothing":    {func(root *os.Root) error { _, err := durable.Append(root, "x/log", nil); return err }, absent},
		"MakeDir of a file":       {func(root *os.Root) error { return durable.MakeDir(root, "a") }, func(err error) bool { return errors.Is(err, fs.ErrExist) }},
		"MakeDir below a file":    {func(root *os.Root) error { return durable.MakeDir(root, "a/x") }, func(err error) bool { return err != nil }},
		"MakeRoot below a file": {func(root *os.Root) error {
			_, err := durable.MakeRoot(filepath.Join(root.Name(), "a", "x"))
			return err
		}, func(err error) bool { return err != nil }},
		"OpenDir of nothing": {func(root *os.Root) error { _, err := durable.OpenDir(root, "dir/x"); return err }, absent},
		"OpenDir of a file":  {func(root *os.Root) error { _, err := durable.OpenDir(root, "dir/b/x"); return err }, notRegular},
		"Dir.Open of nothing": {func(root *os.Root) error {
			return in(root, "dir", func(d *durable.Dir) error { _, err := d.Open("x"); return err })
		}, absent},
		"Dir.Open of a folder": {func(root *os.Root) error {
			return in(root, "dir", func(d *durable.Dir) error { _, err := d.Open("sub"); return err })
		}, notRegular},
		"Dir.Rmdir of nothing": {func(root *os.Root) error { return in(root, "dir", func(d *durable.Dir) error { return d.Rmdir("x") }) }, absent},
		"Dir.Rmdir of a file": {func(root *os.Root) error { return in(root, "dir", func(d *durable.Dir) error { return d.Rmdir("b") }) },
			func(err error) bool { return errors.Is(err, durable.ErrChanged) }},
		"Dir.Chmod of nothing": {func(root *os.Root) error {
			return in(root, "dir", func(d *durable.Dir) error { return d.Chmod("x", 0) })
		}, absent},
		"Dir.CreateMasked of a file": {func(root *os.Root) error {
			return in(root, "dir", func(d *durable.Dir) error { _, err := d.CreateMasked("b", 0o600); return err })
		}, func(err error) bool { return errors.Is(err, fs.ErrExist) }},
		"Batch.Rename to a file": {func(root *os.Root) error {
			b := durable.NewBatch(root)
			defer b.Discard()
			if _, err := b.Create("dir/x", durable.Bytes(nil)); err != nil {
				return nil
			}
			return b.Rename("dir/b")
		}, func(err error) bool { return errors.Is(err, fs.ErrExist) }},
		"Batch.Rename to another folder": {func(root *os.Root) error {
			b := durable.NewBatch(root)
			defer b.Discard()
			if _, err := b.Create("dir/x", durable.Bytes(nil)); err != nil {
				return nil
			}
			return b.Rename("x")
		}, func(err error) bool { return errors.Is(err, errors.ErrUnsupported) }},
	} {
		root := filled(t)
		if err := c.do(root); !c.want(err) {
			t.Errorf("%s: %v", what, err)
		}
		var left []string
		fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				data, _ := root.ReadFile(name)
				left = append(left, name+"="+string(data))
			}
			return err
		})
		if got, want := strings.Join(left, " "), "a=torn dir/b=torn dir/sub/c=torn"; got != want {
			t.Errorf("%s leaves %s", what, got)
		}
	}
}
