package mcp

import (
	"context"

	"github.com/bough-dev/bough/explore"
)

// exploring is the name of the tool that runs a command.
const exploring = "explore"

type exploreInput struct {
	Ref        string     `json:"ref,omitempty" jsonschema:"the message to explore; HEAD if it is absent"`
	Command    string     `json:"command" jsonschema:"the name of a command in the setting mcp.commands"`
	Strategies []strategy `json:"strategies" jsonschema:"what to try, each in a branch of its own"`
	Evaluate   string     `json:"evaluate,omitempty" jsonschema:"how to evaluate the results; best if it is absent"`
}

type strategy struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty" jsonschema:"what the command is to do"`
}

// exploreStrategies tries strategies with a command that the user approved.
func exploreStrategies(ctx context.Context, c *call, in exploreInput) (*explore.Exploration, error) {
	command, err := c.opts.Command(in.Command)
	if err != nil {
		return nil, err
	}
	x := &explore.Explorer{Workspace: c.workspace.Observed(nil, c.note), Note: c.note, Progress: func(e *explore.Exploration) {
		if c.report == nil {
			return
		}
		ended := 0
		for _, b := range e.Branches {
			if b.Status == explore.Completed || b.Status == explore.Failed {
				ended++
			}
		}
		c.report("exploring", int64(ended), int64(len(e.Branches)))
	}}
	r := explore.Request{Ref: orHead(in.Ref), Method: explore.Method(in.Evaluate), Runner: explore.Runner{Command: command}}
	for _, s := range in.Strategies {
		r.Strategies = append(r.Strategies, explore.Strategy{Name: s.Name, Description: s.Description})
	}
	plan, err := x.Plan(ctx, r)
	if err != nil {
		return nil, err
	}
	return x.Run(ctx, plan)
}
