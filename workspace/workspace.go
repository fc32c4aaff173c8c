// Package workspace opens a folder of AI conversations, reads it and changes it.
// It is what programs embed, and what the bough command uses: each verb of the
// command is a method of [Workspace], or of one of the handles [Agent], [Line],
// [Exploration] and [Folder].
//
// # Embedding
//
// A program begins a conversation, saves it, and continues it in two directions:
//
//	func embed(ctx context.Context, dir string) error {
//		w, err := workspace.Open(ctx, dir, nil) // the folder need not exist
//		if err != nil {
//			return err
//		}
//		if _, err := w.New(ctx, "Bread"); err != nil { // the head moves to the new conversation
//			return err
//		}
//		for _, text := range []string{"How wet is too wet?", "It depends on the flour."} {
//			if _, err := w.Append(ctx, workspace.Append{Text: text}); err != nil { // at the head
//				return err
//			}
//		}
//		point, err := w.Checkpoint(ctx, "HEAD", workspace.SnapshotOptions{Name: "Before rye"})
//		if err != nil {
//			return err
//		}
//		if _, err := w.Append(ctx, workspace.Append{Text: "And with rye?"}); err != nil {
//			return err
//		}
//		if _, err := w.Restore(ctx, point.ID); err != nil { // the head moves to the checkpoint
//			return err
//		}
//		fork, err := w.Append(ctx, workspace.Append{Text: "And with spelt?"}) // begins a branch
//		if err != nil {
//			return err
//		}
//		path, err := w.Show(ctx, fork.Session, session.ReadOptions{})
//		if err != nil {
//			return err
//		}
//		for _, m := range path.Messages {
//			fmt.Println(m.Text())
//		}
//		_, err = w.Undo(ctx, history.UndoOptions{}) // removes the branch
//		return err
//	}
//
// [Workspace.Events] follows all changes, also by other programs, and
// [Workspace.Tree] returns the sessions with their branches and checkpoints.
// [Agent.Chat] has a model answer. The page docs/embedding.md has more examples.
//
// # Specification
//
// A workspace is a folder:
//
//	conversations/      the session files, session_index.json and its journal
//	packed/             packed checkpoints: their recipes, and the packs with their messages
//	checkpoints/        checkpoints made by Penguin; bough only reads them
//	files/              attachments, named by their SHA-256
//	head.json           the head: the message to which the next one is added
//	bookmarks.json      labels on messages
//	agents/             agents, each with its own trees and head
//	explorations/       explorations, see package explore
//	states/             what folders held at moments
//	.bough/             operations, tasks, trash, lock, token, cache
//
// A session is one JSON file of messages. A session that is full is continued in
// another file; a session with its continuations is a line, which users see as
// one conversation. Checkpoints and branches are sessions too: each has a copy of
// the messages on a path.
//
// Parameters called name or session are a session's id, UUID or title, or a unique
// prefix of its id. Parameters called ref are a REF: a session, for the path to its
// newest message; SESSION@MESSAGE, also @first and @last; the id of a message; the
// label of a bookmark; HEAD or @ for the head, and - for the previous one. REF~3 is
// three messages before REF, and REF^ one.
//
// The session files are the source of truth: the index is rebuilt from them, and
// without .bough every session still opens. Methods that read take no lock and
// write nothing but the cache in .bough/cache; Doctor may take the lock. Methods
// that change something take the lock of the workspace, complete interrupted
// operations, validate everything before the first write, and return without an
// error only after the change is durable. If validation fails, nothing changes.
// A concurrent change by another program is not overwritten. Each change is a
// [history.Operation], which [Workspace.Undo] can revert, unless the method says otherwise.
//
// Messages are never rewritten, with three exceptions: undoing an append removes
// the message, an import may complete a message that was imported before its end,
// and a user's metadata of a message may change.
//
// Results are plain structs, whose JSON is a contract with other programs. Their
// times are in UTC, with six digits and +00:00. Errors that a caller can act on
// have a code; see [Explain].
package workspace

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/eraser"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Options configure a workspace. The zero value is the default, and a nil
// pointer is the zero value.
type Options struct {
	// Limit is how many messages a session file can have after its header; the line
	// is then continued in another file. Zero means 1,000.
	Limit int

	// Wait is how long to wait for another process that is writing. Zero means 30
	// seconds; a negative value means not to wait.
	Wait time.Duration

	// Settle is how long a damaged file must be unchanged before [Workspace.Doctor]
	// repairs it, because another program may be writing it. Zero means one second;
	// a negative value means not to wait.
	Settle time.Duration

	// Existing makes methods that read return an error with the code
	// [fault.NotFound] if the workspace does not exist. Otherwise they treat it as
	// empty.
	Existing bool

	// Retention is how long automatic checkpoints are kept. The zero value is its
	// default.
	Retention checkpoint.Retention

	// Packing is which checkpoints are packed. Empty means [checkpoint.PackAuto], and so
	// does [checkpoint.PackAll] in Penguin's dialect; see [Workspace.CheckPacking].
	Packing checkpoint.Packing

	// FilesLimit is the maximum size of the states of folders in bytes: the oldest automatic ones
	// are removed when a new one exceeds it. Zero means 2 GiB; a negative value means no limit.
	FilesLimit int64

	// UserConfig is the path of the user's settings, which the workspace's
	// config.json overrides. Empty means none.
	UserConfig string

	// UserState is the path of the user's folder for what bough remembers on this machine,
	// such as locks of folders. Empty means .bough in the workspace; then only one workspace
	// can have states of a folder safely.
	UserState string

	// UndoAge is how long an operation can be undone, at least. Zero means 30 days.
	UndoAge time.Duration

	// UndoOperations is the minimum number of operations that can be undone, not counting
	// automatic ones and those of other programs. Zero means 10,000.
	UndoOperations int

	// CompactEvery is the number of operations after which the log is compacted.
	// Zero means 1,000.
	CompactEvery int

	// Now returns the current time. It must be safe for concurrent use. If nil,
	// time.Now is used.
	Now func() time.Time

	// Random is the source of ids. If nil, crypto/rand is used.
	Random io.Reader

	// Elsewhere resolves a REF that names nothing in the workspace, such as the head of another
	// machine, to a session and a message in it, "" for the newest. The session is "" if it does not know the name. It must
	// not change the workspace. If nil, it is not called.
	Elsewhere func(ctx context.Context, name string) (session, message string, err error)

	// Progress is called during long work, with a description and the bytes done and
	// in total. It is called often, but not concurrently. If nil, it is not called.
	Progress func(doing string, done, total int64)

	// Note is called with a sentence about a problem that is not an error, such as a
	// damaged index or an unreadable session file. It is called before the method
	// that caused it returns, possibly from another goroutine. If nil, it is not
	// called.
	Note func(string)
}

// A Workspace is an open workspace. Its methods are safe for concurrent use.
type Workspace struct {
	store *store.Store // the state that its methods share
}

// Open opens the workspace in the folder dir. The folder need not exist:
// methods that read then treat it as empty, unless [Options.Existing] is set,
// and methods that begin something, such as [Workspace.New], create it. If dir
// is a folder conversations, Open opens the workspace that contains it.
func Open(ctx context.Context, dir string, opts *Options) (_ *Workspace, err error) {
	defer func() { err = store.Explained(err) }()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if filepath.Base(abs) == session.Dir && !store.Is(abs) && store.HoldsSessions(abs) {
		abs = filepath.Dir(abs)
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return nil, &fault.Error{Code: fault.Usage, Message: abs + " is not a folder", Hint: "give the folder that holds conversations/"}
	}
	var o store.Options
	if opts != nil {
		o = store.Options(*opts)
	}
	return &Workspace{store.New(abs, o, store.Recovery{Forget: eraser.CompleteForget, Restores: folders.CompleteFirst})}, nil
}

// Dir returns the absolute path of the workspace.
func (w *Workspace) Dir() string { return w.store.Dir }

// Observed returns w with other functions for progress and notes, such as those
// of one request; see [Options]. If one is nil, that of w is used. Both
// workspaces share everything else.
func (w *Workspace) Observed(progress func(doing string, done, total int64), note func(string)) *Workspace {
	s := *w.store
	if progress != nil {
		s.Opts.Progress = progress
	}
	if note != nil {
		s.Opts.Note = note
	}
	return &Workspace{&s}
}

// Confined returns w for requests of clients, which must not choose arbitrary directories of the
// machine. The methods of [Folder] then accept only a folder with states, named by its path as in
// [files.State]. They refuse any other with the code [fault.Refused], as do the methods that write
// to a new folder: [Folder.Export], [Folder.Checkout], and [Workspace.Branch] with files. The
// current directory is ignored: if no folder is named, the states of all folders are used. Both
// workspaces share everything else.
func (w *Workspace) Confined() *Workspace {
	s := *w.store
	s.Confined = true
	return &Workspace{&s}
}
