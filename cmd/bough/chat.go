package main

import (
	"context"
	"fmt"
	"os/signal"
	"slices"
	"syscall"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/urfave/cli/v2"
)

func (p *program) agentChatVerb() verb {
	return verb{
		name:  "chat",
		args:  "AGENT [PROMPT] [--fresh [--name N]] [--retry] [--stream] " + turnWords,
		short: "send a message to an agent and print the answer",
		long: `Adds PROMPT below the agent's head and runs a turn: the model answers and calls tools until an
answer contains no calls. Without PROMPT, or if it is '-', the prompt is read from standard input.
--fresh begins a new tree. The answer is printed as it arrives, tool calls on standard error. bough
asks on the terminal before it runs a tool that may change something; without a terminal only
tools that --allow names run.

A model is openai:NAME with its key in $OPENAI_API_KEY, anthropic:NAME with $ANTHROPIC_API_KEY, or
command:CMD. CMD reads {"agent","model_id","system","messages"} as JSON from standard input and
prints the answer.

'bough steer' and 'bough follow-up' send more messages from another terminal during the turn. An
interrupt stops the turn. If the turn is interrupted or the model fails, the part of the answer
that arrived is kept, and --retry asks the model to answer the same message again.`,
		example: `bough agent chat ada "Where shall we go?"
bough agent chat ada --fresh "Forget Lisbon. What about Porto?"
bough agent chat ada --retry --model command:./answer.sh`,
		flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "fresh", DisableDefaultText: true, Usage: "begin a new tree with PROMPT"},
			&cli.StringFlag{Name: "name", Usage: "the name `N` of the new tree"},
			&cli.BoolFlag{Name: "retry", DisableDefaultText: true, Usage: "repeat the last turn, which did not finish"},
			streamFlag(), exploreReplyFlag(),
		}, turnFlags()...),
		min: 1,
		max: 2,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			prompt := agents.Prompt{Fresh: c.Bool("fresh"), Tree: c.String("name")}
			retry := c.Bool("retry")
			switch {
			case retry && (c.NArg() > 1 || prompt.Fresh):
				e := usageError("--retry takes no PROMPT; it repeats the last turn")
				e.Hint = seeHelp("agent chat")
				return e
			case c.IsSet("name") && !prompt.Fresh:
				return usageError("--name requires --fresh")
			}
			t := p.newTeller(c, w)
			t.typed = !retry
			o, err := p.turnOptions(c, t)
			if err != nil {
				return err
			}
			if t.explore, err = exploreMode(c); err != nil {
				return err
			}
			if t.explore == exploreAsk && t.asker == nil {
				t.asker = p.newAsker()
			}
			t.model = o.Model
			if !retry {
				if prompt.Text, err = p.prompt(c, 1); err != nil {
					return err
				}
				if t.explore != exploreOff {
					if err := t.advise(c.Context, c.Args().First(), prompt.Text, &o); err != nil {
						return err
					}
				}
			}
			return t.chat(c.Context, func(ctx context.Context) (*agents.ChatResult, error) {
				if retry {
					return w.Agent(c.Args().First()).Retry(ctx, o)
				}
				return w.Agent(c.Args().First()).Chat(ctx, prompt, o)
			})
		},
	}
}

func (p *program) agentBranchVerb() verb {
	return verb{
		name:  "branch",
		args:  "AGENT (--from-node NODE | --fresh) --prompt P [--name N] [--strict] [--partial] [--stream] " + turnWords,
		short: "send a message below any message, in a new tree",
		long: `Copies the path to NODE, that message included, to a new tree, moves the head there, adds P and
runs a turn as 'bough agent chat' does. The original tree does not change. NODE is looked up as by
'bough agent rewind'; SESSION@MESSAGE names a message of any conversation. Prints how much was
copied.`,
		example: `bough agent branch ada --from-node 849dde0b --prompt "And by the sea?" --name "By the sea"`,
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "from-node", Usage: "branch at the message `NODE`"},
			&cli.BoolFlag{Name: "fresh", DisableDefaultText: true, Usage: "begin an empty tree; --from-node is ignored"},
			&cli.StringFlag{Name: "prompt", Usage: "the prompt `P`; '-' reads standard input"},
			&cli.StringFlag{Name: "name", Usage: "the name `N` of the new tree"},
			streamFlag(),
		}, cutFlags(), turnFlags()),
		min: 1,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			prompt := agents.Prompt{Fresh: c.Bool("fresh"), From: c.String("from-node"), Tree: c.String("name"), CutOptions: cutOptions(c)}
			switch {
			case c.String("prompt") == "":
				e := usageError("'bough agent branch' needs --prompt P")
				e.Hint = seeHelp("agent branch")
				return e
			case prompt.From == "" && !prompt.Fresh:
				e := usageError("'bough agent branch' needs --from-node NODE or --fresh")
				e.Hint = "--from-node NODE branches at a message; --fresh begins an empty tree"
				return e
			case prompt.From != "" && prompt.Fresh:
				p.note("--from-node is ignored with --fresh")
				prompt.From = ""
			}
			t := p.newTeller(c, w)
			t.typed = true
			o, err := p.turnOptions(c, t)
			if err != nil {
				return err
			}
			if prompt.Text, err = p.text(c.String("prompt")); err != nil {
				return err
			}
			return t.chat(c.Context, func(ctx context.Context) (*agents.ChatResult, error) {
				return w.Agent(c.Args().First()).Chat(ctx, prompt, o)
			})
		},
	}
}

func streamFlag() cli.Flag {
	return &cli.BoolFlag{Name: "stream", DisableDefaultText: true, Usage: "print events as they happen, one JSON document per line"}
}

func (p *program) newTeller(c *cli.Context, w *workspace.Workspace) *turnPrinter {
	t := &turnPrinter{p: p, ctx: context.WithoutCancel(c.Context), w: w, stream: c.Bool("stream"), named: c.String("name")}
	t.supply = supply{approve: p.newApprover(c, w, t.anyAsker)}
	p.json = p.json || t.stream // errors too
	return t
}

// anyAsker returns the asker, starting it if the turn has no tools. It is called while
// turns run.
func (t *turnPrinter) anyAsker() *asker {
	if t.asker == nil {
		t.asker = t.p.newAsker()
		t.asker.start()
	}
	return t.asker
}

// prompt returns the prompt: an argument or, without one, standard input.
func (p *program) prompt(c *cli.Context, arg int) (string, error) {
	if c.NArg() <= arg {
		return p.text("-")
	}
	return p.text(c.Args().Get(arg))
}

// chat calls talk, which runs turns, and prints the result.
func (t *turnPrinter) chat(ctx context.Context, talk func(context.Context) (*agents.ChatResult, error)) error {
	var said *agents.ChatResult
	var explored *explore.Exploration
	err := t.watch(ctx, func(ctx context.Context) (err error) {
		if said, err = talk(ctx); err != nil || t.explore == "" || t.explore == exploreOff {
			return err
		}
		t.endText()
		explored, err = t.exploreReply(ctx, said, t.model)
		return err
	})
	if err == nil && said.Held > 0 {
		t.p.note(fmt.Sprintf("%s held in the queue since an earlier turn; 'bough queue AGENT --resume' delivers them", count(said.Held, "message")))
	}
	if err != nil || t.stream || !t.p.json {
		return err
	}
	return t.p.printJSON(struct {
		*agents.ChatResult
		Copied   *api.Copied          `json:"copied,omitempty"`
		Explored *explore.Exploration `json:"exploration,omitempty"`
	}{said, t.copied, explored})
}

// watch prints events while do runs turns, until an interrupt. From now on only the asker
// reads standard input.
func (t *turnPrinter) watch(ctx context.Context, do func(context.Context) error) error {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	ctx, t.abort = context.WithCancel(ctx)
	defer t.abort()
	signal.Ignore(syscall.SIGPIPE) // a closed pipe ends the turn, not the program
	defer signal.Reset(syscall.SIGPIPE)
	defer t.supply.close()
	t.asker.start()
	err := do(ctx)
	t.endText()
	return err
}
