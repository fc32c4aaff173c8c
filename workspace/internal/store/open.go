package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// Is reports whether the folder dir is a workspace; see workspace.Is.
func Is(dir string) bool {
	if info, err := os.Stat(filepath.Join(dir, StateDir)); err == nil && info.IsDir() {
		return true
	}
	return HoldsSessions(filepath.Join(dir, session.Dir))
}

// HoldsSessions reports whether the folder dir has a JSON file.
func HoldsSessions(dir string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(64)
		for _, name := range names {
			if strings.HasSuffix(name, ".json") {
				return true
			}
		}
		if err != nil {
			return false
		}
	}
}

// Instant returns t as in results: in UTC, with microseconds.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// TimeOf parses a stored time. It returns zero if s is not a time.
func TimeOf(s string) time.Time {
	t, _ := session.ParseTime(s)
	return Instant(t)
}

// Read calls f with the current workspace and returns the result of f. If
// another program removes or changes a file while f reads it, Read calls f once
// more and returns the second result. f must not write to captured variables.
func Read[T any](ctx context.Context, w *Store, f func(*View) (T, error)) (result T, err error) {
	defer func() { err = Explained(err) }()
	root, err := w.Open(ctx)
	if err != nil {
		return result, err
	}
	defer root.Close()
	w = w.notingOnce()
	try := func(fresh bool) (result T, err error) {
		v, err := w.loadQuiet(ctx, root, Mode{fresh: fresh})
		if err != nil {
			return result, err
		}
		defer v.done()
		v.noteTrouble()
		return f(v)
	}
	result, err = try(false)
	var missing *index.MissingError
	if errors.Is(err, ErrGone) || errors.As(err, &missing) || IsChanged(err) {
		result, err = try(true)
	}
	return result, err
}

// loadQuiet opens a workspace for a reader, if possible at a moment when no
// operation begins or ends, so that the reader sees all or none of several
// files that move together.
func (w *Store) loadQuiet(ctx context.Context, root *os.Root, m Mode) (v *View, err error) {
	const tries = 5
	for n := range tries {
		before := Logged(root)
		v, err = w.load(ctx, root, m)
		if err != nil || n == tries-1 || Logged(root) == before {
			break
		}
		v.done()
	}
	return v, err
}

// Logged returns the identity of the log.
func Logged(root *os.Root) durable.Identity {
	info, err := root.Stat(operation.Path)
	if err != nil {
		return durable.Identity{}
	}
	return durable.Identify(info)
}

// IsChanged reports whether err is due to a session that differs from the
// cache, or changed while it was read, so that reading again may succeed.
func IsChanged(err error) bool {
	return errors.Is(err, session.ErrChanged) || errors.Is(err, durable.ErrChanged)
}

// ErrGone is wrapped by the error for a session that the index has but that
// does not exist.
var ErrGone = errors.New("removed since the index was read")

// Open opens the folder. A missing folder is read as an empty one.
func (w *Store) Open(ctx context.Context) (*os.Root, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.Opts.Existing && !Is(w.Dir) {
		return nil, noWorkspace(w.Dir)
	}
	root, err := os.OpenRoot(w.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		root, err = emptyRoot()
	}
	return root, Explained(err)
}

func noWorkspace(dir string) error {
	return &fault.Error{
		Code:    fault.NotFound,
		Message: "no workspace in " + dir,
		Next:    fault.Do(fault.ChooseWorkspace),
	}
}

// emptyRoot opens an empty folder to which nothing can be written: it removes
// the folder before it returns.
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
	v.kept.caching.Wait()
	if !v.Forgetful {
		v.rememberNew()
		v.Index.Remember()
	}
	v.Index.Close()
}

// Warn notes a failure after a committed change. The change is kept, and the
// failed step is completed later.
func (v *View) Warn(what string, err error) {
	if err != nil {
		v.Store.Opts.Note(what + ": " + err.Error())
	}
}
