package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

// small allows a journal for an index of a few sessions.
var small = index.Limits{Index: 100, Journal: 2200}

func (f *folder) loadAt(l index.Limits) *index.Index {
	f.t.Helper()
	x, err := l.Load(f.root, f.aliases)
	if err != nil {
		f.t.Fatal(err)
	}
	return x
}

func (f *folder) openAt(l index.Limits) *index.Index {
	f.t.Helper()
	x, err := l.Open(f.root, f.aliases)
	if err != nil {
		f.t.Fatal(err)
	}
	return x
}

// rest simulates an hour without a change of the folder. It is not always the same hour.
func (f *folder) rest() {
	f.t.Helper()
	at := time.Now().Add(-time.Hour - time.Duration(rand.Int64N(int64(time.Hour))))
	if err := os.Chtimes(filepath.Join(f.dir, session.Dir), at, at); err != nil {
		f.t.Fatal(err)
	}
}

// put writes a session and puts it into x.
func (f *folder) put(x *index.Index, id string, minute int, metadata string) {
	f.t.Helper()
	if err := x.Change(func() error { f.session(id, minute, metadata); return nil }); err != nil {
		f.t.Fatal(err)
	}
	s, err := sessions.New(f.root, nil).Read(id)
	if err != nil {
		f.t.Fatal(err)
	}
	x.Put(s.Summary(), f.stat(id))
}

func (f *folder) journal() string {
	data, err := os.ReadFile(f.path("session_index.journal"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.t.Fatal(err)
	}
	return string(data)
}

// TestJournal compares a complete journal.
func TestJournal(t *testing.T) {
	f := newFolder(t)
	f.session("a", 0, `"title":"\u5206 <A>","continued_from":[],"continued_to":[]`)
	f.session("old", 1, `"continued_from":[],"continued_to":[]`)
	f.save(f.loadAt(small))
	f.write(session.IndexFile, strings.Replace(f.read(session.IndexFile), `"title": "Session old"`, `"note": {"k":NaN,
		"l": [1.0, "\n "]}, "title": "Session old"`, 1))
	before := f.read(session.IndexFile)
	x := f.loadAt(small)
	f.put(x, "b", 2, `"continued_from":["a"],"continued_to":[],"branched_from":"a","branch_point":"m","lineage":["a"],"flattened_snapshot":true,"bough":{"kind":"branch"}`)
	f.save(x)
	f.put(x, "old", 3, `"continued_from":[],"continued_to":["x"]`)
	x.Remove("a")
	f.remove("a.json")
	f.save(x)
	const want = `{"id":"b","entry":{"created_at": "2026-05-25T15:02:00+00:00","last_active": "2026-05-25T15:02:00+00:00","message_count": 1,"title": "Session b","continued_from": ["a"],"branched_from": "a","branch_point": "m","lineage": ["a"],"flattened_snapshot": true,"bough": {"kind": "branch","opening": "","merges": false,"size": 278,"mtime": "1779721350123456789"}}}
{"id":"a","entry":null}
{"id":"old","entry":{"created_at": "2026-05-25T15:03:00+00:00","last_active": "2026-05-25T15:03:00+00:00","message_count": 1,"title": "Session old","continued_from": [],"bough": {"kind": "root","opening": "","merges": false,"size": 173,"mtime": "1779721410123456789"},"note": {"k":NaN,"l": [1.0, "\n "]}}}
`
	if got := f.journal(); got != want {
		t.Errorf("the journal is\n%s\nwant\n%s", got, want)
	}
	if f.read(session.IndexFile) != before {
		t.Errorf("the index was written too")
	}
	x = f.loadAt(small)
	if x.Stale() || x.Trouble != "" || x.Entry("a") != nil || x.Entry("old").CreatedAt.Minute() != 3 || !slices.Equal(x.ContinuedTo("a"), []string{"b"}) {
		t.Errorf("the saved index is stale: %v, %q; a is %v, old %v", x.Stale(), x.Trouble, x.Entry("a"), x.Entry("old"))
	}

	// Under the default limits such an index has no journal.
	x = f.load()
	if !x.Stale() || !strings.Contains(x.Trouble, "not folded in") {
		t.Errorf("with a forbidden journal: stale %v, %q", x.Stale(), x.Trouble)
	}
	f.save(x)
	if x := f.load(); x.Stale() || x.Trouble != "" || f.journal() != "" {
		t.Errorf("folded, the index is stale: %v, %q; the journal is %q", x.Stale(), x.Trouble, f.journal())
	}
	const folded = `{
  "old": {
    "created_at": "2026-05-25T15:03:00+00:00",
    "last_active": "2026-05-25T15:03:00+00:00",
    "message_count": 1,
    "title": "Session old",
    "continued_from": [],
    "continued_to": [],
    "bough": {
      "kind": "root",
      "opening": "",
      "merges": false,
      "size": 173,
      "mtime": "1779721410123456789"
    },
    "note": {"k":NaN,"l": [1.0, "\n "]}
  },
  "b": {
    "created_at": "2026-05-25T15:02:00+00:00",
    "last_active": "2026-05-25T15:02:00+00:00",
    "message_count": 1,
    "title": "Session b",
    "continued_from": [
      "a"
    ],
    "branched_from": "a",
    "branch_point": "m",
    "lineage": [
      "a"
    ],
    "flattened_snapshot": true,
    "continued_to": [],
    "bough": {
      "kind": "branch",
      "opening": "",
      "merges": false,
      "size": 278,
      "mtime": "1779721350123456789"
    }
  }
}
`
	if got := f.read(session.IndexFile); got != folded {
		t.Errorf("the index is\n%s\nwant\n%s", got, folded)
	}
}

// TestNoJournal holds the cases in which the index has no journal.
func TestNoJournal(t *testing.T) {
	for _, c := range []struct {
		name   string
		world  world
		limits index.Limits
		change func(*folder)
	}{
		{"an index that is small", worlds[0], index.Limits{Index: 1 << 20, Journal: 1 << 20}, func(*folder) {}},
		{"an index of Penguin", worlds[1], small, func(*folder) {}},
		{"no index", worlds[0], small, func(f *folder) { f.remove(session.IndexFile) }},
		{"an index that is torn", worlds[0], small, func(f *folder) { f.write(session.IndexFile, "{") }},
		{"too many lines", worlds[0], index.Limits{Index: 100, Journal: 100}, func(*folder) {}},
		{"a link that only another file has", worlds[0], small, func(f *folder) {
			f.write("tail.json", "")
			f.session("new", 40, `"continued_to":["damaged"],"continued_from":[]`)
			f.write("damaged.json", "")
		}},
	} {
		f := c.world.folder(t)
		f.save(f.loadAt(c.limits))
		c.change(f)
		x := f.loadAt(c.limits)
		f.put(x, "late", 50, c.world.metadata["other"])
		f.save(x)
		f.healthy(c.name)
		if f.journal() != "" {
			t.Errorf("%s has a journal", c.name)
		}
	}
}

// TestJournalSessions holds when an index of many sessions has a journal: from 500 sessions
// on, at most 64 lines, and not in Penguin's dialect. The index is correct for a version that
// allows a journal only beside an index of 1 MiB.
func TestJournalSessions(t *testing.T) {
	earlier := index.Limits{Index: 1 << 20, Journal: 1 << 20}
	for _, c := range []struct{ name, metadata string }{
		{"bough", `"continued_from":[],"continued_to":[]`},
		{"penguin", `"title":"x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			n := 0
			file := func() string {
				id := fmt.Sprintf("s%03d", n)
				n++
				f.session(id, n%60, c.metadata)
				return id
			}
			for n < 498 {
				file()
			}
			f.save(f.load())
			add := func() {
				x := f.load()
				id := file()
				s, err := sessions.New(f.root, nil).Read(id)
				if err != nil {
					t.Fatal(err)
				}
				x.Put(s.Summary(), f.stat(id))
				f.save(x)
			}
			adds := 1 + testsize.Of(1, 1, 2)*65 // the journal is folded in once or twice
			if c.name == "penguin" {            // it has none
				adds = testsize.Of(5, 10, adds)
			}
			for range adds {
				add()
				want := 0
				if n >= 500 && c.name == "bough" {
					want = (n - 499) % 65
				}
				if got := strings.Count(f.journal(), "\n"); got != want {
					t.Fatalf("with %d sessions the journal has %d lines, want %d", n, got, want)
				}
				if want == 0 && len(f.entries()) != n {
					t.Fatalf("without a journal, the index has %d sessions, want %d", len(f.entries()), n)
				}
			}
			add()
			old := f.loadAt(earlier)
			if got := len(old.Entries()); got != n || (old.Trouble != "") != (c.name == "bough") {
				t.Errorf("an earlier version finds %d sessions, want %d, and %q", got, n, old.Trouble)
			}
			f.save(old)
			if f.journal() != "" || len(f.entries()) != n {
				t.Errorf("an earlier version leaves the journal %q and %d sessions in the index", f.journal(), len(f.entries()))
			}
		})
	}
}

// TestJournalDamaged: an invalid line is ignored, and the sessions are read from
// their files.
func TestJournalDamaged(t *testing.T) {
	const line = `{"id":"late","entry":{"title":"x"}}`
	for _, c := range []struct {
		name, line string
		damaged    bool
	}{
		{"no JSON", "x", true},
		{"an empty line", "", true},
		{"an array", "[]", true},
		{"no id", `{"entry":{}}`, true},
		{"no entry", `{"id":"late"}`, true},
		{"an id that is a number", `{"id":1,"entry":{}}`, true},
		{"an entry that is a number", `{"id":"late","entry":1}`, true},
		{"a key twice", `{"id":"late","id":"x","entry":null}`, true},
		{"two values", line + line, true},
		{"half a line", line[:len(line)-3], true},
		{"an unknown member", `{"entry":null,"more":[NaN],"\u0069d":"nothing"}`, false},
		{"an entry with a key twice", `{"id":"late","entry":{"title":"a","title":"b"}}`, false},
		{"a wrong entry", line, false},
		{"an existing session is deleted", `{"id":"root","entry":null}`, false},
		{"a deleted session exists", `{"id":"gone","entry":{}}`, false},
	} {
		f := worlds[0].folder(t)
		f.save(f.loadAt(small))
		x := f.loadAt(small)
		f.put(x, "late", 50, worlds[0].metadata["other"])
		f.save(x)
		whole := f.journal()
		for _, text := range []string{whole + c.line + "\n", c.line + "\n" + whole} {
			f.write("session_index.journal", text)
			x = f.loadAt(small)
			if said := strings.Contains(x.Trouble, "the journal of the index is damaged"); said != c.damaged {
				t.Errorf("%s: %q", c.name, x.Trouble)
			}
			if c.damaged && !x.Stale() {
				t.Errorf("%s: the index is not stale", c.name)
			}
			if got := x.Continuations("root"); !slices.Equal(got, []string{"cont", "other", "late"}) {
				t.Errorf("%s: root is continued by %q", c.name, got)
			}
			f.save(x)
			if x = f.loadAt(small); x.Stale() || x.Trouble != "" {
				t.Errorf("%s: trouble after Save: %q", c.name, x.Trouble)
			}
		}
		f.write("session_index.journal", whole+c.line)
		if x = f.loadAt(small); x.Stale() || x.Trouble != "" {
			t.Errorf("%s, without a line break: %q", c.name, x.Trouble)
		}
	}
}

// TestFold interrupts the folding of a journal after each step.
func TestFold(t *testing.T) {
	f := worlds[0].folder(t)
	f.save(f.loadAt(small))
	x := f.loadAt(small)
	f.put(x, "late", 50, `"title":"Old","continued_from":["root"],"continued_to":[]`)
	f.save(x)
	index0, journal0 := f.read(session.IndexFile), f.journal()
	if journal0 == "" {
		t.Fatal("there is no journal")
	}

	// The entry of late is corrected, fresh is added, tail is removed. At first the
	// index cannot be written.
	f.session("late", 50, `"title":"New","continued_from":["root"],"continued_to":[]`)
	s, err := sessions.New(f.root, nil).Read("late")
	if err != nil {
		t.Fatal(err)
	}
	f.session("fresh", 51, `"continued_from":["late"],"continued_to":[]`)
	fresh, err := sessions.New(f.root, nil).Read("fresh")
	if err != nil {
		t.Fatal(err)
	}
	f.remove("tail.json")
	x = f.loadAt(index.Limits{Index: 100, Journal: int64(len(journal0)) + 10})
	x.Correct(s.Summary())
	x.Put(fresh.Summary(), f.stat("fresh"))
	x.Remove("tail")
	inTheWay := f.path(".session_index.json" + durable.TempSuffix)
	if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := x.Save(); err == nil {
		t.Fatal("the index was written")
	}
	journal1 := f.journal()
	if !strings.HasPrefix(journal1, journal0) || f.read(session.IndexFile) != index0 {
		t.Fatalf("the journal is %s, was %s", journal1, journal0)
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	f.save(x)
	index1 := f.read(session.IndexFile)
	if index1 == index0 || f.journal() != "" {
		t.Fatalf("the journal is %s", f.journal())
	}
	for step, files := range map[string][2]string{
		"the journal is complete": {index0, journal1},
		"the index is written":    {index1, journal1},
		"the journal is removed":  {index1, ""},
	} {
		f.write(session.IndexFile, files[0])
		f.write("session_index.journal", files[1])
		if files[1] == "" {
			f.remove("session_index.journal")
		}
		x := f.loadAt(small)
		if x.Stale() || x.Trouble != "" || x.Entry("late").Title != "New" || x.Entry("fresh") == nil || x.Entry("tail") != nil {
			t.Errorf("%s: stale %v, %q; late is %q, fresh %v, tail %v", step, x.Stale(), x.Trouble, x.Entry("late").Title, x.Entry("fresh"), x.Entry("tail"))
		}
	}
}

// TestAppendIsAll: adding a session writes one line and nothing else to
// conversations, however many sessions there are.
func TestAppendIsAll(t *testing.T) {
	f := worlds[0].folder(t)
	f.save(f.loadAt(small))
	f.rest()
	x := f.loadAt(small)
	f.put(x, "late", 50, worlds[0].metadata["point"])
	f.save(x)
	x.Remember()
	first := f.journal()
	snapshot := func() (files []string) {
		list, err := filepath.Glob(f.path("*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range list {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(path) != "session_index.journal" {
				files = append(files, fmt.Sprint(filepath.Base(path), len(data), mtime(t, path)))
			}
		}
		return files
	}
	before := snapshot()
	x = f.openAt(small)
	if !x.Asked() {
		t.Fatal("the last look is not used")
	}
	f.put(x, "later", 51, worlds[0].metadata["point"])
	f.remove("later.json")
	f.save(x)
	if after := snapshot(); !slices.Equal(after, before) {
		t.Errorf("the files are %q, were %q", after, before)
	}
	added, ok := strings.CutPrefix(f.journal(), first)
	if !ok || strings.Count(added, "\n") != 1 || !bytes.HasPrefix([]byte(added), []byte(`{"id":"later",`)) {
		t.Errorf("the added lines are %q", added)
	}
}
