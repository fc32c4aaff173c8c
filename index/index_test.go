package index_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// A folder is a workspace under construction.
type folder struct {
	t    testing.TB
	dir  string
	root *os.Root

	aliases map[string]string
}

func newFolder(t testing.TB) *folder {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, session.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &folder{t: t, dir: dir, root: root}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, session.Dir, name) }

func (f *folder) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(f.path(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func (f *folder) stat(id string) session.Stat {
	f.t.Helper()
	st, err := sessions.New(f.root, nil).Stat(id)
	if err != nil {
		f.t.Fatal(err)
	}
	return st
}

func (f *folder) remove(name string) {
	f.t.Helper()
	if err := os.Remove(f.path(name)); err != nil {
		f.t.Fatal(err)
	}
}

// date sets the modification time of a file.
func (f *folder) date(name string, at time.Time) {
	f.t.Helper()
	if err := os.Chtimes(f.path(name), at, at); err != nil {
		f.t.Fatal(err)
	}
}

// session writes a session of one message, created in the given minute.
func (f *folder) session(id string, minute int, metadata string) {
	f.t.Helper()
	at := fmt.Sprintf("2026-05-25T15:%02d:00+00:00", minute)
	f.write(id+".json", fmt.Sprintf(`{"id":%q,"created_at":%q,"last_active":%q,"metadata":{%s},"messages":[{"id":"m"}]}`, id, at, at, metadata))
	f.date(id+".json", time.Date(2026, 5, 25, 15, minute, 30, 123456789, time.UTC))
}

func (f *folder) load() *index.Index {
	f.t.Helper()
	x, err := index.Load(f.root, f.aliases, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return x
}

func (f *folder) save(x *index.Index) {
	f.t.Helper()
	if err := x.Save(); err != nil {
		f.t.Fatal(err)
	}
}

// entries returns the members of the index file.
func (f *folder) entries() map[string]json.RawMessage {
	f.t.Helper()
	var entries map[string]json.RawMessage
	if err := json.Unmarshal([]byte(f.read(session.IndexFile)), &entries); err != nil {
		f.t.Fatal(err)
	}
	return entries
}

// healthy verifies that Penguin considers the index up to date, and that bough
// finds nothing to do.
func (f *folder) healthy(name string) {
	f.t.Helper()
	names, err := filepath.Glob(f.path("*.json"))
	if err != nil {
		f.t.Fatal(err)
	}
	info := func(path string) fs.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			f.t.Fatal(err)
		}
		return info
	}
	fresh := info(f.path(session.IndexFile)).ModTime()
	var stems []string
	for _, path := range names {
		stem := strings.TrimSuffix(filepath.Base(path), ".json")
		if stem == "session_index" {
			continue
		}
		stems = append(stems, stem)
		if at := info(path).ModTime(); at.After(fresh) {
			f.t.Errorf("%s: the index is of %v, %s of %v", name, fresh, stem, at)
		}
	}
	slices.Sort(stems)
	if keys := slices.Sorted(maps.Keys(f.entries())); !slices.Equal(keys, stems) {
		f.t.Errorf("%s: the keys of the index are %q, the files %q", name, keys, stems)
	}
	if x := f.load(); x.Stale() || x.Torn || x.Trouble != "" {
		f.t.Errorf("%s: trouble after Save: %q", name, x.Trouble)
	}
}

// A world is a set of sessions with all kinds of links, and the expected results.
type world struct {
	dialect   session.Dialect
	metadata  map[string]string
	snapshots bool // continued_to lists snapshots too
}

var ids = []string{"root", "cont", "tail", "other", "branch", "point", "twig"}

var worlds = []world{
	{session.Bough, map[string]string{
		"root":   `"title":"Root","continued_from":[],"continued_to":["tail"]`,
		"cont":   `"continued_from":["root"],"continued_to":[]`,
		"tail":   `"continued_from":["cont"],"continued_to":[]`,
		"other":  `"continued_from":["root"],"continued_to":[]`,
		"branch": `"continued_from":["cont"],"continued_to":[],"branched_from":"cont","branch_point":"m","lineage":["root","cont"],"flattened_snapshot":true,"bough":{"kind":"branch"}`,
		"point":  `"continued_from":["branch"],"continued_to":[],"branched_from":"branch","branch_point":"m","lineage":["root","cont","branch"],"flattened_snapshot":true,"bough":{"kind":"checkpoint"}`,
		"twig":   `"continued_from":["branch"],"continued_to":[]`,
	}, true},
	{session.Penguin, map[string]string{
		"root":   `"title":"Root","continued_to":"tail"`,
		"cont":   `"continued_from":"root"`,
		"tail":   `"continued_from":"cont"`,
		"other":  `"continued_from":"root"`,
		"branch": `"branched_from":"cont","branch_point":"m","lineage":["root","cont"],"flattened_snapshot":true`,
		"point":  `"branched_from":"branch","branch_point":"m","lineage":["root","cont","branch"],"flattened_snapshot":true,"bough":{"kind":"checkpoint"}`,
		"twig":   `"continued_from":"branch"`,
	}, false},
}

func (w world) folder(t testing.TB) *folder {
	f := newFolder(t)
	for i, id := range ids {
		f.session(id, i, w.metadata[id])
	}
	return f
}

// check compares an index of w with the expected results.
func (w world) check(t *testing.T, name string, x *index.Index) {
	t.Helper()
	name = w.dialect.String() + ", " + name
	got := map[string]string{}
	for _, e := range x.Entries() {
		lineage, err := x.Lineage(e.ID)
		if err != nil {
			t.Errorf("%s: lineage of %s: %v", name, e.ID, err)
		}
		line, err := x.Line(e.ID)
		if err != nil {
			t.Errorf("%s: line of %s: %v", name, e.ID, err)
		}
		got[e.ID] = fmt.Sprint(e.Kind(), lineage, line, x.Children(e.ID), x.ContinuedTo(e.ID))
	}
	to := map[bool]map[string]string{
		true:  {"root": "[cont other]", "cont": "[tail branch]", "branch": "[point twig]"},
		false: {"root": "[cont other]", "cont": "[tail]", "branch": "[twig]"},
	}[w.snapshots]
	for id, want := range map[string]string{
		"root":   "root [root] [root cont other tail] [cont other] ",
		"cont":   "continuation [root cont] [root cont other tail] [tail branch] ",
		"tail":   "continuation [root cont tail] [root cont other tail] [] ",
		"other":  "continuation [root other] [root cont other tail] [] ",
		"branch": "branch [root cont branch] [branch twig] [point twig] ",
		"point":  "checkpoint [root cont branch point] [point] [] ",
		"twig":   "continuation [root cont branch twig] [branch twig] [] ",
	} {
		if to[id] == "" {
			to[id] = "[]"
		}
		if want += to[id]; strings.ReplaceAll(got[id], " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: %s is %s, want %s", name, id, got[id], want)
		}
	}
	if len(got) != len(ids) {
		t.Errorf("%s: the sessions are %v", name, got)
	}
	if x.Dialect() != w.dialect {
		t.Errorf("%s: the dialect is %v", name, x.Dialect())
	}
	if e := x.Entry("root"); e == nil || e.Title != "Root" || e.MessageCount != 1 || session.Bough.Time(e.CreatedAt) != "2026-05-25T15:00:00.000000+00:00" {
		t.Errorf("%s: the root's entry is %+v", name, e)
	}
}
