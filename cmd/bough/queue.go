package main

import (
	"context"
	"fmt"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/urfave/cli/v2"
)

func (p *program) steerVerb() verb {
	return verb{
		name:  "steer",
		args:  "AGENT [TEXT] [--cut] " + turnWords,
		short: "interrupt a running agent with a message",
		long: `The agent reads TEXT as soon as the running tool has returned, and skips the remaining calls, also
one that waits for the user's approval. If no tool runs, it reads TEXT after the message that is
being written. Without TEXT, or if it is '-', the text is read from standard input. Prints the
queue. If the agent is idle, TEXT is a prompt as for 'bough agent chat', with the same flags.`,
		example: `bough steer ada "Not by plane!"`,
		flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "cut", DisableDefaultText: true, Usage: "cut off the message that is being written"},
		}, turnFlags()...),
		min:    1,
		max:    2,
		action: p.sayAction(turn.Steer),
	}
}

func (p *program) followUpVerb() verb {
	return verb{
		name:  "follow-up",
		args:  "AGENT [TEXT] " + turnWords,
		short: "queue a message for an agent, to be read after its turn",
		long: `The agent reads TEXT after its turn, one such message per turn. Without TEXT, or if it is '-', the
text is read from standard input. Prints the queue. If the agent is idle, TEXT is a prompt as for
'bough agent chat', with the same flags.`,
		example: `bough follow-up ada "Now the same for June."`,
		flags:   turnFlags(),
		min:     1,
		max:     2,
		action:  p.sayAction(turn.FollowUp),
	}
}

// sayAction returns the action that sends a message to a running agent.
func (p *program) sayAction(mode turn.DeliveryMode) func(*cli.Context, *workspace.Workspace) error {
	return func(c *cli.Context, w *workspace.Workspace) error {
		t := p.newTeller(c, w)
		t.typed = true
		o, err := p.turnOptions(c, t)
		if err != nil {
			return err
		}
		s := agents.Message{Mode: mode, Cut: c.Bool("cut")}
		if s.Text, err = p.prompt(c, 1); err != nil {
			return err
		}
		return t.queue(c.Context, func(ctx context.Context) (*agents.Queue, *agents.ChatResult, error) {
			return w.Agent(c.Args().First()).Say(ctx, s, o)
		})
	}
}

func (p *program) queueVerb() verb {
	return verb{
		name:  "queue",
		args:  "AGENT [--drop ID] [--resume] " + turnWords,
		short: "list the queued messages of an agent",
		long: `Prints a line for each queued message: its id, its delivery mode, and its text. A message is held if
a turn did not finish, or while another program works on the queue; --resume delivers held messages.
ID is an id or an unambiguous prefix of one.`,
		example: `bough queue ada
bough queue ada --drop 849dde0b
bough queue ada --resume`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "drop", Usage: "remove the message `ID`"},
			&cli.BoolFlag{Name: "resume", DisableDefaultText: true, Usage: "deliver held messages"},
		}, turnFlags()...),
		min: 1,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			t := p.newTeller(c, w)
			name := c.Args().First()
			switch resume, drop := c.Bool("resume"), c.IsSet("drop"); {
			case resume && drop:
				return usageError("--drop and --resume exclude each other")
			case resume:
				o, err := p.turnOptions(c, t)
				if err != nil {
					return err
				}
				return t.queue(c.Context, func(ctx context.Context) (*agents.Queue, *agents.ChatResult, error) {
					return w.Agent(name).ResumeQueue(ctx, o)
				})
			case drop && c.String("drop") == "":
				return usageError("--drop is empty")
			case drop:
				return t.queue(c.Context, func(ctx context.Context) (*agents.Queue, *agents.ChatResult, error) {
					q, err := w.Agent(name).DropQueued(ctx, c.String("drop"))
					return q, nil, err
				})
			}
			q, err := w.Agent(name).Queue(c.Context)
			return t.queued(q, nil, err)
		},
	}
}

// queue calls do, which changes a queue and may run turns, and prints the result.
func (t *turnPrinter) queue(ctx context.Context, do func(context.Context) (*agents.Queue, *agents.ChatResult, error)) error {
	var q *agents.Queue
	var said *agents.ChatResult
	err := t.watch(ctx, func(ctx context.Context) (err error) {
		q, said, err = do(ctx)
		return err
	})
	return t.queued(q, said, err)
}

// queued prints a queue.
func (t *turnPrinter) queued(q *agents.Queue, said *agents.ChatResult, err error) error {
	if err != nil {
		return err
	}
	p := t.p
	if p.json {
		return p.printJSON(api.Queued{Queue: q, ChatResult: said})
	}
	held := false
	for _, e := range q.Queue {
		held = held || e.State == turn.Held
		about := pad(string(e.Mode), len(turn.FollowUp)) + "  " + pad(string(e.State), len(turn.Waiting))
		fmt.Fprintf(p.stdout, "%s  %s  %s\n", p.paint.yellow(clean(e.ID)), about, p.paint.fit(line(e.Content), p.paint.width-60))
	}
	switch {
	case held:
		fmt.Fprintln(p.stderr, "'bough queue AGENT --resume' delivers held messages.")
	case len(q.Queue) == 0 && said == nil:
		fmt.Fprintln(p.stderr, "The queue is empty.")
	}
	return nil
}
