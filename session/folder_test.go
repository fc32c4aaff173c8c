package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bough-dev/bough/session"
)

// folder makes a workspace with files, which are named from its top.
func folder(t *testing.T, files map[string]string) (session.Folder, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return session.NewFolder(root), dir
}

func TestList(t *testing.T) {
	f, dir := folder(t, map[string]string{
		"conversations/b.json":                 "{}",
		"conversations/a.json":                 "[]",
		"conversations/a.b.json":               "",
		"conversations/.hidden.json":           "",
		"conversations/session_index.json":     "{}",
		"conversations/a.json.bak":             "{}",
		"conversations/a.json.temp":            "{}",
		"conversations/.a.json.bough-tmp":      "{}",
		"conversations/notes.txt":              "",
		"conversations/agent/a.json":           "{}",
		"conversations/folder.json/inner.json": "{}",
	})
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "conversations", "link.json")); err != nil {
		t.Fatal(err)
	}
	list, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	var names []string
	for _, st := range list {
		names = append(names, st.ID)
		sizes[st.ID] = st.Size
		if info, err := os.Stat(filepath.Join(dir, session.FileName(st.ID))); st.ID != "link" && (err != nil || !info.ModTime().Equal(st.ModTime)) {
			t.Errorf("%s has the time %v, want %v", st.ID, st.ModTime, info.ModTime())
		}
	}
	if want := []string{".hidden", "a", "a.b", "b", "link"}; !reflect.DeepEqual(names, want) {
		t.Errorf("the folder lists %q, want %q", names, want)
	}
	if sizes["a"] != 2 || sizes["a.b"] != 0 || sizes["link"] != 0 {
		t.Errorf("sizes are %v", sizes)
	}
	none, _ := folder(t, nil)
	if list, err := none.List(); err != nil || len(list) != 0 {
		t.Errorf("a workspace without sessions lists %v, %v", list, err)
	}
}

func TestRead(t *testing.T) {
	f, dir := folder(t, map[string]string{
		"conversations/a.json":             `{"id":"other","messages":[{"id":"m"}]}`,
		"conversations/torn.json":          `{"id":"a","messages":[{"id":"m"}`,
		"conversations/session_index.json": `{"messages":[]}`,
		"conversations/sub/b.json":         `{"messages":[]}`,
		"outside.json":                     `{"messages":[]}`,
	})
	elsewhere := filepath.Join(t.TempDir(), "b.json")
	if err := os.WriteFile(elsewhere, []byte(`{"messages":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "conversations", "link.json")); err != nil {
		t.Fatal(err)
	}
	s, err := f.Read("a")
	if err != nil || s.ID != "a" || s.OwnID() != "other" || len(s.Messages) != 1 {
		t.Errorf("Read = %+v, %v", s, err)
	}
	for _, id := range []string{"b", "", "session_index", "sub/b", "../outside", ".", "a.json", "a*", "A/../a"} {
		if _, err := f.Read(id); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("Read(%q) = %v, want ErrNotFound", id, err)
		}
	}
	var damage *session.DamageError
	if _, err := f.Read("torn"); !errors.As(err, &damage) || damage.Path != "conversations/torn.json" || damage.Offset != 32 {
		t.Errorf("Read of a torn file: %v", err)
	}
	if _, err := f.Read("link"); err == nil || errors.Is(err, session.ErrNotFound) || errors.As(err, &damage) {
		t.Errorf("Read of a link that leads out: %v", err)
	}
}

func TestCreateAndReplace(t *testing.T) {
	f, dir := folder(t, nil)
	pieces := [][]byte{[]byte(`{"messages":`), []byte(`[]}`)}
	if _, err := f.Create("a", pieces); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create("a", pieces); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of what is there: %v, want fs.ErrExist", err)
	}
	replaced, err := f.Replace("a", append(pieces, []byte("\n")))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "conversations", "a.json"))
	if err != nil || string(data) != "{\"messages\":[]}\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if st, err := f.Stat("a"); err != nil || st != replaced || st.ID != "a" || st.Size != int64(len(data)) {
		t.Errorf("Stat = %+v, %v", st, err)
	}
	if _, err := f.Stat("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of what is not there: %v, want fs.ErrNotExist", err)
	}
}
