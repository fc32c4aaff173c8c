package workspace_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
)

// TestPackExchange: undo and redo of pack and unpack exchange the plain file and the recipe,
// also if a branch of the checkpoint exists.
func TestPackExchange(t *testing.T) {
	t.Parallel()
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

// TestPackHidden: a recipe that is beside its plain file, as after a pack or unpack that was
// not completed, is moved to the trash by a repair if both have the same bytes; then the
// file can be packed.
func TestPackHidden(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("A trip")
	s.say("Hello", "Where to?")
	same, other := s.checkpoint(root).ID, s.checkpoint(root).ID
	files := map[string]string{}
	for _, id := range []string{same, other} {
		files[id] = s.read(session.FileName(id))
	}
	s.did(packAll)
	s.write(session.FileName(same), files[same])
	s.write(session.FileName(other), strings.Replace(files[other], "Hello", "Bye", 1))
	hidden := func(o doctor.Options) (fixed, notes []string) {
		t.Helper()
		report, err := s.Doctor(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range report.Problems {
			switch {
			case p.Kind != doctor.HiddenRecipe:
			case p.Fixed:
				fixed = append(fixed, p.Path)
			case p.Note:
				notes = append(notes, p.Path)
			}
		}
		return fixed, notes
	}
	recipe := sessions.RecipeFile
	if fixed, notes := hidden(doctor.Options{}); len(fixed) != 0 || len(notes) != 2 {
		t.Errorf("doctor fixes %q and notes %q", fixed, notes)
	}
	third := s.checkpoint(root).ID
	if packed, err := s.Pack(t.Context(), ""); err != nil || len(packed.Checkpoints) != 1 || packed.Checkpoints[0].ID != third {
		t.Errorf("Pack beside a hidden recipe = %+v, %v", packed, err)
	}
	if fixed, notes := hidden(doctor.Options{Fix: true}); !slices.Equal(fixed, []string{recipe(same)}) || !slices.Equal(notes, []string{recipe(other)}) {
		t.Errorf("doctor --fix fixes %q and notes %q", fixed, notes)
	}
	if s.read(session.FileName(same)) != files[same] {
		t.Error("the plain file was changed")
	}
	if fixed, notes := hidden(doctor.Options{}); len(fixed) != 0 || !slices.Equal(notes, []string{recipe(other)}) {
		t.Errorf("then doctor fixes %q and notes %q", fixed, notes)
	}
	if _, err := s.Pack(t.Context(), same); err != nil {
		t.Fatal(err)
	}
	if e := s.entry(same); !e.Packed || s.texts(same) != "Hello Where to?" {
		t.Errorf("packed again, the entry is %+v with %q", e, s.texts(same))
	}
	s.did(unpack(same))
	if s.read(session.FileName(same)) != files[same] {
		t.Error("the unpacked file differs")
	}
}

// TestPackRefused: pack skips a checkpoint whose bytes a recipe cannot have, and reports any
// other failure.
func TestPackRefused(t *testing.T) {
	t.Parallel()
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
