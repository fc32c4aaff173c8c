package index_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// TestEncode compares complete index files, in both dialects.
func TestEncode(t *testing.T) {
	f := newFolder(t)
	f.session("a", 0, `"title":"\u5206 <A>","continued_from":[],"continued_to":[],"token_count":12.0,"unknown":1`)
	f.session("b", 1, `"continued_from":["a"],"branched_from":"a","branch_point":"m","lineage":["a"],"flattened_snapshot":true,"bough":{"kind":"checkpoint","auto":true}`)
	const bough = `{
  "a": {
    "created_at": "2026-05-25T15:00:00+00:00",
    "last_active": "2026-05-25T15:00:00+00:00",
    "message_count": 1,
    "token_count": 12.0,
    "title": "分 <A>",
    "continued_from": [],
    "continued_to": [
      "b"
    ],
    "bough": {
      "kind": "root",
      "opening": "",
      "merges": false,
      "size": 220,
      "mtime": "1779721230123456789"
    }
  },
  "b": {
    "created_at": "2026-05-25T15:01:00+00:00",
    "last_active": "2026-05-25T15:01:00+00:00",
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
      "kind": "checkpoint",
      "auto": true,
      "opening": "",
      "merges": false,
      "size": 276,
      "mtime": "1779721290123456789"
    }
  }
}
`
	f.save(f.load())
	if got := f.read(session.IndexFile); got != bough {
		t.Errorf("the index is\n%s\nwant\n%s", got, bough)
	}

	f = newFolder(t)
	f.session("a", 0, `"agent_id":"default","directory":null,"_penguin_goal_v1":{"g":1},"continued_to":"x"`)
	f.session("b", 1, `"continued_from":"a","source_session_tokens":7,"message_count":99`)
	f.write("c.json", `{"messages":[],"metadata":{"source_session_tokens":7}}`)
	f.date("c.json", mtime(t, f.path("b.json")))
	inZone(t, -5)
	const penguin = `{
  "a": {
    "created_at": "2026-05-25T15:00:00+00:00",
    "last_active": "2026-05-25T15:00:00+00:00",
    "message_count": 1,
    "title": "Session a",
    "agent_id": "default",
    "_penguin_goal_v1": {
      "g": 1
    },
    "continued_to": "b",
    "bough": {
      "kind": "root",
      "opening": "",
      "merges": false,
      "size": 214,
      "mtime": "1779721230123456789"
    }
  },
  "b": {
    "created_at": "2026-05-25T15:01:00+00:00",
    "last_active": "2026-05-25T15:01:00+00:00",
    "message_count": 1,
    "title": "Session b",
    "continued_from": "a",
    "source_session_tokens": 7,
    "bough": {
      "kind": "continuation",
      "opening": "",
      "merges": false,
      "size": 196,
      "mtime": "1779721290123456789"
    }
  },
  "c": {
    "created_at": "2026-05-25T10:01:30.123456",
    "last_active": "2026-05-25T10:01:30.123456",
    "message_count": 0,
    "title": "Session c",
    "bough": {
      "kind": "root",
      "opening": "",
      "merges": false,
      "size": 54,
      "mtime": "1779721290123456789"
    }
  }
}
`
	f.save(f.load())
	if got := f.read(session.IndexFile); got != penguin {
		t.Errorf("the index is\n%s\nwant\n%s", got, penguin)
	}
}

// TestUnusable: files that cannot be used have entries for Penguin and errors for bough;
// the others can be used.
func TestUnusable(t *testing.T) {
	f := worlds[1].folder(t)
	f.save(f.load())
	before := f.entries()["cont"]
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(outside, []byte(`{"messages":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f.write("cont.json", `{"messages":[{"id":"m"`)
	f.write("empty.json", "")
	f.write("a.b.json", `{"messages":[]}`)
	f.write("list.json", `[]`)
	if err := os.Symlink(outside, f.path("link.json")); err != nil {
		t.Fatal(err)
	}
	f.remove("tail.json")
	x := f.load()
	var unusable []string
	for _, e := range x.Unusable() {
		unusable = append(unusable, e.ID)
		var damage *session.DamageError
		if e.ID != "link" && (!errors.As(e.Err, &damage) || damage.Path != session.FileName(e.ID)) {
			t.Errorf("%s cannot be used: %v, want a *DamageError with its path", e.ID, e.Err)
		}
		if x.Entry(e.ID) != nil || x.Err(e.ID) != e.Err {
			t.Errorf("%s can be used: %v", e.ID, x.Err(e.ID))
		}
	}
	if want := []string{"a.b", "cont", "empty", "link", "list"}; !slices.Equal(unusable, want) {
		t.Errorf("%q cannot be used, want %q", unusable, want)
	}
	if len(x.Entries()) != 5 || x.Err("root") != nil || x.Err("nothing") != nil {
		t.Errorf("%d sessions can be used, want 5", len(x.Entries()))
	}
	f.save(x)
	if got := f.entries()["cont"]; string(got) != string(before) {
		t.Errorf("the entry of a damaged file is now %s, want %s", got, before)
	}
	if got := f.entries()["empty"]; strings.Contains(string(got), "bough") || !strings.Contains(string(got), `"title": "Session empty"`) {
		t.Errorf("the entry of an empty file is %s", got)
	}
	x = f.load()
	if len(x.Unusable()) != 5 || x.Trouble != "" || x.Torn {
		t.Errorf("after Save %d files cannot be used: %q", len(x.Unusable()), x.Trouble)
	}
	for _, id := range unusable {
		if f.entries()[id] == nil {
			t.Errorf("the index has no entry for %s", id)
		}
	}
	f.session("cont", 1, worlds[1].metadata["cont"])
	if x := f.load(); x.Entry("cont") == nil || x.Origin("cont") != "root" {
		t.Errorf("a repaired session still cannot be used: %v", x.Err("cont"))
	}
}

func TestDialect(t *testing.T) {
	f := newFolder(t)
	if x := f.load(); x.Dialect() != session.Bough {
		t.Errorf("an empty folder is in the dialect %v", x.Dialect())
	}
	f.session("p", 1, ``)
	if x := f.load(); x.Dialect() != session.Penguin {
		t.Errorf("a folder without links is in the dialect %v", x.Dialect())
	}
	f.session("q", 2, `"continued_from":"p"`)
	if _, _, mixed := f.load().Mixed(); mixed {
		t.Error("a folder of Penguin is mixed")
	}
	f.session("b", 3, `"continued_from":[]`)
	x := f.load()
	if x.Dialect() != session.Bough {
		t.Errorf("a folder with a list is in the dialect %v", x.Dialect())
	}
	if bough, penguin, mixed := x.Mixed(); bough != "b" || penguin != "q" || !mixed {
		t.Errorf("Mixed = %q, %q, %v", bough, penguin, mixed)
	}
	f.session("q", 2, `"continued_from":["p"]`)
	if _, _, mixed := f.load().Mixed(); mixed {
		t.Error("a folder with a root of Penguin's is mixed")
	}
}

// TestPutAndRemove applies changes to an index without reading the folder again.
func TestPutAndRemove(t *testing.T) {
	f := newFolder(t)
	x := f.load()
	put := func(id string, minute int, metadata string) {
		t.Helper()
		f.session(id, minute, metadata)
		s, err := sessions.New(f.root, nil).Read(id)
		if err != nil {
			t.Fatal(err)
		}
		x.Put(s.Summary(), f.stat(id))
	}
	put("a", 1, `"continued_from":[]`)
	put("c", 3, `"continued_from":["a"]`)
	put("b", 2, `"continued_from":["a"]`)
	if got := x.ContinuedTo("a"); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("a is continued by %q, want the oldest first", got)
	}
	f.save(x)
	f.healthy("Put")
	put("c", 3, `"continued_from":["b"],"title":"C"`)
	if got := x.Children("b"); !slices.Equal(got, []string{"c"}) || x.Entry("c").Title != "C" {
		t.Errorf("b is continued by %q, c has the title %q", got, x.Entry("c").Title)
	}
	f.remove("b.json")
	x.Remove("b")
	if x.Entry("b") != nil || len(x.ContinuedTo("a")) != 0 || !x.Stale() {
		t.Error("the removed b still exists")
	}
	f.save(x)
	f.healthy("Remove")
	if x.Stale() {
		t.Error("the saved index is stale")
	}
	x.Remove("a")
	x.Remove("c")
	f.remove("a.json")
	f.remove("c.json")
	f.save(x)
	f.healthy("nothing left")
	if got := f.read(session.IndexFile); got != "{}\n" {
		t.Errorf("the index of no session is %q", got)
	}
}
