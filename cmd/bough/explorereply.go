package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/explore/recognize"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// What 'bough agent chat' does with a reply that offers several ways to go.
const (
	exploreOff  = "off"
	exploreAsk  = "ask"
	exploreAuto = "auto"
)

func exploreReplyFlag() cli.Flag {
	return &cli.StringFlag{Name: "explore", Value: exploreOff, Usage: "when a reply offers several ways, `MODE` is off, ask, or auto: have the model try each in a branch of its own"}
}

// exploreMode reads the flag.
func exploreMode(c *cli.Context) (string, error) {
	switch mode := c.String("explore"); mode {
	case exploreOff, exploreAsk, exploreAuto:
		return mode, nil
	default:
		return "", usageError("--explore is off, ask or auto, not %q", mode)
	}
}

// exploreReply explores what a reply offers, as the mode says, and returns that, nil where
// there is nothing to explore or nobody wants it. The head stays at the reply.
func (t *teller) exploreReply(ctx context.Context, said *workspace.Chatted, model string) (*explore.Exploration, error) {
	p, ref := t.p, said.Tree+"@"+string(said.Node)
	pl := &plan{method: explore.Best, runner: explore.Runner{Model: model}}
	x := &explorer{p: p, w: t.w, supply: t.supply}
	defer func() { t.supply = x.supply }()
	if err := x.look(ctx, pl, ref, nil); err != nil {
		return nil, err
	}
	named, sure := recognize.Reply(pl.fork.Reply)
	offer := explore.PlanFor(named, sure, pl.learnings, pl.Config)
	if offer.Reason != "" {
		if len(offer.Strategies) > 1 {
			fmt.Fprintf(p.stderr, "Not explored: %s.\n", offer.Reason)
		}
		return nil, nil
	}
	if a := pl.fork.Agent; a != nil && model == "" {
		pl.runner.Model = a.Model
	}
	pl.Strategies = offer.Strategies
	var names []string
	for _, s := range offer.Strategies {
		names = append(names, line(s.Name))
	}
	if t.explore == exploreAsk {
		if t.asker == nil {
			fmt.Fprintf(p.stderr, "The reply offers %s; 'bough explore %s --from-reply' tries them\n", strings.Join(names, ", "), clean(ref))
			return nil, nil
		}
		if !t.asker.confirm(ctx, agent.Call{Name: "explore", Arguments: strings.Join(names, ", ")}) {
			return nil, nil
		}
	}
	e, err := x.begin(ctx, pl)
	if err != nil {
		return nil, err
	}
	release, err := t.w.HoldExploration(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := x.judge(ctx, e); err != nil {
		return e, err
	}
	if !p.json {
		p.judged(e, false)
		if len(e.Evaluation.From) > 0 {
			p.result(e.Evaluation.Result)
		}
	}
	return e, nil
}
