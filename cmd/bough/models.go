package main

import (
	"context"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/model/command"
	"github.com/bough-dev/bough/workspace"
)

// The kinds of models, as they stand before the colon of a model's id.
const (
	openAIKind    = "openai"
	anthropicKind = "anthropic"
	commandKind   = "command"
)

// parseModel takes the id of a model apart.
func parseModel(id string) (kind, name string, err error) {
	kind, name, found := strings.Cut(id, ":")
	switch kind {
	case openAIKind, anthropicKind, commandKind:
		if found && strings.TrimSpace(name) != "" {
			return kind, name, nil
		}
	}
	e := usageError("there is no model %q", id)
	e.Hint = "a model is openai:NAME, anthropic:NAME, or command:CMD, a program that the shell runs"
	return "", "", e
}

// models opens models by their ids. A call of one takes at most the time, if that is
// not 0.
func (p *program) models(timeout time.Duration) func(context.Context, string) (agent.Model, error) {
	return func(_ context.Context, id string) (agent.Model, error) {
		kind, name, err := parseModel(id)
		if err != nil {
			return nil, err
		}
		if kind == commandKind {
			return command.New(name, command.Options{Timeout: timeout}), nil
		}
		return nil, &workspace.Error{Code: workspace.Failed, Message: "this bough cannot speak to " + kind, Hint: "command:CMD has any program answer"}
	}
}

// tools opens the tools of the MCP servers that a file lists, nil without a file.
func (p *program) tools(file string, timeout time.Duration) (func(context.Context) (agent.Tools, error), error) {
	if file == "" {
		return nil, nil
	}
	return nil, &workspace.Error{Code: workspace.Failed, Message: "this bough cannot start MCP servers"}
}
