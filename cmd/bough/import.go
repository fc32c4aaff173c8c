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
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/urfave/cli/v2"
)

func (p *program) importVerb() verb {
	return verb{
		name:  "import",
		args:  "[PATH…] [--from TOOL…] [--format FORMAT] [--skip PATTERN] [--again] [--dry-run]",
		short: "import conversations of other assistants",
		long: `Imports the conversations in a file, in all files of a folder, in an archive (zip, tar, gzip,
zstd), or from standard input (-). Each becomes a session with all its branches, also those that
the other program no longer shows. The format is detected from the content. --from imports the
conversations that TOOL keeps on this machine; it can be given several times.

Importing again adds new messages, completes an answer that was still being written, and changes
nothing else. Unchanged files are not read. New messages of an exported conversation are added to
the original, and a conversation that began as a copy of another becomes a branch of it.
Conversations that were removed from the workspace, or whose import was undone, are skipped unless
--again is given.

An import is one operation: 'bough undo' undoes all of it. --skip excludes files, and conversations
about folders, by a name (tmp) or a whole path ('~/clients/acme', '/src/**'). The setting import.skip
in config.json adds patterns: {"import":{"skip":["tmp"]}}.

Formats:
` + formatList((*convert.Format).Reads) + `

Tools: ` + strings.Join(formatNames("from"), ", ") + `

The exit code is 5 if a file or conversation could not be read; the others are imported.`,
		example: `bough import --from claude-code
bough import ~/Downloads/chatgpt-export.zip --dry-run
bough import --from claude-code --from codex
bough import --from codex --skip '~/clients/acme'`,
		flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "from", Usage: "import the conversations that `TOOL` keeps on this machine or, with a PATH, at that path; repeatable"},
			&cli.StringFlag{Name: "format", DefaultText: "detected", Usage: "read all files as `FORMAT`"},
			&cli.StringSliceFlag{Name: "skip", Usage: "skip files and folders that match `PATTERN`, in addition to the setting import.skip; repeatable"},
			&cli.BoolFlag{Name: "again", DisableDefaultText: true, Usage: "also import conversations that were removed or whose import was undone"},
			&cli.BoolFlag{Name: "live", DisableDefaultText: true, Usage: "for programs that import while a conversation is active: undo skips it"},
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "print what would be imported and change nothing"},
		},
		max:     1 << 20,
		changes: true,
		action:  p.importAction,
	}
}

func (p *program) importAction(c *cli.Context, w *workspace.Workspace) error {
	o := imports.Options{
		Stdin: p.stdin, DryRun: c.Bool("dry-run"), Skip: c.StringSlice("skip"), Again: c.Bool("again"), Live: c.Bool("live"),
	}
	sources, err := p.importSources(c)
	if err != nil {
		return err
	}
	if !p.json {
		o.Each = func(r imports.Transcript) {
			if r.BegunBy != "" && !r.Named && r.Status != imports.Failed && len(r.Problems) == 0 {
				return // the summary counts them
			}
			if len(r.Problems) > 0 || r.Status != imports.Unchanged && (r.Status != imports.Skipped || r.Named) {
				p.imported(r)
			}
		}
	}
	debug.SetGCPercent(40) // transcripts are long: saves memory at the cost of time
	list, err := w.ImportAll(c.Context, sources, o)
	if err != nil {
		if list != nil && len(list.Imported) > 0 && !p.json {
			p.meter.clear()
			p.importSummary(list, o.DryRun)
		}
		return err
	}
	if p.json {
		err = p.printJSON(list)
	} else {
		p.meter.clear()
		p.importSummary(list, o.DryRun)
	}
	if err == nil && slices.ContainsFunc(list.Imported, unreadable) {
		return damageFound{}
	}
	return err
}

// unreadable reports whether a part of a conversation could not be read.
func unreadable(r imports.Transcript) bool {
	return r.Status == imports.Failed || len(r.Problems) > 0
}

// importSources returns the sources that the arguments of 'bough import' name.
func (p *program) importSources(c *cli.Context) (sources []imports.Source, err error) {
	paths, tools := c.Args().Slice(), c.StringSlice("from")
	var format *convert.Format
	if name := c.String("format"); name != "" {
		if format, err = formatNamed("format", name); err != nil {
			return nil, err
		}
		if !format.Reads() {
			return nil, usageError("bough writes %s but does not read it", format.Name)
		}
	}
	switch {
	case len(tools) == 0 && len(paths) == 0:
		e := usageError("'bough import' needs a PATH or --from TOOL")
		e.Hint = seeHelp("import")
		return nil, e
	case len(tools) == 0:
		return []imports.Source{{Paths: paths, Format: format}}, nil
	case len(tools) > 1 && len(paths) > 0:
		e := usageError("a PATH allows only one --from")
		e.Hint = "give one tool with a PATH, or several tools without"
		return nil, e
	}
	list, err := toolsNamed(tools)
	if err != nil {
		return nil, err
	}
	if len(paths) > 0 {
		return pathSources(list, format, paths), nil
	}
	found := map[string]bool{}
	for _, tool := range list {
		source, err := importSource(tool)
		if err != nil {
			return nil, err
		}
		if len(source.Paths) > 0 {
			found[tool.Tool()] = true
			source.Format = cmp.Or(format, source.Format)
			sources = append(sources, source)
		}
		if unread := tool.Unread(machine()); unread != "" {
			p.note(unread)
		}
	}
	for _, tool := range list {
		if found[tool.Tool()] {
			continue
		}
		missing := notFound(tool.Tool(), list)
		if len(sources) == 0 {
			return nil, missing
		}
		p.note(missing.Message)
		found[tool.Tool()] = true // it is said once
	}
	return imports.Disjoint(sources), nil
}

// pathSources returns the sources of paths that were given with a tool, of which list has the formats. If
// there are several, a folder is searched for the files of each, and the name of a file says which format it
// has; a file with another name is detected. format is that of all files if it is not nil.
func pathSources(list []*convert.Format, format *convert.Format, paths []string) (sources []imports.Source) {
	if len(list) == 1 {
		source := imports.Source{Paths: paths, Format: cmp.Or(format, list[0])}
		if list[0].KeepsFiles() {
			source.Holds = list[0].Holds
		}
		return []imports.Source{source}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			sources = append(sources, imports.Source{Paths: []string{path}, Format: cmp.Or(format, holder(list, path))})
			continue
		}
		for _, f := range list {
			sources = append(sources, imports.Source{Paths: []string{path}, Format: cmp.Or(format, f), Holds: f.Holds})
		}
	}
	return sources
}

// holder returns the first of the formats whose program gives a file the name of path, nil if none does.
func holder(list []*convert.Format, path string) *convert.Format {
	dir, name := filepath.Split(path)
	for _, f := range list {
		if f.Holds(name) || f.Holds(filepath.Base(dir)+"/"+name) {
			return f
		}
	}
	return nil
}

// importSource returns the folders where a tool keeps its conversations and that exist.
func importSource(tool *convert.Format) (source imports.Source, err error) {
	roots := tool.Roots(machine())
	if roots == nil {
		e := usageError("--from: bough does not know where %s keeps its conversations", tool.Tool())
		e.Hint = "export them there and run 'bough import FILE'"
		return source, e
	}
	source.Format, source.Holds = tool, tool.Holds
	for _, root := range roots {
		if _, err := os.Stat(root); err == nil {
			source.Paths = append(source.Paths, root)
		}
	}
	return source, nil
}

// notFound is the error that none of the folders of a tool exists.
func notFound(tool string, list []*convert.Format) *fault.Error {
	var roots []string
	for _, f := range list {
		if f.Tool() == tool {
			roots = append(roots, f.Roots(machine())...)
		}
	}
	if n := len(roots) - 2; n > 2 {
		roots = append(roots[:2:2], fmt.Sprintf("%d other folders", n))
	}
	return &fault.Error{
		Code:    fault.NotFound,
		Message: "no conversations of " + tool + " in " + strings.Join(roots, " or "),
		Hint:    "give the folder: 'bough import --from " + tool + " FOLDER'",
	}
}

// imported prints the result for one conversation.
func (p *program) imported(r imports.Transcript) {
	p.meter.clear()
	status := string(r.Status)
	switch r.Status {
	case imports.Failed:
		status = p.paint.yellow(status)
	case imports.Skipped:
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
	if r.Status == imports.Updated && (r.Added > 0 || r.Replaced == 0) {
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

// importSummary prints the number of conversations by result.
func (p *program) importSummary(list *imports.Report, dry bool) {
	counts := map[imports.Status]int{}
	messages, agents, rows := 0, 0, list.Imported
	for _, r := range rows {
		counts[r.Status]++
		if r.BegunBy != "" && (r.Status == imports.New || r.Status == imports.Updated) {
			agents++
		}
		messages += r.Added
	}
	var parts []string
	for _, s := range []imports.Status{imports.New, imports.Updated, imports.Unchanged, imports.Skipped, imports.Failed} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	text := "Nothing to import."
	if len(parts) > 0 {
		text = strings.Join(parts, ", ") + "; " + count(messages, "new message")
		if dry {
			text = fmt.Sprintf("Dry run: would import %s: %s", count(counts[imports.New]+counts[imports.Updated], "conversation"), text)
		}
	}
	fmt.Fprintln(p.stderr, text)
	if agents > 0 {
		fmt.Fprintf(p.stderr, "  %s of sub-agents among them, below the calls that began them; 'bough tree' lists them\n", count(agents, "conversation"))
	}
	if list.Unlinked > 0 {
		fmt.Fprintf(p.stderr, "  %s of sub-agents, of a conversation that is not imported\n", count(list.Unlinked, "conversation"))
	}
	if slices.ContainsFunc(rows, func(r imports.Transcript) bool { return r.Removed }) {
		fmt.Fprintln(p.stderr, "  removed conversations, and those whose import was undone, are skipped; --again imports them")
	}
}
