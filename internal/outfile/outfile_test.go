package outfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/outfile"
	"github.com/bough-dev/bough/workspace/fault"
)

func TestOutfile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.svg")
	is := func(want string) {
		t.Helper()
		if data, err := os.ReadFile(path); err != nil || string(data) != want {
			t.Errorf("the file has %q, %v; want %q", data, err, want)
		}
	}
	abs, err := outfile.Create(t.Context(), path, []byte("one"))
	if err != nil || abs != path {
		t.Fatalf("Create returns %q, %v", abs, err)
	}
	is("one")
	var refused *fault.Error
	if _, err := outfile.Create(t.Context(), path, []byte("two")); !errors.As(err, &refused) || refused.Code != fault.Refused {
		t.Errorf("Create of an existing file returns %v", err)
	}
	is("one")
	if _, err := outfile.Replace(t.Context(), path, []byte("two")); err != nil {
		t.Error(err)
	}
	is("two")
	link := filepath.Join(dir, "link.svg")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := outfile.Replace(t.Context(), link, []byte("three")); err != nil {
		t.Error(err)
	}
	is("three")
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is %v, %v", info, err)
	}
	if _, err := outfile.Replace(t.Context(), dir, nil); !errors.As(err, &refused) || refused.Code != fault.Refused {
		t.Errorf("Replace of a folder returns %v", err)
	}
	if _, err := outfile.Replace(t.Context(), filepath.Join(dir, "new.svg"), []byte("new")); err != nil {
		t.Error(err)
	}
}
