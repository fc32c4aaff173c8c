package main

import (
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) exploreVerb() verb {
	v := verb{
		name:  "explore",
		args:  "REF (--strategy NAME=DESCRIPTION ... or --from-reply) (--run CMD or --model M) [--adopt] [FLAG ...]",
		short: "try several ways at once from one message, and judge them",
		long: `Tries each strategy in a branch of its own from REF, some at a time, and judges what they come
to: the outcome is one new message below REF, and is printed. No head moves without --adopt. A
strategy is given with --strategy, or with --from-reply taken from what the assistant says at REF:
the ways that it names, if there are such.

CMD is run by the shell in a folder of the branch's own: a copy of --dir, or a worktree where that
is in a git repository. It reads JSON, {exploration_id, branch_id, strategy, depth, dir, bindings,
messages, learnings}, and prints its result as text, or as JSON: {result, confidence, success,
metrics, insights, strategies}. Each of strategies is tried below its branch next, in a copy of the
folder as that branch left it. Without --run a model is asked: M, or that of the agent whose
conversation it is.

An interrupt stops it, and 'bough explore resume ID' goes on. What became of strategies is
remembered ('bough learnings'), and counts the next time that something like it is explored.
WORKSPACE/explorations/config.json and an agent's member "explore" have settings, which flags
override. The exit code is 1 if no branch has a result.`,
		example: `bough explore "Sort it@849dde0b" --strategy quick="in place" --strategy radix --run ./try.sh
bough explore "By train/a841cb20" --from-reply --dry-run
bough explore "Fix the test" --strategy a=... --strategy b=... --run ./fix.sh --dir . --evaluate consensus`,
		subs: []verb{
			p.exploreLsVerb(), p.exploreShowVerb(), p.exploreEvaluateVerb(), p.exploreAdoptVerb(),
			p.exploreCancelVerb(), p.exploreResumeVerb(), p.exploreRmVerb(), p.exploreStatsVerb(),
		},
		flags: []cli.Flag{
			&cli.GenericFlag{Name: "strategy", Value: &words{}, Usage: "try `NAME=DESCRIPTION`; more than once for several"},
			&cli.BoolFlag{Name: "from-reply", DisableDefaultText: true, Usage: "try the ways that the assistant's message at REF names"},
			&cli.StringFlag{Name: "run", Usage: "try them with the program `CMD`"},
			&cli.StringFlag{Name: "model", DefaultText: "the agent's", Usage: "try them with `MODEL`: openai:NAME, anthropic:NAME, or command:CMD; beside --run it makes the synthesis; with --from-reply it says what the reply names"},
			evaluateFlag(),
			&cli.IntFlag{Name: "max-depth", DefaultText: "3", Usage: "branches of branches down to `N`"},
			&cli.IntFlag{Name: "max-concurrent", DefaultText: "5", Usage: "at most `N` at work at once"},
			&cli.DurationFlag{Name: "timeout", DefaultText: "30s", Usage: "give each branch the time `D`"},
			&cli.Float64Flag{Name: "min-confidence", DefaultText: "0.6", Usage: "explore no reply that is less sure to offer a choice, `C` from 0 to 1"},
			&cli.Float64Flag{Name: "prune", DefaultText: "0.3", Usage: "results with a confidence below `C` do not count"},
			&cli.Float64Flag{Name: "synthesize", DefaultText: "0.7", Usage: "results with a confidence from `C` on are part of a synthesis"},
			&cli.StringFlag{Name: "dir", Usage: "the folder `D` that each branch has a copy of"},
			&cli.GenericFlag{Name: "metric", Value: &words{}, Usage: "judge by the metric `NAME=higher`, lower or ignore; more than once for several"},
			&cli.GenericFlag{Name: "bind", Value: &words{}, Usage: "give each branch the variable `K=V`, which is kept in the exploration's file; more than once for several"},
			&cli.BoolFlag{Name: "share", DisableDefaultText: true, Usage: "let branches read each other's notes"},
			&cli.BoolFlag{Name: "keep", DisableDefaultText: true, Usage: "keep the folders of the branches"},
			adoptFlag(), allowCommandFlag(),
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "print what would be tried, and change nothing"},
		},
		min:     1,
		max:     1,
		hint:    "name one message, and the strategies with --strategy; 'bough help explore' says more",
		changes: true,
	}
	for i := range v.subs {
		v.subs[i].parent = v.name
	}
	v.action = func(c *cli.Context, _ *workspace.Workspace) error { return p.explore(c) }
	return v
}

func evaluateFlag() cli.Flag {
	return &cli.StringFlag{Name: "evaluate", DefaultText: "best", Usage: "judge by `METHOD`: best, consensus, or synthesis (merge)"}
}

func adoptFlag() cli.Flag {
	return &cli.BoolFlag{Name: "adopt", DisableDefaultText: true, Usage: "move the head to the outcome"}
}

// words are the values of a flag that may be there more than once.
type words []string

func (w *words) Set(s string) error {
	*w = append(*w, s)
	return nil
}

func (w *words) String() string { return strings.Join(*w, ", ") }

func wordsOf(c *cli.Context, flag string) words {
	w, _ := c.Generic(flag).(*words)
	if w == nil {
		return nil
	}
	return *w
}

// explore plans an exploration and carries it out.
func (p *program) explore(c *cli.Context) error {
	r, err := exploreRequest(c)
	if err != nil {
		return err
	}
	w, err := p.openShared(c.Context)
	if err != nil {
		return err
	}
	x := p.newExplorer(c, w)
	defer x.supply.close()
	plan, err := x.Plan(c.Context, r)
	switch {
	case err != nil:
		return err
	case !plan.Config.Enabled:
		return &workspace.Error{
			Code: workspace.Refused, Message: "explorations are turned off here",
			Hint: `the member "enabled" of ` + workspace.ExplorationSettingsPath + `, of the settings, or of the agent's "explore" is false`,
		}
	case c.Bool("dry-run") || !plan.Explores:
		return p.planned(plan)
	}
	return x.finished(x.run(c.Context, plan))
}
