package mcp

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/restores"
)

type restoreInput struct {
	Ref          string   `json:"ref" jsonschema:"the message or checkpoint whose state is restored, or the id of a state"`
	Conversation bool     `json:"conversation,omitempty" jsonschema:"move the head of the workspace to the message too"`
	Turn         bool     `json:"turn,omitempty" jsonschema:"only revert what the turn of the message changed, and keep what changed since"`
	Dir          string   `json:"dir,omitempty" jsonschema:"the folder, the dir of a state; that of the state if it is absent"`
	Only         []string `json:"only,omitempty" jsonschema:"only these paths of the folder and what is below them"`
	Whole        bool     `json:"whole,omitempty" jsonschema:"make the folder exactly the state, also where others changed it"`
	Conflicts    string   `json:"conflicts,omitempty" jsonschema:"for paths that the conversation and others changed: keep leaves them, take takes those of the state, merge reverts the lines of the conversation; they are refused if it is absent"`
	DryRun       bool     `json:"dry_run,omitempty" jsonschema:"only report what would change, with the conflicts"`
}

// A restoredFiles says what was restored. Its lists may be the beginning of long ones.
type restoredFiles struct {
	api.RestoredFiles
	Omitted int `json:"omitted,omitempty" jsonschema:"how many paths the lists omit"`
}

// restoreFiles brings files back after the user confirmed the plan. The folder is one that has
// states.
func restoreFiles(ctx context.Context, c *call, in restoreInput) (*restoredFiles, error) {
	switch {
	case in.Whole && in.Conflicts != "":
		return nil, &fault.Error{Code: fault.Usage, Message: "whole and conflicts exclude each other"}
	case in.Turn && in.Conversation:
		return nil, &fault.Error{Code: fault.Usage, Message: "turn and conversation exclude each other"}
	}
	plan, err := in.restore(ctx, c, true)
	if err != nil {
		return nil, err
	}
	f := plan.Files
	switch {
	case in.DryRun:
		return limited(plan), nil
	case len(f.Conflicts) > 0:
		return nil, &restores.ConflictError{Dir: f.Dir, Conflicts: f.Conflicts}
	case len(f.Written)+len(f.Deleted) == 0 && !in.Conversation:
		return limited(plan), nil
	}
	state, err := c.w.Confined().Folder("").Show(ctx, f.To, ".")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(rawjson.Compact(plan))
	if err := c.confirm(in.question(f, state.State.Time), fmt.Sprintf("%x", sum), in.command(f.Dir)...); err != nil {
		return nil, err
	}
	done, err := in.restore(context.WithoutCancel(ctx), c, false) // half a restore helps nobody
	if err != nil {
		return nil, err
	}
	return limited(done), nil
}

// restore restores, or returns what it would do.
func (in *restoreInput) restore(ctx context.Context, c *call, dryRun bool) (*api.RestoredFiles, error) {
	folder := c.w.Confined().Folder(in.Dir)
	o := restores.Options{DryRun: dryRun, Whole: in.Whole, Conflicts: in.Conflicts, Only: in.Only}
	if in.Conversation {
		pos, err := folder.Rewind(ctx, in.Ref, checkpoint.CutOptions{}, o)
		if err != nil {
			return nil, err
		}
		return &api.RestoredFiles{Head: &pos.Head, ReadOnly: pos.ReadOnly, Files: pos.Files}, nil
	}
	do := folder.RestoreFiles
	if in.Turn {
		do = folder.UndoTurn
	}
	r, err := do(ctx, in.Ref, o)
	if err != nil {
		return nil, err
	}
	return api.RestoredFilesOf(ctx, c.w, r), nil
}

// question asks about a plan, which brings files back to what they were at a time.
func (in *restoreInput) question(f *restores.Restore, to time.Time) string {
	text := fmt.Sprintf("Restore %s in %s to the state of %s", plural.Of(len(f.Written)+len(f.Deleted), "file"), oneLine(f.Dir, 300), to.UTC().Format("2006-01-02 15:04"))
	switch {
	case in.Conversation:
		text += ", and move the head"
	case in.Turn:
		text += ", before a turn that is reverted"
	}
	text += "? Undo reverts it."
	switch {
	case in.Whole:
		text += "\nThe whole folder becomes this state, also where you changed it."
	case in.Conflicts == restores.Take:
		text += "\nFiles that you changed too become those of the state."
	case in.Conflicts == restores.Merge:
		text += "\nFiles that you changed too are merged."
	}
	return text + listed(f)
}

// listed lists the paths of a plan, of which a question has only the first ones.
func listed(f *restores.Restore) (text string) {
	for _, part := range []struct {
		did   string
		paths []string
	}{{"write", f.Written}, {"delete", f.Deleted}} {
		const most = 8
		for i, name := range part.paths {
			if i == most {
				text += fmt.Sprintf("\n%s %d more", part.did, len(part.paths)-most)
				break
			}
			text += "\n" + part.did + " " + oneLine(name, 100)
		}
	}
	if n := len(f.Kept); n > 0 {
		text += fmt.Sprintf("\nkeep %s that differ from the state", plural.Of(n, "path"))
	}
	return text
}

// command returns what a person types for the same.
func (in *restoreInput) command(dir string) []string {
	words := []string{"rewind", in.Ref, "--files", "--dir", dir}
	switch {
	case in.Conversation:
		words[2] = "--both"
	case in.Turn:
		words = []string{"files", "turn", in.Ref, "--undo", "--dir", dir}
	}
	return append(words, planFlags(in.Whole, in.Conflicts, in.Only)...)
}

// planFlags returns the flags of the command that say which files change.
func planFlags(whole bool, conflicts string, only []string) (words []string) {
	if whole {
		words = append(words, "--whole")
	}
	if conflicts != "" {
		words = append(words, "--"+conflicts)
	}
	for _, name := range only {
		words = append(words, "--only", name)
	}
	return words
}

// limited returns a result whose lists are not longer than an answer may be.
func limited(r *api.RestoredFiles) *restoredFiles {
	out := &restoredFiles{RestoredFiles: *r}
	out.Files, out.Omitted = fittingPaths(r.Files)
	return out
}

// fittingPaths returns a result of which each list fits into a quarter of an answer, and how many
// paths it omits.
func fittingPaths(r *restores.Restore) (out *restores.Restore, omitted int) {
	own := *r
	own.Written = fitting(own.Written, &omitted, func(name string) int { return len(name) })
	own.Deleted = fitting(own.Deleted, &omitted, func(name string) int { return len(name) })
	own.Kept = fitting(own.Kept, &omitted, func(k restores.Kept) int { return len(k.Path) + len(k.As) + 50 })
	own.Conflicts = fitting(own.Conflicts, &omitted, conflictSize)
	return &own, omitted
}

// conflictSize returns about how long the JSON of a conflict is.
func conflictSize(c restores.Conflict) int { return len(c.Path) + 600 }

// fitting returns the beginning of a list that fits into a quarter of an answer, and adds
// to omitted how many elements it omits.
func fitting[T any](list []T, omitted *int, size func(T) int) []T {
	total := 0
	for i, e := range list {
		if total += size(e) + 4; total > maxAnswer/4 {
			*omitted += len(list) - i
			return slices.Clip(list[:i])
		}
	}
	return list
}

func (r *restoredFiles) text() string {
	var b strings.Builder
	f := r.Files
	state := "restored"
	if f.Before == "" && len(f.Written)+len(f.Deleted) > 0 {
		state = "would be restored"
	}
	fmt.Fprintf(&b, "%s %s to the state %s\n", oneLine(f.Dir, maxName), state, f.To)
	if !f.Exact {
		b.WriteString("This state is of an earlier message: the message has none of its own.\n")
	}
	for _, name := range f.Written {
		fmt.Fprintf(&b, "written %s\n", oneLine(name, maxName))
	}
	for _, name := range f.Deleted {
		fmt.Fprintf(&b, "deleted %s\n", oneLine(name, maxName))
	}
	for _, k := range f.Kept {
		fmt.Fprintf(&b, "kept %s (%s)\n", oneLine(k.Path, maxName), k.Why)
	}
	for _, k := range f.Conflicts {
		fmt.Fprintf(&b, "conflict %s\n", oneLine(k.Path, maxName))
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "and %s\n", plural.Of(r.Omitted, "more path"))
	}
	return b.String()
}
