package window

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/examples/assistant/view"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

var picture = flag.String("picture", "", "write a picture of the window to this `file`")

const (
	question = "I have two days in Lisbon and good shoes. What should I do?"
	answer   = "Walk from Alfama to Belém along the river, and take the tram back."
	sea      = "Only places near the sea, please."
	seaReply = "Then spend the second day in Cascais: the train takes forty minutes."
	food     = "And where do I eat?"
	foodText = "In Cais do Sodré, two minutes from the train: sardines, and a table outside."
)

// TestStory is the whole story of a user: a conversation with a steer and a
// follow-up, a checkpoint, branches, a checkpoint that is written to, a removal
// that is refused and one that is undone, and another program that writes.
func TestStory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "talks")
	s := open(t, dir, "Walk from Alfama |to Belém along the river, and take the tram back.", seaReply, foodText,
		"A rainy day is for the museums: |the tiles, the coaches, and Gulbenkian.", "The boat to Cacilhas, |and the lift up to the castle.")

	s.awaitOpen("New conversation")
	s.await("why it cannot be saved", func() bool {
		return s.header.save.Disabled() && s.header.reason.Text == "There is no message to save yet."
	})
	s.awaitMode(view.Send, "Send")

	s.enter(question)
	s.awaitTalk(question, "Walk from Alfama …")
	s.awaitMode(view.Steer, "Steer")
	s.enter(sea)
	s.altEnter(food)
	s.await("the queue", func() bool { return s.input.queue.Text == "next: "+sea+"   after the reply: "+food })
	s.finish()
	s.awaitTalk(question, answer, sea, seaReply, food, foodText)
	s.awaitMode(view.Send, "Send")
	s.await("no queue", func() bool { return s.input.waiting.Hidden })

	s.tap(s.header.save)
	s.name("Before the budget")
	point := s.row("Before the budget")
	if point.Kind != session.Checkpoint || point.Messages != 6 {
		t.Errorf("the checkpoint has the row %+v", point)
	}
	s.await("why it cannot be deleted", func() bool {
		return s.header.delete.Disabled() && s.header.reason.Text == `Not deletable: the origin of "Before the budget".`
	})

	s.choose(answer, "Branch from here")
	s.awaitTalk(question, answer)
	if row := s.screen.Tree.Rows[s.screen.Tree.Open]; row.Kind != session.Branch {
		t.Errorf("the branch has the row %+v", row)
	}
	const branch = "After Walk from Alfama to Belém along …"
	s.awaitOpen(branch)
	s.await("that it can be deleted", func() bool { return !s.header.delete.Disabled() && s.header.reason.Text == "" })
	s.enter("What if it rains?")
	s.awaitMode(view.Steer, "Steer")
	s.finish()
	s.awaitTalk(question, answer, "What if it rains?", "A rainy day is for the museums: the tiles, the coaches, and Gulbenkian.")

	s.click("Before the budget")
	s.awaitTalk(question, answer, sea, seaReply, food, foodText)
	s.awaitMode(view.Fork, "Branch and send")
	s.enter("Leave money out of it. What is free?")
	s.awaitTalk(question, answer, sea, seaReply, food, foodText, "Leave money out of it. What is free?", "The boat to Cacilhas, …")
	fork := s.awaitOpen("Before the budget (branch)")
	if above := s.row("Before the budget"); len(above.Children) != 1 || above.Children[0] != fork.ID || above.Messages != 6 {
		t.Errorf("the checkpoint has the row %+v after a message to it", above)
	}
	s.altEnter("And for children?")
	s.await("the queue", func() bool { return s.input.queue.Text == "after the reply: And for children?" })
	s.capture()
	s.click(branch)
	s.awaitMode(view.Wait, "Send")
	s.click("Before the budget (branch)")
	s.finish()
	s.await("the last reply", func() bool { return len(s.talk.shown) == 10 && s.screen.Input.Mode == view.Send })

	s.tap(s.header.delete)
	s.await("the conversation gone", func() bool { _, ok := s.screen.Tree.Rows[fork.ID]; return !ok })
	s.tap(s.undo)
	s.await("the conversation back", func() bool { _, ok := s.screen.Tree.Rows[fork.ID]; return ok })

	s.click("Before the budget (branch)")
	other := another(t, dir)
	if _, err := other.Append(t.Context(), workspace.Append{Session: fork.ID, Text: "From another program."}); err != nil {
		t.Fatal(err)
	}
	s.await("the message of another program", func() bool { n := len(s.talk.shown); return n == 11 && s.texts()[n-1] == "From another program." })
	s.awaitMode(view.Send, "Send")
	if _, err := other.New(t.Context(), "Elsewhere"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Append(t.Context(), workspace.Append{Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	s.click("Elsewhere")
	s.awaitTalk("Hello")
	s.awaitMode(view.Fork, "Branch and send")

	again := open(t, dir)
	again.click("Before the budget")
	again.awaitTalk(question, answer, sea, seaReply, food, foodText)
}

// TestUnsent: a message that is refused stays in the input.
func TestUnsent(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir, "One moment, |please."), open(t, dir)
	other.awaitMode(view.Send, "Send")
	s.enter("Hello")
	s.awaitMode(view.Steer, "Steer")
	// The other window has not shown yet that the agent is answering.
	other.enter("Hello too")
	other.await("the refusal", func() bool {
		return other.status.Text == "The assistant is answering. Steer it, or wait for its reply." && other.input.entry.Text == "Hello too"
	})
	s.finish()
	s.awaitTalk("Hello", "One moment, please.")
}

// capture writes the picture that was asked for.
func (s *stage) capture() {
	if *picture == "" {
		return
	}
	if err := photograph(s.Canvas(), *picture); err != nil {
		s.t.Fatal(err)
	}
}
