package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/urfave/cli/v2"
)

func (p *program) replayVerb() verb {
	return verb{
		name:  "replay",
		args:  "REF [--onto REF] [--edit MESSAGE [--text T]] [--system T] [--agent A] [--go-on] [--dry-run] " + turnWords + " | --resume [SESSION]",
		short: "send your messages again, with another model, prompt or beginning",
		long: `Sends the messages of the user again, in a new branch, and an agent answers each, with tools, as in
'bough agent chat'. Merges are omitted and listed. The original branch does not change. REF is the
end of a path, or a range A..B of it. A REF without a range needs --onto or --edit: with --onto, the
messages are added below that message, from the first one that is not on its path; --edit changes
the text of one message and, without --onto, begins with it. Without --text, --edit opens an editor.
--model and --system answer with another model or system prompt.

The agent is the one that --agent names, else the owner of the conversation, else one named replay,
which is created if --model is given. If an answer asks a question (it opens clarifications, or ends
with a question mark), the replay stops: answer with 'bough agent chat' if you like, and continue
with --resume. --resume also continues after an interrupt or a crash; messages that were answered
are not sent again. At the end it compares the two branches. Prints SESSION@MESSAGE.`,
		example: `bough replay "Plan the trip" --edit msg_2b0c3457 --text "And by train?"
bough replay "By train" --onto "Plan the trip" --model anthropic:claude-sonnet-4-5
bough replay ..HEAD --system @brief.txt --model openai:gpt-5
bough replay --resume`,
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "onto", DefaultText: "the message before the first one", Usage: "add the messages below the message `REF`"},
			&cli.StringFlag{Name: "edit", Usage: "change the text of `MESSAGE`"},
			&cli.StringFlag{Name: "text", Usage: "the new text `T` for --edit; '-' reads standard input"},
			&cli.StringFlag{Name: "system", Usage: "the system prompt `T`, or @FILE with it"},
			&cli.StringFlag{Name: "agent", Usage: "let the agent `A` answer"},
			&cli.StringFlag{Name: "name", Usage: "the name `N` of the new branch"},
			&cli.BoolFlag{Name: "resume", DisableDefaultText: true, Usage: "continue the replay that made SESSION, or the last one"},
			&cli.BoolFlag{Name: "go-on", DisableDefaultText: true, Usage: "do not stop at an answer that asks something back"},
			streamFlag(),
			dryRunFlag(),
		}, turnFlags()),
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			t := p.newTeller(c, w)
			o, err := p.replayOptions(c, w, t)
			if err != nil {
				return err
			}
			var done *api.Replayed
			err = t.watch(c.Context, func(ctx context.Context) (err error) {
				run := w.Replay
				if c.Bool("resume") {
					run = func(ctx context.Context, o rewrite.ReplayOptions) (*rewrite.Replay, error) {
						return w.ResumeReplay(ctx, c.Args().First(), o)
					}
				}
				done, err = api.Compared(ctx, w)(run(ctx, o))
				return err
			})
			if err != nil || t.stream {
				return err
			}
			if p.json {
				return p.printJSON(done)
			}
			p.replayed(done)
			return nil
		},
	}
}

func (p *program) replayOptions(c *cli.Context, w *workspace.Workspace, t *turnPrinter) (o rewrite.ReplayOptions, err error) {
	o = rewrite.ReplayOptions{
		Ref: c.Args().First(), Onto: c.String("onto"), Edit: c.String("edit"), Agent: c.String("agent"), Name: c.String("name"),
		GoOn: c.Bool("go-on"), DryRun: c.Bool("dry-run"), Count: api.CountMessage(),
	}
	switch resume := c.Bool("resume"); {
	case resume && (o.Onto+o.Edit+o.Agent+o.Name != "" || c.IsSet("system") || c.IsSet("text")):
		return o, usageError("--resume continues a replay as it was begun; it takes only a SESSION and the flags of turns")
	case !resume && o.Ref == "":
		return o, usageError("'bough replay' takes REF, or --resume")
	case !resume && o.Onto == "" && o.Edit == "" && !strings.Contains(o.Ref, ".."):
		return o, usageError("where does the replay begin? give a range A..B, --onto REF or --edit MESSAGE")
	case c.IsSet("text") && o.Edit == "":
		return o, usageError("--text needs --edit")
	}
	if o.Turn, err = p.turnOptions(c, t); err != nil {
		return o, err
	}
	if o.Price, err = api.Prices(w.Dir()); err != nil {
		return o, err
	}
	if c.IsSet("system") {
		text := c.String("system")
		if file, ok := strings.CutPrefix(text, "@"); ok {
			data, err := os.ReadFile(file)
			if err != nil {
				return o, err
			}
			text = string(data)
		}
		o.System = &text
	}
	if o.Edit == "" {
		return o, nil
	}
	was := ""
	if !c.IsSet("text") {
		if was, err = w.UserText(c.Context, o.Edit); err != nil {
			was, err = w.UserText(c.Context, onPathOf(o.Ref, o.Edit))
		}
		if err != nil {
			return o, err
		}
	}
	if o.Text, err = p.newText(c, was); err == nil && strings.TrimSpace(o.Text) == "" {
		err = usageError("the text is empty; nothing was changed")
	}
	return o, err
}

// onPathOf returns the REF of a message of the path that is replayed: the id of a message may be
// short there.
func onPathOf(path, message string) string {
	if _, end, isRange := strings.Cut(path, ".."); isRange {
		path = end
	}
	if i := strings.LastIndex(path, "@"); i > 0 {
		path = path[:i]
	}
	return path + "@" + message
}

// replayed prints what a replay did and how the branches differ.
func (p *program) replayed(done *api.Replayed) {
	for _, m := range done.Merges {
		ref := line(tail(m.Session)) + "@" + shortMessage(m.Message)
		fmt.Fprintf(p.stderr, "Omitted the merge %s; 'bough pick %s' copies it\n", ref, ref)
	}
	if done.DryRun {
		fmt.Fprintf(p.stderr, "Dry run: %s would answer %s again:\n", clean(done.Agent), count(len(done.Left), "message"))
		for _, m := range done.Left {
			fmt.Fprintln(p.stdout, place(m.Session, m.Message))
		}
		fmt.Fprintf(p.stderr, "About %s, if the answers are as long as before\n", api.SpentText(done.Tokens))
		return
	}
	fmt.Fprintf(p.stderr, "Replayed %s in %s; about %s\n", count(len(done.Turns), "message"), clean(string(done.Session)), api.SpentText(done.Tokens))
	if d := done.Diff; d != nil {
		fmt.Fprintf(p.stderr, "Before: %s, now: %s beyond the common ones; 'bough compare %s %s' shows them\n", count(len(d.A), "message"), count(len(d.B), "message"),
			clean(d.RefA), clean(d.RefB))
	}
	if done.Asked {
		fmt.Fprintf(p.stderr, "Stopped, because the answer asks something; %s left. 'bough agent chat %s TEXT' answers, 'bough replay --resume %s' continues\n",
			count(len(done.Left), "message"), clean(done.Agent), clean(string(done.Session)))
	}
	fmt.Fprintln(p.stdout, place(string(done.Session), string(done.Message)))
}
