package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/restores"
)

// newShelf returns a shelf with an empty folder.
func newShelf(t *testing.T) *shelf {
	s := shelfAt(t, filepath.Join(t.TempDir(), "disk"), 1)
	s.put("k", "kept")
	return s
}

// turn adds a message of the user and an answer to the conversation at the head. The turn
// changes files, as a hook notes it; without an end, it was stopped.
func (s *shelf) turn(ends bool, list ...string) (user string) {
	s.Helper()
	said, err := s.Append(s.Context(), workspace.Append{Text: "go"})
	if err != nil {
		s.Fatal(err)
	}
	s.snap("prompt")
	s.put(list...)
	if ends {
		if _, err := s.Append(s.Context(), workspace.Append{Text: "done", Role: "assistant"}); err != nil {
			s.Fatal(err)
		}
		s.snap("end")
	}
	return said.Session + "@" + said.Message
}

func (s *shelf) snap(at string) {
	s.Helper()
	if _, err := s.Folder(s.dir()).Snap(s.Context(), "", files.SnapOptions{At: at}); err != nil {
		s.Fatal(err)
	}
}

// conversation begins one at the head.
func (s *shelf) conversation(title string) {
	s.Helper()
	if _, err := s.New(s.Context(), title); err != nil {
		s.Fatal(err)
	}
}

// conflicts returns the paths of the conflicts that err reports, with the reason if that is not
// the user.
func conflicts(err error) (paths []string) {
	clashes, _ := errors.AsType[*restores.ConflictError](err)
	if clashes == nil || !errors.Is(err, fault.Refused) {
		return nil
	}
	for _, c := range clashes.Conflicts {
		if c.Why != restores.ByUser {
			c.Path += ":" + c.Why
		}
		paths = append(paths, c.Path)
	}
	return paths
}

// TestRestoreTurns: what turns changed goes back, and what changed between them is the user's.
// What an unfinished turn or a turn of another conversation changed is a conflict.
func TestRestoreTurns(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what  string
		story func(s *shelf) (ref string)
		want  string // what the folder has, or the conflicts with "!"
	}{
		{"two turns", func(s *shelf) string {
			ref := s.turn(true, "a", "1", "b", "1")
			s.turn(true, "a", "2", "b", "", "k", "")
			return ref
		}, "k=kept"},
		{"the user between two turns", func(s *shelf) string {
			ref := s.turn(true, "a", "1")
			s.put("mine", "1")
			s.turn(true, "b", "1")
			return ref
		}, "k=kept mine=1"},
		{"the user after the turns", func(s *shelf) string {
			ref := s.turn(true, "a", "1", "d/x", "1")
			s.put("mine", "1", "d/mine", "1")
			return ref
		}, "d/ d/mine=1 k=kept mine=1"},
		{"the same file between two turns", func(s *shelf) string {
			ref := s.turn(true, "k", "1")
			s.put("k", "user")
			s.turn(true, "k", "2")
			return ref
		}, "!k"},
		{"a turn that was stopped", func(s *shelf) string {
			ref := s.turn(true, "a", "1")
			s.turn(false, "b", "1")
			return ref
		}, "!b:no_end"},
		{"a turn that was stopped before the next one", func(s *shelf) string {
			ref := s.turn(false, "a", "1")
			s.turn(true, "b", "1")
			return ref
		}, "!a:no_end"},
		{"after one that was stopped", func(s *shelf) string {
			s.turn(false, "a", "1")
			s.put("mine", "1")
			ref := s.turn(true, "a", "2", "b", "1")
			return ref
		}, "a=1 k=kept mine=1"},
		{"another conversation changed something else", func(s *shelf) string {
			ref := s.turn(true, "a", "1")
			s.conversation("Other")
			s.turn(true, "b", "1")
			return ref
		}, "b=1 k=kept"},
		{"another conversation changed the same", func(s *shelf) string {
			ref := s.turn(true, "a", "1")
			s.conversation("Other")
			s.turn(true, "a", "2")
			return ref
		}, "!a:other_conversation"},
		{"a branch of the conversation changed the same", func(s *shelf) string {
			ref := s.turn(true, "a", "1")
			if _, err := s.Branch(s.Context(), "HEAD", workspace.SnapshotOptions{}); err != nil {
				s.Fatal(err)
			}
			s.turn(true, "a", "2")
			return ref
		}, "k=kept"},
		{"after a restore that was undone, as before it", func(s *shelf) string {
			ref := s.turn(true, "a", "1")
			s.put("mine", "1", "k", "mine")
			for _, o := range []restores.Options{{}, {Whole: true}} {
				if _, err := s.Folder(s.dir()).RestoreFiles(s.Context(), ref, o); err != nil {
					s.Fatal(err)
				}
				if _, err := s.Undo(s.Context(), history.UndoOptions{}); err != nil {
					s.Fatal(err)
				}
			}
			return ref
		}, "k=mine mine=1"},
		{"forth again", func(s *shelf) string {
			ref := s.turn(true, "a", "1")
			s.turn(true, "a", "2", "b", "2")
			if _, err := s.Folder(s.dir()).RestoreFiles(s.Context(), ref, restores.Options{}); err != nil {
				s.Fatal(err)
			}
			return "HEAD"
		}, "a=2 b=2 k=kept"},
	} {
		t.Run(row.what, func(t *testing.T) {
			s := newShelf(t)
			s.conversation("Bread")
			ref := row.story(s)
			before := s.has()
			_, err := s.Folder(s.dir()).RestoreFiles(t.Context(), ref, restores.Options{})
			got := s.has()
			if err != nil {
				if got != before {
					t.Errorf("refused, and the folder has %s", got)
				}
				got = "!" + strings.Join(conflicts(err), " ")
			}
			if got != row.want {
				t.Errorf("%s, %v, want %s", got, err, row.want)
			}
		})
	}
}

// TestRestorePosition: the newest operation is also one that changed only files.
func TestRestorePosition(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.conversation("Bread")
	ref := s.turn(true, "a", "1")
	s.turn(true, "a", "2")
	if _, err := s.Folder(s.dir()).RestoreFiles(t.Context(), ref, restores.Options{}); err != nil {
		t.Fatal(err)
	}
	log, err := s.Log(t.Context(), history.LogOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	at, err := s.Position(t.Context())
	if err != nil || at.Seq != log.Operations[0].Seq {
		t.Errorf("the position is %v, %v, after operation %d", at, err, log.Operations[0].Seq)
	}
}

// TestRestoreHeldOut: what a state does not hold is never touched, under the rules of the state
// or under those of now, not even by a restore of the whole folder.
func TestRestoreHeldOut(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 16<<20+1)
	for _, row := range []struct {
		what       string
		then, now  []string
		kept, gone string // paths
	}{
		{"ignored then", []string{".gitignore", "out\n", "out/a", "1"}, []string{".gitignore", "", "out/b", "2", "c", "2"}, "out/a out/b", "c"},
		{"ignored now", []string{"out/a", "1", "b", "1"}, []string{".gitignore", "out\n", "out/a", "2", "out/c", "2", "d", "1"}, "out/a out/c", "d"},
		{"a secret", []string{"a", "1"}, []string{".env", "KEY=1", "id_rsa", "KEY", "b", "1"}, ".env id_rsa", "b"},
		{"a file over the limit", []string{"a", "1"}, []string{"big", large, "b", "1"}, "big", "b"},
		{"one that was over the limit", []string{"big", large, "a", "1"}, []string{"big", "small", "b", "1"}, "big", "b"},
		{"installed packages", []string{"a", "1"}, []string{"node_modules/a/b.js", "1", "b", "1"}, "node_modules/a/b.js", "b"},
		{"a repository", []string{"a", "1"}, []string{".git/HEAD", "ref: refs/heads/main\n", "lib/.git/HEAD", "ref: x\n", "lib/b", "1"}, ".git/HEAD lib/.git/HEAD", "lib/b"},
	} {
		t.Run(row.what, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			s.conversation("Bread")
			s.put(row.then...)
			ref := s.turn(true)
			s.put(row.now...)
			s.turn(true)
			held := map[string]string{}
			read := func(name string) string {
				data, err := os.ReadFile(filepath.Join(s.dir(), name))
				if err != nil {
					return err.Error()
				}
				return string(data)
			}
			for name := range strings.FieldsSeq(row.kept) {
				held[name] = read(name)
			}
			for _, o := range []restores.Options{{Conflicts: restores.Take}, {Whole: true}} {
				r, err := s.Folder(s.dir()).RestoreFiles(t.Context(), ref, o)
				if err != nil {
					t.Fatal(err)
				}
				for name, was := range held {
					if is := read(name); is != was {
						t.Errorf("%+v: %s has %.20q, not %.20q", o, name, is, was)
					}
					if slices.Contains(r.Written, name) || slices.Contains(r.Deleted, name) {
						t.Errorf("%+v: %s is in %+v", o, name, r)
					}
				}
			}
			for name := range strings.FieldsSeq(row.gone) {
				if _, err := os.Lstat(filepath.Join(s.dir(), name)); err == nil {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
}

// TestRestoreRemovedState: an undo whose states were removed is refused, and says so.
func TestRestoreRemovedState(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.conversation("Bread")
	ref := s.turn(true, "a", "1")
	if _, err := s.Folder(s.dir()).Rewind(t.Context(), ref, checkpoint.CutOptions{}, restores.Options{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(s.Dir(), "states", "states.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, `"at":"restore"`) })
	if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	head := s.head()
	_, err = s.Undo(context.Background(), history.UndoOptions{})
	if !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "were removed") || s.has() != "k=kept" || s.head() != head {
		t.Errorf("%v: the folder has %s, the head is %s", err, s.has(), s.head())
	}
}

// TestFolderIsSwapped: a directory that takes the path of a folder after that was read is not
// changed, even if it has the same files.
func TestFolderIsSwapped(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.conversation("Bread")
	ref := s.turn(true, "a", "1", "k", "2")
	home := filepath.Dir(s.dir())
	swapped := false
	w, err := workspace.Open(t.Context(), s.Dir(), &workspace.Options{
		UserState: filepath.Join(s.base, ".."),
		Progress: func(string, int64, int64) {
			if !swapped {
				swapped = true
				if err := errors.Join(os.Rename(s.dir(), filepath.Join(home, "away")), os.CopyFS(s.dir(), os.DirFS(filepath.Join(home, "away")))); err != nil {
					t.Error(err)
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	had := s.has()
	s.put("k", "3") // so that the folder is read
	_, err = w.Folder(s.dir()).RestoreFiles(t.Context(), ref, restores.Options{Whole: true})
	if !swapped || !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "another folder took the path") || s.has() != strings.Replace(had, "k=2", "k=3", 1) {
		t.Errorf("swapped: %t, %v; the other folder has %s", swapped, err, s.has())
	}
	list, err := s.States(t.Context(), "")
	if err != nil || slices.ContainsFunc(list.States, func(st files.State) bool { return st.At == "restore" }) {
		t.Errorf("states %v: %v", list.States, err)
	}
	if problems, err := s.Doctor(t.Context(), doctor.Options{}); err != nil || len(problems.Problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestRestoreOnFullDisk: a restore that cannot write its new files says that nothing was changed.
func TestRestoreOnFullDisk(t *testing.T) {
	s := newShelf(t)
	s.conversation("Bread")
	ref := s.turn(true, "a", "1", "k", "2")
	had := s.has()
	restore := durable.Interpose(func(root *os.Root, st durable.Step) error {
		if st.Do == durable.Write && root.Name() == s.dir() {
			return syscall.ENOSPC
		}
		return nil
	})
	_, err := s.Folder(s.dir()).Rewind(t.Context(), ref, checkpoint.CutOptions{}, restores.Options{})
	restore()
	if e := workspace.Explain(err); !errors.Is(err, syscall.ENOSPC) || e.Code != fault.Failed || e.Hint != "nothing was changed" {
		t.Errorf("%v, hint %q", err, e.Hint)
	}
	if s.has() != had {
		t.Errorf("the folder has %s", s.has())
	}
}
