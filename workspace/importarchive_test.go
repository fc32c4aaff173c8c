package workspace_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/imports"
)

// TestImportArchive: a file in an archive cannot claim another origin, a nested archive is
// not read, and a tar keeps the lines of a transcript unchanged.
func TestImportArchive(t *testing.T) {
	t.Parallel()
	const line = `{"type":"user","uuid":"11111111-0000-4000-8000-00000000000%","parentUuid":null,"sessionId":"5e550000-0000-4000-8000-00000000000%","timestamp":"2026-03-01T10:00:01.000Z","cwd":"/w","version":"2.1.0","isSidechain":false,"userType":"external","message":{"role":"user","content":"Number %"}}` + "\n"
	numbered := func(n string) string { return strings.ReplaceAll(line, "%", n) }
	var inner bytes.Buffer
	tw := tar.NewWriter(&inner)
	text := "\n" + numbered("3")
	if err := tw.WriteHeader(&tar.Header{Name: "three.jsonl", Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	io.WriteString(tw, text)
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	var outer bytes.Buffer
	zw := zip.NewWriter(&outer)
	for _, part := range [][2]string{{"../../etc/one.jsonl", numbered("1")}, {"/etc/two.jsonl", numbered("2")}, {"inner.tar", inner.String()}} {
		w, err := zw.Create(part[0])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, part[1])
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	path := writeFile(t, "export.zip", outer.String())
	s := openSpace(t, t.TempDir(), 0)
	got, err := s.Import(t.Context(), []string{path}, imports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]imports.Status{
		filepath.Join(path, "etc", "one.jsonl"): imports.New, filepath.Join(path, "etc", "two.jsonl"): imports.New,
		filepath.Join(path, "inner.tar"): imports.Failed,
	}
	if len(got.Imported) != len(want) {
		t.Errorf("%d rows, want %d: %+v", len(got.Imported), len(want), got.Imported)
	}
	for _, r := range got.Imported {
		if want[r.Path] != r.Status {
			t.Errorf("%s is %s (%s), want %s", r.Path, r.Status, r.Detail, want[r.Path])
		}
	}
}
