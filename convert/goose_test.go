package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testdatabase"
)

// gooseDrawn returns all that a database has: each session with its tree.
func gooseDrawn(list []*transcript.Transcript) string {
	var b strings.Builder
	for _, tr := range list {
		fmt.Fprintf(&b, "%s %q %s %s %s %d", tr.ID, tr.Title, tr.Dir, tr.Model, tr.Created.Format(time.RFC3339), len(tr.Records))
		if tr.Side {
			fmt.Fprintf(&b, " begun by %s", tr.BegunBy)
		}
		for _, id := range slices.Sorted(maps.Keys(tr.Began)) {
			fmt.Fprintf(&b, " began %s by %s", id, tr.Began[id])
		}
		b.WriteString("\n" + drawn(tr))
	}
	return b.String()
}

// gooseBirds is the tree of the session that is in the database and in an export.
const gooseBirds = `0<- user 1: text "Which birds sing at night?" image file birds.pdf
1<0 assistant 1: thinking "A tool knows." redacted_thinking text "I look." tool-call toolu_1 developer__shell {"command":"ls birds"} tool-call toolu_2 memory__get {}
2<1 user 2: tool-result toolu_1 developer__shell "nightingale.txt\n# Night" image data tool-result toolu_2 memory__get failed "-32603: no memory"
3<2 assistant 1: text "Nightingales."
4<3 user 2: text "And at noon?"
5<4 usercompaction 2: text "The user asked about birds that sing at night: nightingales."
6<5 user 2: text "And at noon?"
7<6 assistant 1: tool-call toolu_4 delegate {"instructions":"Find birds of noon."}
8<7 user 1: tool-result toolu_4 delegate "Scheduled the subagent 20261001_2."
9<8 user 1: text "Subagent 20261001_2 completed: Larks."
10<9 assistant 1: text "Larks"
11<10 assistant 1: text " sing at noon."
12<11* assistant 1: data "Ran into this error: the network is down."
`

// TestGooseDatabase: the sessions have the written-down trees, and the records and ids that an
// export has.
func TestGooseDatabase(t *testing.T) {
	path := databaseOf(t, "goose/sessions.sql")
	list, problems := readDatabase(t, gooseFormat, path)
	const want = `20250701_090000@2025-07-01T09:00:00Z "Name a bird" /home/dev/birds  2025-07-01T09:00:00Z 1
0<- user 1: text "Name a bird."
1<0 assistant 1: tool-call call_1 random {"of":"birds"}
2<1 user 1: tool-result call_1 random "wren"
3<2* assistant 1: text "A wren."
20261001_1@2026-10-01T07:59:58Z "Birds of the night" /home/dev/birds claude-sonnet-4-5 2026-10-01T07:59:58Z 1 began 20261001_2@2026-10-01T08:01:43Z by toolu_4
` + gooseBirds + `20261001_2@2026-10-01T08:01:43Z "Delegated task" /home/dev/birds claude-haiku-4-5 2026-10-01T08:01:43Z 1 begun by 20261001_1@2026-10-01T07:59:58Z
0<- user 1: text "Find birds of noon."
1<0 assistant 1: thinking "Larks, I think." data
2<1 user 1: tool-result toolu_5 failed "-32602: the arguments are not JSON" data
3<2* assistant 1: text "Larks."
`
	if got := gooseDrawn(list); got != want || len(problems) > 0 {
		t.Fatalf("%v\n%s\nwant\n%s", problems, got, want)
	}
	for _, tr := range list {
		tryWriters(t, path, tr)
	}
	exported, problems, err := gooseFormat.ReadAll(bytes.NewReader(readFile(t, "testdata/goose/export.json")))
	if err != nil || len(problems) > 0 || len(exported) != 1 {
		t.Fatal(len(exported), problems, err)
	}
	for i, m := range exported[0].Messages {
		is := list[1].Messages[i]
		for n, r := range m.Records {
			var b bytes.Buffer
			if err := json.Compact(&b, r); err != nil {
				t.Fatal(err)
			}
			m.Records[n] = b.Bytes()
		}
		if !reflect.DeepEqual(m, is) {
			t.Errorf("message %d is\n%+v\nin an export\n%+v", i, is, m)
		}
	}
	answer := list[1].Messages[3]
	if answer.ID != "msg_a5" || answer.Model != "claude-sonnet-4-5-20250929" || !answer.Time.Equal(time.Unix(1790841603, 0)) {
		t.Errorf("the answer is %s of %s at %s", answer.ID, answer.Model, answer.Time)
	}
	if got := list[2].Messages[2].Time; !got.Equal(time.Unix(1790841706, 0)) {
		t.Errorf("milliseconds are %s", got)
	}
	const record = `{"id":"20261001_2","working_dir":"/home/dev/birds","name":"Delegated task","description":"","user_set_name":false,"session_type":"sub_agent","created_at":"2026-10-01 08:01:43","updated_at":"2026-10-01 08:01:50","extension_data":{},"model_config":{"model_name":"claude-haiku-4-5"},"goose_mode":"auto","parent_session_id":"20261001_1","parent_delegation":{"execution_mode":"foreground","parent_delegate_message_id":"msg_a11","result_delivered_to_parent":true}}`
	if got := string(list[2].Records[0]); got != record {
		t.Errorf("the record of the session is\n%s\nwant\n%s", got, record)
	}
	db, err := OpenDatabase(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if db.Format() != gooseFormat {
		t.Errorf("the format is %v", db.Format())
	}
}

// TestGooseUpdate: the messages of a file have the ids that they have in the database after an update
// of goose, in versions whose messages have no ids, and with ids that an update derived.
func TestGooseUpdate(t *testing.T) {
	ids := func(tr *transcript.Transcript) (list []string) {
		for _, m := range tr.Messages {
			list = append(list, m.ID)
		}
		return list
	}
	file, _, err := gooseFormat.ReadAll(bytes.NewReader(readFile(t, "testdata/goose/session.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	now, _ := readDatabase(t, gooseFormat, databaseOf(t, "goose/sessions.sql"))
	before, _ := readDatabase(t, gooseFormat, databaseOf(t, "goose/sessions.sql", "ALTER TABLE messages DROP COLUMN message_id"))
	derived, _ := readDatabase(t, gooseFormat, databaseOf(t, "goose/sessions.sql", "UPDATE messages SET message_id = 'msg_' || session_id || '_' || id"))
	if got, want := ids(now[0]), ids(file[0]); !reflect.DeepEqual(got, want) {
		t.Errorf("in the database %q, in the file %q", got, want)
	}
	for i := range before {
		if got, want := ids(derived[i]), ids(before[i]); !reflect.DeepEqual(got, want) {
			t.Errorf("after an update %q, before it %q", got, want)
		}
	}
	if ids(before[1])[4] == ids(now[1])[4] || ids(now[1])[6] != "msg_20261001_1_77aa" {
		t.Errorf("the ids of messages are not used: %q", ids(now[1]))
	}
}

// TestGooseOlderSchemas: a database of any version has the same conversations.
func TestGooseOlderSchemas(t *testing.T) {
	want, _ := readDatabase(t, gooseFormat, databaseOf(t, "goose/sessions.sql"))
	drop := ""
	for _, c := range []string{"parent_delegation", "parent_session_id", "project_id", "archived_at", "accumulated_cost", "goose_mode", "model_config_json", "provider_name", "session_type", "user_set_name"} {
		drop += "ALTER TABLE sessions DROP COLUMN " + c + ";"
	}
	got, problems := readDatabase(t, gooseFormat, databaseOf(t, "goose/sessions.sql", drop+"UPDATE sessions SET description = name; ALTER TABLE sessions DROP COLUMN name; ALTER TABLE messages DROP COLUMN tokens"))
	if len(got) != len(want) || len(problems) > 0 {
		t.Fatal(len(got), problems)
	}
	for i := range got {
		if drawn(got[i]) != drawn(want[i]) || got[i].Title != want[i].Title || got[i].Side {
			t.Errorf("%q, side %v:\n%s\nwant\n%s", got[i].Title, got[i].Side, drawn(got[i]), drawn(want[i]))
		}
	}
}

// TestGooseDamage: what cannot be read is a problem that names the place, and the rest is read.
func TestGooseDamage(t *testing.T) {
	for _, c := range []struct {
		what, change string
		messages     []int // of each session
		problem      string
	}{
		{"content that is not JSON", "UPDATE messages SET content_json = '[' WHERE message_id = 'msg_a5'", []int{4, 12, 4}, "session 20261001_1, message 5: the content"},
		{"content that is not a list", "UPDATE messages SET content_json = '{}' WHERE message_id = 'msg_a5'", []int{4, 12, 4}, "session 20261001_1, message 5: the content"},
		{"blocks of wrong types", "UPDATE messages SET content_json = '[1,null,\"a\",{\"type\":7},{\"type\":\"toolRequest\"},{\"type\":\"toolResponse\",\"toolResult\":[]}]' WHERE message_id = 'msg_a5'", []int{4, 13, 4}, ""},
		{"values of wrong types", "UPDATE messages SET created_timestamp = 'now', metadata_json = '7', message_id = x'ff' WHERE message_id = 'msg_a5'; UPDATE sessions SET model_config_json = 1, accumulated_cost = 9e999, created_at = x'00'", []int{4, 13, 4}, ""},
		{"a role of another version", "UPDATE messages SET role = 'system' WHERE message_id = 'msg_a5'", []int{4, 12, 4}, ""},
		{"deep JSON", "UPDATE messages SET content_json = replace(hex(zeroblob(50000)), '00', '[') || replace(hex(zeroblob(50000)), '00', ']') WHERE message_id = 'msg_a5'", []int{4, 12, 4}, "message 5"},
		{"a session without its row", "DELETE FROM sessions WHERE id = '20261001_1'", []int{4, 4, 13}, ""},
		{"ids that are bytes", "UPDATE sessions SET id = CAST(id AS BLOB); UPDATE messages SET session_id = CAST(session_id AS BLOB)", []int{4, 13, 4}, ""},
		{"equal ids", "UPDATE messages SET message_id = 'msg_a1' WHERE session_id = '20261001_1'", []int{4, 13, 4}, ""},
		{"a session that began itself", "UPDATE sessions SET parent_session_id = id", []int{4, 13, 4}, ""},
		{"columns of a version to come", "ALTER TABLE sessions ADD COLUMN mood TEXT; ALTER TABLE messages ADD COLUMN color BLOB", []int{4, 13, 4}, ""},
	} {
		got, problems := readDatabase(t, gooseFormat, databaseOf(t, "goose/sessions.sql", c.change))
		var messages []int
		for _, tr := range got {
			messages = append(messages, len(tr.Messages))
		}
		if !reflect.DeepEqual(messages, c.messages) {
			t.Errorf("%s: sessions with %v messages", c.what, messages)
		}
		if (len(problems) > 0) != (c.problem != "") || len(problems) > 0 && !strings.Contains(problems[0].What, c.problem) {
			t.Errorf("%s: %v", c.what, problems)
		}
	}
	data := readFile(t, databaseOf(t, "goose/sessions.sql"))
	got, problems, err := gooseFormat.ReadAll(bytes.NewReader(data[:len(data)-4096]))
	if err != nil || len(got) == 0 || len(problems) == 0 || !strings.Contains(problems[0].What, "truncated") {
		t.Errorf("without its last page: %d sessions, %v, %v", len(got), problems, err)
	}
	in, err := os.Open(testdatabase.Make(t, "CREATE TABLE sessions(id, working_dir); CREATE TABLE messages(id, session_id, role, content)"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := gooseFormat.Read(in, nil); err != errForeign {
		t.Errorf("a database of another program: %v", err)
	}
}

// TestGooseFiles: damaged files and exports have a problem with the place, and the rest is read.
func TestGooseFiles(t *testing.T) {
	session := string(readFile(t, "testdata/goose/session.jsonl"))
	export := string(readFile(t, "testdata/goose/export.json"))
	first, _, _ := strings.Cut(session, "\n")
	for _, c := range []struct {
		what, in string
		messages int
		title    string
		problem  string
	}{
		{"a torn file", session[:len(session)-30], 3, "Name a bird", "truncated"},
		{"a torn export", export[:strings.Index(export, "Nightingales.")], 3, "Birds of the night", "unexpected end"},
		{"a line that is not JSON", strings.Replace(session, `"created":1751360400`, `"created":`, 1), 3, "Name a bird", "JSON"},
		{"no role", strings.Replace(session, `"role":"user"`, `"role":1`, 1), 3, "Name a bird", "no role"},
		{"content of a wrong type", strings.Replace(session, `[{"type":"text","text":"A wren."}]`, `7`, 1), 3, "Name a bird", "not a list"},
		{"no first line", session[len(first)+1:], 4, "", ""},
		{"the first line twice", first + "\n" + session, 4, "Name a bird", "no role"},
		{"messages without a role in an export", strings.ReplaceAll(export, `"role": "assistant"`, `"role": null`), 7, "Birds of the night", "session 20261001_1, message 2: a message has no role"},
	} {
		list, problems, err := gooseFormat.ReadAll(strings.NewReader(c.in))
		if err != nil || len(list) != 1 || len(list[0].Messages) != c.messages || list[0].Title != c.title {
			t.Errorf("%s: %d conversations, %v: %s", c.what, len(list), err, gooseDrawn(list))
			continue
		}
		if (len(problems) > 0) != (c.problem != "") || len(problems) > 0 && !strings.Contains(problems[0].What, c.problem) {
			t.Errorf("%s: %v", c.what, problems)
		}
	}
	for what, in := range map[string]string{"only the first line": first, "an export without messages": strings.Replace(export[:strings.Index(export, `"conversation"`)]+`"conversation": null}`, "\n", "", 1)} {
		if list, _, err := gooseFormat.ReadAll(strings.NewReader(in)); err != ErrNothing {
			t.Errorf("%s: %d conversations, %v", what, len(list), err)
		}
	}
}

// TestGooseExports: exports that follow each other in a file are all read, and one is the conversation
// that the database has.
func TestGooseExports(t *testing.T) {
	one := string(readFile(t, "testdata/goose/export.json"))
	two := strings.NewReplacer("20261001_1", "20261001_3", "Birds of the night", "Fish", `"id": "msg_`, `"id": "other_`).Replace(one)
	list, problems, err := gooseFormat.ReadAll(strings.NewReader(one + two))
	if err != nil || len(problems) > 0 || len(list) != 2 || list[1].Title != "Fish" || len(list[1].Messages) != 13 {
		t.Fatalf("%v, %v\n%s", problems, err, gooseDrawn(list))
	}
	stored, _ := readDatabase(t, gooseFormat, databaseOf(t, "goose/sessions.sql"))
	if list[0].ID != stored[1].ID || list[0].ID == list[1].ID {
		t.Errorf("the conversations %s and %s, in the database %s", list[0].ID, list[1].ID, stored[1].ID)
	}
}

// TestGooseHome: the database and the files are where the program keeps them.
func TestGooseHome(t *testing.T) {
	for _, c := range []struct{ os, name, value, want string }{
		{"linux", "", "", "/home/dev/.local/share/goose/sessions"},
		{"linux", "XDG_DATA_HOME", "/data", "/data/goose/sessions"},
		{"linux", "XDG_DATA_HOME", "data", "/home/dev/.local/share/goose/sessions"},
		{"darwin", "", "", "/home/dev/.local/share/goose/sessions"},
		{"windows", "APPDATA", "/roaming", "/roaming/Block/goose/data/sessions"},
		{"windows", "", "", "/home/dev/AppData/Roaming/Block/goose/data/sessions"},
		{"windows", "GOOSE_PATH_ROOT", "/goose", "/goose/data/sessions"},
		{"linux", "GOOSE_PATH_ROOT", "goose", "/home/dev/.local/share/goose/sessions"},
	} {
		m := transcript.Machine{Home: "/home/dev", OS: c.os, Env: func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		}}
		if got := gooseFormat.Roots(m); len(got) != 1 || got[0] != c.want {
			t.Errorf("on %s with %s: %q, want %s", c.os, c.name, got, c.want)
		}
	}
	for path, want := range map[string]bool{"sessions.db": true, "20250701_090000.jsonl": true, "backups/sessions.db": false, "sessions.db-wal": false} {
		if got := gooseFormat.Holds(path); got != want {
			t.Errorf("goose has %s: %v", path, got)
		}
	}
}
