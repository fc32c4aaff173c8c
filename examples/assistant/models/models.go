// Package models opens the model that answers: a script, a command, or one of a
// provider.
package models

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/anthropic"
	"github.com/bough-dev/bough/agent/model/command"
	"github.com/bough-dev/bough/agent/model/openai"
)

// Forms are the ids that Open accepts.
const Forms = "script, command:CMD, openai:NAME or anthropic:NAME"

// Open opens the model with an id. The keys of the providers are in the
// environment variables OPENAI_API_KEY and ANTHROPIC_API_KEY.
func Open(_ context.Context, id string) (model.Model, error) {
	kind, name, _ := strings.Cut(id, ":")
	switch {
	case id == "script":
		return &Script{Lines: introduction, Pace: 60 * time.Millisecond}, nil
	case name == "":
	case kind == "command":
		return command.New(name, command.Options{}), nil
	case kind == "openai":
		return openai.New(openai.Options{Name: name, BaseURL: os.Getenv("OPENAI_BASE_URL"), Key: os.Getenv("OPENAI_API_KEY")})
	case kind == "anthropic":
		return anthropic.New(anthropic.Options{Name: name, BaseURL: os.Getenv("ANTHROPIC_BASE_URL"), Key: os.Getenv("ANTHROPIC_API_KEY")})
	}
	return nil, fmt.Errorf("unknown model %q: a model is %s", id, Forms)
}
