package workspace_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// A checkpoint freezes a conversation before its last question, and a branch continues from
// there in another direction. Both stay.
func Example() {
	dir, err := os.MkdirTemp("", "bough")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	w, err := workspace.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	chat, err := w.New(ctx, "Bread")
	if err != nil {
		log.Fatal(err)
	}
	var last *workspace.AppendResult
	for _, text := range []string{"How wet is too wet?", "It depends on the flour.", "And with rye?"} {
		if last, err = w.Append(ctx, workspace.Append{Session: chat.ID, Text: text}); err != nil {
			log.Fatal(err)
		}
	}
	point, err := w.Checkpoint(ctx, chat.ID+"@"+string(last.Parent), workspace.SnapshotOptions{Name: "Before rye"})
	if err != nil {
		log.Fatal(err)
	}
	fork, err := w.Append(ctx, workspace.Append{Session: point.ID, Text: "And with spelt?"})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []string{chat.ID, point.ID, fork.Session} {
		c, err := w.Show(ctx, id, session.ReadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, a %s:\n", c.Entry.Title, c.Entry.Kind)
		for _, m := range c.Messages {
			fmt.Println("  " + m.Text())
		}
	}
	// Output:
	// Bread, a root:
	//   How wet is too wet?
	//   It depends on the flour.
	//   And with rye?
	// Before rye, a checkpoint:
	//   How wet is too wet?
	//   It depends on the flour.
	// Before rye (branch), a branch:
	//   How wet is too wet?
	//   It depends on the flour.
	//   And with spelt?
}

func ExampleExplain() {
	ctx := context.Background()
	w, err := workspace.Open(ctx, "no such folder", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = w.Show(ctx, "Bread", session.ReadOptions{})
	switch e := workspace.Explain(err); e.Code {
	case fault.NotFound:
		fmt.Println("not there")
	default:
		log.Fatal(e)
	}
	// Output: not there
}
