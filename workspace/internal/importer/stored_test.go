package importer

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// withTail returns a workspace with the stored tail of a file, and the folder of tails.
func withTail(t *testing.T) (w *store.Store, path string, st *storedTails, ts *Tails) {
	t.Helper()
	w = store.New(t.TempDir(), store.Options{Now: time.Now, Note: func(string) {}, Progress: func(string, int64, int64) {}, Limit: 10}, nil)
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
	grown := st.read(w, ts, path)
	if grown == nil {
		t.Fatal("there is no stored tail")
	}
	ts.list = map[string]*tail{path: grown}
	return w, path, st, ts
}

// TestStoredProgram: a tail that another build of the program stored is ignored.
func TestStoredProgram(t *testing.T) {
	w, path, st, ts := withTail(t)
	st.write(ts, path)
	if st.read(w, ts, path) == nil {
		t.Fatal("a tail cannot be read after it was written again")
	}
	st.program.ModTime++
	if st.read(w, ts, path) != nil {
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
