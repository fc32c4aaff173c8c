package index_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// TestLinks reads the links from the files, and again from the index that was made
// of them.
func TestLinks(t *testing.T) {
	for _, w := range worlds {
		f := w.folder(t)
		x := f.load()
		if x.Trouble != "the index is missing" || x.Torn || !x.Stale() {
			t.Errorf("%v: without an index the trouble is %q, stale: %v", w.dialect, x.Trouble, x.Stale())
		}
		w.check(t, "from the files", x)
		f.save(x)
		f.healthy(w.dialect.String())
		w.check(t, "from the index", f.load())
		// Only the index now has the links.
		for _, id := range ids {
			at := mtime(t, f.path(id+".json"))
			f.write(id+".json", strings.Repeat(" ", len(f.read(id+".json"))))
			f.date(id+".json", at)
		}
		at := mtime(t, f.path(session.IndexFile))
		f.write(session.IndexFile, f.read(session.IndexFile)) // after the files changed
		f.date(session.IndexFile, at)
		w.check(t, "from the index alone", f.load())
	}
}

// TestChangedInPlace: a session that was changed after the index was written is
// read, even if its size and its modification time are unchanged.
func TestChangedInPlace(t *testing.T) {
	for _, w := range worlds {
		f := w.folder(t)
		f.save(f.load())
		info, err := os.Stat(f.path(ids[0] + ".json"))
		if err != nil {
			t.Fatal(err)
		}
		if durable.Identify(info).Changed == 0 {
			t.Skip("this system does not report ctime")
		}
		for id := durable.Identify(info); !durable.Settled(max(id.Changed, id.ModTime), time.Now()); {
			time.Sleep(time.Millisecond) // then the next change gets another time
		}
		data := f.read(ids[0] + ".json")
		f.write(ids[0]+".json", strings.Repeat(" ", len(data)))
		f.date(ids[0]+".json", info.ModTime())
		if e := f.load().Entry(ids[0]); e != nil && e.Err == nil {
			t.Errorf("%v: %s is still %q", w.dialect, ids[0], e.Title)
		}
		f.write(ids[0]+".json", data)
		f.date(ids[0]+".json", info.ModTime())
		if x := f.load(); x.Stale() {
			t.Errorf("%v: a session with the same content makes the index stale: %s", w.dialect, x.Trouble)
		}
	}
}

func mtime(t testing.TB, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// TestHeal damages an index and verifies that nothing is lost.
func TestHeal(t *testing.T) {
	replace := func(pattern, with string) func(string) string {
		return func(s string) string {
			out := regexp.MustCompile(pattern).ReplaceAllString(s, with)
			if out == s {
				t.Fatalf("%q changes nothing in %s", pattern, s)
			}
			return out
		}
	}
	entry := func(id, with string) func(string) string {
		return replace(`(?s)"`+id+`": \{.*?\n  \}`, with)
	}
	for _, c := range []struct {
		name    string
		damage  func(string) string
		trouble string // a substring of Trouble, "" for none
		torn    bool
	}{
		{"an entry that Penguin replaced", entry("cont", `"cont": {"created_at":"2026-05-25T15:01:00","last_active":"2026-05-25T15:01:00","message_count":1,"token_count":0,"title":"Session cont"}`), "out of date", false},
		{"an entry with the wrong link", entry("cont", `"cont": {"continued_from":"tail","title":"Session cont"}`), "out of date", false},
		{"an entry that is missing", entry("cont", `"x": {"message_count":1}`), "out of date", false},
		{"an entry of a missing file", replace(`^\{`, `{"gone": {"message_count":1,"continued_from":"root"},`), "gone, which does not exist", false},
		{"an entry that is not an object", entry("cont", `"cont": 7`), "out of date", false},
		{"an entry with a key twice", entry("cont", `"cont": {"title":"a","title":"b"}`), "out of date", false},
		{"an entry with two origins", entry("cont", `"cont": {"continued_from":["a","b"]}`), "out of date", false},
		{"the file's size in another entry", replace(`"size": \d+`, `"size": 1`), "", false},
		{"the file's time in another entry", replace(`"mtime": "\d+"`, `"mtime": "x"`), "", false},
		{"no index", nil, "missing", false},
		{"an empty object", func(string) string { return "{}" }, "out of date", false},
		{"a torn index", func(s string) string { return s[:len(s)-30] }, "damaged", true},
		{"an empty file", func(string) string { return "" }, "damaged", true},
		{"an array", func(string) string { return "[]" }, "damaged", true},
		{"an entry twice", replace(`^\{`, `{"cont": {},`), "damaged", true},
		{"no JSON", func(s string) string { return "\xff" + s }, "damaged", true},
	} {
		for _, w := range worlds {
			f := w.folder(t)
			f.save(f.load())
			if c.damage == nil {
				f.remove(session.IndexFile)
			} else {
				f.write(session.IndexFile, c.damage(f.read(session.IndexFile)))
			}
			x := f.load()
			if !x.Stale() || x.Torn != c.torn || !strings.Contains(x.Trouble, c.trouble) || c.trouble == "" && x.Trouble != "" {
				t.Errorf("%v, %s: stale %v, torn %v, %q", w.dialect, c.name, x.Stale(), x.Torn, x.Trouble)
			}
			w.check(t, c.name, x)
			f.save(x)
			f.healthy(c.name)
			w.check(t, c.name+", healed", f.load())
		}
	}
}

// TestFileChanged: an entry is used only while its file is unchanged.
func TestFileChanged(t *testing.T) {
	w := worlds[0]
	for name, change := range map[string]func(f *folder){
		"another time": func(f *folder) {
			f.write("tail.json", strings.Replace(f.read("tail.json"), `["cont"]`, `["root"]`, 1))
			f.date("tail.json", time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
		},
		"another size": func(f *folder) {
			at := mtime(t, f.path("tail.json"))
			f.write("tail.json", strings.Replace(f.read("tail.json"), `["cont"]`, `[ "root" ]`, 1))
			f.date("tail.json", at)
		},
		"an older time": func(f *folder) {
			f.write("tail.json", strings.Replace(f.read("tail.json"), `["cont"]`, `["root"]`, 1))
			f.date("tail.json", time.Date(2020, 6, 1, 0, 0, 0, 0, time.UTC))
		},
	} {
		f := w.folder(t)
		f.save(f.load())
		change(f)
		x := f.load()
		if x.Origin("tail") != "root" || !x.Stale() || !strings.Contains(x.Trouble, "tail changed") {
			t.Errorf("%s: tail comes from %q, %q", name, x.Origin("tail"), x.Trouble)
		}
		f.save(x)
		f.healthy(name)
	}
	f := w.folder(t)
	f.save(f.load())
	f.date("tail.json", time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	if x := f.load(); !x.Stale() || x.Trouble != "" {
		t.Errorf("a file that was only touched is stale: %v, trouble: %q, want true and none", x.Stale(), x.Trouble)
	}
}

// TestForeignMembers: members of another program in an entry are kept, whether or
// not the entry is rewritten.
func TestForeignMembers(t *testing.T) {
	w := worlds[1]
	f := w.folder(t)
	f.save(f.load())
	const foreign = `"total_chain_tokens": 1.0, "note": {"k": NaN, "k": "\ud83d "},`
	for _, id := range []string{"root", "tail"} {
		f.write(session.IndexFile, strings.Replace(f.read(session.IndexFile), `"`+id+`": {`, `"`+id+`": {`+foreign, 1))
	}
	kept := func(when string, id string) {
		t.Helper()
		s := f.read(session.IndexFile)
		i := strings.Index(s, `"`+id+`": {`)
		e := s[i : i+strings.Index(s[i:], "\n  }")]
		for _, member := range []string{`"total_chain_tokens": 1.0`, `"note": {"k": NaN, "k": "\ud83d "}`} {
			if !strings.Contains(e, member) {
				t.Errorf("%s, %s is %s, want %s in it", when, id, e, member)
			}
		}
	}
	f.session("tail", 30, `"title":"New","continued_from":"cont"`)
	f.save(f.load())
	kept("after tail changed", "root")
	kept("after tail changed", "tail")
	f.session("late", 40, `"continued_from":"root"`)
	f.save(f.load())
	kept("after root was continued", "root")
	kept("after root was continued", "tail")
	if x := f.load(); x.Trouble != "" || x.Entry("tail").Title != "New" || len(x.ContinuedTo("root")) != 3 {
		t.Errorf("trouble %q, tail is %q, root is continued by %q", x.Trouble, x.Entry("tail").Title, x.ContinuedTo("root"))
	}
}

// TestSameBytes: valid entries keep their bytes and their positions, and a valid
// index is not written at all.
func TestSameBytes(t *testing.T) {
	f := worlds[0].folder(t)
	f.save(f.load())
	odd := strings.Replace(f.read(session.IndexFile), `"title": "Session tail",`, "\t\"title\"  :\"Session tail\"\r\n,", 1)
	f.write(session.IndexFile, odd)
	before, err := os.Stat(f.path(session.IndexFile))
	if err != nil {
		t.Fatal(err)
	}
	x := f.load()
	if x.Stale() {
		t.Fatalf("the index is stale: %q", x.Trouble)
	}
	f.save(x)
	if after, err := os.Stat(f.path(session.IndexFile)); err != nil || !os.SameFile(before, after) || f.read(session.IndexFile) != odd {
		t.Errorf("the index was written although it holds: %v", err)
	}
	f.session("new", 50, `"continued_from":["other"],"continued_to":[]`)
	f.save(f.load())
	want := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(odd), &want); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, id := range append(ids[:len(ids):len(ids)], "new") {
		i := strings.Index(f.read(session.IndexFile), `"`+id+`": {`)
		if i < at {
			t.Errorf("%s has another position", id)
		}
		at = i
		if got := f.entries()[id]; id != "other" && id != "new" && string(got) != string(want[id]) {
			t.Errorf("%s is now %s, want %s", id, got, want[id])
		}
	}
}

// TestFresh: the index is never older than a session file, for any clock.
func TestFresh(t *testing.T) {
	f := worlds[0].folder(t)
	f.date("tail.json", time.Date(2036, 1, 1, 0, 0, 0, 999, time.UTC))
	f.save(f.load())
	f.healthy("a file of the future")
	f.session("new", 50, "")
	f.date("new.json", time.Date(2037, 1, 1, 0, 0, 0, 1, time.UTC))
	s, err := sessions.New(f.root, nil).Read("new")
	if err != nil {
		t.Fatal(err)
	}
	x := f.load()
	x.Put(s.Summary(), f.stat("new"))
	f.save(x)
	f.healthy("a new file of the future")
	f.date(session.IndexFile, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	f.save(f.load())
	f.healthy("an index of the past")
}

// TestEarlierIndex: an index of a version without openings, merges or sources is rebuilt from the
// files, without a message.
func TestEarlierIndex(t *testing.T) {
	f := worlds[0].folder(t)
	f.write("said.json", `{"metadata":{"bough":{"sources":[{"format":"codex","directory":"/d","git_branch":"main","model":"m","id":"c","begun_by":"p"},{"format":"x"}]}},"messages":[{"id":"m","role":"user","content":"How wet is too wet?","metadata":{"bough":{"merged":{}}}}]}`)
	f.save(f.load())
	now := f.read("session_index.json")
	check := func(x *index.Index) {
		t.Helper()
		e := x.Entry("said")
		if want := (session.Setting{Tool: "codex", Directory: "/d", GitBranch: "main", Model: "m"}); e.Setting != want || e.Opening != "How wet is too wet?" || !e.Merges {
			t.Errorf("the entry has %+v, %q, merges: %v", e.Setting, e.Opening, e.Merges)
		}
		for name, list := range map[string][]*index.Entry{"c": x.Imported("codex", "c"), "p": x.BegunBy("codex", "p")} {
			if len(list) != 1 || list[0].ID != "said" {
				t.Errorf("%s is found as %v", name, list)
			}
		}
		if n := len(x.Imported("codex", "p")) + len(x.BegunBy("codex", "c")) + len(x.Imported("x", "c")); n > 0 {
			t.Errorf("%d sessions have sources that they do not have", n)
		}
	}
	for _, without := range []string{
		`\n +"(opening|tool|directory|git_branch|model)": "[^"]*",|\n +"merges": (true|false),`,
		`\n +"merges": (true|false),`,
		`(?s)\n +"sources": \[.*?\],`,
	} {
		before := regexp.MustCompile(without).ReplaceAllString(now, "")
		if before == now {
			t.Fatalf("%s is not in the index\n%s", without, now)
		}
		f.write("session_index.json", before)
		x := f.load()
		if x.Trouble != "" || !x.Stale() {
			t.Errorf("with an earlier index the trouble is %q, stale: %v", x.Trouble, x.Stale())
		}
		check(x)
		f.save(x)
		if got := f.read("session_index.json"); got != now {
			t.Errorf("the index is\n%s\nwant\n%s", got, now)
		}
		if x = f.load(); x.Stale() {
			t.Error("the index that was saved is stale")
		}
		check(x)
	}
}
