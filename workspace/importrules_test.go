package workspace_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/mirror"
)

// claudeRecord returns a record of Claude Code with a role and content.
func claudeRecord(uuid, parent, role, content string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"cwd":"/src/soup","gitBranch":"main","sessionId":"5e550000-0000-4000-8000-000000000001","type":%q,"message":{"role":%[2]q,%s},"uuid":%q,"timestamp":"2026-03-01T10:00:%02d.000Z"}`+"\n",
		parent, role, content, uuid, len(uuid)+int(uuid[len(uuid)-1])%40)
}

func asks(text string) string { return fmt.Sprintf(`"content":%q`, text) }

// claudeSays returns a part of an answer, which is open while stop is null.
func claudeSays(id, text, stop string) string {
	return fmt.Sprintf(`"id":%q,"model":"claude-x","stop_reason":%s,"content":[{"type":"text","text":%q}]`, id, stop, text)
}

var (
	claudeAsked = claudeRecord("u1", "null", "user", asks("How long?"))
	claudePiece = claudeRecord("a1", "u1", "assistant", claudeSays("m1", "Ten ", "null"))
	claudeRest  = claudeRecord("a2", "a1", "assistant", claudeSays("m1", "minutes.", `"end_turn"`))
	claudeAgain = claudeRecord("u2", "a2", "user", asks("Really?"))
)

// imports imports a state of a file.
func (s *space) imports(t *testing.T, path, text string, o imports.Options) imports.Transcript {
	t.Helper()
	writeOver(t, path, []byte(text))
	return importOne(t, s, path, o)
}

// TestImportOpen: the whole answer replaces an open one unless something refers to the open
// one; then the whole answer is its sibling, and the open one is not a leaf.
func TestImportOpen(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(s *space, session string) error{
		"nothing": func(*space, string) error { return nil },
		"bookmark": func(s *space, session string) error {
			_, err := s.Bookmark(t.Context(), session+"@a1", "here", workspace.BookmarkOptions{})
			return err
		},
		"checkpoint": func(s *space, session string) error {
			_, err := s.Checkpoint(t.Context(), session+"@a1", workspace.SnapshotOptions{})
			return err
		},
		"head": func(s *space, session string) error {
			_, err := s.Rewind(t.Context(), session+"@a1", checkpoint.CutOptions{})
			return err
		},
		"published": func(s *space, session string) error {
			return s.Mirror().Publish(t.Context(), []mirror.Ref{{Session: session, Message: "a1"}})
		},
		"child": func(s *space, session string) error {
			_, err := s.Append(t.Context(), workspace.Append{Session: session, Parent: "a1", Text: "Wait."})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openSpace(t, t.TempDir(), 0)
			path := writeFile(t, "5e550000-0000-4000-8000-000000000001.jsonl", "")
			session := string(s.imports(t, path, claudeAsked+claudePiece, imports.Options{}).Session)
			if err := hold(s, session); err != nil {
				t.Fatal(err)
			}
			before := s.read("conversations/" + session + ".json")
			got := s.imports(t, path, claudeAsked+claudePiece+claudeRest, imports.Options{})
			ends, err := s.Branches(t.Context(), session, workspace.BranchesOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := imports.Transcript{Replaced: 1}
			if name != "nothing" {
				want = imports.Transcript{Added: 1}
			}
			if got.Status != imports.Updated || got.Added != want.Added || got.Replaced != want.Replaced {
				t.Errorf("%+v, want %d added, %d replaced", got, want.Added, want.Replaced)
			}
			count := map[string]int{"child": 2}[name]
			if len(ends.Leaves) != max(count, 1) {
				t.Errorf("%d ends: %+v", len(ends.Leaves), ends.Leaves)
			}
			whole := slices.ContainsFunc(ends.Leaves, func(l workspace.Leaf) bool {
				return strings.Contains(s.shown(session+"@"+l.ID), "Ten |minutes.")
			})
			if !whole {
				t.Errorf("no leaf has the whole answer")
			}
			if again := s.imports(t, path, claudeAsked+claudePiece+claudeRest, imports.Options{}); again.Status != imports.Unchanged {
				t.Errorf("again: %+v", again)
			}
			healthy(t, s)
			if name == "nothing" {
				if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
					t.Fatal(err)
				}
				if after := s.read("conversations/" + session + ".json"); after != before {
					t.Errorf("undo gave\n%s\nwant\n%s", after, before)
				}
			}
		})
	}
}

// TestImportReplacedEvent: an event reports which message replaced which.
func TestImportReplacedEvent(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	path := writeFile(t, "5e550000-0000-4000-8000-000000000001.jsonl", "")
	s.imports(t, path, claudeAsked+claudePiece, imports.Options{})
	s.imports(t, path, claudeAsked+claudePiece+claudeRest, imports.Options{})
	for e, err := range s.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == events.MessageReplaced {
			if e.Message != "a1" || e.Replaces != "a1" {
				t.Errorf("%+v", e)
			}
			return
		}
	}
}

// TestImportPieces: the pieces of one session are joined, in whatever order they are
// imported.
func TestImportPieces(t *testing.T) {
	t.Parallel()
	pieces := []string{claudeAsked + claudePiece + claudeRest, claudeAgain, claudeRecord("a3", "u2", "assistant", claudeSays("m2", "Yes.", `"end_turn"`))}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		s := openSpace(t, t.TempDir(), 0)
		known := session.ID("")
		for _, n := range order {
			got := importOne(t, s, writeFile(t, fmt.Sprint(n, ".jsonl"), pieces[n]), imports.Options{})
			if known == "" {
				known = got.Session
			}
			if got.Session != known {
				t.Errorf("%v: piece %d is in %s, want %s", order, n, got.Session, known)
			}
		}
		if got, want := s.shown(string(known)), "user: How long?\nassistant: Ten |minutes.\nuser: Really?\nassistant: Yes.\n"; got != want {
			t.Errorf("%v: the path is\n%s", order, got)
		}
	}
}

// TestImportRemoved: a conversation that was removed, or whose import was undone, is not
// imported again when its source grows, until it is imported by name.
func TestImportRemoved(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"removed", "undone", "update undone"} {
		t.Run(way, func(t *testing.T) {
			s := openSpace(t, t.TempDir(), 0)
			path := writeFile(t, "5e550000-0000-4000-8000-000000000001.jsonl", "")
			text := claudeAsked
			session := string(s.imports(t, path, text, imports.Options{}).Session)
			var err error
			switch way {
			case "removed":
				_, err = s.Remove(t.Context(), session, workspace.RemoveOptions{})
			case "undone":
				_, err = s.Undo(t.Context(), history.UndoOptions{})
			case "update undone":
				text += claudePiece + claudeRest
				s.imports(t, path, text, imports.Options{})
				_, err = s.Undo(t.Context(), history.UndoOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			before := s.every()
			for _, more := range []string{"", claudePiece + claudeRest + claudeAgain} {
				if text += more; way == "update undone" && more != "" {
					text = claudeAsked + more
				}
				got := s.imports(t, path, text, imports.Options{})
				if got.Status != imports.Skipped || !got.Removed {
					t.Errorf("%+v", got)
				}
			}
			if after := s.every(); !slices.Equal(before, after) {
				t.Errorf("they were %v and are %v", before, after)
			}
			if got := importOne(t, s, path, imports.Options{Again: true}); got.Status != imports.New && got.Status != imports.Updated {
				t.Errorf("again: %+v", got)
			}
			if got := importOne(t, s, path, imports.Options{}); got.Status != imports.Unchanged {
				t.Errorf("after that: %+v", got)
			}
		})
	}
}

// TestImportLive: undo skips a live import, which moves no head and adds to the newest file
// of a line, so that no large file is rewritten.
func TestImportLive(t *testing.T) {
	t.Parallel()
	limit := testsize.Of(6, 20, 20)
	s := openSpace(t, t.TempDir(), limit)
	path := writeFile(t, "5e550000-0000-4000-8000-000000000001.jsonl", "")
	text, parent := "", "null"
	for n := range 3*limit + 5 {
		id := fmt.Sprintf("u%03d", n)
		text += claudeRecord(id, parent, "user", asks("line "+strings.Repeat("x", 200)))
		parent = id
		got := s.imports(t, path, text, imports.Options{Live: true})
		if got.Added != 1 {
			t.Fatalf("%d: %+v", n, got)
		}
	}
	list, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Sessions) != 4 {
		t.Errorf("%d files, want 4", len(list.Sessions))
	}
	if _, err := s.Undo(t.Context(), history.UndoOptions{}); err == nil {
		t.Error("undo reverted a live import")
	}
	if h, err := s.Head(t.Context()); err != nil || h != nil {
		t.Errorf("the head is %+v, %v", h, err)
	}
	if got := importOne(t, s, path, imports.Options{Live: true}); got.Status != imports.Unchanged {
		t.Errorf("%+v", got)
	}
	healthy(t, s)
}

// TestImportSkip: patterns exclude files and folders.
func TestImportSkip(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	path := writeFile(t, "chat.jsonl", claudeAsked)
	for _, pattern := range []string{"chat.*", "/src/*", "soup", "/src", path, "src/soup", "./src/", "*/*/chat.*"} {
		if got := importOne(t, s, path, imports.Options{Skip: []string{pattern}}); got.Status != imports.Skipped {
			t.Errorf("%s: %+v", pattern, got)
		}
	}
	if _, err := s.Import(t.Context(), []string{path}, imports.Options{Skip: []string{"[a"}}); workspace.Explain(err) == nil || workspace.Explain(err).Code != fault.Usage {
		t.Errorf("an invalid pattern: %v", err)
	}
	if got := importOne(t, s, path, imports.Options{Skip: []string{"/src/other", "chat", "rc/soup"}}); got.Status != imports.New {
		t.Errorf("%+v", got)
	}
}

// TestImportSkipConfig: the error of an invalid pattern in the workspace's settings names
// their file.
func TestImportSkipConfig(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	path := writeFile(t, "chat.jsonl", claudeAsked)
	importOne(t, s, path, imports.Options{})
	config := filepath.Join(s.Dir(), "config.json")
	writeOver(t, config, []byte(`{"import":{"skip":["[a"]}}`))
	_, err := s.Import(t.Context(), []string{path}, imports.Options{})
	if e := workspace.Explain(err); e == nil || e.Code != fault.Damaged || !strings.Contains(e.Message, config) {
		t.Errorf("%v", err)
	}
}

// TestImportRestored: importing a copy of a removed conversation reports that it was
// removed, and no longer when it is restored.
func TestImportRestored(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	session := importOne(t, s, writeFile(t, "a.jsonl", claudeAsked), imports.Options{}).Session
	if _, err := s.Remove(t.Context(), string(session), workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	other := writeFile(t, "b.jsonl", claudeAsked)
	age(t, other)
	for range 2 {
		if got := importOne(t, s, other, imports.Options{}); !got.Removed || !got.Named {
			t.Errorf("%+v", got)
		}
	}
	if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := importOne(t, s, other, imports.Options{}); got.Status != imports.Unchanged || got.Session != session {
		t.Errorf("%+v", got)
	}
}

// TestImportRecordBehind: a message whose parent is a later record attached to it does not
// follow itself.
func TestImportRecordBehind(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	path := writeFile(t, "5e550000-0000-4000-8000-000000000001.jsonl", "")
	text := claudeRecord("u1", "x1", "user", asks("How long?")) + `{"parentUuid":"x0","isSidechain":false,"sessionId":"5e550000-0000-4000-8000-000000000001","type":"system","subtype":"stop_hook_summary","uuid":"x1"}` + "\n"
	s.imports(t, path, text, imports.Options{})
	before := s.every()
	if got := s.imports(t, path, text, imports.Options{}); got.Status != imports.Unchanged {
		t.Errorf("%+v", got)
	}
	if after := s.every(); !slices.Equal(before, after) {
		t.Errorf("they were %v and are %v", before, after)
	}
}

// TestImportDryChain: a dry run reports the same result as the import for a copy of a copy,
// both without the messages that they continue.
func TestImportDryChain(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	dir := t.TempDir()
	for n, base := range []string{"", `,"history_base":{"thread_id":"t0","end_ordinal_exclusive":2}`, `,"history_base":{"thread_id":"t1","end_ordinal_exclusive":4}`} {
		writeOver(t, fmt.Sprintf("%s/%d.jsonl", dir, n), fmt.Appendf(nil, `{"type":"session_meta","payload":{"id":"t%d"%s}}`+"\n"+
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Question %[1]d"}]}}`+"\n", n, base))
	}
	for _, dry := range []bool{true, false} {
		list, err := s.Import(t.Context(), []string{dir}, imports.Options{DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		var got []imports.Status
		for _, r := range list.Imported {
			got = append(got, r.Status)
		}
		if want := []imports.Status{imports.New, imports.Updated, imports.Updated}; !slices.Equal(got, want) {
			t.Errorf("dry %t: %v, want %v", dry, got, want)
		}
	}
}

// TestImportGroup: an import is one step for undo.
func TestImportGroup(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	dir := t.TempDir()
	many := testsize.Of(70, 100, 100) // more than one flush stores
	for n := range many {
		writeOver(t, fmt.Sprintf("%s/%d.json", dir, n), fmt.Appendf(nil, `[{"role":"user","content":"Question %d?"},{"role":"assistant","content":"Answer %[1]d."}]`, n))
	}
	list, err := s.Import(t.Context(), []string{dir}, imports.Options{})
	if err != nil || len(list.Imported) != many {
		t.Fatalf("%d rows, %v", len(list.Imported), err)
	}
	if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if left := s.every(); len(left) != 0 {
		t.Errorf("%d messages are left", len(left))
	}
	if _, err := s.Redo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if back := s.every(); len(back) != 2*many {
		t.Errorf("%d messages are back", len(back))
	}
	healthy(t, s)
}

// TestImportProblemLast: a problem after the last conversation of a file is reported, also if the file is
// imported again.
func TestImportProblemLast(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"documents.json": []byte(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n~"),
		"threads.db":     madeDatabase(t, sqlOf(t, "zed/threads.sql")+"; DELETE FROM threads WHERE id LIKE '%6' OR id LIKE '%1' OR id LIKE '%2' OR id LIKE '%3'; UPDATE threads SET data = '{' WHERE id LIKE '%5'"),
	} {
		s := openSpace(t, t.TempDir(), 0)
		path := filepath.Join(t.TempDir(), name)
		writeOver(t, path, data)
		for _, want := range []imports.Status{imports.New, imports.Unchanged} {
			list, err := s.Import(t.Context(), []string{path}, imports.Options{})
			if err != nil {
				t.Fatal(err)
			}
			told := map[imports.Status]int{}
			for _, r := range list.Imported {
				told[r.Status] += 1 + len(r.Problems)
			}
			if !maps.Equal(told, map[imports.Status]int{want: 1, imports.Failed: 2}) {
				t.Errorf("%s: %+v", name, list.Imported)
			}
		}
	}
}

// TestImportLinearThenTree: an export of Claude.ai with a linear order of messages gets its
// branches from a later one with parents.
func TestImportLinearThenTree(t *testing.T) {
	t.Parallel()
	outline := func(files ...string) string {
		s := openSpace(t, t.TempDir(), 0)
		session := ""
		for _, name := range files {
			session = string(importOne(t, s, "../convert/testdata/"+name, imports.Options{}).Session)
		}
		ends, err := s.Branches(t.Context(), session, workspace.BranchesOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, leaf := range ends.Leaves {
			text += s.shown(session+"@"+leaf.ID) + "\n"
		}
		healthy(t, s)
		return text
	}
	want := outline("claudeai-tree.json")
	if got := outline("claudeai-linear.json", "claudeai-tree.json"); got != want {
		t.Errorf("the leaves are\n%s\nwant\n%s", got, want)
	}
	if got := outline("claudeai-linear.json", "claudeai-tree.json", "claudeai-linear.json"); got != want {
		t.Errorf("with the linear form again the leaves are\n%s\nwant\n%s", got, want)
	}
}

// TestImportLeaf: if only the leaf where a program continues has changed, the new leaf is
// stored, and the conversation still continues at its newest message.
func TestImportLeaf(t *testing.T) {
	t.Parallel()
	chat := `[{"title":"T","conversation_id":"c1","mapping":{"r":{"id":"r","message":null,"parent":null,"children":["a"]},` +
		`"a":{"id":"a","message":{"id":"a","author":{"role":"user"},"create_time":1700000001,"content":{"content_type":"text","parts":["One"]}},"parent":"r","children":["b","c"]},` +
		`"b":{"id":"b","message":{"id":"b","author":{"role":"assistant"},"create_time":1700000002,"content":{"content_type":"text","parts":["Two"]}},"parent":"a","children":[]},` +
		`"c":{"id":"c","message":{"id":"c","author":{"role":"assistant"},"create_time":1700000003,"content":{"content_type":"text","parts":["Three"]}},"parent":"a","children":[]}},"current_node":"%s"}]`
	s := openSpace(t, t.TempDir(), 0)
	path := writeFile(t, "conversations.json", "")
	session := string(s.imports(t, path, fmt.Sprintf(chat, "c"), imports.Options{}).Session)
	if got := s.imports(t, path, fmt.Sprintf(chat, "b"), imports.Options{}); got.Status != imports.Updated || got.Added != 0 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(s.read("conversations/"+session+".json"), `"leaf": "b"`) {
		t.Errorf("the leaf is missing: %s", s.read("conversations/"+session+".json"))
	}
	if got := s.shown(session); !strings.HasSuffix(got, "Three\n") {
		t.Errorf("the conversation is %s", got)
	}
	if got := s.imports(t, path, fmt.Sprintf(chat, "b"), imports.Options{}); got.Status != imports.Unchanged {
		t.Errorf("%+v", got)
	}
}

// TestImportCycle: messages that arrive before their parents make no cycle, in any order of
// arrival, also in a new file of the line.
func TestImportCycle(t *testing.T) {
	t.Parallel()
	entry := func(id, parent, text string) string {
		return fmt.Sprintf(`{"type":"message","id":"%s","parentId":"%s","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"%s"}}`+"\n", id, parent, text)
	}
	const head = `{"type":"session","version":3,"id":"01a2-cycle","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/x"}` + "\n"
	for _, limit := range []int{0, 2} {
		for _, text := range []string{
			entry("u9000000", "u8000000", "Nine") + entry("u8000000", "u2000000", "Eight"),
			entry("u8000000", "u2000000", "Eight") + entry("u9000000", "u8000000", "Nine"),
		} {
			s := openSpace(t, t.TempDir(), limit)
			waits := head + entry("u1000000", "u9000000", "One") + entry("u2000000", "u1000000", "Two")
			session := importOne(t, s, writeFile(t, "chat.jsonl", waits), imports.Options{}).Session
			got := importOne(t, s, writeFile(t, "other.jsonl", head+text), imports.Options{})
			if got.Session != session || got.Added != 2 || len(got.Problems) != 1 {
				t.Errorf("limit %d: %+v", limit, got)
			}
			healthy(t, s)
		}
	}
}

// TestImportRemovedWithoutID: what was added to a conversation without an id stays out
// too.
func TestImportRemovedWithoutID(t *testing.T) {
	t.Parallel()
	const begun = `[{"role":"user","content":"One?"},{"role":"assistant","content":"Two."}`
	s := openSpace(t, t.TempDir(), 0)
	path := writeFile(t, "chat.json", "")
	s.imports(t, path, begun+`]`, imports.Options{})
	more := begun + `,{"role":"user","content":"Three?"}`
	if got := s.imports(t, path, more+`]`, imports.Options{}); got.Added != 1 {
		t.Fatalf("%+v", got)
	}
	if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{more + `]`, more + `,{"role":"assistant","content":"Four."}]`} {
		if got := s.imports(t, path, text, imports.Options{}); got.Status != imports.Skipped || !got.Removed {
			t.Errorf("%+v", got)
		}
	}
	if n := len(s.every()); n != 2 {
		t.Errorf("%d messages", n)
	}
}
