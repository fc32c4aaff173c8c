package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bough-dev/bough/workspace/files"
)

// snap takes a state of a new folder with some files for the message at a ref. Then it
// writes the files of later, and returns the path of the folder.
func (r *room) snap(ref string, now, later map[string]string) (dir string) {
	r.t.Helper()
	dir, err := filepath.EvalSymlinks(r.t.TempDir())
	if err != nil {
		r.t.Fatal(err)
	}
	write := func(contents map[string]string) {
		for name, text := range contents {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				r.t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	write(now)
	if _, err := r.w.Folder(dir).Snap(r.t.Context(), ref, files.SnapOptions{}); err != nil {
		r.t.Fatal(err)
	}
	write(later)
	return dir
}

// TestShowFile: a long file and a folder with many names are read in pages, which together
// are all of it and are of one state although newer ones come.
func TestShowFile(t *testing.T) {
	r := newRoom(t, nil)
	long := strings.Repeat("Mehl & Wasser – \"naß\"\t\n", 8000)
	contents := map[string]string{"long.txt": long, "image.png": "\x89PNG\x00", "latin.txt": "na\xdf", "empty": ""}
	for i := range 400 {
		contents["many/"+strings.Repeat("name", 20)+string(rune('a'+i%26))+strings.Repeat("x", i/26)] = ""
	}
	dir := r.snap("", contents, map[string]string{"long.txt": "short"})
	c := r.connect(nil)
	text, pages := "", 0
	for next := ""; pages == 0 || next != ""; pages++ {
		in := args{"state": "HEAD", "path": "long.txt"}
		if next != "" {
			in["cursor"] = next
		}
		got := c.call("show_file", in)
		if n := got.Get("offset").Int(); n != int64(len(text)) || len(got.Raw) > 64<<10 || !utf8.ValidString(got.Get("text").String()) {
			t.Fatalf("page %d begins at %d, want %d, and has %d bytes", pages, n, len(text), len(got.Raw))
		}
		text += got.Get("text").String()
		if next = got.Get("next_cursor").String(); pages == 1 {
			r.snapAgain(dir)
		}
	}
	if text != long || pages < 4 {
		t.Errorf("%d pages have %d bytes, want %d", pages, len(text), len(long))
	}
	seen := map[string]bool{}
	in := args{"state": "HEAD", "path": "many"}
	for {
		got := c.call("show_file", in)
		for _, e := range got.Get("entries").Array() {
			seen[e.Get("name").String()] = true
		}
		next := got.Get("next_cursor").String()
		if next == "" {
			break
		}
		in["cursor"] = next
	}
	if len(seen) != 400 {
		t.Errorf("the pages have %d names", len(seen))
	}
	for _, name := range []string{"image.png", "latin.txt"} {
		if got := c.call("show_file", args{"state": "HEAD", "path": name}); !got.Get("binary").Bool() || got.Get("text").Exists() {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := c.call("show_file", args{"state": "HEAD", "path": "empty"}); got.Get("binary").Bool() || got.Get("size").Int() != 0 {
		t.Errorf("an empty file: %s", got)
	}
}

func (r *room) snapAgain(dir string) {
	r.t.Helper()
	if _, err := r.w.Folder(dir).Snap(r.t.Context(), "", files.SnapOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// TestOtherFolders: a model reads no folder that has no states, and no path outside of one.
func TestOtherFolders(t *testing.T) {
	r := newRoom(t, nil)
	dir := r.snap("", map[string]string{"flour": "rye"}, nil)
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := r.connect(nil)
	for _, e := range []struct {
		tool string
		in   args
		want string
	}{
		{"compare_states", args{"dir": other}, "refused: there are no states of a folder"},
		{"compare_states", args{"dir": filepath.Dir(dir)}, "refused: "},
		{"show_file", args{"state": "HEAD", "dir": other, "path": "secret"}, "refused: "},
		{"show_file", args{"state": "HEAD", "path": "../" + filepath.Base(other) + "/secret"}, "usage: "},
		{"show_file", args{"state": "HEAD", "path": "/etc/passwd"}, "usage: "},
		{"show_file", args{"state": "HEAD", "path": "none"}, "not_found: "},
		{"show_file", args{"state": "00000000"}, "not_found: "},
	} {
		if text := c.fails(e.tool, e.in); !strings.HasPrefix(text, e.want) {
			t.Errorf("%s(%v): %q, want %q", e.tool, e.in, text, e.want)
		}
	}
}
