package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// cancelFile is what says in the folder of an exploration that it is to end.
func cancelFile(id string) string { return explorationLocks + "/" + id + "/cancel" }

// AskCancel tells who carries out an exploration that it is to end. It stays told until
// [Workspace.ForgetCancel].
func (w *Workspace) AskCancel(ctx context.Context, id string) (err error) {
	defer func() { err = explained(err) }()
	if !session.IsUUID(id) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("no exploration can have the id %q", id)}
	}
	root, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, dir := range []string{stateDir, explorationLocks, explorationLocks + "/" + id} {
		if err := durable.MakeDir(root, dir); err != nil {
			return err
		}
	}
	_, err = durable.Replace(root, cancelFile(id), durable.Bytes(nil))
	return err
}

// CancelAsked reports whether an exploration is to end.
func (w *Workspace) CancelAsked(ctx context.Context, id string) bool {
	root, err := w.open(ctx)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Lstat(cancelFile(id))
	return err == nil
}

// ForgetCancel takes back what [Workspace.AskCancel] told.
func (w *Workspace) ForgetCancel(ctx context.Context, id string) (err error) {
	defer func() { err = explained(err) }()
	root, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	err = durable.Remove(root, cancelFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
