package workspace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/workspace/imports"
)

// storedTails returns the paths of the stored tails of a workspace.
func (s *space) storedTails() []string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.Dir(), ".bough", "cache", "tails", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// TestStoredTailIgnored: a stored tail that is damaged, has another version or is that of another
// file or format is ignored, and replaced.
func TestStoredTailIgnored(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	dir := t.TempDir()
	lines := map[string]string{}
	stored := map[string]string{} // by transcript
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name+".jsonl")
		lines[name] = claudeLine(name, 1)
		writeOver(t, path, []byte(lines[name]))
		before := s.storedTails()
		if s.importStored(path) {
			t.Fatal("there is a tail before the first import")
		}
		after := s.storedTails()
		if len(after) != len(before)+1 {
			t.Fatalf("there are %d stored tails after %d", len(after), len(before))
		}
		stored[name] = after[slices.IndexFunc(after, func(file string) bool { return !slices.Contains(before, file) })]
	}
	path, file := filepath.Join(dir, "a.jsonl"), stored["a"]
	if s.importStored(path) {
		t.Error("a tail is used although another conversation was imported since")
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(stored[name])
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for i, c := range []struct {
		what   string
		change func(data []byte) []byte
	}{
		{"an empty file", func([]byte) []byte { return nil }},
		{"the first half", func(data []byte) []byte { return data[:len(data)/2] }},
		{"a byte more", func(data []byte) []byte { return append(data, 0) }},
		{"another byte", func(data []byte) []byte { data[len(data)/2] ^= 1; return data }},
		{"another version", func(data []byte) []byte {
			return bytes.Replace(data, []byte("bough tail 1"), []byte("bough tail 0"), 1)
		}},
		{"that of another file", func([]byte) []byte { return read("b") }},
		{"a folder", nil},
	} {
		lines["a"] += claudeLine("a", 2*i+2)
		grow(t, path, []byte(lines["a"]))
		if !s.importStored(path) {
			t.Errorf("before %s: the tail is not used", c.what)
		}
		data := read("a")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if c.change == nil {
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		} else {
			writeOver(t, file, c.change(data))
		}
		lines["a"] += claudeLine("a", 2*i+3)
		grow(t, path, []byte(lines["a"]))
		if s.importStored(path) {
			t.Errorf("%s is used", c.what)
		}
	}
	list, err := s.List(t.Context(), "")
	if err != nil || len(list.Sessions) != 2 || list.Sessions[0].MessageCount+list.Sessions[1].MessageCount != 16 {
		t.Errorf("the sessions are %+v, %v, want two with 15 messages and 1", list, err)
	}
	codex, err := convert.Named("codex")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.ImportAll(t.Context(), []imports.Source{{Paths: []string{path}, Format: codex, Found: true}}, imports.Options{Live: true})
	if err != nil || len(rows.Imported) != 1 || rows.Imported[0].Status != imports.Skipped {
		t.Errorf("read as another format: %+v, %v", rows, err)
	}
}

// TestStoredTailLimit: an import of an older state of a file ends there, and keeps the tail of the
// newer one. The import of a part of a file has a tail too.
func TestStoredTailLimit(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	path := filepath.Join(t.TempDir(), "a.jsonl")
	text, sizes := "", []int64{0}
	for n := 1; n <= 6; n++ {
		text += claudeLine("a", n)
		sizes = append(sizes, int64(len(text)))
	}
	writeOver(t, path, []byte(text))
	for _, c := range []struct {
		lines int
		grown bool
		tip   string
	}{
		{2, false, "a-2"}, {4, true, "a-4"}, {3, false, "a-3"}, {6, true, "a-6"}, {5, false, "a-5"}, {6, true, "a-6"},
	} {
		rows, grown, err := s.ImportStored(t.Context(), path, imports.Options{Limit: sizes[c.lines]})
		if err != nil || grown != c.grown || len(rows) != 1 || string(rows[0].Tip) != c.tip {
			t.Errorf("up to line %d: read only what is new: %v, %+v, %v; want %v and the tip %s", c.lines, grown, rows, err, c.grown, c.tip)
		}
	}
}

// TestStoredTailsBounded: the number of stored tails has a limit, and none is stored for a file
// that is not followed, or in a dry run.
func TestStoredTailsBounded(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	dir := t.TempDir()
	writeOver(t, filepath.Join(dir, "x.jsonl"), []byte(claudeLine("x", 1)))
	importOne(t, s, filepath.Join(dir, "x.jsonl"), imports.Options{})
	source := []imports.Source{{Paths: []string{filepath.Join(dir, "x.jsonl")}, Found: true}}
	if _, err := s.ImportAll(t.Context(), source, imports.Options{Live: true, DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if list := s.storedTails(); len(list) > 0 {
		t.Errorf("stored are %q", list)
	}
	const limit = 32
	if err := os.MkdirAll(filepath.Join(s.Dir(), ".bough", "cache", "tails"), 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range limit + 3 {
		writeOver(t, filepath.Join(s.Dir(), ".bough", "cache", "tails", fmt.Sprintf("%032d", n)), nil)
	}
	s.importStored(filepath.Join(dir, "x.jsonl"))
	if list := s.storedTails(); len(list) != limit || !slices.ContainsFunc(list, func(file string) bool {
		data, err := os.ReadFile(file)
		return err == nil && strings.HasPrefix(string(data), "bough tail")
	}) {
		t.Errorf("there are %d stored tails, want %d with the last one: %q", len(list), limit, list)
	}
}
