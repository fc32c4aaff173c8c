package workspace_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testdatabase"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
)

// sqlOf returns the statements that make a database of convert/testdata/databases.
func sqlOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "convert", "testdata", "databases", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// madeDatabase returns a database that statements make.
func madeDatabase(t *testing.T, statements string) []byte {
	t.Helper()
	data, err := os.ReadFile(testdatabase.Make(t, statements))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestImportDatabase: an import of a database that its program has open finds what is only in the
// log, notices when the log grows, and changes nothing in the folder; an export of the same session
// is the same conversation.
func TestImportDatabase(t *testing.T) {
	opencode, err := convert.Named("opencode")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "opencode.db")
	db := testdatabase.Open(t, path)
	testdatabase.Run(t, db, "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=off;"+sqlOf(t, "opencode/sessions.sql"))
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	source := imports.Source{Paths: []string{dir}, Format: opencode, Holds: opencode.Holds}
	files := func() map[string]string {
		got := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err1 := e.Info()
			data, err2 := os.ReadFile(filepath.Join(dir, e.Name()))
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			got[e.Name()] = info.ModTime().String() + string(data)
		}
		return got
	}
	status := func(sources ...imports.Source) (list []string) {
		t.Helper()
		before := files()
		r, err := w.ImportAll(t.Context(), sources, imports.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(files(), before) {
			t.Error("the folder of the database was changed")
		}
		for _, row := range r.Imported {
			list = append(list, string(row.Status))
			if len(row.Problems) > 0 {
				t.Error(row.Problems)
			}
		}
		return list
	}
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		slices.Sort(got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	time.Sleep(60 * time.Millisecond) // so that the next change has another time
	expect("at first", status(source), "new", "new")
	expect("again", status(source), "unchanged", "unchanged")
	if info, err := os.Stat(path); err != nil || info.Size() > 4096 {
		t.Errorf("the database has more than its log: %v", err)
	}
	testdatabase.Run(t, db, `INSERT INTO message SELECT 'msg_06', session_id, 1769940006000, 0, '{"role":"user","time":{"created":1769940006000}}' FROM message WHERE id = 'msg_05';
		INSERT INTO part VALUES('prt_41', 'msg_06', 'ses_0123456789abABCDEFGHIJKLMN', 0, 0, '{"type":"text","text":"And fish?"}')`)
	expect("with a message in the log", status(source), "unchanged", "updated")
	export := imports.Source{Paths: []string{filepath.Join("..", "convert", "testdata", "databases", "opencode", "ses_0123456789abABCDEFGHIJKLMN.json")}}
	expect("an export", status(export), "unchanged")
	if err := db.Close(); err != nil { // its log goes
		t.Fatal(err)
	}
	expect("closed", status(source), "unchanged", "unchanged")
	expect("the file", status(imports.Source{Paths: []string{path}}), "unchanged", "unchanged")
	if list, err := w.List(t.Context(), ""); err != nil || len(list.Sessions) != 2 {
		t.Errorf("there are the conversations %v, %v", list, err)
	}
}

// TestImportDatabaseOdd: a database in an archive and from standard input is read, and one that
// cannot be read has a reason.
func TestImportDatabaseOdd(t *testing.T) {
	data := madeDatabase(t, sqlOf(t, "opencode/sessions.sql"))
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	part, err := z.Create("backup/data")
	if err == nil {
		_, err = part.Write(data)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		data   []byte
		status imports.Status
		detail string
	}{
		{"plain", data, imports.New, ""},
		{"in an archive", archive.Bytes(), imports.New, ""},
		{"of another program", madeDatabase(t, "CREATE TABLE songs(id, title)"), imports.Failed, "the database of an unknown program"},
		{"with noise after its head", append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte("noise"), 5000)...), imports.Failed, "encrypted"},
	} {
		w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
		r, err := w.Import(t.Context(), []string{"-"}, imports.Options{Stdin: bytes.NewReader(c.data)})
		if err != nil || len(r.Imported) == 0 {
			t.Fatalf("%s: %v, %v", c.what, r, err)
		}
		if !slices.ContainsFunc(r.Imported, func(r imports.Transcript) bool { return r.Status == c.status && strings.Contains(r.Detail, c.detail) }) {
			t.Errorf("%s: %v", c.what, r.Imported)
		}
	}
}

// TestImportZed: a thread of Zed that grows is the same one, an edit of its last prompt is a branch,
// and the thread of a sub-agent is below the call that began it.
func TestImportZed(t *testing.T) {
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	for _, c := range []struct {
		what, change string
		want         []imports.Status // of one thread, and of the others
		messages     int
	}{
		{"at first", "", []imports.Status{imports.New, imports.New}, 7},
		{"again", "", []imports.Status{imports.Unchanged, imports.Unchanged}, 7},
		{"with a message", `UPDATE threads SET data = replace(data, '"reasoning_details":null}}],"updated_at"', '"reasoning_details":null}},{"User":{"id":"u9","content":[{"Text":"And fish?"}]}}],"updated_at"') WHERE id LIKE '%1'`,
			[]imports.Status{imports.Updated, imports.Unchanged}, 8},
		{"with an edited prompt", `UPDATE threads SET data = replace(replace(data, '{"Text":"Thanks."}', '{"Text":"Why?"}'), '{"Agent":{"content":[{"Text":"You are welcome."}],"tool_results":{},"reasoning_details":null}}', '"Resume"') WHERE id LIKE '%1'`,
			[]imports.Status{imports.Updated, imports.Unchanged}, 9},
	} {
		r, err := w.Import(t.Context(), []string{"-"}, imports.Options{Stdin: bytes.NewReader(madeDatabase(t, sqlOf(t, "zed/threads.sql")+c.change))})
		if err != nil || len(r.Imported) != 5 {
			t.Fatalf("%s: %v, %v", c.what, r, err)
		}
		for _, row := range r.Imported {
			want := c.want[1]
			if row.Title == "Birds" {
				want = c.want[0]
			}
			if row.Status != want || len(row.Problems) > 0 {
				t.Errorf("%s: %v, want %s", c.what, row, want)
			}
		}
		list, err := w.List(t.Context(), "")
		if err != nil || !slices.ContainsFunc(list.Sessions, func(e workspace.Entry) bool { return e.Title == "Birds" && e.MessageCount == c.messages }) {
			t.Errorf("%s: there are the conversations %v, %v", c.what, list, err)
		}
	}
	if got := agentTree(t, w.Workspace); !strings.Contains(got, "/Birds/Mammals at ") || !strings.Contains(got, " c2\n") {
		t.Errorf("the trees are\n%s", got)
	}
}

// TestImportZedCompaction: Zed inserts a compaction before the prompt that it is about to answer, which
// may have been imported already. The prompt then follows the compaction, and is no branch.
func TestImportZedCompaction(t *testing.T) {
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	id := ""
	for _, after := range []string{
		`{"User":{"id":"u8","content":[{"Text":"And mice?"}]}}`,
		`{"Compaction":{"Summary":"Voles were found."}},{"User":{"id":"u8","content":[{"Text":"And mice?"}]}}`,
		`{"Compaction":{"Summary":"Voles were found."}},{"User":{"id":"u8","content":[{"Text":"And mice?"}]}},{"Agent":{"content":[{"Text":"None."}],"tool_results":{}}}`,
	} {
		change := `UPDATE threads SET data = replace(data, '}}],"updated_at"', '}},` + after + `],"updated_at"') WHERE id LIKE '%2'`
		r, err := w.Import(t.Context(), []string{"-"}, imports.Options{Stdin: bytes.NewReader(madeDatabase(t, sqlOf(t, "zed/threads.sql")+change))})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Imported {
			if row.Title == "Mammals" {
				id = string(row.Session)
			}
		}
		if ends, err := w.Branches(t.Context(), id, workspace.BranchesOptions{}); err != nil || len(ends.Leaves) != 1 {
			t.Errorf("the branches are %+v, %v", ends, err)
		}
	}
	const want = "user: Look for voles\nassistant: Voles.\nuser: Voles were found.\nuser: And mice?\nassistant: None.\n"
	if got := w.shown(id); got != want {
		t.Errorf("the conversation is\n%s\nwant\n%s", got, want)
	}
	healthy(t, w)
}

// TestImportCursorTranscripts: the transcripts of an agent have the ids of their paths, so that that
// of a sub-agent is below the other one, and a longer one is the same conversation; a store
// of the command line with the same id is another one, and transcripts read after it are skipped.
func TestImportCursorTranscripts(t *testing.T) {
	dir := t.TempDir()
	const id = "0c000000-0000-4000-8000-000000000001"
	folder := filepath.Join(dir, "projects", "home-ada-birds", "agent-transcripts", id)
	put := func(name string, data []byte) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	fixture := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "convert", "testdata", "cursor", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	put("subagents/0c000000-0000-4000-8000-000000000002.jsonl", fixture("subagent.jsonl"))
	put(id+".jsonl", fixture("agent.jsonl"))
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	statuses := func() (list []string) {
		t.Helper()
		r, err := w.Import(t.Context(), []string{dir}, imports.Options{Again: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Imported {
			list = append(list, string(row.Status))
		}
		slices.Sort(list)
		return list
	}
	if got := statuses(); !reflect.DeepEqual(got, []string{"new", "new"}) {
		t.Errorf("at first: %v", got)
	}
	put(id+".jsonl", append(fixture("agent.jsonl"), `{"role":"user","message":{"content":[{"type":"text","text":"<user_query>Go on</user_query>"}]}}`...))
	if got := statuses(); !reflect.DeepEqual(got, []string{"unchanged", "updated"}) {
		t.Errorf("with a message: %v", got)
	}
	put("store.db", madeDatabase(t, sqlOf(t, "cursor/store.sql")))
	if got := statuses(); !reflect.DeepEqual(got, []string{"new", "skipped", "unchanged"}) {
		t.Errorf("with a store, which is read before the folder subagents: %v", got)
	}
	if got := agentTree(t, w.Workspace); got != sortedLines("/Birds\n/Which birds?\n/Which birds?/Look for voles at  ") {
		t.Errorf("the trees are\n%s", got)
	}
	if l, err := w.Sessions(t.Context(), workspace.ListOptions{}); err != nil || len(l.Sessions) != 2 || l.SubAgents != 1 {
		t.Errorf("listed %+v, %v", l, err)
	}
}

// TestImportCursorHome: of the folders of Cursor, a transcript is imported if no database has its
// conversation, or may have it.
func TestImportCursorHome(t *testing.T) {
	cursor, err := convert.Named("cursor")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	put := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	transcript := func(name, said string) string {
		t.Helper()
		path := put("projects/p/agent-transcripts/"+name, []byte(`{"role":"user","message":{"content":"`+said+`"}}`+"\n"))
		old := time.Now().Add(-2 * time.Minute)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		return path
	}
	database := madeDatabase(t, sqlOf(t, "cursor/global.sql"))
	put("globalStorage/state.vscdb", database)
	birds := transcript("aaaa0001/aaaa0001.jsonl", "Birds")
	transcript("aaaa0001/subagents/aaaa0002.jsonl", "Mammals")
	transcript("lost/lost.jsonl", "Lost")
	transcript("lost/subagents/below.jsonl", "Below lost")
	transcript("agent-a/agent-a.jsonl", "SDK")
	active := transcript("active/active.jsonl", "Active")
	if err := os.Chtimes(active, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	source := imports.Source{Format: cursor, Holds: cursor.Holds, Paths: []string{filepath.Join(home, "globalStorage"), filepath.Join(home, "projects")}}
	read := func(w *space, source imports.Source, o imports.Options) string {
		t.Helper()
		r, err := w.ImportAll(t.Context(), []imports.Source{source}, o)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, row := range r.Imported {
			list = append(list, strings.TrimSuffix(filepath.Base(row.Path), ".jsonl")+" "+string(row.Status))
		}
		slices.Sort(list)
		return strings.Join(list, ", ")
	}
	fresh := func() *space { return openSpace(t, filepath.Join(t.TempDir(), "w"), 0) }
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", what, got, want)
		}
	}
	w := fresh()
	const first = "aaaa0001 skipped, aaaa0002 skipped, active skipped, agent-a new, below new, lost new, state.vscdb new, state.vscdb new"
	expect("dry", read(w, source, imports.Options{DryRun: true}), first)
	expect("at first", read(w, source, imports.Options{}), first)
	expect("again", read(w, source, imports.Options{}), strings.ReplaceAll(first, "new", "unchanged"))
	alone := source
	alone.Paths = source.Paths[1:]
	expect("without the database, which was imported before", read(w, alone, imports.Options{Again: true}), "aaaa0001 skipped, aaaa0002 skipped, active skipped, agent-a unchanged, below unchanged, lost unchanged")
	expect("by name", read(w, imports.Source{Paths: []string{birds}}, imports.Options{}), "aaaa0001 new")
	expect("with a pattern", read(fresh(), source, imports.Options{Skip: []string{"/home/ada/birds"}}), "aaaa0001 skipped, aaaa0002 skipped, active skipped, agent-a new, below new, lost new, state.vscdb new, state.vscdb skipped")
	live := source
	live.Found, live.Paths = true, []string{birds, filepath.Join(filepath.Dir(filepath.Dir(birds)), "agent-a", "agent-a.jsonl")}
	expect("while it grows", read(fresh(), live, imports.Options{Live: true}), "aaaa0001 skipped, agent-a new")
	put("globalStorage/state.vscdb", append(database[:100:100], bytes.Repeat([]byte("noise"), 1000)...))
	expect("with a damaged database", read(fresh(), source, imports.Options{}), "aaaa0001 skipped, aaaa0002 skipped, active skipped, agent-a new, below skipped, lost skipped, state.vscdb failed")
	if err := os.Remove(filepath.Join(home, "globalStorage", "state.vscdb")); err != nil {
		t.Fatal(err)
	}
	expect("without a database", read(fresh(), source, imports.Options{}), "aaaa0001 new, aaaa0002 new, active skipped, agent-a new, below new, lost new")
}

// TestImportCursorCalls: calls in parallel that end in any order between imports, and arguments that were
// still received, are one branch.
func TestImportCursorCalls(t *testing.T) {
	const begin = `CREATE TABLE cursorDiskKV (key, value);
		INSERT INTO cursorDiskKV VALUES ('composerData:a', '{"composerId":"a","status":"$status","conversation":[{"type":1,"bubbleId":"1","text":"Which birds?"},$list]}')`
	call := func(id, status, arguments, result string) string {
		return `{"type":2,"bubbleId":"` + id + `","toolFormerData":{"name":"read","toolCallId":"c` + id + `","status":"` + status + `","rawArgs":"` + arguments + `","result":"` + result + `"}}`
	}
	one, two := call("2", "completed", `{\"a\":1}`, "wren"), call("3", "completed", `{\"a\":2}`, "vole")
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	for _, c := range []struct {
		what, status, list string
		messages           int
	}{
		{"a call whose arguments are received", "none", call("2", "loading", `{\"a`, ""), 2},
		{"two calls", "generating", call("2", "loading", `{\"a\":1}`, "") + "," + call("3", "loading", `{\"a\":2}`, ""), 2},
		{"the second one has ended", "generating", call("2", "loading", `{\"a\":1}`, "") + "," + two, 2},
		{"both have ended", "generating", one + "," + two, 5},
		{"the end", "completed", one + "," + two + `,{"type":2,"bubbleId":"4","text":"A wren."}`, 6},
		{"a call that never ends, before a prompt", "generating", one + "," + two + `,{"type":2,"bubbleId":"4","text":"A wren."},` + call("5", "loading", "{}", "") + `,{"type":1,"bubbleId":"6","text":"And?"}`, 8},
	} {
		database := madeDatabase(t, strings.NewReplacer("$status", c.status, "$list", c.list).Replace(begin))
		r, err := w.Import(t.Context(), []string{"-"}, imports.Options{Stdin: bytes.NewReader(database)})
		if err != nil || len(r.Imported) != 1 {
			t.Fatalf("%s: %v, %v", c.what, r, err)
		}
		tree := w.messageTree(string(r.Imported[0].Session))
		if row := r.Imported[0]; len(row.Problems) > 0 || len(tree.Runs) != 1 || tree.Runs[0].Count != c.messages {
			t.Errorf("%s: %+v, in %d runs", c.what, row, len(tree.Runs))
		}
	}
}

// TestImportLLM: after an update of llm, which copies conversations to new tables, and with
// later turns, a conversation is the same one; a fork
// is a branch.
func TestImportLLM(t *testing.T) {
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	statuses := func(change string) (list []imports.Status) {
		t.Helper()
		r, err := w.Import(t.Context(), []string{"-"}, imports.Options{Stdin: bytes.NewReader(madeDatabase(t, sqlOf(t, "llm/threads.sql")+change))})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Imported {
			if len(row.Problems) > 0 {
				t.Error(row.Problems)
			}
			list = append(list, row.Status)
		}
		return list
	}
	for _, c := range []struct {
		what, change string
		want         []imports.Status
	}{
		{"before the update", "DELETE FROM turns; DELETE FROM threads; DELETE FROM responses WHERE response = 'None.'", []imports.Status{imports.New}},
		{"after it", "", []imports.Status{imports.Updated, imports.New, imports.Unchanged}},
		{"again", "", []imports.Status{imports.Unchanged, imports.Unchanged, imports.Unchanged}},
		{"with a turn", `INSERT INTO messages VALUES('b2:c1', 'b2:b4', 'user', NULL);
			INSERT INTO parts(message_hash, position, type, text) VALUES('b2:c1', 0, 'text', 'Thanks.');
			UPDATE threads SET tip_message_hash = 'b2:c1' WHERE forked_from IS NOT NULL;
			INSERT INTO turns(id, thread_id, parent_message_hash, tip_message_hash) VALUES('01jxc0000000000000000000c1', '01jxc0000000000000000000cc', 'b2:c1', 'b2:c1')`, []imports.Status{imports.Unchanged, imports.Unchanged, imports.Updated}},
	} {
		if got := statuses(c.change); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	list, err := w.List(t.Context(), "")
	if err != nil || len(list.Sessions) != 2 || list.Sessions[0].MessageCount != 10 || list.Sessions[1].MessageCount != 4 {
		t.Errorf("there are the conversations %v, %v", list, err)
	}
}

// TestImportGoose: after the update of goose that copies its files to a database, a session is the same
// one. An export adds no messages.
func TestImportGoose(t *testing.T) {
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	dir := t.TempDir()
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("..", "convert", "testdata", "goose", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	expect := func(what string, want ...string) {
		t.Helper()
		r, err := w.Import(t.Context(), []string{dir}, imports.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range r.Imported {
			got = append(got, filepath.Base(row.Path)+" "+string(row.Status))
			if len(row.Problems) > 0 {
				t.Error(row.Problems)
			}
		}
		slices.Sort(got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	put("20250701_090000.jsonl", file("session.jsonl"))
	expect("a file", "20250701_090000.jsonl new")
	put("sessions.db", madeDatabase(t, sqlOf(t, "goose/sessions.sql")))
	expect("after the update", "20250701_090000.jsonl unchanged", "sessions.db new", "sessions.db new", "sessions.db unchanged")
	put("export.json", file("export.json"))
	expect("an export, whose record of the session differs", "20250701_090000.jsonl unchanged", "export.json updated", "sessions.db unchanged", "sessions.db unchanged", "sessions.db unchanged")
	list, err := w.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list.Sessions {
		got = append(got, fmt.Sprintf("%s %d", s.Title, s.MessageCount))
	}
	slices.Sort(got)
	if want := []string{"Birds of the night 13", "Delegated task 4", "Name a bird 4"}; !reflect.DeepEqual(got, want) {
		t.Errorf("there are the conversations %q, want %q", got, want)
	}
}

// TestImportGooseNumbers: the first session of a day has the same id on each machine, and goose gives the id of
// a deleted session again. These are conversations of their own, with the sub-agents that they began.
func TestImportGooseNumbers(t *testing.T) {
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	const other = `; UPDATE messages SET message_id = 'other' || id; UPDATE sessions SET name = 'Fish', created_at = '2026-10-01 09:00:00' WHERE id = '20261001_1';
		UPDATE sessions SET created_at = '2026-10-01 09:01:00' WHERE id = '20261001_2'; DELETE FROM messages WHERE session_id = '20250701_090000'`
	for _, c := range []struct {
		change string
		want   []imports.Status
	}{
		{"", []imports.Status{imports.New, imports.New, imports.New}},
		{other, []imports.Status{imports.New, imports.New}},
		{"", []imports.Status{imports.Unchanged, imports.Unchanged, imports.Unchanged}},
		{other, []imports.Status{imports.Unchanged, imports.Unchanged}},
	} {
		r, err := w.Import(t.Context(), []string{"-"}, imports.Options{Stdin: bytes.NewReader(madeDatabase(t, sqlOf(t, "goose/sessions.sql")+c.change))})
		if err != nil {
			t.Fatal(err)
		}
		var got []imports.Status
		for _, row := range r.Imported {
			got = append(got, row.Status)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	list, err := w.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	for _, s := range list.Sessions {
		titles[s.ID] = s.Title
	}
	var got []string
	for _, s := range list.Sessions {
		line := fmt.Sprintf("%s %d", s.Title, s.MessageCount)
		if s.BegunBy != nil {
			line += " begun by " + titles[string(s.BegunBy.Session)]
		}
		got = append(got, line)
	}
	slices.Sort(got)
	if want := []string{"Birds of the night 13", "Delegated task 4 begun by Birds of the night", "Delegated task 4 begun by Fish", "Fish 13", "Name a bird 4"}; !reflect.DeepEqual(got, want) {
		t.Errorf("there are the conversations %q, want %q", got, want)
	}
}
