package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// A leave is a conversation that an assistant is about to go on with.
type leave struct {
	session string   // where it was exported from
	at      string   // the message that the prompt answers
	path    string   // what show prints of the path to that message
	leaves  []string // the ends of the conversation
	count   int      // its messages
	files   map[string]string
}

// leaves prepares to judge what comes back: it imports what was exported, which changes
// nothing.
func (s *seat) leaves(t *testing.T, export gjson.Result, file string) leave {
	t.Helper()
	l := leave{session: export.Get("session_id").String(), at: export.Get("message_id").String()}
	l.path, l.leaves, l.count = s.path(t, l.session, l.at), s.ends(t, l.session), s.count(t)
	l.files = s.written(t)
	if s.format == "opencode" {
		file = s.opencodeExport(t)
	}
	if row := s.importOne(t, file); row.Get("status").String() != "unchanged" || row.Get("session_id").String() != l.session {
		t.Errorf("the file as bough exported it is imported as %s, want unchanged in %s", row.Raw, l.session)
	}
	if got := s.count(t); got != l.count {
		t.Errorf("the file as bough exported it leads to %d messages, want %d", got, l.count)
	}
	return l
}

// comesBack imports what the assistant wrote: the prompt and the answer are added below the
// message that was resumed, and nothing else.
func (s *seat) comesBack(t *testing.T, l leave, prompt string) {
	t.Helper()
	file := s.changed(t, l.files)
	if file == "" {
		return
	}
	row := s.importOne(t, file)
	if row.Get("status").String() != "updated" || row.Get("session_id").String() != l.session || row.Get("added").Int() != 2 ||
		row.Get("replaced").Exists() || row.Get("problems").Exists() {
		data, _ := os.ReadFile(file)
		t.Errorf("what %s wrote is imported as %s\nwant 2 messages added to %s\n%s", s.format, row.Raw, l.session, data)
		return
	}
	if got := s.count(t); got != l.count+2 {
		t.Errorf("there are %d messages, want %d", got, l.count+2)
	}
	now := s.ends(t, l.session)
	end := ""
	for _, id := range now {
		if !slices.Contains(l.leaves, id) {
			end = id
		}
	}
	want := append(slices.DeleteFunc(slices.Clone(l.leaves), func(id string) bool { return id == l.at }), end)
	slices.Sort(want)
	if !slices.Equal(now, want) {
		t.Errorf("the ends are %q, want %q", now, want)
	}
	if got, want := s.path(t, l.session, end), l.path+"user: "+prompt+"\nassistant: "+standInSays+"\n"; got != want {
		t.Errorf("the path is:\n%s\nwant:\n%s", got, want)
	}
	// Under another name bough does not know the file without reading it.
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(again, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if row := s.importOne(t, again); row.Get("status").String() != "unchanged" || row.Get("session_id").String() != l.session {
		t.Errorf("a second import makes %s, want unchanged in %s", row.Raw, l.session)
	}
}

// importOne imports a file that has one conversation.
func (s *seat) importOne(t *testing.T, file string) gjson.Result {
	t.Helper()
	rows := s.bough(t, "import", file).Get("imported")
	if n := len(rows.Array()); n != 1 {
		t.Errorf("the import has %d rows, want one: %s", n, rows.Raw)
	}
	return rows.Get("0")
}

// path returns the messages to one, without what their order in the files says.
func (s *seat) path(t *testing.T, session, message string) string {
	t.Helper()
	var b strings.Builder
	for _, m := range s.bough(t, "show", session+"@"+message).Get("messages").Array() {
		text := m.Get("content")
		if text.IsArray() {
			if parts := text.Array(); len(parts) == 1 && parts[0].Get("type").String() == "text" {
				text = parts[0].Get("text")
			}
		}
		b.WriteString(m.Get("role").String() + ": " + text.String() + "\n")
	}
	return b.String()
}

// ends returns the ends of a conversation, sorted.
func (s *seat) ends(t *testing.T, session string) (ids []string) {
	t.Helper()
	for _, l := range s.bough(t, "branches", session).Get("leaves").Array() {
		ids = append(ids, l.Get("message_id").String())
	}
	slices.Sort(ids)
	return ids
}

// count returns how many messages the workspace has.
func (s *seat) count(t *testing.T) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.ws, "conversations", "session_*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n += len(gjson.GetBytes(data, "messages").Array())
	}
	return n
}

// written returns the files of sessions that the assistant has, and what is in them.
func (s *seat) written(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range []string{".claude/projects", ".codex/sessions", ".gemini/tmp", ".pi/agent/sessions"} {
		err := filepath.WalkDir(filepath.Join(s.home, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || !strings.HasPrefix(filepath.Ext(path), ".json") {
				return nil
			}
			data, err := os.ReadFile(path)
			files[path] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// changed returns the file that the assistant put the answer into, "" if there is none.
func (s *seat) changed(t *testing.T, before map[string]string) string {
	t.Helper()
	if s.format == "opencode" {
		return s.opencodeExport(t)
	}
	var list []string
	for path, data := range s.written(t) {
		if strings.Count(data, standInSays) > strings.Count(before[path], standInSays) {
			list = append(list, path)
		}
	}
	if len(list) != 1 {
		t.Errorf("%s wrote the answer into %q, want one file", s.format, list)
		return ""
	}
	return list[0]
}

// opencodeExport returns a file with what opencode exports of the session.
func (s *seat) opencodeExport(t *testing.T) string {
	t.Helper()
	id := s.told.Get("id").String()
	file := filepath.Join(t.TempDir(), id+".json")
	if err := os.WriteFile(file, []byte(s.run(t, "opencode", "export", id)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
