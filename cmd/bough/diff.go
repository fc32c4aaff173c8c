package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) diffVerb() *cli.Command {
	return p.command(verb{
		name:  "diff",
		args:  "REF REF",
		short: "show where two paths part",
		long: `Prints the last message that both paths have, and the messages that only the first (-) or
only the second (+) has.`,
		example: `bough diff "Plan the trip" "By train instead"`,
		min:     2,
		max:     2,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			a, b := c.Args().Get(0), c.Args().Get(1)
			d, err := w.Diff(c.Context, a, b)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(d)
			}
			return p.diff(c, w, d, a, b)
		},
	})
}

func (p *program) diff(c *cli.Context, w *workspace.Workspace, d *workspace.Diff, a, b string) error {
	switch {
	case len(d.A)+len(d.B) == 0:
		fmt.Fprintln(p.stderr, "The two paths are the same.")
		return nil
	case d.Common == "":
		fmt.Fprintln(p.stdout, "they share no message")
	default:
		fmt.Fprintf(p.stdout, "they part after %s\n", p.paint.yellow(clean(string(d.Common))))
	}
	for _, side := range []struct {
		sign, ref string
		ids       []string
	}{{"-", a, d.A}, {"+", b, d.B}} {
		conv, err := w.Show(c.Context, side.ref, false)
		if err != nil {
			return err
		}
		for _, m := range conv.Messages[len(conv.Messages)-len(side.ids):] {
			text := fmt.Sprintf("%s %s  %s  ", side.sign, clean(m.ID), clean(m.Role))
			fmt.Fprintln(p.stdout, text+p.paint.fit(line(m.Text), p.paint.width-len(text)))
		}
	}
	return nil
}
