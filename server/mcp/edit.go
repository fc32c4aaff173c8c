package mcp

import (
	"cmp"
	"context"
	"encoding/json"
)

// askEdit asks whether a model may answer an edited message. An edit without an answer needs no consent.
func askEdit(_ context.Context, c *call) error {
	var in struct {
		Ref, Text, Agent, Model, Fallback string
		Answer                            bool
		Keep                              bool `json:"keep_head"`
	}
	if err := json.Unmarshal(c.args, &in); err != nil {
		return badArguments(err)
	}
	if !in.Answer {
		return nil
	}
	command := []string{"edit", in.Ref, "--text", in.Text, "--answer"}
	for _, f := range [][2]string{{"--agent", in.Agent}, {"--model", in.Model}, {"--fallback", in.Fallback}} {
		if f[1] != "" {
			command = append(command, f[0], f[1])
		}
	}
	if in.Keep {
		command = append(command, "--keep-head")
	}
	message := "Let " + oneLine(cmp.Or(in.Agent, "the agent of the conversation"), 60) + " (" + oneLine(cmp.Or(in.Model, "its model"), 100) + ") answer " +
		oneLine(in.Ref, 100) + ", changed to \"" + oneLine(in.Text, 300) + "\", in " + oneLine(c.w.Dir(), 300) + "?"
	return c.confirm(message, in.Ref+" "+in.Text, command...)
}
