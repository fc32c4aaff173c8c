package convert

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testdatabase"
)

// TestCursorDatabase: conversations in each place of the databases of Cursor are read, and drafts
// and messages that were removed are not.
func TestCursorDatabase(t *testing.T) {
	path := databaseOf(t, "cursor/global.sql")
	got, problems := readDatabase(t, cursorFormat, path)
	if len(problems) > 0 || len(got) != 2 {
		t.Fatalf("%d conversations, %v", len(got), problems)
	}
	birds, mammals := got[0], got[1]
	if birds.ID != "aaaa0001" || birds.Title != "Birds" || birds.Dir != "/home/ada/birds" || birds.Model != "model-1" || birds.Created.UnixMilli() != 1766691308486 || birds.Side {
		t.Errorf("%+v", birds.Conversation)
	}
	if birds.Began["aaaa0002"] != "c1" {
		t.Errorf("began %v", birds.Began)
	}
	if strings.Contains(string(birds.Records[0]), "key-of-a-blob") {
		t.Errorf("the record has a key: %s", birds.Records[0])
	}
	var said []string
	for _, m := range birds.Messages {
		for _, p := range m.Parts {
			said = append(said, m.Role+" "+p.Type+" "+p.Text)
		}
	}
	want := []string{
		"user text Which birds?", "user data [file /home/ada/birds/list.md]", "user data ", "assistant thinking Hm.", "assistant text I look.",
		"assistant tool-call ", `user tool-result {"contents":"wren"}`, "assistant tool-call ", "user tool-result ", "assistant text A wren.",
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	calls := string(birds.Messages[2].Parts[1].Meta) + string(birds.Messages[4].Parts[0].Meta) + string(birds.Messages[5].Parts[0].Meta)
	for _, part := range []string{"read_file", "target_file", "rm list.md", "c2"} {
		if !strings.Contains(calls, part) {
			t.Errorf("the calls have no %s: %s", part, calls)
		}
	}
	last := birds.Messages[len(birds.Messages)-1]
	if birds.Leaf != last.ID || last.ID != "b6" || last.Model != "model-2" || last.Parent != birds.Messages[5].ID || last.Time.Unix() != 1766691313 || last.Open {
		t.Errorf("%+v", last)
	}
	if mammals.Title != "Mammals" || !mammals.Side || mammals.BegunBy != "aaaa0001" || len(mammals.Messages) != 2 || !mammals.Messages[1].Open {
		t.Errorf("%+v", mammals.Conversation)
	}
	for _, tr := range got {
		tryWriters(t, path, tr)
	}
	old, problems := readDatabase(t, cursorFormat, databaseOf(t, "cursor/workspace.sql"))
	if len(problems) > 0 || len(old) != 2 || old[0].Title != "Trees" || old[1].Title != "Retries" || len(old[0].Messages) != 2 || len(old[1].Messages) != 2 || old[1].Messages[1].Role != "assistant" {
		t.Errorf("%d conversations of older versions, %v", len(old), problems)
	}
}

// TestCursorDatabaseDamage: what cannot be read is a problem that names the place, and the rest is
// read.
func TestCursorDatabaseDamage(t *testing.T) {
	for _, c := range []struct {
		what, change  string
		conversations int
		messages      int // of the first one
		problem       string
	}{
		{"a bubble that is not JSON", "UPDATE cursorDiskKV SET value = '{' WHERE key = 'bubbleId:aaaa0001:b6'", 2, 6, "bubbleId:aaaa0001:b6"},
		{"a bubble that is missing", "DELETE FROM cursorDiskKV WHERE key = 'bubbleId:aaaa0001:b1'", 2, 6, "bubbleId:aaaa0001:b1"},
		{"a bubble of wrong types", `UPDATE cursorDiskKV SET value = '{"type":2,"text":7,"thinking":[],"toolFormerData":{"name":[]},"images":3,"context":1}' WHERE key = 'bubbleId:aaaa0001:b6'`, 2, 6, ""},
		{"a conversation that is not JSON", "UPDATE cursorDiskKV SET value = x'ff' WHERE key = 'composerData:aaaa0001'", 1, 2, "composerData:aaaa0001"},
		{"a bubble that is listed twice", `UPDATE cursorDiskKV SET value = replace(value, '"b3"', '"b1"') WHERE key = 'composerData:aaaa0001'`, 2, 6, "duplicate"},
		{"deep JSON", `UPDATE cursorDiskKV SET value = '{"type":2,"text":' || replace(hex(zeroblob(50000)), '00', '[') WHERE key = 'bubbleId:aaaa0001:b6'`, 2, 6, "bubbleId:aaaa0001:b6"},
	} {
		got, problems := readDatabase(t, cursorFormat, databaseOf(t, "cursor/global.sql", c.change))
		if len(got) != c.conversations || len(got[0].Messages) != c.messages {
			t.Errorf("%s: %d conversations, the first with %d messages", c.what, len(got), len(got[0].Messages))
		}
		if (len(problems) > 0) != (c.problem != "") || c.problem != "" && !strings.Contains(problems[0].What, c.problem) {
			t.Errorf("%s: %v", c.what, problems)
		}
	}
}

// TestCursorEmpty: databases in which nothing was said are read, but only those of Cursor are detected as
// such.
func TestCursorEmpty(t *testing.T) {
	const items, store = "CREATE TABLE ItemTable (key, value);", "CREATE TABLE blobs (id, data); CREATE TABLE meta (key, value);"
	for statements, want := range map[string]error{
		items: ErrNothing,
		items + "INSERT INTO ItemTable VALUES ('terminal', '{}')": ErrNothing,
		store: ErrNothing,
		store + "INSERT INTO meta VALUES ('0', 'x')": errForeign,
		"CREATE TABLE songs (key, value)":            errForeign,
	} {
		path := testdatabase.Make(t, statements)
		if _, _, err := cursorFormat.ReadAll(bytes.NewReader(readFile(t, path))); err != want {
			t.Errorf("%s: %v", statements, err)
		}
		db, err := OpenDatabase(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if f := db.Format(); f != nil {
			t.Errorf("%s is detected as %s", statements, f.Name)
		}
		db.Close()
	}
}

// TestCursorUnnamed: what Cursor writes in place of a title and of a model is neither.
func TestCursorUnnamed(t *testing.T) {
	for file, change := range map[string]string{
		"global": `UPDATE cursorDiskKV SET value = replace(replace(replace(value, '"Birds"', '"New Agent"'), 'model-1', 'default'), 'model-2', 'default')`,
		"store":  `UPDATE meta SET value = hex(replace(replace(CAST(unhex(value) AS TEXT), '"Birds"', '"New Agent"'), 'model-1', 'default'))`,
	} {
		list, _ := readDatabase(t, cursorFormat, databaseOf(t, "cursor/"+file+".sql", change))
		if c := list[0]; c.Title != "" || c.Model != "" || c.Created.IsZero() {
			t.Errorf("%s: %+v", file, c.Conversation)
		}
	}
}

// TestCursorResults: results and errors that are not texts are kept.
func TestCursorResults(t *testing.T) {
	for toolData, want := range map[string]string{
		`"status":"completed","result":[1, 2]`:             "[1,2]",
		`"status":"completed","result":{"a": 1}`:           `{"a":1}`,
		`"status":"completed","result":5,"error":{}`:       "5",
		`"status":"completed","result":null,"error":false`: "",
		`"status":"error","error":{"message": "denied"}`:   `failed {"message":"denied"}`,
		`"status":"error","error":"denied"`:                "failed denied",
	} {
		bubble := `{"type":2,"toolFormerData":{"name":"x",` + toolData + `}}`
		list, problems := readDatabase(t, cursorFormat, databaseOf(t, "cursor/global.sql", `UPDATE cursorDiskKV SET value = '`+bubble+`' WHERE key = 'bubbleId:aaaa0001:b6'`))
		m := list[0].Messages
		p := m[len(m)-1].Parts[0]
		got := p.Text
		if p.Call().Failed {
			got = "failed " + got
		}
		if got != want || len(problems) > 0 {
			t.Errorf("%s: %q, %v", toolData, got, problems)
		}
	}
}

// TestCursorHome: the databases of Cursor are found on each system, and the folder of one.
func TestCursorHome(t *testing.T) {
	for system, want := range map[string]string{
		"linux":   "/home/ada/.config/Cursor/User/globalStorage",
		"darwin":  "/home/ada/Library/Application Support/Cursor/User/globalStorage",
		"windows": "/home/ada/AppData/Roaming/Cursor/User/globalStorage",
	} {
		m := transcript.Machine{OS: system, Home: "/home/ada", Env: func(string) string { return "" }}
		if got := cursorFormat.Roots(m); len(got) != 4 || filepath.ToSlash(got[0]) != want || got[2] != "/home/ada/.cursor/chats" || got[3] != "/home/ada/.cursor/projects" {
			t.Errorf("%s: %v", system, got)
		}
	}
	moved := transcript.Machine{OS: "linux", Home: "/home/ada", Env: func(name string) string { return map[string]string{"CURSOR_CONFIG_DIR": "/c"}[name] }}
	if got := cursorFormat.Roots(moved); got[2] != "/c/chats" {
		t.Errorf("with another folder: %v", got)
	}
	for p, want := range map[string]bool{"state.vscdb": true, "0a1b/state.vscdb": true, "state.vscdb.backup": false, "a/b/state.vscdb": false, "0a1b/id/store.db": true, "store.db": false, "a/b/c/store.db": false, "a/b/meta.json": false, "p/agent-transcripts/a/a.jsonl": true, "p/agent-transcripts/a/subagents/b.jsonl": true, "p/agent-tools/a.txt": false, "p/sdk-agent-store/a/index.db": false} {
		if cursorFormat.Holds(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
	dir := cursorFormat.Dir(filepath.FromSlash("/s/0a1b/state.vscdb"), func(string) ([]byte, error) { return []byte(`{"folder":"file:///home/ada/my%20birds"}`), nil })
	if dir != "/home/ada/my birds" {
		t.Errorf("the folder is %s", dir)
	}
	dir = cursorFormat.Dir(filepath.FromSlash("/chats/0a1b/id/store.db"), func(path string) ([]byte, error) {
		if filepath.Base(path) != "meta.json" {
			t.Errorf("%s is read", path)
		}
		return []byte(`{"schemaVersion":1,"cwd":"/home/ada/birds"}`), nil
	})
	if dir != "/home/ada/birds" {
		t.Errorf("the folder of the command line is %s", dir)
	}
	for file, want := range map[string]string{
		"/p/agent-transcripts/a/a.jsonl":           "agent-transcripts/a ",
		"/p/agent-transcripts/a.jsonl":             "agent-transcripts/a ",
		"/p/agent-transcripts/a/subagents/b.jsonl": "agent-transcripts/b agent-transcripts/a",
		"/p/agent-transcripts/a/b.jsonl":           " ",
		"/p/agent-transcripts/a/a.txt":             " ",
		"/p/a/a.jsonl":                             " ",
		"agent-transcripts":                        " ",
		"x.zip/agent-transcripts/a/a.jsonl":        "agent-transcripts/a ",
	} {
		if id, by := cursorFormat.Identify(filepath.FromSlash(file)); id+" "+by != want {
			t.Errorf("%s: %q begun by %q", file, id, by)
		}
	}
	for file, want := range map[string]string{
		"/p/agent-transcripts/a/a.jsonl":                 "a",
		"/p/agent-transcripts/a/subagents/b.jsonl":       "a",
		"/p/agent-transcripts/agent-a/agent-a.jsonl":     "",
		"/p/agent-transcripts/agent-a/subagents/b.jsonl": "",
		"/p/chats/0a1b/id/store.db":                      "",
	} {
		if id := cursorFormat.InDatabase(filepath.FromSlash(file)); id != want {
			t.Errorf("%s is in a database as %q", file, id)
		}
	}
}

// cursorDrawn returns all that was read: each conversation with its tree.
func cursorDrawn(list []*transcript.Transcript) string {
	var b strings.Builder
	for _, tr := range list {
		fmt.Fprintf(&b, "%s %q %s %s %d anonymous %v side %v by %q\n%s", tr.ID, tr.Title, tr.Model, tr.Dir, tr.Created.UnixMilli(), tr.Anonymous, tr.Side, tr.BegunBy, drawn(tr))
	}
	return b.String()
}

// TestCursorStore: the conversation of the command line has the written-down tree, and what its
// list does not have is not read.
func TestCursorStore(t *testing.T) {
	path := databaseOf(t, "cursor/store.sql")
	const want = `0c000000-0000-4000-8000-000000000001 "Birds" model-1 /home/ada/birds 1780370400000 anonymous false side false by ""
0<- user 1: text "You are an agent."
1<0 user 1: text "<user_info>\nOS Version: linux\nWorkspace Path: /home/ada/birds\n</user_info>"
2<1 user 1: text "Which birds?"
3<2 assistant 1: thinking "Hm." text "I look." tool-call c1 Shell {"command":"ls"} tool-call c2 Read {"path":"list.md"}
4<3 user 1: tool-result c1 Shell "list.md"
5<4 user 1: tool-result c2 Read failed "{\"error\":\"denied\"}"
6<5 assistant 1: data text "A wren."
7<6* user 1: text "Thanks."
`
	list, problems := readDatabase(t, cursorFormat, path)
	if got := cursorDrawn(list); got != want || len(problems) > 0 {
		t.Errorf("%v\n%s\nwant\n%s", problems, got, want)
	}
	m := list[0].Messages
	if m[0].Own.Role != "system" || m[1].Own.Role != "system" || m[2].Own.Role != "" || m[2].Time.Unix() != 1780370400 || m[3].Model != "model-1" {
		t.Errorf("the messages are %+v %+v %+v %+v", m[0], m[1], m[2], m[3])
	}
	for _, tr := range list {
		tryWriters(t, path, tr)
	}
	child, _ := readDatabase(t, cursorFormat, databaseOf(t, "cursor/store.sql", `UPDATE meta SET value = hex('{"subagentInfo":{"parentAgentId":"p"},"agentId":"c","latestRootBlobId":"'||(SELECT id FROM blobs WHERE substr(data, 1, 1) = x'0a')||'"}')`))
	if len(child) != 1 || !child[0].Side || child[0].BegunBy != "p" {
		t.Errorf("the conversation of a sub-agent is %+v", child)
	}
	other, _ := readDatabase(t, cursorFormat, databaseOf(t, "cursor/store.sql", `UPDATE meta SET value = hex(replace(replace(CAST(unhex(value) AS TEXT), 'model-1', 'default'), '1780370400000', '"1780370400000"'))`,
		`UPDATE blobs SET data = '{"role":"user","content":"<user_info>\n</user_info>"}' WHERE CAST(data AS TEXT) LIKE '%user_info%' OR CAST(data AS TEXT) LIKE '%"system"%'`,
		`UPDATE blobs SET data = '{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","experimental_content":[{"type":"text","text":"list.md"}]}]}' WHERE CAST(data AS TEXT) LIKE '%"c1","toolName":"Shell","result"%'`,
		`UPDATE blobs SET data = '{"role":"user","content":[{"type":"text","text":"Summary: <user_query>Which birds?</user_query>"}],"providerOptions":{"cursor":{"isSummary":true}}}' WHERE CAST(data AS TEXT) LIKE '%Thanks%'`))
	switch o := other[0]; {
	case o.Model != "" || o.Created.UnixMilli() != 1780370400000 || o.Messages[0].ID == o.Messages[1].ID || o.Messages[4].Parts[0].Text != "list.md":
		t.Errorf("of another form: %+v\n%s", o.Conversation, cursorDrawn(other))
	case o.Messages[7].Kind != transcript.Compaction || o.Messages[7].Parts[0].Text != "Summary: <user_query>Which birds?</user_query>":
		t.Errorf("the summary is %+v", o.Messages[7])
	}
	// a context that the program writes anew changes no other id
	anew, _ := readDatabase(t, cursorFormat, databaseOf(t, "cursor/store.sql", `UPDATE blobs SET data = replace(data, 'OS Version: linux', 'OS Version: 2') WHERE CAST(data AS TEXT) LIKE '%user_info%'`))
	for i, of := range anew[0].Messages {
		if same := of.ID == m[i].ID; same != (i != 1) {
			t.Errorf("with another context, the id of message %d is the same: %v", i, same)
		}
	}
}

// TestCursorContext: messages and parts that the program writes for the model are not the user's.
func TestCursorContext(t *testing.T) {
	asked := func(parts string) string {
		return `{"role":"user","content":[` + parts + `],"providerOptions":{"cursor":{"requestId":"r"}}}`
	}
	read := func(first, last string) []*transcript.Message {
		t.Helper()
		list, problems := readDatabase(t, cursorFormat, databaseOf(t, "cursor/store.sql",
			`UPDATE blobs SET data = '`+first+`' WHERE CAST(data AS TEXT) LIKE '%Which birds?%'`, `UPDATE blobs SET data = '`+last+`' WHERE CAST(data AS TEXT) LIKE '%Thanks.%'`))
		if len(problems) > 0 || len(list) != 1 {
			t.Fatalf("%d conversations, %v", len(list), problems)
		}
		return list[0].Messages
	}
	const reminder = `{"role":"user","content":"<system_reminder>The user interrupted.</system_reminder>"}`
	query := asked(`{"type":"text","text":"<timestamp>Tuesday, Jun 2, 2026, 11:20 AM (UTC)</timestamp>"},{"type":"text","text":"<user_query>Which birds?</user_query>"},{"type":"text","text":"<rules>Be brief</rules>"},{"type":"text","text":"<user_query>And mammals?</user_query>"},{"type":"image","image":"x"}`)
	m := read(query, reminder)
	if m[2].Text() != "Which birds?\nAnd mammals?" || len(m[2].Parts) != 3 || m[2].Own.Role != "" || m[2].Time.IsZero() {
		t.Errorf("the parts are %+v", m[2])
	}
	if m[7].Own.Role != "system" || m[4].Own.Role != "" || m[3].Own.Role != "" {
		t.Errorf("the reminder is %+v", m[7])
	}
	for what, last := range map[string]string{
		"with a request":     asked(`{"type":"text","text":"Thanks, all"}`),
		"marked as a query":  `{"role":"user","content":"<user_query>Thanks, all</user_query>"}`,
		"which is a summary": `{"role":"user","content":"Thanks, all","providerOptions":{"cursor":{"isSummary":true}}}`,
	} {
		if m := read(query, last); m[7].Own.Role != "" || m[7].Text() != "Thanks, all" {
			t.Errorf("a message %s is %+v", what, m[7])
		}
	}
	plain := read(`{"role":"user","content":"Which birds?"}`, `{"role":"user","content":"Thanks, all"}`)
	if plain[2].Own.Role != "" || plain[7].Own.Role != "" {
		t.Errorf("in a store without requests, the messages are %+v, %+v", plain[2], plain[7])
	}
}

// TestCursorStoreDamage: what cannot be read is a problem that names the place, and the rest is read.
func TestCursorStoreDamage(t *testing.T) {
	const root = "substr(data, 1, 1) = x'0a'"
	for _, c := range []struct {
		what, change string
		messages     int
		problem      string
	}{
		{"a missing message", "DELETE FROM blobs WHERE CAST(data AS TEXT) LIKE '%A wren%'", 7, "a message, blob "},
		{"a message that is not JSON", "UPDATE blobs SET data = '{' WHERE CAST(data AS TEXT) LIKE '%A wren%'", 7, "a message, blob "},
		{"deep JSON", `UPDATE blobs SET data = '{"role":"user","content":' || replace(hex(zeroblob(50000)), '00', '[') WHERE CAST(data AS TEXT) LIKE '%A wren%'`, 7, "a message, blob "},
		{"values of wrong types", `UPDATE blobs SET data = '{"role":7,"content":[1,null,{"type":[]},{"type":"tool-call","args":3},{"type":"tool-result"}]}' WHERE CAST(data AS TEXT) LIKE '%A wren%'`, 8, ""},
		{"a list that is truncated", "UPDATE blobs SET data = substr(data, 1, 100) WHERE " + root, 2, "the list of its messages, blob "},
		{"a list that states a terabyte", "UPDATE blobs SET data = x'0a808080808040' WHERE " + root, 0, "the list of its messages, blob "},
		{"a number without an end", "UPDATE blobs SET data = CAST(data || x'08ffffffffffffffffffffffff' AS BLOB) WHERE " + root, 8, "the list of its messages, blob "},
		{"a group, which has no length", "UPDATE blobs SET data = CAST(data || x'0b' AS BLOB) WHERE " + root, 8, "the list of its messages, blob "},
		{"fields of other types", "UPDATE blobs SET data = CAST(x'0901020304050607080d01020304' || data AS BLOB) WHERE " + root, 8, ""},
		{"no list", "DELETE FROM blobs WHERE " + root, 0, "the list of its messages, blob "},
	} {
		list, problems := databaseProblems(t, cursorFormat, databaseOf(t, "cursor/store.sql", c.change))
		n := 0
		for _, tr := range list {
			n += len(tr.Messages)
		}
		if n != c.messages {
			t.Errorf("%s: %d messages", c.what, n)
		}
		if (len(problems) > 0) != (c.problem != "") || c.problem != "" && !strings.Contains(problems[0].What, c.problem) {
			t.Errorf("%s: %v", c.what, problems)
		}
	}
	for what, change := range map[string]string{"a description that is not hexadecimal": "'x'", "a description that is not JSON": "hex('{')", "another program's": "hex('{}')"} {
		path := databaseOf(t, "cursor/store.sql", "UPDATE meta SET value = "+change)
		if _, _, err := cursorFormat.ReadAll(bytes.NewReader(readFile(t, path))); err != errForeign {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// databaseProblems is [readDatabase] for a database that may have no conversation.
func databaseProblems(t *testing.T, f *Format, path string) ([]*transcript.Transcript, []transcript.Problem) {
	t.Helper()
	list, problems, err := f.ReadAll(bytes.NewReader(readFile(t, path)))
	if err != nil && err != ErrNothing {
		t.Fatal(err)
	}
	return list, problems
}

// TestCursorTranscript: the transcripts of an agent have the written-down trees, and times where the user
// said something.
func TestCursorTranscript(t *testing.T) {
	for name, want := range map[string]string{
		"agent": ` ""   -62135596800000 anonymous false side false by ""
0<- user 1: text "Which birds?"
1<0 assistant 1: text "I look." tool-call 939bdd82-8ad6-8f05-9c8b-7b07f79beeb6 Read {"path":"list.md"}
2<1 assistant 1: tool-call 6fad921c-65c4-8e01-8325-149591caf245 ApplyPatch *** Begin Patch
*** End Patch data
3<2 assistant 1: text "A wren."
4<3 user 2: text "And mammals?"
5<4* assistant 2: tool-call a1242dea-256c-8c25-b452-ee84cc6570d6 Subagent {"prompt":"Look for voles"}
`,
		"subagent": ` ""   -62135596800000 anonymous false side false by ""
0<- user 1: text "Look for voles"
1<0* assistant 2: text "Voles."
`,
	} {
		list, problems, err := cursorFormat.ReadAll(bytes.NewReader(readFile(t, "testdata/cursor/"+name+".jsonl")))
		if got := cursorDrawn(list); got != want || len(problems) > 0 || err != nil {
			t.Errorf("%s: %v, %v\n%s\nwant\n%s", name, problems, err, got, want)
		}
	}
	for text, want := range map[string]string{
		"Tuesday, Jun 2, 2026, 11:20 AM (UTC+5:30)":   "2026-06-02T05:50:00Z",
		"Tuesday, Jun 2, 2026, 11:20 PM (UTC-4)":      "2026-06-03T03:20:00Z",
		"Tuesday, Jun 2, 2026, 11:20 PM (UTC-3:30)":   "2026-06-03T02:50:00Z",
		"Tuesday, Jun 2, 2026, 11:20 AM (UTC)":        "2026-06-02T11:20:00Z",
		"Tuesday, Jun 2, 2026, 11:20 AM":              "0001-01-01T00:00:00Z",
		"Tuesday, Jun 2, 2026, 11:20 AM (UTC+99)":     "0001-01-01T00:00:00Z",
		"Dienstag, 2. Juni 2026, 11:20 (UTC+2)":       "0001-01-01T00:00:00Z",
		"Tuesday, Jun 2, 2026, 11:20 AM (UTC+1:x)":    "2026-06-02T10:20:00Z",
		"Tuesday, Jun 2, 2026, 11:20 AM (UTC+1) <b>x": "2026-06-02T10:20:00Z",
	} {
		record := `{"role":"user","message":{"content":"<timestamp>` + text + `</timestamp><user_query>x</user_query>"}}`
		list, _, err := cursorFormat.ReadAll(strings.NewReader(record))
		if err != nil || list[0].Messages[0].Time.UTC().Format(time.RFC3339) != want || list[0].Anonymous != (want[:4] == "0001") {
			t.Errorf("%s: %v, %v, want %s", text, list[0].Messages[0].Time, err, want)
		}
	}
}

// TestCursorTranscriptDamage: damaged records are problems with their line, and the rest is read.
func TestCursorTranscriptDamage(t *testing.T) {
	const user, assistant = `{"role":"user","message":{"content":[{"type":"text","text":"Hi"}]}}`, `{"role":"assistant","message":{"content":[{"type":"text","text":"Yes"}]}}`
	for _, c := range []struct {
		what, text string
		messages   int
		problem    string
	}{
		{"a truncated record", user + "\n" + assistant[:40], 1, "2"},
		{"a line that is not an object", user + "\n[1]\n" + assistant, 2, "2"},
		{"values of wrong types", user + `
{"role":7,"message":3}
{"role":"assistant","message":{"content":{"a":1}}}
{"role":"assistant","message":{"content":[1,null,{"type":7},{"type":"tool_use","input":[]}]}}
` + assistant, 4, ""},
		{"the same record twice", user + "\n" + assistant + "\n" + user + "\n" + assistant, 4, ""},
		{"deep JSON", user + "\n" + `{"role":"assistant","message":{"content":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}}\n" + assistant, 2, "2"},
	} {
		list, problems, err := cursorFormat.ReadAll(strings.NewReader(c.text))
		if err != nil || len(list) != 1 || len(list[0].Messages) != c.messages {
			t.Errorf("%s: %v\n%s", c.what, err, cursorDrawn(list))
		}
		if (len(problems) > 0) != (c.problem != "") || c.problem != "" && !strings.Contains(fmt.Sprintf("%+v", problems[0]), c.problem) {
			t.Errorf("%s: %+v", c.what, problems)
		}
	}
}
