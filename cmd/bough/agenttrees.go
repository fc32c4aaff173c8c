package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/urfave/cli/v2"
)

func (p *program) agentTreesVerb() verb {
	return verb{
		name:  "trees",
		args:  "AGENT [--all]",
		short: "list the trees of an agent, oldest first",
		long: `Prints a line for each tree: its id, its number of messages and of leaves, and its name. '*' marks
the tree of the head. Archived trees are omitted.`,
		example: `bough agent trees ada`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", DisableDefaultText: true, Usage: "list archived trees too"},
		},
		min: 1,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			trees, err := w.Agent(c.Args().First()).Trees(c.Context, agents.TreesOptions{All: c.Bool("all")})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(trees)
			}
			for _, t := range trees.Trees {
				mark := " "
				if t.Current {
					mark = "*"
				}
				about := count(t.MessageCount, "message")
				switch {
				case t.Err != nil:
					about = "cannot be read"
				case t.LeafCount > 1:
					about += fmt.Sprintf(", %d leaves", t.LeafCount)
				}
				if t.Archived {
					about += ", archived"
				}
				fmt.Fprintln(p.stdout, strings.TrimRight(fmt.Sprintf("%s %s  %s  %s", mark, p.paint.yellow(clean(t.ID)), about, line(cmp.Or(string(t.Name), t.Title))), " "))
			}
			if trees.Omitted > 0 {
				fmt.Fprintf(p.stderr, "%s archived; --all lists all\n", count(trees.Omitted, "tree"))
			}
			return nil
		},
	}
}

func (p *program) agentArchiveVerb() verb {
	return p.treeChangeVerb(verb{
		name:  "archive",
		short: "hide a tree that is not needed now",
		long: `The tree keeps all its messages. 'bough agent trees' omits it, and 'bough agent rewind' searches
it only if it is named. The tree of the head cannot be archived.`,
		example: `bough agent archive ada "By train"`,
	}, "Archived", workspace.Agent.ArchiveTree)
}

func (p *program) agentRestoreVerb() verb {
	return p.treeChangeVerb(verb{
		name:    "restore",
		short:   "restore an archived tree",
		long:    `Does not move the head. 'bough agent switch' moves it and restores the tree too.`,
		example: `bough agent restore ada "By train"`,
	}, "Restored", workspace.Agent.RestoreTree)
}

// treeChangeVerb returns v as a verb that changes a tree of an agent.
func (p *program) treeChangeVerb(v verb, did string, change func(workspace.Agent, context.Context, string) (*agents.Tree, error)) verb {
	v.args, v.min, v.max, v.changes = "AGENT TREE", 2, 2, true
	v.action = func(c *cli.Context, w *workspace.Workspace) error {
		t, err := change(w.Agent(c.Args().Get(0)), c.Context, c.Args().Get(1))
		return p.treeDone(t, did, err)
	}
	return v
}

func (p *program) agentDeleteVerb() verb {
	return verb{
		name:  "delete",
		args:  "AGENT TREE [--force]",
		short: "move a tree to the trash",
		long: `Moves all files of the tree to .bough/trash and removes it from the agent. 'bough undo' restores
it. A tree that checkpoints or branches were made from is deleted only with --force; they contain
all their messages and stay complete. The tree of the head cannot be deleted.`,
		example: `bough agent delete ada "By train"`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", DisableDefaultText: true, Usage: "delete the tree even if checkpoints or branches were made from it"},
		},
		min:     2,
		max:     2,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o := agents.DeleteTreeOptions{Force: c.Bool("force")}
			t, err := w.Agent(c.Args().Get(0)).DeleteTree(c.Context, c.Args().Get(1), o)
			return p.treeDone(t, "Deleted", err)
		},
	}
}

// treeDone prints the result of a change to a tree.
func (p *program) treeDone(t *agents.Tree, did string, err error) error {
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(t)
	}
	fmt.Fprintf(p.stderr, "%s tree %s\n", did, line(cmp.Or(string(t.Name), t.ID)))
	fmt.Fprintln(p.stdout, clean(t.ID))
	return nil
}
