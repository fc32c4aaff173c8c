package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeFlag is what the scripts of 'bough completion' put at the end of an
// unfinished command line, the word at the cursor, which may be empty, before it.
const completeFlag = "--generate-bash-completion"

// complete prints what can stand in place of the last of words, one a line:
// verbs, flags after a dash, else short ids of sessions.
func (p *program) complete(ctx context.Context, app *cli.App, words []string) {
	_, words = splitGlobal(words, p.globalFlags())
	if len(words) == 0 {
		return
	}
	last := words[len(words)-1]
	verb := app.Command(words[0])
	var found []string
	switch {
	case len(words) == 1 && strings.HasPrefix(last, "-"):
		found = flagNames(app.Flags)
	case len(words) == 1 || verb != nil && verb.Name == "help":
		for _, c := range app.Commands {
			found = append(found, c.Names()...)
		}
	case verb == nil:
	case strings.HasPrefix(last, "-"):
		found = append(flagNames(verb.Flags), flagNames(p.globalFlags())...)
	case verb.Name == "completion":
		found = shells
	case takesSession(verb):
		found = p.sessionIDs(ctx)
	}
	for _, f := range found {
		if strings.HasPrefix(f, last) {
			fmt.Fprintln(p.stdout, f)
		}
	}
}

func flagNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		for _, name := range f.Names() {
			names = append(names, strings.Repeat("-", min(len(name), 2))+name)
		}
	}
	return names
}

// takesSession reports whether a session can stand among the verb's arguments.
func takesSession(c *cli.Command) bool {
	return slices.ContainsFunc([]string{"SESSION", "REF", "CHECKPOINT"}, func(word string) bool {
		return strings.Contains(c.UsageText, word)
	})
}

// sessionIDs returns the short ids of all sessions, none if they cannot be read.
func (p *program) sessionIDs(ctx context.Context) []string {
	w, err := p.open(ctx)
	if err != nil {
		return nil
	}
	listing, err := w.List(ctx, "")
	if err != nil {
		return nil
	}
	entries := listing.Sessions
	short := shortIDs(entries)
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = short(e.ID)
	}
	return ids
}

var shells = []string{"bash", "fish", "zsh"}

func (p *program) completionVerb() *cli.Command {
	scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	return &cli.Command{
		Name:               "completion",
		Usage:              "print a script that completes bough's command line",
		UsageText:          "bough completion SHELL",
		Description:        "SHELL is bash, zsh or fish.\n\nExample:\n  source <(bough completion bash)\n  bough completion fish > ~/.config/fish/completions/bough.fish",
		CustomHelpTemplate: verbHelp,
		OnUsageError:       onUsageError,
		Action: func(c *cli.Context) error {
			script, ok := scripts[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return usageError("'bough completion' takes one of bash, fish, zsh")
			}
			return p.printText("script", script)
		},
	}
}

const bashCompletion = `_bough() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[@]:0:COMP_CWORD+1}" ` + completeFlag + ` 2>/dev/null))
}
complete -o default -F _bough bough
`

const zshCompletion = `#compdef bough
_bough() {
  local -a found
  found=("${(@f)$("${(@)words[1,CURRENT]}" ` + completeFlag + ` 2>/dev/null)}")
  [[ -n $found ]] && compadd -- $found || _files
}
compdef _bough bough
`

const fishCompletion = `function __bough_complete
  set -l words (commandline -opc)
  $words (commandline -ct) ` + completeFlag + ` 2>/dev/null
end
complete -c bough -a '(__bough_complete)'
`
