// Package writelock lets one process at a time write to a workspace.
//
// The lock is an advisory lock of the operating system on a file that is never
// removed. It ends with the process that holds it, so a dead holder blocks no other
// process. A small JSON file beside it describes the holder. That file is
// informational: it has no effect on locking, and it may be out of date when the
// lock is free.
package writelock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// A Holder is a process that holds the lock.
type Holder struct {
	PID   int       `json:"pid"`
	Verb  string    `json:"verb"`  // the command
	Since time.Time `json:"since"` // when it acquired the lock
}

// A HeldError reports that another process held the lock for the complete waiting
// time. Holder is zero if it is unknown.
type HeldError struct {
	Path   string
	Holder Holder
}

func (e *HeldError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Path)
	}
	return fmt.Sprintf("the workspace is locked by process %d (%s, since %s)",
		e.Holder.PID, e.Holder.Verb, e.Holder.Since.Format(time.TimeOnly))
}

// FileName is the name of the file that is locked.
const FileName = "lock"

const (
	holderName = "lock.holder"
	retry      = 5 * time.Millisecond

	// glance is the minimum time for which Lock tries: Held may hold the lock
	// briefly.
	glance = 4 * retry
)

// Lock acquires the lock in the folder dir of root for h. It waits at most wait for
// another holder. The error is a *[HeldError] if that is not enough, and that of
// ctx if ctx ends first. A lock file that is a link is refused.
func Lock(ctx context.Context, root *os.Root, dir string, h Holder, wait time.Duration) (unlock func(), err error) {
	name := dir + "/" + FileName
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "lock", Path: name, Err: errors.New("not a regular file")}
	}
	path := filepath.Join(root.Name(), filepath.FromSlash(name))
	lock := flock.New(path, flock.SetPermissions(0o600))
	waiting, cancel := context.WithTimeout(ctx, max(wait, glance))
	defer cancel()
	locked, err := lock.TryLock()
	if err == nil && !locked {
		locked, err = lock.TryLockContext(waiting, retry)
	}
	switch {
	case ctx.Err() != nil:
		if locked {
			lock.Unlock()
		}
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &HeldError{path, readHolder(root, dir)}
	case err != nil:
		return nil, err
	}
	word, err := json.Marshal(h)
	if err != nil {
		panic("writelock: " + err.Error())
	}
	if info, err := root.Lstat(dir + "/" + holderName); err == nil && !info.Mode().IsRegular() {
		return func() { lock.Unlock() }, nil // opening a named pipe would block
	}
	if err := overwrite(root, dir+"/"+holderName, append(word, '\n')); err != nil {
		root.Remove(dir + "/" + holderName) // a missing description is better than a wrong one
	}
	return func() { lock.Unlock() }, nil
}

// overwrite writes data to a file, in place: if the file were truncated first, some file
// systems would allocate and write a block each time.
func overwrite(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if info, statErr := f.Stat(); err == nil && statErr == nil && info.Size() != int64(len(data)) {
		err = f.Truncate(int64(len(data)))
	}
	return cmp.Or(err, f.Close())
}

// Held reports whether a process holds the lock in the folder dir of root. It
// briefly acquires the lock itself; Lock tries for longer than that.
func Held(root *os.Root, dir string) bool {
	name := dir + "/" + FileName
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	lock := flock.New(filepath.Join(root.Name(), filepath.FromSlash(name)), flock.SetPermissions(0o600))
	defer lock.Close()
	locked, err := lock.TryRLock()
	return err == nil && !locked
}

// Owner returns the process that holds the lock in the folder dir of root. ok is false
// if no process does. Like Held it briefly acquires the lock.
func Owner(root *os.Root, dir string) (h Holder, ok bool) {
	if !Held(root, dir) {
		return Holder{}, false
	}
	return readHolder(root, dir), true
}

func readHolder(root *os.Root, dir string) (h Holder) {
	if info, err := root.Lstat(dir + "/" + holderName); err != nil || !info.Mode().IsRegular() {
		return Holder{}
	}
	word, err := root.ReadFile(dir + "/" + holderName)
	if err != nil || json.Unmarshal(word, &h) != nil {
		return Holder{}
	}
	return h
}
