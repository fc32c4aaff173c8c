package hook

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/internal/child"
	"github.com/bough-dev/bough/workspace"
	"github.com/gofrs/flock"
)

// Detach starts a process that does the work in the workspace dir, and survives this one and the
// tool.
func (c *Call) Detach(dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	spool, err := os.CreateTemp("", "bough-hook-")
	if err != nil {
		return err
	}
	_, err = spool.Write(data)
	if err = errors.Join(err, spool.Close()); err == nil {
		cmd := exec.Command(program, "-w", dir, "hook", "run", c.Tool, c.Event, "--later", spool.Name())
		cmd.Dir = dir
		child.Detach(cmd)
		if err = cmd.Start(); err == nil {
			return cmd.Process.Release()
		}
	}
	os.Remove(spool.Name())
	return err
}

// queue is the file that detached processes lock while they work. In the folder of caches it
// may be deleted at any time.
const queue = ".bough/cache/hooks.lock"

// queueRetry is how often a detached process tries to lock the queue.
const queueRetry = 100 * time.Millisecond

// RunQueued is Run for a detached process, after those of earlier hooks have ended, or after
// patience. So only the first reads a long transcript, and the others read the new lines.
//
// A state of files whose message is known does not wait.
func (c *Call) RunQueued(ctx context.Context, w *workspace.Workspace, patience time.Duration) error {
	if c.State != nil && c.ready() {
		_, err := c.snap(ctx, w, true)
		c.State = nil
		if c.Imported && c.Prune == "" {
			return err
		}
		return errors.Join(err, c.RunQueued(ctx, w, patience))
	}
	path := filepath.Join(w.Dir(), filepath.FromSlash(queue))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if locked, err := lock.TryLockContext(waiting, queueRetry); locked {
		defer lock.Unlock()
	} else if waiting.Err() == nil && err != nil {
		return err
	}
	return c.Run(ctx, w)
}

// Detached returns the call that a process has left in a file, and removes the file.
func Detached(path string) (*Call, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	os.Remove(path) // in the folder for temporary files
	return Decode(data)
}
