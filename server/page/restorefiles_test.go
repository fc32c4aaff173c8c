package page_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/files"
)

// TestRestoreFiles: a form brings files back, says so with an undo, and shows what changed. A form
// with a folder that has no states is refused.
func TestRestoreFiles(t *testing.T) {
	v := visit(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "flour")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	v.act("new", "title", "Bread")
	for _, text := range []string{"rye\n", "wheat\n"} {
		v.act("append", "content", text)
		write(text)
		if _, err := v.w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	status, d := v.act("rewind/files", "ref", "Bread@first")
	if status != http.StatusOK || !strings.HasPrefix(d.Said, "Restored files of") || d.Undo == nil || !strings.HasPrefix(d.To, "/files/diff?from=") || read() != "rye\n" {
		t.Errorf("status %d, %+v, the file is %q", status, d, read())
	}
	if text := body(t, v.get(d.To)); !strings.Contains(text, "1 file: 1 changed") {
		t.Errorf("what was restored is shown as %s", text)
	}
	if status, d = v.act("undo", "seq", jsonNumber(*d.Undo)); status != http.StatusOK || read() != "wheat\n" {
		t.Errorf("undo: status %d, %+v, the file is %q", status, d, read())
	}
	if status, d = v.act("rewind/both", "ref", "Bread@first"); status != http.StatusOK || !strings.HasSuffix(d.Said, ", with the files") || !strings.HasPrefix(d.To, "/c/") || read() != "rye\n" {
		t.Errorf("both: status %d, %+v, the file is %q", status, d, read())
	}
	if status, d = v.act("rewind/files", "ref", "Bread@first"); status != http.StatusOK || d.Said != "Nothing has changed" {
		t.Errorf("again: status %d, %+v", status, d)
	}
	v.act("undo", "seq", newestSeq(t, v.w))
	write("spelt\n")
	if status, d = v.act("rewind/files", "ref", "Bread@first"); status != http.StatusConflict || d.Error.Code != "refused" || read() != "spelt\n" {
		t.Errorf("a conflict: status %d, %+v, the file is %q", status, d, read())
	}
	if status, d = v.act("rewind/files", "ref", "Bread@first", "conflicts", "take"); status != http.StatusOK || read() != "rye\n" {
		t.Errorf("taken: status %d, %+v, the file is %q", status, d, read())
	}
	if status, d = v.act("rewind/files", "ref", "Bread@first", "dir", filepath.Dir(dir)); status != http.StatusConflict {
		t.Errorf("another folder: status %d, %+v", status, d)
	}
	if a := v.post("/do/rewind/files", url.Values{"ref": {"Bread@first"}, "whole": {"true"}, "back": {"/files/restore?ref=Bread@first"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("without scripts: status %d: %s", a.StatusCode, body(t, a))
	}
}

// TestRestoreKept: after a restore the page lists the paths that it kept, with the reason, also if
// the head moved. Only the paths that the form names change.
func TestRestoreKept(t *testing.T) {
	v := visit(t)
	dir := t.TempDir()
	write := func(contents map[string]string) {
		t.Helper()
		for name, text := range contents {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	v.act("new", "title", "Bread")
	for _, text := range []string{"rye\n", "wheat\n"} {
		v.act("append", "content", text)
		write(map[string]string{"flour": text, "salt": text, "water": text})
		if _, err := v.w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	write(map[string]string{"flour": "spelt\n"})
	for verb, said := range map[string]string{"rewind/files": "Restored files of", "rewind/both": "Continuing from here"} {
		status, d := v.act(verb, "ref", "Bread@first", "conflicts", "keep", "only", "flour", "only", "salt")
		if status != http.StatusOK || !strings.HasPrefix(d.Said, said) || !strings.HasPrefix(d.To, "/files/diff?from=") {
			t.Fatalf("%s: status %d, %+v", verb, status, d)
		}
		text := body(t, v.get(d.To))
		if !strings.Contains(text, "1 file: 1 changed") || !strings.Contains(text, "Kept, although they differ") || !strings.Contains(text, "others changed it too") {
			t.Errorf("%s: what was kept is shown as %s", verb, text)
		}
		if water, err := os.ReadFile(filepath.Join(dir, "water")); err != nil || string(water) != "wheat\n" {
			t.Errorf("%s: water is %q, %v", verb, water, err)
		}
		v.act("undo", "seq", jsonNumber(*d.Undo))
	}
	if text := body(t, v.get("/files/diff?from=Bread@first")); strings.Contains(text, "Kept, although") {
		t.Error("a comparison that is not of a restore lists what was kept")
	}
}
