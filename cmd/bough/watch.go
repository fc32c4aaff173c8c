package main

import (
	"fmt"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/urfave/cli/v2"
)

func (p *program) watchVerb() verb {
	return verb{
		name:  "watch",
		args:  "[--from N] [--checkpoint]",
		short: "print changes to the workspace as they happen",
		long: `Prints a line for every change to the workspace, also by other programs, until it is interrupted;
with --json each line is a document. The number is that of the operation in 'bough log'. With
--checkpoint, watch makes an automatic checkpoint whenever a user's message arrives (if several
arrive in a session at once, of the last one) and prunes old checkpoints as 'bough prune' does.`,
		example: `bough watch --checkpoint`,
		flags: append([]cli.Flag{
			&cli.IntFlag{Name: "from", DefaultText: "now", Usage: "begin after operation `N`"},
			&cli.BoolFlag{Name: "checkpoint", DisableDefaultText: true, Usage: "make an automatic checkpoint of every user's message"},
		}, retentionFlags()...),
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			from := operation.Seq(-1)
			if c.IsSet("from") {
				from = operation.Seq(c.Int("from"))
			}
			fmt.Fprintf(p.stderr, "Watching %s; interrupt to end.\n", clean(w.Dir()))
			newest := map[session.ID]events.Event{} // users' messages that have no checkpoint yet
			for e, err := range w.Events(c.Context, from) {
				if err != nil {
					return err
				}
				if err := p.event(e); err != nil {
					return err
				}
				if c.Bool("checkpoint") && e.Type == events.MessageAdded && e.Role == "user" {
					newest[e.Session] = e
				}
				if e.Behind == 0 {
					p.autoCheckpoints(c, w, newest)
					clear(newest)
				}
			}
			return nil
		},
	}
}

// event prints an event and flushes it.
func (p *program) event(e events.Event) error {
	if p.json {
		if err := p.printJSON(e); err != nil {
			return err
		}
		return p.stdout.Flush()
	}
	where := line(string(e.Session))
	if e.Message != "" {
		where += "@" + line(string(e.Message))
	}
	text := fmt.Sprintf("%d  %s  %-18s  %s", e.Seq, clock(e.Time), e.Type, where)
	if e.Label != "" {
		text += "  " + line(e.Label)
	}
	if e.Role != "" {
		text += "  " + p.paint.role(clean(e.Role))
	}
	if e.Tool != "" {
		text += "  " + line(e.Tool)
	}
	if e.Mode != "" && e.Mode != turn.Normal {
		text += "  " + clean(string(e.Mode))
	}
	if e.State != "" {
		text += "  " + clean(string(e.State))
	}
	if e.External {
		text += "  " + p.paint.dim("by another program")
	}
	const slow = 100
	if e.Behind > slow {
		text += "  " + p.paint.dim(fmt.Sprintf("%d behind", e.Behind))
	}
	fmt.Fprintln(p.stdout, text)
	return p.stdout.Flush()
}

// autoCheckpoints makes an automatic checkpoint of each of the messages, which arrived at
// the same moment. It prints errors and continues.
func (p *program) autoCheckpoints(c *cli.Context, w *workspace.Workspace, newest map[session.ID]events.Event) {
	for _, e := range newest {
		ref := string(e.Session) + "@" + string(e.Message)
		_, err := w.Checkpoint(c.Context, ref, workspace.SnapshotOptions{Auto: true})
		if err != nil && c.Context.Err() == nil {
			p.note("no checkpoint of " + ref + ": " + err.Error())
		}
	}
}

// clock formats the time of day of an event.
func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }
