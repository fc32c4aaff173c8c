package desk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/examples/assistant/view"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

// A model is a function that answers.
type function func(ctx context.Context, stream func(string)) (*model.Reply, error)

// Ask implements [model.Model].
func (f function) Ask(ctx context.Context, _ *model.Request, stream func(string)) (*model.Reply, error) {
	return f(ctx, stream)
}

func yes(context.Context, func(string)) (*model.Reply, error) { return &model.Reply{Text: "Yes."}, nil }

// A bench is a desk with what it shows.
type bench struct {
	*Desk
	t       *testing.T
	screens chan view.Screen
	last    view.Screen
}

func newBench(t *testing.T, w *workspace.Workspace, f function) *bench {
	t.Helper()
	models := func(context.Context, string) (model.Model, error) { return f, nil }
	d, err := New(t.Context(), w, "assistant", agents.TurnOptions{Model: "m", Models: models})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Desk: d, t: t, screens: make(chan view.Screen, 100)}
	go d.Run(t.Context(), func(s view.Screen, err error) {
		if err != nil {
			t.Error(err)
		}
		select {
		case b.screens <- s:
		case <-t.Context().Done():
		}
	})
	return b
}

// openSpace opens a new workspace, in which a session is continued in another file after
// three messages.
func openSpace(t *testing.T) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// await waits until the desk shows something.
func (b *bench) await(what string, shown func(view.Screen) bool) {
	b.t.Helper()
	deadline := time.After(time.Minute)
	for !shown(b.last) {
		select {
		case b.last = <-b.screens:
		case <-deadline:
			b.t.Fatalf("the desk does not show %s but %+v", what, b.last)
		}
	}
}

func (b *bench) texts() (list []string) {
	for _, m := range b.last.Messages {
		list = append(list, m.Text)
	}
	return list
}

func (b *bench) awaitTexts(texts ...string) {
	b.t.Helper()
	b.await("the messages", func(view.Screen) bool { return slices.Equal(b.texts(), texts) })
}

// TestStop: a stopped reply is kept as far as it came, and messages that waited are held
// until they are resumed.
func TestStop(t *testing.T) {
	answers := 0
	b := newBench(t, openSpace(t), func(ctx context.Context, stream func(string)) (*model.Reply, error) {
		if answers++; answers > 1 {
			return &model.Reply{Text: "Yes."}, nil
		}
		stream("So far")
		<-ctx.Done()
		return nil, ctx.Err()
	})
	sent := make(chan error)
	go func() { sent <- b.Send(t.Context(), view.Send, "Hello") }()
	b.awaitTexts("Hello", "So far…")
	if err := b.FollowUp(t.Context(), "And?"); err != nil {
		t.Fatal(err)
	}
	b.await("the queue", func(s view.Screen) bool { return len(s.Queue) == 1 && s.Queue[0].Mode == "after the reply" })
	b.await("that it can be stopped", func(s view.Screen) bool { return s.Input.Stop })
	b.Stop()
	if err := <-sent; err == nil {
		t.Error("a stopped reply is complete")
	}
	b.await("the held queue", func(s view.Screen) bool { return len(s.Queue) == 1 && s.Queue[0].Mode == view.Held })
	b.awaitTexts("Hello", "So far")
	if err := b.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.awaitTexts("Hello", "So far", "And?", "Yes.")
}

// TestDelete: the head leaves a conversation that is deleted; the only one leaves an empty
// one.
func TestDelete(t *testing.T) {
	b := newBench(t, openSpace(t), yes)
	if err := b.Send(t.Context(), view.Send, "Hello"); err != nil {
		t.Fatal(err)
	}
	b.awaitTexts("Hello", "Yes.")
	first := b.last.Tree.Open
	if err := b.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.await("an empty conversation", func(s view.Screen) bool { return s.Tree.Open != first && len(s.Messages) == 0 })
	done, err := b.Delete(t.Context())
	if err != nil || done == "" {
		t.Fatalf("Delete returns %q, %v", done, err)
	}
	b.awaitTexts("Hello", "Yes.")
	if _, err := b.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.await("only an empty conversation", func(s view.Screen) bool {
		return len(s.Tree.Rows) == 1 && s.Tree.Open != first && len(s.Messages) == 0
	})
}

// TestDeleteRefused: a conversation is not deleted if a checkpoint was made after the window
// was drawn.
func TestDeleteRefused(t *testing.T) {
	b := newBench(t, openSpace(t), yes)
	if err := b.Send(t.Context(), view.Send, "Hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(t.Context(), "", "Kept"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Delete(t.Context()); !errors.Is(err, fault.HasChildren) {
		t.Errorf("Delete of the origin of a checkpoint: %v", err)
	}
}

// TestOpenRemoved: if another program removes the open conversation, that of the head opens.
func TestOpenRemoved(t *testing.T) {
	w := openSpace(t)
	b := newBench(t, w, yes)
	head := b.opened()
	other, err := w.New(t.Context(), "Other")
	if err != nil {
		t.Fatal(err)
	}
	b.Open(other.ID)
	b.await("the other conversation", func(s view.Screen) bool { return s.Tree.Open == other.ID })
	if _, err := w.Remove(t.Context(), other.ID, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	b.await("that of the head", func(s view.Screen) bool { return s.Tree.Open == head })
}

// TestShowEarlier: a long conversation is shown from its end, and more of it on demand.
func TestShowEarlier(t *testing.T) {
	w := openSpace(t)
	b := newBench(t, w, yes)
	id := b.opened()
	for range page + 5 {
		if _, err := w.Append(t.Context(), workspace.Append{Session: id, Text: "message"}); err != nil {
			t.Fatal(err)
		}
	}
	b.await("the last messages", func(s view.Screen) bool { return len(s.Messages) == page && s.Earlier == 5 })
	b.ShowEarlier()
	b.await("all messages", func(s view.Screen) bool { return len(s.Messages) == page+5 && s.Earlier == 0 })
}

// TestSendElsewhere: a message is added at the end of the conversation that is shown, also
// after one of another program, and wherever the head of the agent was.
func TestSendElsewhere(t *testing.T) {
	w := openSpace(t)
	b := newBench(t, w, yes)
	if err := b.Send(t.Context(), view.Send, "Hello"); err != nil {
		t.Fatal(err)
	}
	first := b.opened()
	if err := b.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), workspace.Append{Session: first, Text: "From elsewhere"}); err != nil {
		t.Fatal(err)
	}
	b.Open(first)
	b.awaitTexts("Hello", "Yes.", "From elsewhere")
	if err := b.Send(t.Context(), view.Send, "Goodbye"); err != nil {
		t.Fatal(err)
	}
	b.awaitTexts("Hello", "Yes.", "From elsewhere", "Goodbye", "Yes.")
	if s, err := w.Agent("assistant").Snapshot(t.Context()); err != nil || s.Session != first || s.Turn.State != turn.Idle {
		t.Errorf("the agent is %+v, %v", s, err)
	}
}

// TestUnsent: a message that was not stored is reported as such, and one that was is not.
func TestUnsent(t *testing.T) {
	w := openSpace(t)
	release := make(chan struct{})
	b := newBench(t, w, func(ctx context.Context, _ func(string)) (*model.Reply, error) {
		<-release
		return nil, errors.New("the model is down")
	})
	sent := make(chan error)
	go func() { sent <- b.Send(t.Context(), view.Send, "Hello") }()
	b.awaitTexts("Hello", "…")
	var unsent *UnsentError
	if err := b.Send(t.Context(), view.Send, "Impatient"); !errors.As(err, &unsent) || !errors.Is(err, fault.Busy) {
		t.Errorf("a second message while the first is answered: %v", err)
	}
	close(release)
	if err := <-sent; err == nil || errors.As(err, &unsent) {
		t.Errorf("a message without a reply: %v", err)
	}
	b.awaitTexts("Hello")
	if err := b.FollowUp(t.Context(), " "); !errors.As(err, &unsent) {
		t.Errorf("a blank message: %v", err)
	}
}

// TestEnds: if another program continues an earlier message, the conversation has two ends,
// and the user can continue either.
func TestEnds(t *testing.T) {
	w := openSpace(t)
	b := newBench(t, w, yes)
	for _, text := range []string{"Hello", "And?"} {
		if err := b.Send(t.Context(), view.Send, text); err != nil {
			t.Fatal(err)
		}
	}
	b.awaitTexts("Hello", "Yes.", "And?", "Yes.")
	line := b.last.Tree.Open
	_, first, _ := strings.Cut(b.last.Messages[1].Ref, "@")
	if _, err := w.Append(t.Context(), workspace.Append{Session: line, Parent: first, Text: "From elsewhere"}); err != nil {
		t.Fatal(err)
	}
	b.awaitTexts("Hello", "Yes.", "From elsewhere")
	ends := b.last.Tree.Rows[line].Children
	if len(ends) != 2 {
		t.Fatalf("the rows below the conversation are %q", ends)
	}
	b.Open(ends[0])
	b.awaitTexts("Hello", "Yes.", "And?", "Yes.")
	if b.last.Tree.Open != ends[0] {
		t.Errorf("the row %s is selected, want %s", b.last.Tree.Open, ends[0])
	}
	if err := b.Send(t.Context(), view.Send, "Here"); err != nil {
		t.Fatal(err)
	}
	b.awaitTexts("Hello", "Yes.", "And?", "Yes.", "Here", "Yes.")
	b.await("the conversation open", func(s view.Screen) bool { return s.Tree.Open == line })
}
