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
// The session files are the source of truth. Methods that read take no lock,
// except Doctor, which may, and write only the cache in .bough/cache. Methods
// that change something take the lock of the workspace, complete interrupted
// operations, validate everything before the first write, and return without an
// error only after the change is durable; if validation fails, nothing has
// changed. A concurrent change by another program is not overwritten. Each
// change is an [Operation], which [Workspace.Undo] reverts.
//
// No message of a session is ever rewritten, except that undoing an append
// removes the message, and that the user's metadata may change.
//
// Results are plain structs whose JSON is a contract with other programs. Their
// times are UTC with six digits and +00:00. An error that a caller can act on
// has a [Code]: see [Explain].
package workspace

import (
	"context"
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
	// Limit is the number of messages in a session file after its header above
	// which the line continues in another file. Zero means 1,000.
	Limit int

	// Wait is how long to wait for another process that is writing.
	// Zero means 30 seconds; negative means not at all.
	Wait time.Duration

	// Settle is how long a damaged file must be unchanged before
	// [Workspace.Doctor] repairs it: another program may be writing it. Zero means
	// a second; negative means not at all.
	Settle time.Duration

	// Existing makes methods that read return [ErrNotFound] if the workspace does
	// not exist. Without it, a missing workspace is read as an empty one.
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

	// Progress is called with the progress of long work: a description, and the
	// bytes done and in total. It is called often, from one goroutine at a
	// time. If nil, it is not called.
	Progress func(doing string, done, total int64)

	// Note is called with a sentence about something that the user should know although
	// nothing failed: a damaged index, an unreadable session file. It is called from
	// the goroutine of the method, or from one that the method waits for. If nil, it is
	// not called.
	Note func(string)
}

// A Workspace is an open workspace. Its methods may be called from several
// goroutines.
type Workspace struct {
	store *base // the state that its methods share
}

// Open returns the workspace in the folder dir. The folder need not exist: methods that
// read find nothing in it, unless [Options.Existing] makes them return an error, and
// methods that begin something, such as [Workspace.New], create it. If dir is a folder
// conversations, Open opens the workspace that contains it.
func Open(ctx context.Context, dir string, opts *Options) (_ *Workspace, err error) {
	defer func() { err = explained(err) }()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if filepath.Base(abs) == session.Dir && !isWorkspace(abs) && holdsSessions(abs) {
		abs = filepath.Dir(abs)
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return nil, &fault.Error{Code: fault.Usage, Message: abs + " is not a folder", Hint: "give the folder that holds conversations/"}
	}
	var o storeOptions
	if opts != nil {
		o = storeOptions(*opts)
	}
	return &Workspace{newBase(abs, o, completeForget)}, nil
}

// Dir returns the absolute path of the workspace.
func (w *Workspace) Dir() string { return w.store.dir }

// read calls f with the current workspace and returns the result of f. If another
// program removes or changes a file while f reads it, read calls f again, and returns
// the second result. f must not write to captured variables.
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

// isChanged reports whether a session differs from the cache, or was changed
// while it was read: a second read may succeed.
func isChanged(err error) bool {
	var changed *session.ChangedError
	return errors.As(err, &changed) || errors.Is(err, durable.ErrChanged)
}

// errGone is behind the error for a session that the index lists and that is
// not there.
var errGone = errors.New("gone since the index was read")

// open opens the folder. A missing folder is read as an empty one.
func (w *base) open(ctx context.Context) (*os.Root, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.opts.Existing && !isWorkspace(w.dir) {
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

// done closes the view.
func (v *View) done() {
	if !v.forgetful {
		v.rememberNew()
		v.index.Remember()
	}
	v.index.Close()
}

// follow notes a failure after a committed change: the change is kept, and the
// failed step is completed later.
func (v *View) follow(what string, err error) {
	if err != nil {
		v.store.opts.Note(what + ": " + err.Error())
	}
}
