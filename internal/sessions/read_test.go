package sessions_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// TestRevert: the splices of an edit restore the file byte for byte.
func TestRevert(t *testing.T) {
	content := file(message("a", ""), message("b", `"n":1.0`))
	f, dir := folder(t, map[string]string{"conversations/p.json": content})
	edit := outline(t, f, "p").Edit()
	edit.SetMeta("title", "Tü")
	edit.Append([]byte(message("c", "")))
	splices, err := f.Splices(edit)
	if err != nil || len(splices) != 2 || string(splices[0].Old) != "" || splices[0].New != len("ü") {
		t.Fatalf("the splices are %+v, %v", splices, err)
	}
	o, err := replace(f, dir, edit, nil)
	if err != nil || o.Len() != 3 {
		t.Fatalf("the outline is %+v, %v", o, err)
	}
	if _, err := replace(f, dir, sessions.Revert(o, splices), nil); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "conversations", "p.json")); err != nil || string(data) != content {
		t.Errorf("the file is %s, want %s, %v", data, content, err)
	}
}

// TestLookAndEach: Look validates only wanted files, and Each reads the messages of an
// unchanged one.
func TestLookAndEach(t *testing.T) {
	f, dir := folder(t, map[string]string{"conversations/p.json": file(message("a", ""), message("b", "")), "conversations/torn.json": `{"messages":[`})
	ids := ""
	use := func(s *session.Session) error {
		for _, m := range s.Messages {
			ids += m.ID
		}
		return nil
	}
	wanted := func(want bool) func([]byte) bool { return func([]byte) bool { return want } }
	if err := f.Look("p", wanted(true), use); err != nil || ids != "ab" {
		t.Errorf("Look passes the messages %q, %v", ids, err)
	}
	var damage *session.DamageError
	if err := f.Look("torn", wanted(true), use); !errors.As(err, &damage) || damage.Path != "conversations/torn.json" {
		t.Errorf("Look of a damaged file: %v", err)
	}
	if err := f.Look("torn", wanted(false), use); err != nil {
		t.Errorf("Look of a damaged file that is not wanted: %v", err)
	}
	ids = ""
	each := func(_ int, m session.Message) error {
		ids += m.ID
		return nil
	}
	o := outline(t, f, "p")
	s, err := f.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Each(o, each), f.Each(s.Outline, each)); err != nil || ids != "abab" {
		t.Errorf("Each passes the messages %q, %v", ids, err)
	}
	name := filepath.Join(dir, "conversations", "p.json")
	if err := os.WriteFile(name, []byte(strings.Replace(string(s.Bytes()), "text of b", "text of c", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Each(o, each); !errors.Is(err, session.ErrChanged) {
		t.Errorf("Each of a changed file: %v", err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := f.Each(o, each); !errors.Is(err, session.ErrChanged) {
		t.Errorf("Each of a removed file: %v", err)
	}
}

// TestReplaceInvalid: an edit whose result is not a session changes nothing and leaves no
// temporary file, and other files of the same batch are still written.
func TestReplaceInvalid(t *testing.T) {
	content := file(message("m1", ""))
	f, dir := folder(t, map[string]string{"conversations/a.json": content, "conversations/b.json": content})
	a, b := outline(t, f, "a"), outline(t, f, "b")
	_, err := commit(dir, func(batch *durable.Batch) (*session.Outline, error) {
		rename := b.Edit()
		rename.SetMeta("title", "B")
		if _, err := f.Replace(batch, rename, nil); err != nil {
			return nil, err
		}
		broken := sessions.Revert(a, []sessions.Splice{{At: len(content) - 1, Old: []byte("]"), New: 1}})
		_, err := f.Replace(batch, broken, nil)
		var damage *session.DamageError
		if !errors.As(err, &damage) {
			t.Errorf("the error is %v, want a DamageError", err)
		}
		if list := f.Temporary(); len(list) != 1 {
			t.Errorf("temporary files are %q, want that of b", list)
		}
		return b, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, session.FileName("a"))); err != nil || string(data) != content {
		t.Errorf("a is %s, %v", data, err)
	}
	if title := outline(t, f, "b").Meta.Title; title != "B" {
		t.Errorf("the title of b is %q", title)
	}
	if list := f.Temporary(); len(list) != 0 {
		t.Errorf("temporary files remain: %q", list)
	}
}
