package session_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// oldFolder creates a folder with files whose last change is old enough, and caches
// their outlines.
func oldFolder(t *testing.T, files map[string]string) (session.Folder, string) {
	t.Helper()
	f, dir := folder(t, files)
	for name := range files {
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(60 * time.Millisecond) // for the file system's clock to advance
	return f, dir
}

func cacheFile(dir, id string) string { return filepath.Join(dir, session.CacheDir, "sessions", id) }

// TestRemember verifies that a cached outline equals the decoded one, is used only
// for the unchanged file, and that damage of the cache loses nothing.
func TestRemember(t *testing.T) {
	content := string(file(`"title":"T"`, m("a"), message("b", `"tool_call_id":"c1","bough":{"format":"openai"}`), under("a", "c"))) + strings.Repeat(" ", session.MinCachedSize)
	f, dir := oldFolder(t, map[string]string{"conversations/p.json": content, "conversations/q.json": content})
	name := filepath.Join(dir, "conversations", "p.json")
	p := outline(t, f, "p")
	f.Remember(p)
	f.Remember(outline(t, f, "q"))
	cached, err := os.ReadFile(cacheFile(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(cached, session.Encode(p)) {
		t.Error("the cache holds another outline")
	}
	if o := outline(t, f, "p"); o.Stored(0) || !o.Stored(1) || o.Stored(2) {
		t.Error("which messages were stored whole is not remembered")
	}
	if again := outline(t, f, "p"); !session.Remembered(again) || !bytes.Equal(session.Encode(again), cached) {
		t.Errorf("the outline that was remembered is %+v, want %+v", again, p)
	}
	if session.Remembered(outline(t, f.Fresh(), "p")) {
		t.Error("a fresh folder believes the cache")
	}

	other, err := os.ReadFile(cacheFile(dir, "q"))
	if err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string][]byte{
		"truncated":        cached[:len(cached)-1],
		"empty":            {},
		"a byte":           append(bytes.Clone(cached[:40]), append([]byte{cached[40] + 1}, cached[41:]...)...),
		"another's":        other,
		"something":        []byte("bough outline 2\n"),
		"a byte more":      append(bytes.Clone(cached), 0),
		"valid, but empty": withSum([]byte("bough outline 2\n")),
	} {
		if err := os.WriteFile(cacheFile(dir, "p"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if o := outline(t, f, "p"); session.Remembered(o) || !bytes.Equal(session.Encode(o), cached) {
			t.Errorf("with a cache that is %s the outline is %+v, want %+v", what, o, p)
		}
	}

	if err := os.WriteFile(cacheFile(dir, "p"), cached, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace([]byte(content), []byte(`"T"`), []byte(`"U"`), 1)
	if err := os.WriteFile(name, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if st, err := f.Stat("p"); err != nil || st.Changed == 0 {
		t.Logf("this system does not tell a file from one that was changed behind one's back: %v", err)
	} else if o := outline(t, f, "p"); o.Meta.Title != "U" {
		t.Errorf("of a file that was changed, its time set back, the title is %q", o.Meta.Title)
	}
}

// TestRememberLater: a file that changed a moment ago may change again with the
// same time stamp.
func TestRememberLater(t *testing.T) {
	f, dir := folder(t, map[string]string{"conversations/p.json": `{"messages":[]}` + strings.Repeat(" ", session.MinCachedSize)})
	f.Remember(outline(t, f, "p"))
	if _, err := os.Stat(cacheFile(dir, "p")); err == nil {
		t.Error("a file that was made just now is remembered")
	}
	long := []byte(fmt.Sprintf(`{"id":"a","content":%q}`, strings.Repeat("long ", session.MinCachedSize/5)))
	o, err := create(f, dir, &session.Document{ID: "q", Messages: []session.Run{{Raw: long}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Remember(o)
	if !session.Remembered(outline(t, f, "q")) {
		t.Error("a file that bough wrote is not remembered")
	}
	f.Forget("q")
	if session.Remembered(outline(t, f, "q")) {
		t.Error("a removed cache is used")
	}
}

func withSum(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// FuzzOutline: cached bytes with a right or wrong checksum never cause a panic, and
// a decoded outline encodes to the same bytes.
func FuzzOutline(f *testing.F) {
	seeds := []string{`{"messages":[]}`, string(sealed(m("a"), under("a", "b"))), string(file(`"continued_from":"p"`, m("h"), marker("p", ""), message("b", `"tool_call_id":"c1"`)))}
	for _, file := range (testchat.Chat{Messages: 24, PerFile: 12, Text: 20, Odd: true}).Files() {
		seeds = append(seeds, string(file.Data))
	}
	for _, seed := range seeds {
		s, err := session.Decode("s", []byte(seed))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(session.Encode(s.Outline))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4 {
			return
		}
		data = withSum(data[:len(data)-4])
		o := session.DecodeOutline(data)
		if o == nil {
			return
		}
		for i := range o.Len() {
			o.MessageID(i)
			o.Time(i)
			o.Tools(i)
			o.Offset(i)
		}
		if again := session.DecodeOutline(session.Encode(o)); again == nil || !bytes.Equal(session.Encode(again), session.Encode(o)) {
			t.Errorf("%q is read as %+v, and that as %+v", data, o, again)
		}
	})
}

// TestNoCache: a file that bough did not write is not read as a cache, and the
// cache of a deleted session is removed.
func TestNoCache(t *testing.T) {
	content := `{"messages":[]}` + strings.Repeat(" ", session.MinCachedSize)
	f, dir := oldFolder(t, map[string]string{"conversations/p.json": content})
	p := outline(t, f, "p")
	f.Remember(p)
	cached, err := os.ReadFile(cacheFile(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "p")
	for what, make := range map[string]func() error{
		"a link": func() error {
			return errors.Join(os.WriteFile(elsewhere, cached, 0o600), os.Symlink(elsewhere, cacheFile(dir, "p")))
		},
		"a folder": func() error { return os.Mkdir(cacheFile(dir, "p"), 0o700) },
		"endless": func() error {
			return errors.Join(os.WriteFile(cacheFile(dir, "p"), cached, 0o600), os.Truncate(cacheFile(dir, "p"), 1<<40))
		},
	} {
		if err := os.RemoveAll(cacheFile(dir, "p")); err != nil {
			t.Fatal(err)
		}
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if session.Remembered(outline(t, f, "p")) {
			t.Errorf("%s is taken for a cache", what)
		}
	}
	f.ForgetOthers(func(id string) bool { return id == "q" })
	if entries, err := os.ReadDir(filepath.Dir(cacheFile(dir, "p"))); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v is left", entries, err)
	}
}
