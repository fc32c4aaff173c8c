package sessions_test

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

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// oldFolder creates a folder with files whose last change is old enough, and caches
// their outlines.
func oldFolder(t *testing.T, files map[string]string) (sessions.Folder, string) {
	t.Helper()
	f, dir := folder(t, files)
	for name := range files {
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for name := range files {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for id := durable.Identify(info); !durable.Settled(max(id.Changed, id.ModTime), time.Now()); {
			time.Sleep(time.Millisecond) // then the next change gets another time
		}
	}
	return f, dir
}

func cacheFile(dir, id string) string { return filepath.Join(dir, session.CacheDir, "sessions", id) }

// TestRemember verifies that a cached outline equals the decoded one, is used only
// for the unchanged file, and that damage of the cache loses nothing.
func TestRemember(t *testing.T) {
	content := file(message("a", ""), message("b", `"tool_call_id":"c1","bough":{"format":"openai"}`), message("c", `"parent_id":"a"`)) + strings.Repeat(" ", sessions.MinCachedSize)
	f, dir := oldFolder(t, map[string]string{"conversations/p.json": content, "conversations/q.json": content})
	name := filepath.Join(dir, "conversations", "p.json")
	p := outline(t, f, "p")
	f.Remember(p)
	f.Remember(outline(t, f, "q"))
	cached, err := os.ReadFile(cacheFile(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(cached, sessions.Cached(p)) {
		t.Error("the cache has another outline")
	}
	if o := outline(t, f, "p"); o.Stored(0) || !o.Stored(1) || o.Stored(2) {
		t.Error("the cache does not have which messages were stored completely")
	}
	if again := outline(t, f, "p"); !sessions.Remembered(f, again) || !bytes.Equal(sessions.Cached(again), cached) {
		t.Errorf("the cached outline is %+v, want %+v", again, p)
	}
	retitled := new(session.Outline)
	if err := retitled.Decode("p", []byte(strings.Replace(content, `"T"`, `"U"`, 1))); err != nil {
		t.Fatal(err)
	}
	retitled.Stat = p.Stat
	if err := os.WriteFile(cacheFile(dir, "p"), sessions.Cached(retitled), 0o600); err != nil {
		t.Fatal(err)
	}
	if cached, fresh := outline(t, f, "p"), outline(t, f.Fresh(), "p"); cached.Meta.Title != "U" || fresh.Meta.Title != "T" {
		t.Errorf("a folder has the title %q, want that of the cache, and a fresh one %q", cached.Meta.Title, fresh.Meta.Title)
	}
	if !f.CacheDiffers(p) || f.CacheDiffers(retitled) {
		t.Errorf("the cache differs from the file: %v, from itself: %v", f.CacheDiffers(p), f.CacheDiffers(retitled))
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
		if o := outline(t, f, "p"); sessions.Remembered(f, o) || !bytes.Equal(sessions.Cached(o), cached) {
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
		t.Logf("this system does not report changes of the same size and time: %v", err)
	} else if o := outline(t, f, "p"); o.Meta.Title != "U" {
		t.Errorf("the title of a changed file with its former time is %q", o.Meta.Title)
	}
}

// TestRememberLater: a file that changed a moment ago may change again with the
// same time stamp.
func TestRememberLater(t *testing.T) {
	f, dir := folder(t, map[string]string{"conversations/p.json": `{"messages":[]}` + strings.Repeat(" ", sessions.MinCachedSize)})
	f.Remember(outline(t, f, "p"))
	if _, err := os.Stat(cacheFile(dir, "p")); err == nil {
		t.Error("a recently written file is cached")
	}
	long := []byte(fmt.Sprintf(`{"id":"a","content":%q}`, strings.Repeat("long ", sessions.MinCachedSize/5)))
	o, err := create(f, dir, &session.Document{ID: "q", Messages: []session.Run{{Raw: long}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.RememberWritten(o, sessions.Encode(o))
	if !sessions.Remembered(f, outline(t, f, "q")) {
		t.Error("a file that bough wrote is not cached")
	}
	f.Forget("q")
	if sessions.Remembered(f, outline(t, f, "q")) {
		t.Error("a removed cache is used")
	}
}

func withSum(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// TestNoCache: a file that bough did not write is not read as a cache, and the
// cache of a deleted session is removed.
func TestNoCache(t *testing.T) {
	content := `{"messages":[]}` + strings.Repeat(" ", sessions.MinCachedSize)
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
		if sessions.Remembered(f, outline(t, f, "p")) {
			t.Errorf("%s is read as a cache", what)
		}
	}
	f.ForgetOthers(func(id string) bool { return id == "q" })
	if entries, err := os.ReadDir(filepath.Dir(cacheFile(dir, "p"))); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v is left", entries, err)
	}
}
