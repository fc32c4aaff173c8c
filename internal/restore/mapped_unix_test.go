//go:build unix

package restore_test

import (
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/restore"
)

// TestMappedFiles: what a program writes through a mapping, which need not change the times of the
// file, is not lost, whether it was written since the state or while files change.
func TestMappedFiles(t *testing.T) {
	for _, row := range []struct {
		when  string
		after bool
		want  state
		kept  string
	}{
		{"before the restore", false, parse("new:=1\nold:=X"), "old=changed"},
		{"after the path changed", true, parse("new:=1\nold:=1\nold.bough-kept-1:=X"), "old=changedold.bough-kept-1"},
	} {
		t.Run(row.when, func(t *testing.T) {
			s := turn("old:=1\nnew:=1", "old:=2")
			d := newDesk(t, s.now)
			f, err := os.OpenFile(filepath.Join(d.dir, "old"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			mapped, err := syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Munmap(mapped)
			mapped[0] = '2' // from here on the times need not change
			p := s.plan(t, restore.Options{})
			if !row.after {
				mapped[0] = 'X'
			}
			changed := false
			d.interpose(func(s durable.Step) error {
				if changed = changed || s.Do == durable.Swap; changed && s.Do == durable.SyncDir && row.after {
					mapped[0] = 'X'
				}
				return nil
			})
			r := d.apply(s.objects, p)
			if got := d.read(); !maps.Equal(got, row.want) || kept(r) != row.kept {
				t.Errorf("the folder has %q, kept %q", got, kept(r))
			}
		})
	}
}
