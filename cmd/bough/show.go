package main

import (
	"fmt"
	"time"

	"github.com/bough-dev/bough/cmd/bough/internal/block"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func partialFlag() cli.Flag {
	return &cli.BoolFlag{
		Name:               "partial",
		DisableDefaultText: true,
		Usage:              "use the remaining messages if files of the conversation are missing or damaged",
	}
}

func readOptions(c *cli.Context) session.ReadOptions {
	return session.ReadOptions{Partial: c.Bool("partial")}
}

func (p *program) showVerb() verb {
	return verb{
		name:  "show",
		args:  "[REF] [--last N] [--since TIME] [--no-tools] [--no-thinking] [--oneline] [--full] [--partial]",
		short: "print a conversation, or the path to one message",
		long: `Prints the messages from the first to REF, over all files of the conversation, each with its REF.
'→' marks a tool call with its arguments, '←' the first lines of its result; --full prints both in
full. '⤷' marks the conversation of a sub-agent that the call above it began. With --json it prints a session file on one line, with every number, escape and unknown member
unchanged; --last and --since apply to it too.`,
		example: `bough show "Plan the trip" --last 5
bough show "Plan the trip" --oneline --no-tools
bough show "Plan the trip@msg_2b0c3457" --json > until-there.json`,
		flags: []cli.Flag{
			&cli.IntFlag{Name: "last", DefaultText: "all", Usage: "only the last `N` messages"},
			&cli.StringFlag{Name: "since", Usage: "only messages of this `TIME` or later"},
			&cli.BoolFlag{Name: "no-tools", DisableDefaultText: true, Usage: "hide tool calls and their results"},
			&cli.BoolFlag{Name: "no-thinking", DisableDefaultText: true, Usage: "hide the model's thinking"},
			&cli.BoolFlag{Name: "oneline", DisableDefaultText: true, Usage: "print each message on one line"},
			&cli.BoolFlag{Name: "full", DisableDefaultText: true, Usage: "print arguments and results in full"},
			partialFlag(),
		},
		choices: []choice{chooseSession},
		max:     1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o, err := p.showOptions(c, time.Now())
			if err != nil {
				return err
			}
			conv, err := orFetched(c.Context, p, w, refOrHead(c), func() (*workspace.Conversation, error) {
				return w.Show(c.Context, refOrHead(c), readOptions(c))
			})
			if err != nil {
				return err
			}
			total := len(conv.Messages)
			if !o.since.IsZero() {
				conv.CutBefore(conv.Since(o.since))
			}
			if p.json {
				if o.last > 0 {
					conv.CutBefore(len(conv.Messages) - o.last)
				}
				return p.printJSON(conv)
			}
			p.conversation(conv, total, o)
			return nil
		},
	}
}

// showOptions select the messages to print, and the form.
type showOptions struct {
	last     int       // messages, 0 for all
	since    time.Time // zero for the beginning
	oneline  bool
	tools    bool
	thinking bool
	full     bool
}

func (p *program) showOptions(c *cli.Context, now time.Time) (o showOptions, err error) {
	usage := func(format string, args ...any) error {
		e := usageError(format, args...)
		e.Hint = seeHelp("show")
		return e
	}
	if c.IsSet("last") && c.Int("last") < 1 {
		return o, usage("--last takes a positive number")
	}
	for _, name := range []string{"no-tools", "no-thinking", "oneline", "full"} {
		if p.json && c.Bool(name) {
			return o, usage("--json excludes --%s", name)
		}
	}
	if c.Bool("oneline") && c.Bool("full") {
		return o, usage("--oneline and --full exclude each other")
	}
	o = showOptions{
		last:     c.Int("last"),
		oneline:  c.Bool("oneline"),
		tools:    !c.Bool("no-tools"),
		thinking: !c.Bool("no-thinking"),
		full:     c.Bool("full"),
	}
	o.since, err = timeFlag(c, "since", now)
	return o, err
}

// conversation prints messages; total is their number before --since.
func (p *program) conversation(c *workspace.Conversation, total int, o showOptions) {
	rows := showRows(c, o)
	if o.last > 0 {
		rows = rows[max(0, len(rows)-o.last):]
	}
	if o.oneline {
		p.onelines(rows)
		return
	}
	fmt.Fprintln(p.stdout, p.paint.bold(p.paint.fit(line(c.Entry.Title), p.paint.width)))
	about := fmt.Sprintf("%s · %s · %s", line(c.Entry.ID), c.Entry.Kind, count(total, "message"))
	if len(rows) < total {
		about += fmt.Sprintf(" · %d shown", len(rows))
	}
	if c.Entry.Kind == session.Checkpoint {
		about += " · read-only"
	}
	fmt.Fprintln(p.stdout, p.paint.dim(about))
	for _, row := range rows {
		fmt.Fprintln(p.stdout)
		fmt.Fprintln(p.stdout, p.messageHead(row))
		for _, b := range row.blocks {
			p.block(b, row.person, o)
			if b.Kind == block.Call && b.Call != "" {
				p.subAgents(row, b.Call)
			}
		}
		p.subAgents(row, "")
	}
}

// messageHead returns the line above a message.
func (p *program) messageHead(row showRow) string {
	role := p.paint.role(row.role)
	if row.person {
		role = p.paint.bold(role)
	}
	head := role + "  " + p.paint.yellow(row.ref)
	if !row.time.IsZero() {
		head += "  " + p.paint.dim(p.time(row.time))
	}
	if row.mode != "" {
		head += "  " + p.paint.dim(row.mode)
	}
	if row.merged != "" {
		head += "  " + p.paint.dim(row.merged)
	}
	if row.joined {
		head += "  " + p.paint.dim("(joined: parent missing)")
	}
	return head
}

// time formats a time: on a terminal as an age; otherwise as in --json, so that the same
// command prints the same.
func (p *program) time(t time.Time) string {
	if p.paint.width == 0 {
		return session.Bough.Time(t)
	}
	return ago(time.Since(t))
}
