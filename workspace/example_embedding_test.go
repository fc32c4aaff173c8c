package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
)

// The functions of this file are the code of the package comment and of docs/embedding.md.

func embed(ctx context.Context, dir string) error {
	w, err := workspace.Open(ctx, dir, nil) // the folder need not exist
	if err != nil {
		return err
	}
	if _, err := w.New(ctx, "Bread"); err != nil { // the head moves to the new conversation
		return err
	}
	for _, text := range []string{"How wet is too wet?", "It depends on the flour."} {
		if _, err := w.Append(ctx, workspace.Append{Text: text}); err != nil { // at the head
			return err
		}
	}
	point, err := w.Checkpoint(ctx, "HEAD", workspace.SnapshotOptions{Name: "Before rye"})
	if err != nil {
		return err
	}
	if _, err := w.Append(ctx, workspace.Append{Text: "And with rye?"}); err != nil {
		return err
	}
	if _, err := w.Restore(ctx, point.ID); err != nil { // the head moves to the checkpoint
		return err
	}
	fork, err := w.Append(ctx, workspace.Append{Text: "And with spelt?"}) // begins a branch
	if err != nil {
		return err
	}
	path, err := w.Show(ctx, fork.Session, session.ReadOptions{})
	if err != nil {
		return err
	}
	for _, m := range path.Messages {
		fmt.Println(m.Text())
	}
	_, err = w.Undo(ctx, history.UndoOptions{}) // removes the branch
	return err
}

func Example_embed() {
	dir, err := os.MkdirTemp("", "bough")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	if err := embed(ctx, dir); err != nil {
		log.Fatal(err)
	}
	w, err := workspace.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := printTree(ctx, w); err != nil {
		log.Fatal(err)
	}
	// Output:
	// How wet is too wet?
	// It depends on the flour.
	// And with spelt?
	// Bread root 3
	//   Before rye checkpoint 2
}

func appendReply(ctx context.Context, w *workspace.Workspace) error {
	asked, err := w.Append(ctx, workspace.Append{Text: "And with spelt?"})
	if err != nil {
		return err
	}
	reply := workspace.Append{Session: asked.Session, Parent: asked.Message, Role: "assistant", Text: "Drier."}
	answered, err := w.Append(ctx, reply)
	if err != nil {
		return err
	}
	fmt.Println(string(answered.Parent) == asked.Message)
	return nil
}

func checkpointReply(ctx context.Context, w *workspace.Workspace) error {
	point, err := w.Checkpoint(ctx, "Bread~1", workspace.SnapshotOptions{Name: "Before rye"})
	if err != nil {
		return err
	}
	fmt.Println(point.Title, point.Kind, point.MessageCount)
	if point.SteppedBack {
		fmt.Println("it ends before a tool call whose result is later")
	}
	return nil
}

func branchReply(ctx context.Context, w *workspace.Workspace) error {
	branch, err := w.Branch(ctx, "Bread~1", workspace.SnapshotOptions{Name: "With spelt"})
	if err != nil {
		return err
	}
	_, err = w.Append(ctx, workspace.Append{Session: branch.ID, Text: "And with spelt?"})
	return err
}

func printTree(ctx context.Context, w *workspace.Workspace) error {
	forest, err := w.Tree(ctx, "")
	if err != nil {
		return err
	}
	var walk func(list []workspace.TreeEntry, indent string)
	walk = func(list []workspace.TreeEntry, indent string) {
		for _, e := range list {
			fmt.Println(indent+e.Title, e.Kind, e.MessageCount)
			walk(e.Children, indent+"  ")
		}
	}
	walk(forest.Roots, "")
	return nil
}

func Example_embedTree() {
	w, _, remove := talk()
	defer remove()
	ctx := context.Background()
	for _, step := range []func(context.Context, *workspace.Workspace) error{appendReply, undoReply, undoReply, checkpointReply, branchReply, printTree} {
		if err := step(ctx, w); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// true
	// undid append
	// undid append
	// Before rye checkpoint 2
	// Bread root 3
	//   Before rye checkpoint 2
	//   With spelt branch 3
}

func undoReply(ctx context.Context, w *workspace.Workspace) error {
	undone, err := w.Undo(ctx, history.UndoOptions{})
	if err != nil {
		return err
	}
	for _, op := range undone.Operations {
		fmt.Println("undid", op.Original.Verb)
	}
	return nil
}

func follow(ctx context.Context, w *workspace.Workspace, from events.Seq) error {
	for e, err := range w.Events(ctx, from) {
		if err != nil {
			return err
		}
		switch e.Type {
		case events.MessageAdded:
			fmt.Println("message", e.Role)
		case events.CheckpointCreated, events.BranchCreated:
			fmt.Println(e.Type)
			return nil
		}
	}
	return nil
}

func Example_embedEvents() {
	w, _, remove := talk()
	defer remove()
	ctx := context.Background()
	if err := checkpointReply(ctx, w); err != nil {
		log.Fatal(err)
	}
	if err := follow(ctx, w, 0); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Before rye checkpoint 2
	// message user
	// message assistant
	// message user
	// checkpoint_created
}

func removeOrExplain(ctx context.Context, w *workspace.Workspace, name string) error {
	_, err := w.Remove(ctx, name, workspace.RemoveOptions{})
	switch {
	case err == nil:
		fmt.Println("removed")
	case errors.Is(err, fault.NotFound):
		fmt.Println("no such conversation")
	case errors.Is(err, fault.HasChildren):
		d, err := w.Dependents(ctx, name, workspace.RemoveOptions{})
		if err != nil {
			return err
		}
		for _, e := range d.OriginOf {
			fmt.Println("the origin of", e.Title)
		}
	default:
		e := workspace.Explain(err) // of the caller's own errors too
		fmt.Println(e.Code, e.Message, e.Hint)
	}
	return nil
}

func Example_embedErrors() {
	w, _, remove := talk()
	defer remove()
	ctx := context.Background()
	if err := checkpointReply(ctx, w); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"Cake", "Bread", "Before rye"} {
		if err := removeOrExplain(ctx, w, name); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// Before rye checkpoint 2
	// no such conversation
	// the origin of Before rye
	// removed
}

// An oven is a model that always gives the same answer.
type oven struct{}

func (oven) Ask(ctx context.Context, r *model.Request, stream func(text string)) (*model.Reply, error) {
	stream("230 ")
	stream("degrees.")
	return &model.Reply{Text: "230 degrees."}, nil
}

func askBaker(ctx context.Context, w *workspace.Workspace) error {
	baker := w.Agent("baker")
	if _, err := baker.Create(ctx, agents.Options{Model: "oven"}); err != nil {
		return err
	}
	o := agents.TurnOptions{
		Models:  func(ctx context.Context, id string) (model.Model, error) { return oven{}, nil },
		OnEvent: func(e events.Event) { fmt.Print(e.Text) },
	}
	reply, err := baker.Chat(ctx, agents.Prompt{Text: "How hot?"}, o)
	if err != nil {
		return err
	}
	fmt.Println()
	fmt.Println(reply.Reply)
	return nil
}

func Example_embedAgent() {
	w, _, remove := talk()
	defer remove()
	if err := askBaker(context.Background(), w); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 230 degrees.
	// 230 degrees.
}
