package restore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

func (o objects) Size(id pack.ID) (int64, bool) {
	data, ok := o[id]
	return int64(len(data)), ok
}

func (o objects) Read(ids []pack.ID, each func(pack.ID, []byte, bool) error) error {
	for _, id := range ids {
		data, ok := o[id]
		if !ok {
			return fs.ErrNotExist
		}
		half := len(data) / 2
		if half > 0 {
			if err := each(id, data[:half], false); err != nil {
				return err
			}
		}
		if err := each(id, data[half:], true); err != nil {
			return err
		}
	}
	return nil
}

// A desk is a folder, and a store in which journals are.
type desk struct {
	t       testing.TB
	dir     string
	folder  *os.Root
	journal restore.Journal
}

func newDesk(t testing.TB, s state) *desk {
	t.Helper()
	dir := t.TempDir()
	return deskAt(t, dir, s)
}

// deskAt makes a desk in dir, or opens the one that is there if s is nil.
func deskAt(t testing.TB, dir string, s state) *desk {
	t.Helper()
	for _, name := range []string{"folder", "store", "store/states"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil && s != nil {
			t.Fatal(err)
		}
	}
	folder, err := os.OpenRoot(filepath.Join(dir, "folder"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := os.OpenRoot(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close(); store.Close() })
	d := &desk{t, filepath.Join(dir, "folder"), folder, restore.JournalOf(store, "id")}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		d.write(name, s[name])
	}
	return d
}

// write makes a path what has says.
func (d *desk) write(name, has string) {
	d.t.Helper()
	full := filepath.Join(d.dir, name)
	e := entry(name, has)
	_, content, _ := strings.Cut(has, " ")
	var err error
	switch e.Type {
	case filetree.Dir:
		if err = os.Mkdir(full, 0o700); err == nil {
			err = os.Chmod(full, e.Perm)
		}
	case filetree.Link:
		err = os.Symlink(content, full)
	default:
		if err = os.WriteFile(full, []byte(content), 0o600); err == nil {
			err = os.Chmod(full, e.Perm)
		}
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// read returns what the folder has.
func (d *desk) read() state {
	d.t.Helper()
	s := state{}
	err := filepath.WalkDir(d.dir, func(full string, e fs.DirEntry, err error) error {
		if err != nil || full == d.dir {
			return err
		}
		name, _ := filepath.Rel(d.dir, full)
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			s[name] = fmt.Sprintf("d%o", info.Mode().Perm())
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(full)
			s[name] = "l " + target
			return err
		default:
			data, err := os.ReadFile(full)
			s[name] = fmt.Sprintf("f%o %s", info.Mode().Perm(), data)
			return err
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) apply(o objects, p *restore.Plan) *restore.Report {
	d.t.Helper()
	r, err := restore.Apply(context.Background(), d.folder, d.journal, o, p, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if pending, err := d.journal.Pending(); pending || err != nil {
		d.t.Errorf("the journal is left, %v", err)
	}
	return r
}

// interpose calls f before each step in the folder, until the test ends.
func (d *desk) interpose(f func(s durable.Step) error) {
	d.t.Cleanup(durable.Interpose(func(root *os.Root, s durable.Step) error {
		if root != d.folder {
			return nil
		}
		return f(s)
	}))
}

func kept(r *restore.Report) string {
	var list []string
	for _, k := range r.Kept {
		list = append(list, k.Path+"="+k.Why+k.As)
	}
	return strings.Join(list, " ")
}

// turn is a story with one span, after which nothing changed.
func turn(target, last string) *story {
	s := &story{target: parse(target), last: parse(last)}
	s.now, s.spans = s.last, [][2]state{{s.target, s.last}}
	return s
}

// TestApply: the folder has the target afterwards, with and without an exchange of names.
func TestApply(t *testing.T) {
	for _, row := range []struct{ what, target, last string }{
		{"content", "a:=1\nd/b:=1", "a:=2\nd/b:=2"},
		{"new and deleted", "a:=1\nd/e/b:=1", "c:=2\nf/g/h:=2"},
		{"permission bits", "a:f755 1\nb:f644 1\nd:d700", "a:f644 1\nb:f755 2\nd:d755"},
		{"empty folders", "d:d755\ne/f:d700", "g/h:d755"},
		{"folder against file", "a:=1\nb/c/d:=1", "a/b/c:=1\nb:=1"},
		{"link against file", "a:l x\nb:=y\nc:l z", "a:=x\nb:l y\nc:l zz"},
		{"link against folder", "a:l x\nb/c:=1", "a/x:=1\nb:l c"},
		{"case only", "Readme:=1\nDir/x:=1", "README:=1\ndir/x:=1"},
		{"line ends and any bytes", "a:=1\r\n\x00\xff\r", "a:=1\n"},
		{"names of any bytes", "a\nb:=1\n", "c d:=2"},
		{"a folder without permission to write", "d:d555\nd/a:=1", "a:=1"},
		{"the same content many times", "a:=1\nb:=1\nc:l 1\nd:l 1", ""},
		{"nothing", "a:=1", "a:=1"},
	} {
		for _, exchange := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%t", row.what, exchange), func(t *testing.T) {
				s := turn(row.target, row.last)
				d := newDesk(t, s.now)
				if !exchange {
					d.interpose(func(s durable.Step) error {
						if s.Do == durable.Swap {
							return errors.ErrUnsupported
						}
						return nil
					})
				}
				p := s.plan(t, restore.Options{})
				r := d.apply(s.objects, p)
				if got := d.read(); !maps.Equal(got, s.target) {
					t.Errorf("the folder has %q, want %q", got, s.target)
				}
				want := &restore.Report{}
				for _, c := range p.Changes {
					if c.To.Type == 0 {
						want.Deleted = append(want.Deleted, c.Path)
					} else {
						want.Written = append(want.Written, c.Path)
					}
				}
				if !slices.Equal(r.Written, want.Written) || !slices.Equal(r.Deleted, want.Deleted) || len(r.Kept) > 0 {
					t.Errorf("the report is %+v, want %+v", r, want)
				}
			})
		}
	}
}

// TestUntouchedFiles: files that do not change keep times and inodes.
func TestUntouchedFiles(t *testing.T) {
	s := turn("a:=1\nb:=1\nd/c:=1", "a:=2\nb:=1\nd/c:=1")
	d := newDesk(t, s.now)
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	before := map[string]fs.FileInfo{}
	for _, name := range []string{"b", "d/c", "d"} {
		if err := os.Chtimes(filepath.Join(d.dir, name), old, old); err != nil {
			t.Fatal(err)
		}
		before[name], _ = os.Lstat(filepath.Join(d.dir, name))
	}
	d.apply(s.objects, s.plan(t, restore.Options{}))
	for name, was := range before {
		is, err := os.Lstat(filepath.Join(d.dir, name))
		if err != nil || durable.Identify(is) != durable.Identify(was) {
			t.Errorf("%s changed: %v, %v", name, is, err)
		}
	}
}

// TestUndo: a restore can be undone: the state before it comes back.
func TestUndo(t *testing.T) {
	s := turn("a:=1\nd/b:=1", "a:=2\nc:=2")
	d := newDesk(t, s.now)
	d.apply(s.objects, s.plan(t, restore.Options{}))
	back := &story{objects: s.objects, target: s.last, last: s.target, now: s.target, spans: [][2]state{{s.last, s.target}}}
	d.apply(s.objects, back.plan(t, restore.Options{}))
	if got := d.read(); !maps.Equal(got, s.last) {
		t.Errorf("the folder has %q", got)
	}
}

// TestKeptOutside: what no state has stays: in a folder that must go, ignored and left-out
// files, and a file that the plan does not expect.
func TestKeptOutside(t *testing.T) {
	s := turn("a:=1", "a:=1\nout/made:=2\nx:=2")
	d := newDesk(t, s.now)
	d.write("out/big", "f644 big")
	d.write("secret", "f600 key")
	if err := os.WriteFile(filepath.Join(d.dir, "x"), []byte("newer"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := d.apply(s.objects, s.plan(t, restore.Options{Whole: true}))
	want := state{"a": "f644 1", "out": "d755", "out/big": "f644 big", "secret": "f600 key", "x": "f644 newer"}
	if got := d.read(); !maps.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	if got := kept(r); got != "out=not_empty x=changed" {
		t.Errorf("kept %s", got)
	}
}

// TestDenied: a path that the system refuses to change, such as one on a file system inside of
// the folder that is read-only, is kept, and the others change.
func TestDenied(t *testing.T) {
	s := turn("a:=1\nb:=1\nd:d755", "a:=2\nb:=2\nc:=2\ne:d755")
	refusals := []error{fs.ErrPermission, syscall.EROFS}
	for i, denied := range []string{"a", "c", "d", "e", "a", "c", "d", "e"} {
		d := newDesk(t, s.now)
		p := s.plan(t, restore.Options{})
		restored := durable.Interpose(func(_ *os.Root, s durable.Step) error {
			if (s.Do == durable.Swap || s.Do == durable.Rename) && (s.To == denied || s.Name == denied) || s.Do == durable.Mkdir && s.Name == denied || s.Do == durable.Unlink && s.Name == denied {
				return refusals[i/4]
			}
			return nil
		})
		r := d.apply(s.objects, p)
		restored()
		want := maps.Clone(s.target)
		if delete(want, denied); s.now[denied] != "" {
			want[denied] = s.now[denied]
		}
		if got := d.read(); !maps.Equal(got, want) || kept(r) != denied+"=denied" {
			t.Errorf("%s: kept %s, the folder has %q", denied, kept(r), got)
		}
	}
}

// TestSpecialBits: bits that states do not hold, such as that by which new files get the group
// of a directory, stay when the permission bits of the directory change.
func TestSpecialBits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such bits")
	}
	s := turn("d:d755\nd/new:d755", "d:d700")
	d := newDesk(t, s.now)
	name := filepath.Join(d.folder.Name(), "d")
	if err := os.Chmod(name, 0o700|fs.ModeSetgid|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	d.apply(s.objects, s.plan(t, restore.Options{}))
	if info, err := os.Lstat(name); err != nil || info.Mode() != fs.ModeDir|fs.ModeSetgid|fs.ModeSticky|0o755 {
		t.Errorf("the directory has %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(filepath.Join(name, "new")); err != nil || runtime.GOOS == "linux" && info.Mode() != fs.ModeDir|fs.ModeSetgid|0o755 {
		t.Errorf("the new directory has %v, %v", info, err)
	}
}

// TestReplacedFileIsPlain: a file that is replaced has no bits by which it would run as another
// user: states do not hold them, and the content is another one. If only its permission bits
// change, it keeps them.
func TestReplacedFileIsPlain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such bits")
	}
	s := turn("a:f755 1\nb:f755 1", "a:f755 2\nb:f700 1")
	d := newDesk(t, s.now)
	for _, name := range []string{"a", "b"} {
		full := filepath.Join(d.folder.Name(), name)
		info, err := os.Lstat(full)
		if err == nil {
			err = os.Chmod(full, info.Mode()|fs.ModeSetuid|fs.ModeSetgid)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d.apply(s.objects, s.plan(t, restore.Options{}))
	for name, want := range map[string]fs.FileMode{"a": 0o755, "b": 0o755 | fs.ModeSetuid | fs.ModeSetgid} {
		if info, err := os.Lstat(filepath.Join(d.folder.Name(), name)); err != nil || info.Mode() != want {
			t.Errorf("%s has %v, %v", name, info.Mode(), err)
		}
	}
}

// TestPending: as long as a restore is not complete, no other one begins; Resume completes it
// once.
func TestPending(t *testing.T) {
	s := turn("a:=1\nb:=1", "a:=2\nb:=2")
	d := newDesk(t, s.now)
	p := s.plan(t, restore.Options{})
	swaps := 0
	undo := durable.Interpose(func(_ *os.Root, s durable.Step) error {
		if s.Do == durable.Swap {
			swaps++
		}
		if swaps == 2 {
			return errors.New("the process ended")
		}
		return nil
	})
	if _, err := restore.Apply(t.Context(), d.folder, d.journal, s.objects, p, nil); err == nil {
		t.Fatal("no error")
	}
	undo()
	if _, err := restore.Apply(t.Context(), d.folder, d.journal, s.objects, p, nil); !errors.Is(err, restore.ErrPending) {
		t.Errorf("another one: %v", err)
	}
	if r, err := restore.Resume(d.folder, d.journal); err != nil || len(r.Written) != 2 || len(r.Kept) > 0 {
		t.Errorf("Resume: %+v, %v", r, err)
	}
	if got := d.read(); !maps.Equal(got, s.target) {
		t.Errorf("the folder has %q", got)
	}
	if r, err := restore.Resume(d.folder, d.journal); r != nil || err != nil {
		t.Errorf("Resume again: %+v, %v", r, err)
	}
}

// TestStageRemoved: if another program removes the stage of an interrupted restore, Resume says
// which paths did not change.
func TestStageRemoved(t *testing.T) {
	s := turn("a:=1\nb:=1\nc:=1", "a:=2\nb:=2\nd:=2")
	d := newDesk(t, s.now)
	swaps := 0
	undo := durable.Interpose(func(_ *os.Root, s durable.Step) error {
		if s.Do == durable.Swap {
			swaps++
		}
		if swaps == 2 {
			return errors.New("the process ended")
		}
		return nil
	})
	if _, err := restore.Apply(t.Context(), d.folder, d.journal, s.objects, s.plan(t, restore.Options{}), nil); err == nil {
		t.Fatal("no error")
	}
	undo()
	stages, err := filepath.Glob(filepath.Join(d.dir, ".restore-*"))
	if err != nil || len(stages) != 1 {
		t.Fatalf("%q, %v", stages, err)
	}
	if err := os.RemoveAll(stages[0]); err != nil {
		t.Fatal(err)
	}
	r, err := restore.Resume(d.folder, d.journal)
	want := []restore.Kept{{Path: "b", Why: restore.Changed}, {Path: "c", Why: restore.Changed}}
	if err != nil || !slices.Equal(r.Kept, want) {
		t.Errorf("Resume: %+v, %v", r, err)
	}
	if pending, err := d.journal.Pending(); pending || err != nil {
		t.Errorf("pending is %v, %v", pending, err)
	}
}

// TestDamagedJournal: a journal that is damaged is an error that names it, and nothing changes.
func TestDamagedJournal(t *testing.T) {
	d := newDesk(t, state{"a": "f644 1"})
	const stage = `{"stage":".restore-x.bough-tmp","staged":true,"operations":1}` + "\n"
	line := fmt.Sprintf("f 644 1 %v a\x00", pack.IDOf([]byte("1")))
	if err := d.journal.Root.MkdirAll(restore.JournalDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "{}", `{"stage":"a","staged":true}`, `{"stage":"../.restore-x.bough-tmp"}`, stage, stage + "remove\x00a\x00", stage + "remove\x00../a\x00" + line + "\x00",
		stage + "burn\x00a\x00" + line + "\x00", stage + "remove\x00a\x00" + line[1:] + "\x00", stage + "remove\x00a\x00" + line + "\x00x",
	} {
		if err := d.journal.Root.WriteFile(d.journal.Name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := restore.Resume(d.folder, d.journal); err == nil || !strings.Contains(err.Error(), d.journal.Name) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	if got := d.read(); !maps.Equal(got, state{"a": "f644 1"}) {
		t.Errorf("the folder has %q", got)
	}
}

// TestRefused: nothing changes if the plan has conflicts, if the store lacks content that is to be
// removed or written, or if the content cannot be read.
func TestRefused(t *testing.T) {
	s := turn("a:=1\nb:=1", "a:=2")
	p := s.plan(t, restore.Options{})
	for what, change := range map[string]func(o objects, p *restore.Plan){
		"a conflict":         func(_ objects, p *restore.Plan) { p.Conflicts = []restore.Conflict{{Path: "c"}} },
		"no present content": func(o objects, _ *restore.Plan) { delete(o, pack.IDOf([]byte("2"))) },
		"no target":          func(o objects, _ *restore.Plan) { delete(o, pack.IDOf([]byte("1"))) },
	} {
		d, o, q := newDesk(t, s.now), maps.Clone(s.objects), *p
		change(o, &q)
		if r, err := restore.Apply(t.Context(), d.folder, d.journal, o, &q, nil); err == nil {
			t.Errorf("%s: %+v", what, r)
		}
		if got := d.read(); !maps.Equal(got, s.now) {
			t.Errorf("%s: the folder has %q", what, got)
		}
	}
	d := newDesk(t, s.now)
	n := 0
	d.interpose(func(s durable.Step) error {
		if n++; n == 4 {
			return errors.New("the disk is full")
		}
		return nil
	})
	_, err := restore.Apply(t.Context(), d.folder, d.journal, s.objects, p, nil)
	if pending, _ := d.journal.Pending(); err == nil || pending {
		t.Errorf("%v, pending %t", err, pending)
	}
	if got := d.read(); !maps.Equal(got, s.now) {
		t.Errorf("after an error in the stage the folder has %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := restore.Apply(ctx, d.folder, d.journal, s.objects, p, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestNoLinkIsFollowed: a directory that becomes a link, before or at any moment of a
// restore, leads no write out of the folder, or elsewhere in it.
func TestNoLinkIsFollowed(t *testing.T) {
	s := turn("d/a:=1\nd/b/c:=1\nd/n:=1", "d/a:=2\nd/b/c:=2\nd/x:=2")
	p := s.plan(t, restore.Options{})
	for step := 0; ; step++ {
		d := newDesk(t, s.now)
		outside := t.TempDir()
		for _, there := range []string{outside, filepath.Join(d.dir, "other")} {
			os.Mkdir(there, 0o755)
			for _, name := range []string{"a", "x"} {
				if err := os.WriteFile(filepath.Join(there, name), []byte("2"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := (&desk{t: t, dir: outside}).read()
		n, stop := 0, false
		restoreSteps := durable.Interpose(func(root *os.Root, _ durable.Step) error {
			if n++; root == d.folder && n > step && !stop {
				stop = true
				to := outside
				if step%2 == 0 {
					to = "other"
				}
				os.Rename(filepath.Join(d.dir, "d"), filepath.Join(d.dir, "moved"))
				os.Symlink(to, filepath.Join(d.dir, "d"))
			}
			return nil
		})
		_, err := restore.Apply(t.Context(), d.folder, d.journal, s.objects, p, nil)
		restoreSteps()
		if err != nil {
			t.Fatal(err)
		}
		if got := (&desk{t: t, dir: outside}).read(); !maps.Equal(got, before) {
			t.Fatalf("step %d: outside there is %q", step, got)
		}
		if got := d.read(); got["other/a"] != "f644 2" || got["other/x"] != "f644 2" || len(within2(got, "other")) != 3 {
			t.Fatalf("step %d: the folder has %q", step, got)
		}
		if !stop {
			return
		}
	}
}

// within2 returns the paths of s at a path or below it.
func within2(s state, name string) (list []string) {
	for p := range s {
		if within(p, []string{name}) {
			list = append(list, p)
		}
	}
	return list
}

// FuzzSecondWriter: whatever another program writes, removes or renames before any step of a
// restore, no content of it is lost: each content that the folder ever had is in the
// folder or in the store.
func FuzzSecondWriter(f *testing.F) {
	for seed := range uint64(testsize.Of(10, 25, 1000)) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if lost := secondWriter(t, seed, never, restore.Apply); len(lost) > 0 {
			t.Fatalf("lost %q", lost)
		}
	})
}

// FuzzStopped: as FuzzSecondWriter, if the process ends at any step, and Resume completes the
// restore while the other program continues.
func FuzzStopped(f *testing.F) {
	for seed := range uint64(testsize.Of(10, 25, 1000)) {
		f.Add(seed, byte(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, stop byte) {
		if lost := secondWriter(t, seed, int(stop), restore.Apply); len(lost) > 0 {
			t.Fatalf("lost %q", lost)
		}
	})
}

// TestUncheckedLoses: without comparing the present files, a restore loses what a second writer
// wrote, and the fuzz test finds it.
func TestUncheckedLoses(t *testing.T) {
	for seed := range uint64(100) {
		if len(secondWriter(t, seed, never, restore.ApplyUnchecked)) > 0 {
			return
		}
	}
	t.Error("nothing was lost")
}

// TestFasterWriter: a file that another program replaces in the moment before its rename gets
// its name back.
func TestFasterWriter(t *testing.T) {
	for _, exchange := range []bool{true, false} {
		for _, path := range []string{"a", "b"} { // one is replaced, one removed
			s := turn("a:=1", "a:=2\nb:=2")
			d := newDesk(t, s.now)
			done := false
			d.interpose(func(s durable.Step) error {
				if !done && (s.Name == path || s.To == path && s.Do == durable.Swap) {
					done = true
					os.WriteFile(filepath.Join(d.dir, "temp"), []byte("newer"), 0o644)
					os.Rename(filepath.Join(d.dir, "temp"), filepath.Join(d.dir, path))
				}
				if s.Do == durable.Swap && !exchange {
					return errors.ErrUnsupported
				}
				return nil
			})
			r := d.apply(s.objects, s.plan(t, restore.Options{}))
			want := state{"a": "f644 1", path: "f644 newer"}
			if got := d.read(); !maps.Equal(got, want) || kept(r) != path+"=changed" {
				t.Errorf("%s, %t: kept %s, the folder has %q", path, exchange, kept(r), got)
			}
		}
	}
}

// TestLateWriter: a program that had a file open and writes to it after it was replaced or
// removed loses nothing.
func TestLateWriter(t *testing.T) {
	s := turn("a:=1", "a:=2\nb:=2")
	d := newDesk(t, s.now)
	var open []*os.File
	for _, name := range []string{"a", "b"} {
		f, err := os.OpenFile(filepath.Join(d.dir, name), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		open = append(open, f)
	}
	d.interpose(func(s durable.Step) error {
		if s.Do == durable.SyncDir && len(open) > 0 {
			if _, err := os.Lstat(filepath.Join(d.dir, "b")); err != nil { // it is in the stage
				for _, f := range open {
					f.WriteString("late")
				}
				open = nil
			}
		}
		return nil
	})
	r := d.apply(s.objects, s.plan(t, restore.Options{}))
	if got, want := d.read(), (state{"a": "f644 1", "a.bough-kept-1": "f644 late", "b.bough-kept-1": "f644 late"}); !maps.Equal(got, want) {
		t.Errorf("the folder has %q", got)
	}
	if got := kept(r); got != "a=changeda.bough-kept-1 b=changedb.bough-kept-1" {
		t.Errorf("kept %s", got)
	}
}

// never is a number of steps after which nothing stops.
const never = 1 << 30

// secondWriter applies a random plan while another program writes, and returns what that
// wrote and is lost. After a number of steps the process ends, and another one resumes.
func secondWriter(t testing.TB, seed uint64, stop int, apply func(context.Context, *os.Root, restore.Journal, restore.Store, *restore.Plan, []byte) (*restore.Report, error)) (lost []string) {
	r := rand.New(rand.NewPCG(seed, 2))
	s := &story{objects: objects{}, target: edited(r, edited(r, edited(r, state{})))}
	s.now = edited(r, edited(r, s.target))
	s.last, s.spans = s.now, [][2]state{{s.target, s.now}}
	p := s.plan(t, restore.Options{})
	d := newDesk(t, s.now)
	alive := map[string]bool{} // contents that the second writer wrote and did not remove itself
	exchange := r.IntN(3) > 0
	version, steps, ended := 0, 0, errors.New("the process ended")
	undo := durable.Interpose(func(root *os.Root, step durable.Step) error {
		if steps++; steps > stop {
			return ended
		}
		if root != d.folder {
			return nil
		}
		for r.IntN(3) == 0 {
			version++
			paths := slices.Sorted(maps.Keys(s.now))
			paths = append(paths, slices.Sorted(maps.Keys(s.target))...)
			if len(paths) == 0 {
				break
			}
			name := paths[r.IntN(len(paths))]
			d.interfere(r, name, fmt.Sprintf("version %d", version), alive)
		}
		if step.Do == durable.Swap && !exchange {
			return errors.ErrUnsupported
		}
		return nil
	})
	_, err := apply(context.Background(), d.folder, d.journal, s.objects, p, nil)
	if errors.Is(err, ended) {
		stop = never
		_, err = restore.Resume(d.folder, d.journal)
	}
	undo()
	if err != nil {
		t.Fatalf("%v; %s", err, text(p))
	}
	got := map[string]bool{}
	for _, has := range d.read() {
		_, content, _ := strings.Cut(has, " ")
		got[content] = true
	}
	for content := range alive {
		if !got[content] {
			lost = append(lost, content)
		}
	}
	for name := range d.read() {
		if strings.HasSuffix(name, durable.TempSuffix) {
			t.Fatalf("%s is left", name)
		}
	}
	return lost
}

// interfere does something with a path as another program would, outside the stage.
func (d *desk) interfere(r *rand.Rand, name, content string, alive map[string]bool) {
	full := filepath.Join(d.dir, name)
	lost := func() {
		if data, err := os.ReadFile(full); err == nil {
			delete(alive, string(data))
		}
	}
	info, err := os.Lstat(full)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return
	}
	switch r.IntN(5) {
	case 0: // in place
		if err == nil && info.Mode().IsRegular() {
			lost()
			if os.WriteFile(full, []byte(content), 0o644) == nil {
				alive[content] = true
			}
		}
	case 1: // by a rename
		temp := filepath.Join(d.dir, "temp")
		if err == nil && !info.Mode().IsRegular() {
			return
		}
		if os.WriteFile(temp, []byte(content), 0o644) == nil {
			lost()
			if os.Rename(temp, full) == nil {
				alive[content] = true
			}
		}
		os.Remove(temp)
	case 2: // the folder as well
		if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
			if f, err := os.OpenFile(full, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
				f.WriteString(content)
				f.Close()
				alive[content] = true
			}
		}
	case 3:
		if err == nil && info.Mode().IsRegular() {
			lost()
			os.Remove(full)
		}
	case 4:
		os.Rename(full, filepath.Join(d.dir, path.Dir(name), content))
	}
}

// TestNote: a journal with a note stays when all is done, also after an interruption, until
// the caller removes it.
func TestNote(t *testing.T) {
	s := turn("a:=1\nb:=1", "a:=2")
	for _, stop := range []bool{false, true} {
		d := newDesk(t, s.now)
		swaps := 0
		if stop {
			d.interpose(func(s durable.Step) error {
				if s.Do == durable.Swap || s.Do == durable.Rename {
					if swaps++; swaps == 1 {
						return errors.New("stopped")
					}
				}
				return nil
			})
		}
		_, err := restore.Apply(t.Context(), d.folder, d.journal, s.objects, s.plan(t, restore.Options{}), []byte(`{"verb":"x"}`))
		if stop != (err != nil) {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := restore.Resume(d.folder, d.journal); err != nil {
				t.Fatal(err)
			}
			if note, err := d.journal.Note(); err != nil || string(note) != `{"verb":"x"}` {
				t.Errorf("the note is %s, %v", note, err)
			}
		}
		if got := d.read(); !maps.Equal(got, s.target) {
			t.Errorf("the folder has %q", got)
		}
		if err := d.journal.Remove(); err != nil {
			t.Fatal(err)
		}
		if note, err := d.journal.Note(); note != nil || err != nil {
			t.Errorf("the note is %s, %v", note, err)
		}
	}
}

// A rotten store has a content that cannot be read.
type rotten struct {
	objects
	id pack.ID
}

func (s rotten) Read(ids []pack.ID, each func(pack.ID, []byte, bool) error) error {
	if slices.Contains(ids, s.id) {
		return &pack.DamageError{Name: "states/000001.zst"}
	}
	return s.objects.Read(ids, each)
}

// TestLostContent: what the store has lost is neither replaced nor removed, and nothing else
// changes.
func TestLostContent(t *testing.T) {
	target := state{"a": "f644 1", "b": "f644 1", "c": "f644 1"}
	for _, last := range []state{
		{"a": "f644 2", "b": "f644 only copy", "c": "f644 3"},
		{"a": "f644 2", "c": "f644 1", "d": "f644 only copy"},
	} {
		s := &story{target: target, last: last, now: last, spans: [][2]state{{target, last}}}
		p := s.plan(t, restore.Options{})
		d := newDesk(t, s.now)
		_, err := restore.Apply(t.Context(), d.folder, d.journal, rotten{s.objects, entry("b", "f644 only copy").ID}, p, nil)
		lost, ok := errors.AsType[*restore.LostError](err)
		if _, damaged := errors.AsType[*pack.DamageError](err); !ok || !damaged || last[lost.Path] != "f644 only copy" {
			t.Errorf("%v", err)
		}
		if got := d.read(); !maps.Equal(got, last) {
			t.Errorf("the folder has %v", got)
		}
		if is, err := d.journal.Pending(); is || err != nil {
			t.Errorf("pending is %v, %v", is, err)
		}
	}
}
