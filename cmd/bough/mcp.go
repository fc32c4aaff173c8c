package main

import (
	"errors"
	"io"
	"strings"

	"github.com/bough-dev/bough/server/mcp"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) mcpVerb() verb {
	v := verb{
		name:  "mcp",
		args:  "[--read-only] [--tools LIST]",
		short: "serve the workspace to an assistant over MCP",
		long: `Serves the workspace over the Model Context Protocol, on standard input and output, until the input
ends. An assistant that is configured to run this command can list, read, search, checkpoint, branch
and compare conversations. docs/mcp.md describes the tools; 'bough mcp install' adds bough to the
settings of an assistant.

Name the workspace with -w, because an assistant runs the command in a folder of its own. The tools
never open a path or run a program that the model names. The tools undo, import, adopt,
restore_files, replay_messages and sync ask the user first, and edit_message does for an answer.

Tools:
` + wrapped(mcp.ToolNames(), "  ", 100),
		example: `bough mcp -w ~/conversations
bough mcp -w ~/conversations --read-only
bough mcp -w ~/conversations --tools search,show_conversation`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "read-only", DisableDefaultText: true, Usage: "serve only tools that change nothing"},
			&cli.StringFlag{Name: "tools", DefaultText: "all", Usage: "serve only the tools in `LIST`, separated by commas"},
		},
		subs:       p.mcpSetupVerbs(),
		standalone: p.serveMCP,
	}
	for i := range v.subs {
		v.subs[i].parent = v.name
	}
	return v
}

func (p *program) serveMCP(c *cli.Context) error {
	ctx, stop := untilInterrupt(c.Context)
	defer stop()
	w, err := p.openShared(ctx)
	if err != nil {
		return err
	}
	o := p.mcpOptions(w)
	o.ReadOnly = c.Bool("read-only")
	if o.Tools, err = toolList(c); err != nil {
		return err
	}
	s, err := mcp.New(w, o)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Serve(ctx, io.NopCloser(p.stdin), flushedWriter{p})
}

// mcpOptions returns the options of an MCP server of w on this machine.
func (p *program) mcpOptions(w *workspace.Workspace) *mcp.Options {
	here := machine()
	return &mcp.Options{Version: version, Machine: &here, Command: mcpCommand(w), Models: servedModel, Remotes: p.servedRemote, Log: p.noteShared()}
}

// toolList returns the tools in --tools, nil for all.
func toolList(c *cli.Context) (list []string, err error) {
	if !c.IsSet("tools") {
		return nil, nil
	}
	for _, name := range strings.Split(c.String("tools"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return nil, usageError("--tools is empty")
	}
	return list, nil
}

// A flushedWriter is standard output, flushed after each message.
type flushedWriter struct{ p *program }

func (f flushedWriter) Write(b []byte) (int, error) {
	n, err := f.p.stdout.Write(b)
	return n, errors.Join(err, f.p.stdout.Flush())
}

func (flushedWriter) Close() error { return nil }
