package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// completeFlag is what the scripts of 'bough completion' put at the end of an
// unfinished command line, the word at the cursor, which may be empty, before it.
const completeFlag = "--generate-bash-completion"

// complete prints what can stand in place of the last of words, one a line:
// verbs, flags after a dash, what a flag takes, else short ids of sessions, labels of
// bookmarks, or names of agents.
func (p *program) complete(ctx context.Context, words []string) {
	global, words, _ := splitGlobal(words)
	p.dir = global.dir
	if len(words) == 0 {
		return
	}
	last := words[len(words)-1]
	v, known := p.verb(words[0])
	if v.name == "help" && len(words) > 2 {
		if v, known = p.verb(words[1]); len(v.subs) == 0 || len(words) > 3 {
			return
		}
		words = words[1:]
	}
	var found []string
	switch {
	case len(words) == 1 && strings.HasPrefix(last, "-"):
		found = globalFlags()
	case len(words) == 1 || v.name == "help":
		found = allNames(p.verbs())
	case !known:
	case len(v.subs) > 0 && len(words) == 2 && (v.action == nil || !strings.HasPrefix(last, "-")):
		found = allNames(v.subs)
		if v.action != nil {
			found = append(found, p.references(ctx, v)...)
		}
	case len(v.subs) > 0 && (v.action == nil || slices.Contains(allNames(v.subs), words[1])):
		found = p.completeSub(ctx, v, words[1:])
	case strings.HasPrefix(last, "-"):
		found = append(flagNames(v.flags), globalFlags()...)
	case strings.HasPrefix(v.args, "AGENT"):
		found = p.completeAgent(ctx, v, words[1:])
	case v.name == "completion":
		found = []string{"bash", "fish", "zsh"}
	case len(flagValues(v, words[len(words)-2])) > 0:
		found = flagValues(v, words[len(words)-2])
	case v.name == "search" && words[len(words)-2] != "--in": // words, which nobody knows
	case takesSession(v):
		found = p.references(ctx, v)
	}
	for _, f := range found {
		if strings.HasPrefix(f, last) {
			fmt.Fprintln(p.stdout, f)
		}
	}
}

// flagValues returns what can stand after a flag of a verb, nil if nobody knows.
func flagValues(v verb, flag string) []string {
	switch v.name + " " + flag {
	case "import --from", "import --format", "export --to", "resume --in":
		return formatNames(flag[len("--"):])
	case "search --role":
		return []string{"user", "assistant", "system", "tool"}
	}
	return nil
}

// references returns what can stand for a session in the arguments of a verb.
func (p *program) references(ctx context.Context, v verb) []string {
	found := p.sessionIDs(ctx)
	if strings.Contains(v.args, "REF") {
		found = append(found, p.bookmarkLabels(ctx)...)
	}
	return found
}

func allNames(verbs []verb) (names []string) {
	for _, v := range verbs {
		names = append(names, v.names()...)
	}
	return names
}

// completeSub returns what can stand after one of the verbs of a verb.
func (p *program) completeSub(ctx context.Context, parent verb, words []string) []string {
	v, _ := find(parent.subs, words[0])
	if strings.HasPrefix(words[len(words)-1], "-") {
		return append(flagNames(v.flags), globalFlags()...)
	}
	if strings.HasPrefix(v.args, "ID") {
		return p.completeExploration(ctx, v, words[1:])
	}
	return p.completeAgent(ctx, v, words[1:])
}

// completeExploration does what completeAgent does for a verb of explorations: their ids,
// the newest first, and then the strategies of one.
func (p *program) completeExploration(ctx context.Context, v verb, words []string) (found []string) {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil
	}
	switch _, given := splitFlags(words[:len(words)-1], v.flags); {
	case len(given) == 0:
		list, err := p.explorations(ctx, w)
		if err != nil {
			return nil
		}
		for _, e := range list {
			found = append(found, shortMessage(e.ID))
		}
	case len(given) == 1 && v.max > 1:
		e, err := explore.Open(ctx, w, given[0])
		if err != nil {
			return nil
		}
		for _, b := range e.Branches {
			if b.Status == explore.Completed {
				found = append(found, line(b.Strategy))
			}
		}
	}
	return found
}

// completeAgent returns what can stand after a verb as the next argument, words being
// what stands there with the word at the cursor.
func (p *program) completeAgent(ctx context.Context, v verb, words []string) []string {
	switch _, given := splitFlags(words[:len(words)-1], v.flags); {
	case len(given) == 0 && strings.HasPrefix(v.args, "AGENT"):
		return p.agentNames(ctx)
	case len(given) == 1 && strings.HasPrefix(v.args, "AGENT TREE"):
		return p.treeNames(ctx, given[0], v.name)
	}
	return nil
}

// agentNames returns the names of all agents, none if they cannot be read.
func (p *program) agentNames(ctx context.Context) (names []string) {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil
	}
	all, err := w.Agents(ctx)
	if err != nil {
		return nil
	}
	for _, a := range all.Agents {
		names = append(names, a.Name)
	}
	return names
}

// treeNames returns the names of the trees of an agent that a verb can be used with, of
// those that have none the ids.
func (p *program) treeNames(ctx context.Context, agent, verb string) (names []string) {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil
	}
	a, err := w.Agent(ctx, agent)
	if err != nil {
		return nil
	}
	for _, t := range a.Trees {
		fits := true
		switch verb {
		case "archive":
			fits = !t.Archived && t.ID != a.Head.Tree
		case "restore":
			fits = t.Archived
		case "delete":
			fits = t.ID != a.Head.Tree
		}
		if fits {
			names = append(names, cmp.Or(t.Name, t.ID))
		}
	}
	return names
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
func takesSession(v verb) bool {
	return slices.ContainsFunc([]string{"SESSION", "REF", "CHECKPOINT"}, func(word string) bool {
		return strings.Contains(v.args, word)
	})
}

// sessionIDs returns the short ids of all sessions, none if they cannot be read.
func (p *program) sessionIDs(ctx context.Context) []string {
	w, err := p.open(ctx, checkpoint.Retention{})
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

// bookmarkLabels returns the labels of bookmarks, none if they cannot be read.
// Those that a shell would take apart, or otherwise than they stand, are left out.
func (p *program) bookmarkLabels(ctx context.Context) (labels []string) {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil
	}
	list, err := w.Bookmarks(ctx, workspace.BookmarksOptions{})
	if err != nil {
		return nil
	}
	for _, b := range list.Bookmarks {
		if line(b.Label) == b.Label && !strings.ContainsAny(b.Label, " \"'`$&|;<>()*?[]{}#!~\\") {
			labels = append(labels, b.Label)
		}
	}
	return labels
}

func (p *program) completionVerb() verb {
	return verb{
		name:  "completion",
		args:  "SHELL",
		short: "print a script that completes bough's command line",
		long:  `SHELL is bash, zsh or fish.`,
		example: `source <(bough completion bash)
bough completion fish > ~/.config/fish/completions/bough.fish`,
		min: 1,
		max: 1,
		alone: func(c *cli.Context) error {
			switch shell := c.Args().First(); shell {
			case "bash":
				return p.printText("script", bashCompletion)
			case "fish":
				return p.printText("script", fishCompletion)
			case "zsh":
				return p.printText("script", zshCompletion)
			default:
				return usageError("bough completes in bash, fish and zsh, not in %q", shell)
			}
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
