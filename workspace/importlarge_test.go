package workspace_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
)

// A longTranscript generates a session of Claude Code of at least a given size while it is
// read.
type longTranscript struct {
	left int
	n    int
	line []byte
}

func (l *longTranscript) Read(p []byte) (int, error) {
	if len(l.line) == 0 {
		if l.left <= 0 {
			return 0, io.EOF
		}
		l.line = l.next()
		l.left -= len(l.line)
	}
	n := copy(p, l.line)
	l.line = l.line[n:]
	return n, nil
}

func (l *longTranscript) next() []byte {
	id := func(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }
	parent := "null"
	if l.n > 0 {
		parent = `"` + id(l.n-1) + `"`
	}
	role, said := "user", `"`+strings.Repeat(fmt.Sprintf("question %d ", l.n), 100)+`"`
	if l.n%2 == 1 {
		role, said = "assistant", `[{"type":"text","text":"`+strings.Repeat(fmt.Sprintf("answer %d ", l.n), 200)+`"}]`
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/x","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0",`+
		`"type":"%s","message":{"role":"%[2]s","content":%[3]s},"uuid":"%[4]s","timestamp":"2026-01-01T00:00:00.000Z"}`+"\n", parent, role, said, id(l.n))
	l.n++
	return b.Bytes()
}

// TestImportMemory: an import streams a transcript: its memory does not grow with the
// length.
func TestImportMemory(t *testing.T) {
	size := testsize.Of(2<<20, 4<<20, 96<<20)
	most := testsize.Of[uint64](8<<20, 10<<20, 96<<20)
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	runtime.GC()                // and pools are empty
	var before runtime.MemStats // memory of other tests does not count
	runtime.ReadMemStats(&before)
	var peak uint64
	calls := 0
	w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{Progress: func(string, int64, int64) {
		if calls++; calls%512 == 0 {
			var m runtime.MemStats
			runtime.GC() // when it ran last is chance
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc-min(m.HeapAlloc, before.HeapAlloc))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !testsize.Full() {
		w.SetSpool(256 << 10)
	}
	for _, want := range []imports.Status{imports.New, imports.Unchanged} {
		calls = 0
		list, err := w.Import(t.Context(), []string{"-"}, imports.Options{Stdin: &longTranscript{left: size}})
		if err != nil || len(list.Imported) != 1 || list.Imported[0].Status != want {
			t.Fatalf("import: %+v, %v, want %s", list, err, want)
		}
		if calls < size>>17 {
			t.Errorf("progress was called %d times", calls)
		}
	}
	if peak == 0 || peak > most {
		t.Errorf("%d bytes took %d bytes of memory, want at most %d", size, peak, most)
	}
}

// settling is how long a file must be unchanged for the next import to recognize it by size
// and time.
const settling = 3 * time.Second

// BenchmarkImport imports a transcript, compared with writing the resulting session, and
// imports it again unchanged, which reads nothing of it.
func BenchmarkImport(b *testing.B) {
	const size = 32 << 20
	path := filepath.Join(b.TempDir(), "long.jsonl")
	data, err := io.ReadAll(&longTranscript{left: size})
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	take := func(b *testing.B, dir string) imports.Transcript {
		w, err := workspace.Open(b.Context(), dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		list, err := w.Import(b.Context(), []string{path}, imports.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return list.Imported[0]
	}
	time.Sleep(settling) // also on file systems whose times are seconds
	dir := b.TempDir()
	sessionFile := filepath.Join(dir, "conversations", string(take(b, dir).Session)+".json")
	written, err := os.ReadFile(sessionFile)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("new", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			take(b, b.TempDir())
		}
	})
	b.Run("write", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			f, err := os.Create(filepath.Join(b.TempDir(), "f"))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.Write(written); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
	b.Run("again", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			take(b, dir)
		}
	})
}

// TestImportLiveBytes: a new line at the end of a large transcript, 20 MB in a full run,
// rewrites only the newest file of the conversation.
func TestImportLiveBytes(t *testing.T) {
	t.Parallel()
	size, limit := testsize.Of(600<<10, 2<<20, 20<<20), testsize.Of(100, 300, 1000)
	data, err := io.ReadAll(&longTranscript{left: size})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "11111111-2222-4333-8444-555555555555.jsonl")
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(data)
	s := openSpace(t, t.TempDir(), limit)
	if _, err := s.Import(t.Context(), []string{path}, imports.Options{Live: true}); err != nil {
		t.Fatal(err)
	}
	more := &longTranscript{left: 1 << 30, n: bytes.Count(data, []byte("\n"))}
	most := int64(limit) * 3 << 10 // a file
	for range testsize.Of(2, 3, 5) {
		before := filesIn(t, s.Dir())
		data = append(data, more.next()...)
		write(data)
		list, err := s.Import(t.Context(), []string{path}, imports.Options{Live: true})
		if err != nil || len(list.Imported) != 1 || list.Imported[0].Added != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		written := int64(0)
		for name, info := range filesIn(t, s.Dir()) {
			switch was := before[name]; {
			case strings.HasPrefix(name, filepath.Join(".bough", "cache")): // not flushed
			case was == nil || !os.SameFile(was, info):
				written += info.Size()
			case strings.HasSuffix(name, ".jsonl"):
				written += info.Size() - was.Size()
			}
		}
		if written > most {
			t.Errorf("a line of %d bytes had %d bytes written, at most %d are allowed", len(data)/more.n, written, most)
		}
	}
	healthy(t, s)
}

// filesIn returns the file information of all files in a folder, by path.
func filesIn(t *testing.T, dir string) map[string]os.FileInfo {
	t.Helper()
	files := map[string]os.FileInfo{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[name], err = d.Info()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// BenchmarkImportMany imports a folder of small transcripts, compared with writing the
// resulting sessions with one fsync per 64 of them, and imports the folder again.
func BenchmarkImportMany(b *testing.B) {
	const count = 10_000
	folder := b.TempDir()
	for n := range count {
		id := func(m int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, m) }
		name := filepath.Join(folder, id(0)+".jsonl")
		data := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/x","sessionId":"%s","version":"2.1.0",`+
			`"type":"user","message":{"role":"user","content":"question %d"},"uuid":"%s","timestamp":"2026-01-01T00:00:00.000Z"}`+"\n", id(0), n, id(1)) +
			fmt.Sprintf(`{"parentUuid":"%s","isSidechain":false,"userType":"external","cwd":"/x","sessionId":"%s","version":"2.1.0",`+
				`"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"answer %d"}]},"uuid":"%s","timestamp":"2026-01-01T00:00:01.000Z"}`+"\n", id(1), id(0), n, id(2))
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	take := func(b *testing.B, dir string) {
		w, err := workspace.Open(b.Context(), dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		list, err := w.Import(b.Context(), []string{folder}, imports.Options{})
		if err != nil || len(list.Imported) != count {
			b.Fatalf("%d conversations, %v", len(list.Imported), err)
		}
	}
	time.Sleep(settling) // also on file systems whose times are seconds
	dir := b.TempDir()
	take(b, dir)
	var sessions [][]byte
	paths, err := filepath.Glob(filepath.Join(dir, "conversations", "*.json"))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		sessions = append(sessions, data)
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			take(b, b.TempDir())
		}
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			to := b.TempDir()
			var files []*os.File
			for n, data := range sessions {
				f, err := os.Create(filepath.Join(to, fmt.Sprint(n)))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Write(data); err != nil {
					b.Fatal(err)
				}
				if files = append(files, f); len(files) == 64 || n == len(sessions)-1 {
					if err := f.Sync(); err != nil {
						b.Fatal(err)
					}
					for _, f := range files {
						f.Close()
					}
					files = files[:0]
				}
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			take(b, dir)
		}
	})
}
