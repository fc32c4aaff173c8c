package main

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/usage"
	"github.com/urfave/cli/v2"
)

func (p *program) duVerb() verb {
	return verb{
		name:  "du",
		args:  "[--limit N]",
		short: "show the disk usage of the workspace",
		long: `Prints the size of the files of the workspace by kind, and the largest conversations: for each, the
size of the text of its messages, and of the records kept from an imported transcript.
'bough prune', 'bough rm' and 'bough trash --purge' free space.`,
		example: `bough du --limit 3`,
		flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Value: 10, Usage: "list the `N` largest conversations, 0 for all"},
		},
		action: func(c *cli.Context, w *workspace.Workspace) error {
			limit := c.Int("limit")
			if limit < 0 {
				return usageError("--limit takes 0 or more; got %d", limit)
			}
			report, err := w.Usage(c.Context, limit)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(report)
			}
			p.printUsage(report)
			return nil
		},
	}
}

func (p *program) printUsage(u *usage.Report) {
	const width = len("999 kB")
	for _, k := range u.Kinds {
		if k.Files > 0 {
			files := count(k.Files, "file")
			if k.Kind == usage.States && u.StatesLimit > 0 {
				files += ", at most " + size(u.StatesLimit)
			}
			fmt.Fprintf(p.stdout, "%*s  %s (%s)\n", width, size(k.Bytes), strings.ReplaceAll(string(k.Kind), "_", " "), files)
		}
	}
	fmt.Fprintf(p.stdout, "%*s  %s\n", width, size(u.Bytes), p.paint.bold("total"))
	if len(u.Conversations) == 0 {
		return
	}
	const columns = "%*s  %*s  %*s  %s  "
	fmt.Fprintln(p.stdout)
	fmt.Fprintln(p.stdout, p.paint.dim(fmt.Sprintf(columns, width, "SIZE", width, "TEXT", len("RECORDS"), "RECORDS", pad("SESSION", 8))+"TITLE"))
	for _, c := range u.Conversations {
		text, records := size(c.Text), size(c.Records)
		if c.Damaged {
			text, records = "?", "?"
		}
		row := fmt.Sprintf(columns, width, size(c.Bytes), width, text, len("RECORDS"), records, pad(tail(c.Session), 8))
		fmt.Fprintln(p.stdout, row+p.paint.bold(p.paint.fit(line(c.Title), p.paint.width-len(row))))
	}
	if u.More > 0 {
		fmt.Fprintf(p.stderr, "%s not listed; --limit 0 lists all.\n", count(u.More, "smaller conversation"))
	}
}
