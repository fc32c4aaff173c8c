package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// folder creates a workspace with files, whose paths are relative to it.
func folder(t testing.TB, files map[string]string) (sessions.Folder, string) {
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
	return sessions.New(root, nil), dir
}

// outline returns the outline of a session in a folder.
func outline(t *testing.T, f sessions.Folder, id string) *session.Outline {
	t.Helper()
	o, err := f.Outline(id)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func message(id, metadata string) string {
	return fmt.Sprintf(`{"role":"user","content":"text of %s","id":%q,"metadata":{%s}}`, id, id, metadata)
}

// file is a session file with messages.
func file(messages ...string) string {
	return `{"id":"s","metadata":{"title":"T"},"messages":[` + strings.Join(messages, ",") + `]}`
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
	list, _, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b session.Stat) int { return strings.Compare(a.ID, b.ID) })
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
	if list, _, err := none.List(); err != nil || len(list) != 0 {
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
	if err != nil || s.ID != "a" || s.OwnID != "other" || len(s.Messages) != 1 {
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
	d := &session.Document{ID: "a"}
	o, err := create(f, dir, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(f, dir, d, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of an existing session: %v, want fs.ErrExist", err)
	}
	edit := o.Edit()
	edit.SetMeta("title", "T")
	replaced, err := replace(f, dir, edit, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "conversations", "a.json"))
	if err != nil || !strings.Contains(string(data), `"metadata": {"title":"T"}`) {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if st, err := f.Stat("a"); err != nil || st != replaced.Stat || st.ID != "a" || st.Size != int64(len(data)) {
		t.Errorf("Stat = %+v, %v", st, err)
	}
	if _, err := f.Stat("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of a missing session: %v, want fs.ErrNotExist", err)
	}
}

// TestChanged: a file that another program changed after its outline was made is
// neither copied nor opened, and no temporary file is left.
func TestChanged(t *testing.T) {
	const content = `{"messages":[{"id":"a","x":1},{"id":"b"}],"tool_call_records":[1,2]}`
	for name, change := range map[string]func(file string) error{
		"a byte": func(file string) error {
			return os.WriteFile(file, []byte(strings.Replace(content, "x", "y", 1)), 0o600)
		},
		"the end": func(file string) error {
			return os.WriteFile(file, []byte(strings.Replace(content, "2]", "3]", 1)), 0o600)
		},
		"longer":     func(file string) error { return os.WriteFile(file, []byte(content+" "), 0o600) },
		"truncated":  func(file string) error { return os.Truncate(file, int64(len(content)-1)) },
		"empty":      func(file string) error { return os.Truncate(file, 0) },
		"missing":    os.Remove,
		"of its own": nil,
	} {
		f, dir := folder(t, map[string]string{"conversations/p.json": content})
		p := outline(t, f, "p")
		if change != nil {
			if err := change(filepath.Join(dir, "conversations", "p.json")); err != nil {
				t.Fatal(err)
			}
		}
		_, opening := f.Open(p)
		_, copying := create(f, dir, &session.Document{ID: "q", Messages: []session.Run{{Part: p, From: 0, To: 1}}}, nil)
		edit := p.Edit()
		edit.SetActive("now")
		_, editing := replace(f, dir, edit, nil)
		for what, err := range map[string]error{"Open": opening, "Create": copying, "Replace": editing} {
			if is := errors.Is(err, session.ErrChanged); is != (change != nil) || !is && err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		want := []string{"p", "q"}
		if change != nil {
			want = []string{"p"}
		}
		if name == "missing" {
			want = nil
		}
		var got []string
		list, _, err := f.List()
		for _, st := range list {
			got = append(got, st.ID)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: the folder holds %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestWatch: the watch is called for every byte, and its error aborts the write.
func TestWatch(t *testing.T) {
	f, dir := folder(t, map[string]string{"conversations/p.json": file(message("a", fmt.Sprintf(`"x":%q`, strings.Repeat("long ", 1<<18))))})
	d := &session.Document{ID: "q", Messages: []session.Run{{Part: outline(t, f, "p"), From: 0, To: 1}}}
	var last, whole int64
	times := 0
	o, err := create(f, dir, d, func(done, total int64) error {
		if done < last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last, whole = done, total
		times++
		return nil
	})
	if err != nil || last != whole || whole != o.Stat.Size || times < 5 {
		t.Errorf("%d calls, the last one with %d of %d, %v", times, last, whole, err)
	}
	stop := errors.New("stop")
	d.ID = "r"
	if _, err := create(f, dir, d, func(done, _ int64) error {
		if done > 1<<20 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Errorf("stopped: %v, want %v", err, stop)
	}
	if _, err := f.Stat("r"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of a stopped write exists: %v", err)
	}
}

// create and replace write a single file in the workspace dir.
func create(f sessions.Folder, dir string, d *session.Document, watch func(done, total int64) error) (*session.Outline, error) {
	return commit(dir, func(b *durable.Batch) (*session.Outline, error) { return f.Create(b, d, watch) })
}

func replace(f sessions.Folder, dir string, e *session.Edit, watch func(done, total int64) error) (*session.Outline, error) {
	return commit(dir, func(b *durable.Batch) (*session.Outline, error) { return f.Replace(b, e, watch) })
}

func commit(dir string, stage func(*durable.Batch) (*session.Outline, error)) (*session.Outline, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b := durable.NewBatch(root)
	o, err := stage(b)
	if err != nil {
		return nil, err
	}
	infos, _, err := b.Commit(context.Background())
	if err == nil {
		o.Stat = sessions.StatOf(o.ID, infos[0])
	}
	return o, err
}
