package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/urfave/cli/v2"
)

func (p *program) agentVerb() verb {
	v := verb{
		name:  "agent",
		args:  "VERB",
		short: "manage agents: many conversations, one head",
		long: `An agent has a name, a model, instructions, and any number of trees: conversations of its own,
which 'bough ls' and the other verbs list as sessions. It has exactly one head, at a message of
one of its trees. AGENT is a name, an id, or an unambiguous prefix of either. TREE is the name of a
tree, its id, or an unambiguous prefix of that.`,
		example: `bough agent create ada --system "You plan trips."
bough agent trees ada`,
		subs: []verb{
			p.agentCreateVerb(), p.agentLsVerb(), p.agentShowVerb(), p.agentSetVerb(), p.agentRmVerb(),
			p.agentChatVerb(), p.agentBranchVerb(),
			p.agentTreesVerb(), p.agentSwitchVerb(), p.agentRewindVerb(),
			p.agentArchiveVerb(), p.agentRestoreVerb(), p.agentDeleteVerb(), p.agentSnapshotVerb(),
		},
	}
	for i := range v.subs {
		v.subs[i].parent = v.name
	}
	return v
}

func (p *program) agentCreateVerb() verb {
	return verb{
		name:  "create",
		args:  "NAME " + agentFlagWords,
		short: "create an agent with one empty tree",
		long: `NAME has up to 63 characters: letters a to z and digits and, after the first, also '.', '_' and
'-'. By default the steer policy is after_call and automatic checkpoints are on.`,
		example: `bough agent create ada --model openai:gpt-5 --system "You plan trips."`,
		flags:   agentFlags(),
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			noCheckpoint, err := noCheckpoint(c)
			if err != nil {
				return err
			}
			memory, err := memoryFile(c)
			if err != nil {
				return err
			}
			o := agents.Options{
				Memory: memory,
				Model:  c.String("model"), System: c.String("system"),
				Policy: turn.SteerPolicy(c.String("steer-policy")), NoCheckpoint: noCheckpoint,
			}
			a, err := w.Agent(c.Args().First()).Create(c.Context, o)
			if err == nil {
				p.keepTypedModel(w, o.Model)
			}
			return p.agentDone(a, "Created", err)
		},
	}
}

func (p *program) agentSetVerb() verb {
	return verb{
		name:  "set",
		args:  "AGENT " + agentFlagWords,
		short: "change an agent's settings",
		long: `Changes only the settings whose flags are given. An empty value removes the model, the text or the
memory file.`,
		example: `bough agent set ada --model anthropic:claude-sonnet-4-5 --auto-checkpoint off`,
		flags:   agentFlags(),
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if len(c.LocalFlagNames()) == 0 {
				e := usageError("'bough agent set' takes at least one flag")
				e.Hint = seeHelp("agent set")
				return e
			}
			noCheckpoint, err := noCheckpoint(c)
			if err != nil {
				return err
			}
			memory, err := memoryFile(c)
			if err != nil {
				return err
			}
			policy := turn.SteerPolicy(c.String("steer-policy"))
			a, err := w.Agent(c.Args().First()).Set(c.Context, agents.Change{
				Model: given(c, "model", c.String("model")), System: given(c, "system", c.String("system")),
				Policy: given(c, "steer-policy", policy), NoCheckpoint: given(c, "auto-checkpoint", noCheckpoint),
				Memory: given(c, "memory", memory),
			})
			if err == nil {
				p.keepTypedModel(w, c.String("model"))
			}
			return p.agentDone(a, "Changed", err)
		},
	}
}

const agentFlagWords = "[--model M] [--system TEXT] [--steer-policy POLICY] [--auto-checkpoint on|off] [--memory FILE]"

func agentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Usage: "the `MODEL` that answers"},
		&cli.StringFlag{Name: "system", Usage: "the system prompt `TEXT`"},
		&cli.StringFlag{Name: "steer-policy", Usage: "`POLICY` for a steer while tools run: after_call skips the remaining calls, finish_batch waits for them"},
		&cli.StringFlag{Name: "auto-checkpoint", Usage: "`on|off`: make an automatic checkpoint before each turn with a tool that may change something"},
		&cli.StringFlag{Name: "memory", TakesFile: true, Usage: "the `FILE` with the agent's memory; 'bough checkpoint --task' records what it has"},
	}
}

// memoryFile returns the absolute path of the memory file that the command line names.
func memoryFile(c *cli.Context) (string, error) {
	if name := c.String("memory"); name != "" {
		return filepath.Abs(name)
	}
	return "", nil
}

// noCheckpoint reports whether the command line turns automatic checkpoints off.
func noCheckpoint(c *cli.Context) (bool, error) {
	switch word := c.String("auto-checkpoint"); {
	case word == "on", !c.IsSet("auto-checkpoint"):
		return false, nil
	case word == "off":
		return true, nil
	default:
		return false, usageError("--auto-checkpoint takes on or off, not %q", word)
	}
}

// given returns a pointer to v if the command line has the flag, else nil.
func given[T any](c *cli.Context, flag string, v T) *T {
	if !c.IsSet(flag) {
		return nil
	}
	return &v
}

func (p *program) agentLsVerb() verb {
	return verb{
		name:    "ls",
		short:   "list the agents",
		example: `bough agent ls`,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			all, err := w.Agents(c.Context)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(all)
			}
			for _, a := range all.Agents {
				about := []string{p.paint.bold(line(a.Name)), count(len(a.Trees), "tree")}
				if a.Model != "" {
					about = append(about, line(a.Model))
				}
				fmt.Fprintln(p.stdout, strings.Join(about, "  "))
			}
			if len(all.Agents) == 0 {
				fmt.Fprintln(p.stderr, "No agents. 'bough agent create NAME' creates one.")
			}
			return nil
		},
	}
}

func (p *program) agentShowVerb() verb {
	return verb{
		name:    "show",
		args:    "AGENT",
		short:   "show an agent's settings and its head",
		example: `bough agent show ada`,
		min:     1,
		max:     1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			a, err := w.Agent(c.Args().First()).Info(c.Context)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(a)
			}
			fmt.Fprintln(p.stdout, p.paint.bold(line(a.Name)))
			fmt.Fprintln(p.stdout, p.paint.dim(line(a.ID)+" · "+count(len(a.Trees), "tree")+" · created "+age(a.Created)))
			if a.Model != "" {
				fmt.Fprintf(p.stdout, "model   %s\n", line(a.Model))
			}
			if a.System != "" {
				fmt.Fprintf(p.stdout, "system  %s\n", line(a.System))
			}
			if a.Policy != "" && a.Policy != turn.AfterCall {
				fmt.Fprintf(p.stdout, "steer   %s\n", line(string(a.Policy)))
			}
			if a.Memory != "" {
				fmt.Fprintf(p.stdout, "memory  %s\n", line(a.Memory))
			}
			if a.NoCheckpoint {
				fmt.Fprintln(p.stdout, "turn    without an automatic checkpoint")
			}
			fmt.Fprintf(p.stdout, "head    %s\n", position(a.Head.Tree, a.Head.Node))
			return nil
		},
	}
}

func (p *program) agentRmVerb() verb {
	return verb{
		name:    "rm",
		args:    "AGENT",
		short:   "move an agent to the trash and keep its trees",
		long:    `The trees become conversations without an agent. 'bough undo' restores the agent.`,
		example: `bough agent rm ada`,
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			a, err := w.Agent(c.Args().First()).Remove(c.Context)
			return p.agentDone(a, "Removed", err)
		},
	}
}

// agentDone prints the result of a change to an agent.
func (p *program) agentDone(a *agents.Agent, did string, err error) error {
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(a)
	}
	fmt.Fprintf(p.stderr, "%s agent %s\n", did, line(a.Name))
	fmt.Fprintln(p.stdout, clean(a.ID))
	return nil
}

func (p *program) agentSwitchVerb() verb {
	return verb{
		name:  "switch",
		args:  "AGENT TREE[/NODE] [--strict] [--partial]",
		short: "move the head of an agent to another of its trees",
		long: `Moves the head to the message NODE of TREE. Without NODE, the head returns to its last position
in TREE or, if it has never been there, moves to the newest message. An archived tree is restored.
Prints the new head.`,
		example: `bough agent switch ada "By train"`,
		flags:   cutFlags(),
		min:     2,
		max:     2,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			pos, err := w.Agent(c.Args().Get(0)).Switch(c.Context, c.Args().Get(1), cutOptions(c))
			return p.agentPosition(pos, err)
		},
	}
}

func (p *program) agentRewindVerb() verb {
	return verb{
		name:    "rewind",
		aliases: []string{"continue-from"},
		args:    "AGENT NODE [--strict] [--partial]",
		short:   "move the head of an agent to any message",
		long: `Moves the head to the message NODE. NODE is looked up in the tree of the head, then in the other
trees that are not archived, oldest first. TREE/NODE names the tree; if it is archived, it is
restored. The messages after NODE stay, as another branch. Prints the new head.`,
		example: `bough agent rewind ada 849dde0b`,
		flags:   cutFlags(),
		min:     2,
		max:     2,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			pos, err := w.Agent(c.Args().Get(0)).Rewind(c.Context, c.Args().Get(1), cutOptions(c))
			return p.agentPosition(pos, err)
		},
	}
}

func (p *program) agentPosition(pos *agents.Position, err error) error {
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(pos)
	}
	p.steppedBack(pos.Adjustment, string(pos.Head.Node))
	_, err = fmt.Fprintln(p.stdout, position(pos.Head.Tree, string(pos.Head.Node)))
	return err
}

// position returns the head of an agent in the form that 'bough agent switch' takes.
func position(tree, node string) string {
	if node == "" {
		return clean(tree)
	}
	return clean(tree) + "/" + clean(node)
}

func (p *program) agentSnapshotVerb() verb {
	return verb{
		name:    "snapshot",
		args:    "AGENT",
		short:   "print an agent's state as JSON, for tests and other programs",
		long:    `Prints one JSON document, with or without --json.`,
		example: `bough agent snapshot ada`,
		min:     1,
		max:     1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			s, err := w.Agent(c.Args().First()).Snapshot(c.Context)
			if err != nil {
				return err
			}
			return p.printJSON(s)
		},
	}
}
