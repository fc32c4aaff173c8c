package scan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

// A folder is scanned repeatedly into one pack after the other.
type folder struct {
	*testing.T
	dir     string
	opts    scan.Options
	cache   *scan.Cache
	objects map[pack.ID][]byte
}

func newFolder(t *testing.T) *folder {
	return &folder{T: t, dir: t.TempDir(), objects: map[pack.ID][]byte{}}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// write writes a file, with the folders above it.
func (f *folder) write(name, content string) {
	f.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
}

// later makes the next scans think that they are much later, so that files are settled.
func (f *folder) later() {
	f.opts.Now = func() time.Time { return time.Now().Add(time.Hour) }
}

// scan scans the folder. Every object that the result needs must be in the packs so far.
func (f *folder) scan() *scan.Result {
	f.Helper()
	r, err := f.try()
	if err != nil {
		f.Fatal(err)
	}
	return r
}

func (f *folder) try() (*scan.Result, error) {
	s, err := scan.Look(f.Context(), f.dir, f.cache, f.opts)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := pack.NewObjectWriter(&out, 0, 0, true)
	r, err := s.Store(f.Context(), w, func(id pack.ID) bool { return f.objects[id] != nil })
	if flushed := w.Flush(); err != nil || flushed != nil {
		return nil, errors.Join(err, flushed)
	}
	p, err := pack.New("pack", bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		return nil, err
	}
	x := pack.NewIndex(p)
	if x.Len() != r.Added {
		f.Errorf("%d objects were added, and the result says %d", x.Len(), r.Added)
	}
	var content []byte
	if err := x.Read(slices.Collect(x.All()), func(id pack.ID, piece []byte, last bool) error {
		if content = append(content, piece...); last {
			f.objects[id] = append([]byte{}, content...)
			content = nil
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if r.Cache != nil {
		if f.cache, err = scan.ParseCache(r.Cache); err != nil {
			return nil, err
		}
	} else if f.cache == nil {
		f.Error("the result has no cache")
	}
	return r, nil
}

func (f *folder) read(id pack.ID) ([]byte, error) {
	data, ok := f.objects[id]
	if !ok {
		return nil, fmt.Errorf("there is no object %v", id)
	}
	return data, nil
}

// holds returns what a tree has: type, permission bits and content of each path.
func (f *folder) holds(tree pack.ID) map[string]string {
	f.Helper()
	list := map[string]string{}
	for c, err := range filetree.Diff(f.read, pack.ID{}, tree) {
		if err != nil {
			f.Fatal(err)
		}
		list[c.Path] = fmt.Sprintf("%c", c.To.Type)
		if c.To.Type == filetree.Dir {
			continue
		}
		data, err := f.read(c.To.ID)
		if err != nil || int64(len(data)) != c.To.Size {
			f.Fatalf("%s: %d bytes, want %d: %v", c.Path, len(data), c.To.Size, err)
		}
		list[c.Path] += " " + string(data)
	}
	return list
}

func (f *folder) check(r *scan.Result, want map[string]string) {
	f.Helper()
	if got := f.holds(r.Tree); !maps.Equal(got, want) {
		f.Errorf("the state holds\n%q, want\n%q", got, want)
	}
}

func (f *folder) checkLeft(r *scan.Result, want ...scan.Left) {
	f.Helper()
	if !slices.Equal(r.Left, want) {
		f.Errorf("omitted:\n%v, want\n%v", r.Left, want)
	}
}

// TestScan: a state has every file, link and folder with its raw bytes, however it came
// about, and scanning changes nothing in the folder.
func TestScan(t *testing.T) {
	f := newFolder(t)
	f.write("a/crlf.txt", "one\r\ntwo\r\n")
	f.write("a/pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
	f.write("b/nested/.hidden", "\x00\xff")
	f.write("empty", "")
	if err := os.MkdirAll(f.path("c/d"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a": "d", "a/crlf.txt": "f one\r\ntwo\r\n", "a/pointer": "f version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
		"b": "d", "b/nested": "d", "b/nested/.hidden": "f \x00\xff", "c": "d", "c/d": "d", "empty": "f ",
	}
	if err := os.Symlink("../outside", f.path("link")); err == nil {
		want["link"] = "l ../outside"
	}
	before := times(t, f.dir)
	r := f.scan()
	f.check(r, want)
	f.checkLeft(r)
	if r.Files != len(want)-5 || r.Read != r.Files {
		t.Errorf("%d files, of which %d were read", r.Files, r.Read)
	}
	if after := times(t, f.dir); !maps.Equal(before, after) {
		t.Errorf("times were %v, and are %v", before, after)
	}
}

// times returns the modification times of everything in a folder.
func times(t *testing.T, dir string) map[string]time.Time {
	list := map[string]time.Time{}
	if err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil {
			list[name] = info.ModTime()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestUnchanged: a folder that did not change is neither read nor stored again, and its
// cache stays.
func TestUnchanged(t *testing.T) {
	f := newFolder(t)
	for i := range 100 {
		f.write(fmt.Sprintf("%d/%d/file %d", i%3, i%7, i), fmt.Sprint(i))
	}
	f.later()
	first := f.scan()
	again := f.scan()
	if again.Tree != first.Tree || again.Read != 0 || again.Added != 0 || again.Cache != nil || again.Files != 100 || again.Bytes != first.Bytes {
		t.Errorf("the second scan: %+v, after %+v", again, first)
	}
}

// TestChanges: whichever program changes, adds, removes, renames or replaces files, the next
// state is what a scan without a cache makes of the folder, and only changed files are read.
func TestChanges(t *testing.T) {
	f := newFolder(t)
	for _, name := range []string{"a", "b", "d/e/one", "d/e/two", "d/three", "x/y/z"} {
		f.write(name, "content of "+name)
	}
	f.later()
	f.scan()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what string
		read int // number of files that are read, -1 if it depends on the system
		do   func()
	}{
		{"a changed file of the same size", 1, func() { f.write("d/e/one", "CONTENT of d/e/one") }},
		{"a new file in a new folder", 1, func() { f.write("new/folder/file", "new") }},
		{"a removed file", 0, func() { must(os.Remove(f.path("a"))) }},
		{"a renamed file", -1, func() { must(os.Rename(f.path("b"), f.path("d/bb"))) }},
		{"a renamed folder", -1, func() { must(os.Rename(f.path("d"), f.path("dd"))) }},
		{"permission bits", -1, func() { must(os.Chmod(f.path("dd/three"), 0o444)) }},
		{"permission bits of a folder", 0, func() { must(os.Chmod(f.path("x/y"), 0o700)) }},
		{"a file in the place of a folder", 1, func() { must(os.RemoveAll(f.path("x"))); f.write("x", "file") }},
		{"a folder in the place of a file", 1, func() { must(os.Remove(f.path("x"))); f.write("x/in", "it") }},
		{"a link in the place of a folder", -1, func() { must(os.RemoveAll(f.path("x"))); os.Symlink("dd", f.path("x")) }},
		{"an empty folder", 0, func() { must(os.Mkdir(f.path("empty"), 0o755)) }},
		{"everything removed", 0, func() {
			for _, name := range []string{"dd", "new", "x", "empty"} {
				must(os.RemoveAll(f.path(name)))
			}
		}},
	} {
		c.do()
		r := f.scan()
		fresh := &folder{T: t, dir: f.dir, opts: f.opts, objects: map[pack.ID][]byte{}}
		if want := fresh.scan(); r.Tree != want.Tree || r.Files != want.Files || r.Bytes != want.Bytes {
			t.Errorf("after %s, the state is\n%q, want\n%q", c.what, f.holds(r.Tree), fresh.holds(want.Tree))
		}
		if c.read >= 0 && r.Read != c.read {
			t.Errorf("after %s, %d files were read, want %d", c.what, r.Read, c.read)
		}
		f.holds(r.Tree)
		if again := f.scan(); again.Cache != nil || again.Read != 0 || again.Tree != r.Tree || again.Bytes != r.Bytes {
			t.Errorf("after %s, a second scan: %+v, after %+v", c.what, again, r)
		}
	}
}

// TestRacyFiles: a file that changes just after it was read, with the size and the times that it
// had, is read again, because its times were young.
func TestRacyFiles(t *testing.T) {
	f := newFolder(t)
	f.write("file", "one")
	info, err := os.Stat(f.path("file"))
	if err != nil {
		t.Fatal(err)
	}
	f.opts.Now = func() time.Time { return info.ModTime().Add(1999 * time.Millisecond) }
	f.scan()
	if r := f.scan(); r.Read != 1 {
		t.Errorf("%d files were read after 2 s", r.Read)
	}
	f.opts.Now = func() time.Time { return info.ModTime().Add(time.Minute) }
	if r := f.scan(); r.Read != 1 {
		t.Errorf("%d files were read: the first scan that could trust its times is this one", r.Read)
	}
	if r := f.scan(); r.Read != 0 {
		t.Errorf("%d files were read after a minute", r.Read)
	}
}

// TestProblems: a path that cannot be read, or is special, is named, and the others are in
// the state as they are now.
func TestProblems(t *testing.T) {
	f := newFolder(t)
	f.write("good", "old")
	f.write("sub/secret", "x")
	f.write("dir/in", "x")
	f.later()
	f.scan()
	f.write("good", "new")
	pipe(t, f.path("pipe"))
	f.write("sub/secret", "y")
	for _, name := range []string{"sub/secret", "dir"} {
		if err := os.Chmod(f.path(name), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(f.path("dir"), 0o700)
	asUser(t, f.dir, func() {
		r := f.scan()
		f.check(r, map[string]string{"good": "f new", "sub": "d"})
		f.checkLeft(r, scan.Left{Path: "dir", Why: scan.Unreadable},
			scan.Left{Path: "pipe", Why: scan.Special, Files: 1},
			scan.Left{Path: "sub/secret", Why: scan.Unreadable, Files: 1, Bytes: 1})
	})
}

// TestLarge: a file over the limit is named, and stays in its place in the list when it
// grows over it.
func TestLarge(t *testing.T) {
	f := newFolder(t)
	f.opts.File = 2 << 20
	f.write("fits", strings.Repeat("0123456789abcdef", 2<<20/16))
	f.write("grows", "x")
	f.later()
	r := f.scan()
	f.checkLeft(r)
	if got := f.holds(r.Tree)["fits"]; len(got) != 2<<20+2 {
		t.Errorf("the large file has %d bytes", len(got)-2)
	}
	f.write("grows", strings.Repeat("x", 2<<20+1))
	r = f.scan()
	f.checkLeft(r, scan.Left{Path: "grows", Why: scan.Large, Files: 1, Bytes: 2<<20 + 1})
	if r.Files != 1 {
		t.Errorf("%d files", r.Files)
	}
	if again := f.scan(); again.Cache != nil || !slices.Equal(again.Left, r.Left) {
		t.Errorf("a second scan differs: omitted %v", again.Left)
	}
}

// TestNoLinkIsFollowed: a link that is put in the place of a directory or a file, after the
// folder was listed, leads to nothing outside of the folder.
func TestNoLinkIsFollowed(t *testing.T) {
	f := newFolder(t)
	outside := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte("OUTSIDE"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f.write("d/a", "inside")
	f.write("b", "inside")
	s, err := scan.Look(t.Context(), f.dir, nil, f.opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(f.path("d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.path("b")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(outside, f.path("d")), os.Symlink(filepath.Join(outside, "b"), f.path("b"))); err != nil {
		t.Skip(err)
	}
	var out bytes.Buffer
	w := pack.NewObjectWriter(&out, 0, 0, true)
	r, err := s.Store(t.Context(), w, func(id pack.ID) bool {
		if id == pack.IDOf([]byte("OUTSIDE")) {
			t.Error("content outside of the folder was read")
		}
		return false
	})
	if err := errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	f.checkLeft(r, scan.Left{Path: "d/a", Why: scan.Unsettled, Files: 1, Bytes: 6})
}

// TestLargeFolders: of untracked folders with too many files, or too many bytes, the
// innermost are held out, in every order in which a walk may see them.
func TestLargeFolders(t *testing.T) {
	f := newFolder(t)
	f.opts.FolderFiles, f.opts.FolderBytes = 10, 1000
	for i := range 11 {
		f.write(fmt.Sprintf("src/data/%d/x", i%3), "x")
		f.write(fmt.Sprintf("src/data/%d/%d", i%4, i), "x")
		f.write(fmt.Sprintf("tracked/%d", i), "x")
		f.write(fmt.Sprintf("%d", i), "x")
	}
	f.write("src/main", "main")
	f.write("big/one", strings.Repeat("x", 501))
	f.write("big/deep/two", strings.Repeat("x", 500))
	f.opts.Rules = &rules{tracked: []string{"tracked"}}
	for range 20 {
		r := f.scan()
		f.checkLeft(r, scan.Left{Path: "big", Why: scan.FolderLarge, Files: 2, Bytes: 1001},
			scan.Left{Path: "src/data", Why: scan.FolderLarge, Files: 14, Bytes: 14})
		if got := f.holds(r.Tree); len(got) != 11+1+11+2 || got["src/main"] != "f main" {
			t.Fatalf("the state holds %q", got)
		}
		f.cache = nil
	}
}

// TestTooManyFiles: a folder with more files than a scan can keep is refused.
func TestTooManyFiles(t *testing.T) {
	f := newFolder(t)
	f.opts.Files = 10
	for i := range 11 {
		f.write(fmt.Sprintf("%d/x", i), "x")
	}
	if _, err := f.try(); !errors.As(err, new(*scan.CountError)) {
		t.Errorf("error %v", err)
	}
}

// rules are rules of a test: names that begin with a word, and a file 'ignore' with names.
type rules struct {
	ignored []string
	tracked []string
	inside  string
}

func (*rules) Sources() []string { return []string{"ignore", "CACHE"} }

func (r *rules) Enter(name string, present []scan.Source) scan.Rules {
	next := *r
	if next.inside = name; name == "." {
		next.inside = ""
	}
	for _, s := range present {
		if s.Name == "CACHE" {
			return nil
		}
		next.ignored = slices.Concat(next.ignored, strings.Fields(string(s.Data)))
	}
	return &next
}

func (r *rules) Judge(name string, isDir bool) scan.Verdict {
	switch {
	case name == ".git" || slices.Contains(r.ignored, name):
		return scan.Ignore
	case strings.HasPrefix(name, ".env"):
		return scan.Secret
	case name == "tracked.log":
		return scan.IgnoreTracked
	}
	return scan.Hold
}

func (r *rules) Tracked() bool { return slices.Contains(r.tracked, r.inside) }

func (r *rules) Hollow() bool { return r.inside == "hollow" }

// TestRules: what rules ignore is no part of a state, what they hold out is named, and rules
// that change apply from the next scan on. Of a repository inside the folder only .git is
// ignored.
func TestRules(t *testing.T) {
	f := newFolder(t)
	f.opts.Rules = &rules{}
	f.write("ignore", "build a.o")
	f.write("build/x", "x")
	f.write("deep/a.o", "x")
	f.write("deep/ignore", "b.o")
	f.write("deep/b.o", "x")
	f.write("deep/.env", "SECRET")
	f.write("deep/tracked.log", "log")
	f.write("b.o", "kept")
	f.write("cache/CACHE", "")
	f.write("cache/x", "x")
	f.write("module/.git/HEAD", "ref")
	f.write("module/code", "code")
	f.later()
	want := map[string]string{"ignore": "f build a.o", "deep": "d", "deep/ignore": "f b.o", "b.o": "f kept", "module": "d", "module/code": "f code"}
	r := f.scan()
	f.check(r, want)
	f.checkLeft(r, scan.Left{Path: "deep/.env", Why: scan.IsSecret, Files: 1, Bytes: 6},
		scan.Left{Path: "deep/tracked.log", Why: scan.IgnoredTracked, Files: 1, Bytes: 3})
	if s, err := scan.Look(t.Context(), f.dir, f.cache, f.opts); err != nil || !s.Same() {
		t.Errorf("a second scan differs: %v", err)
	}
	f.write("ignore", "a.o")
	want["ignore"], want["build"], want["build/x"] = "f a.o", "d", "f x"
	f.check(f.scan(), want)
	if err := os.Remove(f.path("deep/ignore")); err != nil {
		t.Fatal(err)
	}
	delete(want, "deep/ignore")
	want["deep/b.o"] = "f x"
	f.check(f.scan(), want)
}

// TestRefused: content that must not be stored is named instead.
func TestRefused(t *testing.T) {
	f := newFolder(t)
	f.write("a/token", "secret")
	f.write("b", "public")
	f.opts.Refused = func(id pack.ID) bool { return id == pack.IDOf([]byte("secret")) }
	r := f.scan()
	f.check(r, map[string]string{"a": "d", "b": "f public"})
	f.checkLeft(r, scan.Left{Path: "a/token", Why: scan.IsSecret, Files: 1, Bytes: 6})
	if f.objects[pack.IDOf([]byte("secret"))] != nil {
		t.Error("the secret is stored")
	}
}

// TestOneCopy: equal files are stored once, however many there are, small or large.
func TestOneCopy(t *testing.T) {
	f := newFolder(t)
	picture := strings.Repeat("picture", 300_000)
	for i := range 30 {
		f.write(fmt.Sprintf("%d/picture.png", i), picture)
		f.write(fmt.Sprintf("%d/small.png", i), "small")
	}
	if r := f.scan(); r.Added != 2+2 || r.Files != 60 {
		t.Errorf("%d objects of %d files", r.Added, r.Files)
	}
}

// TestMovingFiles: while another program writes, renames and removes files, each file in a
// state has the content that it had at one moment, and each file that stays is there.
func TestMovingFiles(t *testing.T) {
	f := newFolder(t)
	for i := range 50 {
		f.write(fmt.Sprintf("stays/%d", i), "stays")
	}
	contents := []string{"first", strings.Repeat("second", 1000), strings.Repeat("third", 400_000)}
	var stop, running = make(chan struct{}), sync.WaitGroup{}
	running.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := f.path(fmt.Sprintf("moves %d", i%5))
			os.WriteFile(name+".tmp", []byte(contents[i%len(contents)]), 0o644)
			os.Rename(name+".tmp", name)
			if i%7 == 0 {
				os.Remove(name)
			}
		}
	})
	for range testsize.Of(3, 10, 200) {
		r := f.scan()
		for name, got := range f.holds(r.Tree) {
			data := strings.TrimPrefix(got, "f ")
			if strings.HasPrefix(name, "moves") && !strings.HasSuffix(name, ".tmp") && !slices.Contains(contents, data) {
				t.Errorf("%s has %d bytes, which it never had", name, len(data))
			}
		}
		if r.Files < 50 {
			t.Errorf("%d files", r.Files)
		}
	}
	close(stop)
	running.Wait()
}

// TestBecomesAnother: a large file that becomes the same as another one while it is added counts
// once.
func TestBecomesAnother(t *testing.T) {
	f := newFolder(t)
	names := map[pack.ID]string{}
	for _, name := range []string{"a", "b"} {
		content := strings.Repeat(name, 1<<20)
		f.write(name, content)
		names[pack.IDOf([]byte(content))] = name
	}
	s, err := scan.Look(t.Context(), f.dir, nil, f.opts)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := pack.NewObjectWriter(&out, 0, 0, true)
	var read []string
	r, err := s.Store(t.Context(), w, func(id pack.ID) bool { // called after the file was opened to be added
		if name := names[id]; name != "" && !slices.Contains(read, name) {
			if read = append(read, name); len(read) == 2 {
				f.write(name, strings.Repeat(read[0], 1<<20))
			}
		}
		return false
	})
	if err := errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	if len(read) != 2 || r.Added != 2 || r.Files != 2 { // a content and a tree
		t.Errorf("of the files %q, %d objects were added for %d files", read, r.Added, r.Files)
	}
}

// TestUnsettled: a file that changes during each attempt to read it is named.
func TestUnsettled(t *testing.T) {
	f := newFolder(t)
	f.write("grows", strings.Repeat("x", 3<<20))
	f.write("still", "still")
	file, err := os.OpenFile(f.path("grows"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f.opts.Refused = func(pack.ID) bool { // called after each reading, before the comparison of a large one with what is added
		file.WriteString("more")
		return false
	}
	r := f.scan()
	if len(r.Left) != 1 || r.Left[0].Path != "grows" || r.Left[0].Why != scan.Unsettled {
		t.Errorf("omitted: %v", r.Left)
	}
	f.check(r, map[string]string{"still": "f still"})
}

// TestDeepFolders: folders that are nested deeper than a path may be long are in a state.
func TestDeepFolders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("paths are shorter here")
	}
	f := newFolder(t)
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	name, deep := strings.Repeat("n", 200), ""
	for range 30 {
		if err := root.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := root.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		root.Close()
		root, deep = next, path.Join(deep, name)
	}
	if err := root.WriteFile("file", []byte("deep"), 0o644); err != nil {
		t.Fatal(err)
	}
	root.Close()
	if got := f.holds(f.scan().Tree)[path.Join(deep, "file")]; got != "f deep" {
		t.Errorf("the file has %q", got)
	}
}

// TestDamagedCache: a cache whose bytes changed is refused, and one that is cut or made of
// anything makes no scan fail.
func TestDamagedCache(t *testing.T) {
	f := newFolder(t)
	f.write("a/b", "c")
	f.later()
	data := f.scan().Cache
	for i := range data {
		changed := slices.Clone(data)
		changed[i] ^= 1
		if _, err := scan.ParseCache(changed); err == nil {
			t.Fatalf("byte %d was changed", i)
		}
		if _, err := scan.ParseCache(data[:i]); err == nil {
			t.Fatalf("the first %d bytes are a cache", i)
		}
	}
}

// TestCanceled: a scan ends with its context, and leaves no directory open.
func TestCanceled(t *testing.T) {
	f := newFolder(t)
	for i := range 200 {
		f.write(fmt.Sprintf("%d/%d/x", i%20, i), "x")
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	f.opts.Rules = counted{&n, cancel}
	before := openFiles(t)
	if _, err := scan.Look(ctx, f.dir, nil, f.opts); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d before", after, before)
	}
}

// counted cancels after some directories.
type counted struct {
	n      *int
	cancel func()
}

var counting sync.Mutex

func (c counted) Enter(string, []scan.Source) scan.Rules {
	counting.Lock()
	defer counting.Unlock()
	if *c.n++; *c.n == 50 {
		c.cancel()
	}
	return c
}
func (counted) Sources() []string               { return nil }
func (counted) Judge(string, bool) scan.Verdict { return scan.Hold }
func (counted) Tracked() bool                   { return false }
func (counted) Hollow() bool                    { return false }

// TestHollow: a directory that counts only for its files is absent without one, and a path
// omitted in it is named.
func TestHollow(t *testing.T) {
	f := newFolder(t)
	f.opts.Rules = &rules{}
	f.write("a", "a")
	f.write("hollow/deep/.env", "SECRET")
	f.later()
	left := scan.Left{Path: "hollow/deep/.env", Why: scan.IsSecret, Files: 1, Bytes: 6}
	for range 2 {
		r := f.scan()
		f.check(r, map[string]string{"a": "f a"})
		f.checkLeft(r, left)
	}
	f.write("hollow/deep/x", "x")
	r := f.scan()
	f.check(r, map[string]string{"a": "f a", "hollow": "d", "hollow/deep": "d", "hollow/deep/x": "f x"})
	f.checkLeft(r, left)
	if err := os.RemoveAll(f.path("hollow/deep")); err != nil {
		t.Fatal(err)
	}
	r = f.scan()
	f.check(r, map[string]string{"a": "f a"})
	f.checkLeft(r)
	if s, err := scan.Look(t.Context(), f.dir, f.cache, f.opts); err != nil || !s.Same() {
		t.Errorf("another scan differs: %v", err)
	}
}
