package main

import (
	"fmt"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) diffVerb() verb {
	return verb{
		name:  "diff",
		args:  "REF REF [--partial]",
		short: "compare two paths",
		long: `Prints the last message that both paths contain, and the first words of the messages that only
the first (-) or only the second path (+) contains. 'bough show' prints whole messages.`,
		example: `bough diff "Plan the trip" "By train instead"`,
		flags:   []cli.Flag{partialFlag()},
		min:     2,
		choices: []choice{chooseSession, chooseSession},
		max:     2,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			d, err := w.Diff(c.Context, c.Args().Get(0), c.Args().Get(1), readOptions(c))
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(d)
			}
			p.diff(d, c.Args().Slice())
			return nil
		},
	}
}

func (p *program) diff(d *workspace.Diff, refs []string) {
	switch {
	case len(d.A)+len(d.B) == 0:
		fmt.Fprintln(p.stderr, "The two paths are the same.")
		return
	case d.Common == "":
		fmt.Fprintln(p.stdout, "no message in common")
	default:
		fmt.Fprintf(p.stdout, "common up to %s\n", p.paint.yellow(clean(string(d.Common))))
	}
	side := func(sign string, messages []session.Message) {
		for _, m := range messages {
			text := fmt.Sprintf("%s %s  %s  ", sign, clean(m.ID), clean(m.Role()))
			fmt.Fprintln(p.stdout, text+p.paint.fit(firstWords(m), p.paint.width-len(text)))
		}
	}
	fmt.Fprintf(p.stdout, "- %s: %s\n", clean(refs[0]), count(len(d.MessagesA), "message"))
	fmt.Fprintf(p.stdout, "+ %s: %s\n", clean(refs[1]), count(len(d.MessagesB), "message"))
	side("-", d.MessagesA)
	side("+", d.MessagesB)
}
