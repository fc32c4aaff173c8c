package main

import (
	"path"
	"slices"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/urfave/cli/v2"
)

// turnWords are the flags of verbs that may run a turn, for their usage lines.
const turnWords = "[--model M] [--tools FILE] [FLAG ...]"

// turnFlags are the flags of verbs that may run a turn.
func turnFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", DefaultText: "the agent's", Usage: "ask `MODEL`: " + modelForms},
		&cli.StringFlag{Name: "fallback", Usage: "ask `MODEL` if the first model fails"},
		&cli.StringFlag{Name: "tools", Usage: "let the model call the tools of the MCP servers in `FILE`"},
		&cli.StringSliceFlag{Name: "allow", Usage: "run the tool `NAME` without asking, even if it may change something; '*' is a wildcard; repeatable"},
		allowCommandFlag(),
		&cli.IntFlag{Name: "max-turns", DefaultText: "50", Usage: "stop after `N` requests if the model still calls tools"},
		&cli.IntFlag{Name: "max-calls", DefaultText: "128, or the setting agents.max_calls", Usage: "fail if a reply of the model contains more than `N` calls"},
		&cli.StringFlag{Name: "steer-policy", DefaultText: "the agent's", Usage: "the `POLICY` for a steer while tools run: after_call skips the remaining calls, finish_batch waits for them"},
		&cli.BoolFlag{Name: "no-checkpoint", DisableDefaultText: true, Usage: "make no automatic checkpoint before the turn, even if a tool may change something"},
		&cli.StringFlag{Name: "files", Usage: "take states of the folder `DIR` before and after each turn; see 'bough files'"},
		&cli.DurationFlag{Name: "timeout", DefaultText: "none for a command", Usage: "wait at most `D` for an answer of the model or of a tool"},
	}
}

// turnOptions parses turnFlags. Invalid flags are an error before anything is written.
func (p *program) turnOptions(c *cli.Context, t *turnPrinter) (o agents.TurnOptions, err error) {
	for _, flag := range []string{"model", "fallback"} {
		if id := c.String(flag); c.IsSet(flag) {
			if _, _, err := parseModel(id); err != nil {
				return o, err
			}
		}
	}
	if c.IsSet("max-turns") && c.Int("max-turns") < 1 {
		return o, usageError("--max-turns takes a positive number")
	}
	if c.IsSet("max-calls") && c.Int("max-calls") < 1 {
		return o, usageError("--max-calls takes a positive number")
	}
	if c.IsSet("timeout") && c.Duration("timeout") <= 0 {
		return o, usageError("--timeout takes a time, such as 90s")
	}
	if c.IsSet("files") && c.String("files") == "" {
		return o, usageError("--files takes a folder")
	}
	allowed := c.StringSlice("allow")
	for _, pattern := range allowed {
		if _, err := path.Match(pattern, ""); err != nil {
			return o, usageError("--allow takes the name of a tool, with '*' as a wildcard, not %q", pattern)
		}
	}
	calls := c.Int("max-calls")
	if !c.IsSet("max-calls") {
		l, err := p.settingsOf(false)
		if err != nil {
			return o, err
		}
		if err := l.Decode("agents.max_calls", &calls); err != nil {
			return o, api.SettingError(err)
		}
	}
	t.supply.timeout = c.Duration("timeout")
	o = agents.TurnOptions{
		Model: c.String("model"), Fallback: c.String("fallback"),
		Models:      t.supply.model,
		MaxRequests: c.Int("max-turns"), MaxCalls: calls, NoCheckpoint: c.Bool("no-checkpoint"), Files: c.String("files"),
		OnEvent: t.printEvent,
	}
	if word := c.String("steer-policy"); c.IsSet("steer-policy") {
		policy, ok := turn.ParseSteerPolicy(word)
		if !ok {
			return o, usageError("--steer-policy takes %s or %s, not %q", turn.AfterCall, turn.FinishBatch, word)
		}
		o.Policy = policy
	}
	if c.IsSet("tools") {
		if o.Tools, err = t.supply.tools(c.String("tools")); err != nil {
			return o, err
		}
	}
	o.Allow = func(tool model.Tool) bool {
		return t.asker.allows(tool.Name) || slices.ContainsFunc(allowed, func(pattern string) bool {
			ok, _ := path.Match(pattern, tool.Name)
			return ok
		})
	}
	if o.Tools != nil {
		if t.asker = p.newAsker(); t.asker != nil {
			o.Confirm = t.asker.confirm
		}
	}
	return o, nil
}
