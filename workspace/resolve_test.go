package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// reads fails the test unless each ref resolves to a message with that text.
func (s *space) reads(wants map[string]string) {
	s.t.Helper()
	for ref, want := range wants {
		c, err := s.Show(s.t.Context(), ref, session.ReadOptions{})
		if err != nil {
			s.t.Errorf("%q: %v, want %q", ref, err, want)
			continue
		}
		if got := c.Messages[len(c.Messages)-1].Text(); got != want {
			s.t.Errorf("%q resolves to %q, want %q", ref, got, want)
		}
	}
}

// fails fails the test unless each ref fails with a code.
func (s *space) fails(want fault.Code, refs ...string) {
	s.t.Helper()
	for _, ref := range refs {
		if c, err := s.Show(s.t.Context(), ref, session.ReadOptions{}); code(err) != want {
			s.t.Errorf("%q: %+v, %v, want %s", ref, c.Entry.ID, err, want)
		}
	}
}

func (s *space) rewind(ref string) {
	s.t.Helper()
	if _, err := s.Rewind(s.t.Context(), ref, checkpoint.CutOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// TestHeadRef: HEAD and @ mean the parent of the next message, and - the previous head,
// even if a title is the same.
func TestHeadRef(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.messages("other", `"title":"HEAD"`, `{"id":"o1","content":"other"}`)
	s.fails(fault.NotFound, "HEAD", "@", "-", "HEAD^")
	bread := s.new("Bread")
	s.say("a", "b", "c")
	s.reads(map[string]string{"HEAD": "c", "@": "c", "HEAD^": "b", "@~2": "a", "HEAD~1^": "a", "HEAD~0": "c", "HEAD@first": "a", "@@last": "c"})
	s.fails(fault.NotFound, "-", "HEAD~3", "HEAD~99999999999999999999", "-^")

	s.rewind("Bread~2")
	s.reads(map[string]string{"@": "a", "-": "c", "-^": "b"})
	s.say("d") // the head moves on, and was moved from there
	s.reads(map[string]string{"@": "d", "-": "c", "HEAD^": "a"})
	s.rewind("-")
	s.reads(map[string]string{"@": "c", "-": "d"})
	s.rewind("@")
	s.reads(map[string]string{"@": "c", "-": "d"})

	cake := s.new("Cake")
	s.say("x")
	s.reads(map[string]string{"@": "x", "-": "c"})
	if _, err := s.Remove(t.Context(), "-", workspace.RemoveOptions{}); err != nil || s.has(bread) {
		t.Errorf("Remove: %v", err)
	}
	s.fails(fault.NotFound, "-")
	if e, err := s.Rename(t.Context(), "HEAD", "Tart"); err != nil || e.ID != cake {
		t.Errorf("Rename = %+v, %v", e, err)
	}
}

func (s *space) has(id string) bool {
	_, err := os.Stat(filepath.Join(s.Dir(), session.FileName(id)))
	return err == nil
}

// TestNames: a session is named by its id, else by its title, else by a unique prefix of
// its id or of the part of it that is shown.
func TestNames(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	const own = "session_20200525_150000_4b9ad01c"
	s.messages(own, `"title":"Plan the trip","continued_from":[]`, `{"id":"849dde0b-1a2b-4c3d-8e4f-5a6b7c8d9e0f","content":"one"}`, `{"id":"m15","content":"two"}`)
	s.messages("session_20200526_150000_4b9affff", `"title":"plan the trip"`, `{"id":"n1","content":"other"}`)
	s.messages("planning", `"title":"A^"`, `{"id":"p1","content":"up"}`, `{"id":"p2","content":"planning"}`)
	s.messages("late", `"title":"Long"`, `{"id":"l1","content":"long"}`)
	s.messages("later", `"title":"Long","continued_from":["late"]`, `{"id":"x","metadata":{"type":"session_transition","previous_session":"late"}}`, `{"id":"l2","content":"longer"}`)
	s.reads(map[string]string{
		own: "two", "Plan the trip": "two", "plan the trip": "other", "session_20200525": "two", "4b9a" + "d": "two", "4b9affff": "other",
		"Plan the trip@849d": "one", "Plan the trip@m15": "two", "plan": "planning", "A^": "planning", "a^": "planning", "A^^": "up",
		"LONG": "longer", "4b9ad01c~1": "one", own + "^": "one", own + "@m15^": "one", "4b9ad01c/849dde0b": "one",
	})
	s.fails(fault.Ambiguous, "PLAN THE TRIP", "4b9a", "session_", "session_2020~1", "4b9a@m15")
	s.fails(fault.NotFound, "4b9", "9ad01c", "4b9ad01c@15", "4b9ad01c@m1", "4b9ad01c@dde0", "20200525", "ession_20200525", "pla", "~1", "^")
	s.fails(fault.Usage, own+"@", own+"/")
	s.fails(fault.NotFound, own+"@^")

	_, err := s.Show(t.Context(), "4b9a", session.ReadOptions{})
	var several *fault.AmbiguousError
	if !errors.As(err, &several) || several.Total != 2 {
		t.Fatalf("the error is %v", err)
	}
	got := map[string]string{}
	for _, c := range several.Candidates {
		got[string(c.Session)] = c.Kind + " " + c.Title
	}
	if want := map[string]string{own: "root Plan the trip", "session_20200526_150000_4b9affff": "root plan the trip"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the candidates are %v, want %v", got, want)
	}
}

// TestGoneID: the whole id of a removed session never names another session, in any verb.
func TestGoneID(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	const own = "session_20200525_150000_4b9ad01c"
	for id, text := range map[string]string{
		own: "a", own + "-backup": "b", own + " (conflicted copy)": "c", "plan": "d", "planning": "e", "plan1": "f", "plan12": "g", "note": "h", "notebook": "i",
	} {
		s.messages(id, `"title":"`+text+`"`, `{"id":"m-`+text+`","content":"`+text+`"}`)
	}
	ctx := t.Context()
	for _, id := range []string{own, "plan", "plan1"} {
		if _, err := s.Remove(ctx, id, workspace.RemoveOptions{}); err != nil {
			t.Fatal(err)
		}
		before := s.files()
		for what, do := range map[string]func() error{
			"rm":     func() error { _, err := s.Remove(ctx, id, workspace.RemoveOptions{Force: true}); return err },
			"append": func() error { _, err := s.Append(ctx, workspace.Append{Session: id, Text: "x"}); return err },
			"rename": func() error { _, err := s.Rename(ctx, id, "x"); return err },
			"show":   func() error { _, err := s.Show(ctx, id, session.ReadOptions{}); return err },
			"branch": func() error { _, err := s.Branch(ctx, id+"^", workspace.SnapshotOptions{}); return err },
		} {
			if err := do(); code(err) != fault.NotFound {
				t.Errorf("%s %s: %v", what, id, err)
			}
			sameFiles(t, what, before, s.files())
		}
	}
	s.reads(map[string]string{"note": "h", own + "-bac": "b", "plann": "e", "noteb": "i"})
	if _, err := s.Rename(ctx, "note", "h2"); err != nil {
		t.Fatal(err)
	}
	// If the trash does not have the id, the log of operations does.
	if err := os.Remove(filepath.Join(s.Dir(), session.FileName("note"))); err != nil {
		t.Fatal(err)
	}
	s.fails(fault.NotFound, "note")
	s.reads(map[string]string{"noteb": "i"})
}

// TestMessageRef: a message id alone names the message in the line that wrote it first,
// else in its oldest copy.
func TestMessageRef(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	s.new("Bread")
	said := s.say("a", "b", "c", "d")
	branch := s.branch("Bread~1")
	s.reads(map[string]string{said[0]: "a", said[2]: "c", said[3]: "d", said[2] + "^": "b", said[2] + "~2": "a"})
	if c := s.show(said[1]); c.Entry.Title != "Bread" {
		t.Errorf("the message is in %q", c.Entry.Title)
	}
	s.messages("titled", `"title":"`+said[0]+`"`, `{"id":"t1","content":"titled"}`)
	s.messages("u7", ``, `{"id":"x","content":"session"}`)
	s.messages("odd", ``, `{"id":"u7","content":"message"}`, `{"id":"e~1","content":"é"}`, `{"id":"\u00e9","content":"escaped"}`)
	s.reads(map[string]string{said[0]: "a", "t1": "titled", "u7": "session", "e~1": "é", "é": "escaped"})

	if _, err := s.Remove(t.Context(), "Bread", workspace.RemoveOptions{Line: true, Force: true}); err != nil {
		t.Fatal(err)
	}
	if c := s.show(said[1]); c.Entry.ID != branch.ID {
		t.Errorf("the copy is in %q", c.Entry.Title)
	}
	s.messages("same1", ``, `{"id":"same","content":"this"}`)
	s.messages("same2", ``, `{"id":"same","content":"that"}`)
	_, err := s.Show(t.Context(), "same~0", session.ReadOptions{})
	var several *fault.AmbiguousError
	if !errors.As(err, &several) || len(several.Candidates) != 2 || several.Candidates[0].Message != "same" {
		t.Fatalf("messages that differ: %v", err)
	}
	texts := several.Candidates[0].Text + several.Candidates[1].Text
	if !strings.Contains(texts, "this") || !strings.Contains(texts, "that") {
		t.Errorf("the candidates are %+v", several.Candidates)
	}
	s.fails(fault.NotFound, said[0][:8], "nothing7", "no such title")
	s.messages("same3", ``, `{"id":"sam3x","content":"whole"}`)
	s.messages("sam3xyz", ``, `{"id":"y","content":"prefix"}`)
	s.reads(map[string]string{"sam3x": "whole", "sam3xy": "prefix"})
}
