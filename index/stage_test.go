package index_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
)

// asked returns an index of five sessions opened by a look. It is large only
// because of the title of the first.
func asked(f *folder) *index.Index {
	f.t.Helper()
	f.session("s0", 0, fmt.Sprintf(`"title":%q,"continued_from":[],"continued_to":[]`, strings.Repeat("long ", 1000)))
	for i := 1; i < 5; i++ {
		f.session(fmt.Sprint("s", i), i, `"continued_from":[],"continued_to":[]`)
	}
	limits := index.Limits{Index: 5000, Journal: 5000}
	f.save(f.loadAt(limits))
	f.rest()
	f.loadAt(limits).Remember()
	x := f.openAt(limits)
	if !x.Asked() {
		f.t.Fatal("the index is not opened by the last look")
	}
	return x
}

// TestStageAsked: an index that has not loaded every session is not written
// completely, even if it is no longer large.
func TestStageAsked(t *testing.T) {
	f := newFolder(t)
	x := asked(f)
	f.put(x, "s0", 0, `"title":"short","continued_from":[],"continued_to":[]`)
	put := func(path string, _ []byte, _ time.Time, _ session.Stat) error {
		t.Errorf("%s is staged", path)
		return nil
	}
	if staged, err := x.Stage(put); staged || err != nil {
		t.Errorf("Stage = %v, %v", staged, err)
	}
	if err := x.Save(); err != nil {
		t.Fatal(err)
	}
	if got := len(f.entries()); got != 5 || f.journal() != "" {
		t.Errorf("the index has %d sessions, want 5, and the journal %q", got, f.journal())
	}
}

// TestWholePending: sessions that were put or removed count during a load, even if
// the files have not changed yet.
func TestWholePending(t *testing.T) {
	f := newFolder(t)
	x := asked(f)
	s, err := session.Decode("new", []byte(`{"metadata":{"title":"New","continued_from":["s1"]},"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	x.Put(s.Summary(), session.Stat{ID: "new", Size: 7, ModTime: time.Now()})
	s, err = session.Decode("s2", []byte(`{"metadata":{"title":"Other","continued_from":[]},"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	x.Put(s.Summary(), session.Stat{ID: "s2", Size: 8, ModTime: time.Now()})
	x.Remove("s3")
	if err := x.Whole(); err != nil {
		t.Fatal(err)
	}
	if e := x.Entry("new"); e == nil || e.Title != "New" || e.Size() != 7 {
		t.Errorf("the new session is %+v", e)
	}
	if e := x.Entry("s2"); e == nil || e.Title != "Other" {
		t.Errorf("the changed session is %+v", e)
	}
	if x.Entry("s3") != nil {
		t.Error("the removed session still exists")
	}
	if got := x.ContinuedTo("s1"); len(got) != 1 || got[0] != "new" {
		t.Errorf("s1 is continued by %q", got)
	}
}

// TestJournalLink: a journal that is a link is ignored, and nothing is written
// through it.
func TestJournalLink(t *testing.T) {
	f := newFolder(t)
	x := asked(f)
	x.Close()
	before := f.read("s1.json")
	if err := os.Symlink("s1.json", f.path("session_index.journal")); err != nil {
		t.Fatal(err)
	}
	y := f.loadAt(index.Limits{Index: 5000, Journal: 5000})
	f.put(y, "s2", 2, `"title":"Other","continued_from":[],"continued_to":[]`)
	if err := y.Save(); err == nil {
		t.Error("a line was added to a link")
	}
	if got := f.read("s1.json"); got != before {
		t.Errorf("the session behind the link is %q", got)
	}
}
