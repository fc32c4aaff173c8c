package api

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/convert/redact"
	"github.com/bough-dev/bough/internal/when"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/trash"
	"github.com/bough-dev/bough/workspace/usage"
)

type logIn struct {
	In    string `json:"in,omitempty" jsonschema:"only changes of this session"`
	Limit int    `json:"limit,omitempty" jsonschema:"only this many operations, the newest, by default all"`
}

type redoIn struct {
	In        string `json:"in,omitempty" jsonschema:"only consider changes of this session"`
	Conflicts string `json:"conflicts,omitempty" jsonschema:"what happens to files of a folder that were changed since: keep leaves them, take overwrites them, merge merges their lines; by default they are refused"`
}

type undoIn struct {
	redoIn
	Limit int `json:"limit,omitempty" jsonschema:"how many changes are undone, by default 1"`
	To    int `json:"to,omitempty" jsonschema:"undo all changes after the operation with this number"`
}

type importIn struct {
	Content *string  `json:"content,omitempty" jsonschema:"the text of a transcript; this or from is needed"`
	From    []string `json:"from,omitempty" jsonschema:"import the conversations that these programs keep on the machine of the server, such as claude-code or codex"`
	Format  string   `json:"format,omitempty" jsonschema:"the format of the transcript, by default detected"`
	Skip    []string `json:"skip,omitempty" jsonschema:"skip conversations about folders that match one of these patterns"`
	Again   bool     `json:"again,omitempty" jsonschema:"also import conversations that were removed or whose import was undone"`
	Live    bool     `json:"live,omitempty" jsonschema:"for programs that import while a conversation is active: undo skips it"`
	DryRun  bool     `json:"dry_run,omitempty" jsonschema:"return what would be imported and change nothing"`
}

type exportIn struct {
	optionalRef
	To     string `json:"to" jsonschema:"the format to write, such as markdown, html, openai or claude-code"`
	Tree   bool   `json:"tree,omitempty" jsonschema:"export all branches; the path to ref is the active one"`
	Redact bool   `json:"redact,omitempty" jsonschema:"remove keys, tokens and passwords"`
	cut
}

type limitIn struct {
	Limit *int `json:"limit,omitempty" jsonschema:"the number of conversations, the largest, by default 10; 0 for all"`
}

type pruneIn struct {
	DryRun bool `json:"dry_run,omitempty" jsonschema:"only return what would be removed"`
}

type packIn struct {
	optionalSession
	All bool `json:"all,omitempty" jsonschema:"the checkpoints of all sessions"`
}

type purgeIn struct {
	Older string `json:"older,omitempty" jsonschema:"only files that have been in the trash for this age or longer, such as 30d"`
}

type fixIn struct {
	Dialect string `json:"dialect,omitempty" jsonschema:"write all links in this dialect"`
}

func workspaceVerbs() []*Verb {
	return []*Verb{
		verb("log", Reads, "Log of operations", "Lists the changes of the workspace, newest first.", logged),
		verb("undo", Destroys, "Undo", "Undoes the newest change that is not undone, or several.", undo),
		verb("redo", Destroys, "Redo", "Repeats the changes that the newest undo undid.",
			func(ctx context.Context, w *workspace.Workspace, in redoIn) (*history.Operations, error) {
				return w.Redo(context.WithoutCancel(ctx), history.UndoOptions{In: in.In, Conflicts: in.Conflicts})
			}),
		envVerb("import", Changes, "Import conversations", "Imports the conversations in a transcript of another program, or those that programs keep on the machine, each with all its branches.", importAll),
		verb("export", Changes, "Export a conversation", "Returns the path to a message in the format of another program, or as a document.", export),
		verb("du", Reads, "Disk usage", "Returns the size of the files of the workspace by kind, and the largest conversations.",
			func(ctx context.Context, w *workspace.Workspace, in limitIn) (*usage.Report, error) {
				limit, err := bestTen(in.Limit)
				if err != nil {
					return nil, err
				}
				return w.Usage(ctx, limit)
			}),
		verb("prune", Destroys, "Prune", "Moves old automatic checkpoints to the trash, as the settings of retention say.",
			func(ctx context.Context, w *workspace.Workspace, in pruneIn) (*workspace.PruneResult, error) {
				return w.Prune(ctx, workspace.PruneOptions{DryRun: in.DryRun})
			}),
		verb("pack", Changes, "Pack checkpoints", "Packs the checkpoints of a session, by default that of the head, so that they share their messages.", pack),
		verb("unpack", Changes, "Unpack a checkpoint", "Turns a packed checkpoint into a plain session file.",
			func(ctx context.Context, w *workspace.Workspace, in aSession) (*workspace.Snapshot, error) {
				return w.Unpack(ctx, in.Session)
			}),
		verb("trash", Reads, "Trash", "Lists the files in the trash, last removed first.",
			func(ctx context.Context, w *workspace.Workspace, _ none) (*trash.List, error) { return w.Trash(ctx) }),
		verb("trash/purge", Destroys, "Empty the trash", "Deletes the files in the trash permanently, and lists them.", purge),
		verb("doctor", Reads, "Check the workspace", "Checks every file and lists the problems.",
			func(ctx context.Context, w *workspace.Workspace, _ none) (*doctor.Report, error) {
				return w.Doctor(ctx, doctor.Options{})
			}),
		verb("doctor/fix", Changes, "Repair the workspace", "Repairs what can be repaired without loss, and lists the problems.",
			func(ctx context.Context, w *workspace.Workspace, in fixIn) (*doctor.Report, error) {
				return w.Doctor(ctx, doctor.Options{Fix: true, Dialect: in.Dialect})
			}),
		verb("doctor/merge-copies", Changes, "Merge conflict copies", "Adds the messages of conflict copies to their sessions.",
			func(ctx context.Context, w *workspace.Workspace, _ none) (*doctor.MergedCopies, error) {
				return w.MergeCopies(ctx)
			}),
	}
}

func logged(ctx context.Context, w *workspace.Workspace, in logIn) (*history.Operations, error) {
	if err := notNegative("limit", in.Limit); err != nil {
		return nil, err
	}
	return w.Log(ctx, history.LogOptions{In: in.In, Limit: in.Limit})
}

// undo continues when the client disconnects, as a restore of files does, which it may revert.
func undo(ctx context.Context, w *workspace.Workspace, in undoIn) (*history.Operations, error) {
	if err := cmp.Or(notNegative("limit", in.Limit), notNegative("to", in.To)); err != nil {
		return nil, err
	}
	if in.Limit > 0 && in.To > 0 {
		return nil, badArgument("limit and to exclude each other")
	}
	return w.Undo(context.WithoutCancel(ctx), history.UndoOptions{In: in.In, Count: in.Limit, To: events.Seq(in.To), Conflicts: in.Conflicts})
}

// formats are the formats of package convert, and pages.
func formats() []*convert.Format { return append(slices.Clip(convert.Formats), html.Format()) }

// formatNamed returns the format that an argument names.
func formatNamed(name string) (*convert.Format, error) {
	for _, f := range formats() {
		if f.IsNamed(name) {
			return f, nil
		}
	}
	return nil, unknownName("format", name, formats())
}

// unknownName returns the error for a name that no format of a list has. what is the kind of the name, such as "tool".
func unknownName(what, name string, list []*convert.Format) error {
	var names []string
	for _, f := range list {
		names = append(names, f.Tool())
	}
	slices.Sort(names)
	e := badArgument("unknown %s %q", what, name)
	e.Hint = what + "s are " + strings.Join(slices.Compact(names), ", ")
	return e
}

// An Exported is an export with its content.
type Exported struct {
	*workspace.Export
	Content string `json:"content,omitempty"` // absent if it was written to a file
}

// ExportedOf returns the document of an export.
func ExportedOf(e *workspace.Export) Exported {
	if e.Path != "" {
		return Exported{Export: e}
	}
	return Exported{e, string(e.Data)}
}

func export(ctx context.Context, w *workspace.Workspace, in exportIn) (Exported, error) {
	list, unknown := convert.FormatsOf(in.To)
	if unknown >= 0 { // it may be a page
		f, err := formatNamed(in.To)
		if err != nil {
			return Exported{}, err
		}
		list = []*convert.Format{f}
	}
	o := workspace.ExportOptions{Format: list[0], Tree: in.Tree, CutOptions: in.cut.options()}
	if in.Redact {
		o.Redact = redact.New().Bytes
	}
	e, err := w.Export(ctx, in.orHead(), o)
	if err != nil {
		return Exported{}, err
	}
	return ExportedOf(e), nil
}

func pack(ctx context.Context, w *workspace.Workspace, in packIn) (*workspace.PackResult, error) {
	switch {
	case in.All && in.Session != "":
		return nil, badArgument("all and session_id exclude each other")
	case in.All:
		return w.Pack(ctx, "")
	}
	return w.Pack(ctx, cmp.Or(in.Session, headRef))
}

func purge(ctx context.Context, w *workspace.Workspace, in purgeIn) (*trash.List, error) {
	var o trash.PurgeOptions
	if in.Older != "" {
		var err error
		if o.MinAge, err = when.ParseAge(in.Older, time.Now()); err != nil {
			return nil, badArgument("older: %v", err)
		}
	}
	return w.PurgeTrash(ctx, o)
}
