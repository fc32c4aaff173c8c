package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/plural"
)

// askReplay asks whether a model may answer messages again, with about how many tokens it takes.
func askReplay(ctx context.Context, c *call) error {
	args := map[string]any{}
	if err := json.Unmarshal(c.args, &args); err != nil {
		return badArguments(err)
	}
	if args["dry_run"] == true {
		return nil
	}
	command := []string{"replay"}
	word := func(name string) string { s, _ := args[name].(string); return s }
	if ref := word("ref"); ref != "" {
		command = append(command, ref)
	}
	if resume, ok := args["resume"].(string); ok {
		command = append(command, "--resume")
		if resume != "" {
			command = append(command, resume)
		}
	}
	for _, name := range []string{"onto", "edit", "text", "system", "agent", "name", "model", "fallback"} {
		if value := word(name); value != "" {
			command = append(command, "--"+name, value)
		}
	}
	if args["go_on"] == true {
		command = append(command, "--go-on")
	}
	if _, ok := args["resume"]; ok {
		return c.confirm("Let a model continue the replay "+oneLine(word("resume"), 100)+" in "+oneLine(c.w.Dir(), 300)+"?", word("resume"), command...)
	}
	planned := maps.Clone(args)
	planned["dry_run"] = true
	plan, err := callVerb[*api.Replayed](ctx, c, "replay", planned)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Let %s (%s) answer %s again, in %s?\nIt takes about %d tokens in and %d out, if the answers are as long as before.",
		oneLine(plan.Agent, 60), oneLine(cmp.Or(word("model"), "its model"), 100), plural.Of(len(plan.Left), "message"), oneLine(c.w.Dir(), 300),
		plan.Tokens.Input, plan.Tokens.Output)
	return c.confirm(message, fmt.Sprintf("%s, %d messages", plan.Of.Message, len(plan.Left)), command...)
}
