package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) helpVerb() *cli.Command {
	return &cli.Command{
		Name:               "help",
		Usage:              "how to use bough, or one verb",
		UsageText:          "bough help [VERB]",
		Description:        "Example:\n  bough help branch",
		CustomHelpTemplate: verbHelp,
		OnUsageError:       onUsageError,
		Action:             func(c *cli.Context) error { return p.help(c.App, c.Args().First()) },
	}
}

// help prints how to use a verb, or without one how to use bough.
func (p *program) help(app *cli.App, word string) error {
	var text strings.Builder
	if verb := app.Command(word); word == "" {
		cli.HelpPrinter(&text, appHelp, app)
	} else if verb != nil {
		cli.HelpPrinter(&text, verbHelp, verb)
	} else {
		return usageError("there is no verb %q", word)
	}
	return p.printText("help", text.String())
}

const appHelp = `bough checkpoints, branches and restores AI conversations kept as plain JSON files.

Usage: {{.UsageText}}

Verbs:{{range .VisibleCommands}}
  {{join .Names ", " | printf "%-24s"}}{{.Usage}}{{end}}

Flags, anywhere on the line:
  -w FOLDER                 the workspace; else $BOUGH_WORKSPACE, else the nearest
                            folder above that is one, else your data folder
  --json                    print one JSON document, errors too
  --wait TIME               how long to wait while another process writes (30s)
  --version                 print the version

A SESSION is an id, an exact title, or a unique piece of an id. A REF is a SESSION,
or SESSION@MESSAGE for the path to that message. '-' is standard input.

Begin:
  bough demo                see it all on a built-in conversation
  bough help VERB           what a verb does, with an example

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 refused, 5 damaged, 6 locked.
`

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}

const verbHelp = `{{.Usage}}

Usage: {{.UsageText}}

{{.Description}}
{{if .VisibleFlags}}
Flags:{{range .VisibleFlags}}
  {{.}}{{end}}
{{end}}`
