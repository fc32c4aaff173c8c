package api

import (
	"context"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/tokens"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/compare"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/merge"
)

type comparedIn struct {
	Refs []string `json:"refs" jsonschema:"the ends of two or more paths, REFs as in show"`
	partial
}

type compareIn struct {
	comparedIn
	Model string `json:"model,omitempty" jsonschema:"the model that says which one to continue, with reasons; by default none is asked"`
}

type mergeIn struct {
	Branch  string `json:"branch" jsonschema:"the end of the branch, a REF as in show"`
	Into    string `json:"into,omitempty" jsonschema:"where the message is added, a REF; by default the head, which moves to it"`
	Summary string `json:"summary,omitempty" jsonschema:"the text of the message; without it and without a model, a digest is made by rules"`
	Model   string `json:"model,omitempty" jsonschema:"the model that writes the text"`
	Digest  bool   `json:"digest,omitempty" jsonschema:"make a digest, which is the default"`
	Files   bool   `json:"files,omitempty" jsonschema:"bring the files that the branch changed too"`
	restoring
}

// A Prompt is what a model would be asked.
type Prompt struct {
	Prompt string `json:"prompt"`
}

func compareVerb() *Verb {
	return turnVerb("compare", Reads, "Compare branches", "Returns what each of several paths added since they parted: messages, turns, tokens, authors, the outcome of an exploration and changed files. With a model, it also says which one to continue; its answer must cite messages of the paths.", compareRefs)
}

func comparePromptVerb() *Verb {
	return verb("compare/prompt", Reads, "Prompt of a comparison", "Returns what a model would be asked about a comparison.",
		func(ctx context.Context, w *workspace.Workspace, in comparedIn) (*Prompt, error) {
			c, err := w.Compare(ctx, in.Refs, compare.Options{ReadOptions: in.options()})
			if err != nil {
				return nil, err
			}
			return &Prompt{c.Prompt()}, nil
		})
}

func mergeVerb() *Verb {
	return turnVerb("merge", Changes, "Merge a branch", "Adds one message with the content of a branch since the last message that both paths have or since its last merge. The branch stays as it is. If it has nothing new, nothing changes. With files, what the branch changed changes in the folder too.", mergeBranch)
}

func compareRefs(ctx context.Context, env Env, in compareIn) (*compare.Comparison, error) {
	m, err := env.model(ctx, in.Model)
	if err != nil {
		return nil, err
	}
	var counter tokens.Counter
	c, err := env.Workspace.Compare(ctx, in.Refs, compare.Options{Tokens: counter.Count, ReadOptions: in.options()})
	if err != nil || m == nil {
		return c, err
	}
	c.Summary, err = c.Summarize(ctx, m, in.Model)
	return c, err
}

// model opens a model, nil if id is empty.
func (e Env) model(ctx context.Context, id string) (model.Model, error) {
	switch {
	case id == "":
		return nil, nil
	case e.Models == nil:
		return nil, &fault.Error{Code: fault.Refused, Message: "no model is available"}
	}
	return e.Models(ctx, id)
}

func mergeBranch(ctx context.Context, env Env, in mergeIn) (*merge.Result, error) {
	if in.Digest && (in.Summary != "" || in.Model != "") {
		return nil, badArgument("summary, digest and model exclude each other")
	}
	if !in.Files && (in.Dir != "" || in.Whole || in.Conflicts != "" || len(in.Only) > 0) {
		return nil, badArgument("dir, whole, conflicts and only require files")
	}
	restore, err := in.options()
	if err != nil {
		return nil, err
	}
	m, err := env.model(ctx, in.Model)
	if err != nil {
		return nil, err
	}
	o := merge.Options{
		Into: in.Into, Summary: in.Summary, Model: m, ModelID: in.Model, DryRun: in.DryRun,
		Files: in.Files, Dir: in.Dir, Restore: restore,
	}
	if m == nil { // nothing waits for long
		ctx = in.context(ctx)
	}
	return env.Workspace.Confined().Merge(ctx, in.Branch, o)
}
