package workspace

import (
	"context"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/origin"
	"github.com/bough-dev/bough/workspace/restores"
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
	defer func() { err = folders.Missing(err) }()
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

// A FolderWatch configures [Folder.Watch].
type FolderWatch struct {
	// Events are those of [Workspace.Events]. A state is taken for each new message of the user,
	// and at the end of each turn of an agent; other states belong to the message of the newest
	// event. If nil, they belong to no message.
	Events <-chan events.Event
	// Taken is called with each state. If nil, it is not called.
	Taken func(*files.State)
}

// Watch takes a state of the folder now, and then whenever something in it changed and settled,
// until ctx ends; the error of ctx is not returned. If nothing changed since the last state, none
// is taken. Watch waits while another process has the lock of the folder or of the workspace.
func (f Folder) Watch(ctx context.Context, o FolderWatch) (err error) {
	defer func() { err = store.Explained(err) }()
	if o.Taken == nil {
		o.Taken = func(*files.State) {}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wishes := make(chan folders.Wish)
	go queueWishes(ctx, o.Events, wishes)
	return folders.Watch(ctx, f.w.store, f.dir, wishes, o.Taken)
}

// queueWishes sends the wishes for events, and receives more of them meanwhile.
func queueWishes(ctx context.Context, in <-chan events.Event, out chan<- folders.Wish) {
	var queue []folders.Wish
	for {
		to, next := out, folders.Wish{}
		if len(queue) == 0 {
			to = nil
		} else {
			next = queue[0]
		}
		select {
		case e, open := <-in:
			if !open {
				in = nil
			} else if want, ok := wishFor(e); ok {
				queue = append(queue, want)
			}
		case to <- next:
			queue = queue[1:]
		case <-ctx.Done():
			return
		}
	}
}

// wishFor returns the state that is taken for an event, or only its message.
func wishFor(e events.Event) (want folders.Wish, ok bool) {
	want = folders.Wish{Session: string(e.Session), Message: string(e.Message)}
	switch {
	case e.Type == events.MessageAdded && e.Behind == 0 && e.Role == "user" && e.Tool == "":
		want.At = states.Prompt
	case e.Type == events.ChatComplete:
		want.At = states.End
	case e.Type != events.MessageAdded:
		return want, false
	}
	return want, want.Message != ""
}

// Diff returns the difference of two states. from and to are ids of states, unique prefixes of one,
// or REFs. A REF selects the state of its message or, if that has none, the state of the nearest
// earlier message, whose Exact is then false. [files.Now] selects the current content of the
// folder. If from is empty, the state at the head is used, or the newest state if there is no head.
// If [Workspace.Folder] was called without a directory and no folder with states contains the
// current directory, the states of all folders are searched.
func (f Folder) Diff(ctx context.Context, from, to string, o files.DiffOptions) (_ *files.Diff, err error) {
	defer func() { err = folders.Missing(err) }()
	return folders.Diff(ctx, f.w.store, f.dir, from, to, o)
}

// Show returns what a state holds at a path: the content of a file, the target of a link, or
// the names in a folder. The state is named as for [Folder.Diff].
func (f Folder) Show(ctx context.Context, state, path string) (_ *files.Entry, err error) {
	defer func() { err = folders.Missing(err) }()
	return folders.Show(ctx, f.w.store, f.dir, state, path)
}

// Export writes what a state holds to the folder dir, which must be new or empty. The state is
// named as for [Folder.Diff]. Links are written as links. After an error dir is as it was.
func (f Folder) Export(ctx context.Context, state, dir string, o files.ExportOptions) (_ *files.Export, err error) {
	defer func() { err = folders.Missing(err) }()
	return folders.Export(ctx, f.w.store, f.dir, state, dir, o)
}

// RestoreFiles brings the files of the folder back to the state at ref, which is named as for
// [Folder.Diff], and leaves the head where it is. If [Workspace.Folder] was called without a
// directory and no folder with states contains the current directory, the state's own folder is
// restored, which must then be inside the current directory.
//
// RestoreFiles first takes a state of the folder, so that nothing is lost and undo can restore it.
// Unless o.Whole is set, it writes only the paths that the conversation of ref has changed since
// the state. A path that others changed too is a conflict: the error is a *[restores.ConflictError]
// unless o.Conflicts selects another handling. Paths that states do not contain never change. A
// change that another program makes during the restore is kept.
//
// If the process is interrupted, the next process that takes a state of the folder, restores it or
// repairs the workspace completes the restore.
func (f Folder) RestoreFiles(ctx context.Context, ref string, o restores.Options) (_ *restores.Restore, err error) {
	defer func() { err = store.Explained(err) }()
	op := operation.Operation{Verb: "restore files", Args: store.Args{"ref": ref}}
	return filesOf(folders.Restore(ctx, f.w.store, f.dir, ref, nil, op, o))
}

// Restore moves the head to the end of a checkpoint, as [Workspace.Restore] does, and brings
// the files back, as [Folder.RestoreFiles] does, in one operation. [lines.Position.Files] says
// what happened to the files.
func (f Folder) Restore(ctx context.Context, name string, o restores.Options) (_ *lines.Position, err error) {
	defer func() { err = store.Explained(err) }()
	op := operation.Operation{Verb: "restore", Args: store.Args{"session": name}}
	head := func(v *store.View) (*store.Place, checkpoint.Adjustment, error) {
		p, err := checkpointAt(v, name)
		return p, checkpoint.Adjustment{}, err
	}
	return folders.Restore(ctx, f.w.store, f.dir, name, head, op, o)
}

// Rewind moves the head to the message that ref refers to, as [Workspace.Rewind] does, and
// brings the files back, as [Folder.RestoreFiles] does, in one operation.
func (f Folder) Rewind(ctx context.Context, ref string, c checkpoint.CutOptions, o restores.Options) (_ *lines.Position, err error) {
	defer func() { err = store.Explained(err) }()
	op := operation.Operation{Verb: "rewind", Args: store.Args{"ref": ref}}
	head := func(v *store.View) (*store.Place, checkpoint.Adjustment, error) { return cut(v, ref, c) }
	return folders.Restore(ctx, f.w.store, f.dir, ref, head, op, o)
}

// Adopt applies to the folder the difference between two states, which may be of another folder,
// such as the folder of a branch. A path that also changed in the folder is a conflict, as for
// [Folder.RestoreFiles]; its base is the state from.
//
// The resulting files belong to the message at ref. If moves is true, the head moves to it in the
// same operation.
func (f Folder) Adopt(ctx context.Context, from, to, ref string, moves bool, o restores.Options) (_ *lines.Position, err error) {
	defer func() { err = store.Explained(err) }()
	op := operation.Operation{Verb: "explore adopt", Args: store.Args{"from": from, "ref": ref}}
	at := func(v *store.View) (*store.Place, checkpoint.Adjustment, error) {
		return cut(v, ref, checkpoint.CutOptions{})
	}
	return folders.Adopt(ctx, f.w.store, f.dir, from, to, at, moves, op, o)
}

// Checkout creates the folder out, which must not exist or must be empty, with the files of a
// state, as a working copy. The state is named as for [Folder.Diff].
//
// If the original folder is in a git repository, out is a clone of the repository at the commit of
// the state, with the repository as its remote origin. The repository is not written to; the clone
// uses hard links to its objects where possible. If git cannot make a clone, out contains only the
// files.
//
// The files have the bytes of the state: no filter and no conversion of line ends applies. A file
// that is not in the state is copied in its current form if git tracks it, or if it matches
// .worktreeinclude, a file with the syntax of .gitignore at the top of the repository, or of the
// folder if there is no repository. If Checkout fails after it has begun to write, out does not
// exist.
func (f Folder) Checkout(ctx context.Context, state, out string) (_ *files.Checkout, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Checkout(ctx, f.w.store, f.dir, state, out)
}

// Turn returns what the turn of the message at ref changed in the folder: the difference of the
// state before it and the last one in it. A turn is a message of the user with what follows it, up
// to the next message of the user. If the turn was stopped, the state of the next prompt is used as
// its last state, and [Options.Note] is called.
func (f Folder) Turn(ctx context.Context, ref string, o files.DiffOptions) (_ *files.Diff, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Turn(ctx, f.w.store, f.dir, ref, o)
}

// UndoTurn reverts the changes that the turn of the message at ref made in the folder, as
// [Folder.RestoreFiles] does. Later changes are kept; a path that was changed by the turn and again
// later is a conflict.
func (f Folder) UndoTurn(ctx context.Context, ref string, o restores.Options) (_ *restores.Restore, err error) {
	defer func() { err = store.Explained(err) }()
	op := operation.Operation{Verb: "files turn", Args: store.Args{"ref": ref}}
	return filesOf(folders.UndoTurn(ctx, f.w.store, f.dir, ref, op, o))
}

// Apply applies to this folder what the branch at ref changed in its own folder, from the state at
// its branch point to its newest state, as [Folder.RestoreFiles] does. A path that both folders
// changed is a conflict.
func (f Folder) Apply(ctx context.Context, ref string, o restores.Options) (_ *restores.Restore, err error) {
	defer func() { err = store.Explained(err) }()
	op := operation.Operation{Verb: "files apply", Args: store.Args{"ref": ref}}
	return filesOf(folders.Apply(ctx, f.w.store, f.dir, ref, op, o))
}

// Blame returns what wrote each line of a file: a turn of a conversation, or the user between
// turns. name is the path of the file: relative to the folder, with slashes, or absolute. If it is
// absolute and [Workspace.Folder] was called without a directory, the folder is the one with
// states that contains the file, else the directory of the file.
//
// Blame follows the lines through the states of the folder, newest first, across renames, and
// across restores to the state that was restored. For lines that are already in the first state,
// and for files without states, it searches the arguments of file-editing tool calls in all
// conversations.
func (f Folder) Blame(ctx context.Context, name string, o origin.BlameOptions) (_ *origin.Blame, err error) {
	defer func() { err = folders.Missing(err) }()
	return folders.Blame(ctx, f.w.store, f.dir, name, o)
}

// Log returns what changed a file or a folder, newest first. The path is interpreted as in
// [Folder.Blame], and the changes are found in the same sources: states, and arguments of tool
// calls.
func (f Folder) Log(ctx context.Context, name string, o origin.LogOptions) (_ *origin.Log, err error) {
	defer func() { err = folders.Missing(err) }()
	return folders.Log(ctx, f.w.store, f.dir, name, o)
}

// Bisection returns the steps among which to search for the turn that broke something: the states
// of the messages on the path to ref, without those whose files are the same as in the previous
// step. [Folder.Checkout] and [Folder.Export] make a folder with the files of a step.
func (f Folder) Bisection(ctx context.Context, ref string, o origin.BisectOptions) (_ *origin.Bisection, err error) {
	defer func() { err = folders.Missing(err) }()
	return folders.Steps(ctx, f.w.store, f.dir, ref, o)
}

// Bisect finds the first bad step of a [Folder.Bisection] by binary search. It calls test with a
// folder that has the files of a step, as [Folder.Checkout] makes it: first for the first step,
// which must be good, and the last one, which must be bad; then for the steps of the search; and
// finally again for the last good and the first bad step. If test returns an error, Bisect returns
// it.
func (f Folder) Bisect(ctx context.Context, ref string, o origin.BisectOptions, test func(context.Context, origin.Trial) (origin.Test, error)) (_ *origin.Found, err error) {
	defer func() { err = folders.Missing(err) }()
	return folders.Bisect(ctx, f.w.store, f.dir, ref, o, test)
}

// filesOf returns what happened to files.
func filesOf(pos *lines.Position, err error) (*restores.Restore, error) {
	if err != nil {
		return nil, err
	}
	return pos.Files, nil
}

// States returns the states of all folders, oldest first. If session is not empty, only those
// that belong to messages of its line.
func (w *Workspace) States(ctx context.Context, session string) (_ *files.List, err error) {
	defer func() { err = folders.Missing(err) }()
	return folders.List(ctx, w.store, session)
}

// FileMarks returns the states of the messages of a path that [Workspace.Show] returned, in the
// order of the path. If a message has several states, the one that a REF selects is first.
// [files.State.Left] of the results is empty.
func (w *Workspace) FileMarks(ctx context.Context, path *Conversation) (_ []files.Mark, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Marks(ctx, w.store, path.Entry.ID, path.Messages)
}

// Forget deletes the content of the files that states of the folder have at a path, in every
// state and wherever else states have the same content. The states stay, and name the content that is
// missing. This cannot be undone. The same content is not stored again.
func (f Folder) Forget(ctx context.Context, path string, o files.ForgetOptions) (_ *files.Forgotten, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Forget(ctx, f.w.store, f.dir, path, o)
}
