package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/urfave/cli/v2"
)

// The modes of 'bough agent chat' for a reply that offers several strategies.
const (
	exploreOff  = "off"
	exploreAsk  = "ask"
	exploreAuto = "auto"
)

func exploreReplyFlag() cli.Flag {
	return &cli.StringFlag{Name: "explore", Value: exploreOff, Usage: "if a reply offers several strategies, try each in its own branch: `MODE` is off, ask or auto"}
}

// exploreMode parses the flag.
func exploreMode(c *cli.Context) (string, error) {
	switch mode := c.String("explore"); mode {
	case exploreOff, exploreAsk, exploreAuto:
		return mode, nil
	default:
		return "", usageError("--explore takes off, ask or auto, not %q", mode)
	}
}

// recentReplies is how many replies before the newest one count for 'bough agent chat --explore'.
const recentReplies = 4

// advise adds what was learned from similar questions to the system prompt of an agent, for the
// turn that answers a question.
func (t *turnPrinter) advise(ctx context.Context, name, question string, o *agents.TurnOptions) error {
	system, err := t.p.explorerWith(t.w, &t.supply).Advise(ctx, name, question)
	if system == nil || err != nil {
		return err
	}
	o.System = system
	if !t.p.json {
		fmt.Fprintln(t.p.stderr, "The model reads what was learned from similar questions.")
	}
	return nil
}

// exploreReply explores the strategies in a reply. It returns nil if the reply offers none
// or the user declines. The head stays at the reply.
func (t *turnPrinter) exploreReply(ctx context.Context, said *agents.ChatResult, modelID string) (*explore.Exploration, error) {
	p, ref := t.p, said.Tree+"@"+string(said.Node)
	x := p.explorerWith(t.w, &t.supply)
	plan, err := x.Plan(ctx, explore.Request{Ref: ref, Runner: explore.Runner{Model: modelID}, Recent: recentReplies})
	if err != nil {
		return nil, err
	}
	if !plan.Explores {
		if len(plan.Strategies) > 1 {
			fmt.Fprintf(p.stderr, "Not explored: %s.\n", line(plan.Reason))
		}
		return nil, nil
	}
	if t.explore == exploreAsk {
		var names []string
		for _, s := range plan.Strategies {
			names = append(names, line(s.Name))
		}
		if t.asker == nil {
			fmt.Fprintf(p.stderr, "The reply offers %s. 'bough explore %s --from-reply' tries them\n", strings.Join(names, ", "), clean(ref))
			return nil, nil
		}
		if !t.asker.confirm(ctx, model.Call{Name: "explore", Arguments: strings.Join(names, ", ")}) {
			return nil, nil
		}
	}
	if !p.json {
		fmt.Fprintf(p.stderr, "Exploring: %s.\n", line(plan.Reason))
	}
	e, err := x.run(ctx, plan)
	if err == nil && !p.json {
		x.evaluated(e)
		if len(e.Evaluation.From) > 0 {
			p.result(e.Evaluation.Result)
		}
	}
	return e, err
}
