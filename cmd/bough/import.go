package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) importVerb() verb {
	return verb{
		name:  "import",
		args:  "[PATH…] [--from TOOL] [--format FORMAT] [--skip PATTERN] [--again] [--dry-run]",
		short: "take in the conversations of another assistant",
		long: `Takes in the conversations in a file, in all files of a folder, in an archive (zip, tar,
gzip, zstd), or - for standard input. Each becomes a session, with all its branches: also
those that the other program does not show any more. What stands in a file tells what it
is. --from finds the conversations where TOOL keeps them on this machine.

Importing again adds what is new, completes an answer that was still being written, and
changes nothing else. A file that did not change is not read. A conversation that was
exported from here is the one that it was exported from, and one that began as a copy of
another becomes a branch of it. What was removed here, or whose import was undone, stays
out; --again imports it.

An import is one step: 'bough undo' takes all of it back. --skip keeps out files, and
conversations about folders, by a name (tmp), or by a whole path ('~/work/client', '/src/**').
config.json in the workspace can list patterns too: {"import":{"skip":["tmp"]}}.

Formats:
` + formatList((*convert.Format).Reads) + `

Tools: ` + strings.Join(formatNames("from"), ", ") + `

Exits with 5 if something could not be read; the rest is taken in.`,
		example: `bough import --from claude-code
bough import ~/Downloads/chatgpt-export.zip --dry-run
bough import --from codex --skip '~/work/client'`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "import what `TOOL` keeps on this machine; a PATH is taken in place of where it keeps that"},
			&cli.StringFlag{Name: "format", DefaultText: "what stands in each file tells", Usage: "all files are in this `FORMAT`"},
			&cli.StringSliceFlag{Name: "skip", Usage: "keep out files and folders that match `PATTERN`, beside those of the workspace's config.json"},
			&cli.BoolFlag{Name: "again", DisableDefaultText: true, Usage: "also import what was removed here, or whose import was undone"},
			&cli.BoolFlag{Name: "live", DisableDefaultText: true, Usage: "for programs that import while a conversation goes on: undo passes over it"},
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "say what would be done, and do nothing"},
		},
		max:     1 << 20,
		changes: true,
		action:  p.importAction,
	}
}

func (p *program) importAction(c *cli.Context, w *workspace.Workspace) error {
	o := workspace.ImportOptions{
		Stdin: p.stdin, DryRun: c.Bool("dry-run"), Skip: c.StringSlice("skip"), Again: c.Bool("again"), Live: c.Bool("live"),
	}
	paths := c.Args().Slice()
	var err error
	if name := c.String("format"); name != "" {
		if o.Format, err = formatNamed("format", name); err != nil {
			return err
		}
		if !o.Format.Reads() {
			return usageError("bough writes %s, and does not read it", name)
		}
	}
	switch name := c.String("from"); {
	case name == "opencode" && len(paths) == 0:
		dir, err := p.fromOpencode(c.Context)
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		paths, o.Name = []string{dir}, func(path string) string { return "opencode export " + strings.TrimSuffix(filepath.Base(path), ".json") }
	case name != "":
		if paths, err = whereKept(name, paths, &o); err != nil {
			return err
		}
	}
	if len(paths) == 0 {
		e := usageError("'bough import' takes a PATH, or --from TOOL")
		e.Hint = seeHelp("import")
		return e
	}
	if !p.json {
		o.Each = func(r workspace.Imported) {
			if len(r.Problems) > 0 || r.Status != workspace.ImportUnchanged && (r.Status != workspace.ImportSkipped || r.Named) {
				p.imported(r)
			}
		}
	}
	debug.SetGCPercent(40) // a long transcript passes through: memory counts more than time
	list, err := w.Import(c.Context, paths, o)
	if err != nil {
		if list != nil && len(list.Imported) > 0 && !p.json {
			p.meter.clear()
			p.importSummary(list.Imported, o.DryRun)
		}
		return err
	}
	if p.json {
		err = p.printJSON(list)
	} else {
		p.meter.clear()
		p.importSummary(list.Imported, o.DryRun)
	}
	if err == nil && slices.ContainsFunc(list.Imported, unreadable) {
		return damageFound{}
	}
	return err
}

// unreadable reports whether something of a conversation could not be read.
func unreadable(r workspace.Imported) bool {
	return r.Status == workspace.ImportFailed || len(r.Problems) > 0
}

// whereKept returns the paths where a tool keeps its conversations.
func whereKept(tool string, paths []string, o *workspace.ImportOptions) ([]string, error) {
	f, err := formatNamed("from", tool)
	if err != nil {
		return nil, err
	}
	roots := f.Roots(machine())
	if roots != nil {
		o.Holds = f.Holds
	}
	o.Format = cmp.Or(o.Format, f)
	if len(paths) > 0 {
		return paths, nil
	}
	if roots == nil {
		e := usageError("--from: %s keeps no conversations on this machine that bough could find", tool)
		e.Hint = "export them there, and name the file: 'bough import FILE'"
		return nil, e
	}
	for _, root := range roots {
		if _, err := os.Stat(root); err == nil {
			paths = append(paths, root)
		}
	}
	if len(paths) == 0 {
		return nil, &workspace.Error{
			Code:    workspace.NotFound,
			Message: "there are no conversations of " + tool + " in " + strings.Join(roots, " or "),
			Hint:    "name the folder: 'bough import --from " + tool + " FOLDER'",
		}
	}
	return paths, nil
}

// imported tells of one conversation.
func (p *program) imported(r workspace.Imported) {
	p.meter.clear()
	status := string(r.Status)
	switch r.Status {
	case workspace.ImportFailed:
		status = p.paint.yellow(status)
	case workspace.ImportSkipped:
		status = p.paint.dim(status)
	default:
		status = p.paint.green(status)
	}
	defer func() {
		for _, text := range slices.Concat(r.Problems, r.Notes) {
			fmt.Fprintf(p.stderr, "  %s: %s\n", clean(r.Path), line(text))
		}
	}()
	if r.Detail != "" {
		fmt.Fprintf(p.stdout, "%s  %s: %s\n", status, clean(r.Path), line(r.Detail))
		return
	}
	about := []string{r.Format, count(r.Messages, "message")}
	if id := string(r.Session); id != "" {
		about = append([]string{id[max(0, len(id)-8):]}, about...)
	}
	if r.Status == workspace.ImportUpdated && (r.Added > 0 || r.Replaced == 0) {
		about = append(about, fmt.Sprintf("%d new", r.Added))
	}
	if r.Replaced > 0 {
		about = append(about, fmt.Sprintf("%d completed", r.Replaced))
	}
	if r.Branches > 1 {
		about = append(about, fmt.Sprintf("%d branches", r.Branches))
	}
	if r.Orphans > 0 {
		about = append(about, count(r.Orphans, "orphan"))
	}
	rest := strings.Join(about, " · ")
	title := p.paint.fit(line(cmp.Or(r.Title, r.Path)), p.paint.width-len(r.Status)-width(rest)-4)
	fmt.Fprintf(p.stdout, "%s  %s  %s\n", status, p.paint.bold(title), p.paint.dim(rest))
}

// importSummary says how many came of each kind.
func (p *program) importSummary(rows []workspace.Imported, dry bool) {
	counts := map[workspace.ImportStatus]int{}
	messages := 0
	for _, r := range rows {
		counts[r.Status]++
		messages += r.Added
	}
	var parts []string
	for _, s := range []workspace.ImportStatus{workspace.ImportNew, workspace.ImportUpdated, workspace.ImportUnchanged, workspace.ImportSkipped, workspace.ImportFailed} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	text := "There was nothing to import."
	if len(parts) > 0 {
		text = strings.Join(parts, ", ") + "; " + count(messages, "new message")
		if dry {
			text = "It would be: " + text
		}
	}
	fmt.Fprintln(p.stderr, text)
	if slices.ContainsFunc(rows, func(r workspace.Imported) bool { return r.Removed }) {
		fmt.Fprintln(p.stderr, "  what was removed here, or whose import was undone, stays out; --again imports it")
	}
}
