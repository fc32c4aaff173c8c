package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/explore"
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
	fork, err := t.w.ExplorationPlace(ctx, ref)
	if err != nil {
		return nil, err
	}
	config, err := p.exploreConfig(ctx, t.w, fork.Agent, nil)
	if err != nil {
		return nil, err
	}
	known, err := explore.Recall(ctx, t.w, p.note)
	if err != nil {
		return nil, err
	}
	similar := explore.FindSimilar(fork.Question, known, mostSimilar)
	named, sure := explore.Recognize(fork.Reply)
	offer := explore.PlanFor(named, sure, similar, config)
	if offer.Reason != "" {
		if len(offer.Strategies) > 1 {
			fmt.Fprintf(p.stderr, "Not explored: %s.\n", offer.Reason)
		}
		return nil, nil
	}
	pl := &plan{
		Session: fork.Session, Node: fork.Message, Question: fork.Question, Config: config, Strategies: offer.Strategies,
		fork: fork, learnings: similar, method: explore.Best, runner: explore.Runner{Model: model},
	}
	var names []string
	for _, s := range offer.Strategies {
		names = append(names, s.Name)
	}
	if fork.Agent != nil {
		pl.Agent = fork.Agent.Name
		if pl.runner.Model == "" {
			pl.runner.Model = fork.Agent.Model
		}
	}
	if t.explore == exploreAsk {
		if t.asker == nil {
			fmt.Fprintf(p.stderr, "The reply offers %s; 'bough explore %s --from-reply' tries them\n", line(strings.Join(names, ", ")), ref)
			return nil, nil
		}
		if !t.asker.confirm(ctx, agent.Call{Name: "explore", Arguments: strings.Join(names, ", ")}) {
			return nil, nil
		}
	}
	x := &explorer{p: p, w: t.w, supply: t.supply, learnings: similar}
	defer func() { t.supply = x.supply }()
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
