package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// cancelFile returns the path of the file that requests the cancellation of an
// exploration.
func cancelFile(id string) string { return store.ExplorationLocks + "/" + id + "/cancel" }

// Cancel requests the cancellation of a running exploration. The request
// remains until [Exploration.ClearCancel].
func (x Exploration) Cancel(ctx context.Context) (err error) {
	defer func() { err = store.Explained(err) }()
	if !sessionid.IsUUID(x.id) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid exploration id %q", x.id)}
	}
	root, err := x.w.store.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, dir := range []string{store.StateDir, store.ExplorationLocks, store.ExplorationLocks + "/" + x.id} {
		if err := durable.MakeDir(root, dir); err != nil {
			return err
		}
	}
	_, err = durable.Replace(root, cancelFile(x.id), durable.Bytes(nil))
	return err
}

// IsCancelled reports whether [Exploration.Cancel] was called.
func (x Exploration) IsCancelled(ctx context.Context) bool {
	root, err := x.w.store.Open(ctx)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Lstat(cancelFile(x.id))
	return err == nil
}

// ClearCancel removes the request of [Exploration.Cancel].
func (x Exploration) ClearCancel(ctx context.Context) (err error) {
	defer func() { err = store.Explained(err) }()
	root, err := x.w.store.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	err = durable.Remove(root, cancelFile(x.id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
