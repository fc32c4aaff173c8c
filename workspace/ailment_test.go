package workspace_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/lines"
)

// A defect damages a healthy workspace in one way and lists the problems that doctor must
// find.
type defect struct {
	name  string
	apply func(*space)
	kinds string // problems; "fixed" are repaired, "then" remain afterwards, "once" are gone afterwards
}

// defects change a workspace with a root a, its continuation b, and a checkpoint c of
// both.
var defects = []defect{
	{"torn in a message", tear("b", -250), "damaged_session fixed"},
	{"torn in the records", tear("b", -20), "damaged_session fixed"},
	{"zeros at the end", func(s *space) { s.write("conversations/b.json", s.read("conversations/b.json")+"\x00\x00") }, "damaged_session fixed"},
	{"torn in the metadata", tear("b", 60), "damaged_session"},
	{"torn, with a copy that has as many messages", func(s *space) {
		s.write("conversations/b.json.bak", strings.Replace(s.read("conversations/b.json"), "b2", "B2", 1))
		tear("b", -250)(s)
	}, "damaged_session fixed"},
	{"empty, with a copy", func(s *space) {
		s.write("conversations/b.json.bak", s.read("conversations/b.json"))
		s.write("conversations/b.json", "")
	}, "damaged_session fixed"},
	{"a bad byte, with a complete copy", func(s *space) {
		s.write("conversations/b.json.bak", s.read("conversations/b.json"))
		edit("b", "b1", "b\x01")(s)
	}, "damaged_session fixed"},
	{"a bad byte, with a shorter copy", func(s *space) {
		s.write("conversations/b.json.bak", `{"messages":[{"id":"b1"}]}`)
		edit("b", "b1", "b\x01")(s)
	}, "damaged_session"},
	{"no session", func(s *space) { s.write("conversations/b.json", "[]") }, "damaged_session"},
	{"a folder by the name of a copy", func(s *space) {
		s.write("conversations/b.json.bak/x", "")
		s.write("conversations/b.json", "")
	}, "damaged_session"},
	{"a name that no session can have", func(s *space) { s.write("conversations/a.b.json", `{"messages":[]}`) }, "damaged_session"},
	{"a torn file of such a name", func(s *space) { s.write("conversations/a.b.json", `{"messages":[{"id":"1"},`) }, "damaged_session"},
	{"a link out of the workspace", func(s *space) {
		out := filepath.Join(s.t.TempDir(), "out")
		if err := os.WriteFile(out, []byte(`{"messages":[]}`), 0o600); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Symlink(out, filepath.Join(s.Dir(), "conversations", "d.json")); err != nil {
			s.t.Skip(err)
		}
	}, "unreadable_session"},
	{"Penguin's checkpoint", func(s *space) { s.write("checkpoints/cp_1.json.gz", "zip") }, "damaged_checkpoint"},
	{"a newer copy with more messages", func(s *space) {
		s.newer("b", strings.Replace(s.read("conversations/b.json"), "\n  ],", ",\n    {\"id\": \"b3\"}\n  ],", 1))
	}, "better_copy fixed"},
	{"a newer copy of another end", func(s *space) { s.newer("b", strings.ReplaceAll(s.read("conversations/b.json"), "b2", "B2")) }, "better_copy"},
	{"a newer copy of less", func(s *space) { s.newer("b", `{"messages":[]}`) }, ""},
	{"a newer copy that is damaged", func(s *space) { s.newer("b", "{") }, ""},
	{"a world-writable session", func(s *space) {
		if runtime.GOOS == "windows" {
			s.t.Skip("every user may write to every file")
		}
		if err := os.Chmod(filepath.Join(s.Dir(), "conversations", "b.json"), 0o666); err != nil {
			s.t.Fatal(err)
		}
	}, "open_to_all fixed"},
	{"a torn index", func(s *space) {
		s.write(session.IndexPath, s.read(session.IndexPath)[:200])
	}, "damaged_index fixed"},
	{"an index that is a list", func(s *space) { s.write(session.IndexPath, "[]") }, "damaged_index fixed"},
	{"no index", func(s *space) { s.delete(session.IndexPath) }, "stale_index fixed"},
	{"a session that the index lacks", func(s *space) { s.write("conversations/d.json", `{"messages":[]}`) }, "stale_index fixed"},
	{"a missing session that no other needs", func(s *space) { s.delete("conversations/c.json") }, "stale_index fixed"},
	{"an index that says something else", func(s *space) {
		s.write(session.IndexPath, strings.Replace(s.read(session.IndexPath), "Bread", "Broad", 1))
	}, "stale_index fixed"},
	{"an old index", func(s *space) {
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(s.Dir(), session.IndexPath), old, old); err != nil {
			s.t.Fatal(err)
		}
	}, "stale_index fixed"},
	{"a cache of another file", func(s *space) {
		if st := stat(s.t, s.t.TempDir()); st.Changed == 0 {
			s.t.Skip("this system does not report ctime")
		}
		long := strings.Repeat("long ", 30_000) // a file large enough for the cache
		for _, id := range []string{"x", "y"} {
			s.messages(id, "", `{"id":"`+id+`1","role":"user","content":"`+long+`"}`)
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(s.Dir(), session.FileName(id)), old, old); err != nil {
				s.t.Fatal(err)
			}
		}
		s.age("x", "y")
		s.mend()
		s.lie("x", "y")
	}, "stale_cache fixed"},
	{"a damaged frame", packedAnd(func(s *space, _, pack string) { s.flip(pack, len(s.read(pack))-8) }), "damaged_pack fixed"},
	{"a damaged header of a frame", packedAnd(func(s *space, _, pack string) { s.flip(pack, 20) }), "damaged_pack fixed"},
	{"a torn pack", packedAnd(func(s *space, _, pack string) { s.tearFile(pack, 8) }), "damaged_pack fixed"},
	{"no pack", packedAnd(func(s *space, _, pack string) { s.delete(pack) }), "damaged_pack fixed"},
	{"a frame with messages that no file has", func(s *space) {
		s.messages("x", "", `{"id":"x1","role":"user","content":"text of x"}`)
		s.mend()
		_, pack := s.packedOf("x")
		s.delete("conversations/x.json")
		s.mend()
		s.flip(pack, len(s.read(pack))-8)
	}, "damaged_pack"},
	{"an interrupted append to a pack", packedAnd(func(s *space, _, pack string) { s.write(pack, s.read(pack)+"P*M") }), "damaged_pack fixed"},
	{"a pack without a recipe", packedAnd(func(s *space, recipe, _ string) { s.delete(recipe) }), "unused_pack fixed"},
	{"a temporary pack", packedAnd(func(s *space, _, pack string) { s.write("packed/.a.zst.bough-tmp", s.read(pack)) }), "left_over once"},
	{"a torn recipe", packedAnd(func(s *space, recipe, _ string) { s.tearFile(recipe, 3) }), "damaged_session"},
	{"a recipe of another pack", packedAnd(func(s *space, recipe, _ string) {
		s.write(recipe, strings.Replace(s.read(recipe), `"crc32c":"`, `"crc32c":"f`, 1))
	}), "damaged_session"},
	{"a recipe with the name of a session", packedAnd(func(s *space, recipe, _ string) {
		data := s.read(recipe)
		if _, err := s.Unpack(s.t.Context(), "Packed"); err != nil {
			s.t.Fatal(err)
		}
		s.write(recipe, data)
	}), "hidden_recipe fixed"},
	{"errors of hooks", func(s *space) {
		s.write(".bough/hooks.log", "2020-01-01T00:00:00Z old\n"+time.Now().UTC().Format(time.RFC3339)+" claude-code Stop: no\n")
	}, "failed_hook"},
	{"a missing origin of a continuation", func(s *space) { s.delete("conversations/a.json"); s.delete(session.IndexPath) }, "missing_ancestor, stale_index fixed"},
	{"a cycle of sessions", func(s *space) {
		s.messages("x", `"continued_from":"y","continued_to":"y"`)
		s.messages("y", `"continued_from":"x","continued_to":"x"`)
		s.mend()
	}, "cycle, cycle"},
	{"a cycle of messages", func(s *space) {
		s.messages("x", "", `{"id":"1","metadata":{"parent_id":"2"}}`, `{"id":"2"}`)
		s.mend()
	}, "cycle"},
	{"a link to nowhere", edit("a", `"b"`, `"gone"`), "one_sided_link fixed"},
	{"a message without its parent", func(s *space) {
		s.messages("x", "", `{"id":"1"}`, `{"id":"2","metadata":{"parent_id":"gone"}}`)
		s.mend()
	}, "orphan_message"},
	{"an imported message without its parent", func(s *space) {
		s.messages("x", `"bough":{"sources":[{"format":"x"}]}`, `{"id":"1"}`, `{"id":"2","metadata":{"parent_id":"gone","bough":{"source":{"format":"x"}}}}`)
		s.mend()
	}, "orphan_message"},
	{"a joined message", func(s *space) {
		s.messages("x", "", `{"id":"1"}`, `{"id":"2","metadata":{"parent_id":"gone","bough":{"joined":"1"}}}`)
		s.mend()
	}, "joined_message"},
	{"a cycle with a join", func(s *space) {
		s.messages("x", "", `{"id":"1","metadata":{"parent_id":null,"bough":{"joined":"2"}}}`, `{"id":"2"}`)
		s.mend()
	}, "joined_message"},
	{"an id twice", func(s *space) {
		s.messages("x", `"continued_to":"y"`, `{"id":"1"}`)
		s.messages("y", `"continued_from":"x"`, `{"id":"1","content":"else"}`)
		s.mend()
	}, "duplicate_id"},
	{"another id in the file", edit("b", `"id": "b",`, `"id": "x",`), "foreign_id"},
	{"a checkpoint that was changed", edit("c", "text of b1", "text of B1"), "broken_seal"},
	{"a checkpoint that was added to", edit("c", "\n  ],", ",\n    {\"id\": \"c3\"}\n  ],"), "broken_seal"},
	{"a torn checkpoint", tear("c", -250), "damaged_session fixed, then broken_seal"},
	{"links of both dialects", func(s *space) {
		s.messages("x", `"continued_from":[],"continued_to":["y"]`)
		s.messages("y", `"continued_from":["x"],"continued_to":[]`)
		s.mend()
	}, "mixed_dialects"},
	{"a head at a missing message", func(s *space) { s.write("head.json", `{"session_id":"gone","message_id":null}`) }, "lost_head fixed"},
	{"a torn file of bookmarks", func(s *space) {
		s.write(bookmark.Path, s.bookmarked("here", "b", "b2")[:40])
	}, "damaged_bookmarks fixed"},
	{"an invalid bookmarks file", func(s *space) { s.write(bookmark.Path, `{"bookmarks":{}}`) }, "damaged_bookmarks fixed"},
	{"bookmarks with a missing message or session", func(s *space) {
		s.write(bookmark.Path, s.bookmarked("one", "a", "b1", "two", "a", "gone", "three", "gone", "b1", "four", "c", "b1"))
	}, "lost_bookmark fixed, lost_bookmark fixed"},
	{"a log that is a folder", func(s *space) {
		s.write(".bough/operations.jsonl/x", "")
	}, "damaged_log fixed"},
	{"a log with lines that are none", func(s *space) {
		const line = `{"seq":1,"time":"","verb":"new","args":{},"sessions":[],"undoes":null,"changes":[]}`
		s.write(".bough/operations.jsonl", "{}\n"+line+"\n\n\x00\n"+line[:20]+"\n")
	}, "damaged_log fixed"},
	{"a missing attachment", func(s *space) {
		s.attach("x")
		s.delete(lines.FilePath(attachment("a picture").SHA256))
	}, "lost_attachment"},
	{"an attachment that is another", func(s *space) {
		s.attach("x")
		s.write(lines.FilePath(attachment("a picture").SHA256), "a Picture")
	}, "damaged_attachment"},
	{"an attachment without a reference", func(s *space) {
		s.write(lines.FilePath(attachment("a picture").SHA256), "a picture")
	}, ""},
	{"a conflict copy", func(s *space) {
		s.write("conversations/b (Ann's conflicted copy 2026-05-25).json", s.read("conversations/b.json"))
	}, "conflict_copy"},
	{"a conflict copy that is torn", func(s *space) { s.write("conversations/b.sync-conflict-20260525-153200-ABCDEFG.json", "{") }, "conflict_copy"},
	{"a torn exploration", func(s *space) {
		s.write("explorations/4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77.json", "{")
	}, "damaged_exploration"},
	{"explorations with no settings", func(s *space) { s.write("explorations/config.json", "[]") }, "damaged_exploration"},
	{"a torn agent", func(s *space) {
		s.agent("ada")
		s.write("agents/ada.json", s.read("agents/ada.json")[:99])
	}, "damaged_agent fixed"},
	{"an agent that is a list", func(s *space) { s.write("agents/ada.json", "[]") }, "damaged_agent"},
	{"an agent that is a folder", func(s *space) { s.write("agents/ada.json/x", "") }, "damaged_agent"},
	{"agents that are a file", func(s *space) { s.write("agents", "") }, "damaged_agent"},
	{"an agent with another's tree", func(s *space) {
		tree := s.agent("ada").Head.Tree
		other := s.agent("bob").Head.Tree
		s.delete(session.FileName(other))
		s.write("agents/bob.json", strings.ReplaceAll(s.read("agents/bob.json"), other, tree))
	}, "shared_tree"},
	{"an agent without one of its trees", func(s *space) {
		first := s.agent("ada").Head.Tree
		s.tree("ada", "rest")
		s.delete(session.FileName(first))
	}, "lost_tree"},
	{"an agent whose head's tree is gone", func(s *space) {
		s.agent("ada")
		s.delete(session.FileName(s.tree("ada", "rest")))
	}, "lost_tree, lost_agent_head fixed"},
	{"an agent without a tree", func(s *space) {
		s.delete(session.FileName(s.agent("ada").Head.Tree))
	}, "lost_tree, lost_agent_head"},
	{"an agent at a missing message", func(s *space) {
		s.agent("ada")
		said := s.answer("ada", "a")
		s.write("agents/ada.json", strings.ReplaceAll(s.read("agents/ada.json"), said[0], "gone"))
	}, "lost_agent_head fixed"},
	{"a write of an agent that did not end", func(s *space) {
		if err := os.RemoveAll(filepath.Join(s.Dir(), ".bough")); err != nil {
			s.t.Fatal(err)
		}
		s.write("agents/.ada.json"+durable.TempSuffix, "{")
	}, "left_over once"},
	{"a torn forget.json", func(s *space) { s.write(".bough/forget.json", `{"sessions":["c"`) }, "pending_forget fixed"},
	{"a write that did not end", func(s *space) { // without the lock no process removes it
		if err := os.RemoveAll(filepath.Join(s.Dir(), ".bough")); err != nil {
			s.t.Fatal(err)
		}
		s.write("conversations/.b.json"+durable.TempSuffix, "{")
	}, "left_over once"},
	{"a line of states that is none", func(s *space) {
		s.snap()
		s.write("states/states.jsonl", "{}\n"+s.read("states/states.jsonl"))
	}, "damaged_state fixed"},
	{"a link that is none", func(s *space) {
		s.snap()
		s.write("states/links.jsonl", "\x00\n")
	}, "damaged_state fixed"},
	{"deleted contents that are unknown", func(s *space) {
		s.snap()
		s.write("states/forgotten.jsonl", "{}\n{}\n")
	}, "damaged_state fixed"},
	{"folders that are none", func(s *space) {
		s.snap()
		s.write("states/folders.json", "[")
	}, "damaged_state fixed"},
	{"a torn pack of states", func(s *space) {
		s.snap()
		data := s.read("states/000001.zst")
		s.write("states/000001.zst", data[:len(data)-4])
	}, "damaged_state, damaged_state"}, // the pack, and the state
	{"an interrupted restore", func(s *space) { interruptedRestore(s) }, "unfinished_restore fixed"},
	{"a damaged journal of a restore", func(s *space) {
		journal, _ := interruptedRestore(s)
		s.write(journal, s.read(journal)+"?")
	}, "unfinished_restore fixed"},
	{"an interrupted restore of a folder that is gone", func(s *space) {
		_, dir := interruptedRestore(s)
		if err := os.RemoveAll(dir); err != nil {
			s.t.Fatal(err)
		}
	}, "unfinished_restore"},
}

// interruptedRestore leaves the journal of a restore that was killed when its files were
// complete, before it was logged.
func interruptedRestore(s *space) (journal, dir string) {
	st := s.snap()
	var known struct{ Folders []struct{ ID string } }
	if err := json.Unmarshal([]byte(s.read("states/folders.json")), &known); err != nil {
		s.t.Fatal(err)
	}
	journal = "states/restoring/" + known.Folders[0].ID + ".journal"
	s.write(journal, fmt.Sprintf(`{"stage":".restore-x.bough-tmp","staged":true,"operations":0,"note":{"verb":"restore files","before":%q,"to":%[1]q}}`+"\n", st.ID))
	return journal, st.Dir
}

// snap takes a state of a new folder with a file.
func (s *space) snap() *files.State {
	s.t.Helper()
	dir := s.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("Flour"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	st, err := s.Folder(dir).Snap(s.t.Context(), "", files.SnapOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return st
}

// tear truncates a session file at an offset; a negative offset counts from the end.
func tear(id string, at int) func(*space) {
	return func(s *space) {
		data := s.read(session.FileName(id))
		if at < 0 {
			at += len(data)
		}
		s.write(session.FileName(id), data[:at])
	}
}

// edit changes a session file as another program does, and lets bough read it.
func edit(id, was, is string) func(*space) {
	return func(s *space) {
		data := s.read(session.FileName(id))
		if !strings.Contains(data, was) {
			s.t.Fatalf("%s does not hold %q", id, was)
		}
		s.write(session.FileName(id), strings.Replace(data, was, is, 1))
		if err := os.Chtimes(filepath.Join(s.Dir(), session.IndexPath), time.Time{}, time.Now().Add(time.Hour)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// packedOf takes a packed checkpoint of a session and returns the names of its recipe and
// its pack.
func (s *space) packedOf(id string) (recipe, pack string) {
	s.t.Helper()
	cp := s.packedAs(id, "Packed")
	return "packed/" + cp + ".json", "packed/" + s.lineOf(cp) + ".zst"
}

// packedAnd takes a packed checkpoint and then damages it.
func packedAnd(damage func(s *space, recipe, pack string)) func(*space) {
	return func(s *space) {
		recipe, pack := s.packedOf("b")
		damage(s, recipe, pack)
	}
}

// bookmarked returns a bookmarks file. Each three words are a label, its session and its
// message.
func (s *space) bookmarked(words ...string) string {
	s.t.Helper()
	var data []byte
	for at := range slices.Chunk(words, 3) {
		f, err := bookmark.Decode(data)
		if err != nil {
			s.t.Fatal(err)
		}
		data = f.Add(bookmark.Bookmark{Label: at[0], Session: at[1], Message: at[2], Scope: bookmark.Message})
	}
	return string(data)
}

// attach makes a session with an attachment.
func (s *space) attach(id string) {
	s.messages(id, "", `{"id":"`+id+`1"}`)
	s.mend()
	if _, err := s.Line(id).Store(s.t.Context(), lines.Message{Content: picture, Files: []lines.File{attachment("a picture")}}); err != nil {
		s.t.Fatal(err)
	}
}

// newer writes a copy of a session that is newer than the session.
func (s *space) newer(id, data string) {
	s.t.Helper()
	name := session.FileName(id) + ".bak"
	s.write(name, data)
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(s.Dir(), name), later, later); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) delete(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.Dir(), name)); err != nil {
		s.t.Fatal(err)
	}
}

// mend repairs the index.
func (s *space) mend() {
	s.t.Helper()
	s.kinds(doctor.Options{Fix: true})
}

// intact returns a healthy workspace in Penguin's dialect: a root a, its continuation b,
// and a checkpoint c of both.
func intact(t testing.TB) *space {
	t.Helper()
	healthyFiles.once.Do(func() {
		files, err := crashdisk.Read(writeIntact(t).Dir(), func(name string) bool { return name == session.CacheDir })
		if err != nil {
			t.Fatal(err)
		}
		healthyFiles.tree = files
	})
	s := openSpace(t, t.TempDir(), 0)
	if err := healthyFiles.tree.Write(s.Dir()); err != nil {
		t.Fatal(err)
	}
	return s
}

// healthyFiles are the files of an intact workspace, written once.
var healthyFiles struct {
	once sync.Once
	tree crashdisk.Tree
}

// writeIntact makes the files of an intact workspace.
func writeIntact(t testing.TB) *space {
	s := openSpace(t, t.TempDir(), 0)
	message := func(id, metadata string) session.Run {
		return session.Run{Raw: fmt.Appendf(nil, `{"role": "user", "content": "text of %s", "id": %q, "metadata": {%s}}`, id, id, metadata)}
	}
	marker := message("m", `"type": "session_transition", "previous_session": "a"`)
	write := func(id, metadata string, messages ...session.Run) {
		d := session.Document{ID: id, CreatedAt: "2026-05-25T15:32:00", LastActive: "2026-05-25T15:32:00", Messages: messages,
			Records: session.Records{Calls: []session.Record{{Raw: []byte(`{"call_id": "x"}`)}}},
		}
		for _, p := range rawjson.Pairs([]byte(metadata), rawjson.Root([]byte(metadata))) {
			d.Metadata.Set(p.Key, p.Value)
		}
		data, err := d.Bytes(nil)
		if err != nil {
			t.Fatal(err)
		}
		s.write(session.FileName(id), string(data))
	}
	write("a", `{"title":"Bread","message_count":2,"continued_to":"b"}`, message("a1", ""), message("a2", ""))
	write("b", `{"message_count":3,"continued_from":"a"}`, marker, message("b1", ""), message("b2", ""))
	write("c", `{"title":"Kept","branched_from":"b","branch_point":"b2","lineage":["a","b"],"flattened_snapshot":true,"message_count":4,`+
		`"bough":{"kind":"checkpoint","sealed":{"messages":4,"crc32c":"`+session.SealPlaceholder+`"}}}`,
		message("a1", ""), message("a2", ""), message("b1", ""), message("b2", ""))
	s.mend()
	s.expect(doctor.Options{})
	return s
}

// TestProblems: doctor finds every problem and repairs it without losing a byte. A second
// run finds exactly the problems that have no repair.
func TestProblems(t *testing.T) {
	t.Parallel()
	met := map[string]bool{doctor.SpecialFile: true} // see TestPipes
	for _, c := range defects {
		for kind := range strings.SplitSeq(c.kinds, ", ") {
			met[strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(kind, "then "), " fixed"), " once")] = true
		}
	}
	for _, c := range testsize.Sample(t, "defects", defects, testsize.Of(8, len(defects), len(defects))) {
		t.Run(c.name, func(t *testing.T) {
			s := intact(t)
			c.apply(s)
			var found, fixed, left []string
			for _, kind := range strings.Split(c.kinds, ", ") {
				if kind == "" {
					continue
				}
				if name, once := strings.CutSuffix(kind, " once"); once {
					found = append(found, name)
					continue
				}
				kind, later := strings.CutPrefix(kind, "then ")
				name, mends := strings.CutSuffix(kind, " fixed")
				fixed = append(fixed, kind)
				if !later {
					found = append(found, name)
				}
				if !mends {
					left = append(left, name)
				}
			}
			before, all := s.files(), s.everything()
			s.expectSet(doctor.Options{}, found)
			sameFiles(t, "doctor", all, s.everything())
			s.expectSet(doctor.Options{Fix: true}, fixed)
			s.nothingLost(before)
			once := s.files()
			s.expectSet(doctor.Options{Fix: true}, left)
			sameFiles(t, "the second doctor --fix", once, s.files())
		})
	}
	for _, a := range doctor.Kinds {
		if !met[a.Kind] {
			t.Errorf("no defect has the kind %s", a.Kind)
		}
	}
}

// everything returns the contents and modification times of all files of the workspace,
// with .bough and the cache.
func (s *space) everything() map[string]string {
	s.t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(s.Dir()), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[name] = fmt.Sprint(info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			files[name] += " " + s.read(name)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

// expectSet compares the problems that doctor finds with want, in any order, and ignores an
// index that is out of date.
func (s *space) expectSet(o doctor.Options, want []string) {
	s.t.Helper()
	got := s.kinds(o)
	if !slices.ContainsFunc(want, func(kind string) bool { return strings.HasPrefix(kind, doctor.StaleIndex) }) {
		got = slices.DeleteFunc(got, func(kind string) bool { return strings.HasPrefix(kind, doctor.StaleIndex) })
	}
	slices.Sort(got)
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		s.t.Errorf("doctor finds %q, want %q", got, want)
	}
}

// nothingLost fails the test unless the content of each file is still in that file or in
// one of its name in the trash.
func (s *space) nothingLost(before map[string]string) {
	s.t.Helper()
	now := s.files()
	for name, data := range before {
		grows := name == operation.Path || name == "states/states.jsonl"
		completed := strings.HasSuffix(name, ".journal") && strings.HasSuffix(data, "\n")
		kept := now[name] == data || strings.HasSuffix(name, durable.TempSuffix) || strings.HasSuffix(name, "/lock.holder") || completed ||
			grows && strings.HasPrefix(now[name], data)
		for other, content := range now {
			kept = kept || content == data && strings.HasPrefix(other, ".bough/trash/") && strings.HasSuffix(other, "/"+name)
		}
		if !kept {
			s.t.Errorf("the content of %s is lost", name)
		}
	}
}

// TestDoctorMany: doctor repairs many files with few open at once, and the index lists all
// of them.
func TestDoctorMany(t *testing.T) {
	t.Parallel()
	many := testsize.Of(20, 40, 140)
	s := openSpace(t, t.TempDir(), 0)
	s.messages("root", `"continued_from":[]`, `{"id":"0"}`)
	for i := range many {
		s.messages(fmt.Sprint("old", i), fmt.Sprintf(`"branched_from":"root","flattened_snapshot":true,"title":"T%d"`, i), `{"id":"1"}`)
		s.write(session.FileName(fmt.Sprint("torn", i)), `{"messages":[{"id":"1"},`)
	}
	before := s.files()
	kinds := s.kinds(doctor.Options{Fix: true, Dialect: "bough"})
	torn := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind != "damaged_session fixed" })
	if len(torn) != many || !slices.Contains(kinds, "mixed_dialects fixed") {
		t.Errorf("doctor finds %q", kinds)
	}
	s.nothingLost(before)
	s.expect(doctor.Options{})
	for i := range many {
		if e := s.entry(fmt.Sprint("old", i)); !slices.Equal(e.ContinuedFrom, []string{"root"}) {
			t.Errorf("%s continues %q", e.ID, e.ContinuedFrom)
		}
	}
}

// TestDoctorPage: docs/doctor.md has each problem, in the words of the program.
func TestDoctorPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.FromSlash("../docs/doctor.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, a := range doctor.Kinds {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", a.Kind, a.About, a.Repair))
	}
	want := strings.Join(rows, "\n")
	if !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), "|---|---|---|\n"+want+"\n\n") {
		t.Errorf("the table should be\n%s", want)
	}
}
