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
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

// remembered returns a workspace of a world in which a command has examined every
// session.
func (w world) remembered(t testing.TB) *folder {
	t.Helper()
	f := w.folder(t)
	f.save(f.loadAt(small))
	f.look()
	return f
}

// look is a command that examines every session.
func (f *folder) look() {
	f.t.Helper()
	f.rest()
	f.loadAt(small).Remember()
	if x := f.openAt(small); !x.Asked() {
		f.t.Fatal("the index is not cached")
	} else {
		x.Close()
	}
}

// forgets reports whether the next command examines every session.
func (f *folder) forgets() bool {
	x := f.openAt(small)
	defer x.Close()
	return !x.Asked()
}

// agrees verifies that the next command returns the same results as the files.
func (f *folder) agrees(name string) {
	f.t.Helper()
	y := f.loadAt(small)
	for _, text := range []string{"Root", "rOOT", "Session late", "session LATE", "a"} {
		for what, ask := range map[string]func(*index.Index, string) ([]string, error){"titled": (*index.Index).Titled, "titled in any case": (*index.Index).TitledFold, "containing": (*index.Index).Containing} {
			x := f.openAt(small)
			got, err := ask(x, text)
			want, _ := ask(y, text)
			if err != nil || !slices.Equal(got, want) {
				f.t.Errorf("%s: %s %q: %q, %v, want %q", name, what, text, got, err, want)
			}
			x.Close()
		}
	}
	x := f.openAt(small)
	defer x.Close()
	for _, id := range append([]string{"late", "nothing"}, ids...) {
		for _, q := range questions {
			if got, want := fmt.Sprint(q.ask(x, id)), fmt.Sprint(q.ask(y, id)); got != want {
				f.t.Errorf("%s: %s %s: %s, want %s", name, q.what, id, got, want)
			}
		}
	}
}

// TestRemember holds the conditions under which an index is cached.
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
		{"a temporary file, which a writer has to find", worlds[0], small, func(f *folder) { f.write(".root.json"+durable.TempSuffix, "{"); f.rest() }, false},
		{"a link that only another file has", worlds[0], small, func(f *folder) {
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

// TestFlippedBytes: a wrong byte in the cache never changes a result.
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
		for i := 0; i < len(whole) && !t.Failed(); i += 1 + len(whole)/testsize.Of(3, 6, 150) {
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
		t.Error("the restored index is not cached")
	}
}

// TestDamagedTable: a command that finds the table damaged rewrites it.
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
	x := f.openAt(small)
	if !x.Asked() || x.Entry("root") == nil || x.Asked() {
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

// TestUnreadable: if neither the cache nor the folder can be read, every method returns the
// error.
func TestUnreadable(t *testing.T) {
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

// TestGoroutines: sessions may be requested concurrently.
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

// TestSwapped: the cache of another workspace is ignored.
func TestSwapped(t *testing.T) {
	other := worlds[0].folder(t)
	other.session("root", 0, `"title":"Toor","continued_from":[],"continued_to":["tail"]`)
	other.save(other.loadAt(small))
	other.look()
	f := worlds[0].remembered(t)
	for _, name := range []string{index.LookPath, index.TablePath} {
		mine, err := f.root.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := other.root.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(mine) != len(theirs) {
			t.Fatalf("%s has %d bytes here and %d there", name, len(mine), len(theirs))
		}
		if err := f.root.WriteFile(name, theirs, 0o600); err != nil {
			t.Fatal(err)
		}
		if !f.forgets() {
			t.Errorf("%s of another workspace is used", name)
		}
		f.agrees(name)
		if err := f.root.WriteFile(name, mine, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if f.forgets() {
		t.Error("the restored index is not cached")
	}
}

// TestLateReader: a look that a reader cached from an outdated index is completed
// by the next writer with journal lines.
func TestLateReader(t *testing.T) {
	f := worlds[0].remembered(t)
	before := f.read(session.IndexFile)
	f.session("foreign", 51, worlds[0].metadata["twig"])
	f.look()
	x := f.openAt(small)
	if !x.Asked() || !x.Stale() || !strings.Contains(x.Trouble, "foreign is not in it") || x.Entry("foreign") == nil {
		t.Errorf("stale %v, %q", x.Stale(), x.Trouble)
	}
	f.put(x, "late", 50, worlds[0].metadata["other"])
	f.save(x)
	x.Remember()
	x.Close()
	if f.read(session.IndexFile) != before || strings.Count(f.journal(), "\n") != 2 {
		t.Errorf("the journal is %s", f.journal())
	}
	x = f.openAt(small)
	if !x.Asked() || x.Stale() || x.Trouble != "" {
		t.Errorf("the next command: stale %v, %q", x.Stale(), x.Trouble)
	}
	x.Close()
}

// TestOpenedChanges changes links in an index that has not loaded every session.
func TestOpenedChanges(t *testing.T) {
	f := worlds[0].folder(t)
	f.write("lost.json", "{")
	f.save(f.loadAt(small))
	f.look()
	x := f.openAt(small)
	defer x.Close()
	f.put(x, "late", 50, `"continued_from":["root"],"continued_to":[]`)
	f.put(x, "late", 50, `"continued_from":["root"],"continued_to":[],"flattened_snapshot":true`)
	if got := x.ContinuedTo("root"); !x.Asked() || !slices.Equal(got, []string{"cont", "other", "late"}) {
		t.Errorf("root is continued by %q", got)
	}
	if got := x.Continuations("root"); !slices.Equal(got, []string{"cont", "other"}) {
		t.Errorf("the continuations of root are %q", got)
	}
	f.put(x, "late", 50, `"continued_from":["cont"],"continued_to":["lost"]`)
	if got := x.Continuations("late"); !x.Asked() || !slices.Equal(got, []string{"lost"}) || x.Broken("late") == nil {
		t.Errorf("late is continued by %q, %v", got, x.Broken("late"))
	}
	f.save(x)
	if f.journal() != "" {
		t.Errorf("there is a journal: %s", f.journal())
	}
	if x = f.loadAt(small); x.Broken("late") == nil {
		t.Error("the index has no continuation of late")
	}
}

// TestPlaces: a key of the index keeps its position when the journal is folded.
func TestPlaces(t *testing.T) {
	f := worlds[0].remembered(t)
	tight := index.Limits{Index: 100, Journal: 10}
	x := f.openAt(tight)
	defer x.Close()
	f.put(x, "cont", 1, worlds[0].metadata["cont"])
	f.put(x, "late", 50, worlds[0].metadata["other"])
	f.save(x)
	saved := f.read(session.IndexFile)
	place := func(id string) int { return strings.Index(saved, "\n  \""+id+"\": {") }
	if root, cont, tail, late := place("root"), place("cont"), place("tail"), place("late"); root < 0 || cont < root || tail < cont || late < place("twig") {
		t.Errorf("the index is %s", saved)
	}
}

// TestTitledFold: a title is found in any case, in the files and in the cache.
func TestTitledFold(t *testing.T) {
	f := newFolder(t)
	for id, title := range map[string]string{"a": "Straße nach Kyoto", "b": "straße NACH kyoto", "c": "Strasse nach Kyoto", "d": "Kelvin"} {
		f.write(id+".json", fmt.Sprintf(`{"id": %q, "created_at": "2020-05-25T15:00:00", "metadata": {"title": %q, "continued_from": []}, "messages": []}`, id, title))
	}
	for _, open := range []func(*os.Root, map[string]string) (*index.Index, error){small.Load, small.Open} {
		x, err := open(f.root, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ title, want string }{
			{"Straße nach Kyoto", "[a b]"}, {"STRAßE NACH KYOTO", "[a b]"}, {"strasse nach kyoto", "[c]"},
			{"\u212aELVIN", "[d]"}, {"kelvi", "[]"}, {"", "[]"},
		} {
			if got, err := x.TitledFold(c.title); err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%q is the title of %v, %v, want %s", c.title, got, err, c.want)
			}
		}
		if got, err := x.Titled("straße NACH kyoto"); err != nil || fmt.Sprint(got) != "[b]" {
			t.Errorf("the exact title is that of %v, %v", got, err)
		}
		f.save(x)
		x.Remember()
		x.Close()
	}
}
