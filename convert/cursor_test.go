package convert

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
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

// TestCursorHome: the databases of Cursor are found on each system, and the folder of one.
func TestCursorHome(t *testing.T) {
	for system, want := range map[string]string{
		"linux":   "/home/ada/.config/Cursor/User/globalStorage",
		"darwin":  "/home/ada/Library/Application Support/Cursor/User/globalStorage",
		"windows": "/home/ada/AppData/Roaming/Cursor/User/globalStorage",
	} {
		m := transcript.Machine{OS: system, Home: "/home/ada", Env: func(string) string { return "" }}
		if got := cursorFormat.Roots(m); len(got) != 2 || filepath.ToSlash(got[0]) != want {
			t.Errorf("%s: %v", system, got)
		}
	}
	for p, want := range map[string]bool{"state.vscdb": true, "0a1b/state.vscdb": true, "state.vscdb.backup": false, "a/b/state.vscdb": false} {
		if cursorFormat.Holds(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
	dir := cursorFormat.Dir(filepath.FromSlash("/s/0a1b/state.vscdb"), func(string) ([]byte, error) { return []byte(`{"folder":"file:///home/ada/my%20birds"}`), nil })
	if dir != "/home/ada/my birds" {
		t.Errorf("the folder is %s", dir)
	}
}
