package restore_test

import (
	"maps"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/internal/restore"
)

// TestLocked: a file that another program has open without sharing is kept, and the others
// change.
func TestLocked(t *testing.T) {
	s := turn("a:f666 1\nb:f666 1", "a:f666 2\nb:f666 2")
	d := newDesk(t, s.now)
	name, err := syscall.UTF16PtrFromString(filepath.Join(d.dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ, 0, nil, syscall.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := d.apply(s.objects, s.plan(t, restore.Options{}))
	syscall.CloseHandle(h)
	if got, want := d.read(), (state{"a": "f666 2", "b": "f666 1"}); !maps.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	if got := kept(r); got != "a=locked" {
		t.Errorf("kept %s", got)
	}
}
