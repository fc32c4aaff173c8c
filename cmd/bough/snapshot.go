package main

import (
	"context"
	"fmt"

	"github.com/bough-dev/bough/checkpoint"
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
	return workspace.SnapshotOptions{Name: c.String("name"), Packed: c.Bool("packed"), CutOptions: cutOptions(c)}
}

func (p *program) checkpointVerb() verb {
	return p.snapshotVerb(verb{
		name:    "checkpoint",
		aliases: []string{"save"},
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "packed", DisableDefaultText: true, Usage: "store messages once for all packed checkpoints; see 'bough help pack'"},
		},
		args:  "[--packed] ",
		short: "freeze a conversation, up to any message",
		long: `Creates a read-only copy of the path to REF, that message included, in one self-contained file or,
with --packed, in files that the packed checkpoints of the conversation share: later changes to the
conversation do not affect it. Appending to a checkpoint creates a branch of it. Prints the
checkpoint's id.`,
		example: `bough checkpoint "Plan the trip" --name "Before the budget"
bough checkpoint "Plan the trip@msg_2b0c3457"`,
	}, "Saved", (*workspace.Workspace).Checkpoint)
}

func (p *program) branchVerb() verb {
	return p.snapshotVerb(verb{
		name:  "branch",
		short: "continue from any message in a new session",
		long: `Copies the path to REF, that message included, to a new session and moves the head there. The
original conversation does not change. Prints the branch's id.`,
		example: `bough branch "Plan the trip@msg_2b0c3457" --name "By train instead"
bough append "What if we take the train?"`,
	}, "Branched", (*workspace.Workspace).Branch)
}

// snapshotVerb returns v as a verb that copies a path to a new session.
func (p *program) snapshotVerb(v verb, did string, take func(*workspace.Workspace, context.Context, string, workspace.SnapshotOptions) (*workspace.Snapshot, error)) verb {
	v.args, v.flags, v.choices, v.max, v.changes = "[REF] [--name N] "+v.args+"[--strict] [--partial]", append(v.flags, snapshotFlags()...), []choice{chooseSession}, 1, true
	v.action = func(c *cli.Context, w *workspace.Workspace) error {
		s, err := take(w, c.Context, refOrHead(c), snapshotOptions(c))
		if err != nil {
			return err
		}
		return p.snapshot(did, s)
	}
	return v
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
	fmt.Fprintf(p.stderr, "%s %q: %s, %s%s\n", did, clean(s.Title), count(s.MessageCount, "message"), size(s.Bytes), stored)
	fmt.Fprintln(p.stdout, clean(s.ID))
	return nil
}
