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

// A leave is a conversation that an assistant is about to continue.
type leave struct {
	session string            // the exported session
	at      string            // the message that the prompt answers
	path    string            // the texts of the path to that message
	leaves  []string          // the leaves of the conversation
	count   int               // the messages of the workspace
	files   map[string]string // the sessions of the assistant
}

// leaves imports the export, which changes nothing, and returns the state before the
// assistant continues it.
func (s *seat) leaves(t *testing.T, session, message, file string) leave {
	t.Helper()
	l := leave{session: session, at: message}
	l.path, l.leaves, l.count = s.path(t, l.session, l.at), s.ends(t, l.session), s.count(t)
	l.files = s.written(t)
	if s.exports {
		file = s.exported(t, s.told.Get("id").String())
	}
	if row := s.importOne(t, file); row.Get("status").String() != "unchanged" || row.Get("session_id").String() != l.session {
		t.Errorf("the exported file is imported as %s, want unchanged in %s", row.Raw, l.session)
	}
	if got := s.count(t); got != l.count {
		t.Errorf("the exported file results in %d messages, want %d", got, l.count)
	}
	return l
}

// comesBack imports what the assistant wrote: prompts and answers are added below the
// resumed message, and nothing else. It returns the file and the new leaf.
func (s *seat) comesBack(t *testing.T, l leave, prompts ...string) (file, end string) {
	t.Helper()
	file, end = s.adds(t, l, 2*len(prompts))
	s.isPath(t, l.session, end, l.path, prompts...)
	return file, end
}

// adds imports what the assistant wrote: a number of messages are added in a row below the
// resumed message, and nothing else. It returns the file and the new leaf.
func (s *seat) adds(t *testing.T, l leave, added int) (file, end string) {
	t.Helper()
	file = s.changed(t, l.files)
	row := s.importOne(t, file)
	if row.Get("status").String() != "updated" || row.Get("session_id").String() != l.session || row.Get("added").Int() != int64(added) ||
		row.Get("replaced").Exists() || len(row.Get("problems").Array()) > 0 {
		data, _ := os.ReadFile(file)
		t.Fatalf("what %s wrote is imported as %s\nwant %d messages added to %s\n%s", s.format, row.Raw, added, l.session, data)
	}
	if got := s.count(t); got != l.count+added {
		t.Errorf("there are %d messages, want %d", got, l.count+added)
	}
	now := s.ends(t, l.session)
	for _, id := range now {
		if !slices.Contains(l.leaves, id) {
			end = id
		}
	}
	want := append(slices.DeleteFunc(slices.Clone(l.leaves), func(id string) bool { return id == l.at }), end)
	slices.Sort(want)
	if !slices.Equal(now, want) {
		t.Errorf("the leaves are %q, want %q", now, want)
	}
	s.isKnown(t, file, l.session)
	return file, end
}

// isPath checks that the path to a message is the given path, then prompts with their
// answers.
func (s *seat) isPath(t *testing.T, session, end, path string, prompts ...string) {
	t.Helper()
	for _, p := range prompts {
		path += "user: " + p + "\nassistant: " + standInSays + "\n"
	}
	got := s.path(t, session, end)
	if s.wraps != nil {
		got = s.wraps.ReplaceAllString(got, "$1")
	}
	if got != path {
		t.Errorf("the path is:\n%s\nwant:\n%s", got, path)
	}
}

// isKnown imports a file again, from another place, so that it is read: nothing changes.
func (s *seat) isKnown(t *testing.T, file, session string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(again, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if row := s.importOne(t, again); row.Get("status").String() != "unchanged" || row.Get("session_id").String() != session {
		t.Errorf("a second import makes %s, want unchanged in %s", row.Raw, session)
	}
}

// TestProgramsLater: later turns of the assistants, and copies that they make, are imported
// into the exported conversation too.
func TestProgramsLater(t *testing.T) {
	for _, a := range assistantsAsked(t) {
		for _, from := range tellings() {
			if from.format() != a.format && from.format() != "chatgpt" {
				continue
			}
			at := func(t *testing.T) (s *seat, session, message string) {
				s = newSeat(t, a)
				session = s.bringIn(t, from)
				return s, session, messageOf(t, s.ws, session, firstReply)
			}
			name := a.format + "/" + from.format()
			t.Run(name+"/turns", func(t *testing.T) {
				s, session, message := at(t)
				s.handOver(t, session+"@"+message)
				l := s.leaves(t, session, message, s.told.Get("path").String())
				s.ask(t, s.command(), "One")
				s.ask(t, s.command(), "Two")
				file, end := s.comesBack(t, l, "One", "Two")
				l = s.leaves(t, session, end, file)
				s.ask(t, s.command(), "Three")
				file, end = s.comesBack(t, l, "Three")
				if a.fork == nil {
					return
				}
				l = s.leaves(t, session, end, file)
				s.ask(t, a.fork(s.command()), "Four")
				s.comesBack(t, l, "Four")
			})
			t.Run(name+"/tool", func(t *testing.T) {
				s, session, message := at(t)
				s.handOver(t, session+"@"+message)
				l := s.leaves(t, session, message, s.told.Get("path").String())
				s.in.calls = 1
				s.ask(t, s.command(), "One")
				_, end := s.adds(t, l, 4)
				said := strings.TrimPrefix(s.path(t, session, end), l.path)
				if !strings.HasPrefix(said, "user: One\nassistant: ") || !strings.Contains(said, "guess") || !strings.Contains(said, `"tool-result"`) || !strings.HasSuffix(said, "assistant: "+standInSays+"\n") {
					t.Errorf("with a call the path is:\n%s", said)
				}
				if n := len(s.bough(t, "show", session+"@"+end).Get("messages").Array()); n != strings.Count(l.path, "\n")+4 {
					t.Errorf("the path has %d messages", n)
				}
			})
			t.Run(name+"/fork", func(t *testing.T) {
				if a.fork == nil {
					t.Skip("the program makes no copies")
				}
				s, session, message := at(t)
				s.handOver(t, session+"@"+message)
				l := s.leaves(t, session, message, s.told.Get("path").String())
				s.ask(t, a.fork(s.command()), "One")
				_, end := s.comesBack(t, l, "One")
				// The original is continued as well.
				l = s.leaves(t, session, message, s.told.Get("path").String())
				s.ask(t, s.command(), "Two")
				s.comesBack(t, l, "Two")
				s.isPath(t, session, end, l.path, "One")
			})
			t.Run(name+"/checkpoint", func(t *testing.T) {
				s, session, message := at(t)
				checkpoint := s.bough(t, "checkpoint", session+"@"+message).Get("id").String()
				s.handOver(t, checkpoint)
				l := s.leaves(t, checkpoint, s.told.Get("message_id").String(), s.told.Get("path").String())
				s.ask(t, s.command(), "One")
				file := s.changed(t, l.files)
				row := s.importOne(t, file)
				branch := row.Get("session_id").String()
				if row.Get("status").String() != "updated" || row.Get("added").Int() != 2 || branch == checkpoint || branch == session {
					t.Fatalf("the import of a checkpoint is %s, want a branch with 2 more messages", row.Raw)
				}
				ends := s.ends(t, branch)
				if len(ends) != 1 {
					t.Fatalf("the branch has the leaves %q, want one", ends)
				}
				s.isPath(t, branch, ends[0], l.path, "One")
				s.isKnown(t, file, branch)
				l = s.leaves(t, branch, ends[0], file)
				s.ask(t, s.command(), "Two")
				s.comesBack(t, l, "Two")
			})
		}
	}
}

// importOne imports a file with one conversation.
func (s *seat) importOne(t *testing.T, file string) gjson.Result {
	t.Helper()
	rows := s.bough(t, "import", file).Get("imported")
	if n := len(rows.Array()); n != 1 {
		t.Errorf("the import has %d rows, want one: %s", n, rows.Raw)
	}
	return rows.Get("0")
}

// path returns the messages to one, without the members that depend on their order in the
// files.
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

// ends returns the leaves of a conversation, sorted.
func (s *seat) ends(t *testing.T, session string) (ids []string) {
	t.Helper()
	for _, l := range s.bough(t, "branches", session).Get("leaves").Array() {
		ids = append(ids, l.Get("message_id").String())
	}
	slices.Sort(ids)
	return ids
}

// count returns the number of messages in the workspace.
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

// written returns the session files of the assistant with their contents.
func (s *seat) written(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range []string{".claude/projects", ".codex/sessions", ".gemini/tmp", ".pi/agent/sessions", ".copilot/session-state", ".cline/data/sessions"} {
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

// changed returns the file to which the assistant wrote the answer.
func (s *seat) changed(t *testing.T, before map[string]string) string {
	t.Helper()
	if s.exports {
		return s.exported(t, s.lastUsed(t))
	}
	var list []string
	for path, data := range s.written(t) {
		if strings.Count(data, standInSays) > strings.Count(before[path], standInSays) {
			list = append(list, path)
		}
	}
	if len(list) != 1 {
		t.Fatalf("%s wrote the answer into %q, want one file", s.format, list)
	}
	return list[0]
}

// exported returns a file with the program's export of a session.
func (s *seat) exported(t *testing.T, id string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), id+".json")
	if err := os.WriteFile(file, []byte(s.run(t, s.format, "export", id)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// lastUsed returns the id of the session that the program used last.
func (s *seat) lastUsed(t *testing.T) string {
	t.Helper()
	id, last := s.told.Get("id").String(), int64(0)
	for _, v := range gjson.Parse(s.run(t, s.format, "session", "list", "--format", "json")).Array() {
		if at := v.Get("updated").Int(); at > last {
			id, last = v.Get("id").String(), at
		}
	}
	return id
}
