package mcp

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/restores"
)

type adoptInput struct {
	adoption
	Files bool `json:"files,omitempty" jsonschema:"bring what the branch changed in its folder into the explored one too"`
	filePlan
}

// An adoption has the arguments of the verb explore/adopt.
type adoption struct {
	ID     string `json:"id" jsonschema:"the id of an exploration, or a unique prefix of it"`
	Branch string `json:"branch_id,omitempty" jsonschema:"adopt the result of this branch, a strategy or an id, instead of the outcome"`
}

// A filePlan has the arguments with which files are adopted.
type filePlan struct {
	Only      []string `json:"only,omitempty" jsonschema:"with files: only these paths of the folder and what is below them"`
	Whole     bool     `json:"whole,omitempty" jsonschema:"with files: make the folder exactly what the branch left, also where others changed it"`
	Conflicts string   `json:"conflicts,omitempty" jsonschema:"with files, for paths that changed in both folders: keep leaves them, take takes those of the branch, merge merges the lines; they are refused if it is absent"`
	DryRun    bool     `json:"dry_run,omitempty" jsonschema:"with files: only report what would change, with the conflicts"`
}

// An adopted is an exploration, and with files what happened to them. Their lists may be the
// beginning of long ones.
type adopted struct {
	*explore.Exploration
	Files   *restores.Restore `json:"files,omitempty"`
	Omitted int               `json:"omitted,omitempty" jsonschema:"how many paths the lists of files omit"`
}

// adopt moves the head to a result of an exploration after the user confirmed it, and with files
// brings home what its branch changed.
func adopt(ctx context.Context, c *call, in adoptInput) (*adopted, error) {
	if !in.Files {
		if in.Whole || in.DryRun || in.Conflicts != "" || len(in.Only) > 0 {
			return nil, &fault.Error{Code: fault.Usage, Message: "only, whole, conflicts and dry_run need files"}
		}
		return in.adoptResult(ctx, c)
	}
	if in.Whole && in.Conflicts != "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "whole and conflicts exclude each other"}
	}
	plan, err := in.adoptFiles(ctx, c, true)
	switch {
	case err != nil:
		return nil, err
	case in.DryRun:
		return plan.limited(), nil
	}
	if f := plan.Files; len(f.Conflicts) > 0 {
		return nil, &restores.ConflictError{Dir: f.Dir, Conflicts: f.Conflicts}
	}
	sum := sha256.Sum256(append(rawjson.Compact(plan.Files), plan.EndedAt...))
	if err := c.confirm(in.question(plan), fmt.Sprintf("%x", sum), in.command(plan.ID)...); err != nil {
		return nil, err
	}
	done, err := in.adoptFiles(ctx, c, false)
	if err != nil {
		return nil, err
	}
	return done.limited(), nil
}

// adoptResult moves the head only.
func (in *adoptInput) adoptResult(ctx context.Context, c *call) (*adopted, error) {
	e, err := (&explore.Explorer{Workspace: c.w, Note: c.note}).Open(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	message := fmt.Sprintf("Move the head to %s of the exploration of %q?", in.what(), oneLine(e.Question, 300))
	if err := c.confirm(message, e.ID+" "+e.EndedAt, in.command(e.ID)...); err != nil {
		return nil, err
	}
	if e, err = callVerb[*explore.Exploration](ctx, c, "explore/adopt", in.adoption); err != nil {
		return nil, err
	}
	return &adopted{Exploration: e}, nil
}

// adoptFiles adopts a result with the files, or returns what that would do.
func (in *adoptInput) adoptFiles(ctx context.Context, c *call, dryRun bool) (*adopted, error) {
	args := struct {
		adoption
		filePlan
	}{in.adoption, in.filePlan}
	args.DryRun = dryRun
	a, err := callVerb[*api.AdoptedFiles](ctx, c, "explore/adopt/files", args)
	if err != nil {
		return nil, err
	}
	return &adopted{Exploration: a.Exploration, Files: a.Files}, nil
}

// what says which result is adopted.
func (in *adoptInput) what() string {
	if in.Branch == "" {
		return "the outcome"
	}
	return fmt.Sprintf("the result of %q", oneLine(in.Branch, 100))
}

// question asks about a plan.
func (in *adoptInput) question(plan *adopted) string {
	f := plan.Files
	text := fmt.Sprintf("Move the head to %s of the exploration of %q, and change %s in %s as its branch did? Undo reverts it.",
		in.what(), oneLine(plan.Question, 300), plural.Of(len(f.Written)+len(f.Deleted), "file"), oneLine(f.Dir, 300))
	switch {
	case in.Whole:
		text += "\nThe whole folder becomes what the branch left, also where you changed it."
	case in.Conflicts == restores.Take:
		text += "\nFiles that you changed too become those of the branch."
	case in.Conflicts == restores.Merge:
		text += "\nFiles that you changed too are merged."
	}
	return text + listed(f)
}

// command returns what a person types for the same.
func (in *adoptInput) command(id string) []string {
	words := []string{"explore", "adopt", id}
	if in.Branch != "" {
		words = append(words, in.Branch)
	}
	if !in.Files {
		return words
	}
	return append(append(words, "--files"), planFlags(in.Whole, in.Conflicts, in.Only)...)
}

// limited returns a whose lists of files are not longer than an answer may be.
func (a *adopted) limited() *adopted {
	out := *a
	out.Files, out.Omitted = fittingPaths(a.Files)
	return &out
}
