package states_test

import (
	"bytes"
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
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

// A space is a workspace, and a folder whose states it has.
type space struct {
	testing.TB
	*states.Store
	workspace, dir string
	opts           scan.Options
	n              int
}

func newSpace(t testing.TB) *space {
	s := &space{TB: t, workspace: t.TempDir(), dir: t.TempDir()}
	s.opts.Now = func() time.Time { return time.Now().Add(time.Hour) }
	s.reopen()
	t.Cleanup(func() { s.Close() })
	return s
}

// reopen opens the store again, as another process does.
func (s *space) reopen() {
	s.Helper()
	if s.Store != nil {
		s.Close()
	}
	root, err := os.OpenRoot(s.workspace)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { root.Close() })
	s.Store = states.Open(root, ".bough/cache")
}

func (s *space) write(name, content string) {
	s.Helper()
	full := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		s.Fatal(err)
	}
}

func (s *space) try() (*states.State, error) {
	s.n++
	return s.Take(s.Context(), states.Request{
		State: states.State{ID: fmt.Sprintf("state-%d", s.n), Folder: "folder", Time: "2026-11-23T21:00:00.000000+00:00", At: states.Prompt},
		Dir:   s.dir, Scan: s.opts, Sources: sources(),
	})
}

func sources() []scan.Source {
	return []scan.Source{{Name: "info/exclude", Data: []byte("*.o\n")}}
}

func (s *space) take() *states.State {
	s.Helper()
	st, err := s.try()
	if err != nil {
		s.Fatal(err)
	}
	return st
}

// holds returns the content of each file of a state.
func (s *space) holds(st *states.State) map[string]string {
	s.Helper()
	got, err := holds(s.Store, st)
	if err != nil {
		s.Fatal(err)
	}
	return got
}

func holds(s *states.Store, st *states.State) (map[string]string, error) {
	list := map[string]string{}
	for c, err := range filetree.Diff(s.Get, pack.ID{}, st.Tree) {
		if err != nil {
			return nil, err
		}
		if c.To.Type == filetree.Dir {
			continue
		}
		data, err := s.Get(c.To.ID)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		list[c.Path] = string(data)
	}
	_, err := s.CoverageOf(st)
	return list, err
}

func (s *space) check(st *states.State, want map[string]string) {
	s.Helper()
	if got := s.holds(st); !maps.Equal(got, want) {
		s.Errorf("%s holds %q, want %q", st.ID, got, want)
	}
}

// healthy checks that nothing is damaged and that no temporary file is left.
func (s *space) healthy() {
	s.Helper()
	if problems, err := s.Verify(); err != nil || len(problems) > 0 {
		s.Errorf("Verify: %v, %v", problems, err)
	}
	for _, name := range s.files() {
		if strings.HasPrefix(name, ".") {
			s.Errorf("%s is left", name)
		}
	}
}

// files returns the names in states/.
func (s *space) files() (names []string) {
	s.Helper()
	list, err := os.ReadDir(filepath.Join(s.workspace, states.Dir))
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func (s *space) packs() []string {
	return slices.DeleteFunc(s.files(), func(name string) bool { return !strings.HasSuffix(name, ".zst") })
}

// TestTake: each state has the content that the folder had, with any number of states, and
// another process reads them.
func TestTake(t *testing.T) {
	s := newSpace(t)
	s.write("a", "1")
	s.write("d/b", "1\r\n")
	one := s.take()
	s.write("a", "2")
	two := s.take()
	three := s.take()
	s.reopen()
	list, err := s.States()
	if err != nil || len(list) != 3 || *list[0] != *one || *list[2] != *three || one.Files != 2 || one.Bytes != 4 {
		t.Fatalf("states %v: %v", list, err)
	}
	s.check(one, map[string]string{"a": "1", "d/b": "1\r\n"})
	s.check(two, map[string]string{"a": "2", "d/b": "1\r\n"})
	if three.Tree != two.Tree || three.NewBytes != 0 || three.Coverage != one.Coverage || len(s.packs()) != 2 {
		t.Errorf("an unchanged folder has the state %v, packs %v", three, s.packs())
	}
	c, err := s.CoverageOf(one)
	if err != nil || c.Rules.File != 16<<20 || len(c.Rules.Sources) != 1 || len(c.Left) != 0 {
		t.Fatalf("coverage %+v: %v", c, err)
	}
	if data, err := s.Get(c.Rules.Sources[0].Object); err != nil || string(data) != "*.o\n" {
		t.Errorf("the source of the rules is %q: %v", data, err)
	}
	if e, err := s.Find(one, "d/b"); err != nil || e.ID != pack.IDOf([]byte("1\r\n")) {
		t.Errorf("Find: %v, %v", e, err)
	}
	if _, err := s.Find(one, "d/c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find of nothing: %v", err)
	}
	if st, err := s.State("state-2"); err != nil || *st != *two {
		t.Errorf("State: %v, %v", st, err)
	}
	if _, err := s.State("state"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("State of an unknown id: %v", err)
	}
	s.n--
	if _, err := s.try(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second state with an id: %v", err)
	}
	s.healthy()
}

// TestOtherFolders: folders of a workspace share objects, and not caches.
func TestOtherFolders(t *testing.T) {
	s := newSpace(t)
	picture := strings.Repeat("picture", 100_000)
	s.write("picture.png", picture)
	s.take()
	size, err := s.Size()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "picture.png"), []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Take(t.Context(), states.Request{State: states.State{ID: fmt.Sprint(i), Folder: fmt.Sprint("folder ", i)}, Dir: dir}); err != nil {
			t.Fatal(err)
		}
	}
	after, err := s.Size()
	if err != nil || after > size+4096 {
		t.Errorf("20 copies take %d bytes, %v", after-size, err)
	}
	s.healthy()
}

// TestCacheOfLostState: the cache of a state that is gone is not believed: its objects may be
// gone too.
func TestCacheOfLostState(t *testing.T) {
	s := newSpace(t)
	s.write("a", "1")
	one := s.take()
	if err := s.Remove(one.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.packs(); len(n) != 0 {
		t.Errorf("packs %v without a state", n)
	}
	s.check(s.take(), map[string]string{"a": "1"})
	s.healthy()
}

// TestAbandonedPacks: takes that failed leave no more than what the next one uses or removes.
func TestAbandonedPacks(t *testing.T) {
	s := newSpace(t)
	s.write("a", "1")
	one := s.take()
	if err := os.WriteFile(filepath.Join(s.workspace, states.Dir, ".000009.zst.bough-tmp"), make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	records := filepath.Join(s.workspace, states.Dir, "states.jsonl")
	data, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	s.write("b", strings.Repeat("content of b", 1000))
	for range 50 { // each ends between its pack and its record
		s.take()
		if err := os.WriteFile(records, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.packs(); len(n) > 2 {
		t.Errorf("packs %v", n)
	}
	s.healthy()
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.packs(); len(n) != 1 {
		t.Errorf("packs %v after Tidy", n)
	}
	s.check(one, map[string]string{"a": "1"})
}

// TestTornRecord: a torn last record is no state, and the next one replaces it; a damaged one
// is reported, and the others are read.
func TestTornRecord(t *testing.T) {
	s := newSpace(t)
	s.write("a", "1")
	one := s.take()
	records := filepath.Join(s.workspace, states.Dir, "states.jsonl")
	data, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(records, append(data, `{"id":"torn"`...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.healthy()
	s.take()
	if list, err := s.States(); err != nil || len(list) != 2 {
		t.Errorf("states %v: %v", list, err)
	}
	unknown := bytes.Replace(data, []byte("{"), []byte(`{ "unknown": 1, `), 1)
	if err := os.WriteFile(records, slices.Concat(unknown, bytes.Replace(data, []byte("state-1"), []byte("state-9"), 1), []byte(`{"id":"torn"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("state-9"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(records); err != nil || !bytes.Equal(got, unknown) {
		t.Errorf("after Remove the records are %q, want %q: %v", got, unknown, err)
	}
	if err := os.WriteFile(records, slices.Concat(data, []byte("{}\n"), data), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := s.States()
	if damage, ok := errors.AsType[*states.RecordError](err); !ok || damage.Offset != int64(len(data)) || len(list) != 2 || *list[1] != *one {
		t.Errorf("states %v: %v", list, err)
	}
	if problems, err := s.Verify(); err != nil || len(problems) != 1 {
		t.Errorf("Verify: %v, %v", problems, err)
	}
	if err := s.Tidy(t.Context()); err == nil {
		t.Error("objects are removed although what a record needs is unknown")
	}
	three := s.take()
	if err := s.Remove(three.ID); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(data, []byte("{}\n"), data)
	if got, err := os.ReadFile(records); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after Remove the records are %q, want %q: %v", got, want, err)
	}
	s.repair("states.jsonl", states.Repaired{Lines: 1})
	if got, err := os.ReadFile(records); err != nil || !bytes.Equal(got, slices.Concat(data, data)) {
		t.Errorf("after Repair the records are %q: %v", got, err)
	}
	s.healthy()
}

// repair repairs a file, of which a copy is kept.
func (s *space) repair(name string, want states.Repaired) {
	s.Helper()
	kept := 0
	got, err := s.Repair(path.Join(states.Dir, name), func() error { kept++; return nil })
	if err != nil || *got != want || kept != 1 {
		s.Errorf("Repair(%s): %+v, %d copies, %v; want %+v", name, got, kept, err, want)
	}
}

// TestDamagedForgotten: forgotten content is not stored again, even if the line that names it is
// damaged, and a repair loses it only if a missing content can be another one.
func TestDamagedForgotten(t *testing.T) {
	for _, c := range []struct {
		name      string
		damage    func(line []byte) []byte
		forgotten int // number of objects that are missing
		want      states.Repaired
		stored    bool
	}{
		{"the ID is whole", func(line []byte) []byte { return line[1:] }, 1, states.Repaired{Lines: 1}, false},
		{"the ID is whole, and another object is missing", func(line []byte) []byte { return line[1:] }, 2, states.Repaired{Lines: 1}, false},
		{"zeros", func(line []byte) []byte { return make([]byte, len(line)) }, 1, states.Repaired{Lines: 1}, false},
		{"zeros, and another object is missing", func(line []byte) []byte { return make([]byte, len(line)) }, 2, states.Repaired{Lines: 1, Unknown: 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpace(t)
			s.write("other", "another secret")
			s.write("key", "secret")
			s.take()
			for _, name := range []string{"key", "other"}[:c.forgotten] {
				if _, err := s.Forget(t.Context(), "folder", name); err != nil {
					t.Fatal(err)
				}
			}
			name := filepath.Join(s.workspace, states.Dir, "forgotten.jsonl")
			data, err := os.ReadFile(name)
			if err == nil {
				line, _, _ := bytes.Cut(data, []byte("\n"))
				err = os.WriteFile(name, append(c.damage(line), '\n'), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			s.reopen()
			if problems, err := s.Verify(); err != nil || len(problems) == 0 {
				t.Errorf("Verify: %v, %v", problems, err)
			}
			s.stores("again", false)
			s.repair("forgotten.jsonl", c.want)
			s.reopen()
			s.stores("once more", c.stored)
			if problems, err := s.Verify(); err != nil || c.forgotten == 1 && len(problems) > 0 {
				t.Errorf("after Repair: %v, %v", problems, err)
			}
		})
	}
}

// stores checks whether a state holds a new file with the forgotten content.
func (s *space) stores(name string, want bool) {
	s.Helper()
	s.write(name, "secret")
	st := s.take()
	if _, err := s.Find(st, name); (err == nil) != want {
		s.Errorf("the state holds %s: %v, want %v", name, err == nil, want)
	}
}

// TestTidy: after any states are removed, the others keep their content, and the store is not
// larger than twice what they need.
func TestTidy(t *testing.T) {
	s := newSpace(t)
	content := map[string]map[string]string{}
	now := map[string]string{}
	for i := range 40 {
		name := fmt.Sprintf("%d/%d", i%3, i%5)
		now[name] = strings.Repeat(fmt.Sprintf("%x", pack.IDOf([]byte{byte(i)})), 100)
		s.write(name, now[name])
		content[s.take().ID] = maps.Clone(now)
	}
	if n := len(s.packs()); n != 40 {
		t.Errorf("%d packs", n)
	}
	for _, keep := range []int{1, 4, 40, 1000} {
		list, err := s.States()
		if err != nil {
			t.Fatal(err)
		}
		var gone []string
		for i, st := range list {
			if i%keep != 0 || keep == 1 && i%4 == 3 {
				gone = append(gone, st.ID)
			}
		}
		if err := s.Remove(gone...); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Tidy(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if list, err = s.States(); err != nil {
			t.Fatal(err)
		}
		for _, st := range list {
			s.check(st, content[st.ID])
		}
		s.healthy()
		if n := len(s.packs()); n >= 16 {
			t.Errorf("%d packs of %d states", n, len(list))
		}
	}
	if size, err := s.Size(); err != nil || size > 4096 {
		t.Errorf("one state takes %d bytes: %v", size, err)
	}
}

// TestShrink: a pack of which little is not needed is rewritten only if all packs are larger than
// the limit, and without room for a new pack, nothing that is needed is removed.
func TestShrink(t *testing.T) {
	s := newSpace(t)
	now := map[string]string{}
	for i, size := range []int{1000, 10_000} {
		content := make([]byte, size)
		rand.NewChaCha8([32]byte{byte(i)}).Read(content)
		now[fmt.Sprint(i)] = string(content)
		s.write(fmt.Sprint(i), string(content))
	}
	s.take()
	s.write("0", "x")
	s.take()
	now["0"] = "y"
	s.write("0", "y")
	last := s.take()
	if err := s.Remove("state-1", "state-2"); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		n, err := s.Size()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if costs, err := s.Costs([]*states.State{last, last}); err != nil || costs[0] < 9_500 || costs[0] > 11_000 || costs[1] != 0 {
		t.Errorf("costs %v, %v", costs, err)
	}
	restore := durable.Interpose(func(_ *os.Root, st durable.Step) error {
		if st.Do == durable.Write {
			return syscall.ENOSPC
		}
		return nil
	})
	err := s.Shrink(t.Context(), 11_000)
	restore()
	if got := s.packs(); !errors.Is(err, syscall.ENOSPC) || len(got) != 2 {
		t.Errorf("on a full disk: %v, packs %v", err, got)
	}
	s.check(last, now)
	before := size()
	if err := s.Tidy(t.Context()); err != nil || size() != before {
		t.Errorf("Tidy rewrites: %d bytes, %d before; %v", size(), before, err)
	}
	if err := s.Shrink(t.Context(), 11_000); err != nil || size() > 11_000 {
		t.Errorf("Shrink leaves %d bytes: %v", size(), err)
	}
	s.check(last, now)
	s.healthy()
}

// TestTidyKeepsTheEmptyObject: a pack of which only an empty file is needed is kept, or that
// object.
func TestTidyKeepsTheEmptyObject(t *testing.T) {
	s := newSpace(t)
	s.write("empty", "")
	s.write("other", "other")
	for i, patterns := range []string{"one", "two"} {
		if _, err := s.Take(t.Context(), states.Request{State: states.State{ID: patterns, Folder: "folder"}, Dir: s.dir, Scan: s.opts,
			Sources: []scan.Source{{Name: "patterns", Data: []byte(patterns)}}}); err != nil {
			t.Fatal(err)
		}
		s.write("other", fmt.Sprint("other ", i))
		if err := os.WriteFile(filepath.Join(s.dir, fmt.Sprint(i)), []byte{byte(i)}, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Remove("one"); err != nil {
		t.Fatal(err)
	}
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	st, err := s.State("two")
	if err != nil {
		t.Fatal(err)
	}
	s.check(st, map[string]string{"empty": "", "other": "other 0", "0": "\x00"})
	s.healthy()
}

// TestTidyKeepsWhatItCannotRead: if a state needs an object that is missing, nothing is
// removed.
func TestTidyKeepsWhatItCannotRead(t *testing.T) {
	s := newSpace(t)
	s.write("a", "1")
	s.take()
	s.write("a", "2")
	s.take()
	s.write("b", "3")
	s.take()
	if err := s.Remove("state-2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.workspace, states.Dir, "000001.zst")); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	if err := s.Tidy(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Tidy: %v", err)
	}
	if n := s.packs(); len(n) != 2 {
		t.Errorf("packs %v", n)
	}
	if problems, err := s.Verify(); err != nil || len(problems) == 0 {
		t.Errorf("Verify: %v, %v", problems, err)
	}
}

// TestForget: the content of a path is in no file of the workspace any more, under each name
// that it had; the states keep everything else, and it is never stored again.
func TestForget(t *testing.T) {
	s := newSpace(t)
	s.write("deep/token", "old secret")
	s.write("copy", "old secret")
	s.write("empty", "")
	s.write("other", "other")
	one := s.take()
	s.write("deep/token", "new secret")
	two := s.take()
	ids, err := s.Forget(t.Context(), "folder", "deep/token")
	if err != nil || len(ids) != 2 {
		t.Fatalf("forgot %v: %v", ids, err)
	}
	s.reopen()
	for _, st := range []*states.State{one, two} {
		if _, err := holds(s.Store, st); !errors.Is(err, states.ErrForgotten) {
			t.Errorf("%s: %v", st.ID, err)
		}
		if e, err := s.Find(st, "other"); err != nil || e.Size != 5 {
			t.Errorf("other: %v, %v", e, err)
		}
	}
	s.healthy()
	three := s.take()
	s.check(three, map[string]string{"empty": "", "other": "other"})
	c, err := s.CoverageOf(three)
	if err != nil || len(c.Left) != 2 || c.Left[0] != (scan.Left{Path: "copy", Why: scan.IsSecret, Files: 1, Bytes: 10}) {
		t.Errorf("omitted: %v, %v", c, err)
	}
	if ids, err := s.Forget(t.Context(), "folder", "empty"); err != nil || len(ids) != 0 {
		t.Errorf("forgot %v of an empty file: %v", ids, err)
	}
	s.healthy()
	if err := filepath.WalkDir(s.workspace, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(name, ".zst") {
			p, err := pack.Open(mustRoot(t, filepath.Dir(name)), filepath.Base(name))
			if err != nil {
				return err
			}
			defer p.Close()
			for _, id := range ids {
				if _, ok := pack.NewIndex(p).Size(id); ok {
					t.Errorf("%s has %v", name, id)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func mustRoot(t *testing.T, dir string) *os.Root {
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestRegister: a folder is known by its path and by what it is, through links and renames;
// another folder in its place is another one.
func TestRegister(t *testing.T) {
	s := newSpace(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(base, "a"), filepath.Join(base, "b")
	register := func(dir, id, want string) states.Folder {
		t.Helper()
		f, err := s.Register(dir, id)
		if err != nil || f.ID != want {
			t.Errorf("%s is %+v, %v; want %s", dir, f, err, want)
		}
		return f
	}
	for _, dir := range []string{a, b} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	register(a, "1", "1")
	register(b, "2", "2")
	register(a+string(filepath.Separator)+".", "3", "1")
	if runtime.GOOS != "windows" {
		link := filepath.Join(base, "link")
		if err := os.Symlink(a, link); err != nil {
			t.Fatal(err)
		}
		if f := register(link, "3", "1"); f.Path != a {
			t.Errorf("the path is %s", f.Path)
		}
	}
	moved := filepath.Join(base, "moved")
	if err := os.Rename(a, moved); err != nil {
		t.Fatal(err)
	}
	if f := register(moved, "4", "1"); f.Path != moved {
		t.Errorf("the path is %s", f.Path)
	}
	if err := os.Rename(b, a); err != nil {
		t.Fatal(err)
	}
	register(a, "5", "2")
	if err := os.Mkdir(b, 0o755); err != nil {
		t.Fatal(err)
	}
	register(b, "6", "6")
	if _, err := s.Register(filepath.Join(base, "none"), "7"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if _, err := s.Register(base, "6"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an id that is in use: %v", err)
	}
	if list, err := s.Folders(); err != nil || len(list) != 3 {
		t.Errorf("folders %v: %v", list, err)
	}
}

// TestTemporary: a temporary folder is not recognized, and is listed as long as it has states.
func TestTemporary(t *testing.T) {
	s := newSpace(t)
	err := errors.Join(os.WriteFile(filepath.Join(s.dir, "a"), []byte("1"), 0o600), os.MkdirAll(filepath.Join(s.workspace, ".bough", "cache"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"1", "2", "3"} {
		f, err := s.RegisterTemporary(s.dir, id)
		if err != nil || f.ID != id || f.Identity != (states.Identity{}) {
			t.Errorf("%+v, %v", f, err)
		}
		if i == 0 {
			if _, err := s.Take(t.Context(), states.Request{State: states.State{ID: "s", Folder: id, At: states.End}, Dir: s.dir, Once: true}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(filepath.Join(s.workspace, ".bough", "cache", "states", id)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("its scan is cached: %v", err)
			}
		}
	}
	if f, err := s.Register(s.dir, "4"); err != nil || f.ID != "4" {
		t.Errorf("%+v, %v", f, err)
	}
	list, err := s.Folders()
	var ids []string
	for _, f := range list {
		ids = append(ids, f.ID)
	}
	if err != nil || !slices.Equal(ids, []string{"1", "3", "4"}) {
		t.Errorf("the folders are %v, %v", ids, err)
	}
}

// TestReused: a directory that has the number of one that was removed is another folder, if the
// system says when it was created.
func TestReused(t *testing.T) {
	s := newSpace(t)
	removed, err := s.Register(s.dir, "1")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.workspace, states.Dir, "folders.json")
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now := strings.Replace(string(was), filepath.Base(s.dir), "removed", 1)
	if removed.Identity.Born != 0 {
		now = strings.Replace(now, fmt.Sprintf(`"born": %d`, removed.Identity.Born), `"born": 1`, 1)
	}
	if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := s.Register(s.dir, "2")
	if err != nil || (f.ID == "2") != (removed.Identity.Born != 0) || runtime.GOOS == "linux" && now == string(was) {
		t.Errorf("%+v, %v; it was %s", f, err, now)
	}
}

// TestDamagedPack: a byte that changed in a pack is found, and never read as content.
func TestDamagedPack(t *testing.T) {
	s := newSpace(t)
	want := map[string]string{"a": "one", "b/c": strings.Repeat("two", 1000)}
	for name, content := range want {
		s.write(name, content)
	}
	st := s.take()
	s.Close()
	name := filepath.Join(s.workspace, states.Dir, s.packs()[0])
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	places := make([]int, len(data))
	for i := range places {
		places[i] = i
	}
	for _, at := range testsize.Sample(t, "bytes", places, testsize.Of(12, 25, len(places))) {
		changed := slices.Clone(data)
		changed[at] ^= 1 << (at % 8)
		if err := os.WriteFile(name, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		s.reopen()
		if got, err := holds(s.Store, st); err == nil && !maps.Equal(got, want) {
			t.Fatalf("with byte %d changed, the state holds %q", at, got)
		}
		if problems, err := s.Verify(); err != nil || len(problems) == 0 {
			t.Fatalf("with byte %d changed, Verify finds nothing: %v", at, err)
		}
	}
}

// TestLostPack: a state that is taken after a pack was lost has everything, also what the lost
// pack had, in a new process and in one that remembers the folder.
func TestLostPack(t *testing.T) {
	for _, remembers := range []bool{false, true} {
		s := newSpace(t)
		s.write("a", "1")
		s.write("d/b", "2")
		_, m := s.again(nil)
		if err := os.Remove(filepath.Join(s.workspace, states.Dir, s.packs()[0])); err != nil {
			t.Fatal(err)
		}
		s.reopen()
		s.write("c", "3")
		if !remembers {
			m = nil
		}
		st, _ := s.again(m, "")
		s.check(st, map[string]string{"a": "1", "d/b": "2", "c": "3"})
		if _, err := s.Get(pack.IDOf([]byte("4"))); !errors.As(err, new(*pack.MissingError)) {
			t.Errorf("Get of nothing: %v", err)
		}
	}
}

// TestRandom: after any sequence of changes of a folder, states, removals, tidying and new
// processes, each state that was not removed has every byte that the folder had.
func TestRandom(t *testing.T) {
	for seed := range testsize.Of(uint64(1), 1, 30) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newSpace(t)
		now, states := map[string]string{}, map[string]map[string]string{}
		for range testsize.Of(40, 80, 300) {
			name := fmt.Sprintf("%c/%c", 'a'+r.IntN(3), 'a'+r.IntN(4))
			switch r.IntN(12) {
			default:
				now[name] = strings.Repeat(fmt.Sprint(r.IntN(5)), 1+r.IntN(5000))
				s.write(name, now[name])
			case 0:
				if err := os.RemoveAll(filepath.Join(s.dir, filepath.FromSlash(name))); err != nil {
					t.Fatal(err)
				}
				delete(now, name)
			case 1, 2, 3, 4:
				states[s.take().ID] = maps.Clone(now)
			case 5:
				for id := range states {
					if r.IntN(2) == 0 {
						if err := s.Remove(id); err != nil {
							t.Fatal(err)
						}
						delete(states, id)
					}
				}
			case 6:
				if err := s.Tidy(t.Context()); err != nil {
					t.Fatal(err)
				}
			case 7:
				s.reopen()
			}
		}
		list, err := s.States()
		if err != nil || len(list) != len(states) {
			t.Fatalf("%d states, want %d: %v", len(list), len(states), err)
		}
		for _, st := range list {
			s.check(st, states[st.ID])
		}
		s.healthy()
	}
}
