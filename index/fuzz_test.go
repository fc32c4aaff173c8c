package index_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// inZone sets the local time zone for a test.
func inZone(t *testing.T, hours int) {
	local := time.Local
	time.Local = time.FixedZone("test", hours*60*60)
	t.Cleanup(func() { time.Local = local })
}

// FuzzLoad: for any index, Load returns the links of the files and saves a valid index. An
// index could have the exact size and time of a file, so the files here have times that no
// seed has.
func FuzzLoad(f *testing.F) {
	var folders []*folder
	for _, w := range worlds {
		folder := w.folder(f)
		folders = append(folders, folder)
		folder.save(folder.load())
		whole := folder.read(session.IndexFile)
		if len(whole) < 1000 {
			f.Fatal("no seeds")
		}
		for _, seed := range []string{
			whole, whole[:len(whole)/2], strings.ReplaceAll(whole, `"continued_from"`, `"x"`), strings.ReplaceAll(whole, "cont", "tail"),
			strings.ReplaceAll(whole, `"size": `, `"size": -`), strings.ReplaceAll(whole, "{", "["),
		} {
			f.Add([]byte(seed))
		}
	}
	for _, seed := range []string{"", "{}", "[]", "null", `{"root":null,"cont":{},"tail":[],"":1}`, `{"root":{"bough":{"kind":"branch","size":1e99,"mtime":7},"continued_from":"root"}}`,
		`{"../x":{"title":"\ud83d"},"session_index":{},"branch":{"continued_to":NaN,"continued_to ":{"k":1,"k":2}}}`} {
		f.Add([]byte(seed))
	}
	for _, folder := range folders {
		folder.dated()
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for i, w := range worlds {
			folder := folders[i].in(t)
			folder.write(session.IndexFile, string(data))
			x, err := index.Load(folder.root, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.check(t, "any index", x)
			folder.save(x)
			folder.healthy("any index")
			w.check(t, "what was saved", folder.load())
		}
	})
}

// FuzzDecode: an index is an object without duplicate keys, and has an entry for
// each of its members; any other input is a syntax error at an offset in it.
func FuzzDecode(f *testing.F) {
	for _, w := range worlds {
		folder := w.folder(f)
		folder.save(folder.load())
		whole := few(folder.read(session.IndexFile))
		if len(whole) < 500 {
			f.Fatal("no seeds")
		}
		f.Add([]byte(whole))
		f.Add([]byte(strings.ReplaceAll(whole, "root", "cont")))
		f.Add([]byte(strings.ReplaceAll(whole, "title", "kind")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := index.Decode(bytes.Clone(data))
		var members []rawjson.Member
		bad := rawjson.Check(data)
		if bad == nil {
			members, bad = rawjson.Members(data, rawjson.Root(data))
		}
		if (err == nil) != (bad == nil) {
			t.Errorf("%q is read with the error %v, want %v", data, err, bad)
		}
		if syntax := new(rawjson.SyntaxError); err != nil && (!errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(data)) {
			t.Errorf("%q is read with the error %v", data, err)
		}
		for _, m := range members {
			if _, ok := entries[m.Key]; err == nil && !ok {
				t.Errorf("%q is read without %q", data, m.Key)
			}
		}
		if err == nil && len(entries) != len(members) {
			t.Errorf("%q has %d entries, want %d", data, len(entries), len(members))
		}
	})
}

// dated gives the sessions of a world times that no seed has.
func (f *folder) dated() {
	for i, id := range ids {
		f.date(id+".json", time.Date(2026, 5, 26, 0, i, 0, 111111111, time.UTC))
	}
}

// in returns f for another test.
func (f folder) in(t *testing.T) *folder {
	f.t = t
	return &f
}

// FuzzJournal: for any journal, Load returns the links of the files and saves a valid
// index.
func FuzzJournal(f *testing.F) {
	w := worlds[0]
	folder := w.folder(f)
	roomy := index.Limits{Index: small.Index, Journal: 2 * small.Journal} // for a line of each session
	folder.save(folder.loadAt(roomy))
	x := folder.loadAt(roomy)
	for i, id := range ids {
		folder.put(x, id, i, w.metadata[id])
	}
	x.Remove("gone")
	folder.save(x)
	whole := folder.journal()
	if len(whole) < 1000 {
		f.Fatal("no seeds")
	}
	for _, seed := range []string{whole, whole[:len(whole)/2], strings.ReplaceAll(whole, `"entry":{`, `"entry":null,"x":{`), strings.ReplaceAll(whole, "cont", "tail"),
		strings.ReplaceAll(whole, `"size": `, `"size": -`), "", "\n", "null\n", `{"id":"root","entry":null}` + "\n", `{"id":"\ud83d","entry":{}}` + "\n"} {
		f.Add([]byte(seed))
	}
	folder.dated()
	stored := folder.read(session.IndexFile)
	f.Fuzz(func(t *testing.T, data []byte) {
		folder := folder.in(t)
		folder.write(session.IndexFile, stored)
		folder.write("session_index.journal", string(data))
		x := folder.loadAt(small)
		w.check(t, "any journal", x)
		folder.save(x)
		if x = folder.loadAt(small); x.Stale() || x.Trouble != "" {
			t.Errorf("trouble after Save: %q", x.Trouble)
		}
		w.check(t, "what was saved", x)
	})
}

// FuzzTable: a table of any bytes with matching checksums never causes a panic, and
// no entry differs from its file.
func FuzzTable(f *testing.F) {
	w := worlds[0]
	folder := w.remembered(f)
	names, idsEnd, data, err := index.TableOf(folder.root)
	if err != nil {
		f.Fatal(err)
	}
	if len(data) < 100 {
		f.Fatal("no seeds")
	}
	f.Add(names, idsEnd, data)
	f.Add(names, idsEnd, data[:len(data)-1])
	f.Add(int64(0), int64(0), []byte{})
	f.Add(int64(16), int64(16), data)
	folder.dated()
	f.Fuzz(func(t *testing.T, names, idsEnd int64, data []byte) {
		folder := folder.in(t)
		if err := index.Forge(folder.root, names, idsEnd, data); err != nil {
			t.Fatal(err)
		}
		x, y := folder.openAt(small), folder.loadAt(small)
		defer x.Close()
		for _, id := range append([]string{"nothing"}, ids...) {
			if got, want := describe(x.Entry(id)), describe(y.Entry(id)); got != "none" && got != want {
				t.Errorf("%s is %s, want %s", id, got, want)
			}
			for _, child := range x.ContinuedTo(id) {
				if !slices.Contains(y.ContinuedTo(id), child) {
					t.Errorf("%s continues %s", child, id)
				}
			}
			if x.Entry(id) != nil {
				x.Lineage(id)
				x.Line(id)
			}
		}
		for _, text := range []string{"Root", "oo", ""} {
			for _, ask := range []func(*index.Index, string) ([]string, error){(*index.Index).Titled, (*index.Index).Containing} {
				got, err := ask(x, text)
				want, _ := ask(y, text)
				if err != nil {
					t.Error(err)
				}
				for _, id := range got {
					if !slices.Contains(want, id) {
						t.Errorf("%q is %q, but also %s", text, want, id)
					}
				}
			}
		}
	})
}

// TestLookPrefixes: every proper prefix of a look is refused, also with a checksum that fits.
func TestLookPrefixes(t *testing.T) {
	folder := worlds[0].remembered(t)
	data, err := folder.root.ReadFile(index.LookPath)
	if err != nil {
		t.Fatal(err)
	}
	data = data[:len(data)-4]
	for n := range data {
		if _, err := index.Relook(slices.Clone(data[:n])); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(data))
		}
	}
}

// FuzzLook: a look that can be decoded encodes to the same bytes.
func FuzzLook(f *testing.F) {
	folder := worlds[0].remembered(f)
	for range 2 {
		data, err := folder.root.ReadFile(index.LookPath)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:len(data)-4])
		x := folder.openAt(small)
		folder.put(x, "late", 50, worlds[0].metadata["other"])
		x.Remove("nothing")
		folder.save(x)
		x.Remember()
		x.Close()
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := index.Relook(slices.Clone(data))
		if err != nil {
			return
		}
		twice, err := index.Relook(slices.Clone(once))
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q is written as %q, then as %q, %v", data, once, twice, err)
		}
	})
}
