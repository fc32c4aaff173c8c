package workspace_test

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
)

// TestWrongCache: a well-formed outline in the cache that has a file's identity but
// describes another file costs only time: copied data is checked, and read again on a
// mismatch.
func TestWrongCache(t *testing.T) {
	t.Parallel()
	if st := stat(t, t.TempDir()); st.Changed == 0 {
		t.Skip("this system does not report ctime, without which no outlines are cached")
	}
	long := strings.Repeat("long ", 15_000) // two messages are large enough for the cache
	message := func(id string) string { return `{"id":"` + id + `","role":"user","content":"` + long + `"}` }
	for verb, act := range map[string]func(*space, string) error{
		"checkpoint": func(s *space, id string) error {
			_, err := s.Checkpoint(s.t.Context(), id, workspace.SnapshotOptions{})
			return err
		},
		"append": func(s *space, id string) error {
			_, err := s.Append(s.t.Context(), workspace.Append{Session: id, Text: "more"})
			return err
		},
		"rename": func(s *space, id string) error { _, err := s.Rename(s.t.Context(), id, "T"); return err },
		"show": func(s *space, id string) error {
			_, err := s.Show(s.t.Context(), id, session.ReadOptions{})
			return err
		},
	} {
		s := openSpace(t, t.TempDir(), 0)
		s.messages("a", `"title":"A"`, message("old1"), message("old2"))
		s.messages("b", `"title":"B"`, message("new1"), message("new2"))
		for _, id := range []string{"a", "b"} {
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(s.Dir(), session.FileName(id)), old, old); err != nil {
				t.Fatal(err)
			}
		}
		s.age("a", "b")
		s.checkpoint("a")
		s.lie("a", "b")
		if err := act(s, "b"); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		if got := s.show("b"); got.Messages[0].ID != "new1" || got.Messages[1].ID != "new2" {
			t.Errorf("after %s the session begins with %s, %s", verb, got.Messages[0].ID, got.Messages[1].ID)
		}
		s.kinds(doctor.Options{Fix: true})
		healthy(t, s)
	}
}

// lie makes the cached outline of one session describe another.
func (s *space) lie(of, as string) {
	s.t.Helper()
	dir := filepath.Join(s.Dir(), session.CacheDir, "sessions")
	data, err := os.ReadFile(filepath.Join(dir, of))
	if err != nil {
		s.t.Fatal(err)
	}
	st := stat(s.t, s.Dir(), as)
	const tail = 4*8 + 4 // the file information, and the checksum
	data = []byte(strings.Replace(string(data[:len(data)-tail]), "\x01"+of, "\x01"+as, 1))
	for _, n := range []int64{st.Size, st.ModTime.UnixNano(), st.Changed, int64(st.Inode)} {
		data = binary.LittleEndian.AppendUint64(data, uint64(n))
	}
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
	if err := os.WriteFile(filepath.Join(dir, as), data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// stat returns the file information of a session of the workspace dir, or of a file in dir
// if no id is given.
func stat(t testing.TB, dir string, id ...string) session.Stat {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if len(id) == 0 {
		if err := os.MkdirAll(filepath.Join(dir, session.Dir), 0o700); err != nil {
			t.Fatal(err)
		}
		id = []string{"x"}
		if err := os.WriteFile(filepath.Join(dir, session.FileName("x")), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st, err := sessions.New(root, nil).Stat(id[0])
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestReadersCache: a reader writes the cache, so that the next reader need not parse
// again, but creates no .bough in a folder that has none.
func TestReadersCache(t *testing.T) {
	t.Parallel()
	if st := stat(t, t.TempDir()); st.Changed == 0 {
		t.Skip("this system does not report ctime, without which no outlines are cached")
	}
	s := openSpace(t, t.TempDir(), 0)
	s.messages("a", "", `{"id":"m","role":"user","content":"`+strings.Repeat("long ", 30_000)+`"}`)
	s.age("a")
	s.branches("a")
	dir := filepath.Join(s.Dir(), ".bough")
	if _, err := os.Stat(dir); err == nil {
		t.Error("reading created a .bough folder")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.branches("a")
	if _, err := os.Stat(filepath.Join(s.Dir(), session.CacheDir, "sessions", "a")); err != nil {
		t.Errorf("the outline is not cached: %v", err)
	}
}

// TestWritersSweepCache: a writer removes incomplete cache files of a killed process, even
// if that process interrupted nothing else.
func TestWritersSweepCache(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("Bread")
	names := []string{".index.1", ".look.1", ".sessions-a.1"}
	for _, name := range names {
		s.write(session.CacheDir+"/"+name+durable.TempSuffix, "half")
	}
	s.say("the next writer")
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(s.Dir(), session.CacheDir, name+durable.TempSuffix)); err == nil {
			t.Errorf("%s still exists after the next writer", name)
		}
	}
}
