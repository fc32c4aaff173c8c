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

// Options configure the connections to servers. The zero value is the default,
// and a nil pointer is the zero value.
type Options struct {
	// Env is the environment for expanding ${NAME}, as "NAME=VALUE". If nil, the
	// environment of this program is used.
	Env []string

	// Inherit is the environment of the servers that are programs. If nil, Env is
	// used.
	Inherit []string

	// Version is the version of bough that servers get.
	Version string

	// StartTime is the time limit for starting a server and listing its tools. Zero
	// means 30 seconds.
	StartTime time.Duration

	// CallTime is the time limit of a call. Zero means 60 seconds.
	CallTime time.Duration

	// Grace is how long to wait for a program to exit after its input is closed, and
	// again after it was asked to terminate, before it is killed. Zero means one
	// second.
	Grace time.Duration

	// MaxResult is the maximum size of a result's text in bytes. Zero means 256 KiB.
	MaxResult int

	// MaxTools is the maximum number of tools of a server. Zero means 1000.
	MaxTools int

	maxMessage int // if not 0, used instead of the constant
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
	set(&with.maxMessage, maxMessage)
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

// A tool is a tool of a server.
type tool struct {
	server *server
	name   string // the server's name for it
}

var _ model.Tools = (*Tools)(nil)

// Open starts all servers of c concurrently and lists their tools. If some of
// them fail, all are stopped, and the error describes each failure. If ctx
// ends, Open returns its error; ctx does not affect the servers after that.
// [Tools.Close] stops them.
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

// each calls f for all servers concurrently.
func (t *Tools) each(f func(i int, s *server)) {
	var working sync.WaitGroup
	for i, s := range t.servers {
		working.Go(func() { f(i, s) })
	}
	working.Wait()
}

// List returns the tools of all servers, in the order of the configuration. A
// server that has exited is restarted. If that fails, List returns its last
// known tools, and calling one returns the error.
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

// Call calls a tool by its name in [Tools.List]. A call that was in progress
// when its server exited is not repeated; the next call restarts the server.
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

// Close stops all servers and their child processes. Calls in progress fail.
func (t *Tools) Close() error {
	t.each(func(_ int, s *server) { s.close() })
	return nil
}
