package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// remembered returns a workspace of a world in which a command has looked at
// every session.
func (w world) remembered(t testing.TB) *folder {
	t.Helper()
	f := w.folder(t)
	f.save(f.loadAt(small))
	f.look()
	return f
}

// look is a command that looks at every session.
func (f *folder) look() {
	f.t.Helper()
	f.rest()
	f.loadAt(small).Remember()
	if x := f.openAt(small); !x.Asked() {
		f.t.Fatal("what was found is not remembered")
	} else {
		x.Close()
	}
}

// forgets reports whether the next command looks at every session.
func (f *folder) forgets() bool {
	x := f.openAt(small)
	defer x.Close()
	return !x.Asked()
}

// agrees makes sure that the next command answers as the files do.
func (f *folder) agrees(name string) {
	f.t.Helper()
	x, y := f.openAt(small), f.loadAt(small)
	defer x.Close()
	for _, id := range append([]string{"late", "nothing"}, ids...) {
		for _, q := range questions {
			if got, want := fmt.Sprint(q.ask(x, id)), fmt.Sprint(q.ask(y, id)); got != want {
				f.t.Errorf("%s: %s %s: %s, want %s", name, q.what, id, got, want)
			}
		}
	}
	for _, text := range []string{"Root", "Session late", "a"} {
		for what, ask := range map[string]func(*index.Index, string) ([]string, error){"titled": (*index.Index).Titled, "containing": (*index.Index).Containing} {
			got, err := ask(x, text)
			want, _ := ask(y, text)
			if err != nil || !slices.Equal(got, want) {
				f.t.Errorf("%s: %s %q: %q, %v, want %q", name, what, text, got, err, want)
			}
		}
	}
}

// TestRemember: when it is worth it, and when it is safe.
func TestRemember(t *testing.T) {
	for _, c := range []struct {
		name   string
		world  world
		limits index.Limits
		before func(*folder)
		want   bool
	}{
		{"an index that may have a journal", worlds[0], small, (*folder).rest, true},
		{"a small index", worlds[0], index.Limits{Index: 1 << 20, Journal: 1 << 20}, (*folder).rest, false},
		{"an index of Penguin", worlds[1], small, (*folder).rest, false},
		{"a folder that changed just now", worlds[0], small, func(f *folder) { f.touch(time.Now()) }, false},
		{"a folder of the future", worlds[0], small, func(f *folder) { f.touch(time.Now().Add(time.Hour)) }, false},
		{"a folder that changed a second ago, by a coarse clock", worlds[0], small, func(f *folder) { f.touch(time.Now().Truncate(time.Second).Add(-time.Second)) }, false},
		{"a folder that changed a second ago", worlds[0], small, func(f *folder) { f.touch(time.Now().Truncate(time.Second).Add(-time.Second + 1)) }, true},
		{"a session that the index does not have", worlds[0], small, func(f *folder) { f.session("late", 50, ""); f.rest() }, true},
		{"no index", worlds[0], small, func(f *folder) { f.remove(session.IndexFile); f.rest() }, true},
		{"a file that cannot be used", worlds[0], small, func(f *folder) { f.write("cont.json", "{"); f.write("late.json", ""); f.rest() }, true},
		{"a link that only another file tells", worlds[0], small, func(f *folder) {
			f.session("root", 40, `"continued_to":["late"],"continued_from":[]`)
			f.write("late.json", "")
			f.rest()
		}, false},
	} {
		f := c.world.folder(t)
		x := f.loadAt(c.limits)
		f.save(x)
		c.before(f)
		f.loadAt(c.limits).Remember()
		x, err := c.limits.Open(f.root, nil)
		if err != nil || x.Asked() != c.want {
			t.Errorf("%s: remembered: %v, want %v, %v", c.name, x.Asked(), c.want, err)
		}
		x.Close()
		f.agrees(c.name)
		for _, path := range []string{index.LookPath, index.TablePath} {
			if _, err := f.root.Stat(path); (err == nil) != c.want {
				t.Errorf("%s: %s: %v", c.name, path, err)
			}
		}
	}
}

func (f *folder) touch(at time.Time) {
	f.t.Helper()
	if err := durable.Touch(f.root, session.Dir, at); err != nil {
		f.t.Fatal(err)
	}
}

// TestSameTick: what another program does right after a command shows, whatever
// the clock of the file system is worth.
func TestSameTick(t *testing.T) {
	f := worlds[0].remembered(t)
	for i := range 200 {
		x := f.openAt(small)
		f.put(x, "late", i%60, worlds[0].metadata["other"])
		f.save(x)
		x.Remember()
		x.Close()
		if i == 0 && f.forgets() {
			t.Fatal("what a command wrote is not remembered")
		}
		if err := os.Rename(f.path("late.json"), f.path("later.json")); err != nil {
			t.Fatal(err)
		}
		x = f.openAt(small)
		if x.Asked() || x.Entry("late") != nil || x.Entry("later") == nil {
			t.Fatalf("change %d is not seen", i)
		}
		f.remove("later.json")
		f.look()
	}
}

// TestMeanwhile: what another program does while a command runs is seen by the
// next one.
func TestMeanwhile(t *testing.T) {
	for name, run := range map[string]func(f *folder, x *index.Index, foreign func()){
		"before the change": func(f *folder, x *index.Index, foreign func()) {
			foreign()
			f.put(x, "late", 50, worlds[0].metadata["other"])
		},
		"after the change": func(f *folder, x *index.Index, foreign func()) {
			f.put(x, "late", 50, worlds[0].metadata["other"])
			foreign()
		},
		"between changes": func(f *folder, x *index.Index, foreign func()) {
			f.put(x, "late", 50, worlds[0].metadata["other"])
			foreign()
			f.put(x, "late", 50, worlds[0].metadata["other"])
		},
		"without a change": func(f *folder, x *index.Index, foreign func()) { foreign() },
	} {
		f := worlds[0].remembered(t)
		x := f.openAt(small)
		run(f, x, func() { f.session("foreign", 51, worlds[0].metadata["twig"]) })
		f.save(x)
		x.Remember()
		x.Close()
		if x := f.openAt(small); x.Asked() || x.Entry("foreign") == nil {
			t.Errorf("%s: it is not seen", name)
		}
		f.agrees(name)
	}
}

// TestBehindOnesBack: a session that changed in place, its size and time as they
// were, is seen by whoever asks for it.
func TestBehindOnesBack(t *testing.T) {
	for name, prepare := range map[string]func(f *folder){
		"in the table": func(*folder) {},
		"in the journal": func(f *folder) {
			x := f.openAt(small)
			f.put(x, "root", 1, worlds[0].metadata["root"])
			f.save(x)
			x.Remember()
			x.Close()
		},
	} {
		f := worlds[0].remembered(t)
		prepare(f)
		if f.forgets() {
			t.Fatalf("%s: nothing is remembered", name)
		}
		info := func() os.FileInfo {
			info, err := os.Stat(f.path("root.json"))
			if err != nil {
				t.Fatal(err)
			}
			return info
		}
		before := info()
		if durable.Identify(before).Inode == 0 {
			return // this system does not tell
		}
		edited := strings.Replace(f.read("root.json"), "Root", "Toor", 1)
		for durable.Identify(before) == durable.Identify(info()) {
			f.write("root.json", edited)
			f.date("root.json", before.ModTime())
		}
		x := f.openAt(small)
		if !x.Asked() || x.Entry("root").Title != "Toor" || !x.Stale() {
			t.Errorf("%s: root is called %q, stale %v", name, x.Entry("root").Title, x.Stale())
		}
		if ids, err := x.Titled("Root"); err != nil || len(ids) != 0 {
			t.Errorf("%s: %q are called Root, %v", name, ids, err)
		}
		f.save(x)
		x.Remember()
		x.Close()
		x = f.openAt(small)
		if !x.Asked() || x.Entry("root").Title != "Toor" || x.Stale() {
			t.Errorf("%s, saved: root is called %q, stale %v", name, x.Entry("root").Title, x.Stale())
		}
		x.Close()
	}
}

// TestFlippedBytes: no byte of what is remembered can be wrong and change an
// answer.
func TestFlippedBytes(t *testing.T) {
	f := worlds[0].remembered(t)
	x := f.openAt(small)
	f.put(x, "late", 50, worlds[0].metadata["other"])
	f.save(x)
	x.Remember()
	x.Close()
	if f.forgets() {
		t.Fatal("nothing is remembered")
	}
	for _, name := range []string{index.LookPath, index.TablePath} {
		whole, err := f.root.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(f.dir, filepath.FromSlash(name))
		write := func(data []byte) {
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i := 0; i < len(whole) && !t.Failed(); i += 1 + len(whole)/300 {
			data := slices.Clone(whole)
			data[i] ^= 0x10
			write(data)
			f.agrees(fmt.Sprint("byte ", i, " of ", name))
			write(whole[:i])
			f.agrees(fmt.Sprint(i, " bytes of ", name))
		}
		write(append(slices.Clone(whole), 0))
		f.agrees("one byte more of " + name)
		write(whole)
	}
	if f.forgets() {
		t.Error("what was put back is not remembered")
	}
}

// TestDamagedTable: who finds the table damaged writes it anew.
func TestDamagedTable(t *testing.T) {
	f := worlds[0].remembered(t)
	data, err := f.root.ReadFile(index.TablePath)
	if err != nil {
		t.Fatal(err)
	}
	data[0] ^= 1
	if err := f.root.WriteFile(index.TablePath, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f.rest()
	x := f.openAt(small)
	if x.Entry("root") == nil || x.Asked() {
		t.Fatalf("the entry of root is %v", x.Entry("root"))
	}
	x.Remember()
	x.Close()
	x = f.openAt(small)
	if x.Entry("root") == nil || !x.Asked() {
		t.Error("the table is still damaged")
	}
	x.Close()
}

// TestNoWay: if neither what is remembered nor the folder can be read, every
// answer is that.
func TestNoWay(t *testing.T) {
	f := worlds[0].remembered(t)
	x := f.openAt(small)
	defer x.Close()
	data, err := f.root.ReadFile(index.TablePath)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	if err := os.WriteFile(filepath.Join(f.dir, filepath.FromSlash(index.TablePath)), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(f.dir, session.Dir), filepath.Join(f.dir, "away")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, session.Dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, titled := x.Titled("Root")
	_, containing := x.Containing("oo")
	_, lineage := x.Lineage("root")
	_, line := x.Line("root")
	for what, err := range map[string]error{
		"Titled": titled, "Containing": containing, "Lineage": lineage, "Line": line,
		"Err": x.Err("root"), "Broken": x.Broken("root"), "Whole": x.Whole(), "Save": x.Save(),
	} {
		if err == nil {
			t.Errorf("%s is fine", what)
		}
	}
	if x.Entry("root") != nil || len(x.Entries()) != 0 || len(x.Children("root")) != 0 {
		t.Errorf("there are answers: %v, %v", x.Entry("root"), x.Entries())
	}
}

// TestGoroutines: several may ask for sessions at once.
func TestGoroutines(t *testing.T) {
	f := worlds[0].remembered(t)
	x := f.openAt(small)
	defer x.Close()
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for _, id := range ids {
				if x.Entry(id) == nil || x.Err(id) != nil || x.Entry("no"+id) != nil {
					t.Errorf("%s is %v, %v", id, x.Entry(id), x.Err(id))
				}
			}
		})
	}
	asking.Wait()
}
