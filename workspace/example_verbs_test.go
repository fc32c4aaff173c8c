package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/search"
)

// talk opens a workspace in a new folder with one conversation in it, and returns the ids
// of its messages. The examples share it.
func talk() (w *workspace.Workspace, messages []string, remove func()) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "bough")
	if err != nil {
		log.Fatal(err)
	}
	if w, err = workspace.Open(ctx, dir, nil); err != nil {
		log.Fatal(err)
	}
	if _, err = w.New(ctx, "Bread"); err != nil {
		log.Fatal(err)
	}
	for i, text := range []string{"How wet is too wet?", "It depends on the flour.", "And with rye?"} {
		added, err := w.Append(ctx, workspace.Append{Text: text, Role: []string{"user", "assistant"}[i%2]})
		if err != nil {
			log.Fatal(err)
		}
		messages = append(messages, added.Message)
	}
	return w, messages, func() { os.RemoveAll(dir) }
}

func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "bough")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// The folder need not exist: it reads as empty until something is written.
	w, err := workspace.Open(ctx, filepath.Join(dir, "new"), nil)
	if err != nil {
		log.Fatal(err)
	}
	list, err := w.Sessions(ctx, workspace.ListOptions{})
	fmt.Println(len(list.Sessions), err)
	// Output: 0 <nil>
}

func ExampleWorkspace_Sessions() {
	w, _, remove := talk()
	defer remove()
	list, err := w.Sessions(context.Background(), workspace.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range list.Sessions {
		fmt.Println(e.Title, e.Kind, e.MessageCount, !e.LastActive.Before(e.CreatedAt))
	}
	// Output: Bread root 3 true
}

func ExampleWorkspace_Show() {
	w, messages, remove := talk()
	defer remove()
	c, err := w.Show(context.Background(), "Bread@"+messages[1], session.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range c.Messages {
		fmt.Printf("%s: %s\n", m.Role(), m.Text())
	}
	// Output:
	// user: How wet is too wet?
	// assistant: It depends on the flour.
}

// A call of a tool is a message of the assistant, its result a message of the tool.
func ExampleWorkspace_Append_tools() {
	w, _, remove := talk()
	defer remove()
	ctx := context.Background()
	for _, a := range []workspace.Append{
		{Text: "Let me look.", Calls: []model.Call{{ID: "call_1", Name: "oven", Arguments: `{"rack":2}`}}},
		{Text: "230 °C", CallID: "call_1", Tool: "oven"},
		{Text: "It is warm enough.", Role: "assistant"},
	} {
		if _, err := w.Append(ctx, a); err != nil {
			log.Fatal(err)
		}
	}
	c, err := w.Show(ctx, "Bread", session.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range c.Messages[3:] {
		fmt.Printf("%s: %s\n", m.Role(), m.Text())
	}
	// Output:
	// assistant: Let me look.
	// tool: 230 °C
	// assistant: It is warm enough.
}

func ExampleConversation_MarshalJSON() {
	w, _, remove := talk()
	defer remove()
	c, err := w.Show(context.Background(), "Bread", session.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	data, err := json.Marshal(c)
	if err != nil {
		log.Fatal(err)
	}
	var doc struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		log.Fatal(err)
	}
	fmt.Println(doc.Messages[0].Role, "asks:", doc.Messages[0].Content)
	// Output: user asks: How wet is too wet?
}

func ExampleWorkspace_Checkpoint() {
	w, messages, remove := talk()
	defer remove()
	point, err := w.Checkpoint(context.Background(), "Bread@"+messages[1], workspace.SnapshotOptions{Name: "Before rye"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(point.Title, point.Kind, point.MessageCount, string(point.BranchPoint) == messages[1])
	// Output: Before rye checkpoint 2 true
}

func ExampleWorkspace_Branch() {
	w, messages, remove := talk()
	defer remove()
	ctx := context.Background()
	if _, err := w.Branch(ctx, "Bread@"+messages[1], workspace.SnapshotOptions{Name: "With spelt"}); err != nil {
		log.Fatal(err)
	}
	// The head is in the branch now, so an Append without a session goes there.
	if _, err := w.Append(ctx, workspace.Append{Text: "And with spelt?"}); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"Bread", "With spelt"} {
		c, err := w.Show(ctx, name, session.ReadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name+":", c.Messages[len(c.Messages)-1].Text())
	}
	// Output:
	// Bread: And with rye?
	// With spelt: And with spelt?
}

func ExampleWorkspace_Restore() {
	w, _, remove := talk()
	defer remove()
	ctx := context.Background()
	if _, err := w.Checkpoint(ctx, "Bread", workspace.SnapshotOptions{Name: "Kept"}); err != nil {
		log.Fatal(err)
	}
	pos, err := w.Restore(ctx, "Kept")
	if err != nil {
		log.Fatal(err)
	}
	// The checkpoint does not change: the next message makes a branch of it.
	added, err := w.Append(ctx, workspace.Append{Text: "Something else."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pos.ReadOnly, string(added.ForkedFrom) == pos.Head.Session)
	// Output: true true
}

func ExampleWorkspace_Rewind() {
	w, messages, remove := talk()
	defer remove()
	ctx := context.Background()
	if _, err := w.Rewind(ctx, "Bread@"+messages[1], checkpoint.CutOptions{}); err != nil {
		log.Fatal(err)
	}
	if _, err := w.Append(ctx, workspace.Append{Text: "And with spelt?"}); err != nil {
		log.Fatal(err)
	}
	branches, err := w.Branches(ctx, "Bread", workspace.BranchesOptions{Messages: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, leaf := range branches.Leaves {
		fmt.Println(leaf.Text)
	}
	// Output:
	// And with rye?
	// And with spelt?
}

func ExampleWorkspace_Diff() {
	w, messages, remove := talk()
	defer remove()
	ctx := context.Background()
	other, err := w.Append(ctx, workspace.Append{Session: "Bread", Parent: messages[1], Text: "And with spelt?"})
	if err != nil {
		log.Fatal(err)
	}
	d, err := w.Diff(ctx, "Bread@"+messages[2], "Bread@"+other.Message, session.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(d.Common) == messages[1])
	fmt.Println("-", d.MessagesA[0].Text())
	fmt.Println("+", d.MessagesB[0].Text())
	// Output:
	// true
	// - And with rye?
	// + And with spelt?
}

func ExampleWorkspace_Bookmark() {
	w, messages, remove := talk()
	defer remove()
	ctx := context.Background()
	if _, err := w.Bookmark(ctx, "Bread@"+messages[0], "start", workspace.BookmarkOptions{}); err != nil {
		log.Fatal(err)
	}
	c, err := w.Show(ctx, "start", session.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Messages[0].Text())
	// Output: How wet is too wet?
}

func ExampleWorkspace_Search() {
	w, _, remove := talk()
	defer remove()
	found, err := w.Search(context.Background(), search.Options{Text: "flour"})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range found.Matches {
		fmt.Printf("%s: %s\n", m.Title, m.Snippet)
	}
	// Output: Bread: It depends on the flour.
}

func ExampleWorkspace_Undo() {
	w, _, remove := talk()
	defer remove()
	ctx := context.Background()
	if _, err := w.Rename(ctx, "Bread", "Cake"); err != nil {
		log.Fatal(err)
	}
	if _, err := w.Undo(ctx, history.UndoOptions{}); err != nil {
		log.Fatal(err)
	}
	list, err := w.Sessions(ctx, workspace.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(list.Sessions[0].Title)
	// Output: Bread
}

func ExampleWorkspace_Remove() {
	w, _, remove := talk()
	defer remove()
	ctx := context.Background()
	if _, err := w.Remove(ctx, "Bread", workspace.RemoveOptions{}); err != nil {
		log.Fatal(err)
	}
	trash, err := w.Trash(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range trash.Files {
		if f.Session != "" {
			fmt.Println(f.Title)
		}
	}
	// Output: Bread
}

func ExampleWorkspace_Events() {
	w, _, remove := talk()
	defer remove()
	n := 0
	// From 0 on: first the past events, then each new one, until the loop or ctx ends.
	for e, err := range w.Events(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Type)
		if n++; n == 3 {
			break
		}
	}
	// Output:
	// 1 session_created
	// 1 head_moved
	// 2 message_added
}

func ExampleWorkspace_Import() {
	w, _, remove := talk()
	defer remove()
	ctx := context.Background()
	transcript := `[{"role":"user","content":"What is rye?"},{"role":"assistant","content":"A grass."}]`
	list, err := w.Import(ctx, []string{"-"}, imports.Options{Stdin: strings.NewReader(transcript)})
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range list.Imported {
		fmt.Println(i.Status, i.Format, i.Messages)
	}
	// Output: new openai 2
}

func ExampleWorkspace_Export() {
	w, _, remove := talk()
	defer remove()
	format, err := convert.Named("markdown")
	if err != nil {
		log.Fatal(err)
	}
	e, err := w.Export(context.Background(), "Bread", workspace.ExportOptions{Format: format})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Messages, strings.Contains(string(e.Data), "It depends on the flour."))
	// Output: 3 true
}

// Each error code has a value for errors.Is; errors.As finds the hint.
func ExampleError() {
	w, _, remove := talk()
	defer remove()
	_, err := w.Show(context.Background(), "Cake", session.ReadOptions{})
	var e *fault.Error
	fmt.Println(errors.Is(err, fault.NotFound), errors.As(err, &e) && e.Code == fault.NotFound)
	// Output: true true
}
