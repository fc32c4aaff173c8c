package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
)

func (s *space) group(group operation.Seq, parts ...workspace.Part) workspace.Flush {
	s.t.Helper()
	flush, err := s.WriteGroup(s.t.Context(), group, parts...)
	if err != nil {
		s.t.Fatal(err)
	}
	return flush
}

// titled returns parts that make n sessions.
func titled(n int) (parts []workspace.Part) {
	for i := range n {
		parts = append(parts, workspace.Part{Title: fmt.Sprint("Session ", i)})
	}
	return parts
}

// seqs returns the numbers and groups of the operations, newest first.
func (s *space) seqs(o history.LogOptions) string {
	s.t.Helper()
	ops, err := s.Log(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	var list []string
	for _, op := range ops.Operations {
		text := fmt.Sprint(op.Seq)
		if op.Group != 0 {
			text += fmt.Sprint("g", op.Group)
		}
		if op.Undone {
			text += "-"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func (s *space) count() int {
	s.t.Helper()
	list, err := s.List(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	return len(list.Sessions)
}

// TestGroup: undo and redo apply to all operations of a group, with --in to those of one
// session.
func TestGroup(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	first := s.group(0, workspace.Part{Title: "One"}, workspace.Part{Session: bread, Text: "a"})
	s.new("Soup")
	second := s.group(first.Group, workspace.Part{Title: "Two"})
	if first.Group != 2 || second.Group != 2 || len(first.Made) != 2 || second.Made[0].Seq != 5 {
		t.Fatalf("%+v, %+v", first, second)
	}
	before := s.truth()
	want := func(what, log string) {
		t.Helper()
		if got := s.seqs(history.LogOptions{}); got != log {
			t.Errorf("%s: the log is %q, want %q", what, got, log)
		}
	}
	want("at first", "5g2 4 3g2 2g2 1")
	for _, c := range []struct {
		most int
		log  string
	}{{1, "5g2 3g2 2g2"}, {2, "5g2 4 3g2 2g2"}, {3, "5g2 4 3g2 2g2 1"}} {
		if got := s.seqs(history.LogOptions{Limit: c.most, Groups: true}); got != c.log {
			t.Errorf("%d rows of the log are %q, want %q", c.most, got, c.log)
		}
	}
	ops, err := s.Undo(t.Context(), history.UndoOptions{})
	if err != nil || len(ops.Operations) != 3 || ops.Operations[0].Undoes != 2 || ops.Operations[2].Undoes != 5 {
		t.Fatalf("%+v, %v", ops, err)
	}
	want("undone", "8g6 7g6 6g6 5g2- 4 3g2- 2g2- 1")
	if got := s.count(); got != 2 {
		t.Errorf("%d sessions are left, want 2", got)
	}
	if ops, err = s.Redo(t.Context(), history.UndoOptions{}); err != nil || len(ops.Operations) != 3 {
		t.Fatalf("%+v, %v", ops, err)
	}
	want("redone", "11g9 10g9 9g9 8g6- 7g6- 6g6- 5g2 4 3g2 2g2 1")
	if !equalFiles(before, s.truth()) {
		t.Error("undo and redo change the files")
	}
	if o, err := s.undo(bread); err != nil || o.Undoes != 3 || o.Group != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	if ops, err = s.Undo(t.Context(), history.UndoOptions{}); err != nil || len(ops.Operations) != 2 {
		t.Fatalf("the rest: %+v, %v", ops, err)
	}
	if o, err := s.undo(""); err != nil || o.Undoes != 4 {
		t.Fatalf("the operations in between: %+v, %v", o, err)
	}
	healthy(t, s)
}

func equalFiles(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, text := range a {
		if b[name] != text {
			return false
		}
	}
	return true
}

// TestGroupLarge: undo takes back a group that is too large for one step in several steps:
// none of it if one conversation was changed since, and after an interruption the rest of
// it, whatever was done meanwhile.
func TestGroupLarge(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	const n = workspace.MaxOperations
	group := operation.Seq(0)
	for range 3 {
		group = s.group(group, titled(n)...).Group
	}
	list, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	one := list.Sessions[0].ID
	was := s.read(session.FileName(one))
	s.sayForeign(one, "x")
	if _, err := s.undo(""); err == nil || s.count() != 3*n {
		t.Fatalf("%v; %d sessions are left", err, s.count())
	}
	s.replace(session.FileName(one), was)
	flushes := 0
	restore := durable.Interpose(func(_ *os.Root, step durable.Step) error {
		if step.Do == durable.Sync && step.Name == operation.Path {
			if flushes++; flushes == 2 {
				return syscall.EIO
			}
		}
		return nil
	})
	_, err = s.Undo(t.Context(), history.UndoOptions{})
	restore()
	if !errors.Is(err, syscall.EIO) || s.count() != 2*n || !strings.Contains(err.Error(), fmt.Sprintf("%d of %d operations", n, 3*n)) {
		t.Fatalf("%v; %d sessions are left", err, s.count())
	}
	ops, err := s.Undo(t.Context(), history.UndoOptions{})
	if err != nil || len(ops.Operations) != 2*n || s.count() != 0 {
		t.Fatalf("%v; %d sessions are left", err, s.count())
	}
	if ops, err = s.Redo(t.Context(), history.UndoOptions{}); err != nil || len(ops.Operations) != 3*n || s.count() != 3*n {
		t.Fatalf("%v; %d sessions are back", err, s.count())
	}
	healthy(t, s)
}

// TestGroupSame: a session that a group made and changed is undone step by step.
func TestGroupSame(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	first := s.group(0, titled(2)...)
	made := first.Made[0].Sessions[0]
	s.group(first.Group, workspace.Part{Session: made, Text: "a"})
	s.group(first.Group, workspace.Part{Session: made, Text: "b"})
	before := s.truth()
	if ops, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil || len(ops.Operations) != 4 || s.count() != 0 {
		t.Fatalf("%+v, %v", ops, err)
	}
	if ops, err := s.Redo(t.Context(), history.UndoOptions{}); err != nil || len(ops.Operations) != 4 || !equalFiles(before, s.truth()) {
		t.Fatalf("%+v, %v", ops, err)
	}
	if _, err := s.WriteGroup(t.Context(), 0, workspace.Part{Session: made, Text: "c"}, workspace.Part{Session: made, Text: "d"}); err == nil {
		t.Error("two operations at once change a session")
	}
	if !equalFiles(before, s.truth()) {
		t.Error("a group that fails changes files")
	}
	healthy(t, s)
}

// TestGroupPartial: if another program changes a session while a group is written, the
// earlier operations of the group are made and the others are not, and the other program's
// file is kept.
func TestGroupPartial(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	name := session.FileName(bread)
	now := ""
	s.meanwhile(durable.Swap, filepath.Base(name), 1, func() {
		s.sayForeign(bread, "x")
		now = s.read(name)
	})
	flush, err := s.WriteGroup(t.Context(), 0, workspace.Part{Title: "One"}, workspace.Part{Session: bread, Text: "a"}, workspace.Part{Title: "Two"})
	if now == "" {
		t.Skip("the file system cannot exchange two names")
	}
	if !errors.Is(err, durable.ErrChanged) || code(err) != fault.Busy || !strings.Contains(err.Error(), "1 of 3") || !strings.Contains(err.Error(), bread) {
		t.Errorf("the error is %v", err)
	}
	if len(flush.Made) != 1 || flush.Made[0].Seq != 2 || flush.Group != 2 {
		t.Errorf("%+v", flush)
	}
	if got := s.seqs(history.LogOptions{}); got != "2g2 1" || s.count() != 2 || s.read(name) != now {
		t.Errorf("the log is %q, and there are %d sessions", got, s.count())
	}
	s.new("Soup")
	if got := s.seqs(history.LogOptions{}); got != "4 3 2g2 1" { // the changes of the other program
		t.Errorf("the log is %q", got)
	}
	healthy(t, s)
}

// TestGroupInterrupted: after a crash, the log keeps the operations of a group that
// happened, at any place in it, and readers see no other before that.
func TestGroupInterrupted(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("Bread")
	flush := s.group(0, titled(5)...)
	log := strings.TrimSuffix(s.read(operation.Path), "\n")
	if err := os.WriteFile(filepath.Join(s.Dir(), operation.Path), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{1, 2, 4} {
		s.delete(session.FileName(flush.Made[i].Sessions[0]))
	}
	s.delete(session.IndexPath)
	const temp = ".bough/.operations.jsonl" + durable.TempSuffix // of a log that was being replaced
	if err := os.WriteFile(filepath.Join(s.Dir(), temp), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.seqs(history.LogOptions{}); got != "5g2 2g2 1" {
		t.Errorf("a reader finds %q", got)
	}
	s.new("Soup")
	if got := s.seqs(history.LogOptions{}); got != "6 5g2 2g2 1" {
		t.Errorf("the log is %q", got)
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), temp)); err == nil {
		t.Errorf("%s stays", temp)
	}
	if ops, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil || len(ops.Operations) != 1 {
		t.Fatalf("%+v, %v", ops, err)
	}
	if ops, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil || len(ops.Operations) != 2 {
		t.Fatalf("%+v, %v", ops, err)
	}
	healthy(t, s)
}

// TestGroupEvents: each operation of a group is an event, in order.
func TestGroupEvents(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	flush := s.group(0, workspace.Part{Title: "One"}, workspace.Part{Session: bread, Text: "a"}, workspace.Part{Title: "Two"})
	one, two := flush.Made[0].Sessions[0], flush.Made[2].Sessions[0]
	if err := undo(s); err != nil {
		t.Fatal(err)
	}
	s.events(1).want("session_created "+one, "session_changed "+bread, "session_created "+two,
		"session_removed "+two, "session_changed "+bread, "session_removed "+one)
}

// TestGroupLogRepaired: operations that are done stay done when doctor rewrites the log.
func TestGroupLogRepaired(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	flush := s.group(0, titled(3)...)
	if err := os.WriteFile(filepath.Join(s.Dir(), operation.Path), []byte("none\n"+s.read(operation.Path)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.mend()
	s.delete(session.FileName(flush.Made[1].Sessions[0])) // by another program
	s.new("Soup")
	if got := s.seqs(history.LogOptions{}); !strings.HasSuffix(got, "3g1 2g1 1g1") {
		t.Errorf("the log is %q", got)
	}
}

// writeGroups makes groups of new sessions and of messages in the shared lines, and reports
// each when it is made.
func (o *order) writeGroups(w *workspace.Workspace) error {
	tell := json.NewEncoder(os.Stdout)
	group := operation.Seq(0)
	for n := range o.Each {
		parts := titled(4)
		for _, line := range o.Shared {
			parts = append(parts, workspace.Part{Session: line, Text: fmt.Sprint(o.Writer, "/", n)})
		}
		flush, err := w.WriteGroup(context.Background(), group, parts...)
		if err != nil {
			return err
		}
		group = flush.Group
		if err := tell.Encode(flush); err != nil {
			return err
		}
	}
	return nil
}

// TestGroupsConcurrent: if two processes make groups at the same time, each acknowledged
// operation exists once, in its group.
func TestGroupsConcurrent(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	shared := []string{s.new("Bread"), s.new("Soup")}
	const writers = 2
	each := testsize.Of(6, 20, 20)
	var flushes [writers][]workspace.Flush
	done := make(chan error)
	for n := range writers {
		go func() {
			text, err := json.Marshal(order{Writer: n, Dir: s.Dir(), Each: each, Shared: shared, Groups: true})
			if err != nil {
				done <- err
				return
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), writerOrder+"="+string(text))
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			for line := range strings.Lines(string(out)) {
				var flush workspace.Flush
				if json.Unmarshal([]byte(line), &flush) == nil {
					flushes[n] = append(flushes[n], flush)
				}
			}
			done <- err
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	logged := map[operation.Seq]operation.Seq{}
	ops, err := s.Log(t.Context(), history.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range ops.Operations {
		logged[op.Seq] = op.Group
	}
	made := 0
	for n, list := range flushes {
		for _, flush := range list {
			made += len(flush.Made)
			for _, op := range flush.Made {
				if logged[op.Seq] != flush.Group || flush.Group != list[0].Group {
					t.Errorf("operation %d of process %d is in group %d, want %d", op.Seq, n, logged[op.Seq], list[0].Group)
				}
				delete(logged, op.Seq)
			}
		}
	}
	if want := writers * each * 6; made != want || len(logged) != len(shared) || s.count() != len(shared)+writers*each*4 {
		t.Errorf("%d operations, want %d; %d others; %d sessions", made, want, len(logged), s.count())
	}
	for _, line := range shared {
		var texts []string
		for _, m := range s.show(line).Messages {
			texts = append(texts, m.Text())
		}
		slices.Sort(texts)
		if len(slices.Compact(texts)) != writers*each {
			t.Errorf("%s has %d messages", line, len(texts))
		}
	}
	healthy(t, s)
}
