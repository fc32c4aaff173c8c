package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/explore/recognize"
	"github.com/bough-dev/bough/workspace"
	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"
)

// A plan is what is going to be explored, before anything is written. Its JSON is what
// --dry-run prints.
type plan struct {
	Session    string             `json:"session_id"`
	Node       string             `json:"parent_node_id"`
	Agent      string             `json:"agent"`
	Question   string             `json:"question"`
	Explores   bool               `json:"explores"`   // whether it is worth it
	Reason     string             `json:"reason"`     // why not
	Confidence *float64           `json:"confidence"` // that the reply offers a choice, null where the strategies are given
	Strategies []explore.Adjusted `json:"strategies"` // in the order in which they are tried
	Config     explore.Config     `json:"config"`

	fork      *workspace.Fork
	learnings []explore.Similar
	method    explore.Method
	runner    explore.Runner
}

// mostSimilar is how many past outcomes are looked at, and given to runners.
const mostSimilar = 50

// look fills in where a plan begins, which settings are in force there, and what was
// learned of the like. flags are settings that win.
func (x *explorer) look(ctx context.Context, pl *plan, ref string, flags []byte) (err error) {
	if pl.fork, err = x.w.ExplorationPlace(ctx, ref); err != nil {
		return err
	}
	pl.Session, pl.Node, pl.Question = pl.fork.Session, pl.fork.Message, pl.fork.Question
	if a := pl.fork.Agent; a != nil && pl.fork.Frozen == "" {
		pl.Agent = a.Name
	}
	if pl.Config, err = x.p.exploreConfig(ctx, x.w, pl.fork.Agent, flags); err != nil {
		return err
	}
	known, err := explore.Recall(ctx, x.w, x.p.note)
	pl.learnings = explore.FindSimilar(pl.Question, known, mostSimilar)
	return err
}

// plan finds out what is explored, from where, and how.
func (x *explorer) plan(c *cli.Context, pl *plan) error {
	ctx, ref := c.Context, c.Args().First()
	if err := x.look(ctx, pl, ref, exploreSettings(c)); err != nil {
		return err
	}
	if !pl.Config.Enabled {
		return &workspace.Error{Code: workspace.Refused, Message: "explorations are turned off here", Hint: `"enabled" in ` + workspace.ExplorationSettingsPath + ` or in the agent's "explore" says so`}
	}
	var named []recognize.Found
	for _, s := range pl.Strategies {
		named = append(named, s.Found)
	}
	pl.Explores = true
	if c.Bool("from-reply") {
		if pl.fork.Reply == "" {
			return &workspace.Error{Code: workspace.Refused, Message: "the message at " + ref + " is no reply: it names no ways to go", Hint: "--from-reply takes an assistant's message, SESSION@MESSAGE"}
		}
		named, sure, err := x.recognize(ctx, pl)
		if err != nil {
			return err
		}
		offer := explore.PlanFor(named, sure, pl.learnings, pl.Config)
		pl.Strategies, pl.Confidence, pl.Reason = offer.Strategies, &sure, offer.Reason
		pl.Explores = offer.Reason == ""
	} else {
		pl.Strategies = explore.Adjust(named, pl.learnings, pl.Config)
	}
	if pl.Strategies == nil {
		pl.Strategies = []explore.Adjusted{}
	}
	if c.Bool("dry-run") || !pl.Explores {
		return nil
	}
	if pl.runner.Command == "" && pl.runner.Model == "" {
		if pl.Agent == "" || pl.fork.Agent.Model == "" {
			e := usageError("nothing says who tries the strategies: give --run CMD or --model M")
			e.Hint = seeHelp("explore")
			return e
		}
		pl.runner.Model = pl.fork.Agent.Model
	}
	_, err := exploreFolder(pl.runner.Dir)
	return err
}

// recognize returns the ways that the reply names, and how sure it is that it offers a
// choice: as a model says that is given for it, or if that does not answer, by rules.
func (x *explorer) recognize(ctx context.Context, pl *plan) ([]recognize.Found, float64, error) {
	if pl.runner.Model != "" {
		m, err := x.supply.model(ctx, pl.runner.Model)
		if err != nil {
			return nil, 0, err
		}
		asked, stop := context.WithTimeout(ctx, time.Duration(pl.Config.Timeout))
		defer stop()
		named, sure, err := explore.RecognizeWith(asked, m, pl.runner.Model, pl.fork.Reply)
		if err == nil || ctx.Err() != nil {
			return named, sure, err
		}
		x.p.note("what the reply names is found by rules, not by the model: " + err.Error())
	}
	named, sure := recognize.Reply(pl.fork.Reply)
	return named, sure, nil
}

// exploreConfig returns the settings that are in force.
func (p *program) exploreConfig(ctx context.Context, w *workspace.Workspace, a *workspace.Agent, flags []byte) (explore.Config, error) {
	own, err := w.ExplorationSettings(ctx)
	if err != nil {
		return explore.Config{}, err
	}
	var agents []byte
	if a != nil {
		agents = []byte(gjson.GetBytes(a.File, "explore").Raw)
	}
	config, err := explore.Merge(own, agents, flags)
	if err != nil {
		return config, &workspace.Error{Code: workspace.Damaged, Message: err.Error(), Hint: "correct " + workspace.ExplorationSettingsPath + ` or the agent's member "explore"`, Err: err}
	}
	return config, nil
}

// exploreFolder returns where the folders of branches are made, which is outside of the
// folder that they are copies of.
func exploreFolder(dir string) (string, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		var err error
		if cache, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	folder := filepath.Join(cache, "bough", "explorations")
	if dir != "" {
		if rel, err := filepath.Rel(dir, folder); err == nil && filepath.IsLocal(rel) {
			return "", &workspace.Error{
				Code: workspace.Refused, Message: fmt.Sprintf("the folders of branches are made in %s, which lies in %s", folder, dir),
				Hint: "$XDG_CACHE_HOME says where else they can be made",
			}
		}
	}
	return folder, nil
}

// planned prints a plan.
func (p *program) planned(pl *plan) error {
	if p.json {
		return p.printJSON(pl)
	}
	for _, s := range pl.Strategies {
		fmt.Fprintln(p.stdout, strings.TrimRight(fmt.Sprintf("%.2f  %s  %s", s.Confidence, p.paint.bold(line(s.Name)), p.paint.fit(line(s.Description), p.paint.width-8-width(s.Name))), " "))
	}
	p.adjusted(pl.Strategies)
	if !pl.Explores {
		fmt.Fprintf(p.stderr, "Not explored: %s.\n", pl.Reason)
	}
	return nil
}

// adjusted tells what was learned of strategies.
func (p *program) adjusted(list []explore.Adjusted) {
	for _, s := range list {
		if s.Reason != "" {
			fmt.Fprintf(p.stderr, "%s: %s\n", line(s.Name), line(s.Reason))
		}
	}
}
