package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// meanwhile calls f before the first n file operations of that kind, on that file if name
// is not "", until the test ends.
func (s *space) meanwhile(do durable.Action, name string, n int, f func()) {
	s.t.Helper()
	s.t.Cleanup(durable.Interpose(func(_ *os.Root, step durable.Step) error {
		if step.Do == do && (name == "" || strings.Contains(step.Name, name)) && n > 0 {
			n--
			f()
		}
		return nil
	}))
}

// sayForeign adds a message to a session file as another program does.
func (s *space) sayForeign(id, message string) {
	s.t.Helper()
	name := session.FileName(id)
	doc, err := sjson.Set(s.read(name), "messages.-1", map[string]any{"id": message, "role": "user", "content": message})
	if err != nil {
		s.t.Fatal(err)
	}
	s.replace(name, doc)
}

// TestOthersWhileWriting: a message that another program adds while bough writes the same
// file is not lost, whenever it is added.
func TestOthersWhileWriting(t *testing.T) {
	for _, do := range []durable.Action{durable.Make, durable.Write, durable.Sync, durable.Swap} {
		s := openSpace(t, t.TempDir(), 0)
		id := s.new("Bread")
		s.append(workspace.Append{Session: id, Text: "a"})
		s.meanwhile(do, id, 1, func() { s.sayForeign(id, "theirs") })
		s.append(workspace.Append{Session: id, Text: "b"})
		if got := s.texts(id); got != "a theirs b" && got != "a b theirs" {
			t.Errorf("at %s the conversation becomes %q", do, got)
		}
		healthy(t, s)
	}
}

// TestOthersConfigure: a change of the settings is merged into the current ones, even if
// another program changed them meanwhile.
func TestOthersConfigure(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	if _, err := s.Line(id).SetConfigs(t.Context(), []byte(`{"a":1,"b":1}`), false); err != nil {
		t.Fatal(err)
	}
	s.meanwhile(durable.Sync, id, 1, func() {
		doc, err := sjson.Set(s.read(session.FileName(id)), "metadata.bough.configs.b", 2)
		if err != nil {
			t.Fatal(err)
		}
		s.replace(session.FileName(id), doc)
	})
	l, err := s.Line(id).SetConfigs(t.Context(), []byte(`{"a":null,"c":3}`), true)
	if err != nil {
		t.Fatal(err)
	}
	if got := gjson.ParseBytes(l.Configs); len(got.Map()) != 2 || got.Get("b").Int() != 2 || got.Get("c").Int() != 3 {
		t.Errorf("the configs are %s", l.Configs)
	}
	healthy(t, s)
}

// TestOthersNeverEnd: if another program writes without end, a command stops with an error
// and keeps the other program's data.
func TestOthersNeverEnd(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.append(workspace.Append{Session: id, Text: "a"})
	n := 0
	s.meanwhile(durable.Sync, id, 1000, func() { n++; s.sayForeign(id, fmt.Sprint("theirs", n)) })
	_, err := s.Append(t.Context(), workspace.Append{Session: id, Text: "b"})
	if code(err) != fault.Busy {
		t.Errorf("Append = %v", err)
	}
	want := "a"
	for i := range n {
		want += fmt.Sprint(" theirs", i+1)
	}
	if got := s.texts(id); n < 3 || got != want {
		t.Errorf("the conversation is %q, want %q", got, want)
	}
	for name := range s.files() {
		if strings.HasSuffix(name, durable.TempSuffix) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestOthersIndex: Penguin's rewrite of the whole index, without links and with members of
// its own, is not overwritten; the links that it dropped are derived again.
func TestOthersIndex(t *testing.T) {
	for _, do := range []durable.Action{durable.Sync, durable.Swap} {
		s := openSpace(t, t.TempDir(), 2)
		id := s.new("Bread")
		s.say("a", "b", "c")
		s.meanwhile(do, session.IndexFile, 1, func() {
			index := "{}"
			for key := range gjson.Parse(s.read(session.IndexPath)).Map() {
				index, _ = sjson.Set(index, key, map[string]any{"title": "Session", "message_count": 0, "theirs": key})
			}
			s.replace(session.IndexPath, index)
		})
		s.say("d", "e")
		index := gjson.Parse(s.read(session.IndexPath))
		for key, e := range index.Map() {
			if theirs := e.Get("theirs").String(); theirs != key && theirs != "" {
				t.Errorf("the entry of %s is %s", key, e)
			}
		}
		if index.Get(id+".theirs").String() != id || index.Get(id+".continued_to.#").Int() != 1 {
			t.Errorf("at %s the entry becomes %s", do, index.Get(id))
		}
		if got := s.texts(id); got != "a b c d e" {
			t.Errorf("the conversation is %q", got)
		}
		healthy(t, s)
	}
}

// TestOthersRemove: a session that another program removes meanwhile does not come back.
func TestOthersRemove(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.append(workspace.Append{Session: id, Text: "a"})
	s.meanwhile(durable.Sync, id, 1, func() {
		if err := os.Remove(filepath.Join(s.Dir(), filepath.FromSlash(session.FileName(id)))); err != nil {
			t.Fatal(err)
		}
	})
	_, err := s.Append(t.Context(), workspace.Append{Session: id, Text: "b"})
	if code(err) != fault.NotFound {
		t.Errorf("Append = %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), filepath.FromSlash(session.FileName(id)))); err == nil {
		t.Error("the removed file exists again")
	}
}

// TestOthersStillWriting: what an editor adds to a session file that doctor has replaced is
// kept.
func TestOthersStillWriting(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.append(workspace.Append{Session: id, Text: "a"})
	s.append(workspace.Append{Session: id, Text: "b"})
	path := filepath.Join(s.Dir(), filepath.FromSlash(session.FileName(id)))
	whole := s.read(session.FileName(id))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	half := len(whole) - 100
	if _, err := f.WriteString(whole[:half]); err != nil {
		t.Fatal(err)
	}
	if report, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil || !report.OK {
		t.Fatalf("Doctor = %+v, %v", report, err)
	}
	if _, err := f.WriteString(whole[half:]); err != nil {
		t.Fatal(err)
	}
	for name, text := range s.files() {
		if strings.HasPrefix(name, ".bough/trash/") && text == whole {
			return
		}
	}
	t.Error("the bytes of the editor are lost")
}

// TestUndoRepair: a repair by doctor can be undone and redone.
func TestUndoRepair(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.append(workspace.Append{Session: id, Text: "a"})
	s.append(workspace.Append{Session: id, Text: "b"})
	name := session.FileName(id)
	torn := s.read(name)[:1000]
	s.write(name, torn)
	if report, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil || !report.OK {
		t.Fatalf("Doctor = %+v, %v", report, err)
	}
	mended := s.read(name)
	for range 2 {
		if _, err := s.undo(""); err != nil || s.read(name) != torn {
			t.Fatalf("undo = %v, the file is %s", err, s.read(name))
		}
		if _, err := s.redo(""); err != nil || s.read(name) != mended {
			t.Fatalf("redo = %v, the file is %s", err, s.read(name))
		}
	}
	healthy(t, s)
}
