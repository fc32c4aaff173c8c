package workspace_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/rogpeppe/go-internal/txtar"
)

// grownFormats are the formats whose transcripts are read in parts.
var grownFormats = []string{"claude-code", "codex", "gemini", "pi", "copilot-cli", "qwen-code"}

// A growingFile is a transcript for [TestGrow].
type growingFile struct {
	data   []byte
	fixed  bool
	cyclic bool // an import of a part has another cycle to break, or none: the result may differ
}

// cyclicFixtures are the fixtures with cycles of parents.
var cyclicFixtures = []string{"joinring.txtar", "odd.txtar"}

// fixturesIn returns the transcripts of a format among the fixtures of package convert.
func fixturesIn(t *testing.T, format string) (files []growingFile) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", "convert", "testdata", format), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		cyclic := slices.Contains(cyclicFixtures, d.Name())
		switch filepath.Ext(path) {
		case ".jsonl":
			files = append(files, growingFile{data, true, cyclic})
		case ".txtar":
			for _, f := range txtar.Parse(data).Files {
				if filepath.Ext(f.Name) == ".jsonl" {
					files = append(files, growingFile{f.Data, true, cyclic})
				}
			}
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d fixtures of %s: %v", len(files), format, err)
	}
	return files
}

// TestGrow: following a transcript that grows in pieces, which end anywhere, gives after each
// piece what an import of the transcript so far shows, and in the end the same sessions, in every
// byte but for ids and times of bough, as following it without tails. Most pieces are read in
// parts. The same holds for tails that are stored after each piece.
func TestGrow(t *testing.T) {
	t.Parallel()
	for _, name := range testsize.Sample(t, "formats", grownFormats, testsize.Of(1, 3, 4)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := convert.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(9, uint64(len(name))))
			files := testsize.Sample(t, "fixtures", fixturesIn(t, name), testsize.Of(1, 2, 0))
			for range testsize.Of(1, 1, 12) {
				if f.Writes() {
					files = append(files, growingFile{data: writtenIn(t, f, random)})
				}
				if draw := drawers[name]; draw != nil {
					files = append(files, growingFile{data: draw(random)})
				}
			}
			var all grownPieces
			for _, file := range files {
				limits := []int{random.IntN(2) * (2 + random.IntN(8))} // half of the lines are one file
				if file.fixed && testsize.Full() {
					limits = []int{0, 2 + random.IntN(8)}
				}
				for _, limit := range limits {
					n := growing(t, f, file.data, limit, file.cyclic, random)
					all.pieces, all.parts, all.stored = all.pieces+n.pieces, all.parts+n.parts, all.stored+n.stored
				}
			}
			t.Logf("%d of %d pieces were read in parts, %d with stored tails", all.parts, all.pieces, all.stored)
			if (all.parts == 0 || all.stored == 0) && all.pieces > 20 { // a short run has few, which may all begin branches
				t.Error("no piece was read in parts")
			}
		})
	}
}

// grownPieces are counts of the pieces of transcripts, of those that were read in parts, and of
// those that were with stored tails.
type grownPieces struct{ pieces, parts, stored int }

// growing follows a transcript with tails, with stored ones and without, in files of limit messages,
// or in one if that is 0. Only the end of one that is not cyclic is compared with an import of the whole.
func growing(t *testing.T, f *convert.Format, data []byte, limit int, cyclic bool, random *rand.Rand) (n grownPieces) {
	t.Helper()
	most := testsize.Of(3, 5, 1000)
	ends := []int{}
	at := 0
	for line := range bytes.Lines(data) {
		ends = append(ends, at+random.IntN(len(line)), at+len(line))
		at += len(line)
	}
	for len(ends) > most {
		n := random.IntN(len(ends) - 1)
		ends = slices.Delete(ends, n, n+1)
	}
	with, stored, without := openSpace(t, t.TempDir(), limit), openSpace(t, t.TempDir(), limit), openSpace(t, t.TempDir(), limit)
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	var tails workspace.Tails
	for _, end := range ends {
		if end == 0 {
			continue
		}
		grow(t, path, data[:end])
		n.pieces++
		if with.importGrown(path, &tails) {
			n.parts++
		}
		if stored.importStored(path) {
			n.stored++
		}
		without.importGrown(path, &workspace.Tails{})
		if n.pieces%3 == 0 { // again, without anything new
			with.importGrown(path, &tails)
			stored.importStored(path)
			without.importGrown(path, &workspace.Tails{})
		}
		want := without.stored(data)
		for i, s := range []*space{with, stored} {
			if got := s.stored(data); got != want {
				t.Fatalf("after %d bytes, in files of %d messages, with tails in %s, it has\n%s\ninstead of\n%s\nof\n%s",
					end, limit, []string{"memory", "files"}[i], missingIn(got, want), missingIn(want, got), data[:end])
			}
		}
	}
	if limit > 0 || cyclic {
		return n // the outline lists each file
	}
	whole := openSpace(t, t.TempDir(), 0)
	source := []imports.Source{{Paths: []string{path}, Format: f, Found: true}} // a side conversation is imported only from a named file
	if _, err := whole.ImportAll(t.Context(), source, imports.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := sortedLines(with.outline(f)), sortedLines(whole.outline(f)); got != want {
		t.Fatalf("it has\n%s\ninstead of\n%s\nof\n%s", missingIn(got, want), missingIn(want, got), data)
	}
	return n
}

// TestGrowSide: a side conversation that grows is not imported, as when it is found whole: it has to
// be named.
func TestGrowSide(t *testing.T) {
	t.Parallel()
	f, err := convert.Named("codex")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("..", "convert", "testdata", "codex", "paginated.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := growing(t, f, data, 0, false, rand.New(rand.NewPCG(9, 1))); n.pieces == 0 || n.parts+n.stored > 0 {
		t.Errorf("%+v, want pieces, and none that was read in parts", n)
	}
	if imported(t, f, data) == "" {
		t.Error("it is not imported if it is named")
	}
}

// sortedLines sorts the lines of an outline: a message that a live import adds may have another
// place in its file.
func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// anyID matches an id that bough may have made.
var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// grow makes a file grow to data, in place.
func grow(t *testing.T, path string, data []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(data[info.Size():]); err != nil {
		t.Fatal(err)
	}
}

func (s *space) importGrown(path string, tails *workspace.Tails) (grown bool) {
	s.t.Helper()
	rows, grown, err := s.ImportGrown(s.t.Context(), path, tails)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range rows {
		if grown && r.Status == imports.Failed {
			s.t.Fatalf("%+v", r)
		}
	}
	return grown
}

func (s *space) importStored(path string) (grown bool) {
	s.t.Helper()
	rows, grown, err := s.ImportStored(s.t.Context(), path, imports.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range rows {
		if grown && r.Status == imports.Failed {
			s.t.Fatalf("%+v", r)
		}
	}
	return grown
}

// missingIn returns the lines of text that other does not have.
func missingIn(text, other string) string { return without(text, other) }

// stored returns the sessions of the workspace. Ids and times that are not in the transcript
// are replaced.
func (s *space) stored(transcript []byte) string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.Dir(), session.Dir, "session_2*.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for n, path := range list {
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(&b, "file %d\n%s\n", n, strings.ReplaceAll(string(data), `{"id"`, "\n"+`{"id"`))
	}
	text := clockTime.ReplaceAllString(b.String(), "now")
	for n, path := range list {
		text = strings.ReplaceAll(text, strings.TrimSuffix(filepath.Base(path), ".json"), fmt.Sprint("session ", n))
	}
	return anyID.ReplaceAllStringFunc(text, func(id string) string {
		if bytes.Contains(transcript, []byte(id)) {
			return id
		}
		return "new"
	})
}

// TestGrowRefused: a file is imported as a whole after anything that its tail does not cover,
// whether the tail is in memory or stored.
func TestGrowRefused(t *testing.T) {
	t.Parallel()
	begin := claudeLine("a", 1) + claudeLine("a", 2) + claudeLine("a", 3)
	more := claudeLine("a", 4)
	for _, c := range []struct {
		what   string
		change func(s *space, path string) // to begin, in the file
		grown  bool
	}{
		{"a line more", func(s *space, path string) { grow(t, path, []byte(begin+more)) }, true},
		{"nothing", func(*space, string) {}, true},
		{"a part of a line", func(s *space, path string) { grow(t, path, []byte(begin+more[:40])) }, true},
		{"a line without its end", func(s *space, path string) { grow(t, path, []byte(begin+strings.TrimSpace(more))) }, false},
		{"a branch", func(s *space, path string) {
			grow(t, path, []byte(begin+strings.ReplaceAll(more, `"parentUuid":"a-3"`, `"parentUuid":"a-1"`)))
		}, false},
		{"another conversation", func(s *space, path string) {
			grow(t, path, []byte(begin+strings.ReplaceAll(more, `"sessionId":"a"`, `"sessionId":"b"`)))
		}, false},
		{"another beginning", func(s *space, path string) {
			writeOver(t, path, []byte(strings.ReplaceAll(begin, "line 1", "line X")+more))
		}, false},
		{"another file", func(s *space, path string) {
			writeOver(t, path+".new", []byte(begin+more))
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"truncation", func(s *space, path string) { writeOver(t, path, []byte(claudeLine("a", 1))) }, false},
		{"a damaged line", func(s *space, path string) { grow(t, path, []byte(begin+"{torn\n"+more)) }, false},
		{"the session is removed", func(s *space, path string) {
			list, err := s.List(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Remove(t.Context(), list.Sessions[0].ID, workspace.RemoveOptions{}); err != nil {
				t.Fatal(err)
			}
			grow(t, path, []byte(begin+more))
		}, false},
		{"the session is removed, and nothing is new", func(s *space, path string) {
			list, err := s.List(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Remove(t.Context(), list.Sessions[0].ID, workspace.RemoveOptions{}); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"another import", func(s *space, path string) {
			importOne(t, s, writeFile(t, "b.jsonl", claudeLine("b", 1)), imports.Options{})
			grow(t, path, []byte(begin+more))
		}, false},
		{"a pattern that excludes it", func(s *space, path string) {
			writeOver(t, filepath.Join(s.Dir(), "config.json"), []byte(`{"import":{"skip":["a.jsonl"]}}`))
			grow(t, path, []byte(begin+more))
		}, false},
	} {
		for _, stored := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stored %v", c.what, stored), func(t *testing.T) {
				s := openSpace(t, t.TempDir(), 0)
				path := filepath.Join(t.TempDir(), "a.jsonl")
				grow(t, path, []byte(begin))
				var tails workspace.Tails
				read := func() bool { return s.importGrown(path, &tails) }
				if stored {
					read = func() bool { return s.importStored(path) }
				}
				if read() {
					t.Fatal("the first import is that of a tail")
				}
				read() // until nothing is to be done
				if !read() {
					t.Fatal("an unchanged file is read as a whole")
				}
				c.change(s, path)
				if got := read(); got != c.grown {
					t.Errorf("only what is new was read: %v, want %v", got, c.grown)
				}
			})
		}
	}
}
