package main

import (
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

func (p *program) exploreVerb() verb {
	v := verb{
		name:  "explore",
		args:  "REF (--strategy NAME=DESCRIPTION ... or --from-reply) (--run CMD or --model M) [--adopt] [FLAG ...]",
		short: "try several strategies from one message and evaluate them",
		long: `Tries each strategy in its own branch from REF, several in parallel, and evaluates the results.
The outcome is printed and added as one message below REF. No head moves without --adopt. Each
--strategy gives a strategy; --from-reply recognizes them in the assistant's message at REF.

The shell runs CMD in a folder for the branch: a copy of --dir or, if that is in a git repository, a
clone of it with a state of its files. CMD reads JSON, {exploration_id, branch_id, strategy, depth,
dir, bindings, messages, learnings}, and prints the result as text, or as JSON: {result, confidence,
success, metrics, insights, strategies}. $BOUGH_STRATEGY is the name of the strategy. If a result
proposes strategies, each is tried next, below that branch, in a copy of the folder as the branch
left it. Without --run the model M answers, by default the model of the agent that owns the
conversation.

After an interrupt, 'bough explore resume ID' continues the exploration. Outcomes are recorded
('bough learnings') and rank the strategies of similar explorations. Flags override the settings
explore.* ('bough config' lists them) and those in an agent's file. The exit code is 1 if no branch
has a result.`,
		example: `bough explore "Sort it@849dde0b" --strategy quick="in place" --strategy radix --run ./try.sh
bough explore "By train/a841cb20" --from-reply --dry-run
bough explore "Fix the test" --strategy a=... --strategy b=... --run ./fix.sh --dir . --evaluate consensus`,
		subs: []verb{
			p.exploreLsVerb(), p.exploreShowVerb(), p.exploreEvaluateVerb(), p.exploreAdoptVerb(),
			p.exploreCancelVerb(), p.exploreResumeVerb(), p.exploreRmVerb(), p.exploreStatsVerb(),
		},
		flags: []cli.Flag{
			&cli.GenericFlag{Name: "strategy", Value: &words{}, Usage: "try `NAME=DESCRIPTION`; repeatable"},
			&cli.BoolFlag{Name: "from-reply", DisableDefaultText: true, Usage: "try the strategies in the assistant's message at REF"},
			&cli.StringFlag{Name: "run", Usage: "run the command `CMD` in each branch"},
			&cli.StringFlag{Name: "model", DefaultText: "the agent's", Usage: "ask `MODEL` in each branch: " + modelForms + "; with --run, only for the synthesis; with --from-reply, also to recognize the strategies"},
			evaluateFlag(),
			&cli.IntFlag{Name: "max-depth", DefaultText: "3", Usage: "let branches propose branches down to depth `N`"},
			&cli.IntFlag{Name: "max-concurrent", DefaultText: "5", Usage: "run at most `N` branches at once"},
			&cli.DurationFlag{Name: "timeout", DefaultText: "30s", Usage: "stop a branch after `D`"},
			&cli.Float64Flag{Name: "min-confidence", DefaultText: "0.6", Usage: "explore a reply only if the confidence that it offers a choice is at least `C`, from 0 to 1"},
			&cli.Float64Flag{Name: "prune", DefaultText: "0.3", Usage: "ignore results with a confidence below `C`"},
			&cli.Float64Flag{Name: "synthesize", DefaultText: "0.7", Usage: "use results with a confidence of at least `C` in a synthesis"},
			&cli.StringFlag{Name: "dir", Usage: "give each branch a copy of the folder `D`"},
			&cli.GenericFlag{Name: "metric", Value: &words{}, Usage: "evaluate by the metric in `NAME=DIRECTION`: higher, lower or ignore; repeatable"},
			&cli.GenericFlag{Name: "bind", Value: &words{}, Usage: "set the variable `K=V` for each branch, and store it in the exploration's file; repeatable"},
			&cli.BoolFlag{Name: "share", DisableDefaultText: true, Usage: "let branches read each other's notes"},
			&cli.BoolFlag{Name: "keep", DisableDefaultText: true, Usage: "keep the folders of the branches"},
			adoptFlag(), allowCommandFlag(),
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "print the plan and change nothing"},
		},
		min:     1,
		max:     1,
		hint:    "name one message, and give strategies with --strategy; see 'bough help explore'",
		changes: true,
	}
	for i := range v.subs {
		v.subs[i].parent = v.name
	}
	v.action = func(c *cli.Context, _ *workspace.Workspace) error { return p.explore(c) }
	return v
}

func evaluateFlag() cli.Flag {
	return &cli.StringFlag{Name: "evaluate", DefaultText: "best", Usage: "evaluate by `METHOD`: best, consensus, or synthesis (merge)"}
}

func adoptFlag() cli.Flag {
	return &cli.BoolFlag{Name: "adopt", DisableDefaultText: true, Usage: "move the head to the outcome"}
}

// words are the values of a repeatable flag.
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

// explore plans an exploration and runs it.
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
		return &fault.Error{
			Code: fault.Refused, Message: "explorations are disabled",
			Hint: `the member "enabled" of ` + workspace.ExplorationSettingsPath + `, of the settings, or of the agent's "explore" is false`,
		}
	case c.Bool("dry-run") || !plan.Explores:
		return p.planned(plan)
	}
	return x.finished(x.run(c.Context, plan))
}
