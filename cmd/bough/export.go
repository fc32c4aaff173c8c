package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/redact"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/cli/browser"
	"github.com/urfave/cli/v2"
)

func redactFlag() cli.Flag {
	return &cli.BoolFlag{Name: "redact", DisableDefaultText: true, Usage: "remove keys, tokens and passwords, and print how many"}
}

func (p *program) exportVerb() verb {
	return verb{
		name:  "export",
		args:  "[REF] [--to FORMAT] [-o FILE] [--force] [--open] [--tree] [--redact] [--strict] [--partial]",
		short: "write a conversation in another program's format, or as a document",
		long: `Writes the path to REF in the format of another program, under a new id, so that it can be
continued there, or as a document to read. Without -o it is written to standard output; html is not
written to a terminal.

Without --to the extension of FILE determines the format, if only one format has it. An existing
file is replaced only with --force. --open opens the file with the desktop's default program;
without -o it is a temporary file, and without --to the format is html.

If the conversation was imported from the same program, its records are written unchanged. Content
that the format cannot represent is listed on standard error.

Formats:
` + formatList((*convert.Format).Writes),
		example: `bough export "Plan the trip" -o trip.md
bough export "Plan the trip" --open
bough export "Plan the trip@849dde0b" --to html --tree --redact -o trip.html`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "write `FORMAT`", DefaultText: "by the extension of FILE"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`"},
			&cli.BoolFlag{Name: "force", DisableDefaultText: true, Usage: "replace FILE if it exists"},
			&cli.BoolFlag{Name: "open", DisableDefaultText: true, Usage: "open the file"},
			&cli.BoolFlag{Name: "tree", DisableDefaultText: true, Usage: "export all branches; the path to REF is the active one"},
			redactFlag(),
		}, cutFlags()...),
		choices: []choice{chooseSession},
		max:     1,
		changes: true,
		action:  p.export,
	}
}

func (p *program) export(c *cli.Context, w *workspace.Workspace) error {
	format, err := exportFormat(c)
	if err != nil {
		return err
	}
	path := c.String("output")
	if path == "-" {
		path = ""
	}
	if path == "" && !c.Bool("open") && !p.json && p.paint.width > 0 && format.Ext == ".html" {
		e := usageError("html is not written to a terminal")
		e.Hint = "add --open or -o FILE, or redirect the output"
		return e
	}
	o := exportOptions(c, format)
	e, err := w.Export(c.Context, refOrHead(c), o)
	if err != nil {
		return err
	}
	save := e.Save
	switch {
	case path != "" && c.Bool("force"):
		save = e.Replace
	case path == "" && c.Bool("open"):
		dir, err := os.MkdirTemp("", "bough-export-")
		if err != nil {
			return err
		}
		path = filepath.Join(dir, "conversation"+format.Ext)
	}
	if path != "" {
		if err := save(c.Context, path); err != nil {
			return err
		}
	}
	if err := p.printExport(e, o.Redact != nil); err != nil || !c.Bool("open") {
		return err
	}
	return p.openFile(string(e.Path))
}

// exportFormat returns the format that --to names, else the format of the file's extension.
func exportFormat(c *cli.Context) (*convert.Format, error) {
	to, path := c.String("to"), c.String("output")
	switch {
	case to != "":
		return formatNamed("to", to)
	case path != "" && path != "-":
		return formatOfFile(path)
	case c.Bool("open"):
		return formatNamed("to", "html")
	}
	e := usageError("'bough export' needs --to FORMAT or -o FILE")
	e.Hint = "formats are " + strings.Join(formatNames("to"), ", ")
	return nil, e
}

// printExport prints an export, or the path that it was written to.
func (p *program) printExport(e *workspace.Export, redacted bool) error {
	if p.json {
		return p.printJSON(api.ExportedOf(e))
	}
	p.printLosses(e, redacted)
	var err error
	switch {
	case e.Path != "":
		_, err = fmt.Fprintln(p.stdout, clean(string(e.Path)))
	case p.paint.width > 0:
		_, err = io.WriteString(p.stdout, clean(string(e.Data)))
	default:
		_, err = p.stdout.Write(e.Data)
	}
	return err
}

// openFile opens a file with the desktop's default program.
func (p *program) openFile(path string) error {
	p.stdout.Flush()
	browser.Stdout, browser.Stderr = io.Discard, io.Discard
	location := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}
	if err := browser.OpenURL(location.String()); err != nil {
		return &fault.Error{
			Code: fault.Failed, Message: "no program opened the file: " + err.Error(),
			Hint: "the file is " + path, Err: err,
		}
	}
	return nil
}

func exportOptions(c *cli.Context, format *convert.Format) workspace.ExportOptions {
	o := workspace.ExportOptions{Format: format, Tree: c.Bool("tree"), CutOptions: cutOptions(c)}
	if c.Bool("redact") {
		o.Redact = redact.New().Bytes
	}
	return o
}

// printLosses prints the losses of an export and, with --redact, the
// redactions.
func (p *program) printLosses(e *workspace.Export, redacted bool) {
	path := cmp.Or(string(e.Path), "standard output")
	about := count(e.Messages, "message")
	if e.Branches > 1 {
		about += fmt.Sprintf(" on %d branches", e.Branches)
	}
	p.steppedBack(e.Adjustment, string(e.Message))
	fmt.Fprintf(p.stderr, "Exported %s to %s, %s\n", about, clean(path), size(int64(e.Bytes)))
	for _, l := range e.Lost {
		fmt.Fprintf(p.stderr, "  not exported: %s (%d)\n", clean(l.What), l.Count)
	}
	for _, l := range e.Redacted {
		fmt.Fprintf(p.stderr, "  redacted: %s (%d)\n", clean(l.What), l.Count)
	}
	if redacted && len(e.Redacted) == 0 {
		fmt.Fprintln(p.stderr, "  redacted: no secrets found")
	}
}

func (p *program) resumeVerb() verb {
	return verb{
		name:  "resume",
		args:  "[REF] --in TOOL [--dir FOLDER] [--exec] [--undo] [--redact] [--strict] [--partial]",
		short: "continue a conversation in another assistant",
		long: `Exports the path to REF to the folder where TOOL keeps its conversations, and prints the command
that continues it there. --exec runs the command.

The conversation continues in its own folder, if that is known on this machine, else in the current
one; --dir names another. For a conversation of another machine, that is the folder of the same
project, see 'bough help remote map'. 'bough import --from TOOL' later adds the new messages to the same conversation.

opencode and Kilo Code (kilo) keep no session files: they import one from .bough in the workspace.
The printed command, or --exec, removes that file afterwards.

VS Code (copilot-chat) shows only the chats that its database lists: the conversation is added there, in
the data of its folder, which VS Code must have opened before. VS Code must not run meanwhile. The
database is copied to a file beside it first. --undo removes the conversation from the list
and its file, unless VS Code continued it.

Tools: ` + strings.Join(formatNames("in"), ", "),
		example: `bough resume "Fix the parser@849dde0b" --in claude-code
bough resume "Fix the parser" --in codex --exec`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "in", Usage: "continue in `TOOL`"},
			&cli.StringFlag{Name: "dir", Usage: "continue in this `FOLDER`"},
			&cli.BoolFlag{Name: "exec", DisableDefaultText: true, Usage: "run the command"},
			&cli.BoolFlag{Name: "undo", DisableDefaultText: true, Usage: "remove the exported conversation from the database of TOOL again; only for copilot-chat"},
			redactFlag(),
		}, cutFlags()...),
		choices: []choice{chooseSession},
		max:     1,
		changes: true,
		action:  p.resume,
	}
}

func (p *program) resume(c *cli.Context, w *workspace.Workspace) error {
	if c.String("in") == "" {
		e := usageError("'bough resume' needs --in TOOL")
		e.Hint = "tools are " + strings.Join(formatNames("in"), ", ")
		return e
	}
	if c.Bool("exec") && p.json {
		return usageError("--exec and --json exclude each other: the command uses the terminal")
	}
	format, err := formatNamed("in", c.String("in"))
	if err != nil {
		return err
	}
	if c.Bool("undo") {
		return p.withdraw(c, w, format)
	}
	o := exportOptions(c, format)
	if o.Dir, err = resumeDir(c.String("dir")); err != nil {
		return err
	}
	r, err := w.Resume(c.Context, refOrHead(c), machine(), o)
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(r)
	}
	p.printLosses(r.Export, o.Redact != nil)
	if r.Backup != "" {
		fmt.Fprintf(p.stderr, "Added it to the database of the program; the database as it was is %s\n", clean(string(r.Backup)))
	}
	if r.Away != "" {
		p.awayNote(r)
	}
	if c.Bool("exec") {
		return p.execute(c, r)
	}
	cd := ""
	if here, err := os.Getwd(); err != nil || here != r.Dir {
		cd = "cd " + printable.ShellWord(r.Dir) + " && "
	}
	if len(r.Before) > 0 {
		before := commandLine(r.Before)
		if r.Temporary {
			before += " && rm " + printable.ShellWord(string(r.Path))
		}
		fmt.Fprintln(p.stdout, cd+before)
	}
	fmt.Fprintln(p.stdout, cd+commandLine(r.Run))
	return nil
}

// withdraw takes back what a resume added to the database of a program.
func (p *program) withdraw(c *cli.Context, w *workspace.Workspace, format *convert.Format) error {
	done, err := w.Withdraw(c.Context, refOrHead(c), format, machine())
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(done)
	}
	for _, path := range done.Removed {
		fmt.Fprintf(p.stdout, "Removed %s, and its entry in the database\n", clean(string(path)))
	}
	for _, path := range done.Unlisted {
		fmt.Fprintf(p.stdout, "Removed the entry of %s in the database; the file was gone\n", clean(string(path)))
	}
	for _, path := range done.Continued {
		fmt.Fprintf(p.stderr, "%s stays: %s continued it, and can delete it\n", clean(string(path)), format.Name)
	}
	return nil
}

// awayNote says that the folder of a conversation is not known on this machine.
func (p *program) awayNote(r *workspace.Resumption) {
	if r.Project == nil {
		fmt.Fprintf(p.stderr, "Its folder %s is not on this machine; it continues in %s, and --dir names another one\n", clean(r.Away), clean(r.Dir))
		return
	}
	fmt.Fprintf(p.stderr, "The folder of %s is not known on this machine; it continues in %s\n  'bough remote map %s FOLDER' sets it.\n",
		line(r.Away), clean(r.Dir), printable.ShellWord(r.Project.ID))
}

// resumeDir checks the folder in which a conversation is continued; "" means the default.
func resumeDir(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(abs); err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no folder", abs)
		}
	}
	if err != nil {
		return "", usageError("--dir: %v", err)
	}
	return abs, nil
}

// execute runs the commands of r. It removes a temporary file after the first one, even if
// that fails.
func (p *program) execute(c *cli.Context, r *workspace.Resumption) error {
	run := func(command []string) error {
		p.stdout.Flush()
		run := exec.CommandContext(c.Context, command[0], command[1:]...)
		run.Dir, run.Stdin, run.Stdout, run.Stderr = r.Dir, os.Stdin, os.Stdout, os.Stderr
		err := run.Run()
		if err == nil {
			return nil
		}
		e := &fault.Error{Code: fault.Failed, Message: commandLine(command) + ": " + err.Error(), Err: err}
		if !r.Temporary {
			e.Hint = "the conversation is in " + string(r.Path)
		}
		return e
	}
	if len(r.Before) > 0 {
		err := run(r.Before)
		if r.Temporary {
			if gone := os.Remove(string(r.Path)); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
		if err != nil {
			return err
		}
	}
	return run(r.Run)
}

// commandLine formats a command as it is typed in a shell.
func commandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = printable.ShellWord(a)
	}
	return strings.Join(words, " ")
}
