//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/lines"
)

// TestAttachmentPipe holds that a named pipe in place of an attachment does not block.
func TestAttachmentPipe(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("Bread")
	file := attachment("a picture")
	name := filepath.Join(s.Dir(), filepath.FromSlash(lines.FilePath(file.SHA256)))
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	if f, err := s.OpenFile(t.Context(), file.SHA256); err == nil {
		f.Close()
		t.Error("a pipe is accepted as an attachment")
	}
	s.expect(doctor.Options{}, doctor.DamagedAttachment)
}
