package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

func entry(id string, kind session.Kind, messages int, children ...workspace.TreeEntry) workspace.TreeEntry {
	return workspace.TreeEntry{Entry: workspace.Entry{ID: id, Kind: kind, Title: "Title of " + id, MessageCount: messages, HeaderCount: 1}, Children: children}
}

// facts are those of a workspace with two conversations: one has a continuation, with a
// checkpoint that was copied from it, and a branch of that; the other belongs to another
// program. id is open, and has messages with the given texts.
func facts(id string, kind session.Kind, texts ...string) Facts {
	f := Facts{
		Sessions: &workspace.Forest{Roots: []workspace.TreeEntry{
			entry("long", session.Root, 10, entry("next", session.Continuation, 5, entry("point", session.Checkpoint, 14, entry("fork", session.Branch, 15)))),
			entry("other", session.Root, 2),
		}},
		Agent:      &agents.Snapshot{Session: "long"},
		Trees:      []string{"long", "fork"},
		Open:       &workspace.Conversation{Entry: workspace.Entry{ID: id, Kind: kind}},
		Dependents: &workspace.Dependents{},
	}
	for i, text := range texts {
		raw := `{"id":"m` + string(rune('0'+i)) + `","role":"` + []string{"user", "assistant"}[i%2] + `","content":"` + text + `"}`
		f.Open.Messages = append(f.Open.Messages, session.Message{ID: "m" + string(rune('0'+i)), Raw: []byte(raw)})
	}
	return f
}

func running(f Facts, tree string, s turn.State) Facts {
	f.Agent = &agents.Snapshot{Session: tree, Turn: turn.Turn{State: s}}
	return f
}

// TestInput: the mode of the input for each place and state of the agent.
func TestInput(t *testing.T) {
	for _, tt := range []struct {
		what string
		f    Facts
		mode Mode
		hint string
	}{
		{"the agent's conversation", facts("long", session.Root, "a"), Send, ""},
		{"its continuation", facts("next", session.Continuation, "a"), Send, ""},
		{"an idle agent", running(facts("long", session.Root), "long", turn.Idle), Send, ""},
		{"a checkpoint", facts("point", session.Checkpoint, "a"), Fork, "read-only"},
		{"another program's", facts("other", session.Root, "a"), Fork, "Another program"},
		{"while it answers", running(facts("next", session.Continuation, "a"), "long", turn.Streaming), Steer, "Enter steers"},
		{"while a tool runs", running(facts("long", session.Root, "a"), "long", turn.InTool), Steer, "Alt+Enter"},
		{"while it answers elsewhere", running(facts("fork", session.Branch, "a"), "long", turn.Streaming), Wait, `"Title of long"`},
		{"a checkpoint meanwhile", running(facts("point", session.Checkpoint, "a"), "long", turn.Streaming), Wait, `"Title of long"`},
	} {
		in := Of(tt.f).Input
		if in.Mode != tt.mode || !strings.Contains(in.Hint, tt.hint) || (in.Hint == "") != (tt.hint == "") {
			t.Errorf("%s: the input is %+v, want the mode %s", tt.what, in, tt.mode)
		}
		if stopped := tt.f; tt.mode == Steer {
			stopped.Stoppable = true
			if in.Stop || !Of(stopped).Input.Stop {
				t.Errorf("%s: it can be stopped by a program that does not run it, or not by one that does", tt.what)
			}
		}
		if in.Enabled() != (tt.mode != Wait) || (in.FollowUp != "") != (tt.mode == Steer) {
			t.Errorf("%s: the input is %+v", tt.what, in)
		}
	}
}

// TestTree: a continuation is part of its conversation, and the newest root is first.
func TestTree(t *testing.T) {
	tree := Of(running(facts("next", session.Continuation), "fork", turn.Streaming)).Tree
	if !slices.Equal(tree.Roots, []string{"other", "long"}) || tree.Open != "long" || len(tree.Rows) != 4 {
		t.Errorf("the tree is %+v", tree)
	}
	long := tree.Rows["long"]
	if long.Messages != 14 || !slices.Equal(long.Children, []string{"point"}) || long.Running {
		t.Errorf("the row is %+v", long)
	}
	if title := tree.Rows["other"].Title; title != "Title of other" {
		t.Errorf("a conversation with messages has the title %q", title)
	}
	empty := facts("other", session.Root)
	empty.Sessions.Roots[1].MessageCount = 0
	if s := Of(empty); s.Title != "New conversation" {
		t.Errorf("an empty conversation has the title %q", s.Title)
	}
	if !tree.Rows["fork"].Running || !slices.Equal(tree.Rows["point"].Children, []string{"fork"}) {
		t.Errorf("the rows are %+v", tree.Rows)
	}
}

// TestEnds: the ends of the open conversation have rows above its branches, if there are
// several.
func TestEnds(t *testing.T) {
	f := facts("long", session.Root, "a", "b")
	f.Ref, f.Ends = "long", []workspace.Leaf{{ID: "m1", Text: "b", Depth: 2}}
	if s := Of(f); len(s.Tree.Rows) != 4 {
		t.Errorf("a conversation with one end has the rows %+v", s.Tree.Rows)
	}
	f.Ends = append(f.Ends, workspace.Leaf{ID: "m2", Text: "other", Depth: 7})
	s := Of(f)
	if got := s.Tree.Rows["long"].Children; !slices.Equal(got, []string{"long@m1", "long@m2", "point"}) || s.Tree.Open != "long" || !s.Delete.Enabled {
		t.Errorf("the children are %q, and the open row %q", got, s.Tree.Open)
	}
	f.Ref = "long@m2"
	s = Of(f)
	if row := s.Tree.Rows[s.Tree.Open]; row.Title != "other" || row.Messages != 7 || s.Delete.Enabled || s.Input.Mode != Send {
		t.Errorf("the open end is %+v, and Delete %+v", row, s.Delete)
	}
}

// TestDeletion: a disabled Delete has its reason.
func TestDeletion(t *testing.T) {
	entries := func(titles ...string) (list []workspace.Entry) {
		for _, title := range titles {
			list = append(list, workspace.Entry{Title: title})
		}
		return list
	}
	origin := func(titles ...string) Facts {
		f := facts("long", session.Root)
		f.Dependents.OriginOf = entries(titles...)
		return f
	}
	for _, tt := range []struct {
		f      Facts
		reason string
	}{
		{facts("long", session.Root), ""},
		{origin("A", "B"), `Not deletable: the origin of "A", "B".`},
		{origin("A", "B", "C", "D", "E"), `Not deletable: the origin of "A", "B", "C", and 2 more.`},
		{running(facts("long", session.Root), "long", turn.Streaming), "The assistant is answering in it."},
		{running(facts("fork", session.Branch), "long", turn.Streaming), ""},
	} {
		if got := Of(tt.f).Delete; got.Reason != tt.reason || got.Enabled != (tt.reason == "") {
			t.Errorf("Delete is %+v, want the reason %q", got, tt.reason)
		}
	}
	if s := Of(facts("long", session.Root)); s.Save.Enabled || s.Save.Reason == "" {
		t.Errorf("an empty conversation can be saved: %+v", s.Save)
	}
}

// TestMessages: the last messages are shown, with the reply that arrives.
func TestMessages(t *testing.T) {
	f := running(facts("long", session.Root, "a", "b", "c"), "long", turn.Streaming)
	f.Arriving, f.Limit = "so far", 2
	s := Of(f)
	want := []Message{{Ref: "long@m2", Author: You, Text: "c"}, {Author: Assistant, Text: "so far…", Arriving: true}}
	if !slices.Equal(s.Messages, want) || s.Earlier != 2 {
		t.Errorf("the messages are %+v after %d others", s.Messages, s.Earlier)
	}
	if s := Of(running(facts("fork", session.Branch, "a"), "long", turn.Streaming)); len(s.Messages) != 1 {
		t.Errorf("another conversation has the messages %+v", s.Messages)
	}
	for role, author := range map[string]Author{"user": You, "assistant": Assistant, "tool": Tool, "system": System} {
		if authorOf(role) != author {
			t.Errorf("the author of the role %s is %s", role, authorOf(role))
		}
	}
	f.Open.Messages = []session.Message{{ID: "m", Raw: []byte(`{"id":"m","role":"assistant","content":"","timestamp":"2026-11-20T07:29:04.980213+00:00"}`)}}
	if m := Of(f).Messages[0]; m.Text != "(no text)" || !strings.Contains(m.Time, "Nov") {
		t.Errorf("a message without text is %+v", m)
	}
}

// TestQueue: steers come first, and held messages are marked.
func TestQueue(t *testing.T) {
	f := facts("long", session.Root)
	f.Agent.SteerQueue = []turn.Entry{{ID: "s", Content: "now", State: turn.Waiting}}
	f.Agent.FollowUpQueue = []turn.Entry{{ID: "f", Content: "later", State: turn.Waiting}, {ID: "h", Content: "held", State: turn.Held}}
	want := []Queued{{"s", "now", "next"}, {"f", "later", "after the reply"}, {"h", "held", Held}}
	if got := Of(f).Queue; !slices.Equal(got, want) {
		t.Errorf("the queue is %+v", got)
	}
	f.Agent.Session = "fork"
	if got := Of(f).Queue; len(got) != 0 {
		t.Errorf("another conversation has the queue %+v", got)
	}
}

// TestBranchName: a branch has the first words of the message, and a title of its own.
func TestBranchName(t *testing.T) {
	var tree Tree
	for _, tt := range []struct{ text, want string }{
		{"Walk  from\nAlfama", "After Walk from Alfama"},
		{"Walk from Alfama", "After Walk from Alfama (2)"},
		{"Walk from Alfama", "After Walk from Alfama (3)"},
		{"Either/or", "After Either or"},
		{"Walk from Alfama to Belém along the river.", "After Walk from Alfama to Belém along …"},
	} {
		got := BranchName(tt.text, tree)
		if got != tt.want {
			t.Errorf("BranchName(%q) = %q, want %q", tt.text, got, tt.want)
		}
		if tree.Rows == nil {
			tree.Rows = map[string]Row{}
		}
		tree.Rows[got] = Row{Title: got}
	}
}

// TestProblem: errors with a code have a sentence of the assistant's own.
func TestProblem(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{fmt.Errorf("ask: %w", context.Canceled), "Stopped. The text so far is kept."},
		{&fault.Error{Code: fault.Busy, Message: "busy"}, "The assistant is answering. Steer it, or wait for its reply."},
		{&fault.Error{Code: fault.Locked}, "Another program is writing to the workspace. Try again."},
		{&fault.Error{Code: fault.HasChildren}, "Other conversations were copied from it in the meantime."},
		{&fault.Error{Code: fault.Usage, Message: "the text is empty", Hint: "give one"}, "the text is empty (give one)"},
		{errors.New("the model is down"), "the model is down"},
	} {
		if got := Problem(tt.err); got != tt.want {
			t.Errorf("Problem(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
}
