package index_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

// TestSameTick: a change by another program right after a command is detected,
// whatever the resolution of the file system's clock.
func TestSameTick(t *testing.T) {
	f := worlds[0].remembered(t)
	for i := range testsize.Of(10, 20, 100) {
		x := f.openAt(small)
		f.put(x, "late", i%60, worlds[0].metadata["other"])
		f.save(x)
		x.Remember()
		x.Close()
		x = f.openAt(small)
		if !x.Asked() || x.Entry("late") == nil || x.Stale() {
			t.Fatalf("the state after command %d is not cached", i)
		}
		x.Close()
		if err := os.Rename(f.path("late.json"), f.path("later.json")); err != nil {
			t.Fatal(err)
		}
		x = f.openAt(small)
		if x.Asked() || x.Entry("late") != nil || x.Entry("later") == nil {
			t.Fatalf("change %d is not detected", i)
		}
		f.remove("later.json")
		f.look()
	}
}

// TestMeanwhile: a change by another program during a command is detected by the
// next command.
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
			t.Errorf("%s: the change is not detected", name)
		}
		f.agrees(name)
	}
}

// TestSameSizeAndTime: a session that was changed in place, with the same size and
// time, is detected by a command that asks for it.
func TestSameSizeAndTime(t *testing.T) {
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
			return // this system reports no time of change
		}
		edited := strings.Replace(f.read("root.json"), "Root", "Toor", 1)
		for durable.Identify(before) == durable.Identify(info()) {
			f.write("root.json", edited)
			f.date("root.json", before.ModTime())
		}
		x := f.openAt(small)
		if !x.Asked() || x.Entry("root").Title != "Toor" || !x.Stale() {
			t.Errorf("%s: root has the title %q, stale %v", name, x.Entry("root").Title, x.Stale())
		}
		if ids, err := x.Titled("Root"); err != nil || len(ids) != 0 {
			t.Errorf("%s: %q are called Root, %v", name, ids, err)
		}
		f.save(x)
		x.Remember()
		x.Close()
		x = f.openAt(small)
		if !x.Asked() || x.Entry("root").Title != "Toor" || x.Stale() {
			t.Errorf("%s, saved: root has the title %q, stale %v", name, x.Entry("root").Title, x.Stale())
		}
		x.Close()
	}
}

// TestJournalMeanwhile: a change of the journal during a command is detected.
func TestJournalMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(lines []string) string
	}{
		{"the lines change places", func(lines []string) string { return lines[1] + lines[0] }},
		{"a removed line", func(lines []string) string { return strings.Repeat(" ", len(lines[0])) + lines[1] }},
		{"it is folded", func([]string) string { return "" }},
	} {
		f := worlds[0].remembered(t)
		x := f.openAt(small)
		f.put(x, "tail", 1, worlds[0].metadata["other"])
		f.put(x, "twig", 2, worlds[0].metadata["other"])
		f.save(x)
		x.Remember()
		x.Close()
		if x = f.openAt(small); !x.Asked() {
			t.Fatal("nothing is remembered")
		}
		f.write("session_index.journal", c.change(strings.SplitAfter(f.journal(), "\n")))
		if e := x.Entry("tail"); e == nil || !slices.Equal(e.ContinuedFrom, []string{"root"}) || e.CreatedAt.Minute() != 1 {
			t.Errorf("%s: tail is %+v", c.name, e)
		}
		x.Close()
	}

	f := worlds[0].remembered(t)
	for i := range 2 {
		x := f.openAt(small)
		if i > 0 {
			f.write("session_index.journal", f.journal()+`{"id":"root","entry":null}`+"\n")
		}
		f.put(x, "late", 50, worlds[0].metadata["other"])
		f.save(x)
		x.Remember()
		x.Close()
	}
	if !f.forgets() {
		t.Error("a line of another program is not detected")
	}
	f.agrees("another program added a line")
}

// TestReadWhileFolding reads the index while its journal is folded repeatedly: no
// entry is ever missing from both.
func TestReadWhileFolding(t *testing.T) {
	f := worlds[0].folder(t)
	f.save(f.loadAt(small))
	x := f.loadAt(small)
	f.put(x, "late", 50, worlds[0].metadata["other"])
	f.save(x)
	index0, journal := []byte(f.read(session.IndexFile)), []byte(f.journal())
	x = f.loadAt(index.Limits{Index: 100, Journal: 10})
	x.Put(mustRead(t, f, "late").Summary(), f.stat("late"))
	f.save(x)
	index1 := []byte(f.read(session.IndexFile))

	put := func(name string, data []byte) {
		if err := os.WriteFile(f.path(".temp"), data, 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(f.path(".temp"), f.path(name)); err != nil {
			t.Error(err)
		}
	}
	var writing sync.WaitGroup
	done := make(chan bool)
	writing.Go(func() {
		defer close(done)
		for range testsize.Of(10, 20, 100) {
			put("session_index.journal", journal)
			put(session.IndexFile, index0)
			for range 4 { // so that a reader has time to read
				if _, err := durable.Replace(f.root, "unrelated", durable.Bytes(journal)); err != nil {
					t.Error(err)
				}
			}
			put(session.IndexFile, index1)
			if err := f.root.Remove(index.JournalPath); err != nil {
				t.Error(err)
			}
		}
	})
	for {
		if x := f.loadAt(small); x.Stale() || x.Trouble != "" {
			t.Errorf("the index is stale: %q", x.Trouble)
			break
		}
		select {
		case <-done:
			return
		default:
		}
	}
	writing.Wait()
}

func mustRead(t *testing.T, f *folder, id string) *session.Session {
	t.Helper()
	s, err := sessions.New(f.root, nil).Read(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
