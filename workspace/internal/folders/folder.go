// Package folders takes states of folders, links them to messages, finds and reads them.
//
// A folder is found by its path or, without one, from the current directory: the registered
// folder that contains it, else the directory itself. Directories that are too wide, such as
// the home of the user, are refused.
//
// A state belongs to a message by a member of the message, metadata.bough.files with folder
// and state, else by the newest line of states/links.jsonl for it, or for the prompt of Claude
// Code that its transcript has with the message. The state at a message is
// its own, else that of the nearest earlier message on the path, which is then not exact.
package folders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/ignore"
	"github.com/bough-dev/bough/internal/place"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A Folder is a directory of the machine.
type Folder struct {
	Path     string // absolute, without symbolic links
	Identity states.Identity
	ID       string // "" if it is not registered

	// abroad lets states of all folders of other machines count as states of this one, where that has
	// none: for readers, and if the user named the folder. Those of a folder that is mapped to this one
	// always do.
	abroad bool

	isNew bool // ID is new: the folder is to be registered before its first state
}

// Find returns the folder dir or, if dir is empty, the registered folder that contains the
// current directory, else the current directory.
func Find(ctx context.Context, w *store.Store, dir string) (*Folder, error) {
	if w.Confined {
		return present(ctx, w, dir)
	}
	real, identity, err := states.IdentityOf(dir)
	if err != nil {
		return nil, unusable(dir, err)
	}
	known, err := registered(ctx, w)
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: real, Identity: identity}
	for _, k := range known {
		if k.Path == real && k.Identity.File == identity.File || k.Identity == identity {
			f.ID = k.ID
			return f, nil
		}
	}
	if dir == "" {
		return f.around(known), nil
	}
	return f, nil
}

// unusable returns the error for the path dir of a folder that cannot be used; "" is the current
// directory.
func unusable(dir string, err error) error {
	var file *durable.NotRegularError
	switch {
	case errors.As(err, &file):
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%s is a %s, not a folder", dir, durable.TypeName(file.Mode)), Next: fault.Do(fault.ChooseFolder), Err: err}
	case errors.Is(err, fs.ErrNotExist) && dir == "":
		return &fault.Error{Code: fault.NotFound, Message: "the current directory was removed", Next: fault.Do(fault.ChooseFolder), Err: err}
	case errors.Is(err, fs.ErrNotExist):
		return &fault.Error{Code: fault.NotFound, Message: "no folder " + dir, Err: err}
	}
	return err
}

// recordedAt returns the registered folder with the path dir. It does not access dir.
func recordedAt(ctx context.Context, w *store.Store, dir string) (*Folder, error) {
	known, err := registered(ctx, w)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(known, func(k states.Folder) bool { return k.Path == dir && k.Machine == "" })
	if i < 0 {
		i = slices.IndexFunc(known, func(k states.Folder) bool { return k.Path == dir })
	}
	if i < 0 {
		return nil, &fault.Error{
			Code: fault.Refused, Message: fmt.Sprintf("there are no states of a folder %q", dir),
			Hint: "dir is that of a state", Next: fault.Do(fault.ListStates),
		}
	}
	return &Folder{Path: dir, Identity: known[i].Identity, ID: known[i].ID}, nil
}

// present returns the registered folder with the path dir, if it is there.
func present(ctx context.Context, w *store.Store, dir string) (*Folder, error) {
	if dir == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "no folder is named", Hint: "give the dir of a state"}
	}
	f, err := recordedAt(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	real, identity, err := states.IdentityOf(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (real != dir || identity.File != f.Identity.File) {
		return nil, &fault.Error{
			Code: fault.NotFound, Message: fmt.Sprintf("the folder of these states is not at %s", dir), Err: err,
			Hint: "it was renamed, removed or replaced", Next: fault.Do(fault.SnapFolder),
		}
	}
	f.Identity = identity // the device may have another number since
	return f, err
}

// open opens the folder, to change files in it. It refuses a directory that took its path.
func (f *Folder) open() (*os.Root, error) {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return nil, err
	}
	if id, err := states.IdentityOfRoot(root); err != nil || id != f.Identity {
		root.Close()
		return nil, cmp.Or(err, error(&fault.Error{Code: fault.Refused, Message: "another folder took the path " + f.Path, Hint: "nothing was changed"}))
	}
	return root, nil
}

// within returns the registered folder that f is, or the innermost one that contains f, else f.
func (f *Folder) within(ctx context.Context, w *store.Store) (*Folder, error) {
	if f.ID != "" {
		return f, nil
	}
	known, err := registered(ctx, w)
	return f.around(known), err
}

// around returns the innermost registered folder that contains f, else f.
func (f *Folder) around(known []states.Folder) *Folder {
	found := f
	for _, k := range known {
		if !strings.HasPrefix(f.Path, k.Path+string(filepath.Separator)) || found.ID != "" && len(k.Path) <= len(found.Path) {
			continue
		}
		if path, id, err := states.IdentityOf(k.Path); err == nil && path == k.Path && id.File == k.Identity.File {
			found = &Folder{Path: path, Identity: id, ID: k.ID}
		}
	}
	return found
}

// registered returns the folders of a workspace, which may be missing.
func registered(ctx context.Context, w *store.Store) ([]states.Folder, error) {
	lenient := *w
	lenient.Opts.Existing = false
	root, err := lenient.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return open(root).Folders()
}

// open returns the states of a workspace.
func open(root *os.Root) *states.Store { return states.Open(root, session.CacheDir) }

// check refuses a folder that is too wide, and one in data that no state holds: to restore that
// would change a repository, or what bough itself needs.
func (f *Folder) check() error {
	if err := outsideData(f.Path); err != nil {
		return err
	}
	why := place.Refuse(f.Path, place.Here().Places(), place.Same)
	if why == "" {
		return nil
	}
	return &fault.Error{
		Code:    fault.Refused,
		Message: fmt.Sprintf("%s is %s, which is too wide for states", f.Path, why),
		Next:    fault.Do(fault.ChooseFolder),
	}
}

// outsideData refuses a folder that is or would be in data that no state holds. It is an
// absolute path without symbolic links.
func outsideData(dir string) error {
	owner := "bough"
	switch coverage.Within(dir) {
	case "":
		return nil
	case ignore.VersionControl, ignore.GitData:
		owner = "a repository"
	}
	return &fault.Error{
		Code:    fault.Refused,
		Message: fmt.Sprintf("%s is in the data of %s, which states never hold", dir, owner),
		Next:    fault.Do(fault.ChooseFolder),
	}
}

// outsideNew is outsideData for any path of a new folder.
func outsideNew(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if above, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(above, filepath.Base(abs))
	}
	return outsideData(abs)
}

// lockDir is the folder of locks in the user's data.
const lockDir = "folders"

// lockRoot opens the folder of the user's data that has the locks of folders.
func lockRoot(w *store.Store) (*os.Root, error) {
	dir := w.Opts.UserState
	if dir == "" {
		dir = filepath.Join(w.Dir, store.StateDir)
	}
	return durable.MakeRoot(dir)
}

// lockName returns the folder of the lock of f.
func (f *Folder) lockName() string {
	return fmt.Sprintf("%s/%x-%x", lockDir, f.Identity.Device, f.Identity.File)
}

// lock acquires the lock of the folder, which lies with the user's data, because several
// workspaces can have states of one folder. It must be acquired before that of a workspace.
func (f *Folder) lock(ctx context.Context, w *store.Store, verb string) (unlock func(), err error) {
	root, err := lockRoot(w)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := f.lockName()
	if err := store.MakeLock(root, name); err != nil {
		return nil, err
	}
	holder := writelock.Holder{PID: os.Getpid(), Verb: verb, Since: w.Opts.Now()}
	unlock, err = writelock.Lock(ctx, root, name, holder, max(w.Opts.Wait, 0))
	if held, ok := errors.AsType[*writelock.HeldError](err); ok {
		message := f.Path + " is locked by another process"
		if h := held.Holder; h.PID != 0 {
			message = fmt.Sprintf("%s is locked by process %d (%s, since %s)", f.Path, h.PID, h.Verb, h.Since.Format(time.TimeOnly))
		}
		return nil, &fault.Error{Code: fault.Locked, Message: message, Hint: "try again when it is done", Err: err}
	}
	return unlock, err
}
