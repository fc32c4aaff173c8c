package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// withTail returns a workspace with the stored tail of a file, and the folder of tails.
func withTail(t *testing.T) (w *store.Store, path string, st *storedTails, ts *Tails) {
	t.Helper()
	w = store.New(t.TempDir(), store.Options{Now: time.Now, Note: func(string) {}, Progress: func(string, int64, int64) {}, Limit: 10}, store.Recovery{})
	if err := os.Mkdir(filepath.Join(w.Dir, store.StateDir), 0o700); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "a.jsonl")
	line := `{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"One"}}` + "\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	source := []imports.Source{{Paths: []string{path}, Found: true}}
	if _, err := Import(t.Context(), w, source, imports.Options{Live: true}); err != nil {
		t.Fatal(err)
	}
	if st = openStoredTails(t.Context(), w); st == nil {
		t.Fatal("the folder of tails cannot be opened")
	}
	t.Cleanup(st.close)
	ts = &Tails{}
	ts.ledger, ts.exports = recordSizes(w.Dir)
	read := st.read(ts, path)
	if read == nil {
		t.Fatal("there is no stored tail")
	}
	ts.list = map[string]*tail{path: read.tail(w)}
	return w, path, st, ts
}

// TestStoredProgram: a tail that another build of the program stored is ignored.
func TestStoredProgram(t *testing.T) {
	w, path, st, ts := withTail(t)
	st.write(ts, path)
	if read := st.read(ts, path); read == nil || read.tail(w) == nil {
		t.Fatal("a tail cannot be read after it was written again")
	}
	st.program.ModTime++
	if st.read(ts, path) != nil {
		t.Error("the tail of another program is read")
	}
}

// TestStoredAfterForget: a process that began before the folder was removed, as forget does,
// writes nothing.
func TestStoredAfterForget(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove a folder that is open")
	}
	w, path, st, ts := withTail(t)
	if err := os.RemoveAll(filepath.Join(w.Dir, ".bough", "cache")); err != nil {
		t.Fatal(err)
	}
	st.write(ts, path)
	if list, _ := filepath.Glob(filepath.Join(w.Dir, ".bough", "cache", "*", "*")); len(list) > 0 {
		t.Errorf("it wrote %q", list)
	}
}

// TestStoredDamage: a stored tail with a changed or missing byte is not decoded.
func TestStoredDamage(t *testing.T) {
	w, path, st, ts := withTail(t)
	file := filepath.Join(w.Dir, filepath.FromSlash(tailsDir), nameOf(path))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decodes := func(data []byte) (extent, rest bool) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := st.read(ts, path)
		return s != nil, s != nil && s.tail(w) != nil
	}
	if extent, rest := decodes(data); !extent || !rest {
		t.Fatalf("without damage the extent is decoded: %v, and the rest: %v", extent, rest)
	}
	head, _, _ := splitTail(data)
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if extent, rest := decodes(changed); rest || extent && i < len(tailMark)+4+len(head) {
			t.Fatalf("with another byte %d the extent is decoded: %v, and the rest: %v", i, extent, rest)
		}
		if _, rest := decodes(data[:i]); rest {
			t.Fatalf("the first %d bytes are decoded", i)
		}
	}
}

// TestStoredNothingNew: an import without new lines takes no lock and writes nothing, and one
// after the session was removed reads the whole file.
func TestStoredNothingNew(t *testing.T) {
	w, path, _, _ := withTail(t)
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	unlock, err := writelock.Lock(t.Context(), root, store.StateDir, writelock.Holder{PID: os.Getpid()}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	files := func() (list []string) {
		err := filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil {
				list = append(list, fmt.Sprint(path, info.Size(), info.ModTime()))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := files()
	source := []imports.Source{{Paths: []string{path}, Found: true}}
	o := imports.Options{Live: true, MaxWhole: 1}
	report, err := Import(t.Context(), w, source, o)
	if err != nil || len(report.Imported) != 1 || report.Imported[0].Status != imports.Unchanged || report.Imported[0].Tip != "a" {
		t.Fatalf("%+v, %v", report, err)
	}
	if after := files(); !slices.Equal(after, before) {
		t.Errorf("the files were\n%q\nand are\n%q", before, after)
	}
	unlock()
	sessions, err := filepath.Glob(filepath.Join(w.Dir, "conversations", "session_2*"))
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	if err := os.Remove(sessions[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), w, source, o); !errors.Is(err, imports.ErrLarge) {
		t.Errorf("without the session: %v", err)
	}
}
