package workspace_test

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// TestAlignedFiles: where files can share blocks, the white space that aligns messages
// survives all verbs: undo restores each file byte for byte, and a checkpoint that is packed
// and unpacked is the same. Without sharing there is no such white space.
func TestAlignedFiles(t *testing.T) {
	t.Parallel()
	const block = 512
	defer durable.AssumeBlockSize(block)()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("A trip")
	for range 60 {
		s.say(strings.Repeat("some words of text ", 100))
	}
	offset := func(id string, i int) int { return s.session(id).Offset(i) % block }
	want := offset(root, 0)
	snap := s.checkpoint("@")
	if got := offset(snap.ID, 0); got != want {
		t.Errorf("the messages of the checkpoint begin at %d of a block, want %d", got, want)
	}
	before := s.read(session.FileName(root))
	if _, err := s.Rename(t.Context(), root, "Another title of the trip"); err != nil {
		t.Fatal(err)
	}
	renamed := s.read(session.FileName(root))
	if got := offset(root, 0); got != want {
		t.Errorf("after a rename the messages begin at %d of a block, want %d", got, want)
	}
	s.append(workspace.Append{Session: root, Text: "And then?"})
	if got := offset(root, 0); got != want {
		t.Errorf("after an append the messages begin at %d of a block, want %d", got, want)
	}
	if !strings.HasPrefix(s.texts(root), s.texts(snap.ID)) {
		t.Errorf("the messages changed: %q", s.texts(root))
	}
	s.healthy("aligned")
	for _, content := range []string{renamed, before} {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
		if s.read(session.FileName(root)) != content {
			t.Error("undo does not restore the file byte for byte")
		}
	}

	branch := s.branch(root)
	s.append(workspace.Append{Session: branch.ID, Text: strings.Repeat("In the branch. ", 10_000)})
	whole := s.checkpoint(branch.ID)
	if got := offset(whole.ID, 60); got != offset(branch.ID, 60) {
		t.Errorf("a message begins at %d of a block, want %d", got, offset(branch.ID, 60))
	}
	for _, id := range []string{snap.ID, whole.ID} {
		content := s.read(session.FileName(id))
		if _, err := s.Pack(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Unpack(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if s.read(session.FileName(id)) != content {
			t.Errorf("%s packed and unpacked is not the same", id)
		}
	}
	packed := s.packed(whole.ID)
	if s.texts(packed.ID) != s.texts(whole.ID) {
		t.Errorf("the packed checkpoint has the messages %q", s.texts(packed.ID))
	}
	copied := s.branch(s.packed(root).ID)
	if got := s.read(session.FileName(copied.ID)); !strings.Contains(got, "\n  \"messages\"") {
		t.Error("a branch of a packed checkpoint, which shares nothing, is aligned")
	}
	s.healthy("at the end")
}
