package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// cutFlags are the flags of verbs that cut a path.
func cutFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "strict", DisableDefaultText: true, Usage: "fail if REF is inside a tool call, instead of stepping back before it"},
		&cli.BoolFlag{Name: "at-boundary", Hidden: true},
		partialFlag(),
	}
}

func cutOptions(c *cli.Context) checkpoint.CutOptions {
	return checkpoint.CutOptions{Strict: c.Bool("strict"), ReadOptions: readOptions(c)}
}

func snapshotFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "name", Usage: "the title `N`; by default made from the conversation's title"},
	}, cutFlags()...)
}

func snapshotOptions(c *cli.Context) workspace.SnapshotOptions {
	return workspace.SnapshotOptions{
		Name: c.String("name"), Packed: c.Bool("packed"), Task: c.Bool("task"), CutOptions: cutOptions(c),
		Files: c.Bool("files"), Dir: c.String("dir"), Into: c.Args().Get(1),
	}
}

func (p *program) checkpointVerb() verb {
	return p.snapshotVerb(verb{
		name:    "checkpoint",
		aliases: []string{"save"},
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "packed", DisableDefaultText: true, Usage: "store messages once for all packed checkpoints; see 'bough help pack'"},
			&cli.BoolFlag{Name: "task", DisableDefaultText: true, Usage: "store the turn, its tasks and the queue of the agent too"},
			filesFlag("take a state of the folder too"),
			dirFlag(),
		},
		args:  "[REF] [--name N] [--files] [--dir D] [--task] [--packed] [--strict] [--partial]",
		max:   1,
		short: "freeze a conversation, up to any message",
		long: `Creates a read-only copy of the path to REF, that message included, in one self-contained file or,
with --packed, in files that the packed checkpoints of the conversation share: later changes to the
conversation do not affect it. Appending to a checkpoint creates a branch of it. Prints the
checkpoint's id.

With --files, the files of a folder go with it: if REF is the newest message of its conversation, a
state of the folder is taken; else the state that was taken for REF, or before it, belongs to the
checkpoint already, and without one the command fails. 'bough help files' says what a state holds.

With --task it stores what was being done, too: the message of the user that began the turn, the
tasks that were found on the path, and the messages in the queue of the agent. 'bough show --json'
has them, as metadata.bough.task. Nothing puts them back.`,
		example: `bough checkpoint "Plan the trip" --name "Before the budget"
bough checkpoint --files --name "Tests pass"
bough checkpoint --task --name "Half done"
bough checkpoint "Plan the trip@msg_2b0c3457"`,
	}, "Saved", (*workspace.Workspace).Checkpoint)
}

func (p *program) branchVerb() verb {
	return p.snapshotVerb(verb{
		name:  "branch",
		short: "continue from any message in a new session",
		long: `Copies the path to REF, that message included, to a new session and moves the head there. The
original conversation does not change. Prints the branch's id.

With --files, the branch gets a folder of its own with the files as they were at REF, which is a state
taken now if REF is the newest message of its conversation. In a repository of git the folder is a
clone at the commit of that state; the repository is not written to, and is the remote origin of the
clone. Else it is a plain folder. DIR, which must be new or empty, is by default beside the folder
or its repository. Files that git ignores are not in it, unless .worktreeinclude names them.`,
		example: `bough branch "Plan the trip@msg_2b0c3457" --name "By train instead"
bough append "What if we take the train?"
bough branch HEAD~4 --files --name "Without the cache"
bough branch HEAD --files ~/src/trip-train`,
		args: "[REF] [DIR] [--files] [--name N] [--dir D] [--strict] [--partial]",
		max:  2,
		flags: []cli.Flag{
			filesFlag("make a folder DIR with the files at REF"),
			dirFlag(),
		},
	}, "Branched", (*workspace.Workspace).Branch)
}

// snapshotVerb returns v as a verb that copies a path to a new session.
func (p *program) snapshotVerb(v verb, did string, take func(*workspace.Workspace, context.Context, string, workspace.SnapshotOptions) (*workspace.Snapshot, error)) verb {
	v.flags, v.choices, v.changes = append(v.flags, snapshotFlags()...), []choice{chooseSession}, true
	v.action = func(c *cli.Context, w *workspace.Workspace) error {
		if err := checkFilesFlags(c); err != nil {
			return err
		}
		s, err := orFetched(c.Context, p, w, refOrHead(c), func() (*workspace.Snapshot, error) {
			return take(w, c.Context, refOrHead(c), snapshotOptions(c))
		})
		if err != nil {
			return err
		}
		return p.snapshot(did, s)
	}
	return v
}

func filesFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "files", DisableDefaultText: true, Usage: usage}
}

// checkFilesFlags refuses what has a meaning only with --files.
func checkFilesFlags(c *cli.Context) error {
	if c.NArg() > 1 && c.Args().Get(1) == "" {
		return usageError("DIR is empty")
	}
	switch {
	case c.Bool("files"):
		return nil
	case c.NArg() > 1:
		return usageError("DIR needs --files")
	case c.IsSet("dir"):
		return usageError("--dir needs --files")
	}
	return nil
}

// steppedBack prints that a path ends above the requested message.
func (p *program) steppedBack(cut checkpoint.Adjustment, at string) {
	if cut.SteppedBack {
		fmt.Fprintf(p.stderr, "Stepped back from %s to %s, before a tool call\n", line(shortMessage(string(cut.Requested))), line(shortMessage(at)))
	}
}

func (p *program) snapshot(did string, s *workspace.Snapshot) error {
	if p.json {
		return p.printJSON(s)
	}
	p.steppedBack(s.Adjustment, string(s.BranchPoint))
	stored := ""
	if s.Stored > 0 {
		stored = ", stored in " + size(s.Stored)
	}
	p.meter.clear()
	fmt.Fprintf(p.stderr, "%s %q: %s, %s%s\n", did, clean(s.Title), count(s.MessageCount, "message"), size(s.Bytes), stored)
	p.keptFiles(s)
	if t := s.Task; t != nil {
		turn := "no turn"
		if t.Turn != "" {
			turn = "in the turn that " + line(shortMessage(string(t.Turn))) + " began"
		}
		fmt.Fprintf(p.stderr, "Task: %s, %s, %s in the queue\n", turn, count(len(t.Tasks), "task"), count(len(t.Queue), "message"))
		if m := t.Memory; m != nil {
			has := size(int64(len(m.Text)))
			if m.Why != "" {
				has = "not recorded: " + strings.ReplaceAll(m.Why, "_", " ")
			}
			fmt.Fprintf(p.stderr, "Memory: %s, %s\n", line(m.Path), has)
		}
	}
	fmt.Fprintln(p.stdout, clean(s.ID))
	return nil
}

// keptFiles prints which files go with a checkpoint, and the folder of a branch.
func (p *program) keptFiles(s *workspace.Snapshot) {
	if s.Files == nil {
		return
	}
	p.noteInexact("the message", s.Files)
	fmt.Fprintf(p.stderr, "Files: state %s of %s, %s\n", lookup.Short(s.Files.ID), line(folderOf(*s.Files)), count(s.Files.Files, "file"))
	f := s.Folder
	if f == nil {
		return
	}
	kind := "without git: " + line(f.Why)
	if f.Git != nil {
		kind = "a clone at " + shortCommit(f.Git.Head)
		if f.Git.Branch != "" {
			kind += " (" + line(f.Git.Branch) + ")"
		}
		if f.Why != "" {
			kind += "; " + line(f.Why)
		}
	}
	if f.From != "" {
		fmt.Fprintf(p.stderr, "%s is %s on this machine\n", line(folderOf(*s.Files)), line(f.From))
	}
	fmt.Fprintf(p.stderr, "Folder: %s, %s\n", line(f.Dir), kind)
	for _, name := range f.Missing {
		fmt.Fprintf(p.stderr, "missing, because its content was deleted permanently: %s\n", line(name))
	}
	for _, l := range f.Left {
		fmt.Fprintf(p.stderr, "not in it: %s (%s)\n", line(l.Path), l.Why)
	}
}

func shortCommit(id string) string { return line(id[:min(len(id), 7)]) }
