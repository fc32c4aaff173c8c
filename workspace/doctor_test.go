package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
)

// kinds returns the kinds of the problems that doctor finds, and marks the repaired ones.
func (s *space) kinds(o doctor.Options) (kinds []string) {
	s.t.Helper()
	report, err := s.Doctor(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range report.Problems {
		if p.Fixed {
			p.Kind += " fixed"
		}
		kinds = append(kinds, p.Kind)
	}
	return kinds
}

func (s *space) expect(o doctor.Options, want ...string) {
	s.t.Helper()
	if got := s.kinds(o); !slices.Equal(got, want) {
		s.t.Errorf("doctor finds %q, want %q", got, want)
	}
}

// TestDoctorHead: an unreadable head is ignored, and --fix moves it to the trash.
func TestDoctorHead(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"", "{", "[]", "\xff", `{"session_id":5}`, `{"session_id":"gone","message_id":null}`} {
		s := openSpace(t, t.TempDir(), 0)
		s.new("")
		s.write("head.json", head)
		s.expect(doctor.Options{}, doctor.LostHead)
		s.expect(doctor.Options{Fix: true}, doctor.LostHead+" fixed")
		s.expect(doctor.Options{})
		if got := s.trash(); len(got) != 1 || filepath.Base(got[0]) != "head.json" {
			t.Errorf("head %q: the trash holds %q", head, got)
		}
	}
}

// TestDoctorSameTime: doctor reads every file and detects an edit that changed neither size
// nor time.
func TestDoctorSameTime(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	name := session.FileName(id)
	info, err := os.Stat(filepath.Join(s.Dir(), name))
	if err != nil {
		t.Fatal(err)
	}
	s.write(name, strings.Replace(s.read(name), "Bread", "Broad", 1))
	if err := os.Chtimes(filepath.Join(s.Dir(), name), time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	s.expect(doctor.Options{}, doctor.StaleIndex)
	s.expect(doctor.Options{Fix: true}, doctor.StaleIndex+" fixed")
	s.expect(doctor.Options{})
	if got := s.entry(id).Title; got != "Broad" {
		t.Errorf("the title is %q", got)
	}
}

// TestDoctorWhileWriting: an incomplete write is not reported while its writer holds the
// lock, and is a note otherwise. Only Fix removes it.
func TestDoctorWhileWriting(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("")
	left := "conversations/.session_index.json" + durable.TempSuffix
	s.write(left, "{")
	unlock := s.lock(writelock.Holder{})
	s.expect(doctor.Options{})
	s.read(left)
	unlock()
	before := s.everything()
	report, err := s.Doctor(t.Context(), doctor.Options{})
	if err != nil || !report.OK || len(report.Problems) != 1 || report.Problems[0].Kind != doctor.LeftOver || !report.Problems[0].Note {
		t.Errorf("doctor finds %+v, %v", report, err)
	}
	sameFiles(t, "doctor", before, s.everything())
	s.expect(doctor.Options{Fix: true})
	if _, err := os.Stat(filepath.Join(s.Dir(), filepath.FromSlash(left))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary file is still there: %v", err)
	}
}

// TestReadWhileWriting: a reader does not report an index that a writer is about to
// complete.
func TestReadWhileWriting(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("")
	unlock := s.lock(writelock.Holder{})
	s.write("conversations/new.json", `{"messages":[]}`)
	s.show(id)
	if len(s.notes) > 0 {
		t.Errorf("notes while the lock is held: %q", s.notes)
	}
	unlock()
	s.show(id)
	if len(s.notes) != 1 {
		t.Errorf("notes without a writer: %q", s.notes)
	}
}

// A spoiler is a source of ids that puts a folder in the place of the index when a verb
// asks for its first id.
type spoiler struct{ path string }

func (sp spoiler) Read(b []byte) (int, error) {
	os.Remove(sp.path)
	os.Mkdir(sp.path, 0o700)
	for i := range b {
		b[i] = byte(time.Now().UnixNano() >> (i % 8))
	}
	return len(b), nil
}

// TestChangeWithIndex: a change whose index cannot be written is not made.
func TestChangeWithIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSpace(t, dir, 0)
	id := s.new("")
	before := s.read(session.FileName(id))
	w, err := workspace.Open(t.Context(), dir, &workspace.Options{
		Random: spoiler{filepath.Join(dir, session.Dir, session.IndexFile)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), workspace.Append{Session: id, Text: "hello"}); err == nil || !strings.Contains(err.Error(), "folder, not a regular file") {
		t.Errorf("Append = %v", err)
	}
	if got := s.read(session.FileName(id)); got != before {
		t.Errorf("the session is now %s", got)
	}
	for name := range s.files() {
		if strings.Contains(name, durable.TempSuffix) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestLinkIsCompleted: after a crash between a continuation and the link to it, the next
// message completes the link, even if no log mentions it.
func TestLinkIsCompleted(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("")
	s.say("a", "b")
	before := s.read(session.FileName(root))
	s.say("c")
	s.write(session.FileName(root), before)
	if err := os.Remove(filepath.Join(s.Dir(), filepath.FromSlash(operation.Path))); err != nil {
		t.Fatal(err)
	}
	s.expect(doctor.Options{}, doctor.OneSidedLink)
	s.say("d")
	s.expect(doctor.Options{})
	if got := s.texts(root); got != "a b c d" {
		t.Errorf("the conversation is %q", got)
	}
}

// TestRemoveBelowPenguin: an automatic checkpoint of Penguin's needs the files before it.
func TestRemoveBelowPenguin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, fixtures.Penguin()); err != nil {
		t.Fatal(err)
	}
	s := openSpace(t, dir, 0)
	line := workspace.RemoveOptions{Line: true}
	_, err := s.Remove(t.Context(), "Sourdough, take two", line)
	if code(err) != fault.HasChildren || !strings.Contains(err.Error(), "cp_") {
		t.Errorf("Remove = %v", err)
	}
	line.Force = true
	if _, err := s.Remove(t.Context(), "Sourdough, take two", line); err != nil {
		t.Errorf("Remove with force = %v", err)
	}
}
