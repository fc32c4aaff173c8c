package convert

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testdatabase"
	"github.com/tidwall/gjson"
)

// databaseOf returns the path of a database made by a file of testdata/databases.
func databaseOf(t *testing.T, name string, more ...string) string {
	t.Helper()
	statements := string(readFile(t, filepath.Join("testdata", "databases", filepath.FromSlash(name))))
	return testdatabase.Make(t, statements+strings.Join(more, ";"))
}

// readDatabase reads a database as a file.
func readDatabase(t *testing.T, f *Format, path string) ([]*transcript.Transcript, []transcript.Problem) {
	t.Helper()
	list, problems, err := f.ReadAll(bytes.NewReader(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return list, problems
}

// TestOpencodeDatabase: the sessions in the database are those of the exports that opencode made
// from it, with equal messages and records.
func TestOpencodeDatabase(t *testing.T) {
	path := databaseOf(t, "opencode/sessions.sql")
	got, problems := readDatabase(t, opencodeFormat, path)
	if len(problems) > 0 {
		t.Error(problems)
	}
	var want []*transcript.Transcript
	for _, id := range []string{"ses_0123456789abABCDEFGHIJKLMN", "ses_0123456789abBCDEFGHIJKLMNO"} {
		list, _, err := opencodeFormat.ReadAll(bytes.NewReader(readFile(t, filepath.Join("testdata", "databases", "opencode", id+".json"))))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, list...)
	}
	if len(got) != 2 || !reflect.DeepEqual(got, want) {
		for i := range got {
			t.Errorf("session %d:\n%s\n%s\nwant\n%s\n%s", i, got[i].Records, drawn(got[i]), want[i].Records, drawn(want[i]))
		}
	}
	if got[0].Side || !got[1].Side || len(got[0].Messages) < 5 {
		t.Errorf("the first session has %d messages", len(got[0].Messages))
	}
	for _, tr := range got {
		tryWriters(t, path, tr)
	}
	db, err := OpenDatabase(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if db.Format() != opencodeFormat {
		t.Errorf("the format is %v", db.Format())
	}
	if err := claudeCodeFormat.ReadDatabase(db, nil); err != errForeign {
		t.Errorf("as a database of Claude Code: %v", err)
	}
}

// TestOpencodeTitles: the title is written as in the export, in which JSON.stringify escapes only
// what JSON requires.
func TestOpencodeTitles(t *testing.T) {
	got, _ := readDatabase(t, opencodeFormat, databaseOf(t, "opencode/sessions.sql", `UPDATE session SET title = 'a' || char(8232) || '<&"\u2028\' || char(10, 12, 127, 8233)`))
	if title := gjson.GetBytes(got[0].Records[0], "info.title").Raw; title != "\"a\u2028<&\\\"\\\\u2028\\\\\\n\\f\x7f\u2029\"" {
		t.Errorf("the title is written as %q", title)
	}
}

// TestOpencodeDatabaseDamage: what cannot be read is a problem that names the place, and the rest is
// read.
func TestOpencodeDatabaseDamage(t *testing.T) {
	for _, c := range []struct {
		what, change string
		messages     []int // of each session
		problem      string
	}{
		{"a message that is not JSON", "UPDATE message SET data = '{' WHERE id = 'msg_04'", []int{5, 2}, "session ses_0123456789abABCDEFGHIJKLMN, message msg_04"},
		{"a message without a role", "UPDATE message SET data = '[1]' WHERE id = 'msg_11'", []int{6, 1}, "message msg_11"},
		{"parts of wrong types", "UPDATE part SET data = 7 WHERE id = 'prt_31'; UPDATE part SET data = NULLIF(1, 2) || x'ff' WHERE id = 'none'", []int{6, 2}, "message msg_11, part prt_31"},
		{"deep JSON", "UPDATE part SET data = '{\"a\":' || replace(hex(zeroblob(50000)), '00', '[') WHERE id = 'prt_31'", []int{6, 2}, "prt_31"},
		{"JSON that is too deep for a parser that recurses", "UPDATE part SET data = replace(hex(zeroblob(6000000)), '00', '[') WHERE id = 'prt_31'", []int{6, 2}, "prt_31"},
		{"ids that are bytes", "PRAGMA foreign_keys=0; UPDATE session SET id = CAST(id AS BLOB); UPDATE message SET id = CAST(id AS BLOB), session_id = CAST(session_id AS BLOB); UPDATE part SET message_id = CAST(message_id AS BLOB)", []int{6, 2}, ""},
		{"ids that are not UTF-8", "PRAGMA foreign_keys=0; UPDATE session SET id = id || CAST(x'ff' AS TEXT); UPDATE message SET session_id = session_id || CAST(x'ff' AS TEXT), id = id || CAST(x'ff' AS TEXT); UPDATE part SET message_id = message_id || CAST(x'ff' AS TEXT)", []int{6, 2}, ""},
		{"a part that is too large", "UPDATE part SET data = zeroblob(260 << 20) WHERE message_id = 'msg_11'", []int{6, 1}, "message msg_11, part prt_"},
		{"a session without its row", "PRAGMA foreign_keys=0; DELETE FROM session WHERE slug = 'wrens'", []int{6, 2}, ""},
		{"without the columns of newer versions", "ALTER TABLE session DROP COLUMN agent; ALTER TABLE session DROP COLUMN cost; ALTER TABLE session DROP COLUMN summary_diffs", []int{6, 2}, ""},
		{"with columns of a version to come", "ALTER TABLE session ADD COLUMN mood TEXT; ALTER TABLE part ADD COLUMN color BLOB", []int{6, 2}, ""},
	} {
		got, problems := readDatabase(t, opencodeFormat, databaseOf(t, "opencode/sessions.sql", c.change))
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
	for what, change := range map[string]string{"another program": "CREATE TABLE t(x)", "a table without its columns": "CREATE TABLE session(id); CREATE TABLE message(id); CREATE TABLE part(id)"} {
		path := testdatabase.Make(t, change)
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := opencodeFormat.Read(in, nil); err != errForeign {
			t.Errorf("%s: %v", what, err)
		}
		in.Close()
	}
	path := databaseOf(t, "opencode/sessions.sql")
	data := readFile(t, path)
	got, problems, err := opencodeFormat.ReadAll(bytes.NewReader(data[:len(data)-4096]))
	if err != nil || len(got) == 0 || len(problems) == 0 || !strings.Contains(problems[0].What, "truncated") {
		t.Errorf("without its last page: %d sessions, %v, %v", len(got), problems, err)
	}
}
