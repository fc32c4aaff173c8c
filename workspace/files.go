package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A Folder is a handle on a directory of the machine whose states the workspace keeps. It
// keeps no state itself: each method reads the current files.
type Folder struct {
	w   *Workspace
	dir string
}

// Folder returns a handle on the directory dir. If dir is empty, it is the folder with states
// that contains the current directory, else the current directory. Folder does not check that
// it exists; the methods return an error if it does not.
func (w *Workspace) Folder(dir string) Folder { return Folder{w, dir} }

// Coverage returns what a state of the folder would hold now, and what it would not. It reads
// the files that changed since the last state, and writes nothing. Home folders and others
// that are too wide are refused, with the code [fault.Refused].
func (f Folder) Coverage(ctx context.Context) (_ *files.Coverage, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Coverage(ctx, f.w.store, f.dir)
}

// Snap takes a state of the folder for the message at ref, and creates the workspace if it
// does not exist. If ref is empty, the message is that at the head; without a head, the state
// belongs to no message. The lock of the folder lies in [Options.UserState]. A state is
// no operation: undo does not revert it.
func (f Folder) Snap(ctx context.Context, ref string, o files.SnapOptions) (_ *files.State, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Snap(ctx, f.w.store, f.dir, ref, o)
}

// Diff returns the difference of two states. If from is empty, it is the state at the head, or
// without a head the newest one. Else from and to are ids of states, or REFs: the state
// at a REF is that of its message, else of the nearest message before it, and it is not exact
// then. The name [files.Now] is what the folder holds now. If the folder has no states, REFs
// refer to states of all folders.
func (f Folder) Diff(ctx context.Context, from, to string, o files.DiffOptions) (_ *files.Diff, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Diff(ctx, f.w.store, f.dir, from, to, o)
}

// Show returns what a state holds at a path: the content of a file, the target of a link, or
// the names in a folder. The state is named as for [Folder.Diff].
func (f Folder) Show(ctx context.Context, state, path string) (_ *files.Entry, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Show(ctx, f.w.store, f.dir, state, path)
}

// Export writes what a state holds to the folder dir, which must be new or empty. The state is
// named as for [Folder.Diff]. Links are written as links. After an error dir is as it was.
func (f Folder) Export(ctx context.Context, state, dir string) (_ *files.Export, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Export(ctx, f.w.store, f.dir, state, dir)
}

// States returns the states of all folders, oldest first. If session is not empty, only those
// that belong to messages of its line.
func (w *Workspace) States(ctx context.Context, session string) (_ *files.List, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.List(ctx, w.store, session)
}

// Forget deletes the content of the files that states of the folder have at a path, in every
// state and wherever else states have the same content. The states stay, and name what is
// missing. This cannot be undone. The same content is not stored again.
func (f Folder) Forget(ctx context.Context, path string, o files.ForgetOptions) (_ *files.Forgotten, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Forget(ctx, f.w.store, f.dir, path, o)
}
