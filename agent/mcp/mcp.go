package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/bough-dev/bough/agent/model"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options are the choices of a caller. The zero value is the default, and nil is the
// zero value.
type Options struct {
	// Env has the values of ${NAME}, each "NAME=VALUE". Nil means the environment of
	// this program.
	Env []string

	// Inherit is the environment that all programs get. Nil means Env.
	Inherit []string

	// Version is the version of bough that servers see.
	Version string

	// StartTime limits the start of a server, including the list of its tools. Zero
	// means 30 seconds.
	StartTime time.Duration

	// CallTime is how long a call may take. Zero means 60 seconds.
	CallTime time.Duration

	// Grace is the time for a program to end after its input is closed, and again
	// after it is asked to terminate, before it is killed. Zero means one second.
	Grace time.Duration

	// MaxResult is how many bytes the text of a result may have. Zero means 256 KiB.
	MaxResult int

	// MaxTools is how many tools a server may have. Zero means 1000.
	MaxTools int
}

func (o *Options) withDefaults() *Options {
	var with Options
	if o != nil {
		with = *o
	}
	set(&with.StartTime, 30*time.Second)
	set(&with.CallTime, 60*time.Second)
	set(&with.Grace, time.Second)
	set(&with.MaxResult, 256<<10)
	set(&with.MaxTools, 1000)
	if with.Env == nil {
		with.Env = os.Environ()
	}
	if with.Inherit == nil {
		with.Inherit = with.Env
	}
	return &with
}

func set[T int | time.Duration](to *T, otherwise T) {
	if *to == 0 {
		*to = otherwise
	}
}

// Tools are the tools of several servers.
type Tools struct {
	servers []*server
	options *Options

	mu   sync.Mutex
	list map[string]tool // of the last listing, by name
}

// A tool is one of a server.
type tool struct {
	server *server
	name   string // as the server knows it
}

var _ model.Tools = (*Tools)(nil)

// Open starts all servers of c concurrently and requests their tools. If some of them
// fail, the error describes each, and all are stopped. When ctx ends, Open gives up;
// started servers outlive ctx. [Tools.Close] stops them.
func Open(ctx context.Context, c *Config, opts *Options) (*Tools, error) {
	t := &Tools{options: opts.withDefaults()}
	problems := make([]error, len(c.Servers))
	for i, s := range c.Servers {
		s, secrets, err := s.expand(t.options.Env)
		problems[i] = err
		t.servers = append(t.servers, newServer(s, secrets, t.options))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	t.each(func(i int, s *server) {
		_, problems[i] = s.connected(ctx)
	})
	if err := errors.Join(problems...); err != nil {
		t.Close()
		return nil, err
	}
	if _, err := t.List(ctx); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// each calls f for all servers at once.
func (t *Tools) each(f func(i int, s *server)) {
	var working sync.WaitGroup
	for i, s := range t.servers {
		working.Go(func() { f(i, s) })
	}
	working.Wait()
}

// List returns the tools of all servers, in the order of the configuration. A server that
// has ended is restarted; if that fails, its last known tools are returned, and a call of
// one returns the error.
func (t *Tools) List(ctx context.Context) ([]model.Tool, error) {
	lists := make([][]*sdk.Tool, len(t.servers))
	t.each(func(i int, s *server) { lists[i] = s.list(ctx) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var origins []origin
	for i, list := range lists {
		for _, tool := range list {
			origins = append(origins, origin{t.servers[i].config.Name, tool.Name})
		}
	}
	var all []model.Tool
	known := map[string]tool{}
	given := names(origins)
	for i, list := range lists {
		for _, one := range list {
			name := given[len(all)]
			known[name] = tool{t.servers[i], one.Name}
			all = append(all, describe(name, one))
		}
	}
	t.mu.Lock()
	t.list = known
	t.mu.Unlock()
	return all, nil
}

// describe returns the description of a tool for a model. A tool without a read-only
// hint may write.
func describe(name string, t *sdk.Tool) model.Tool {
	schema, err := json.Marshal(t.InputSchema)
	if err != nil || t.InputSchema == nil {
		schema = []byte(`{"type":"object"}`)
	}
	description := t.Description
	if description == "" {
		description = t.Title
	}
	return model.Tool{
		Name:        name,
		Description: description,
		Schema:      schema,
		Writes:      t.Annotations == nil || !t.Annotations.ReadOnlyHint,
	}
}

// Call calls a tool by the name that [Tools.List] gives it. A call that was under way when
// its server ended is not repeated; the next one starts the server again.
func (t *Tools) Call(ctx context.Context, c model.Call) (model.Result, error) {
	t.mu.Lock()
	tool, ok := t.list[c.Name]
	t.mu.Unlock()
	if !ok {
		return model.Result{}, fmt.Errorf("there is no tool %q", c.Name)
	}
	args, err := arguments(c.Arguments)
	if err != nil {
		return model.Result{}, err
	}
	r, err := tool.server.call(ctx, tool.name, args)
	if err != nil {
		return model.Result{}, err
	}
	s := text(r)
	if n := len(s); n > t.options.MaxResult {
		return model.Result{}, fmt.Errorf("the result of %q has %d bytes; at most %d are allowed", c.Name, n, t.options.MaxResult)
	}
	return model.Result{Text: s, Failed: r.IsError}, nil
}

// Close ends all servers, with all that they started. Calls under way fail.
func (t *Tools) Close() error {
	t.each(func(_ int, s *server) { s.close() })
	return nil
}
