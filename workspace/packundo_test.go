package workspace_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
)

// TestPackExchange: undo and redo of pack and unpack exchange the plain file and the recipe,
// also if a branch of the checkpoint exists.
func TestPackExchange(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("A trip")
	s.say("Hello", "Where to?")
	cp := s.checkpoint(root)
	plain := s.read(session.FileName(cp.ID))
	s.branch(cp.ID)
	is := func(when string, packed bool) {
		t.Helper()
		if e := s.entry(cp.ID); e.Packed != packed {
			t.Errorf("%s the entry is %+v", when, e)
		}
		if got := s.texts(cp.ID); got != "Hello Where to?" {
			t.Errorf("%s the checkpoint is %q", when, got)
		}
		if !packed && s.read(session.FileName(cp.ID)) != plain {
			t.Errorf("%s the plain file differs", when)
		}
		s.healthy(when)
	}
	s.did(packAll)
	is("packed,", true)
	s.did(undo)
	is("after undo of pack,", false)
	s.did(redo)
	is("after redo of pack,", true)
	s.did(unpack(cp.ID))
	is("unpacked,", false)
	s.did(undo)
	is("after undo of unpack,", true)
	s.did(redo)
	is("after redo of unpack,", false)
}

// TestPackRefused: pack skips a checkpoint whose bytes a recipe cannot have, and reports any
// other failure.
func TestPackRefused(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("A trip")
	s.say("Hello", "Where to?")
	cp := s.checkpoint(root)
	name := session.FileName(cp.ID)
	s.write(name, strings.Replace(s.read(name), "\n    {", "\n  {", 1))
	packed, err := s.Pack(t.Context(), "")
	if err != nil || len(packed.Checkpoints) != 0 {
		t.Errorf("Pack of another layout = %+v, %v", packed, err)
	}
	s.checkpoint(root)
	if err := os.WriteFile(s.Dir()+"/packed", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if packed, err := s.Pack(t.Context(), ""); err == nil {
		t.Errorf("Pack where no folder is possible = %+v, %v", packed, err)
	}
}
