package bookmark_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
)

var one = bookmark.Bookmark{
	Session: "s", Message: "m", Label: "here \"and\" <ä>", Scope: bookmark.Message, CreatedAt: "2026-03-14T09:30:34.500000+00:00",
}

const (
	small   = `{"bookmarks":[{"session_id":"s","node_id":"1","label":"a"}]}`
	foreign = `{ "theirs": [NaN, 1e400],
	"bookmarks" : [ {"label":"a", "x": NaN, "session_id":"s","node_id":"1", "summary": null, "created_at": "2026-03-14T09:30:34"} ,
	{"session_id":"t","node_id":"2","l\u0061bel":"\ud83d b","scope":"else","deep":{"label":1,"label":2}}], "n": 1.0 }
`
)

func decode(t testing.TB, data []byte) *bookmark.File {
	t.Helper()
	f, err := bookmark.Decode(data)
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return f
}

func TestDecode(t *testing.T) {
	if f := decode(t, nil); len(f.Bookmarks) > 0 {
		t.Errorf("no file has %+v", f.Bookmarks)
	}
	f := decode(t, []byte(foreign))
	if len(f.Bookmarks) != 2 || f.Bookmarks[0].Label != "a" || f.Bookmarks[0].Summary != "" ||
		!strings.HasSuffix(f.Bookmarks[0].CreatedAt, ".000000+00:00") ||
		f.Bookmarks[1].Label != "\ufffd b" || f.Bookmarks[1].Scope != "else" {
		t.Errorf("the bookmarks are %+v", f.Bookmarks)
	}
	if got := f.Labelled("a"); !slices.Equal(got, []int{0}) {
		t.Errorf("a is on %v", got)
	}
}

func TestDamage(t *testing.T) {
	for data, offset := range map[string]int{
		"":                               0,
		"\ufeff{}":                       0,
		"{}":                             0,
		"[]":                             0,
		"null":                           0,
		small[:20]:                       20,
		small + "}":                      len(small),
		"{\"bookmarks\":[\"\xff\"]}":     15,
		`{"bookmarks":{}}`:               13,
		`{"bookmarks":[],"bookmarks":0}`: 16,
		`{"bookmarks":["a"]}`:            14,
		`{"bookmarks":[{"label":"a"}]}`:  14,
		`{"bookmarks":[ {"session_id":"s","node_id":1,"label":"a"}]}`:     15,
		`{"bookmarks":[{"session_id":"s","node_id":"1","label":""}]}`:     14,
		`{"bookmarks":[{"session_id":"s","session_id":"1","label":"a"}]}`: 32,
	} {
		_, err := bookmark.Decode([]byte(data))
		var damage *session.DamageError
		if !errors.As(err, &damage) || damage.Path != bookmark.Path || damage.Offset != offset {
			t.Errorf("%q: %v, want damage at %d", data, err, offset)
		}
	}
}

func TestEdit(t *testing.T) {
	const laid = `{
  "bookmarks": [
    {
      "session_id": "s",
      "node_id": "m",
      "label": "here \"and\" <ä>",
      "summary": "",
      "scope": "message",
      "created_at": "2026-03-14T09:30:34.500000+00:00"
    }
  ]
}
`
	first := decode(t, nil).Add(one)
	if string(first) != laid {
		t.Errorf("the first is\n%s", first)
	}
	if got := decode(t, first).Remove(0); string(got) != "{\n  \"bookmarks\": []\n}\n" {
		t.Errorf("without it the file is\n%s", got)
	}
	if got := decode(t, first).Replace(0, one); string(got) != laid {
		t.Errorf("in its own position the file is\n%s", got)
	}
	f := decode(t, []byte(foreign))
	for name, c := range map[string]struct{ got, want string }{
		"first": {string(f.Remove(0)), strings.Replace(foreign, foreign[strings.Index(foreign, `{"label"`):strings.Index(foreign, `{"session_id":"t"`)], "", 1)},
		"last":  {string(f.Remove(1)), foreign[:strings.Index(foreign, " ,\n")] + foreign[strings.Index(foreign, "], \"n\""):]},
		"moved": {string(f.Replace(1, one)), strings.NewReplacer(`"t"`, `"s"`, `"2"`, `"m"`, `"\ud83d b"`, `"here \"and\" <ä>"`, `"else"`, `"message"`, `"label":2}}`, `"label":2},`+"\n      \"summary\": \"\",\n      \"created_at\": \"2026-03-14T09:30:34.500000+00:00\"}").Replace(foreign)},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, c.got, c.want)
		}
	}
}

// TestRevert: later bookmarks stay, and a bookmark that was changed since is kept.
func TestRevert(t *testing.T) {
	file := func(of ...string) (data []byte) { // each a label and its message
		for _, word := range of {
			label, message, _ := strings.Cut(word, ":")
			data = decode(t, data).Add(bookmark.Bookmark{Session: "s", Message: message, Label: label})
		}
		return data
	}
	for name, c := range map[string]struct{ now, before, after, want []byte }{
		"added":               {file("a:1", "b:2"), nil, file("a:1"), file("b:2")},
		"added later":         {file("a:1", "b:2", "c:3"), file("a:1"), file("a:1", "b:2"), file("a:1", "c:3")},
		"moved":               {file("a:2", "b:2"), file("a:1"), file("a:2"), file("a:1", "b:2")},
		"removed":             {file("b:2"), file("a:1"), []byte(`{"bookmarks":[]}`), file("b:2", "a:1")},
		"moved on":            {file("a:3"), file("a:1"), file("a:2"), nil},
		"added, then removed": {file("b:2"), nil, file("a:1"), nil},
		"removed, then added": {file("a:2"), file("a:1"), []byte(`{"bookmarks":[]}`), nil},
		"torn":                {[]byte("{"), file("a:1"), file("a:2"), nil},
		"from a torn file":    {file("a:1"), []byte("{"), file("a:1"), nil},
		"an empty file":       {file("a:1"), nil, []byte{}, nil},
	} {
		got, ok := bookmark.Revert(c.now, c.before, c.after)
		if ok != (c.want != nil) || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, ok, got, c.want)
		}
	}
}

// FuzzEdit: an edit of any file changes only its bookmark, and adding and removing a
// bookmark restores every byte.
func FuzzEdit(f *testing.F) {
	f.Add([]byte(small), "b", 0)
	f.Add([]byte(foreign), "c", 1)
	f.Add([]byte(`{"bookmarks":[]}`), "", 0)
	f.Fuzz(func(t *testing.T, data []byte, label string, i int) {
		if data == nil {
			data = []byte{}
		}
		file, err := bookmark.Decode(data)
		if err != nil {
			return
		}
		b := one
		b.Label = strings.ToValidUTF8("l"+label, "")
		n := len(file.Bookmarks)
		same := func(what string, edited []byte, want []bookmark.Bookmark) {
			if got := decode(t, edited).Bookmarks; !slices.Equal(got, want) {
				t.Fatalf("%s: %+v, want %+v in\n%s", what, got, want, edited)
			}
		}
		more := file.Add(b)
		same("added", more, append(slices.Clone(file.Bookmarks), b))
		if back := decode(t, more).Remove(n); n > 0 && !bytes.Equal(back, data) {
			t.Fatalf("added and removed:\n%s\nof\n%s", back, data)
		}
		if back, ok := bookmark.Revert(more, data, more); ok == slices.Contains(file.Bookmarks, b) {
			t.Fatalf("revert of %+v: %v", b, ok)
		} else if ok {
			same("reverted", back, file.Bookmarks)
		}
		if n == 0 {
			return
		}
		i = int(uint(i) % uint(n))
		same("removed", file.Remove(i), slices.Delete(slices.Clone(file.Bookmarks), i, i+1))
		moved := slices.Clone(file.Bookmarks)
		moved[i] = b
		same("moved", file.Replace(i, b), moved)
		if again := decode(t, file.Replace(i, b)).Replace(i, b); !bytes.Equal(again, file.Replace(i, b)) {
			t.Fatalf("moved twice:\n%s", again)
		}
	})
}

// TestInsert: bookmarks that are inserted in any order are in the order of their times.
func TestInsert(t *testing.T) {
	at := func(label, time string) bookmark.Bookmark {
		return bookmark.Bookmark{Session: "s", Message: "m", Label: label, Scope: bookmark.Message, CreatedAt: "2026-03-14T09:30:" + time + ".000000+00:00"}
	}
	list := []bookmark.Bookmark{at("a", "01"), at("b", "02"), at("c", "03"), at("d", "03")}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		f, err := bookmark.Decode(nil)
		for _, i := range order {
			if err == nil {
				f, err = bookmark.Decode(f.Insert(list[i]))
			}
		}
		if err != nil || !slices.Equal(f.Bookmarks, list) {
			t.Errorf("in the order %v: %v, %v", order, f.Bookmarks, err)
		}
	}
}
