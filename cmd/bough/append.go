package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func (p *program) appendVerb() verb {
	return verb{
		name:  "append",
		args:  "[SESSION] [TEXT] [--role ROLE] [--parent MESSAGE] [--kind KIND] [--files DIR]",
		short: "add a message",
		long: `Adds a message to SESSION or, without SESSION, to the conversation at the head. A single argument
is the TEXT; on a terminal, a single word that names a session is the SESSION. Without TEXT, or if
TEXT is '-', the text is read from standard input.

The parent of the message is the one that --parent names; else the head, if it is in this
conversation and no message was added since it was set; else the newest message. Appending to a
checkpoint creates a branch of it first. --files takes a state of a folder first, which belongs to
the message (see 'bough files'). Prints SESSION@MESSAGE.`,
		example: `bough append "Plan the trip" "How about Lisbon?" --role assistant
git diff | bough append`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "role", Value: "user", Usage: "the `ROLE` of the author: user, assistant, system or tool"},
			&cli.StringFlag{Name: "parent", Usage: "the parent `MESSAGE`"},
			&cli.StringFlag{Name: "kind", Usage: "the `KIND` of message: clarification_opened or clarification_closed begins or ends a group of questions"},
			&cli.StringFlag{Name: "files", Usage: "take a state of the folder `DIR` for the message"},
		},
		max: 2,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			a := workspace.Append{Role: c.String("role"), Parent: c.String("parent"), Kind: turn.Kind(c.String("kind")), Files: c.String("files")}
			if c.IsSet("files") && a.Files == "" {
				return usageError("--files takes a folder")
			}
			if c.IsSet("parent") && a.Parent == "" {
				return usageError("--parent is empty")
			}
			text := "-"
			switch c.NArg() {
			case 1:
				text = c.Args().Get(0)
				if p.canAsk() && namesSession(c.Context, w, text) {
					a.Session, text = text, "-"
				}
			case 2:
				a.Session, text = c.Args().Get(0), c.Args().Get(1)
				if a.Session == "" {
					return usageError("SESSION is empty")
				}
			}

			var err error
			if a.Text, err = p.text(text); err != nil {
				return err
			}
			ctx, stop := untilInterrupt(c.Context) // not while standard input is read
			defer stop()
			added, err := w.Append(ctx, a)
			if e := workspace.Explain(err); e != nil {
				if e.Code == fault.NotFound && c.NArg() == 2 && strings.HasPrefix(e.Message, "no session ") {
					e.Hint = "two arguments are SESSION and TEXT: quote a text of several words"
				}
				return e
			}
			if p.json {
				return p.printJSON(added)
			}
			p.forked(string(added.ForkedFrom), added.Session, false)
			p.mixed(added.Mixed, added.Session, added.Message)
			fmt.Fprintln(p.stdout, place(string(added.Session), string(added.Message)))
			return nil
		},
	}
}

// hasTerminal reports whether standard input and standard error are terminals.
func (p *program) hasTerminal() bool {
	f, ok := p.stdin.(*os.File)
	return ok && p.screen != nil && term.IsTerminal(int(f.Fd()))
}

// canAsk reports whether the user can be asked for a text.
func (p *program) canAsk() bool { return p.literal == 0 && p.hasTerminal() }

// namesSession reports whether a word names a session and is not itself the text.
func namesSession(ctx context.Context, w *workspace.Workspace, word string) bool {
	if strings.ContainsFunc(word, unicode.IsSpace) || word == "-" {
		return false
	}
	_, err := w.Line(word).Entry(ctx)
	return err == nil
}

// text returns arg or, if arg is "-", standard input without a final line end.
func (p *program) text(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	if f, ok := p.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(p.stderr, "Type the message; end it with Ctrl-D on an empty line.")
	}
	data, err := io.ReadAll(p.stdin)
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), err
}
