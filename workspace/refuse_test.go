package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// messages writes a session file with messages and metadata members.
func (s *space) messages(id, metadata string, messages ...string) {
	s.t.Helper()
	s.write(session.FileName(id), fmt.Sprintf(`{"id":%q,"metadata":{%s},"messages":[%s]}`, id, metadata, strings.Join(messages, ",")))
}

// TestRefused: a refused change has its code, and leaves every file unchanged.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	root := s.new("Chat")
	ids := s.say("a", "b", "c", "d") // the last one in another file
	point := s.checkpoint(root)
	s.branch(root + "@" + ids[0])
	s.messages("tools", ``, `{"id":"t0"}`, `{"id":"t1","tool_calls":[{"id":"c"}]}`, `{"id":"t2","tool_call_id":"c"}`)
	s.messages("call", ``, `{"id":"t1","tool_calls":[{"id":"c"}]}`, `{"id":"t2","tool_call_id":"c"}`)
	s.messages("orphan", `"continued_from":["gone"]`, `{"id":"o"}`)
	s.messages("ring1", `"continued_from":["ring2"]`, `{"id":"r1"}`)
	s.messages("ring2", `"continued_from":["ring1"]`, `{"id":"r2"}`)
	s.messages("inner", ``, `{"id":"i1","metadata":{"parent_id":"i2"}}`, `{"id":"i2"}`)
	s.messages("many", ``, `{"id":"same1"}`, `{"id":"same2"}`)
	s.messages("twin1", `"title":"Twins"`, `{"id":"x"}`)
	s.messages("twin2", `"title":"Twins"`, `{"id":"y"}`)
	s.write(session.FileName("torn"), `{"messages":[{"id":"m"`)
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(outside, []byte(`{"messages":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(s.Dir(), "conversations", "link.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rename(t.Context(), "tools", "Tools"); err != nil {
		t.Fatal(err) // and the index is up to date
	}
	ctx := t.Context()
	cut := func(ref string, o checkpoint.CutOptions) func() error {
		return func() error { _, err := s.Checkpoint(ctx, ref, workspace.SnapshotOptions{CutOptions: o}); return err }
	}
	branch := func(ref string) func() error {
		return func() error { _, err := s.Branch(ctx, ref, workspace.SnapshotOptions{}); return err }
	}
	to := func(session, parent string) func() error {
		return func() error {
			_, err := s.Append(ctx, workspace.Append{Session: session, Parent: parent, Text: "x"})
			return err
		}
	}
	remove := func(ref string, o workspace.RemoveOptions) func() error {
		return func() error { _, err := s.Remove(ctx, ref, o); return err }
	}
	for _, c := range []struct {
		name string
		do   func() error
		want fault.Code
	}{
		{"checkpoint without a head", cut("", checkpoint.CutOptions{}), fault.NotFound},
		{"checkpoint of a missing session", cut("nothing", checkpoint.CutOptions{}), fault.NotFound},
		{"checkpoint at a missing message", cut(root+"@nothing", checkpoint.CutOptions{}), fault.NotFound},
		{"checkpoint at no message", cut(root+"@", checkpoint.CutOptions{}), fault.Usage},
		{"checkpoint at a message of another line", cut("tools@"+ids[0], checkpoint.CutOptions{}), fault.NotFound},
		{"checkpoint of many", cut("session_", checkpoint.CutOptions{}), fault.Ambiguous},
		{"checkpoint of twins", cut("Twins", checkpoint.CutOptions{}), fault.Ambiguous},
		{"checkpoint at many", cut("many@same", checkpoint.CutOptions{}), fault.Ambiguous},
		{"checkpoint in a call", cut("tools@t1", checkpoint.CutOptions{Strict: true}), fault.ToolCut},
		{"branch in a call", func() error {
			_, err := s.Branch(ctx, "tools@t1", workspace.SnapshotOptions{CutOptions: checkpoint.CutOptions{Strict: true}})
			return err
		}, fault.ToolCut},
		{"rewind into a call", func() error { _, err := s.Rewind(ctx, "tools@t1", checkpoint.CutOptions{Strict: true}); return err }, fault.ToolCut},
		{"checkpoint inside the first call", cut("call@t1", checkpoint.CutOptions{}), fault.ToolCut},
		{"checkpoint of a line with a gap", cut("orphan", checkpoint.CutOptions{}), fault.Damaged},
		{"message to a line with a gap", to("orphan", ""), fault.Damaged},
		{"checkpoint of a cycle", cut("ring1", checkpoint.CutOptions{ReadOptions: session.ReadOptions{Partial: true}}), fault.Damaged},
		{"checkpoint of a cycle of messages", cut("inner", checkpoint.CutOptions{}), fault.Damaged},
		{"checkpoint of a torn file", cut("torn", checkpoint.CutOptions{}), fault.Damaged},
		{"message to a torn file", to("torn", ""), fault.Damaged},
		{"rename of a torn file", func() error { _, err := s.Rename(ctx, "torn", "x"); return err }, fault.Damaged},
		{"branch of a link that leads out", branch("link"), fault.Refused},
		{"message to a link that leads out", to("link", ""), fault.Refused},
		{"message to a missing session", to("nothing", ""), fault.NotFound},
		{"message below a missing message", to(root, "nothing"), fault.NotFound},
		{"hostile id", to("../outside", ""), fault.NotFound},
		{"hostile id of a file", branch("../../etc/passwd"), fault.NotFound},
		{"hostile id with a star", branch("*"), fault.NotFound},
		{"hostile message", branch(root + "@../x"), fault.NotFound},
		{"the index as a session", branch("session_index"), fault.NotFound},
		{"restore of a root", func() error { _, err := s.Restore(ctx, root); return err }, fault.Refused},
		{"restore of a missing session", func() error { _, err := s.Restore(ctx, "nothing"); return err }, fault.NotFound},
		{"rewind to a missing message", func() error { _, err := s.Rewind(ctx, root+"@nothing", checkpoint.CutOptions{}); return err }, fault.NotFound},
		{"rename to a blank title", func() error { _, err := s.Rename(ctx, root, " "); return err }, fault.Usage},
		{"rename of many", func() error { _, err := s.Rename(ctx, "Twins", "x"); return err }, fault.Ambiguous},
		{"removal of a continued session", remove(root, workspace.RemoveOptions{}), fault.HasChildren},
		{"forced removal of a continued session", remove(root, workspace.RemoveOptions{Force: true}), fault.HasChildren},
		{"removal of a line with snapshots", remove(root, workspace.RemoveOptions{Line: true}), fault.HasChildren},
		{"removal of a missing session", remove("nothing", workspace.RemoveOptions{}), fault.NotFound},
		{"list of an invalid kind", func() error { _, err := s.List(ctx, "twig"); return err }, fault.Usage},
		{"show of a torn file", func() error { _, err := s.Show(ctx, "torn", session.ReadOptions{Partial: true}); return err }, fault.Damaged},
		{"lineage of a cycle", func() error { _, err := s.Lineage(ctx, "ring2", session.ReadOptions{}); return err }, fault.Damaged},
		{"diff with a missing session", func() error { _, err := s.Diff(ctx, point.ID, "nothing", session.ReadOptions{}); return err }, fault.NotFound},
	} {
		before := s.files()
		err := c.do()
		if code(err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		sameFiles(t, c.name, before, s.files())
	}
}

// TestSameIDOnPath: two messages with one id in two files cannot both be in one file. A
// snapshot of a path with both is refused, or can be opened; it never leaves a damaged
// file.
func TestSameIDOnPath(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.messages("one", `"continued_from":[],"continued_to":["two"]`, `{"id":"x","content":"here"}`, `{"id":"y"}`)
	s.messages("two", `"continued_from":["one"],"continued_to":[]`,
		`{"id":"m","metadata":{"type":"session_transition","previous_session":"one"}}`, `{"id":"x","content":"there"}`)
	if c := s.show("two"); len(c.Messages) != 3 {
		t.Errorf("the path has %d messages, want 3", len(c.Messages))
	}
	before := s.files()
	snap, err := s.Checkpoint(t.Context(), "two", workspace.SnapshotOptions{})
	if err == nil {
		s.show(snap.ID)
		return
	}
	sameFiles(t, "a checkpoint that is refused", before, s.files())
	if _, err := s.Branch(t.Context(), "one@y", workspace.SnapshotOptions{}); err != nil {
		t.Errorf("a branch of a path with one of them: %v", err)
	}
}

func TestLocked(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("")
	unlock := s.lock(writelock.Holder{PID: 4711, Verb: "checkpoint"})
	hasty, err := workspace.Open(t.Context(), s.Dir(), &workspace.Options{Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	before := s.files()
	if _, err := hasty.Append(t.Context(), workspace.Append{Session: id, Text: "x"}); code(err) != fault.Locked || !strings.Contains(err.Error(), "4711") {
		t.Errorf("Append while another writes: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := s.Append(ctx, workspace.Append{Session: id, Text: "x"}); !errors.Is(err, context.DeadlineExceeded) || code(err) != fault.Failed {
		t.Errorf("Append until the context ends: %v", err)
	}
	if _, err := hasty.Show(t.Context(), id, session.ReadOptions{}); err != nil {
		t.Errorf("Show while another writes: %v", err)
	}
	sameFiles(t, "waiting", before, s.files())
	unlock()
	if _, err := hasty.Append(t.Context(), workspace.Append{Session: id, Text: "x"}); err != nil {
		t.Errorf("Append after the other is done: %v", err)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	if workspace.Explain(nil) != nil {
		t.Error("the error has no explanation")
	}
	own := &fault.Error{Code: fault.Usage, Message: "m", Hint: "h"}
	if got := workspace.Explain(fmt.Errorf("more: %w", own)); got != own {
		t.Errorf("a plain error becomes %+v", got)
	}
	for _, c := range []struct {
		err  error
		want fault.Code
	}{
		{errors.New("x"), fault.Failed},
		{context.Canceled, fault.Failed},
		{&session.DamageError{Path: "a", Offset: 7, Problem: "p"}, fault.Damaged},
		{&writelock.HeldError{Path: "a"}, fault.Locked},
		{fmt.Errorf("more: %w", os.ErrPermission), fault.Refused},
	} {
		got := workspace.Explain(c.err)
		if got.Code != c.want || got.Error() != c.err.Error() && got.Code != fault.Failed || !errors.Is(got, c.err) {
			t.Errorf("%v is explained as %+v, want %s", c.err, got, c.want)
		}
	}
}
