package desk

import (
	"context"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/history"
)

// Begin begins an empty conversation and opens it.
func (d *Desk) Begin(ctx context.Context) error {
	made, err := d.agent.NewTree(ctx, "")
	if err != nil {
		return err
	}
	d.Open(made.Tree)
	return nil
}

// Save saves the open conversation as a checkpoint, up to the message ref or, if
// ref is "", to its end. If name is empty, the title of the conversation is used.
func (d *Desk) Save(ctx context.Context, ref, name string) (done string, err error) {
	if ref == "" {
		ref = d.opened()
	}
	saved, err := d.w.Checkpoint(ctx, ref, workspace.SnapshotOptions{Name: name})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Saved %q.", saved.Title), nil
}

// Branch begins a branch with the path to a message and opens it.
func (d *Desk) Branch(ctx context.Context, ref, name string) error {
	made, err := d.agent.BranchTree(ctx, ref, name, checkpoint.CutOptions{})
	if err != nil {
		return err
	}
	d.Open(made.Tree)
	return nil
}

// Delete moves the open conversation to the trash. If the head of the agent is
// in it, the head first moves to another conversation.
func (d *Desk) Delete(ctx context.Context) (done string, err error) {
	a, err := d.agent.Info(ctx)
	if err != nil {
		return "", err
	}
	open := d.opened()
	i := slices.IndexFunc(a.Trees, func(t agent.Tree) bool { return t.ID == open })
	if i < 0 {
		gone, err := d.w.Remove(ctx, open, workspace.RemoveOptions{Line: true})
		if err != nil {
			return "", err
		}
		d.Open(a.Head.Tree)
		return fmt.Sprintf("Moved %q to the trash.", gone.Title), nil
	}
	to := a.Head.Tree
	if to == open {
		if to, err = d.leave(ctx, a, open); err != nil {
			return "", err
		}
	}
	gone, err := d.agent.DeleteTree(ctx, open, agents.DeleteTreeOptions{})
	if err != nil {
		return "", err
	}
	d.Open(to)
	return fmt.Sprintf("Moved %q to the trash.", gone.Title), nil
}

// leave moves the head of the agent out of a tree, to the newest other one or a
// new one, and returns that.
func (d *Desk) leave(ctx context.Context, a *agents.Agent, tree string) (to string, err error) {
	for _, t := range slices.Backward(a.Trees) {
		if t.ID != tree && !t.Archived {
			_, err := d.agent.Switch(ctx, t.ID, checkpoint.CutOptions{})
			return t.ID, err
		}
	}
	made, err := d.agent.NewTree(ctx, "")
	if err != nil {
		return "", err
	}
	return made.Tree, nil
}

// Undo undoes the newest operation on the workspace.
func (d *Desk) Undo(ctx context.Context) (done string, err error) {
	undone, err := d.w.Undo(ctx, history.UndoOptions{})
	if err != nil {
		return "", err
	}
	if op := undone.Operations[0].Original; op != nil {
		return fmt.Sprintf("Undid %q, operation %d.", op.Verb, op.Seq), nil
	}
	return "Undid an operation.", nil
}
