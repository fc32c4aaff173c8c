package mcp

import (
	"context"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/compare"
	"github.com/bough-dev/bough/workspace/merge"
)

// outcomesInput are the arguments of compare_outcomes.
type outcomesInput struct {
	Refs []string `json:"refs" jsonschema:"the ends of two or more paths"`
}

// outcomes are the results of several paths.
type outcomes struct {
	Common session.ID `json:"common" jsonschema:"the last message of all paths, null if they share none"`
	Shared int        `json:"shared" jsonschema:"how many messages all paths have"`
	Sides  []outcome  `json:"sides"`
}

type outcome struct {
	Ref     string           `json:"ref" jsonschema:"to the end of the path"`
	Title   string           `json:"title"`
	Total   int              `json:"total" jsonschema:"messages that the others do not all have"`
	Turns   int              `json:"turns"`
	Models  []string         `json:"models"`
	Agent   string           `json:"agent"`
	Outcome *compare.Outcome `json:"outcome"`
	Files   []string         `json:"files" jsonschema:"paths that changed, as far as states say so"`
	Last    []lastSaid       `json:"last" jsonschema:"the last messages with text"`
}

type lastSaid struct {
	Ref  string `json:"ref"`
	Role string `json:"role"`
	Text string `json:"text"`
}

func compareOutcomes(ctx context.Context, c *call, in outcomesInput) (*outcomes, error) {
	d, err := c.w.Compare(ctx, in.Refs, compare.Options{})
	if err != nil {
		return nil, err
	}
	const most, lines = 3, 100 // messages and paths of a side
	limit := maxAnswer / 2 / (most * len(d.Sides))
	v := &outcomes{Common: d.Common, Shared: d.Shared}
	for i := range d.Sides {
		s := &d.Sides[i]
		o := outcome{
			Ref: s.EndRef, Title: shortText(s.Title, maxName), Total: len(s.Messages), Turns: s.Turns,
			Models: s.Models, Agent: s.Agent, Outcome: s.Outcome, Files: []string{}, Last: []lastSaid{},
		}
		if s.Files != nil {
			for _, f := range s.Files.Changes[:min(lines, len(s.Files.Changes))] {
				o.Files = append(o.Files, f.Path)
			}
		}
		for k := len(s.Messages) - 1; k >= 0 && len(o.Last) < most; k-- {
			m := &s.Messages[k]
			if text := m.Message.Text(); text != "" && m.Role != "tool" {
				said := lastSaid{m.Ref, m.Role, shortText(text, limit)}
				o.Last = append([]lastSaid{said}, o.Last...)
			}
		}
		v.Sides = append(v.Sides, o)
	}
	return v, nil
}

// mergeInput are the arguments of merge_branch.
type mergeInput struct {
	Branch  string `json:"branch" jsonschema:"ref to the end of the branch"`
	Into    string `json:"into,omitempty" jsonschema:"ref to where the message is added; by default the head, which moves to it"`
	Summary string `json:"summary,omitempty" jsonschema:"the result of the branch, with refs of messages in square brackets; without it, a digest is made by rules"`
	DryRun  bool   `json:"dry_run,omitempty" jsonschema:"return what would be added, and change nothing"`
}

func mergeBranch(ctx context.Context, c *call, in mergeInput) (*merge.Result, error) {
	return callVerb[*merge.Result](ctx, c, "merge", in)
}
