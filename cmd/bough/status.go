package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) statusVerb() verb {
	return verb{
		name:    "status",
		aliases: []string{"head"},
		short:   "show the head and the messages since the last checkpoint",
		long: `Prints the workspace, the conversation and message at the head, the number of messages since the
last checkpoint on the path to the head, and the agents with a running turn.`,
		example: `bough status
bough status --json`,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			s, err := w.Status(c.Context)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(s)
			}
			p.status(s)
			return nil
		},
	}
}

func (p *program) status(s *workspace.Status) {
	row := func(name, value, about string) {
		if about != "" {
			about = "  " + about
		}
		rest := p.paint.fit(value+about, p.paint.width-14)
		fmt.Fprintln(p.stdout, p.paint.dim(pad(name, 14))+rest)
	}
	row("workspace", line(s.Workspace), "")
	switch {
	case s.Head == nil:
		row("head", "none", "")
		fmt.Fprintln(p.stderr, "'bough rewind REF' moves the head to any message.")
	default:
		about := tail(s.Session.ID) + " · " + string(s.Session.Kind)
		if s.ReadOnly {
			about += " · read-only: the next message creates a branch"
		}
		row("conversation", line(s.Session.Title), line(about))
		if s.Message == nil {
			row("message", "none yet", "")
		} else {
			row("message", line(shortMessage(s.Message.ID)), line(s.Message.Role+": "+s.Message.Text))
		}
		p.sinceCheckpoint(s, row)
	}
	for _, a := range s.Agents {
		row("agent", line(a.Name), fmt.Sprintf("%s in %s", line(string(a.State)), line(tail(a.Session))))
	}
}

func (p *program) sinceCheckpoint(s *workspace.Status, row func(name, value, about string)) {
	switch {
	case s.Checkpoint == nil:
		row("checkpoint", "none", count(s.New, "message")+" without one")
	case s.New == 0:
		row("checkpoint", line(s.Checkpoint.Title), line(tail(s.Checkpoint.ID))+" · no messages since")
	default:
		row("checkpoint", line(s.Checkpoint.Title), line(tail(s.Checkpoint.ID))+" · "+count(s.New, "message")+" since")
	}
}
