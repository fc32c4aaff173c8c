package index_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

// others are the bytes that have a meaning in JSON.
const others = "\x00\xff\"{}[]\\,:0 "

// changes calls f with data after every change of one byte, from the byte first in
// steps: each bit flipped, and each byte of others in its place.
func changes(data string, first, step int, f func(at int, changed string)) (n int) {
	changed := []byte(data)
	for at := first; at < len(data); at += step {
		try := func(is byte) {
			if is != data[at] {
				changed[at] = is
				f(at, string(changed))
				n++
			}
		}
		for bit := range 8 {
			try(data[at] ^ 1<<bit)
		}
		for i := range len(others) {
			try(others[i])
		}
		changed[at] = data[at]
	}
	return n
}

// saved returns a folder of w and its index.
func (w world) saved(t *testing.T) (*folder, string) {
	folder := w.folder(t)
	folder.save(folder.load())
	return folder, folder.read(session.IndexFile)
}

// few returns an index with only a root, its continuation, and a checkpoint.
func few(whole string) string {
	pairs := rawjson.Pairs([]byte(whole), rawjson.Root([]byte(whole)))
	pairs = slices.DeleteFunc(pairs, func(p rawjson.Pair) bool { return !slices.Contains([]string{"root", "cont", "point"}, p.Key) })
	return string(rawjson.AppendObject(nil, pairs, 0))
}

// TestEveryPrefix: a truncated index is a syntax error at its end.
func TestEveryPrefix(t *testing.T) {
	n := 0
	for _, w := range worlds {
		_, whole := w.saved(t)
		whole = few(whole)
		for cut := range len(strings.TrimSpace(whole)) {
			_, err := index.Decode([]byte(whole[:cut]))
			if syntax := new(rawjson.SyntaxError); !errors.As(err, &syntax) || syntax.Offset != cut {
				t.Errorf("cut at %d: %v", cut, err)
			}
			n++
		}
	}
	t.Logf("%d prefixes", n)
}

// TestEveryChange: an index with one changed byte is a syntax error at an offset in
// it, or has the same entries for all sessions but one.
func TestEveryChange(t *testing.T) {
	for _, w := range worlds {
		_, whole := w.saved(t)
		whole = few(whole)
		entries, err := index.Decode([]byte(whole))
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		n := changes(whole, 0, testsize.Of(47, 23, 1), func(at int, changed string) {
			got, err := index.Decode([]byte(changed))
			if err != nil {
				if syntax := new(rawjson.SyntaxError); !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(whole) {
					t.Errorf("with %q at %d: %v", changed[at], at, err)
				}
				refused++
				return
			}
			differ := 0
			for id, is := range got {
				if entries[id] != is {
					differ++
				}
			}
			if len(got) != len(entries) || differ > 1 {
				t.Errorf("with %q at %d %d of %d entries differ", changed[at], at, differ, len(got))
			}
		})
		t.Logf("%s: %d changes, of which %d are damage", w.dialect, n, refused)
	}
}

// TestChangedLinks: Load reports an index with one changed byte, or the links are
// those of the files.
func TestChangedLinks(t *testing.T) {
	for i, w := range worlds {
		folder, whole := w.saved(t)
		want := links(folder.load())
		n := changes(whole, i, testsize.Of(1801, 521, 61), func(at int, changed string) {
			folder.write(session.IndexFile, changed)
			x := folder.load()
			if got := links(x); x.Trouble == "" && got != want {
				t.Errorf("%s, with %q at %d in %q:\n%s\nwant\n%s", w.dialect, changed[at], at, changed[max(at-30, 0):min(at+30, len(changed))], got, want)
			}
		})
		t.Logf("%s: %d changes", w.dialect, n)
	}
}

// TestChangedJournal: Load reports a truncated journal or one with a changed byte,
// or the links are those of the files.
func TestChangedJournal(t *testing.T) {
	w := worlds[0]
	folder := w.folder(t)
	folder.save(folder.loadAt(small))
	x := folder.loadAt(small)
	for i, id := range ids {
		folder.put(x, id, i, w.metadata[id])
	}
	folder.save(x)
	want, whole := links(folder.loadAt(small)), folder.journal()
	if whole == "" {
		t.Fatal("there is no journal")
	}
	check := func(what, journal string) {
		folder.write("session_index.journal", journal)
		x := folder.loadAt(small)
		if got := links(x); x.Trouble == "" && got != want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
		}
	}
	step := testsize.Of(61, 47, 7)
	for cut := 0; cut < len(whole); cut += step {
		check(fmt.Sprint("cut at ", cut), whole[:cut])
	}
	n := changes(whole, 0, testsize.Of(607, 251, 61), func(at int, changed string) { check(fmt.Sprintf("with %q at %d", changed[at], at), changed) })
	t.Logf("%d prefixes, %d changes", len(whole)/step, n)
}

// links lists the links of x, sorted by text, not by time.
func links(x *index.Index) string {
	var list []string
	for _, e := range x.Entries() {
		lineage, err := x.Lineage(e.ID)
		line, lineErr := x.Line(e.ID)
		line, children := slices.Sorted(slices.Values(line)), slices.Sorted(slices.Values(x.Continuations(e.ID)))
		list = append(list, fmt.Sprint(e.ID, e.Kind(), lineage, err, line, lineErr, children))
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
