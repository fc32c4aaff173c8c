package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// version is what bough --version prints.
const version = "0.1.0"

// A program is one run of bough: where it reads and prints.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	dir            string        // -w
	json           bool          // --json
	wait           time.Duration // --wait
	paint          paint
	noted          []string
}

// run carries out a command line, without the name of the program, and returns
// the exit code. What fails is told on stderr, or with --json on stdout.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := &watched{Writer: stdout}
	p := &program{stdin: stdin, stdout: out, stderr: stderr, paint: newPaint(stdout)}
	app := p.app()
	global, rest := splitGlobal(args, p.globalFlags())
	p.json = global.json
	if n := len(args); n > 0 && args[n-1] == completeFlag {
		p.dir = global.dir
		p.complete(ctx, app, args[:n-1])
		return 0
	}
	if global.noDir {
		return p.fail(usageError("-w names no folder"))
	}
	err := app.RunContext(ctx, append(append([]string{app.Name}, global.args...), arrange(rest, app.Commands)...))
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	return p.fail(err)
}

// watched remembers that writing failed: nobody looks at each print.
type watched struct {
	io.Writer
	err error
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// fail tells what went wrong and returns the exit code.
func (p *program) fail(err error) int {
	var damage damageFound
	if errors.As(err, &damage) {
		return exitCodes[workspace.Damaged]
	}
	var exit cli.ExitCoder // how the parser of the command line says that it is wrong
	if errors.As(err, &exit) {
		err = usageError("%s", err)
	}
	e := workspace.Explain(err)
	if p.json {
		p.printJSON(struct {
			Error any `json:"error"`
		}{struct {
			Code    workspace.Code `json:"code"`
			Message string         `json:"message"`
			Hint    string         `json:"hint"`
		}{e.Code, e.Message, e.Hint}})
	} else {
		fmt.Fprintf(p.stderr, "bough: %s\n", clean(e.Message))
		if e.Hint != "" {
			fmt.Fprintf(p.stderr, "  %s\n", clean(e.Hint))
		}
	}
	return exitCode(e.Code)
}

// exitCodes are the documented exit codes. A code without one exits with 1.
var exitCodes = map[workspace.Code]int{
	workspace.Usage:       2,
	workspace.NotFound:    3,
	workspace.Ambiguous:   4,
	workspace.ReadOnly:    4,
	workspace.HasChildren: 4,
	workspace.ToolCut:     4,
	workspace.Refused:     4,
	workspace.Damaged:     5,
	workspace.Locked:      6,
}

func exitCode(c workspace.Code) int {
	if code, ok := exitCodes[c]; ok {
		return code
	}
	return 1
}

func usageError(format string, args ...any) *workspace.Error {
	return &workspace.Error{Code: workspace.Usage, Message: fmt.Sprintf(format, args...), Hint: "'bough help' lists the verbs"}
}

// open opens the workspace that the command line means.
func (p *program) open(ctx context.Context) (*workspace.Workspace, error) {
	dir, err := p.workspaceDir()
	if err != nil {
		return nil, err
	}
	wait := p.wait
	if wait == 0 {
		wait = -1 // the library takes zero for its default
	}
	return workspace.Open(ctx, dir, &workspace.Options{Note: p.note, Wait: wait})
}

// workspaceDir finds the workspace: -w, else $BOUGH_WORKSPACE, else the nearest
// folder that is one, else the user's data folder.
func (p *program) workspaceDir() (string, error) {
	if p.dir != "" {
		return p.dir, nil
	}
	if dir := os.Getenv("BOUGH_WORKSPACE"); dir != "" {
		return dir, nil
	}
	if dir, ok := workspace.Find("."); ok {
		return dir, nil
	}
	return dataDir()
}

// dataDir is the user's data folder for bough.
func dataDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bough"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	switch runtime.GOOS {
	case "windows":
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "bough"), nil
		}
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "bough"), nil
	}
	return filepath.Join(home, ".local", "share", "bough"), nil
}

// note tells a person, once, what they should know although nothing failed.
func (p *program) note(s string) {
	if !slices.Contains(p.noted, s) {
		p.noted = append(p.noted, s)
		fmt.Fprintf(p.stderr, "bough: %s\n", clean(s))
	}
}

// printJSON prints one document on one line.
func (p *program) printJSON(v any) error {
	_, err := fmt.Fprintf(p.stdout, "%s\n", rawjson.Compact(v))
	return err
}

// globalFlags are the flags that may stand anywhere on the command line.
func (p *program) globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name:        "w",
			Aliases:     []string{"workspace"},
			Usage:       "the `FOLDER` of the workspace",
			Destination: &p.dir,
		},
		&cli.BoolFlag{Name: "json", Usage: "print one JSON document", Destination: &p.json},
		&cli.DurationFlag{
			Name:        "wait",
			Value:       30 * time.Second,
			Usage:       "how long to wait while another process writes",
			Destination: &p.wait,
		},
	}
}

// printText prints text as it is, or with --json as the one member of a document.
func (p *program) printText(name, text string) error {
	if p.json {
		return p.printJSON(map[string]string{name: text})
	}
	_, err := io.WriteString(p.stdout, text)
	return err
}

// app is the command line of bough.
func (p *program) app() *cli.App {
	return &cli.App{
		Name:      "bough",
		Usage:     "checkpoint, branch and restore AI conversations",
		UsageText: "bough [-w WORKSPACE] [--json] VERB [ARGUMENTS]",
		Version:   version,
		Flags:     append(p.globalFlags(), cli.HelpFlag),
		Commands: []*cli.Command{
			p.newVerb(), p.appendVerb(),
			p.lsVerb(), p.showVerb(), p.treeVerb(), p.lineageVerb(), p.diffVerb(),
			p.checkpointVerb(), p.branchVerb(), p.restoreVerb(), p.rewindVerb(),
			p.renameVerb(), p.rmVerb(),
			p.doctorVerb(), p.demoVerb(), p.completionVerb(), p.helpVerb(),
		},
		HideHelpCommand:       true,
		CustomAppHelpTemplate: appHelp,
		Writer:                p.stdout,
		ErrWriter:             p.stderr,
		ExitErrHandler:        func(*cli.Context, error) {},
		OnUsageError:          onUsageError,
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usageError("there is no verb %q", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
	}
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	e := usageError("%s", err)
	if c.Command != nil && c.Command.Name != c.App.Name {
		e.Hint = seeHelp(c.Command.Name)
	}
	return e
}

func seeHelp(verb string) string { return "see 'bough help " + verb + "'" }

func (p *program) helpVerb() *cli.Command {
	return &cli.Command{
		Name:               "help",
		Usage:              "how to use bough, or one verb",
		UsageText:          "bough help [VERB]",
		Description:        "Example:\n  bough help branch",
		CustomHelpTemplate: verbHelp,
		OnUsageError:       onUsageError,
		Action: func(c *cli.Context) error {
			var text strings.Builder
			if word := c.Args().First(); word == "" {
				cli.HelpPrinter(&text, appHelp, c.App)
			} else if verb := c.App.Command(word); verb != nil {
				cli.HelpPrinter(&text, verbHelp, verb)
			} else {
				return usageError("there is no verb %q", word)
			}
			return p.printText("help", text.String())
		},
	}
}

const appHelp = `bough checkpoints, branches and restores AI conversations kept as plain JSON files.

Usage: {{.UsageText}}

Verbs:{{range .VisibleCommands}}
  {{join .Names ", " | printf "%-24s"}}{{.Usage}}{{end}}

Flags, anywhere on the line:
  -w FOLDER                 the workspace; else $BOUGH_WORKSPACE, else the nearest
                            folder above that is one, else your data folder
  --json                    print one JSON document, errors too
  --wait TIME               how long to wait while another process writes (30s)
  --version                 print the version

A SESSION is an id, an exact title, or a unique piece of an id. A REF is a SESSION,
or SESSION@MESSAGE for the path to that message. '-' is standard input.

Begin:
  bough demo                see it all on a built-in conversation
  bough help VERB           what a verb does, with an example

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 refused, 5 damaged, 6 locked.
`

// A verb is the help of one verb; what it does is its action.
type verb struct {
	name    string
	aliases []string
	args    string // what stands after the name
	short   string
	long    string
	example string
	flags   []cli.Flag
	min     int // arguments
	max     int
	hint    string // for a wrong number of arguments, "" for the usual one
	action  func(*cli.Context, *workspace.Workspace) error
}

// command makes the verb a command of the app.
func (p *program) command(v verb) *cli.Command {
	return &cli.Command{
		Name:               v.name,
		Aliases:            v.aliases,
		Usage:              v.short,
		UsageText:          strings.TrimSpace("bough " + v.name + " " + v.args),
		Description:        strings.TrimSpace(v.long) + "\n\nExample:\n" + indent(v.example),
		CustomHelpTemplate: verbHelp,
		Flags:              v.flags,
		OnUsageError:       onUsageError,
		Action: func(c *cli.Context) error {
			if n := c.NArg(); n < v.min || n > v.max {
				e := usageError("'bough %s' takes %s; got %s", v.name, argCount(v), count(n, "argument"))
				e.Hint = cmp.Or(v.hint, seeHelp(v.name))
				return e
			}
			w, err := p.open(c.Context)
			if err != nil {
				return err
			}
			return v.action(c, w)
		},
	}
}

// argCount says what arguments a verb takes, without its flags.
func argCount(v verb) string {
	words := strings.Fields(v.args)
	for i, word := range words {
		if strings.HasPrefix(word, "[--") {
			words = words[:i]
			break
		}
	}
	if len(words) == 0 {
		return "no arguments"
	}
	return strings.Join(words, " ")
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}

const verbHelp = `{{.Usage}}

Usage: {{.UsageText}}

{{.Description}}
{{if .VisibleFlags}}
Flags:{{range .VisibleFlags}}
  {{.}}{{end}}
{{end}}`
