package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/internal/integration"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/clipperhouse/displaywidth"
	"github.com/urfave/cli/v2"
)

// completeFlag is the last argument that the scripts of 'bough completion' pass, after the
// word at the cursor, which may be empty.
const completeFlag = "--generate-bash-completion"

// A candidate is a completion of the unfinished word, with a description, which may be "".
type candidate struct{ word, about string }

// complete prints the candidates for the last of words, one per line: the word, a tab and
// its description.
func (p *program) complete(ctx context.Context, words []string) {
	for _, c := range p.candidates(ctx, words) {
		const enough = 60 // columns
		fmt.Fprintln(p.stdout, strings.TrimSuffix(c.word+"\t"+displaywidth.TruncateString(line(c.about), enough, "…"), "\t"))
	}
}

// candidates returns the completions of the last of words: verbs, flags after a dash,
// values of a flag, else sessions, messages, labels, or names of agents. Words with control
// characters or line ends are omitted.
func (p *program) candidates(ctx context.Context, words []string) []candidate {
	global, words, _ := splitGlobal(words)
	p.dir = global.dir
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	return slices.DeleteFunc(p.possible(ctx, words), func(c candidate) bool {
		return !strings.HasPrefix(c.word, last) || line(c.word) != c.word
	})
}

// possible returns the unfiltered list for candidates.
func (p *program) possible(ctx context.Context, words []string) []candidate {
	last := words[len(words)-1]
	v, known := p.verb(words[0])
	if v.name == "help" && len(words) > 2 {
		if v, known = p.verb(words[1]); len(v.subs) == 0 || len(words) > 3 {
			return nil
		}
		words = words[1:]
	}
	switch {
	case len(words) == 1 && strings.HasPrefix(last, "-"):
		return wordsOnly(globalFlags())
	case len(words) == 1 || v.name == "help":
		return verbNames(p.verbs())
	case !known:
		return nil
	case len(v.subs) > 0 && len(words) == 2 && (!v.acts() || !strings.HasPrefix(last, "-")):
		found := verbNames(v.subs)
		if v.action != nil {
			found = append(found, p.references(ctx, v, last)...)
		}
		return found
	case len(v.subs) > 0 && (!v.acts() || slices.Contains(allNames(v.subs), words[1])):
		return wordsOnly(p.completeSub(ctx, v, words[1:]))
	case strings.HasPrefix(last, "-"):
		return append(flagNames(v.flags), wordsOnly(globalFlags())...)
	case strings.HasPrefix(v.args, "AGENT"):
		return wordsOnly(p.completeAgent(ctx, v, words[1:]))
	case v.name == "completion":
		return wordsOnly([]string{"bash", "fish", "zsh"})
	case v.name == "config" && len(words) == 2:
		return settingNames()
	}
	before := words[len(words)-2]
	if found, ok := p.completeRemote(ctx, v, before); ok {
		return found
	}
	if values := flagValues(v, before); len(values) > 0 {
		return wordsOnly(values)
	}
	named := before == "--in" || before == "--parent" || takesSession(v)
	if (v.name == "search" || v.name == "choose") && before != "--in" || !named {
		return nil // free text
	}
	return p.references(ctx, v, last)
}

func wordsOnly(words []string) []candidate {
	list := make([]candidate, len(words))
	for i, w := range words {
		list[i].word = w
	}
	return list
}

// flagValues returns the possible values of a flag of a verb, nil if it takes any value.
func flagValues(v verb, flag string) []string {
	switch v.name + " " + flag {
	case "import --from", "import --format", "export --to", "resume --in", "search --tool", "ls --tool":
		return formatNames(flag[len("--"):])
	case "search --role", "append --role":
		return []string{"user", "assistant", "system", "tool"}
	case "pull --only":
		return remote.Kinds
	case "ls --kind", "choose --kind":
		return []string{"root", "continuation", "branch", "checkpoint"}
	}
	return nil
}

// settingNames returns the names of the settings.
func settingNames() (list []candidate) {
	for _, s := range config.Settings() {
		list = append(list, candidate{s.Key, s.Doc})
	}
	return list
}

// references returns the names of sessions and REFs that begin with last: messages after
// an "@", else ids, labels of bookmarks and, if last is not empty, titles.
func (p *program) references(ctx context.Context, v verb, last string) []candidate {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil
	}
	isREF := strings.Contains(v.args, "REF")
	found := sessionNames(ctx, w, v, last != "")
	if isREF {
		found = append(found, bookmarkLabels(ctx, w)...)
	}
	at := strings.LastIndex(last, "@")
	if at < 1 || !isREF || slices.ContainsFunc(found, func(c candidate) bool { return strings.HasPrefix(c.word, last) }) {
		return found
	}
	return messageNames(ctx, w, last[:at])
}

// verbNames returns the names of verbs, with their descriptions.
func verbNames(verbs []verb) (list []candidate) {
	for _, v := range verbs {
		for _, name := range v.names() {
			list = append(list, candidate{name, v.short})
		}
	}
	return list
}

func allNames(verbs []verb) (names []string) {
	for _, v := range verbs {
		names = append(names, v.names()...)
	}
	return names
}

// completeSub returns the completions after a verb of a verb, such as "agent chat".
func (p *program) completeSub(ctx context.Context, parent verb, words []string) []string {
	v, _ := find(parent.subs, words[0])
	if strings.HasPrefix(words[len(words)-1], "-") {
		var names []string
		for _, f := range flagNames(v.flags) {
			names = append(names, f.word)
		}
		return append(names, globalFlags()...)
	}
	switch {
	case strings.HasPrefix(v.args, "TOOL…") && parent.name == "hook":
		return programNames(hookPrograms())
	case strings.HasPrefix(v.args, "TOOL…") && parent.name == "mcp":
		return programNames(integration.Clients())
	case parent.name == "remote":
		found, _ := p.completeRemote(ctx, v, words[len(words)-2])
		var names []string
		for _, c := range found {
			names = append(names, c.word)
		}
		return names
	case strings.HasPrefix(v.args, "ID"):
		return p.completeExploration(ctx, v, words[1:])
	}
	return p.completeAgent(ctx, v, words[1:])
}

// completeExploration is completeAgent for a verb of explorations: it returns
// their ids, newest first, and then the strategies of one.
func (p *program) completeExploration(ctx context.Context, v verb, words []string) (found []string) {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil
	}
	switch _, given := splitFlags(words[:len(words)-1], v.flags); {
	case len(given) == 0:
		list, err := p.explorerOf(w).List(ctx)
		if err != nil {
			return nil
		}
		for _, e := range list {
			found = append(found, shortMessage(e.ID))
		}
	case len(given) == 1 && v.max > 1:
		e, err := p.explorerOf(w).Open(ctx, given[0])
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

// completeAgent returns the completions for the last of words, which are the words after a
// verb.
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

// treeNames returns the names of the trees of an agent that a verb applies to, and the ids
// of trees without a name.
func (p *program) treeNames(ctx context.Context, agent, verb string) (names []string) {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil
	}
	a, err := w.Agent(agent).Info(ctx)
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

// flagNames returns the flags of a verb, with their descriptions.
func flagNames(flags []cli.Flag) (list []candidate) {
	for _, f := range flags {
		if isHidden(f) {
			continue
		}
		about := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			about = strings.ReplaceAll(d.GetUsage(), "`", "")
		}
		for _, name := range f.Names() {
			list = append(list, candidate{strings.Repeat("-", min(len(name), 2)) + name, about})
		}
	}
	return list
}

// takesSession reports whether the arguments of a verb include a session.
func takesSession(v verb) bool {
	return slices.ContainsFunc([]string{"SESSION", "REF", "CHECKPOINT"}, func(word string) bool {
		return strings.Contains(v.args, word)
	})
}

// sessionNames returns the short ids of the sessions that a verb takes, with their titles as
// descriptions; if titles is set, also the titles. It returns nil if the sessions cannot be
// read.
func sessionNames(ctx context.Context, w *workspace.Workspace, v verb, titles bool) (list []candidate) {
	listing, err := w.List(ctx, "")
	if err != nil {
		return nil
	}
	short := shortIDs(listing.Sessions)
	fitting := slices.DeleteFunc(slices.Clone(listing.Sessions), func(e workspace.Entry) bool { return !takes(v, e, listing.Sessions) })
	for _, e := range fitting {
		if clean(e.ID) == e.ID {
			list = append(list, candidate{short(e.ID), line(e.Title)})
		}
	}
	for _, e := range fitting {
		if titles && !strings.HasPrefix(e.Title, "-") {
			list = append(list, candidate{e.Title, string(e.Kind) + ", " + age(e.LastActive)})
		}
	}
	return list
}

// takes reports whether a verb that takes sessions takes this one of all.
func takes(v verb, e workspace.Entry, all []workspace.Entry) bool {
	switch {
	case v.name == "unpack":
		return e.Packed
	case v.name == "pack": // a plain checkpoint, or a session with one
		return slices.ContainsFunc(all, func(c workspace.Entry) bool {
			return c.Kind == session.Checkpoint && !c.Packed && (c.ID == e.ID || string(c.BranchedFrom) == e.ID)
		})
	}
	return e.Kind == session.Checkpoint || !strings.HasPrefix(v.args, "CHECKPOINT")
}

// bookmarkLabels returns the labels of bookmarks, nil if they cannot be read.
func bookmarkLabels(ctx context.Context, w *workspace.Workspace) (labels []candidate) {
	list, err := w.Bookmarks(ctx, workspace.BookmarksOptions{})
	if err != nil {
		return nil
	}
	for _, b := range list.Bookmarks {
		if !strings.HasPrefix(b.Label, "-") {
			labels = append(labels, candidate{b.Label, "bookmark"})
		}
	}
	return labels
}

// messageNames returns the messages of a session, with the name of the session as typed,
// and their first words, newest first.
func messageNames(ctx context.Context, w *workspace.Workspace, name string) (list []candidate) {
	conv, err := w.Show(ctx, name, session.ReadOptions{Partial: true})
	if err != nil {
		return nil
	}
	ids := make([]string, len(conv.Messages))
	for i, m := range conv.Messages {
		ids[i] = m.ID
	}
	short := shortMessages(ids)
	for i, m := range slices.Backward(conv.Messages) {
		list = append(list, candidate{name + "@" + short(ids[i]), line(m.Role()) + ": " + firstWords(m)})
	}
	return append(list, candidate{name + "@first", "the first message"}, candidate{name + "@last", "the last message"})
}

func (p *program) completionVerb() verb {
	return verb{
		name:  "completion",
		args:  "SHELL",
		short: "print a completion script for a shell",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "bash", Hidden: true},
			&cli.StringFlag{Name: "breaks", Hidden: true},
			&cli.IntFlag{Name: "type", Hidden: true},
		},
		long: `SHELL is bash, zsh or fish.`,
		example: `source <(bough completion bash)
bough completion fish > ~/.config/fish/completions/bough.fish`,
		min: 1,
		max: 1,
		standalone: func(c *cli.Context) error {
			if c.IsSet("bash") {
				p.completeBash(c.Context, c.Args().First(), c.Int("bash"), c.String("breaks"), c.Int("type"))
				return nil
			}
			switch shell := c.Args().First(); shell {
			case "bash":
				return p.printText("script", bashCompletion)
			case "fish":
				return p.printText("script", fishCompletion)
			case "zsh":
				return p.printText("script", zshCompletion)
			default:
				return lookup.Word("shell", shell, "bash", "fish", "zsh")
			}
		},
	}
}

// bash passes the whole line, because it also splits words at "@" and ":", and inserts
// completions without quoting them; [completeBash] does both. The script expands nothing.
const bashCompletion = `_bough() {
  local found
  COMPREPLY=()
  while IFS= read -r found; do
    COMPREPLY+=("$found")
  done < <("${COMP_WORDS[0]}" completion --bash "$COMP_POINT" --breaks "$COMP_WORDBREAKS" --type "$COMP_TYPE" -- "$COMP_LINE" 2>/dev/null)
}
complete -o default -F _bough bough
`

// zsh quotes what it inserts.
const zshCompletion = `#compdef bough
_bough() {
  local found
  local -a names abouts
  "${(Q@)words[1,CURRENT-1]}" "${(Q)PREFIX}" ` + completeFlag + ` 2>/dev/null | while IFS= read -r found; do
    names+=("${found%%$'\t'*}")
    abouts+=("${found/$'\t'/  -- }")
  done
  (( $#names )) && compadd -l -d abouts -- $names || _files
}
compdef _bough bough
`

// fish quotes what it inserts, and reads the description after a tab.
const fishCompletion = `function __bough_complete
  set -l words (commandline -opc)
  $words (commandline -ct) ` + completeFlag + ` 2>/dev/null
end
complete -c bough -a '(__bough_complete)'
`
