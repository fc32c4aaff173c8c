package folders

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A notice lies beside the lock of a folder while a workspace restores its files. The journal is
// in that workspace, and others would not see it.
type notice struct {
	Workspace string          `json:"workspace"` // absolute path
	Folder    string          `json:"folder"`    // ID in it
	Identity  states.Identity `json:"identity"`  // of the folder: another one may get its lock
}

// noticeName is the name of the notice beside the lock of the folder.
func (f *Folder) noticeName() string { return f.lockName() + "/restore.json" }

// announce writes the notice of a restore by a workspace.
func (f *Folder) announce(w *store.Store) error {
	root, err := lockRoot(w)
	if err != nil {
		return err
	}
	defer root.Close()
	data, err := json.Marshal(notice{w.Dir, f.ID, f.Identity})
	if err != nil {
		return err
	}
	_, err = durable.Replace(root, f.noticeName(), durable.Bytes(data, []byte("\n")))
	return err
}

// checkNotice refuses a folder of which another workspace has an interrupted restore. It removes
// a notice that is out of date.
func (f *Folder) checkNotice(w *store.Store) error {
	root, err := lockRoot(w)
	if err != nil {
		return err
	}
	defer root.Close()
	data, err := durable.ReadFile(root, f.noticeName())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var n notice
	if json.Unmarshal(data, &n) == nil && n.Identity == f.Identity {
		if err := n.check(f); err != nil {
			return err
		}
	}
	return durable.Remove(root, f.noticeName())
}

// check returns an error if the restore is not complete.
func (n *notice) check(f *Folder) error {
	e := &fault.Error{
		Code: fault.Refused, Message: fmt.Sprintf("a restore of %s by the workspace %s was interrupted", f.Path, n.Workspace),
		Next: fault.Do(fault.CompleteElsewhere, n.Workspace),
	}
	other, err := os.OpenRoot(n.Workspace)
	if errors.Is(err, fs.ErrNotExist) {
		stages := restore.Stages(f.Path)
		if len(stages) == 0 {
			return nil
		}
		e.Message += fmt.Sprintf(", and that is not there; what the restore moved is in %s", stages[0])
		e.Hint, e.Next = "bring the workspace back, or move that folder elsewhere", fault.Step{}
		return e
	}
	if err != nil {
		e.Err = err
		return e
	}
	defer other.Close()
	if is, err := restore.JournalOf(other, n.Folder).Pending(); err != nil || is {
		e.Err = err
		return e
	}
	return nil
}
