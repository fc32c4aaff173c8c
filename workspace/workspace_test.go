package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
)

// A space is a workspace in a test: its clock advances by a second at each
// call, and its ids are deterministic.
type space struct {
	*workspace.Workspace
	t     testing.TB
	limit int
	notes []string
}

func openSpace(t testing.TB, dir string, limit int) *space {
	t.Helper()
	s := &space{t: t, limit: limit}
	var mu sync.Mutex
	now := time.Date(2026, 5, 25, 15, 32, 0, 0, time.UTC)
	w, err := workspace.Open(t.Context(), dir, &workspace.Options{
		Limit:  limit,
		Settle: -1, // the damage is complete
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Second)
			return now
		},
		Random: rand.NewChaCha8([32]byte{}),
		Note: func(note string) {
			mu.Lock()
			defer mu.Unlock()
			s.notes = append(s.notes, note)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Workspace = w
	return s
}

func (s *space) new(title string) string {
	s.t.Helper()
	e, err := s.New(s.t.Context(), title)
	if err != nil {
		s.t.Fatal(err)
	}
	return e.ID
}

// lock takes the lock of the workspace.
func (s *space) lock(h writelock.Holder) (unlock func()) {
	s.t.Helper()
	root, err := os.OpenRoot(s.Dir())
	if err != nil {
		s.t.Fatal(err)
	}
	defer root.Close()
	unlock, err = writelock.Lock(s.t.Context(), root, ".bough", h, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return unlock
}

func (s *space) append(a workspace.Append) *workspace.AppendResult {
	s.t.Helper()
	out, err := s.Append(s.t.Context(), a)
	if err != nil {
		s.t.Fatalf("Append(%+v): %v", a, err)
	}
	return out
}

// say appends texts at the head and returns the ids of the messages.
func (s *space) say(texts ...string) (ids []string) {
	s.t.Helper()
	for _, text := range texts {
		ids = append(ids, s.append(workspace.Append{Text: text}).Message)
	}
	return ids
}

func (s *space) checkpoint(ref string) *workspace.Snapshot {
	s.t.Helper()
	snap, err := s.Checkpoint(s.t.Context(), ref, workspace.SnapshotOptions{})
	if err != nil {
		s.t.Fatalf("Checkpoint(%q): %v", ref, err)
	}
	return snap
}

func (s *space) branch(ref string) *workspace.Snapshot {
	s.t.Helper()
	snap, err := s.Branch(s.t.Context(), ref, workspace.SnapshotOptions{})
	if err != nil {
		s.t.Fatalf("Branch(%q): %v", ref, err)
	}
	return snap
}

func (s *space) show(ref string) *workspace.Conversation {
	s.t.Helper()
	c, err := s.Show(s.t.Context(), ref, session.ReadOptions{})
	if err != nil {
		s.t.Fatalf("Show(%q): %v", ref, err)
	}
	return c
}

// texts returns the texts of the path to ref.
func (s *space) texts(ref string) string {
	s.t.Helper()
	var list []string
	for _, m := range s.show(ref).Messages {
		list = append(list, m.Text())
	}
	return strings.Join(list, " ")
}

// session decodes the file of a session.
func (s *space) session(id string) *session.Session {
	s.t.Helper()
	d, err := session.Decode(id, []byte(s.read(session.FileName(id))))
	if err != nil {
		s.t.Fatalf("%s: %v", id, err)
	}
	return d
}

func (s *space) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Dir(), filepath.FromSlash(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *space) write(name, content string) {
	s.t.Helper()
	name = filepath.Join(s.Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// files returns the contents of the files of the workspace, except for the lock.
func (s *space) files() map[string]string {
	s.t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(s.Dir()), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, ".bough/lock") || strings.HasPrefix(name, session.CacheDir) {
			return err
		}
		files[name] = s.read(name)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

// sameFiles compares the files before and after.
func sameFiles(t testing.TB, what string, before, after map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if old, ok := before[name]; !ok {
			t.Errorf("%s makes %s", what, name)
		} else if old != after[name] {
			t.Errorf("%s changes %s from\n%s\nto\n%s", what, name, old, after[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[name]; !ok {
			t.Errorf("%s removes %s", what, name)
		}
	}
}

func code(err error) fault.Code {
	if err == nil {
		return ""
	}
	return workspace.Explain(err).Code
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	chat := filepath.Join(dir, "chat")
	for _, name := range []string{"conversations", "empty/conversations"} {
		if err := os.MkdirAll(filepath.Join(chat, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(chat, "conversations", "a.json")
	if err := os.WriteFile(file, []byte(`{"messages":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		chat:                                       chat,
		filepath.Join(chat, "conversations"):       chat,
		filepath.Join(chat, "conversations/"):      chat,
		filepath.Join(dir, "nothing"):              filepath.Join(dir, "nothing"),
		filepath.Join(chat, "empty/conversations"): filepath.Join(chat, "empty/conversations"),
	} {
		w, err := workspace.Open(t.Context(), given, nil)
		if err != nil || w.Dir() != want {
			t.Errorf("Open(%q) = %v, %v, want %q", given, w, err, want)
		}
	}
	if _, err := workspace.Open(t.Context(), file, nil); code(err) != fault.Usage {
		t.Errorf("Open of a file: %v", err)
	}
	t.Chdir(chat)
	if w, err := workspace.Open(t.Context(), ".", nil); err != nil || !filepath.IsAbs(w.Dir()) {
		t.Errorf("Open(\".\") = %v, %v, want an absolute folder", w, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := workspace.Open(ended, chat, nil); !errors.Is(err, context.Canceled) || code(err) != fault.Failed {
		t.Errorf("Open with an ended context: %v", err)
	}
	w, err := workspace.Open(t.Context(), chat, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.List(ended, ""); !errors.Is(err, context.Canceled) || code(err) != fault.Failed {
		t.Errorf("List with an ended context: %v", err)
	}
	if _, err := w.New(ended, ""); !errors.Is(err, context.Canceled) || code(err) != fault.Failed {
		t.Errorf("New with an ended context: %v", err)
	}
}

func TestIsAndFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"bough/.bough", "bough/deep/er", "index/conversations", "session/conversations/sub", "empty/conversations", "other/conversations", "file"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"index/conversations/session_index.json", "session/conversations/a.json", "other/conversations/notes.txt", "other/conversations/a.json.bak", "file/.bough"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{"bough": true, "index": true, "session": true, "empty": false, "other": false, "file": false, "nothing": false, "session/conversations": false} {
		if got := workspace.Is(filepath.Join(dir, name)); got != want {
			t.Errorf("Is(%q) = %v", name, got)
		}
	}
	for name, want := range map[string]string{"bough": "bough", "bough/deep/er": "bough", "bough/deep/er/not/there": "bough", "session/conversations/sub": "session", "index": "index"} {
		if got, ok := workspace.Find(filepath.Join(dir, name)); !ok || got != filepath.Join(dir, want) {
			t.Errorf("Find(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
	if got, ok := workspace.Find(filepath.Join(dir, "empty")); ok && strings.HasPrefix(got, dir) {
		t.Errorf("Find returns %q without a workspace", got)
	}
}

// TestAbsent: in an absent workspace nothing can be found or changed; verbs that begin
// something create it, private.
func TestAbsent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := openSpace(t, dir, 0)
	_, show := s.Show(t.Context(), "x", session.ReadOptions{})
	_, doctor := s.Doctor(t.Context(), doctor.Options{Fix: true})
	_, add := s.Append(t.Context(), workspace.Append{Text: "x"})
	for verb, err := range map[string]error{"Show": show, "Doctor": doctor, "Append": add} {
		if code(err) != fault.NotFound {
			t.Errorf("%s: %v, want not found", verb, err)
		}
	}
	if _, err := os.Stat(filepath.Dir(dir)); err == nil {
		t.Error("a failed verb created the folder")
	}
	id := s.new("")
	for name, want := range map[string]fs.FileMode{".": 0o700, "conversations": 0o700, ".bough": 0o700, session.FileName(id): 0o600, "conversations/session_index.json": 0o600, "head.json": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

// region returns messages of a session with the separators between them, as bough and
// Penguin write them.
func region(s *session.Session, from, to int) []byte {
	var list [][]byte
	for _, m := range s.Messages[from:to] {
		list = append(list, m.Raw)
	}
	return bytes.Join(list, []byte(",\n    "))
}

// timeOf returns the time of a message as results print it.
func timeOf(m session.Message) string {
	t, _ := m.Time()
	return session.Bough.Time(t)
}
