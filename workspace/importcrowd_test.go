package workspace_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert"
	parts "github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
	"github.com/bough-dev/bough/workspace/imports"
)

// A crowd makes files of all formats that are read.
type crowd struct {
	*rand.Rand
	fixtures map[*convert.Format][][]byte
	all      [][]byte                     // the fixtures of all formats
	rows     map[*convert.Format][][]byte // databases
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{rand.New(rand.NewPCG(25, 1)), map[*convert.Format][][]byte{}, nil, map[*convert.Format][][]byte{}}
	for _, f := range convert.Formats {
		paths, err := filepath.Glob(filepath.Join("..", "convert", "testdata", f.Name, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if filepath.Ext(path) == ".txtar" || strings.Contains(path, "undetected") {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c.fixtures[f] = append(c.fixtures[f], data)
			c.all = append(c.all, data)
		}
		databases, err := filepath.Glob(filepath.Join("..", "convert", "testdata", "databases", f.Name, "*.sql"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range databases {
			c.rows[f] = append(c.rows[f], madeDatabase(t, sqlOf(t, f.Name+"/"+filepath.Base(path))))
		}
	}
	return c
}

// file returns a file of a format: a fixture of it with other ids, a transcript as its program
// writes it, or a random conversation about files of all formats.
func (c *crowd) file(t *testing.T, f *convert.Format) []byte {
	makers := []func() []byte{}
	if draw := drawers[f.Name]; draw != nil {
		makers = append(makers, func() []byte { return draw(c.Rand) })
	}
	if list := c.fixtures[f]; len(list) > 0 {
		makers = append(makers, func() []byte { return c.varied(list[c.IntN(len(list))]) })
	}
	if list := c.rows[f]; len(list) > 0 {
		makers = append(makers, func() []byte { return list[c.IntN(len(list))] })
	}
	if f.Writes() {
		makers = append(makers, func() []byte { return c.written(t, f) })
	}
	return makers[c.IntN(len(makers))]()
}

// written returns a random conversation as bough writes it in a format.
func (c *crowd) written(t *testing.T, f *convert.Format) []byte {
	tr := c.conversation()
	if !f.Branches {
		tr.Messages = pathOf(tr)
	}
	id, err := f.NewID(time.Now(), chacha(c.Uint64()))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	o := transcript.Options{ID: id, Now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Random: chacha(c.Uint64())}
	if _, err := f.Write(&b, tr, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func chacha(seed uint64) *rand.ChaCha8 {
	var key [32]byte
	copy(key[:], fmt.Sprintf("%032d", seed))
	return rand.NewChaCha8(key)
}

// conversation returns a conversation with messages that quote files.
func (c *crowd) conversation() *transcript.Transcript {
	tr := testtranscript.Tree(c.Rand)
	names := map[string]string{}
	for _, m := range tr.Messages {
		var id [16]byte
		for i := range id {
			id[i] = byte(c.Uint32())
		}
		s := hex.EncodeToString(id[:])
		names[m.ID] = s[:8] + "-" + s[8:12] + "-4" + s[13:16] + "-a" + s[17:20] + "-" + s[20:]
		m.ID, m.Parent = names[m.ID], names[m.Parent]
		if quoted := c.all[c.IntN(len(c.all))]; c.IntN(2) == 0 {
			m.Parts = append([]parts.Part{parts.Text(string(bytes.ToValidUTF8(quoted[:min(len(quoted), c.IntN(600))], nil)))}, m.Parts...)
		}
	}
	tr.Leaf = names[tr.Leaf]
	return tr
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// varied returns a file in which each UUID is replaced by another one, equal ones by equal ones.
func (c *crowd) varied(data []byte) []byte {
	other := fmt.Sprintf("%08x", c.Uint32())
	return uuids.ReplaceAllFunc(data, func(id []byte) []byte {
		if strings.Trim(string(id), "0-48a") == "" {
			return id // it names no message
		}
		return append([]byte(other), id[8:]...)
	})
}

// decoys are files without a conversation.
var decoys = []string{
	"", "\n", "# Notes\n\n#### user\n> quoted\n", "{}", "[]", "null", `{"name":"x","version":"1.0.0","messages":{}}`, "[1,2,3]\n", "a,b\n1,2\n",
	`{"role":"user","content":7}`, `[{"id":1,"title":"no message"}]`, "SQLite format 3\x00\x10\x00", "<html><body>messages</body></html>",
	`{"openapi":"3.1.0","paths":{"/messages":{"post":{"parameters":[{"role":"user"}]}}}}`, "{\"level\":\"info\",\"message\":\"x\"}\n{\"level\":\"warn\",\"message\":\"y\"}\n",
}

// alike reports whether two formats read a file as the same messages: a request that has only texts
// is one to several providers.
func alike(t *testing.T, path string, names ...string) bool {
	var said []string
	for _, name := range names {
		f, err := convert.Named(name)
		if err != nil {
			return false
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list, problems, err := f.ReadAll(bytes.NewReader(data))
		if err != nil || len(problems) > 0 {
			return false
		}
		var s strings.Builder
		for _, tr := range list {
			for _, m := range tr.Messages {
				fmt.Fprintf(&s, "%s %s %v\n", m.Role, m.Own.Role, m.Parts)
			}
		}
		said = append(said, s.String())
	}
	return said[0] == said[1]
}

// hasMessage reports whether a file of a format has a message: a damaged one may have none that can be read.
func hasMessage(f *convert.Format, data []byte) bool {
	list, _, err := f.ReadAll(bytes.NewReader(data))
	return err == nil && slices.ContainsFunc(list, func(t *transcript.Transcript) bool { return len(t.Messages) > 0 })
}

// crowdSize is how many files of each format TestImportCrowd has.
var crowdSize = flag.Int("crowd", 0, "how many files of each format TestImportCrowd imports; 0 for what the size of the tests says")

// TestImportCrowd: many files of each format in one folder, under names that say nothing, are
// all recognized as what they are, and files without a conversation as none.
func TestImportCrowd(t *testing.T) {
	c := newCrowd(t)
	dir := t.TempDir()
	want := map[string]string{} // formats by paths
	put := func(data []byte, format string) {
		path := filepath.Join(dir, fmt.Sprintf("%06d%s", c.IntN(1_000_000), []string{".json", ".jsonl", ".txt", ".md", ""}[c.IntN(5)]))
		if _, taken := want[path]; taken {
			return
		}
		want[path] = format
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	formats := 0
	for _, f := range convert.Formats {
		if !f.Reads() {
			continue
		}
		formats++
		for range cmp.Or(*crowdSize, testsize.Of(2, 20, 100)) {
			data := c.file(t, f)
			for !hasMessage(f, data) {
				data = c.file(t, f)
			}
			put(data, f.Name)
		}
	}
	for _, data := range decoys {
		put([]byte(data), "")
	}
	for f, list := range c.rows {
		put(list[0], f.Name)
	}
	put(madeDatabase(t, "CREATE TABLE session(id); CREATE TABLE message(id); CREATE TABLE part(id)"), "")
	got, err := openSpace(t, filepath.Join(t.TempDir(), "w"), 0).Import(t.Context(), []string{dir}, imports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range got.Imported {
		format, known := want[r.Path]
		if !known || r.Format != format && !alike(t, r.Path, r.Format, format) || format == "" && r.Status != imports.Skipped || r.Status == imports.Failed && len(r.Problems) == 0 {
			data, _ := os.ReadFile(r.Path)
			t.Errorf("%s is %q, %s %s, want %q: %.100q", r.Path, r.Format, r.Status, r.Detail, format, data)
		}
		seen[r.Path]++
	}
	for path, format := range want {
		if seen[path] == 0 {
			t.Errorf("%s of %q is not reported", path, format)
		}
	}
	if formats < 20 || len(want) < formats {
		t.Errorf("only %d files of %d formats", len(want), formats)
	}
}
