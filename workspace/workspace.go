// Package workspace is the front door of bough, for programs that embed it and
// for the bough command: every verb that reads or changes a workspace is one
// method here.
//
// A workspace is a folder:
//
//	conversations/      the session files, session_index.json and its journal
//	checkpoints/        Penguin's own checkpoints, only read
//	files/              attachments, by their SHA-256
//	head.json           where the next message goes
//	bookmarks.json      labels on messages
//	agents/             agents, each with trees and a head of its own
//	.bough/             operations, tasks, trash, lock, token, cache; without it every session still opens
//
// The session files are the truth. Methods that read write nothing but what they
// remember in .bough/cache, and take no lock, but for Doctor, which may. Methods
// that change something take the lock of the workspace, complete what a command
// left that was interrupted, check everything before the first byte is written,
// and have changed the disk durably when they return without an error; one that
// returns an error from its checks has changed nothing. What another program
// writes meanwhile is not overwritten. Each change is an [Operation], which
// [Workspace.Undo] takes back.
//
// No message of a session is ever rewritten, but that the undo of an append takes
// the message out again, and that what users note with one may change.
//
// Results are plain structs whose JSON is a contract with other programs. Times
// in them are UTC with six digits and +00:00. A failure that a person or a
// program can act on has a [Code]: see [Explain].
package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// Options are the choices of an embedder. The zero value is the default, and
// nil is the zero value.
type Options struct {
	// Limit is how many messages a session file of a line takes after its
	// header before the line goes on in another. Zero means 1,000.
	Limit int

	// Wait is how long to wait for another process that is writing.
	// Zero means 30 seconds; negative means not at all.
	Wait time.Duration

	// Settle is how long a damaged file must not have changed before
	// [Workspace.Doctor] mends it: another program may be writing it. Zero means a
	// second; negative means not at all.
	Settle time.Duration

	// Existing has the methods that read return [ErrNotFound] where there is no
	// workspace. Without it such a folder reads as a workspace with nothing in it.
	Existing bool

	// Retention says how long automatic checkpoints are kept. The zero value is
	// its default.
	Retention checkpoint.Retention

	// UserConfig is the user's file of settings, which the workspace's config.json adds
	// to. "" means that there is none.
	UserConfig string

	// UndoAge is how long an operation can be undone at least. Zero means 30 days.
	UndoAge time.Duration

	// UndoOperations is the minimum number of operations that can be undone, not counting
	// automatic ones and those of other programs. Zero means 10,000.
	UndoOperations int

	// CompactEvery is the number of operations after which the log is compacted. Zero
	// means 1,000.
	CompactEvery int

	// Now is the clock, for several goroutines. Nil means time.Now.
	Now func() time.Time

	// Random is where ids come from. Nil means crypto/rand.
	Random io.Reader

	// Progress is told how far long work is: what bough is doing, and how many
	// bytes of how many are done. It is called often, from one goroutine at a
	// time. Nil means that nobody is told.
	Progress func(doing string, done, total int64)

	// Note is told, in one sentence each, what a person should know although
	// nothing failed: a damaged index, a session file that cannot be read. It is called
	// from the goroutine of the method, or from one that the method waits for.
	// Nil means that nobody is told.
	Note func(string)
}

// A Workspace is an open workspace. Its methods may be called from several
// goroutines.
type Workspace struct {
	*base // what its verbs read and change
}

// A base is the files of a workspace. Its methods may be called from several goroutines.
type base struct {
	dir    string
	opts   Options
	memory *session.Memory
	uuids  *uuids
	tasks  *taskLog
	live   *live
	turn   chan struct{} // is full while a goroutine writes
}

const (
	stateDir = ".bough"
	trashDir = stateDir + "/trash"
	headFile = "head.json"
)

// Open returns the workspace in the folder dir. The folder need not be there: methods
// that read find nothing in it, unless [Options.Existing] has them return an error, and
// those that begin something, such as [Workspace.New], create it. Given a folder
// conversations instead of its workspace, Open takes the workspace.
func Open(ctx context.Context, dir string, opts *Options) (_ *Workspace, err error) {
	defer func() { err = explained(err) }()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if filepath.Base(abs) == session.Dir && !Is(abs) && holdsSessions(abs) {
		abs = filepath.Dir(abs)
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return nil, &fault.Error{Code: fault.Usage, Message: abs + " is not a folder", Hint: "give the folder that holds conversations/"}
	}
	w := &base{dir: abs, memory: &session.Memory{}, uuids: &uuids{}, tasks: &taskLog{}, live: &live{}, turn: make(chan struct{}, 1)}
	if opts != nil {
		w.opts = *opts
	}
	if w.opts.Limit <= 0 {
		w.opts.Limit = 1000
	}
	if w.opts.Wait == 0 {
		w.opts.Wait = 30 * time.Second
	}
	if w.opts.Settle == 0 {
		w.opts.Settle = time.Second
	}
	if w.opts.Now == nil {
		w.opts.Now = time.Now
	}
	if w.opts.Random == nil {
		w.opts.Random = rand.Reader
	}
	if w.opts.Progress == nil {
		w.opts.Progress = func(string, int64, int64) {}
	}
	if w.opts.Note == nil {
		w.opts.Note = func(string) {}
	}
	return &Workspace{w}, nil
}

// Dir returns the absolute path of the workspace.
func (w *Workspace) Dir() string { return w.dir }

// read calls f with the current workspace and returns what f returns. If another program
// removes or changes a file that f reads, read calls f once more, and returns what the
// second call returns. f must not write to variables that it captures.
func read[T any](ctx context.Context, b *base, f func(*View) (T, error)) (result T, err error) {
	defer func() { err = explained(err) }()
	root, err := b.open(ctx)
	if err != nil {
		return result, err
	}
	defer root.Close()
	b = b.notingOnce()
	try := func(fresh bool) (result T, err error) {
		v, err := b.loadQuiet(ctx, root, mode{fresh: fresh})
		if err != nil {
			return result, err
		}
		defer v.done()
		v.noteTrouble()
		return f(v)
	}
	result, err = try(false)
	var missing *index.MissingError
	if errors.Is(err, errGone) || errors.As(err, &missing) || isChanged(err) {
		result, err = try(true)
	}
	return result, err
}

// loadQuiet looks at a workspace for a reader at a moment at which no operation
// begins or ends, if there is one: of several files that move together it sees all
// or none.
func (w *base) loadQuiet(ctx context.Context, root *os.Root, m mode) (v *View, err error) {
	const tries = 5
	for n := range tries {
		before := logged(root)
		v, err = w.load(ctx, root, m)
		if err != nil || n == tries-1 || logged(root) == before {
			break
		}
		v.done()
	}
	return v, err
}

// logged identifies the log of operations as it is.
func logged(root *os.Root) durable.Identity {
	info, err := root.Stat(operation.Path)
	if err != nil {
		return durable.Identity{}
	}
	return durable.Identify(info)
}

// isChanged reports whether a session is not what was remembered of it, or was
// changed while it was being read: looked at once more, it may be whole.
func isChanged(err error) bool {
	var changed *session.ChangedError
	return errors.As(err, &changed) || errors.Is(err, durable.ErrChanged)
}

// errGone is behind the error for a session that the index lists and that is
// not there.
var errGone = errors.New("gone since the index was read")

// open opens the folder. One that is not there reads as empty.
func (w *base) open(ctx context.Context) (*os.Root, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.opts.Existing && !Is(w.dir) {
		return nil, noWorkspace(w.dir)
	}
	root, err := os.OpenRoot(w.dir)
	if errors.Is(err, fs.ErrNotExist) {
		root, err = emptyRoot()
	}
	return root, explained(err)
}

func noWorkspace(dir string) error {
	return &fault.Error{
		Code:    fault.NotFound,
		Message: "there is no workspace in " + dir,
		Next:    fault.Do(fault.ChooseWorkspace),
	}
}

// emptyRoot opens a folder that is empty and that nothing can be written to: it is
// removed before it is returned.
func emptyRoot() (*os.Root, error) {
	dir, err := os.MkdirTemp("", "bough-empty-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(dir)
	return os.OpenRoot(dir)
}

// done ends what a method does with the workspace.
func (v *View) done() {
	if !v.forgetful {
		v.rememberNew()
		v.index.Remember()
	}
	v.index.Close()
}

// follow notes what did not work after a change was made: the change stands, and
// what should have followed it is made up for later.
func (v *View) follow(what string, err error) {
	if err != nil {
		v.w.opts.Note(what + ": " + err.Error())
	}
}
