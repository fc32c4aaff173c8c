package scan_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/testsize"
)

// TestChangedLaw: a scan of the directories in which something changed finds what a scan of
// all of them finds, whatever changed, and its cache and list serve the next one.
func TestChangedLaw(t *testing.T) {
	for seed := range testsize.Of(10, 30, 800) {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		f := newFolder(t)
		f.opts.Rules = &rules{ignored: []string{"junk"}}
		f.opts.FolderFiles, f.opts.File = 6, 20
		f.later()
		name := func() string {
			dir := []string{"", "a", "a/b", "a/b/c", "d", "d/junk", "e"}[random.IntN(7)]
			return path.Join(dir, []string{"1", "2", "3", "4", ".env", "5", "tracked.log"}[random.IntN(7)])
		}
		for range 12 {
			f.write(name(), "first")
		}
		last := f.scan()
		for step := range 8 {
			changed := map[string]bool{}
			note := func(name string) {
				dir := path.Dir(name)
				if dir == "." {
					dir = ""
				}
				changed[dir] = true
			}
			for range 1 + random.IntN(3) {
				at := name()
				switch random.IntN(6) {
				case 0: // a directory, with all that is in it
					if dir := path.Dir(at); dir != "." {
						f.must(os.RemoveAll(f.path(dir)))
						note(dir)
					}
				case 1:
					if info, err := os.Lstat(f.path(at)); err == nil && !info.IsDir() {
						f.must(os.Remove(f.path(at)))
						note(at)
					}
				default:
					made := at
					for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
						if info, err := os.Lstat(f.path(dir)); err == nil && !info.IsDir() {
							f.must(os.Remove(f.path(dir)))
						}
						if _, err := os.Lstat(f.path(dir)); err != nil {
							made = dir
						}
					}
					if info, err := os.Lstat(f.path(at)); err == nil && info.IsDir() {
						continue
					}
					f.write(at, fmt.Sprint(seed, step, random.IntN(1000), "xxxxxxxxxxxxxxxxxxxxxxxx"[:random.IntN(20)]))
					note(made)
					note(at)
				}
			}
			all, allObjects := *f, f.objects
			all.cache, all.opts.Changed, all.opts.Before = nil, nil, nil
			want := all.scan()
			f.objects = allObjects
			f.opts.Changed, f.opts.Before = []string{}, last.Left
			for dir := range changed {
				f.opts.Changed = append(f.opts.Changed, dir)
			}
			got := f.scan()
			if got.Tree != want.Tree || got.Files != want.Files || got.Bytes != want.Bytes || !slices.Equal(got.Left, want.Left) {
				t.Fatalf("seed %d, step %d, %v:\nholds %v, left %v\nwant  %v, left %v", seed, step, f.opts.Changed, f.holds(got.Tree), got.Left, f.holds(want.Tree), want.Left)
			}
			last = got
		}
	}
}

func (f *folder) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// TestChangedIsAllThatIsRead: a directory that did not change is not read.
func TestChangedIsAllThatIsRead(t *testing.T) {
	f := newFolder(t)
	f.write("a/b/1", "1")
	f.write("c/2", "2")
	f.later()
	first := f.scan()
	f.write("a/b/1", "new")
	f.write("c/2", "new")
	f.opts.Changed = []string{"a/b"}
	r := f.scan()
	f.check(r, map[string]string{"a": "d", "a/b": "d", "a/b/1": "f new", "c": "d", "c/2": "f 2"})
	f.opts.Changed = []string{}
	s, err := scan.Look(t.Context(), f.dir, f.cache, f.opts)
	if err != nil || !s.Same() || r.Tree == first.Tree {
		t.Errorf("%v; the same: %v", err, s.Same())
	}
}
