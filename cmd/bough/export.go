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
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/cli/browser"
	"github.com/urfave/cli/v2"
)

func redactFlag() cli.Flag {
	return &cli.BoolFlag{Name: "redact", DisableDefaultText: true, Usage: "take out keys, tokens and passwords, and say how many"}
}

func (p *program) exportVerb() verb {
	return verb{
		name:  "export",
		args:  "[REF] [--to FORMAT] [-o FILE] [--force] [--open] [--tree] [--redact] [--strict] [--partial]",
		short: "write a conversation as another assistant keeps it, or to be read",
		long: `Writes the path to REF as another program keeps its conversations, under a new id, so that
it goes on there; or as a page to be read. Without -o it goes to standard output; html does
not go to a terminal.

Without --to the extension of FILE decides the format, if only one format has it. A file
that exists is replaced only with --force. --open opens the file with the program that the
desktop has for it; without -o it is a temporary one, and without --to a page in html.

Where the conversation was imported from the same program, its records are written as they
were. What the format has no place for is listed on standard error.

Formats:
` + formatList((*convert.Format).Writes),
		example: `bough export "Plan the trip" -o trip.md
bough export "Plan the trip" --open
bough export "Plan the trip@849dde0b" --to html --tree --redact -o trip.html`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the `FORMAT`", DefaultText: "as the extension of FILE says"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`"},
			&cli.BoolFlag{Name: "force", DisableDefaultText: true, Usage: "replace FILE if it exists"},
			&cli.BoolFlag{Name: "open", DisableDefaultText: true, Usage: "open the file"},
			&cli.BoolFlag{Name: "tree", DisableDefaultText: true, Usage: "with all branches; the path to REF is the active one"},
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
		e := usageError("a terminal does not show html")
		e.Hint = "add --open, or -o FILE, or pipe the output"
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

// exportFormat returns the format that --to names, else the one that the extension of the
// file decides.
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

// printExport prints an export, or where it is.
func (p *program) printExport(e *workspace.Export, redacted bool) error {
	if p.json {
		return p.printJSON(exported{e, contentOf(e)})
	}
	p.exportTold(e, redacted)
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

// openFile opens a file with the program that the desktop has for it.
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

// exported is an export as --json has it: with its content, where that was written to no
// file.
type exported struct {
	*workspace.Export
	Content string `json:"content,omitempty"`
}

func contentOf(e *workspace.Export) string {
	if e.Path != "" {
		return ""
	}
	return string(e.Data)
}

func exportOptions(c *cli.Context, format *convert.Format) workspace.ExportOptions {
	o := workspace.ExportOptions{Format: format, Tree: c.Bool("tree"), CutOptions: cutOptions(c)}
	if c.Bool("redact") {
		o.Redact = redactor()
	}
	return o
}

// exportTold says what was lost and, if secrets were looked for, what was taken out.
func (p *program) exportTold(e *workspace.Export, redacted bool) {
	path := cmp.Or(string(e.Path), "standard output")
	about := count(e.Messages, "message")
	if e.Branches > 1 {
		about += fmt.Sprintf(" on %d branches", e.Branches)
	}
	p.steppedBack(e.Adjustment, string(e.Message))
	fmt.Fprintf(p.stderr, "Exported %s to %s, %s\n", about, clean(path), size(int64(e.Bytes)))
	for _, l := range e.Lost {
		fmt.Fprintf(p.stderr, "  not carried: %s (%d)\n", clean(l.What), l.Count)
	}
	for _, l := range e.Redacted {
		fmt.Fprintf(p.stderr, "  redacted: %s (%d)\n", clean(l.What), l.Count)
	}
	if redacted && len(e.Redacted) == 0 {
		fmt.Fprintln(p.stderr, "  redacted: nothing found")
	}
}

func (p *program) resumeVerb() verb {
	return verb{
		name:  "resume",
		args:  "[REF] --in TOOL [--dir FOLDER] [--exec] [--redact] [--strict] [--partial]",
		short: "go on with a conversation in the assistant of your choice",
		long: `Exports the path to REF to the place where TOOL looks for its conversations, and prints the
command that goes on with it there. With --exec it runs it.

The conversation goes on in the folder that it is about, if that is there, else in this one;
--dir says another. What TOOL writes from then on comes back with 'bough import --from TOOL',
as more of the same conversation.

opencode keeps no files: it imports one from .bough in the workspace, which the printed
command, or --exec, removes afterwards.

Tools: ` + strings.Join(formatNames("in"), ", "),
		example: `bough resume "Fix the parser@849dde0b" --in claude-code
bough resume "Fix the parser" --in codex --exec`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "in", Usage: "the `TOOL`"},
			&cli.StringFlag{Name: "dir", Usage: "go on in this `FOLDER`"},
			&cli.BoolFlag{Name: "exec", DisableDefaultText: true, Usage: "run the command"},
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
		return usageError("--exec and --json exclude each other: the command has the terminal")
	}
	format, err := formatNamed("in", c.String("in"))
	if err != nil {
		return err
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
	p.exportTold(r.Export, o.Redact != nil)
	if c.Bool("exec") {
		return p.execute(c, r)
	}
	cd := ""
	if here, err := os.Getwd(); err != nil || here != r.Dir {
		cd = "cd " + quoted(r.Dir) + " && "
	}
	if len(r.Before) > 0 {
		before := commandLine(r.Before)
		if r.Temporary {
			before += " && rm " + quoted(string(r.Path))
		}
		fmt.Fprintln(p.stdout, cd+before)
	}
	fmt.Fprintln(p.stdout, cd+commandLine(r.Run))
	return nil
}

// resumeDir checks the folder that a conversation is to go on in; "" leaves it open.
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

// execute runs the commands of r. A temporary file is gone after the first, whatever
// became of that.
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

// commandLine returns a command as it is typed.
func commandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = quoted(a)
	}
	return strings.Join(words, " ")
}

// quoted returns a word for a shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,~", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if clean(word) != word { // as bash, zsh and the shell of POSIX 2024 read it
		var b strings.Builder
		for i := range len(word) {
			if c := word[i]; c >= ' ' && c < 0x7f && c != '\'' && c != '\\' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// redactor takes secrets out.
func redactor() workspace.Redact {
	r := redact.New()
	return func(text []byte, isJSON bool) ([]byte, []string, error) {
		var clean []byte
		var found []redact.Finding
		var err error
		if isJSON {
			clean, found, err = r.JSON(text)
		} else {
			var s string
			s, found = r.Text(string(text))
			clean = []byte(s)
		}
		var kinds []string
		for _, f := range found {
			if !f.More {
				kinds = append(kinds, f.Rule)
			}
		}
		return clean, kinds, err
	}
}
