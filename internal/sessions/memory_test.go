package sessions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/sessions"
)

// TestDecoded verifies when an outline is kept in memory: as long as neither the file nor its
// cached outline changes.
func TestDecoded(t *testing.T) {
	content := file(message("a", ""), message("b", "")) + strings.Repeat(" ", sessions.MinCachedSize)
	f, dir := oldFolder(t, map[string]string{"conversations/p.json": content})
	name := filepath.Join(dir, "conversations", "p.json")
	first := outline(t, f, "p")
	if outline(t, f, "p") == first {
		t.Error("an outline that is not in the cache is kept")
	}
	f.Remember(first)
	kept := outline(t, f, "p")
	if outline(t, f, "p") != kept {
		t.Error("the outline of an unchanged file is decoded again")
	}
	if outline(t, f.Fresh(), "p") == kept {
		t.Error("a fresh folder uses the cache")
	}

	for what, change := range map[string]func(){
		"the cached outline is missing": func() { f.Forget("p") },
		"the cached outline is damaged": func() {
			if err := os.WriteFile(cacheFile(dir, "p"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"the file changed": func() {
			if err := os.WriteFile(name, []byte(strings.Replace(content, `"T"`, `"U"`, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"the file has another time": func() {
			if err := os.Chtimes(name, time.Now().Add(-time.Minute), time.Now().Add(-time.Minute)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for o := outline(t, f, "p"); !sessions.Remembered(f, o); o = outline(t, f, "p") {
			f.Remember(o) // as soon as the change is old enough
		}
		kept := outline(t, f, "p")
		if outline(t, f, "p") != kept {
			t.Fatalf("before %s: the outline is not kept", what)
		}
		change()
		if outline(t, f, "p") == kept {
			t.Errorf("%s: the outline is kept", what)
		}
	}
}

// TestDecodedLimit: the outlines in memory are forgotten before their cache files exceed the
// limit.
func TestDecodedLimit(t *testing.T) {
	m := &sessions.Memory{}
	const size = sessions.MaxDecoded / 4
	for i, want := range []int{1, 2, 3, 4, 1, 2} {
		n, total := sessions.Keep(m, string(rune('a'+i)), size)
		if n != want || total != int64(want)*size {
			t.Errorf("after %d outlines %d are kept, of %d bytes, want %d", i+1, n, total, want)
		}
	}
	if n, total := sessions.Keep(m, "f", size/2); n != 2 || total != size+size/2 {
		t.Errorf("with a smaller one of the same session %d are kept, of %d bytes", n, total)
	}
}
