package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/mcp"
	"github.com/bough-dev/bough/agent/model/anthropic"
	"github.com/bough-dev/bough/agent/model/openai"
	"github.com/bough-dev/bough/agent/model/pipe"
	"golang.org/x/term"
)

// version is that of bough.
const version = "0.1.0"

const help = `bough-models has the models and tools for bough whose libraries are large. Bough starts it
when it needs them, and talks to it over its standard input and output. It is not for people
to call: 'bough help agent chat' says how models are used.

Models:  openai:NAME     $OPENAI_API_KEY, $OPENAI_BASE_URL
         anthropic:NAME  $ANTHROPIC_API_KEY, $ANTHROPIC_BASE_URL
Tools:   MCP servers
`

// run carries out a command line, without the name of the program, and returns the exit
// code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var err error
	switch {
	case slices.Equal(args, []string{"--version"}):
		_, err = fmt.Fprintf(stdout, "bough-models version %s\n", version)
	case slices.Equal(args, []string{"--help"}), slices.Equal(args, []string{"-h"}):
		_, err = io.WriteString(stdout, help)
	case len(args) > 0 || isTerminal(stdin):
		io.WriteString(stderr, help)
		return 2
	default:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = pipe.Serve(ctx, stdin, stdout, wiring(os.Environ()))
	}
	if err != nil {
		fmt.Fprintf(stderr, "bough-models: %s\n", err)
		return 1
	}
	return 0
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A provider makes models.
type provider struct {
	name          string // before the colon
	keyVar, urlOf string // environment variables
	model         func(name, baseURL, key string) (agent.Model, error)
}

func providers() []provider {
	return []provider{
		{"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", func(name, baseURL, key string) (agent.Model, error) {
			return openai.New(openai.Options{Name: name, BaseURL: baseURL, Key: key})
		}},
		{"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", func(name, baseURL, key string) (agent.Model, error) {
			return anthropic.New(anthropic.Options{Name: name, BaseURL: baseURL, Key: key})
		}},
	}
}

// wiring returns what the program serves in an environment.
func wiring(env []string) *pipe.Wiring {
	return &pipe.Wiring{
		Version: version,
		Model:   func(name string) (agent.Model, error) { return model(name, env) },
		Open: func(ctx context.Context, config []byte) (pipe.Tools, error) {
			c, err := mcp.Parse(config)
			if err != nil {
				return nil, err
			}
			t, err := mcp.Open(ctx, c, &mcp.Options{Env: env, Inherit: withoutKeys(env), Version: version})
			if err != nil {
				return nil, err // and no *mcp.Tools that is nil
			}
			return t, nil
		},
	}
}

// model returns the model PROVIDER:NAME.
func model(name string, env []string) (agent.Model, error) {
	from, of, ok := strings.Cut(name, ":")
	var known []string
	for _, p := range providers() {
		known = append(known, p.name+":NAME")
		switch {
		case p.name != from || !ok:
		case of == "":
			return nil, fmt.Errorf("the model %q has no name after the colon", name)
		default:
			return p.model(of, value(env, p.urlOf), value(env, p.keyVar))
		}
	}
	return nil, fmt.Errorf("there is no model %q; there are %s", name, strings.Join(known, " and "))
}

// value returns the value of an environment variable.
func value(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// withoutKeys returns an environment without the keys of providers, which tools get only
// if their configuration gives it to them.
func withoutKeys(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return slices.ContainsFunc(providers(), func(p provider) bool { return strings.HasPrefix(e, p.keyVar+"=") })
	})
}
