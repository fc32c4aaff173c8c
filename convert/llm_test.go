package convert

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testdatabase"
)

// llmDrawn returns all that a database has: each conversation with its tree.
func llmDrawn(list []*transcript.Transcript) string {
	var b strings.Builder
	for _, tr := range list {
		fork := ""
		if tr.Fork != nil {
			fork = " fork of " + tr.Fork.ID
		}
		fmt.Fprintf(&b, "%s %q %s %s %d%s\n%s", tr.ID, tr.Title, tr.Model, tr.Created.Format(time.RFC3339), len(tr.Records), fork, drawn(tr))
	}
	return b.String()
}

// TestLLMDatabase: the conversations of both layouts have the written-down trees. An answer that
// both have is one message.
func TestLLMDatabase(t *testing.T) {
	for name, want := range map[string]string{
		"responses": `01jxa0000000000000000000aa "Which birds sing at night?" gpt-4o-mini 2025-06-10T08:00:00Z 1
0<- user 1: text "Be brief."
1<0 user 0: text "Which birds sing at night?"
2<1 assistant 0: text "Nightingales."
3<2 user 1: text "What time is it?"
4<3 assistant 0: thinking "A tool knows." tool-call call_1 clock {"zone":"UTC"} tool-call call_2 sun {}
5<4 user 1: tool-result call_1 clock "8:01" image tool-result call_2 sun failed "Error: no sun"
6<5* assistant 0: text "It is 8:01."
01jxb0000000000000000000bb "See these" gpt-4o-mini 2025-06-11T08:00:00Z 1
0<- user 1: text "Name the bird."
1<0 user 0: text "A long text about wrens.\nSee these" image audio wren song.mp3 file
2<1* assistant 0: text "A wren."
01jxc0000000000000000000c1 "" old 2025-06-12T08:00:00Z 0
0<- user 1: text "Alone?"
1<0* assistant 0: text "Yes."
`,
		"threads": `01jxa0000000000000000000aa "Which birds sing at night?" gpt-5-1 2026-07-10T08:00:00Z 2
0<- user 1: text "Which birds sing at night?"
1<0 assistant 2: text "Nightingales."
2<1 user 1: text "And at noon?"
3<2* assistant 2: text "None."
01jxb0000000000000000000bb "Which bird?" gpt-5 2026-08-11T08:00:00Z 1
0<- user 1: text "Be brief."
1<0 user 1: text "A long text about wrens.\nWhich bird?" image
2<1 assistant 1: thinking "A tool knows." tool-call ws_1 search {"q":"wren"}
3<2 user 0: tool-result ws_1 search "Found it"
4<3 assistant 1: text "I look." tool-call call_1 look {"at":"a1"}
5<4 user 1: tool-result call_1 look failed "Error: dark" image
6<5 assistant 2: text "A wren."
7<4 user 1: text "Stop."
8<7* assistant 2: text "Stopped."
01jxc0000000000000000000cc ""  0001-01-01T00:00:00Z 1 fork of 01jxb0000000000000000000bb
0<- user 1: text "Be brief."
1<0 user 1: text "A long text about wrens.\nWhich bird?" image
2<1 assistant 1: thinking "A tool knows." tool-call ws_1 search {"q":"wren"}
3<2 user 0: tool-result ws_1 search "Found it"
4<3 assistant 0: text "I look." tool-call call_1 look {"at":"a1"}
5<4 user 1: tool-result call_1 look failed "Error: dark" image
6<5* assistant 1: text "A wren."
`,
	} {
		path := databaseOf(t, "llm/"+name+".sql")
		list, problems := readDatabase(t, llmFormat, path)
		if got := llmDrawn(list); got != want || len(problems) > 0 {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, problems, got, want)
		}
		for _, tr := range list {
			tryWriters(t, path, tr)
		}
		db, err := OpenDatabase(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if db.Format() != llmFormat {
			t.Errorf("%s: the format is %v", name, db.Format())
		}
		db.Close()
	}
}

// TestLLMUpdated: conversations that an update of llm continues keep their titles and messages, with
// attachments and failures, which the thread does not have. What a tool returned is not repeated as a
// prompt. The program wrote the database.
func TestLLMUpdated(t *testing.T) {
	const want = `01m8kqn6jppd6whmzf6evnn9w6 "Which birds sing?" echo-2026 2026-11-29T13:24:36Z 2
0<- user 1: text "Which birds sing?"
1<0 assistant 2: text "Echo of Which birds sing?"
2<1 user 1: text "And at noon?"
3<2 assistant 2: text "Echo of And at noon?"
4<3 user 1: text "After the update, birds"
5<4* assistant 2: text "Echo of After the update, birds"
01m8kqn9g8ep71awj49hbj64vx "A long text about wrens. It has…" echo-2026 2026-11-29T13:24:39Z 2
0<- user 1: text "Be brief."
1<0 user 1: text "A long text about wrens.\nIt has two lines.\n\nWhich bird? use picture" image
2<1 assistant 2: text "I look." tool-call call_0 look {"at":"tree"} tool-call call_1 look {"at":"dark"} tool-call call_9 picture {}
3<2 user 1: tool-result call_0 look "I see tree" tool-result call_1 look failed "Error: it is dark" tool-result call_9 picture "Here it is" image
4<3 assistant 2: text "Found: I see tree; Error: it is dark; Here it is"
5<4 user 1: text "And then?"
6<5 assistant 2: text "Echo of And then?"
7<6 user 1: text "After the update"
8<7* assistant 2: text "Echo of After the update"
01m8kqnf17mdqan182z5fe7qhm "A long text about wrens. It has…" echo-2026 2026-11-29T13:24:44Z 1
0<- user 1: text "Be brief."
1<0 user 1: text "A long text about wrens.\nIt has two lines.\n\nWhich fish? think use picture" image
2<1 assistant 2: thinking "A tool knows." text "I look." tool-call call_0 look {"at":"tree"} tool-call call_1 look {"at":"dark"} tool-call call_9 picture {}
3<2 user 1: tool-result call_0 look "I see tree" tool-result call_1 look failed "Error: it is dark" tool-result call_9 picture "Here it is"
4<3 user 1: image
5<4 assistant 2: text "Found: I see tree; Error: it is dark; Here it is"
6<5 user 1: text "server think: And then?"
7<6 assistant 1: thinking "A tool knows." text "I search." tool-call ws_1 search {"q":"wren"}
8<7 user 0: tool-result ws_1 search "Found it"
9<8* assistant 1: text "Echo of server think: And then?"
01m8kqngqn4w149y2hpnneqs8d "Forked" echo-2026 2026-11-29T13:24:47Z 1 fork of 01m8kqnf17mdqan182z5fe7qhm
0<- user 1: text "Be brief."
1<0 user 1: text "A long text about wrens.\nIt has two lines.\n\nWhich fish? think use picture" image
2<1 assistant 1: thinking "A tool knows." text "I look." tool-call call_0 look {"at":"tree"} tool-call call_1 look {"at":"dark"} tool-call call_9 picture {}
3<2 user 1: text "And in winter?"
4<3* assistant 2: text "Echo of "
`
	list, problems := readDatabase(t, llmFormat, databaseOf(t, "llm/updated.sql"))
	if got := llmDrawn(list); got != want || len(problems) > 0 {
		t.Errorf("%v\n%s\nwant\n%s", problems, got, want)
	}
	before, _ := readDatabase(t, llmFormat, databaseOf(t, "llm/updated.sql",
		"DELETE FROM turn_tools", "DELETE FROM turn_fragments", "DELETE FROM turns", "DELETE FROM threads", "DELETE FROM part_fragments",
		"DELETE FROM part_attachments", "DELETE FROM parts", "DELETE FROM messages"))
	if len(before) != 2 {
		t.Fatalf("%d conversations before the update", len(before))
	}
	for i, was := range before {
		if is := list[i]; is.ID != was.ID || is.Title != was.Title {
			t.Errorf("%s %q was %s %q", is.ID, is.Title, was.ID, was.Title)
		}
		for k, m := range was.Messages {
			if is := list[i].Messages[k]; is.ID != m.ID || is.Parent != m.Parent || said(is) != said(m) {
				t.Errorf("message %d of %s was\n%s%s\nis\n%s%s", k, was.ID, m.ID, said(m), is.ID, said(is))
			}
		}
	}
}

// TestLLMLogs: the conversations of the first versions have the written-down trees, and updates of the
// program keep their ids.
func TestLLMLogs(t *testing.T) {
	const first = `"" gpt-3.5-turbo 2023-05-20T09:00:00Z 0
0<- user 1: text "Name a bird."
1<0* assistant 0: text "A wren."
"" gpt-3.5-turbo 2023-05-20T09:05:00Z 0
0<- user 1: text "Be brief."
1<0 user 0: text "And a fish?"
2<1* assistant 0: text "A carp."
`
	const later = `"" gpt-3.5-turbo 2023-06-20T08:00:00Z 0
0<- user 1: text "Be brief."
1<0 user 0: text "Which birds sing at night?"
2<1 assistant 0: text "Nightingales."
3<2 user 1: text "And at noon?"
4<3 assistant 0: text "None."
5<4 user 1: text "Be kind."
6<5 user 0: text "Thanks."
7<6* assistant 0: text "You are welcome."
"" gpt-4 2023-06-20T08:10:00Z 0
0<- user 1: text "Which tree is tall?"
1<0* assistant 0: text "A redwood."
`
	same := map[string][]*transcript.Transcript{}
	for _, c := range []struct{ name, want, record string }{
		{"log03", first, `{"log":{"provider":"chatgpt","model":"gpt-3.5-turbo","timestamp":"2023-05-20 09:00:00.000123","prompt":"Name a bird.","response":"A wren."}}`},
		{"log04", first + later, `{"log":{"id":1,"model":"gpt-3.5-turbo","timestamp":"2023-05-20 09:00:00.000123","prompt":"Name a bird.","response":"A wren."}}`},
		{"logs", first + later, `{"log":{"id":1,"model":"gpt-3.5-turbo","prompt":"Name a bird.","response":"A wren.","datetime_utc":"2023-05-20 09:00:00.000123"}}`},
	} {
		path := databaseOf(t, "llm/"+c.name+".sql")
		list, problems := readDatabase(t, llmFormat, path)
		same[c.name] = list
		got := llmDrawn(list)
		for _, tr := range list {
			got = strings.Replace(got, tr.ID+" ", "", 1)
			tryWriters(t, path, tr)
		}
		if got != c.want || len(problems) > 0 {
			t.Fatalf("%s: %v\n%s\nwant\n%s", c.name, problems, got, c.want)
		}
		if got := string(list[0].Messages[0].Records[0]); got != c.record {
			t.Errorf("%s: the record is %s, want %s", c.name, got, c.record)
		}
		if m := list[0].Messages[0]; !m.Time.Equal(time.Date(2023, 5, 20, 9, 0, 0, 123000, time.UTC)) {
			t.Errorf("%s: the first message is of %s", c.name, m.Time)
		}
		db, err := OpenDatabase(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if db.Format() != llmFormat {
			t.Errorf("%s: the format is %v", c.name, db.Format())
		}
		db.Close()
	}
	for name, list := range same {
		for i, tr := range list {
			for k, m := range tr.Messages {
				if is := same["logs"][i]; is.ID != tr.ID || is.Messages[k].ID != m.ID {
					t.Errorf("%s: the message %d of %s is %s, later %s", name, k, tr.ID, m.ID, is.Messages[k].ID)
				}
			}
		}
	}
}

// TestLLMDatabaseContent: files are in their parts, and a record has the rows of a message.
func TestLLMDatabaseContent(t *testing.T) {
	list, _ := readDatabase(t, llmFormat, databaseOf(t, "llm/responses.sql"))
	var files []string
	for _, p := range list[1].Messages[1].Parts[1:] {
		mime, data, url := p.File()
		files = append(files, p.Type+" "+mime+" "+data+" "+url)
	}
	if want := []string{"image image/png iVBORw0KGgo= ", "audio   file:///home/dev/wren%20song.mp3", "file   https://birds.example/a.pdf"}; !reflect.DeepEqual(files, want) {
		t.Errorf("the files are %q, want %q", files, want)
	}
	answer := list[0].Messages[2]
	if answer.ID != "01jxa0000000000000000000a1" || answer.Model != "gpt-4o-mini-2024-07-18" || !answer.Time.Equal(time.Date(2025, 6, 10, 8, 0, 0, 1000, time.UTC)) {
		t.Errorf("the answer is %s of %s at %s", answer.ID, answer.Model, answer.Time)
	}
	if m := list[0].Messages[0]; m.Own.Role != "system" {
		t.Errorf("the first message has the role %q", m.Own.Role)
	}
	want := `{"response":{"id":"01jxa0000000000000000000a2","model":"gpt-4o-mini","prompt":"What time is it?","system":"Be brief.","options_json":{},"response":"","reasoning":"A tool knows.","conversation_id":"01jxa0000000000000000000aa","duration_ms":500,"datetime_utc":"2025-06-10T08:01:00+00:00"},` +
		`"tool_calls":[{"id":1,"response_id":"01jxa0000000000000000000a2","tool_id":1,"name":"clock","arguments":{"zone": "UTC"},"tool_call_id":"call_1"},{"id":2,"response_id":"01jxa0000000000000000000a2","tool_id":1,"name":"sun","arguments":{},"tool_call_id":"call_2"}]}`
	if got := string(list[0].Messages[3].Records[0]); got != want {
		t.Errorf("the record is\n%s\nwant\n%s", got, want)
	}
}

// TestLLMDatabaseGrows: an update of the program, later turns, and a fork keep the ids of messages, and
// conversations that begin with the same words do not share them.
func TestLLMDatabaseGrows(t *testing.T) {
	ids := func(tr *transcript.Transcript) (list []string) {
		for _, m := range tr.Messages {
			list = append(list, m.ID)
		}
		return list
	}
	const newer = "DELETE FROM turns; DELETE FROM threads;"
	before, _ := readDatabase(t, llmFormat, databaseOf(t, "llm/threads.sql", newer))
	after, _ := readDatabase(t, llmFormat, databaseOf(t, "llm/threads.sql"))
	if len(before) != 1 || len(before[0].Messages) != 4 || !reflect.DeepEqual(ids(before[0])[:2], ids(after[0])[:2]) {
		t.Errorf("before the update %q, after it %q", ids(before[0]), ids(after[0]))
	}
	if !reflect.DeepEqual(ids(after[1])[:7], ids(after[2])) {
		t.Errorf("the fork has other ids: %q, %q", ids(after[1]), ids(after[2]))
	}
	more, _ := readDatabase(t, llmFormat, databaseOf(t, "llm/threads.sql", `INSERT INTO threads SELECT 'other', name, tip_message_hash, NULL, NULL FROM threads WHERE id = '01jxb0000000000000000000bb';
		INSERT INTO responses(id, prompt, response, conversation_id) VALUES('01jxa0000000000000000000a3', 'At dusk?', 'Some.', '01jxa0000000000000000000aa')`))
	if want := after[1].Messages[0].ID; more[3].ID != "other" || more[3].Messages[0].ID == want {
		t.Errorf("another conversation has the same id %s", want)
	}
	// a response that the thread does not have follows the last one that it has
	if got := drawn(more[0]); !strings.Contains(got, "4<1 user 1: text \"At dusk?\"\n5<4 assistant 0: text \"Some.\"\n") {
		t.Error(got)
	}
}

// TestLLMDatabaseDamage: what cannot be read is a problem that names the place, and the rest is
// read.
func TestLLMDatabaseDamage(t *testing.T) {
	const aa, bb, cc = "01jxa0000000000000000000aa", "01jxb0000000000000000000bb", "01jxc0000000000000000000cc"
	for _, c := range []struct {
		file, what, change string
		messages           []int // of each conversation
		problem            string
	}{
		{"responses", "a missing attachment", "DELETE FROM attachments WHERE id = 'a2'", []int{7, 3, 2}, "response 01jxb0000000000000000000b1: the attachment a2 is missing"},
		{"responses", "ids that are no text", "INSERT INTO responses(id, prompt, response, conversation_id) VALUES (NULL, 'a', 'b', '" + aa + "'), (x'6162', 'c', 'd', NULL)", []int{7, 3, 2}, "the table responses: number of rows that are skipped because their id is not text: 2"},
		{"threads", "an id that is no text", "INSERT INTO threads(id, name) VALUES (x'6162', 'a')", []int{4, 9, 7}, "the table threads: number of rows that are skipped because their id is not text: 1"},
		{"responses", "a missing fragment", "DELETE FROM fragments WHERE id = 1", []int{7, 3, 2}, "response 01jxb0000000000000000000b1: the fragment 1 is missing"},
		{"responses", "arguments that are not JSON", "UPDATE tool_calls SET arguments = '{'", []int{7, 3, 2}, ""},
		{"responses", "deep JSON", "UPDATE responses SET options_json = replace(hex(zeroblob(50000)), '00', '[') || replace(hex(zeroblob(50000)), '00', ']')", []int{7, 3, 2}, ""},
		{"responses", "values of wrong types", "UPDATE responses SET prompt = x'ff', model = 7, datetime_utc = 1.5, reasoning = 9e999; UPDATE attachments SET content = 'text', type = 5", []int{8, 3, 2}, ""},
		{"responses", "no tables of tools and files", "DROP TABLE tool_calls; DROP TABLE tool_results; DROP TABLE attachments; DROP TABLE prompt_attachments; DROP TABLE fragments; DROP TABLE prompt_fragments; DROP TABLE system_fragments; DROP TABLE schemas", []int{6, 2, 2}, ""},
		{"responses", "without the columns of newer versions", "ALTER TABLE responses DROP COLUMN reasoning; ALTER TABLE responses DROP COLUMN resolved_model; ALTER TABLE responses DROP COLUMN token_details", []int{7, 3, 2}, ""},
		{"responses", "with columns of a version to come", "ALTER TABLE responses ADD COLUMN mood TEXT", []int{7, 3, 2}, ""},
		{"responses", "without the rows of conversations", "DELETE FROM conversations", []int{7, 3, 2}, ""},
		{"responses", "with conversations of the first versions", "CREATE TABLE logs(id INTEGER PRIMARY KEY, model, prompt, system, response, datetime_utc, chat_id); INSERT INTO logs(id, prompt, response) VALUES(1, 'a', 'b')", []int{2, 7, 3, 2}, ""},
		{"responses", "with a table of another program", "CREATE TABLE logs(id INTEGER PRIMARY KEY, prompt TEXT, response TEXT); INSERT INTO logs VALUES(1, 'a', 'b')", []int{7, 3, 2}, ""},
		{"logs", "values of wrong types", "UPDATE logs SET prompt = x'ff', response = 7, datetime_utc = 9e999, chat_id = 'x' WHERE id = 5", []int{2, 3, 6, 2, 3}, ""},
		{"logs", "a chat without its first row", "DELETE FROM logs WHERE id = 3", []int{2, 3, 2, 6}, ""},
		{"logs", "a chat in itself", "UPDATE logs SET chat_id = 3 WHERE id = 3", []int{2, 3, 8, 2}, ""},
		{"log04", "without the columns of newer versions", "ALTER TABLE log DROP COLUMN debug; ALTER TABLE log DROP COLUMN duration_ms", []int{2, 3, 8, 2}, ""},
		{"threads", "a missing message", "DELETE FROM messages WHERE hash = 'b2:b1'", []int{4, 7, 5}, "thread " + bb + ": the message b2:b1 is missing"},
		{"threads", "a missing tip", "DELETE FROM messages WHERE hash = 'b2:b6'", []int{4, 8, 7}, "thread " + bb + ": the message b2:b6 is missing"},
		{"threads", "a cycle", "UPDATE messages SET parent_hash = 'b2:a4' WHERE hash = 'b2:a1'", []int{4, 9, 7}, "is in a cycle"},
		{"threads", "forks in a circle", "UPDATE threads SET forked_from = '" + cc + "' WHERE id = '" + bb + "'", []int{4, 9, 7}, ""},
		{"threads", "a payload that is not JSON", "UPDATE parts SET payload = '{' WHERE message_hash = 'b2:b3'", []int{4, 9, 7}, "thread " + bb + ", message b2:b3, part 1: the payload is not an object"},
		{"threads", "a deep payload", "UPDATE parts SET payload = '{\"a\":' || replace(hex(zeroblob(50000)), '00', '[') || replace(hex(zeroblob(50000)), '00', ']') || '}' WHERE message_hash = 'b2:b3'", []int{4, 9, 7}, "message b2:b3, part 1"},
		{"threads", "a part of another kind", "UPDATE parts SET type = 'dance' WHERE message_hash = 'b2:b4'", []int{4, 9, 7}, ""},
		{"threads", "a message without parts", "DELETE FROM parts WHERE message_hash = 'b2:b4'", []int{4, 9, 7}, ""},
		{"threads", "without the older tables", "PRAGMA foreign_keys=0; DROP TABLE responses; DROP TABLE conversations", []int{4, 9, 7}, ""},
		{"threads", "without the newer tables", "PRAGMA foreign_keys=0; DROP TABLE turns; DROP TABLE threads", []int{4}, ""},
		{"threads", "a thread without messages", "INSERT INTO threads(id) VALUES('" + aa + "0')", []int{4, 9, 7}, ""},
	} {
		path := databaseOf(t, "llm/"+c.file+".sql", c.change)
		got, problems := readDatabase(t, llmFormat, path)
		var messages []int
		for _, tr := range got {
			messages = append(messages, len(tr.Messages))
		}
		if !reflect.DeepEqual(messages, c.messages) {
			t.Errorf("%s: conversations with %v messages", c.what, messages)
		}
		if (len(problems) > 0) != (c.problem != "") || len(problems) > 0 && !strings.Contains(problems[0].What, c.problem) {
			t.Errorf("%s: %v", c.what, problems)
		}
	}
	for _, name := range []string{"responses", "threads"} {
		data := readFile(t, databaseOf(t, "llm/"+name+".sql"))
		got, problems, err := llmFormat.ReadAll(strings.NewReader(string(data[:len(data)-4096])))
		if err != nil || len(got) == 0 || len(problems) == 0 || !strings.Contains(problems[0].What, "truncated") {
			t.Errorf("%s without its last page: %d conversations, %v, %v", name, len(got), problems, err)
		}
	}
	if _, _, err := llmFormat.ReadAll(strings.NewReader(string(readFile(t, testdatabase.Make(t, "CREATE TABLE messages(hash, role); CREATE TABLE responses(id)"))))); err != errForeign {
		t.Errorf("a database of another program: %v", err)
	}
}

// TestLLMHome: the database is where the program keeps it.
func TestLLMHome(t *testing.T) {
	for _, c := range []struct{ os, name, value, want string }{
		{"linux", "", "", "/home/dev/.config/io.datasette.llm"},
		{"linux", "XDG_CONFIG_HOME", "/config", "/config/io.datasette.llm"},
		{"darwin", "XDG_CONFIG_HOME", "/config", "/home/dev/Library/Application Support/io.datasette.llm"},
		{"windows", "APPDATA", "/roaming", "/roaming/io.datasette.llm"},
		{"windows", "", "", "/home/dev/io.datasette.llm"},
		{"windows", "LLM_USER_PATH", "/llm", "/llm"},
	} {
		m := transcript.Machine{Home: "/home/dev", OS: c.os, Env: func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		}}
		if got, want := llmFormat.Roots(m), []string{c.want, "/home/dev/.llm"}; !reflect.DeepEqual(got, want) {
			t.Errorf("on %s with %s: %q, want %q", c.os, c.name, got, want)
		}
	}
	if !llmFormat.Holds("logs.db") || !llmFormat.Holds("log.db") || llmFormat.Holds("embeddings.db") || llmFormat.Holds("templates/logs.db") {
		t.Error("the database is not recognized by its name")
	}
}
