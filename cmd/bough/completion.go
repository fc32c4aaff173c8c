package main

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// complete prints what can stand next on the command line of a verb: flags
// after a dash, else titles and ids of sessions.
func (p *program) complete(v verb) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		if last := lastWord(c); strings.HasPrefix(last, "-") {
			for _, f := range v.flags {
				fmt.Fprintln(p.stdout, "--"+f.Names()[0])
			}
			return
		}
		if !strings.Contains(v.args, "SESSION") && !strings.Contains(v.args, "REF") && !strings.Contains(v.args, "CHECKPOINT") {
			return
		}
		dir, err := p.workspaceDir()
		if err != nil {
			return
		}
		w, err := workspace.Open(c.Context, dir, nil)
		if err != nil {
			return
		}
		entries, err := w.List(c.Context, "")
		if err != nil {
			return
		}
		short := shortIDs(entries)
		for _, e := range entries {
			fmt.Fprintln(p.stdout, short(e.ID))
		}
	}
}

func lastWord(c *cli.Context) string {
	if n := c.NArg(); n > 0 {
		return c.Args().Get(n - 1)
	}
	return ""
}

func (p *program) completionVerb() *cli.Command {
	shells := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion}
	return &cli.Command{
		Name:               "completion",
		Usage:              "print a script that completes bough's command line",
		UsageText:          "bough completion SHELL",
		Description:        "SHELL is bash, zsh, fish or powershell.\n\nExample:\n  source <(bough completion bash)\n  bough completion fish > ~/.config/fish/completions/bough.fish",
		CustomHelpTemplate: verbHelp,
		OnUsageError:       onUsageError,
		BashComplete: func(*cli.Context) {
			fmt.Fprint(p.stdout, "bash\nfish\npowershell\nzsh\n")
		},
		Action: func(c *cli.Context) error {
			script, ok := shells[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return usageError("'bough completion' takes one of bash, zsh, fish, powershell")
			}
			fmt.Fprint(p.stdout, script)
			return nil
		},
	}
}

const bashCompletion = `_bough() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[@]:0:$COMP_CWORD}" ${COMP_WORDS[COMP_CWORD]:+"${COMP_WORDS[COMP_CWORD]}"} --generate-bash-completion 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _bough bough
`

const zshCompletion = `#compdef bough
_bough() {
  local -a found
  found=("${(@f)$("${(@)words[1,CURRENT]}" --generate-bash-completion 2>/dev/null)}")
  compadd -- "${found[@]%%:*}"
}
compdef _bough bough
`

const fishCompletion = `function __bough_complete
  set -l words (commandline -opc) (commandline -ct)
  $words --generate-bash-completion 2>/dev/null
end
complete -c bough -f -a '(__bough_complete)'
`

const powershellCompletion = `Register-ArgumentCompleter -Native -CommandName bough -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = $commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() }
  & bough @words --generate-bash-completion 2>$null | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`
