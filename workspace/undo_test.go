package workspace_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/trash"
)

// truth returns the files of the workspace except for caches, logs and the trash.
func (s *space) truth() map[string]string {
	files := s.files()
	maps.DeleteFunc(files, func(name, _ string) bool {
		return strings.HasPrefix(name, ".bough/") || name == session.IndexPath
	})
	return files
}

func (s *space) undo(in string) (*history.Operation, error) {
	ops, err := s.Undo(s.t.Context(), history.UndoOptions{In: in})
	if err != nil {
		return nil, err
	}
	return &ops.Operations[0], nil
}

func (s *space) redo(in string) (*history.Operation, error) {
	ops, err := s.Redo(s.t.Context(), history.UndoOptions{In: in})
	if err != nil {
		return nil, err
	}
	return &ops.Operations[0], nil
}

// every runs each verb that changes something and calls done after each.
func every(s *space, done func(verb string)) {
	ctx := s.t.Context()
	must := func(verb string, err error) {
		if err != nil {
			s.t.Fatalf("%s: %v", verb, err)
		}
		done(verb)
	}
	root := s.new("Bread")
	done("new")
	for _, text := range []string{"a", "b", "c \u2028 \"\\ud83d\" ä", "d", "e"} {
		_, err := s.Append(ctx, workspace.Append{Text: text})
		must("append "+text, err)
	}
	first := s.show(root).Messages[0].ID
	_, err := s.Append(ctx, workspace.Append{Session: root, Text: "in place", Parent: first})
	must("append in place", err)
	_, err = s.Line(root).Store(ctx, lines.Message{Parent: first, Content: says("user", "stored"), Meta: []byte(`{"a":1}`)})
	must("store", err)
	_, err = s.Line(root).SetMeta(ctx, first, []byte(`{"b":[2]}`))
	must("annotate", err)
	_, err = s.Line(root).SetConfigs(ctx, []byte(`{"c":{}}`), true)
	must("configure", err)
	_, err = s.Line(root).AddEvent(ctx, "seen", nil)
	must("note", err)
	_, err = s.Bookmark(ctx, root+"@"+first, "here", workspace.BookmarkOptions{Summary: "the first"})
	must("bookmark", err)
	_, err = s.Bookmark(ctx, root, "there", workspace.BookmarkOptions{Scope: bookmark.Branch})
	must("bookmark again", err)
	_, err = s.Bookmark(ctx, root, "here", workspace.BookmarkOptions{Move: true})
	must("bookmark --move", err)
	_, err = s.RemoveBookmark(ctx, "there")
	must("bookmark --rm", err)
	_, err = s.Line(root).Copy(ctx, 0)
	must("copy", err)
	_, _, err = s.NewLine(ctx, lines.Options{User: "ada"})
	must("new line", err)
	point, err := s.Checkpoint(ctx, root+"@"+first, workspace.SnapshotOptions{Name: "Kept"})
	must("checkpoint", err)
	_, err = s.Append(ctx, workspace.Append{Session: point.ID, Text: "after it"})
	must("append to a checkpoint", err)
	branch, err := s.Branch(ctx, root, workspace.SnapshotOptions{})
	must("branch", err)
	_, err = s.Rename(ctx, branch.ID, "Cake")
	must("rename", err)
	_, err = s.Restore(ctx, point.ID)
	must("restore", err)
	_, err = s.Rewind(ctx, root+"@"+first, checkpoint.CutOptions{})
	must("rewind", err)
	ada, err := s.Agent("ada").Create(ctx, agents.Options{System: "Be brief."})
	must("agent create", err)
	_, err = s.Agent("ada").NewTree(ctx, "rest")
	must("new tree", err)
	_, err = s.Agent("ada").BranchTree(ctx, root+"@"+first, "copy", checkpoint.CutOptions{})
	must("branch tree", err)
	_, err = s.Append(ctx, workspace.Append{Session: s.head("ada").Tree, Text: "to the agent"})
	must("append to a tree", err)
	_, err = s.Agent("ada").Switch(ctx, ada.Trees[0].ID, checkpoint.CutOptions{})
	must("agent switch", err)
	_, err = s.Agent("ada").Rewind(ctx, "copy/"+first, checkpoint.CutOptions{})
	must("agent rewind", err)
	must("import", take(s, askedTwice))
	must("import of more", take(s, askedThrice))
	model, policy, off := "command:cat", turn.FinishBatch, true
	_, err = s.Agent("ada").Set(ctx, agents.Change{Model: &model, Policy: &policy, NoCheckpoint: &off})
	must("agent set", err)
	_, err = s.Agent("ada").ArchiveTree(ctx, "rest")
	must("agent archive", err)
	_, err = s.Agent("ada").RestoreTree(ctx, "rest")
	must("agent restore", err)
	_, err = s.Agent("ada").ArchiveTree(ctx, "rest")
	must("agent archive again", err)
	_, err = s.Agent("ada").Switch(ctx, "rest", checkpoint.CutOptions{})
	must("agent switch to an archived tree", err)
	_, err = s.Agent("ada").DeleteTree(ctx, "copy", agents.DeleteTreeOptions{})
	must("agent delete", err)
	_, err = s.Remove(ctx, s.head("ada").Tree, workspace.RemoveOptions{Line: true, Force: true})
	must("rm of a tree", err)
	_, err = s.Agent("ada").Remove(ctx)
	must("agent rm", err)
	_, err = s.Remove(ctx, branch.ID, workspace.RemoveOptions{})
	must("rm", err)
	last := root
	for next := s.entry(root).ContinuedTo; len(next) > 0; next = s.entry(last).ContinuedTo {
		last = next[0]
	}
	_, err = s.Remove(ctx, last, workspace.RemoveOptions{Force: true})
	must("rm of a continuation", err)
	_, err = s.Remove(ctx, root, workspace.RemoveOptions{Line: true, Force: true})
	must("rm --line", err)
}

// TestUndoAll undoes and redoes every verb, to the byte, in both dialects.
func TestUndoAll(t *testing.T) {
	t.Parallel()
	for _, penguin := range testsize.Sample(t, "dialects", []bool{false, true}, testsize.Of(1, 2, 2)) {
		s := openSpace(t, t.TempDir(), 2)
		if penguin {
			s.write("conversations/other.json", `{"metadata":{},"messages":[{"id":"m"}]}`)
		}
		states := []map[string]string{s.truth()}
		verbs := []string{""}
		every(s, func(verb string) {
			if penguin && verb == "new" && len(states) == 1 { // Penguin keeps an older copy beside it
				for name := range s.truth() {
					if name != "conversations/other.json" && strings.HasSuffix(name, ".json") && strings.HasPrefix(name, session.Dir) {
						s.write(name+".bak", "older")
					}
				}
			}
			states, verbs = append(states, s.truth()), append(verbs, verb)
		})
		for range testsize.Of(1, 1, 2) {
			for i := len(states) - 2; i >= 0; i-- {
				if _, err := s.undo(""); err != nil {
					t.Fatalf("undo of %s: %v", verbs[i+1], err)
				}
				sameFiles(t, "undo of "+verbs[i+1], states[i], s.truth())
			}
			if _, err := s.undo(""); code(err) != fault.Refused {
				t.Errorf("undo without an operation = %v", err)
			}
			for i := 1; i < len(states); i++ {
				if _, err := s.redo(""); err != nil {
					t.Fatalf("redo of %s: %v", verbs[i], err)
				}
				sameFiles(t, "redo of "+verbs[i], states[i], s.truth())
			}
			if _, err := s.redo(""); code(err) != fault.Refused {
				t.Errorf("redo without an operation = %v", err)
			}
		}
		if len(s.notes) > 0 && !penguin {
			t.Errorf("notes are %q", s.notes)
		}
		healthy(t, s)
	}
}

// TestUndoRefused: undo is refused, and changes nothing, if it would destroy newer data.
func TestUndoRefused(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("Bread")
	s.say("a")
	name := session.FileName(root)
	refuse := func(what, in, word string) {
		t.Helper()
		before := s.truth()
		_, err := s.undo(in)
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: undo = %v, want %q", what, err, word)
		}
		sameFiles(t, what, before, s.truth())
	}
	whole := s.read(name)
	s.write(name, strings.Replace(whole, `"Bread"`, `"Other"`, 1))
	refuse("after another program wrote", "", "was changed since")
	s.write(name, whole)
	if _, err := s.undo(""); err != nil {
		t.Errorf("undo = %v", err)
	}
	if _, err := s.redo(""); err != nil || s.read(name) != whole {
		t.Errorf("redo = %v", err)
	}

	point := s.checkpoint(root)
	s.branch(point.ID)
	refuse("with a child", point.ID, point.ID)
	if _, err := s.Remove(t.Context(), point.ID, workspace.RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.Dir(), ".bough", "trash")); err != nil {
		t.Fatal(err)
	}
	refuse("without the trash", "", "(rm)")
}

// TestUndoNumber: undo reports its own number in the log, even if the log gets a change of
// another program before it.
func TestUndoNumber(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("Bread")
	s.write("conversations/foreign.json", `{"metadata":{"continued_from":[]},"messages":[]}`)
	o, err := s.undo("")
	if err != nil {
		t.Fatal(err)
	}
	ops, err := s.Log(t.Context(), history.LogOptions{Limit: 2})
	if err != nil || ops.Operations[1].Verb != operation.External {
		t.Fatalf("the log is %+v, %v", ops, err)
	}
	if in := ops.Operations[0]; o.Seq != in.Seq || o.Time != in.Time || o.Undoes != in.Undoes {
		t.Errorf("undo says %+v, the log %+v", o, in)
	}
}

// TestUndoTrash: undo of a removal restores the file from the trash.
func TestUndoTrash(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	if _, err := s.Remove(t.Context(), id, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	trash, err := s.Trash(t.Context())
	if err != nil || len(trash.Files) != 2 {
		t.Fatalf("Trash = %+v, %v", trash, err)
	}
	if err := os.WriteFile(trash.Files[0].Path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.undo(""); code(err) != fault.Refused || !strings.Contains(err.Error(), "has changed since it was removed") {
		t.Errorf("undo = %v", err)
	}
}

// TestUndoPurged: a removal whose file was deleted from the trash is not undone, and no
// older file takes its place.
func TestUndoPurged(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	kept := s.new("Kept")
	s.say("a")
	gone := s.new("Gone")
	if _, err := s.Remove(t.Context(), gone, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PurgeTrash(t.Context(), trash.PurgeOptions{}); err != nil {
		t.Fatal(err)
	}
	before := s.truth()
	for _, o := range []history.UndoOptions{{}, {Count: 2}, {To: 1}, {In: gone}} {
		if _, err := s.Undo(t.Context(), o); code(err) != fault.Refused || !strings.Contains(err.Error(), "(rm)") || !strings.Contains(err.Error(), "deleted from the trash") {
			t.Errorf("undo %+v = %v", o, err)
		}
	}
	sameFiles(t, "undo of what was purged", before, s.truth())
	s.append(workspace.Append{Session: kept, Text: "b"})
	if _, err := s.undo(""); err != nil || s.texts(kept) != "a" {
		t.Errorf("undo of the operation after it = %v", err)
	}
}

// TestUndoSeveral: -n counts a group once, --to stops after an operation, and both name the
// undone operations.
func TestUndoSeveral(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.say("a", "b", "c")
	if _, err := s.WriteGroup(t.Context(), 0, workspace.Part{Title: "One"}, workspace.Part{Title: "Two"}); err != nil {
		t.Fatal(err)
	}
	undo := func(o history.UndoOptions) string {
		t.Helper()
		ops, err := s.Undo(t.Context(), o)
		if err != nil {
			return string(code(err))
		}
		var list []string
		for _, op := range ops.Operations {
			list = append(list, fmt.Sprint(op.Undoes))
		}
		return strings.Join(list, " ")
	}
	if got := undo(history.UndoOptions{Count: 2}); got != "4 5 6" || s.texts(id) != "a b" {
		t.Errorf("undo -n 2 undid %s and left %q", got, s.texts(id))
	}
	if got := undo(history.UndoOptions{To: 99}); got != string(fault.NotFound) {
		t.Errorf("undo --to of no operation = %s", got)
	}
	if got := undo(history.UndoOptions{To: 2}); got != "3" || s.texts(id) != "a" {
		t.Errorf("undo --to 2 undid %s and left %q", got, s.texts(id))
	}
	if got := undo(history.UndoOptions{To: 2}); got != string(fault.Refused) {
		t.Errorf("undo --to 2 once more = %s", got)
	}
	if got := undo(history.UndoOptions{Count: 9}); got != "1 2" {
		t.Errorf("undo -n 9 undid %s", got)
	}
}

// TestUndoHead: undo leaves no head that names a missing message.
// TestUndoOnly: an undo or redo of named operations refuses another one, and changes nothing.
func TestUndoOnly(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.say("a", "b")
	only := func(do func(context.Context, history.UndoOptions) (*history.Operations, error), list ...events.Seq) string {
		t.Helper()
		ops, err := do(t.Context(), history.UndoOptions{Only: list})
		if err != nil {
			return string(code(err))
		}
		return fmt.Sprint(ops.Operations[0].Undoes)
	}
	for _, step := range []struct {
		do   func(context.Context, history.UndoOptions) (*history.Operations, error)
		list []events.Seq
		want string
	}{
		{s.Undo, []events.Seq{2}, string(fault.Refused)}, {s.Undo, []events.Seq{1, 3}, "3"}, {s.Redo, []events.Seq{3}, string(fault.Refused)}, {s.Redo, []events.Seq{4}, "4"},
	} {
		if got := only(step.do, step.list...); got != step.want {
			t.Errorf("only %d: %s, want %s", step.list, got, step.want)
		}
	}
	if got := s.texts(id); got != "a b" {
		t.Errorf("the messages are %s", got)
	}
}

func TestUndoHead(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	said := s.say("a", "b", "c")
	if _, err := s.Rewind(t.Context(), id+"@"+said[1], checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	s.append(workspace.Append{Session: id, Text: "d"})
	for {
		if _, err := s.undo(id); code(err) == fault.Refused {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		healthy(t, s)
	}
	if files := s.truth(); len(files) > 0 {
		t.Errorf("after undo of everything the files are %v", files)
	}

	id = s.new("Bread")
	a := s.append(workspace.Append{Session: id, Text: "a"})
	s.new("Soup")
	if _, err := s.Rewind(t.Context(), id+"@"+a.Message, checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.undo(id); err != nil {
			t.Fatal(err)
		}
		healthy(t, s)
	}
}

// TestUndoIn undoes the changes of one session, and keeps the changes of others in between.
func TestUndoIn(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.say("a")
	cake := s.new("Cake")
	s.say("b")
	if _, err := s.undo(bread); err != nil {
		t.Fatal(err)
	}
	if got := s.texts(bread) + "/" + s.texts(cake); got != "/b" {
		t.Errorf("the conversations are %q", got)
	}
	s.say("c")
	if got := s.texts(cake); got != "b c" {
		t.Errorf("the head is elsewhere: %q", got)
	}
	if _, err := s.redo(bread); err != nil {
		t.Fatal(err)
	}
	if got := s.texts(bread) + "/" + s.texts(cake); got != "a/b c" {
		t.Errorf("the conversations are %q", got)
	}
}

// TestLog: the log has each operation with its actor, and marks undone ones.
func TestLog(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.say("a")
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}
	s.write("conversations/foreign.json", `{"metadata":{"continued_from":[]},"messages":[{"id":"m"}]}`)
	name := session.FileName(bread)
	s.write(name, strings.Replace(s.read(name), `"Bread"`, `"Other"`, 1))
	cake := s.new("Cake")
	ops, err := s.Log(t.Context(), history.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i, o := range ops.Operations {
		if o.Seq != operation.Seq(len(ops.Operations)-i) {
			t.Errorf("operation %d has the number %d", i, o.Seq)
		}
		verb := o.Verb
		if o.Undone {
			verb += " undone"
		}
		list = append(list, verb)
	}
	want := []string{"new", "external", "undo", "append undone", "new"}
	if !slices.Equal(list, want) {
		t.Fatalf("the log is %q, want %q", list, want)
	}
	external := ops.Operations[1]
	if !slices.Equal(external.Sessions, []string{"foreign", bread}) {
		t.Errorf("external changes are %+v", external)
	}
	if ops.Operations[2].Undoes != 2 {
		t.Errorf("the undo is of operation %d", ops.Operations[2].Undoes)
	}
	in, err := s.Log(t.Context(), history.LogOptions{In: cake, Limit: 1})
	if err != nil || len(in.Operations) != 1 || in.Operations[0].Verb != "new" {
		t.Errorf("in the last session: %+v, %v", in, err)
	}
	if len(s.notes) != 1 {
		t.Errorf("notes are %q", s.notes)
	}
}

// TestUndoUnchanged: undo of an operation that changed no byte of a session's file leaves the
// session unchanged, in the index too.
func TestUndoUnchanged(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Bread")
	ids := s.say("a", "b", "c", "d", "e") // three files
	for range 2 {
		if _, err := s.Rename(t.Context(), root, "Bread"); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if _, err := s.Line(root).SetMeta(t.Context(), id, []byte(`{"a":1}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 6 {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
		healthy(t, s)
	}
	if got := s.path(root, ""); got != "a b c d e" || s.entry(root).Title != "Bread" {
		t.Errorf("%q says %q", s.entry(root).Title, got)
	}
}

// TestUndoDuplicateUUID: no two sessions have one UUID: a program may have begun another session
// under the UUID of a removed one.
func TestUndoDuplicateUUID(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Bread")
	s.say("a", "b", "c")
	if _, err := s.Remove(t.Context(), root, workspace.RemoveOptions{Line: true}); err != nil {
		t.Fatal(err)
	}
	again, existed, err := s.NewLine(t.Context(), lines.Options{UUID: sessionid.UUID(root)})
	if err != nil || existed {
		t.Fatal(existed, err)
	}
	before := s.truth()
	if _, err := s.undo(root); code(err) != fault.Refused {
		t.Errorf("undo beside %s: %v", again.ID, err)
	}
	sameFiles(t, "refused", before, s.truth())
	for range 2 {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.path("urn:uuid:"+sessionid.UUID(root), ""); got != "a b c" {
		t.Errorf("the session says %q", got)
	}
	healthy(t, s)
}
