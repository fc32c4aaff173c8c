package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/mcp"
	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/anthropic"
	"github.com/bough-dev/bough/agent/model/command"
	"github.com/bough-dev/bough/agent/model/openai"
	"github.com/bough-dev/bough/workspace/fault"
)

// modelForms are the forms of a model's id: one for each of [providers], and a command.
const modelForms = "openai:NAME, anthropic:NAME, or command:CMD"

// parseModel splits the id of a model at the colon.
func parseModel(id string) (kind, name string, err error) {
	kind, name, _ = strings.Cut(id, ":")
	if _, ok := providers()[kind]; (ok || kind == "command") && strings.TrimSpace(name) != "" {
		return kind, name, nil
	}
	e := usageError("unknown model %q", id)
	e.Hint = "a model is " + modelForms + ", a program that the shell runs"
	return "", "", e
}

// A provider makes models.
type provider struct {
	keyVar, urlVar string // environment variables
	model          func(name, baseURL, key string) (model.Model, error)
}

// providers returns the providers by the part of a model's id before the colon.
func providers() map[string]provider {
	return map[string]provider{
		"openai": {"OPENAI_API_KEY", "OPENAI_BASE_URL", func(name, baseURL, key string) (model.Model, error) {
			return openai.New(openai.Options{Name: name, BaseURL: baseURL, Key: key})
		}},
		"anthropic": {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", func(name, baseURL, key string) (model.Model, error) {
			return anthropic.New(anthropic.Options{Name: name, BaseURL: baseURL, Key: key})
		}},
	}
}

// A supply opens models and tools for consecutive turns. Tools are open until the supply is
// closed.
type supply struct {
	approve *approver
	opened  []*mcp.Tools
	timeout time.Duration // of one answer, 0 for none
}

func (s *supply) close() {
	for _, t := range s.opened {
		t.Close()
	}
	s.opened = nil
}

// model opens a model by its id.
func (s *supply) model(ctx context.Context, id string) (model.Model, error) {
	kind, name, err := parseModel(id)
	if err != nil {
		return nil, err
	}
	if kind == "command" {
		if err := s.approve.approve(ctx, storedCommand{Command: name}); err != nil {
			return nil, err
		}
		return command.New(name, command.Options{Timeout: s.timeout, Hide: secrets(os.Environ())}), nil
	}
	p := providers()[kind]
	m, err := p.model(name, os.Getenv(p.urlVar), os.Getenv(p.keyVar))
	if err != nil || s.timeout == 0 {
		return m, err
	}
	return &timedModel{m, s.timeout}, nil
}

// servedModel opens a model for a client of the server, which cannot run a program.
func servedModel(ctx context.Context, id string) (model.Model, error) {
	kind, _, err := parseModel(id)
	const served = "a model is openai:NAME or anthropic:NAME"
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		e.Hint = served
		return nil, e
	}
	if kind == "command" {
		return nil, &fault.Error{Code: fault.Refused, Message: "the server does not run a program as a model", Hint: served}
	}
	return (&supply{}).model(ctx, id)
}

// secrets returns the values of the environment variables whose names end in _KEY, _TOKEN,
// _SECRET or _PASSWORD.
func secrets(env []string) (list []string) {
	const shortest = 6 // shorter values are likely to occur in ordinary text
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		for _, end := range []string{"_KEY", "_TOKEN", "_SECRET", "_PASSWORD"} {
			if strings.HasSuffix(strings.ToUpper(name), end) && len(value) >= shortest {
				list = append(list, value)
			}
		}
	}
	return list
}

// tools returns a function that opens the tools of the MCP servers that a file lists.
func (s *supply) tools(file string) (func(context.Context) (model.Tools, error), error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		e := &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no such file: %q", file), Err: err}
		e.Hint = `--tools takes a file with {"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}`
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (model.Tools, error) {
		t, err := openTools(ctx, data, os.Environ())
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case err != nil:
			err = fmt.Errorf("%s: %w", file, err)
		}
		if t != nil {
			s.opened = append(s.opened, t)
		}
		if err != nil {
			return nil, err
		}
		if s.timeout == 0 {
			return t, nil
		}
		return &timedTools{t, s.timeout}, nil
	}, nil
}

// openTools starts the MCP servers of a configuration.
func openTools(ctx context.Context, config []byte, env []string) (*mcp.Tools, error) {
	c, err := mcp.Parse(config)
	if err != nil {
		return nil, err
	}
	return mcp.Open(ctx, c, &mcp.Options{Env: env, Inherit: withoutKeys(env), Version: version})
}

// withoutKeys returns an environment without the keys of providers. A tool gets a key only
// if its configuration passes it.
func withoutKeys(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		for _, p := range providers() {
			if name == p.keyVar {
				return true
			}
		}
		return false
	})
}

// A timedModel is a model with a timeout for each answer.
type timedModel struct {
	model.Model
	timeout time.Duration
}

func (m *timedModel) Ask(ctx context.Context, r *model.Request, stream func(string)) (*model.Reply, error) {
	return within(ctx, m.timeout, "the model", func(ctx context.Context) (*model.Reply, error) { return m.Model.Ask(ctx, r, stream) })
}

// timedTools are tools with a timeout for each call.
type timedTools struct {
	model.Tools
	timeout time.Duration
}

func (t *timedTools) Call(ctx context.Context, c model.Call) (model.Result, error) {
	return within(ctx, t.timeout, "the tool", func(ctx context.Context) (model.Result, error) { return t.Tools.Call(ctx, c) })
}

// within calls do with a timeout. After the timeout its error says so.
func within[T any](ctx context.Context, timeout time.Duration, who string, do func(context.Context) (T, error)) (T, error) {
	late := fmt.Errorf("%s took longer than %v", who, timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, late)
	defer cancel()
	got, err := do(ctx)
	if err != nil && context.Cause(ctx) == late {
		err = late
	}
	return got, err
}
