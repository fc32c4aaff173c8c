package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/urfave/cli/v2"
)

func (p *program) pickVerb() verb {
	return verb{
		name:  "pick",
		args:  "REF… [--onto REF] [--turn] [--keep-head] [--dry-run]",
		short: "copy messages to another place",
		long: `Copies messages below the head or, with --onto, below any message, in the given order and as one
change, and moves the head to the last copy. REF is a message or a range A..B:

  "By train@msg_11aa..By train"   A is on the path to B: the messages after A, up to B
  "Plan the trip..By train"       A is elsewhere: the messages of B's path since the two paths part
  "..By train"                    the messages from the first one of the conversation, up to B
  "By train@msg_11aa.."           the messages after A, up to the head

--turn copies the whole turn of each message, from the message of the user to the end of the answer.

A tool call is copied with its results, and a result with its call; these additional messages are
listed. A call that is already on the path is refused. A copy has a new id and parent and is
otherwise unchanged, also in its time; 'bough show --json' has its origin in metadata.bough.picked.
Below a checkpoint, the copies begin a branch of it. Prints SESSION@MESSAGE of the last copy.`,
		example: `bough pick "Plan the trip@msg_2b0c3457"
bough pick "Plan the trip..By train" --onto "Plan the trip"
bough pick "By train@msg_11aa" --turn --dry-run`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "onto", DefaultText: "the head", Usage: "copy below the message `REF`"},
			&cli.BoolFlag{Name: "turn", DisableDefaultText: true, Usage: "copy the whole turn of each message"},
			keepHeadFlag(),
			dryRunFlag(),
		},
		min:     1,
		max:     maxRefs,
		choices: []choice{chooseSession},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.IsSet("onto") && c.String("onto") == "" {
				return usageError("--onto is empty")
			}
			done, err := w.Pick(c.Context, rewrite.PickOptions{
				Refs: c.Args().Slice(), Onto: c.String("onto"), Turn: c.Bool("turn"), KeepHead: c.Bool("keep-head"), DryRun: c.Bool("dry-run"),
			})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(done)
			}
			did := "Picked"
			if done.DryRun {
				did = "Dry run: would pick"
			}
			fmt.Fprintf(p.stderr, "%s %s onto %s\n", did, count(len(done.Messages), "message"), place(done.Session, string(done.Parent)))
			p.copies(done.Messages)
			p.forked(string(done.ForkedFrom), done.Session, done.DryRun)
			last := done.Messages[len(done.Messages)-1].Message
			p.mixed(done.Mixed, done.Session, string(last))
			if !done.DryRun {
				fmt.Fprintln(p.stdout, place(done.Session, string(last)))
			}
			return nil
		},
	}
}

// maxRefs is the maximum number of messages that one command line names.
const maxRefs = 1000

func keepHeadFlag() cli.Flag {
	return &cli.BoolFlag{Name: "keep-head", DisableDefaultText: true, Usage: "do not move the head"}
}

// copies prints messages that are copied or omitted, one on each line.
func (p *program) copies(list []rewrite.Copy) {
	for _, m := range list {
		text := fmt.Sprintf("  %s  %s  ", shortMessage(m.From.Message), clean(m.Role))
		why := ""
		switch {
		case m.Call != "":
			why = "  (for the call " + line(string(m.Call)) + ")"
		case m.Unpaired:
			why = "  (a call without a result, or a result without its call)"
		}
		width := 0
		if p.talk.width > 0 {
			width = max(p.talk.width-len(text)-len(why), 1)
		}
		fmt.Fprintln(p.stderr, text+p.talk.fit(line(m.Text), width)+why)
	}
}

// forked prints that a checkpoint was branched.
func (p *program) forked(from, branch string, dryRun bool) {
	switch {
	case from == "":
	case dryRun:
		fmt.Fprintf(p.stderr, "%s is a checkpoint; a branch of it would be created\n", clean(from))
	default:
		fmt.Fprintf(p.stderr, "%s is a checkpoint; created branch %s\n", clean(from), clean(branch))
	}
}

// mixed prints that Penguin does not show a branch inside a session.
func (p *program) mixed(is bool, session, message string) {
	if is {
		fmt.Fprintf(p.stderr, "Penguin shows a session as one line, without the branches inside it.\n  'bough branch %s' copies this branch to a session of its own\n", place(session, message))
	}
}
