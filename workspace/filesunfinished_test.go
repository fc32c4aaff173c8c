package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/restores"
)

// interrupt leaves a restore of files and head to the checkpoint half done, and returns its
// journals.
func (s *shelf) interrupt() {
	s.Helper()
	moves := 0
	stop := durable.Interpose(func(root *os.Root, step durable.Step) error {
		if root.Name() == s.dir() && (step.Do == durable.Swap || step.Do == durable.Rename) {
			moves++
		}
		if moves > 1 {
			return errors.New("killed")
		}
		return nil
	})
	_, err := s.Folder(s.dir()).Restore(s.Context(), "Kept", restores.Options{})
	if stop(); err == nil || len(s.journals()) != 1 {
		s.Fatalf("interrupted: %v, %q", err, s.journals())
	}
}

func (s *shelf) journals() []string {
	list, _ := filepath.Glob(filepath.Join(s.base, "ws", "states", "restoring", "*"))
	return list
}

// noting returns s with the notes that it adds to.
func (s *shelf) noting() (*shelf, *[]string) {
	notes := &[]string{}
	with := *s
	with.Workspace = s.Observed(nil, func(note string) { *notes = append(*notes, note) })
	return &with, notes
}

// verbs returns the newest operations, the newest one first.
func (s *shelf) verbs(n int) string {
	s.Helper()
	ops, err := s.Log(s.Context(), history.LogOptions{Limit: n})
	if err != nil {
		s.Fatal(err)
	}
	var list []string
	for _, op := range ops.Operations {
		list = append(list, op.Verb)
	}
	return strings.Join(list, " ")
}

// TestWritersCompleteRestores: each verb that changes the workspace first completes an
// interrupted restore, with its operation and its head.
func TestWritersCompleteRestores(t *testing.T) {
	for verb, do := range map[string]func(*shelf) error{
		"append": func(s *shelf) error {
			_, err := s.Append(s.Context(), workspace.Append{Text: "three"})
			return err
		},
		"rewind": func(s *shelf) error {
			_, err := s.Rewind(s.Context(), "Bread@last", checkpoint.CutOptions{})
			return err
		},
		"checkpoint": func(s *shelf) error {
			_, err := s.Checkpoint(s.Context(), "Bread@last", workspace.SnapshotOptions{Name: "Other"})
			return err
		},
	} {
		s := shelfWithStates(t)
		s.interrupt()
		s, notes := s.noting()
		if err := do(s); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		if got := s.verbs(2); s.has() != "a=1 d/ d/b=1" || len(s.journals()) > 0 || got != verb+" restore" {
			t.Errorf("%s: the folder has %s, the newest operations are %s, %q is left", verb, s.has(), got, s.journals())
		}
		if !slices.Contains(*notes, "an interrupted restore of "+s.dir()+" was completed") {
			t.Errorf("%s: the notes are %q", verb, *notes)
		}
	}
}

// TestCompletedLate: a writer continues if the folder of an interrupted restore is gone, and says
// so. When the folder is back, its files are completed, but the head, which was moved meanwhile,
// stays, also if it was moved back.
func TestCompletedLate(t *testing.T) {
	for _, back := range []bool{false, true} {
		s := shelfWithStates(t)
		s.interrupt()
		was := s.head()
		if err := os.Rename(s.dir(), s.dir()+"2"); err != nil {
			t.Fatal(err)
		}
		writer, notes := s.noting()
		if _, err := writer.Append(t.Context(), workspace.Append{Text: "three"}); err != nil {
			t.Fatal(err)
		}
		if len(*notes) != 1 || !strings.HasPrefix((*notes)[0], "an interrupted restore of "+s.dir()+" is not complete: ") || !strings.HasSuffix((*notes)[0], " (unfinished_restore)") {
			t.Errorf("the notes are %q", *notes)
		}
		if back {
			if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil || s.head() != was {
				t.Fatalf("undo: %v, the head is %s", err, s.head())
			}
		}
		head := s.head()
		if err := os.Rename(s.dir()+"2", s.dir()); err != nil {
			t.Fatal(err)
		}
		s.snap("manual")
		if s.has() != "a=1 d/ d/b=1" || s.head() != head || s.newest() != "restore" || len(s.journals()) > 0 {
			t.Errorf("moved back %t: the folder has %s, the head is %s, not %s; %q is left", back, s.has(), s.head(), head, s.journals())
		}
	}
}

// TestFolderInUse: a writer does not wait long for the lock of the folder of an interrupted
// restore, and continues.
func TestFolderInUse(t *testing.T) {
	s := shelfWithStates(t)
	s.interrupt()
	state, err := os.OpenRoot(filepath.Join(s.base, ".."))
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	locks, err := filepath.Glob(filepath.Join(state.Name(), "folders", "*"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("%q, %v", locks, err)
	}
	unlock, err := writelock.Lock(t.Context(), state, "folders/"+filepath.Base(locks[0]), writelock.Holder{PID: 7, Verb: "watch"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	var notes []string
	w, err := workspace.Open(t.Context(), filepath.Join(s.base, "ws"), &workspace.Options{
		Settle: -1, Wait: -1, UserState: filepath.Join(s.base, ".."), Note: func(note string) { notes = append(notes, note) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), workspace.Append{Text: "three"}); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "process 7 (watch") || s.newest() != "append" || len(s.journals()) != 1 {
		t.Errorf("the notes are %q, the newest operation is %s", notes, s.newest())
	}
}

// TestUnusedJournalFolder: what an interrupted write of a journal left is removed by the next
// writer.
func TestUnusedJournalFolder(t *testing.T) {
	s := shelfWithStates(t)
	dir := filepath.Join(s.base, "ws", "states", "restoring")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".x.journal"+durable.TempSuffix), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), workspace.Append{Text: "three"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Errorf("%q is left", s.journals())
	}
}

// TestUndoOfDamagedJournal: undo does not undo the operation before an interrupted restore
// because the journal of that is damaged; after a repair it does.
func TestUndoOfDamagedJournal(t *testing.T) {
	s := shelfWithStates(t)
	s.interrupt()
	journal, verb := s.journals()[0], s.newest()
	if err := os.WriteFile(journal, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, undo := range map[string]func() error{
		"undo":   func() error { _, err := s.Undo(t.Context(), history.UndoOptions{}); return err },
		"undo 2": func() error { _, err := s.Undo(t.Context(), history.UndoOptions{Count: 2}); return err },
		"redo":   func() error { _, err := s.Redo(t.Context(), history.UndoOptions{}); return err },
	} {
		e, ok := errors.AsType[*fault.Error](undo())
		if !ok || e.Code != fault.Damaged || !strings.Contains(e.Message, "states/restoring/"+filepath.Base(journal)) || e.Next.Do != fault.Examine || s.newest() != verb {
			t.Errorf("%s: %+v, the newest operation is %s", what, e, s.newest())
		}
	}
	if _, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil {
		t.Fatal(err)
	}
	done, err := s.Undo(t.Context(), history.UndoOptions{})
	if err != nil || done.Operations[0].Original.Verb != verb || len(s.journals()) > 0 {
		t.Errorf("after the repair: %+v, %v; %q is left", done, err, s.journals())
	}
}

// TestInterruptedElsewhere: a folder that another workspace has not restored completely is
// refused, and the error names that workspace.
func TestInterruptedElsewhere(t *testing.T) {
	s := shelfWithStates(t)
	other, err := workspace.Open(t.Context(), filepath.Join(s.base, "other"), &workspace.Options{Settle: -1, UserState: filepath.Join(s.base, "..")})
	if err != nil {
		t.Fatal(err)
	}
	snap := func() error {
		_, err := other.Folder(s.dir()).Snap(t.Context(), "", files.SnapOptions{})
		return err
	}
	if err := snap(); err != nil {
		t.Fatal(err)
	}
	s.interrupt()
	ws := filepath.Join(s.base, "ws")
	e, ok := errors.AsType[*fault.Error](snap())
	if !ok || e.Code != fault.Refused || !strings.Contains(e.Message, ws) || e.Next.Do != fault.CompleteElsewhere || !slices.Equal(e.Next.Args, []string{ws}) {
		t.Errorf("unfinished: %+v", e)
	}
	if err := os.Rename(ws, ws+"2"); err != nil {
		t.Fatal(err)
	}
	if e, ok := errors.AsType[*fault.Error](snap()); !ok || e.Code != fault.Refused || !strings.Contains(e.Message, ws) || !strings.Contains(e.Message, filepath.Join(s.dir(), ".restore-")) {
		t.Errorf("without the workspace: %+v", e)
	}
	if err := os.Rename(ws+"2", ws); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil || s.has() != "a=1 d/ d/b=1" {
		t.Errorf("completed: %v, the folder has %s", err, s.has())
	}
	if err := snap(); err != nil {
		t.Errorf("after it was completed: %v", err)
	}
	s.interruptAgain(t, snap)
}

// interruptAgain checks that a notice of a restore is ignored if its folder was replaced, or its
// workspace is gone and nothing is left in the folder.
func (s *shelf) interruptAgain(t *testing.T, snap func() error) {
	t.Helper()
	if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	s.interrupt()
	stages, _ := filepath.Glob(filepath.Join(s.dir(), ".restore-*"))
	if err := errors.Join(os.RemoveAll(stages[0]), os.RemoveAll(filepath.Join(s.base, "ws"))); err != nil {
		t.Fatal(err)
	}
	if err := snap(); err != nil {
		t.Errorf("nothing is left of the restore: %v", err)
	}
}
