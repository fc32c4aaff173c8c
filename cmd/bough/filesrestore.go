package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
	"github.com/urfave/cli/v2"
)

// withFiles is what help says about the files that go back too.
const withFiles = `
--files restores the files of a folder to the state at that message instead, and the head stays;
--both does both. With --files, the argument can also be the id of a state. Only changes of the
conversation since then are reverted; your own changes stay. If both changed a path, that is a
conflict: nothing is changed, and the paths are listed. --keep leaves these paths as they are,
--take replaces them with those of the state, --merge reverts only the lines that the conversation
changed. --whole makes the folder exactly that state. bough takes a state of the folder first, so
'bough undo' restores everything. Ignored files, secrets and files that states do not hold are never
touched. --dry-run only prints what would change.`

// planFlags are the flags that say which files change.
func planFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "print what would change, and change nothing"},
		&cli.BoolFlag{Name: "whole", DisableDefaultText: true, Usage: "make the folder exactly the state"},
		&cli.BoolFlag{Name: "keep", DisableDefaultText: true, Usage: "leave conflicts as they are"},
		&cli.BoolFlag{Name: "take", DisableDefaultText: true, Usage: "take the state where there are conflicts"},
		&cli.BoolFlag{Name: "merge", DisableDefaultText: true, Usage: "merge conflicts line by line"},
		&cli.StringSliceFlag{Name: "only", KeepSpace: true, DefaultText: "all", Usage: "only this `PATH` of the folder and what is below it; repeatable"},
	}
}

// planFlagsOf are the flags of a verb that changes files only with another flag.
func planFlagsOf(needed string) []cli.Flag {
	flags := planFlags()
	for _, f := range flags {
		switch f := f.(type) {
		case *cli.BoolFlag:
			if f.Name != "dry-run" {
				f.Usage += "; needs " + needed
			}
		case *cli.StringSliceFlag:
			f.Usage += "; needs " + needed
		}
	}
	return flags
}

// filesOrBoth are the flags that say what goes back, and of which folder.
func filesOrBoth() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "files", DisableDefaultText: true, Usage: "bring the files back, and leave the head"},
		&cli.BoolFlag{Name: "both", DisableDefaultText: true, Usage: "bring the files back and move the head"},
		dirFlag(),
	}
}

// goesBack returns what goes back: the head, files, or both.
func goesBack(c *cli.Context) (head, restored bool, err error) {
	if c.Bool("files") && c.Bool("both") {
		return false, false, usageError("--files and --both exclude each other")
	}
	head, restored = !c.Bool("files"), c.Bool("files") || c.Bool("both")
	if !restored {
		err = needs(c, "--files or --both", "dir", "dry-run", "whole", "keep", "take", "merge", "only")
	}
	return head, restored, err
}

func restoreOptions(c *cli.Context) (o restores.Options, err error) {
	o = restores.Options{DryRun: c.Bool("dry-run"), Whole: c.Bool("whole")}
	chosen := ""
	for _, name := range []string{"whole", restores.Keep, restores.Take, restores.Merge} {
		if !c.Bool(name) {
			continue
		}
		if chosen != "" {
			return o, usageError("--%s and --%s exclude each other", chosen, name)
		}
		if chosen = name; name != "whole" {
			o.Conflicts = name
		}
	}
	for _, name := range c.StringSlice("only") {
		if name = strings.TrimSuffix(name, "/"); name == "" {
			return o, usageError("--only is empty")
		}
		o.Only = append(o.Only, name)
	}
	return o, nil
}

// restoreFiles brings only files back, and prints what happened.
func (p *program) restoreFiles(c *cli.Context, w *workspace.Workspace, restore func(restores.Options) (*restores.Restore, error)) error {
	o, err := restoreOptions(c)
	if err != nil {
		return err
	}
	r, err := restore(o)
	if err != nil {
		return err
	}
	if p.json {
		err = p.printJSON(api.RestoredFilesOf(c.Context, w, r))
	} else {
		p.restored(r, o.DryRun)
	}
	if err == nil && len(r.Conflicts) > 0 {
		return refusedFound{}
	}
	return err
}

// restoreBoth brings files back and moves the head, and prints what happened.
func (p *program) restoreBoth(c *cli.Context, restore func(restores.Options) (*lines.Position, error)) error {
	o, err := restoreOptions(c)
	if err != nil {
		return err
	}
	pos, err := restore(o)
	if err != nil {
		return err
	}
	if !p.json {
		p.restored(pos.Files, o.DryRun)
	}
	if o.DryRun && !p.json {
		fmt.Fprintf(p.stderr, "Dry run: would move the head to %s\n", place(string(pos.Head.Session), string(pos.Head.Message)))
	} else if err := p.position(pos); err != nil {
		return err
	}
	if len(pos.Files.Conflicts) > 0 {
		return refusedFound{}
	}
	return nil
}

// restored prints what bringing files back did, or would do.
func (p *program) restored(r *restores.Restore, dryRun bool) {
	p.meter.clear()
	if !r.Exact {
		fmt.Fprintf(p.stderr, "No state of that message; the nearest earlier one is %s\n", lookup.Short(r.To))
	}
	if r.Late {
		fmt.Fprintf(p.stderr, "The state %s was taken while the assistant may already have been working\n", lookup.Short(r.To))
	}
	for _, name := range r.Written {
		fmt.Fprintf(p.stdout, "written   %s\n", line(name))
	}
	for _, name := range r.Deleted {
		fmt.Fprintf(p.stdout, "deleted   %s\n", line(name))
	}
	for _, k := range r.Kept {
		fmt.Fprintf(p.stdout, "kept      %s  %s\n", line(k.Path), whyKept(k))
	}
	for _, k := range r.Conflicts {
		fmt.Fprintf(p.stdout, "conflict  %s  %s\n", line(k.Path), conflicting(k))
	}
	where := line(r.Dir)
	if r.Mapped != "" {
		fmt.Fprintf(p.stderr, "%s is %s on this machine ('bough remote map')\n", line(r.Mapped), where)
	}
	switch changed := len(r.Written) + len(r.Deleted); {
	case len(r.Conflicts) > 0:
		fmt.Fprintf(p.stderr, "Dry run: would be refused because of %s in %s\n", count(len(r.Conflicts), "conflict"), where)
	case changed == 0 && r.Orphan:
		fmt.Fprintf(p.stderr, "Nothing to change in %s: the conversation of this state does not exist, so what it changed is unknown; --whole makes the folder exactly the state\n", where)
	case changed == 0 && r.Differs:
		fmt.Fprintf(p.stderr, "Nothing to change in %s: the conversation did not change what differs from the state; --whole makes the folder exactly the state\n", where)
	case changed == 0:
		fmt.Fprintf(p.stderr, "Nothing to change in %s\n", where)
	case dryRun:
		fmt.Fprintf(p.stderr, "Dry run: would change %s in %s\n", count(changed, "path"), where)
	default:
		fmt.Fprintf(p.stderr, "Changed %s in %s; 'bough undo' reverts it\n", count(changed, "path"), where)
	}
}

// whyKept says why a path stays as it is.
func whyKept(k restores.Kept) string {
	text, ok := map[string]string{
		"yours":           "you changed it",
		"conflict":        "you changed it too",
		"ignored":         "an ignore rule matches it",
		"forgotten":       "its earlier content was deleted permanently",
		"not_empty":       "something in it stays",
		"blocked":         "a path above it stays",
		"changed":         "another program changed it meanwhile",
		"locked":          "another program has it open",
		"denied":          "the system refused the change",
		"damaged":         "the disk lost its new content",
		"secret":          "states do not hold secrets",
		"large":           "states do not hold files of this size",
		"folder_large":    "states do not hold folders of this size",
		"ignored_tracked": "an ignore rule matches it",
	}[k.Why]
	if !ok {
		text = k.Why
	}
	if k.As != "" {
		text += "; what it wrote is in " + line(k.As)
	}
	return text
}

// printConflicts lists the paths of conflicts, and what changed.
func (p *program) printConflicts(w io.Writer, list []restores.Conflict) {
	for _, c := range list {
		fmt.Fprintf(w, "  %s  %s\n", line(c.Path), conflicting(c))
	}
}

// conflicting says what changed at a path of a conflict: in the folder, and by the restore.
func conflicting(c restores.Conflict) string {
	would := "would be " + did(c.Yours, c.Theirs)
	switch {
	case c.Why == restores.NoEnd:
		return "changed by a turn without an end or by you, " + would
	case c.Why == restores.ByOther:
		return "changed by another conversation too, " + would
	case c.Base == c.Yours || c.Base != nil && c.Yours != nil && *c.Base == *c.Yours: // before the last state of this conversation
		return "changed by others too, " + would
	}
	return did(c.Base, c.Yours) + " since, " + would
}

// did says what happened from one version of a path to another.
func did(from, to *files.Version) string {
	switch {
	case from == nil && to == nil:
		return "absent"
	case from == nil:
		return "added"
	case to == nil:
		return "deleted"
	case from.Type != to.Type:
		return "replaced by a " + to.Type
	case *from == *to:
		return "unchanged"
	case from.SHA256 == to.SHA256:
		return "changed to mode " + to.Mode
	}
	return "changed"
}
