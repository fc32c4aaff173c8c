package api

import (
	"cmp"
	"context"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/origin"
	"github.com/bough-dev/bough/workspace/restores"
)

// aFolder is the folder whose states are meant. Clients name only folders that have states.
type aFolder struct {
	Dir string `json:"dir,omitempty" jsonschema:"only states of this folder: the dir of a state; by default of all folders"`
}

func (f aFolder) of(w *workspace.Workspace) workspace.Folder { return w.Confined().Folder(f.Dir) }

type filesDiffIn struct {
	From string `json:"from,omitempty" jsonschema:"a ref or the id of a state; by default HEAD, or without a head the newest state"`
	To   string `json:"to,omitempty" jsonschema:"a ref, the id of a state, or now, the default: the present files"`
	aFolder
	Paths []string `json:"paths,omitempty" jsonschema:"only these paths and what is below them; they are relative to the folder, with slashes"`
	Patch bool     `json:"patch,omitempty" jsonschema:"return the lines that differ too"`
}

type filesShowIn struct {
	State string `json:"state" jsonschema:"a ref or the id of a state"`
	Path  string `json:"path,omitempty" jsonschema:"a path in the folder, with slashes; by default the folder itself"`
	aFolder
}

// restoring says how files are brought back, and in which folder.
type restoring struct {
	Dir string `json:"dir,omitempty" jsonschema:"the folder: the dir of a state; by default that of the state at the ref"`
	planning
}

// planning says which files change.
type planning struct {
	DryRun    bool     `json:"dry_run,omitempty" jsonschema:"return what would change, with the conflicts, and change nothing"`
	Whole     bool     `json:"whole,omitempty" jsonschema:"make the folder exactly the state, also where others changed it"`
	Conflicts string   `json:"conflicts,omitempty" jsonschema:"what happens to paths that the conversation and others changed: keep leaves them, take takes those of the state, merge reverts the lines of the conversation; by default they are refused"`
	Only      []string `json:"only,omitempty" jsonschema:"only these paths of the folder and what is below them"`
}

func (r restoring) of(w *workspace.Workspace) (workspace.Folder, restores.Options, error) {
	o, err := r.options()
	return w.Confined().Folder(r.Dir), o, err
}

func (p planning) options() (restores.Options, error) {
	if p.Whole && p.Conflicts != "" {
		return restores.Options{}, badArgument("whole and conflicts exclude each other")
	}
	return restores.Options{DryRun: p.DryRun, Whole: p.Whole, Conflicts: p.Conflicts, Only: p.Only}, nil
}

// context returns a context for a restore, which continues when the client disconnects: it would
// have to be completed by the next one.
func (p planning) context(ctx context.Context) context.Context {
	if p.DryRun {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

type restoreFilesIn struct {
	aSession
	restoring
}

type rewindFilesIn struct {
	Ref string `json:"ref" jsonschema:"a ref or the id of a state"`
	restoring
}

type turnIn struct {
	Ref string `json:"ref" jsonschema:"a message of the turn: a message of the user, or one of those up to the next message of the user"`
	aFolder
	Patch bool `json:"patch,omitempty" jsonschema:"return the lines that differ too"`
}

// ofFolder is the folder of a path. Clients name only folders that have states.
type ofFolder struct {
	Dir string `json:"dir,omitempty" jsonschema:"the folder: the dir of a state; it may be omitted if there are states of one folder only"`
}

func (f ofFolder) of(w *workspace.Workspace) workspace.Folder { return w.Confined().Folder(f.Dir) }

type blameIn struct {
	File string `json:"file" jsonschema:"the path of a file in the folder, with slashes"`
	At   string `json:"at,omitempty" jsonschema:"a ref or the id of a state; by default the file as it is now"`
	ofFolder
	First int `json:"first,omitempty" jsonschema:"the first line, from 1"`
	Last  int `json:"last,omitempty" jsonschema:"the last line"`
}

type bisectIn struct {
	Ref string `json:"ref" jsonschema:"the end of the path"`
	aFolder
	Good string   `json:"good,omitempty" jsonschema:"a message of the path that was good; by default the first one with a state"`
	Bad  string   `json:"bad,omitempty" jsonschema:"a message of the path that was bad; by default its end"`
	Skip []string `json:"skip,omitempty" jsonschema:"messages of the path that cannot be tested"`
}

type filesLogIn struct {
	Path    string `json:"path" jsonschema:"the path of a file or a folder in the folder, with slashes"`
	Session string `json:"session_id,omitempty" jsonschema:"only turns of this conversation"`
	ofFolder
	Limit int  `json:"limit,omitempty" jsonschema:"only this many changes, the newest, by default all"`
	Patch bool `json:"patch,omitempty" jsonschema:"return the lines that differ too"`
}

type rewindBothIn struct {
	rewindIn
	restoring
}

// RestoredFiles says what bringing files back did, or would do, and where the head is.
type RestoredFiles struct {
	Head     *lines.Head       `json:"head"` // nil without one
	ReadOnly bool              `json:"read_only"`
	Files    *restores.Restore `json:"files"`
}

// RestoredFilesOf returns the document of files that were brought back.
func RestoredFilesOf(ctx context.Context, w *workspace.Workspace, r *restores.Restore) *RestoredFiles {
	out := &RestoredFiles{Files: r}
	if pos, err := w.Head(context.WithoutCancel(ctx)); err == nil && pos != nil { // what was done is said, also after an interrupt
		out.Head, out.ReadOnly = &pos.Head, pos.ReadOnly
	}
	return out
}

// restoreFiles brings files back by a method of a folder.
func restoreFiles(ctx context.Context, w *workspace.Workspace, ref string, in restoring,
	do func(workspace.Folder, context.Context, string, restores.Options) (*restores.Restore, error),
) (*RestoredFiles, error) {
	f, o, err := in.of(w)
	if err != nil {
		return nil, err
	}
	r, err := do(f, in.context(ctx), ref, o)
	if err != nil {
		return nil, err
	}
	return RestoredFilesOf(ctx, w, r), nil
}

func filesVerbs() []*Verb {
	return []*Verb{
		verb("files/ls", Reads, "List states of files", "Lists what folders held at moments, of all conversations or of one, oldest first.",
			func(ctx context.Context, w *workspace.Workspace, in optionalSession) (*files.List, error) {
				return w.States(ctx, in.Session)
			}),
		verb("files/diff", Reads, "Compare states of files", "Returns the files that differ between two states, or between a state and the present files of its folder.",
			func(ctx context.Context, w *workspace.Workspace, in filesDiffIn) (*files.Diff, error) {
				return in.of(w).Diff(ctx, in.From, cmp.Or(in.To, files.Now), files.DiffOptions{Paths: in.Paths, Patch: in.Patch})
			}),
		verb("files/show", Reads, "Show a file of a state", "Returns what a state has at a path: the content of a file, in base64, the target of a link, or the names in a folder.",
			func(ctx context.Context, w *workspace.Workspace, in filesShowIn) (*files.Entry, error) {
				return in.of(w).Show(ctx, in.State, cmp.Or(in.Path, "."))
			}),
		verb("files/log", Reads, "What changed a file", "Lists the turns of all conversations that changed a file or a folder, and what changed between turns, newest first.",
			func(ctx context.Context, w *workspace.Workspace, in filesLogIn) (*origin.Log, error) {
				if err := notNegative("limit", in.Limit); err != nil {
					return nil, err
				}
				return in.of(w).Log(ctx, in.Path, origin.LogOptions{Session: in.Session, Limit: in.Limit, Patch: in.Patch})
			}),
		verb("bisect", Reads, "Steps of a bisection", "Returns the messages of a path with a state of the files of their own, between which to look for the turn that made something go wrong, and which one to test next. No command is run.",
			func(ctx context.Context, w *workspace.Workspace, in bisectIn) (*origin.Bisection, error) {
				return in.of(w).Bisection(ctx, in.Ref, origin.BisectOptions{Good: in.Good, Bad: in.Bad, Skip: in.Skip})
			}),
		verb("blame", Reads, "Who wrote each line", "Returns for each line of a file which turn of which conversation wrote it.",
			func(ctx context.Context, w *workspace.Workspace, in blameIn) (*origin.Blame, error) {
				if in.First < 0 || in.Last < 0 || in.Last > 0 && in.Last < in.First {
					return nil, badArgument("first and last are not lines")
				}
				return in.of(w).Blame(ctx, in.File, origin.BlameOptions{State: in.At, First: in.First, Last: in.Last})
			}),
		verb("files/turn", Reads, "What a turn changed", "Returns the files that the turn of a message changed: the difference of the state before it and the last one in it.",
			func(ctx context.Context, w *workspace.Workspace, in turnIn) (*files.Diff, error) {
				return in.of(w).Turn(ctx, in.Ref, files.DiffOptions{Patch: in.Patch})
			}),
		verb("files/turn/undo", Destroys, "Revert a turn", "Reverts what the turn of a message changed in a folder. What changed since stays.",
			func(ctx context.Context, w *workspace.Workspace, in rewindFilesIn) (*RestoredFiles, error) {
				return restoreFiles(ctx, w, in.Ref, in.restoring, workspace.Folder.UndoTurn)
			}),
		verb("restore/files", Destroys, "Restore the files of a checkpoint", "Brings the files of a folder back to the state at a checkpoint. The head stays. What the folder has is kept as a state first.",
			func(ctx context.Context, w *workspace.Workspace, in restoreFilesIn) (*RestoredFiles, error) {
				return restoreFiles(ctx, w, in.Session, in.restoring, workspace.Folder.RestoreFiles)
			}),
		verb("restore/both", Destroys, "Restore a checkpoint with its files", "Moves the head to the end of a checkpoint, and brings the files of a folder back to the state there.",
			func(ctx context.Context, w *workspace.Workspace, in restoreFilesIn) (*lines.Position, error) {
				f, o, err := in.restoring.of(w)
				if err != nil {
					return nil, err
				}
				return f.Restore(in.context(ctx), in.Session, o)
			}),
		verb("rewind/files", Destroys, "Restore files", "Brings the files of a folder back to the state at a message. The head stays. What the folder has is kept as a state first.",
			func(ctx context.Context, w *workspace.Workspace, in rewindFilesIn) (*RestoredFiles, error) {
				return restoreFiles(ctx, w, in.Ref, in.restoring, workspace.Folder.RestoreFiles)
			}),
		verb("rewind/both", Destroys, "Move the head and restore files", "Moves the head to any message, and brings the files of a folder back to the state there.",
			func(ctx context.Context, w *workspace.Workspace, in rewindBothIn) (*lines.Position, error) {
				f, o, err := in.restoring.of(w)
				if err != nil {
					return nil, err
				}
				return f.Rewind(in.context(ctx), in.Ref, in.cut.options(), o)
			}),
	}
}
