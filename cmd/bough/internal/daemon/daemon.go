// Package daemon keeps background processes for a workspace, at most one of each [Kind]. A
// process holds a lock (package writelock) in a folder of its kind as long as it runs, so
// that it cannot be started twice, and a dead one does not block the next. Its log is beside
// the lock.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/child"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/writelock"
	"gopkg.in/natefinch/lumberjack.v2"
)

const (
	logName    = "log"
	stderrName = "stderr" // what a process wrote before it opened its log

	patience = 30 * time.Second      // for a process to start or to stop
	poll     = 20 * time.Millisecond // between looks at the lock
	handover = time.Second           // for a process that replaces itself to end
)

// A Kind is a kind of background process.
type Kind struct {
	Name string // in errors, and of the command in the description of the lock
	Dir  string // the folder of its lock and log, in a workspace
}

// Importer returns the kind of the process that imports, the daemon.
func Importer() Kind { return Kind{"daemon", ".bough/daemon"} }

// A State is the state of a process of a workspace. PID is 0 and Since is zero if
// none runs.
type State struct {
	Running bool
	PID     int
	Since   time.Time
}

// Look returns the state of the process of a workspace.
func (k Kind) Look(workspace string) (State, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return State{}, err
	}
	defer root.Close()
	holder, ok := writelock.Owner(root, k.Dir)
	if !ok {
		return State{}, nil
	}
	return State{true, holder.PID, holder.Since}, nil
}

// Acquire makes this process the one of a workspace, which must exist. The error
// is a *[writelock.HeldError] if another process is. Release ends it.
func (k Kind) Acquire(ctx context.Context, workspace string) (*Lock, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := durable.MakeDir(root, k.Dir); err != nil {
		return nil, err
	}
	release, err := writelock.Lock(ctx, root, k.Dir, writelock.Holder{PID: os.Getpid(), Verb: k.Name, Since: time.Now()}, handover)
	if err != nil {
		return nil, err
	}
	l := &Lock{Release: release, path: filepath.Join(workspace, filepath.FromSlash(k.Dir), writelock.FileName)}
	if l.file, err = os.Stat(l.path); err != nil {
		release()
		return nil, err
	}
	return l, nil
}

// A Lock is the lock of a process of a workspace.
type Lock struct {
	Release func()

	path string
	file os.FileInfo
}

// State returns the state of the file of the lock: without it, another process of
// its kind can start.
func (l *Lock) State() LockState {
	info, err := os.Stat(l.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return LockRemoved
	case err == nil && !os.SameFile(info, l.file):
		return LockReplaced
	}
	return LockKept
}

// A LockState is what became of the file of a lock.
type LockState int

const (
	LockKept     LockState = iota // or it cannot be determined
	LockRemoved                   // with the workspace, or without
	LockReplaced                  // by the lock of another workspace in the same place
)

// LogPath returns the path of the process's log.
func (k Kind) LogPath(workspace string) string {
	return filepath.Join(workspace, filepath.FromSlash(k.Dir), logName)
}

// OpenLog opens the log: when it exceeds 1 MB, it gets a name with the time, and the
// one before that is removed.
func (k Kind) OpenLog(workspace string) io.WriteCloser {
	return &lumberjack.Logger{Filename: k.LogPath(workspace), MaxSize: 1, MaxBackups: 1}
}

// Start starts a program as the process of a workspace and returns when it, or another
// process, holds the lock. The program has no terminal and no output; it is to call Acquire and OpenLog.
// The error has what it wrote if it ends before that.
func (k Kind) Start(ctx context.Context, workspace, program string, args ...string) (State, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return State{}, err
	}
	defer root.Close()
	if err := durable.MakeDir(root, k.Dir); err != nil {
		return State{}, err
	}
	output, err := root.OpenFile(k.Dir+"/"+stderrName, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return State{}, err
	}
	defer output.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir = workspace
	cmd.Stdout, cmd.Stderr = output, output
	child.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return State{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		if s, err := k.Look(workspace); err != nil || s.Running && s.PID == cmd.Process.Pid {
			return s, err
		}
		select {
		case err := <-ended:
			if s, lookErr := k.Look(workspace); lookErr == nil && s.Running {
				return s, nil // another call of Start was first
			}
			return State{}, k.startError(output, err)
		case <-ctx.Done():
			cmd.Process.Kill()
			return State{}, fmt.Errorf("the %s did not start in %v", k.Name, patience)
		case <-time.After(poll):
		}
	}
}

// startError returns the error of a program that ended with err, with what it wrote.
func (k Kind) startError(output *os.File, err error) error {
	const most = 4 << 10
	said := make([]byte, most)
	n, _ := output.ReadAt(said, 0)
	text := strings.TrimSpace(string(said[:n]))
	text = strings.TrimPrefix(text, "bough: ")
	if err == nil {
		err = errors.New("exit status 0")
	}
	if text == "" {
		return fmt.Errorf("the %s ended at once: %w", k.Name, err)
	}
	return fmt.Errorf("the %s ended at once: %s", k.Name, text)
}

// Stop ends the process of a workspace and returns its last state when it has ended.
func (k Kind) Stop(ctx context.Context, workspace string) (State, error) {
	was, err := k.Look(workspace)
	if err != nil || !was.Running {
		return was, err
	}
	if was.PID == 0 {
		return was, fmt.Errorf("the %s runs, but its process is not recorded; end it by hand", k.Name)
	}
	process, err := os.FindProcess(was.PID)
	if err == nil {
		err = terminate(process)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return was, fmt.Errorf("end process %d: %w", was.PID, err)
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		if now, err := k.Look(workspace); err != nil || !now.Running || now.PID != was.PID {
			return was, err
		}
		select {
		case <-ctx.Done():
			return was, fmt.Errorf("process %d does not end", was.PID)
		case <-time.After(poll):
		}
	}
}
