package main

import (
	"context"
	"fmt"
	"os/signal"
	"slices"
	"syscall"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/urfave/cli/v2"
)

func (p *program) agentChatVerb() verb {
	return verb{
		name:  "chat",
		args:  "AGENT [PROMPT] [--fresh [--name N]] [--retry] [--stream] " + turnWords,
		short: "say something to an agent, and see the answer",
		long: `Writes PROMPT below the agent's head and has the model answer, and then call tools and go on
until it calls none. Without a PROMPT, or with '-', it is read from standard input. --fresh
begins a new tree. What the model says is printed as it comes, what it does on standard error.
Tools that may change something are asked about on the terminal; without one they are not run
unless --allow names them.

A model is openai:NAME with its key in $OPENAI_API_KEY, anthropic:NAME with $ANTHROPIC_API_KEY, or
command:CMD: CMD reads {"agent","model_id","system","messages"} as JSON from standard input, and
what it prints is the answer.

Meanwhile 'bough steer' and 'bough follow-up' say more, from another terminal. An interrupt stops
the turn: what came is kept, as it is when the model fails, and --retry asks again for an answer
to the same message.`,
		example: `bough agent chat ada "Where shall we go?"
bough agent chat ada --fresh "Forget Lisbon. What about Porto?"
bough agent chat ada --retry --model command:./answer.sh`,
		flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "fresh", DisableDefaultText: true, Usage: "begin a new tree with it"},
			&cli.StringFlag{Name: "name", Usage: "the name `N` of the new tree"},
			&cli.BoolFlag{Name: "retry", DisableDefaultText: true, Usage: "ask again for the answer that the last turn did not give"},
			streamFlag(), exploreReplyFlag(),
		}, turnFlags()...),
		min: 1,
		max: 2,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			prompt := agents.Prompt{Fresh: c.Bool("fresh"), Tree: c.String("name")}
			retry := c.Bool("retry")
			switch {
			case retry && (c.NArg() > 1 || prompt.Fresh):
				e := usageError("--retry has the agent answer what was said before; there is no prompt to it")
				e.Hint = seeHelp("agent chat")
				return e
			case c.IsSet("name") && !prompt.Fresh:
				return usageError("--name names a new tree: give --fresh too")
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
			}
			return t.chat(c.Context, func(ctx context.Context) (*agents.Chatted, error) {
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
		short: "say something below any message, in a new tree",
		long: `Makes a tree of the whole path to NODE, that message included, says P below it, and moves the
head there; the tree that it comes from stays. NODE is sought as 'bough agent rewind' does; as
SESSION@MESSAGE it may be in any conversation. How much was copied is told. Then all is as with
'bough agent chat'.`,
		example: `bough agent branch ada --from-node 849dde0b --prompt "And by the sea?" --name "By the sea"`,
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "from-node", Usage: "branch at the message `NODE`"},
			&cli.BoolFlag{Name: "fresh", DisableDefaultText: true, Usage: "begin with nothing, also where --from-node is given"},
			&cli.StringFlag{Name: "prompt", Usage: "say `P`; '-' is standard input"},
			&cli.StringFlag{Name: "name", Usage: "the name `N` of the new tree"},
			streamFlag(),
		}, cutFlags(), turnFlags()),
		min: 1,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			prompt := agents.Prompt{Fresh: c.Bool("fresh"), From: c.String("from-node"), Tree: c.String("name"), CutOptions: cutOptions(c)}
			switch {
			case c.String("prompt") == "":
				e := usageError("a branch begins with something that is said, and there is no prompt")
				e.Hint = "give it with --prompt"
				return e
			case prompt.From == "" && !prompt.Fresh:
				e := usageError("nothing says where the branch begins")
				e.Hint = "--from-node NODE names a message, --fresh begins with nothing"
				return e
			case prompt.From != "" && prompt.Fresh:
				p.note("--fresh begins with nothing; --from-node is not looked at")
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
			return t.chat(c.Context, func(ctx context.Context) (*agents.Chatted, error) {
				return w.Agent(c.Args().First()).Chat(ctx, prompt, o)
			})
		},
	}
}

func streamFlag() cli.Flag {
	return &cli.BoolFlag{Name: "stream", DisableDefaultText: true, Usage: "print what happens as it happens, one JSON document a line"}
}

func (p *program) newTeller(c *cli.Context, w *workspace.Workspace) *teller {
	t := &teller{p: p, ctx: context.WithoutCancel(c.Context), w: w, stream: c.Bool("stream"), named: c.String("name")}
	t.supply = supply{approve: p.newApprover(c, w, t.anyAsker)}
	p.json = p.json || t.stream // errors too
	return t
}

// anyAsker returns what asks the person, also where no tools are to be asked about. It is
// called while turns are carried out.
func (t *teller) anyAsker() *asker {
	if t.asker == nil {
		t.asker = t.p.newAsker()
		t.asker.start()
	}
	return t.asker
}

// prompt returns what is said: an argument, or without it what comes on standard input.
func (p *program) prompt(c *cli.Context, arg int) (string, error) {
	if c.NArg() <= arg {
		return p.text("-")
	}
	return p.text(c.Args().Get(arg))
}

// chat has talk carry out turns and prints what came of it.
func (t *teller) chat(ctx context.Context, talk func(context.Context) (*agents.Chatted, error)) error {
	var said *agents.Chatted
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
		t.p.note(fmt.Sprintf("%s queued and held since an earlier turn; 'bough queue AGENT --resume' delivers what is", count(said.Held, "message")))
	}
	if err != nil || t.stream || !t.p.json {
		return err
	}
	return t.p.printJSON(struct {
		*agents.Chatted
		Copied   *copied              `json:"copied,omitempty"`
		Explored *explore.Exploration `json:"exploration,omitempty"`
	}{said, t.copied, explored})
}

// watch shows what happens while do carries out turns, until an interrupt. Standard
// input is the asker's from now on.
func (t *teller) watch(ctx context.Context, do func(context.Context) error) error {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	ctx, t.abort = context.WithCancel(ctx)
	defer t.abort()
	signal.Ignore(syscall.SIGPIPE) // who reads is gone: that ends the turn, not the program
	defer signal.Reset(syscall.SIGPIPE)
	defer t.supply.close()
	t.asker.start()
	err := do(ctx)
	t.endText()
	return err
}
