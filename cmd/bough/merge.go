package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/clipperhouse/displaywidth"
	"github.com/urfave/cli/v2"
)

func (p *program) mergeVerb() verb {
	return verb{
		name:  "merge",
		args:  "BRANCH [--into REF] [--summary TEXT] [--files] [FLAG ...]",
		short: "merge the content of a branch into another one, as one message",
		long: `Adds one message below REF, by default below the head, that summarizes BRANCH: its messages since
the last one that both paths have, or since its last merge there, without merges of the target into
it. Without --into, the head moves to the new message. If BRANCH has no such messages, nothing
changes. BRANCH is any REF, also a message of the same conversation, and does not change.

The text is TEXT ('-' reads it from standard input); or what a model writes, which must cite
messages of the branch, else it is refused; or by default a digest, which rules make: decisions,
answers, changed files, and open questions, with references for 'bough show'. If the target is a
checkpoint, it is branched first. 'bough undo' removes the merge.

--files also applies the changes of the branch to files, as 'bough files apply' does: what changed
in the folder D as well is a conflict, and nothing is merged. --keep leaves these paths as they are,
--take takes those of the branch, --merge merges the lines. --dry-run prints what would be added, or
for a model what it would be asked, and changes nothing.`,
		example: `bough merge "By train"
bough merge "By train" --into "Plan the trip" --summary "By night train"
bough merge - --model openai:gpt-5 --dry-run`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "into", DefaultText: "HEAD", Usage: "merge into `REF`"},
			&cli.StringFlag{Name: "summary", Usage: "add `TEXT`"},
			&cli.BoolFlag{Name: "digest", DisableDefaultText: true, Usage: "add a digest of the branch, without a model"},
			&cli.StringFlag{Name: "model", Usage: "let `MODEL` write the text: " + modelForms},
			allowCommandFlag(),
			&cli.BoolFlag{Name: "files", DisableDefaultText: true, Usage: "bring the files that the branch changed too"},
			dirFlag(),
		}, planFlagsOf("--files")...),
		min:     1,
		max:     1,
		choices: []choice{chooseSession},
		changes: true,
		action:  p.mergeAction,
	}
}

func (p *program) mergeAction(c *cli.Context, w *workspace.Workspace) (err error) {
	o := merge.Options{Into: c.String("into"), DryRun: c.Bool("dry-run"), Files: c.Bool("files"), Dir: c.String("dir")}
	if chosen := c.IsSet("summary"); chosen && c.IsSet("model") || (chosen || c.IsSet("model")) && c.Bool("digest") {
		return usageError("--summary, --digest and --model exclude each other")
	}
	if c.IsSet("into") && o.Into == "" {
		return usageError("--into is empty")
	}
	if !o.Files {
		if err := needs(c, "--files", "dir", "whole", "keep", "take", "merge", "only"); err != nil {
			return err
		}
	}
	if o.Restore, err = restoreOptions(c); err != nil {
		return err
	}
	if c.IsSet("summary") {
		if o.Summary, err = p.text(c.String("summary")); err != nil {
			return err
		}
		if o.Summary == "" {
			return usageError("--summary is empty")
		}
	}
	m, id, closeModel, err := p.modelOf(c, w)
	if err != nil {
		return err
	}
	defer closeModel()
	o.Model, o.ModelID = m, id
	r, err := w.Merge(c.Context, c.Args().First(), o)
	if err != nil {
		return err
	}
	if p.json {
		err = p.printJSON(r)
	} else {
		p.merged(r, &o)
	}
	if err == nil && r.Files != nil && len(r.Files.Conflicts) > 0 {
		return refusedFound{}
	}
	return err
}

// merged prints what a merge did, or would do.
func (p *program) merged(r *merge.Result, o *merge.Options) {
	title := displaywidth.TruncateString(line(r.Title), 60, "…")
	as := ""
	if r.By == merge.ByDigest {
		as = " as a digest"
	}
	switch r.Nothing {
	case merge.Ancestor:
		fmt.Fprintf(p.stderr, "Nothing to merge: the target has all messages of %q\n", title)
		return
	case merge.Already:
		fmt.Fprintf(p.stderr, "Nothing to merge: %q has nothing new\n", title)
		return
	}
	if r.Files != nil {
		p.restored(r.Files, o.DryRun)
	}
	if r.ForkedFrom != "" && !o.DryRun {
		fmt.Fprintf(p.stderr, "%s is a checkpoint; created branch %s\n", clean(string(r.ForkedFrom)), clean(string(r.Session)))
	}
	if r.MovedFrom != "" {
		fmt.Fprintf(p.stderr, "A message was added meanwhile; the merge is after %s\n", shortMessage(string(r.Parent)))
	}
	if o.DryRun {
		text := r.Text
		if r.By == merge.ByModel {
			text = r.Prompt
		}
		fmt.Fprintln(p.stdout, clean(text))
		fmt.Fprintf(p.stderr, "Dry run: would merge %s of %q%s\n", count(r.Merged.Messages, "message"), title, as)
		return
	}
	fmt.Fprintf(p.stderr, "Merged %s of %q%s; 'bough undo' reverts it\n", count(r.Merged.Messages, "message"), title, as)
	fmt.Fprintln(p.stdout, place(string(r.Session), string(r.Message)))
}
