package main

import (
	"context"
	"fmt"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/urfave/cli/v2"
)

func (p *program) steerVerb() verb {
	return verb{
		name:  "steer",
		args:  "AGENT [TEXT] [--cut] " + turnWords,
		short: "say something to an agent at work, now",
		long: `The agent reads TEXT when the tool that runs has answered, and the calls that do not run yet are
skipped; or when the message that comes in has ended. A call that waits for a word of the user is
skipped. Without a TEXT, or with '-', it is read from standard input. Prints what is queued. The
flags but --cut are for an agent that has nothing to do: then TEXT is a prompt as for 'bough
agent chat'.`,
		example: `bough steer ada "Not by plane!"`,
		flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "cut", DisableDefaultText: true, Usage: "stop the message that comes in"},
		}, turnFlags()...),
		min:    1,
		max:    2,
		action: p.sayAction(agent.Steer),
	}
}

func (p *program) followUpVerb() verb {
	return verb{
		name:  "follow-up",
		args:  "AGENT [TEXT] " + turnWords,
		short: "say something to an agent at work, when it has finished",
		long: `The agent reads TEXT after its turn, one such message at a time. Without a TEXT, or with '-', it is
read from standard input. Prints what is queued. The flags are for an agent that has nothing to do:
then TEXT is a prompt as for 'bough agent chat'.`,
		example: `bough follow-up ada "Now the same for June."`,
		flags:   turnFlags(),
		min:     1,
		max:     2,
		action:  p.sayAction(agent.FollowUp),
	}
}

// sayAction returns what says something to an agent at work.
func (p *program) sayAction(mode agent.DeliveryMode) func(*cli.Context, *workspace.Workspace) error {
	return func(c *cli.Context, w *workspace.Workspace) error {
		t := p.newTeller(c, w)
		t.typed = true
		o, err := p.turnOptions(c, t)
		if err != nil {
			return err
		}
		s := agents.Saying{Mode: mode, Cut: c.Bool("cut")}
		if s.Text, err = p.prompt(c, 1); err != nil {
			return err
		}
		return t.queue(c.Context, func(ctx context.Context) (*agents.Queue, *agents.Chatted, error) {
			return w.Agent(c.Args().First()).Say(ctx, s, o)
		})
	}
}

func (p *program) queueVerb() verb {
	return verb{
		name:  "queue",
		args:  "AGENT [--drop ID] [--resume] " + turnWords,
		short: "list what is said to an agent and not delivered yet",
		long: `Prints a line for each message that waits: its id, how it is delivered, and what it says. Those
that are held wait since a turn was not finished, or for the end of another program; --resume has
them delivered. ID is an id or a unique piece of one.`,
		example: `bough queue ada
bough queue ada --drop 849dde0b
bough queue ada --resume`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "drop", Usage: "take the message `ID` out"},
			&cli.BoolFlag{Name: "resume", DisableDefaultText: true, Usage: "deliver what is held"},
		}, turnFlags()...),
		min: 1,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			t := p.newTeller(c, w)
			name := c.Args().First()
			switch resume, drop := c.Bool("resume"), c.IsSet("drop"); {
			case resume && drop:
				return usageError("--drop and --resume are two things to do")
			case resume:
				o, err := p.turnOptions(c, t)
				if err != nil {
					return err
				}
				return t.queue(c.Context, func(ctx context.Context) (*agents.Queue, *agents.Chatted, error) {
					return w.Agent(name).ResumeQueue(ctx, o)
				})
			case drop && c.String("drop") == "":
				return usageError("--drop names no message")
			case drop:
				return t.queue(c.Context, func(ctx context.Context) (*agents.Queue, *agents.Chatted, error) {
					q, err := w.Agent(name).DropQueued(ctx, c.String("drop"))
					return q, nil, err
				})
			}
			q, err := w.Agent(name).Queue(c.Context)
			return t.queued(q, nil, err)
		},
	}
}

// queue has do change a queue, and perhaps carry out turns, and prints what came of it.
func (t *teller) queue(ctx context.Context, do func(context.Context) (*agents.Queue, *agents.Chatted, error)) error {
	var q *agents.Queue
	var said *agents.Chatted
	err := t.watch(ctx, func(ctx context.Context) (err error) {
		q, said, err = do(ctx)
		return err
	})
	return t.queued(q, said, err)
}

// queued prints what is queued.
func (t *teller) queued(q *agents.Queue, said *agents.Chatted, err error) error {
	if err != nil {
		return err
	}
	p := t.p
	if p.json {
		return p.printJSON(struct {
			*agents.Queue
			*agents.Chatted
		}{q, said})
	}
	held := false
	for _, e := range q.Queue {
		held = held || e.State == agent.Held
		about := pad(string(e.Mode), len(agent.FollowUp)) + "  " + pad(string(e.State), len(agent.Waiting))
		fmt.Fprintf(p.stdout, "%s  %s  %s\n", p.paint.yellow(clean(e.ID)), about, p.paint.fit(line(e.Content), p.paint.width-60))
	}
	switch {
	case held:
		fmt.Fprintln(p.stderr, "What is held waits for 'bough queue AGENT --resume'.")
	case len(q.Queue) == 0 && said == nil:
		fmt.Fprintln(p.stderr, "Nothing is queued.")
	}
	return nil
}
