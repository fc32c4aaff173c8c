package convert

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testdatabase"
	"github.com/klauspost/compress/zstd"
)

// zedDatabase returns the path of a database of Zed that statements change before its data is
// compressed, and others after that.
func zedDatabase(t *testing.T, before, after string) string {
	t.Helper()
	path := databaseOf(t, "zed/threads.sql", before)
	db := testdatabase.Open(t, path)
	rows, err := db.Query("SELECT id, data FROM threads WHERE id LIKE '%1' OR id LIKE '%2' OR id LIKE '%3'")
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	data := map[string][]byte{}
	for rows.Next() {
		var id string
		var document []byte
		if err := rows.Scan(&id, &document); err != nil {
			t.Fatal(err)
		}
		data[id] = encoder.EncodeAll(document, nil)
	}
	if err := rows.Err(); err != nil || len(data) == 0 {
		t.Fatal(len(data), err)
	}
	for id, compressed := range data {
		if _, err := db.Exec("UPDATE threads SET data_type = 'zstd', data = ? WHERE id = ?", compressed, id); err != nil {
			t.Fatal(err)
		}
	}
	testdatabase.Run(t, db, after)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// zedDrawn returns all that a database has: each conversation with its tree.
func zedDrawn(list []*transcript.Transcript) string {
	var b strings.Builder
	for _, tr := range list {
		created := "?"
		if !tr.Created.IsZero() {
			created = tr.Created.UTC().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(&b, "%s %q %s %s %s %s side %v by %q began %v\n%s", tr.ID[35:], tr.Title, tr.Model, tr.Dir, tr.Branch, created, tr.Side, tr.BegunBy, tr.Began, drawn(tr))
	}
	return b.String()
}

// TestZedDatabase: threads of all versions have the written-down trees, whether their data is
// compressed or not.
func TestZedDatabase(t *testing.T) {
	const want = `1 "Birds" claude-x /home/ada/birds main 2026-05-02 09:00 side false by "" began map[0a000000-0000-4000-8000-000000000002:c2]
0<- user 1: text "Which birds are in " file /home/ada/birds/list.md text "?" data "[selection /home/ada/birds/map.md:1-3]" image
1<0 assistant 1: thinking "Hm." redacted_thinking text "I look." tool-call c1 read_file {"path":"list.md"} tool-call c2 spawn_agent {"label":"Mammals","message":"Look for voles"} tool-call c3 terminal ls
2<1 user 0: tool-result c1 read_file "wren" image tool-result c2 spawn_agent "{\"session_id\":\"0a000000-0000-4000-8000-000000000002\",\"output\":\"Voles.\"}" tool-result c3 terminal failed "Tool canceled by user"
3<2 assistant 2: text "A wren."
4<3 usercompaction 2: text "Wrens and voles."
5<4 user 1: text "Thanks."
6<5* assistant 1: text "You are welcome."
2 "Mammals"    2026-05-02 09:30 side true by "0a000000-0000-4000-8000-000000000001" began map[]
0<- user 1: text "Look for voles"
1<0* assistant 1: text "Voles."
3 "Trees" gemini-x /home/ada/trees  2025-07-01 09:00 side false by "" began map[]
0<- user 1: text "Which tree?"
1<0 assistant 1: thinking "Hm." redacted_thinking text "I look." tool-call c4 grep {"regex":"oak"}
2<1 user 0: tool-result c4 grep "oak.md"
3<2 user 1: text "ash.md"
4<3* assistant 1: text "An oak."
4 "Fish"    ? side false by "" began map[]
0<- user 1: text "Which fish?"
1<0 assistant 1: tool-call c5 bash null
2<1 user 1: tool-result c5 bash failed "no shell"
3<2* assistant 1: text "A carp."
5 "Moss"    ? side false by "" began map[]
0<- user 1: text "Which moss?"
1<0* assistant 1: text "Peat moss."
`
	path := zedDatabase(t, "", "")
	list, problems := readDatabase(t, zedFormat, path)
	if got := zedDrawn(list); got != want || len(problems) > 0 {
		t.Errorf("%v\n%s\nwant\n%s", problems, got, want)
	}
	for _, tr := range list {
		tryWriters(t, path, tr)
	}
	plain, problems := readDatabase(t, zedFormat, databaseOf(t, "zed/threads.sql"))
	if got := zedDrawn(plain); got != want || len(problems) > 0 {
		t.Errorf("not compressed: %v\n%s", problems, got)
	}
	db, err := OpenDatabase(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if db.Format() != zedFormat {
		t.Errorf("the format is %v", db.Format())
	}
}

// TestZedRecords: the records of a thread are those of its messages, in order, and the document
// without them.
func TestZedRecords(t *testing.T) {
	list, _ := readDatabase(t, zedFormat, zedDatabase(t, "", ""))
	birds := list[0]
	var messages []json.RawMessage
	for _, m := range birds.Messages {
		messages = append(messages, m.Records...)
	}
	var document struct{ Messages []json.RawMessage }
	statements := string(readFile(t, "testdata/databases/zed/threads.sql"))
	_, data, _ := strings.Cut(statements, `'{"title":"Birds"`)
	data, _, _ = strings.Cut(data, "', NULL")
	if err := json.Unmarshal([]byte(`{"title":"Birds"`+data), &document); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(messages, document.Messages) {
		t.Errorf("the records are\n%s\nwant\n%s", messages, document.Messages)
	}
	if r := string(birds.Records[0]); strings.Contains(r, "messages") || !strings.Contains(r, `"profile":"write"`) {
		t.Errorf("the record of the thread is %s", r)
	}
	if r := string(birds.Records[1]); !strings.Contains(r, `"folder_paths_order":"1,0"`) || len(birds.Records) != 2 {
		t.Errorf("the record of the row is %s", r)
	}
	file := birds.Messages[0].Parts[1]
	if file.Filename != "/home/ada/birds/list.md" || !strings.Contains(string(file.Meta), `wren\n`) {
		t.Errorf("the file is %q %s", file.Filename, file.Meta)
	}
}

// TestZedConverted: a thread that Zed converted to its new form, and wrote again as a newer version
// does, has the same messages.
func TestZedConverted(t *testing.T) {
	ids := func(tr *transcript.Transcript) (list []string) {
		for _, m := range tr.Messages {
			list = append(list, m.ID)
		}
		return list
	}
	before, _ := readDatabase(t, zedFormat, zedDatabase(t, "", ""))
	after, problems := readDatabase(t, zedFormat, zedDatabase(t, `UPDATE threads SET data = '{"title":"Trees","messages":[{"User":{"id":"new","content":[{"Text":"Which tree?"}]}},{"Agent":{"content":[{"Thinking":{"text":"Hm.","signature":"s2"}},{"RedactedThinking":"abc"},{"Text":"I look."},{"ToolUse":{"id":"c4","name":"grep","raw_input":"{}","input":{"type":"json","value":{"regex":"oak"}},"is_input_complete":true,"thought_signature":null}}],"tool_results":{"c4":{"tool_use_id":"c4","tool_name":"grep","is_error":false,"content":[{"Text":"oak.md"}],"output":null}},"reasoning_details":null}},{"User":{"id":"new2","content":[{"Text":"ash.md"}]}},{"Agent":{"content":[{"Text":"An oak."}],"tool_results":{},"reasoning_details":null}},{"User":{"id":"new3","content":[{"Text":"Thanks."}]}}],"version":"0.3.0"}' WHERE id LIKE '%3'`, ""))
	if len(problems) > 0 || len(after) != 5 {
		t.Fatal(len(after), problems)
	}
	if old, n := ids(before[2]), ids(after[2]); len(n) != 6 || !reflect.DeepEqual(old, n[:5]) {
		t.Errorf("before %q, after %q", old, n)
	}
	seen := map[string]bool{}
	for _, tr := range before {
		for _, id := range ids(tr) {
			if seen[id] {
				t.Errorf("%s is in two threads", id)
			}
			seen[id] = true
		}
	}
}

// TestZedDatabaseDamage: what cannot be read is a problem that names the place, and the rest is
// read.
func TestZedDatabaseDamage(t *testing.T) {
	const one = "thread 0a000000-0000-4000-8000-000000000001"
	for _, c := range []struct {
		what, before, after string
		messages            []int // of each thread
		problem             string
	}{
		{"data that is truncated", "", "UPDATE threads SET data = substr(data, 1, length(data) - 20) WHERE id LIKE '%1'", []int{2, 5, 4, 2}, one + ": its data cannot be uncompressed"},
		{"data that is not compressed", "", "UPDATE threads SET data = 'x' WHERE id LIKE '%1'", []int{2, 5, 4, 2}, one + ": its data cannot be uncompressed"},
		{"data that states to have a terabyte", "", "UPDATE threads SET data = x'28b52ffde0000000000001000000000000' WHERE id LIKE '%1'", []int{2, 5, 4, 2}, one + ": its data has more than 256 MiB"},
		{"a type to come", "", "UPDATE threads SET data_type = 'brotli' WHERE id LIKE '%1'", []int{2, 5, 4, 2}, one + `: its data has the unknown type "brotli"`},
		{"data that is not JSON", "UPDATE threads SET data = '{' WHERE id LIKE '%1'", "", []int{2, 5, 4, 2}, one + ": its data is not a JSON object"},
		{"data that is an array", "UPDATE threads SET data = '[]' WHERE id LIKE '%1'", "", []int{2, 5, 4, 2}, one + ": its data is not a JSON object"},
		{"deep JSON", `UPDATE threads SET data = '{"messages":' || replace(hex(zeroblob(50000)), '00', '[') || replace(hex(zeroblob(50000)), '00', ']') || '}' WHERE id LIKE '%1'`, "", []int{2, 5, 4, 2}, one + ": its data is not a JSON object"},
		{"messages that are not a list", `UPDATE threads SET data = '{"messages":7}' WHERE id LIKE '%1'`, "", []int{2, 5, 4, 2}, one + ", message 1: it is of an unknown kind"},
		{"a message of a kind to come", `UPDATE threads SET data = replace(data, '{"User":{"id":"u3"', '{"Robot":{"id":"u3"') WHERE id LIKE '%1'`, "", []int{6, 2, 5, 4, 2}, one + ", message 7: it is of an unknown kind"},
		{"a content of a kind to come", `UPDATE threads SET data = replace(data, '{"Text":"Thanks."}', '{"Song":"Thanks."},"Bell",7') WHERE id LIKE '%1'`, "", []int{7, 2, 5, 4, 2}, ""},
		{"values of wrong types", `UPDATE threads SET summary = 7, folder_paths = x'ff', folder_paths_order = 1.5, created_at = 1, data = '{"title":[],"model":3,"initial_project_snapshot":"x","subagent_context":[1],"messages":[{"User":{"content":[{"Text":7},{"Mention":3},{"Mention":{"uri":"PastedImage","content":[]}},{"Image":"x"}]}},{"Agent":{"content":{"a":1},"tool_results":[1,{"content":[3,{"Image":4}]}]}},{"Compaction":9},{"role":"user","segments":[1],"tool_uses":5}]}' WHERE id LIKE '%1'`, "", []int{5, 2, 5, 4, 2}, ""},
		{"ids that are bytes", "", "UPDATE threads SET id = CAST(id AS BLOB)", []int{7, 2, 5, 4, 2}, ""},
		{"without the columns of newer versions", "ALTER TABLE threads DROP COLUMN parent_id; ALTER TABLE threads DROP COLUMN folder_paths; ALTER TABLE threads DROP COLUMN created_at", "", []int{7, 2, 5, 4, 2}, ""},
		{"with columns of a version to come", "ALTER TABLE threads ADD COLUMN mood TEXT", "", []int{7, 2, 5, 4, 2}, ""},
		{"sub-agents in a circle", "UPDATE threads SET parent_id = '0a000000-0000-4000-8000-000000000002' WHERE id LIKE '%1'", "", []int{7, 2, 5, 4, 2}, ""},
	} {
		got, problems := readDatabase(t, zedFormat, zedDatabase(t, c.before, c.after))
		var messages []int
		for _, tr := range got {
			messages = append(messages, len(tr.Messages))
		}
		if !reflect.DeepEqual(messages, c.messages) {
			t.Errorf("%s: threads with %v messages", c.what, messages)
		}
		if (len(problems) > 0) != (c.problem != "") || len(problems) > 0 && !strings.Contains(problems[0].What, c.problem) {
			t.Errorf("%s: %v", c.what, problems)
		}
	}
	data, err := os.ReadFile(zedDatabase(t, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	got, problems, err := zedFormat.ReadAll(strings.NewReader(string(data[:len(data)-4096])))
	if err != nil || len(got) == 0 || len(problems) == 0 || !strings.Contains(problems[0].What, "truncated") {
		t.Errorf("without its last page: %d threads, %v, %v", len(got), problems, err)
	}
	if _, _, err := zedFormat.ReadAll(strings.NewReader(string(readFile(t, testdatabase.Make(t, "CREATE TABLE threads(id, summary, data)"))))); err != errForeign {
		t.Errorf("a database of another program: %v", err)
	}
}

// TestZedHome: the database is where the program keeps it.
func TestZedHome(t *testing.T) {
	for _, c := range []struct{ os, name, value, want string }{
		{"linux", "", "", "/home/ada/.local/share/zed/threads"},
		{"linux", "XDG_DATA_HOME", "/data", "/data/zed/threads"},
		{"darwin", "XDG_DATA_HOME", "/data", "/home/ada/Library/Application Support/Zed/threads"},
		{"windows", "LOCALAPPDATA", "/local", "/local/Zed/threads"},
		{"windows", "", "", "/home/ada/AppData/Local/Zed/threads"},
	} {
		m := transcript.Machine{Home: "/home/ada", OS: c.os, Env: func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		}}
		if got := zedFormat.Roots(m); got[0] != c.want {
			t.Errorf("on %s with %s: %q, want %s", c.os, c.name, got, c.want)
		}
	}
	if !zedFormat.Holds("threads.db") || zedFormat.Holds("threads-db.1.mdb") || zedFormat.Holds("a/threads.db") {
		t.Error("the database is not recognized by its name")
	}
}
