package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/restores"
	"github.com/urfave/cli/v2"
)

// A program is one run of bough, with its streams and flags.
type program struct {
	stdin  io.Reader
	stdout *bufio.Writer
	stderr io.Writer
	dir    string        // -w
	json   bool          // --json
	wait   time.Duration // --wait
	settle time.Duration // see workspace.Options; set by tests
	paint  paint         // of standard output
	talk   paint         // of standard error
	screen io.Writer     // standard error itself, if it is a terminal
	// terminal is standard output itself; noPager is --no-pager; left is true once the user
	// has quit the pager before the end of the output.
	terminal      io.Writer
	noPager, left bool
	meter         *meter
	noted         []string
	args          []string // of the verb, as parsed
	// literal is the number of arguments after "--".
	literal int
	token   string     // $BOUGH_TOKEN
	noting  sync.Mutex // of notes from several goroutines
}

// run runs a command line, without the name of the program, and returns the exit code. It
// prints an error on stderr or, with --json, on stdout.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	hook := isHookRun(args)
	if hook {
		stdout, stderr = io.Discard, io.Discard
	}
	m := newMeter(stderr)
	defer m.clear()
	out := bufio.NewWriter(under{stdout, m})
	defer out.Flush()
	p := &program{stdin: stdin, stdout: out, stderr: talk{under{stderr, m}, out}, paint: newPaint(stdout), talk: newPaint(stderr), meter: m, terminal: stdout}
	if p.talk.width > 0 {
		p.screen = stderr
	}
	p.token = os.Getenv(tokenVariable)
	os.Unsetenv(tokenVariable) // hidden from programs that bough starts
	err := p.run(context.Background(), args)
	if err == nil {
		err = out.Flush() // errors of single prints are not checked
	}
	if err == nil || p.left || hook {
		return 0
	}
	return p.fail(err)
}

// talk is standard error. It flushes standard output first, which keeps the order of both.
type talk struct {
	io.Writer
	before *bufio.Writer
}

func (t talk) Write(b []byte) (int, error) {
	t.before.Flush()
	return t.Writer.Write(b)
}

func (p *program) run(ctx context.Context, args []string) error {
	if n := len(args); n > 0 && args[n-1] == completeFlag {
		p.complete(ctx, args[:n-1])
		return nil
	}
	global, rest, err := splitGlobal(args)
	p.dir, p.json, p.wait, p.noPager = global.dir, global.json, global.wait, global.noPager
	if at := slices.Index(rest, "--"); at >= 0 {
		p.literal = len(rest) - at - 1
	}
	switch {
	case err != nil:
		return err
	case global.help:
		defer p.page(p.helpVerb())()
		return p.help(p.helpWords(rest)...)
	case global.version:
		return p.printVersion()
	}
	if len(rest) == 0 && p.showsUI() {
		rest = []string{"ui"}
	}
	app := p.app(verbOf(rest))
	p.args = arrange(rest, app.Commands)
	return app.RunContext(ctx, append([]string{app.Name}, p.args...))
}

// fail prints an error and returns the exit code.
func (p *program) fail(err error) int {
	var damage damageFound
	if errors.As(err, &damage) {
		return exitCode(fault.Damaged)
	}
	var refused refusedFound
	if errors.As(err, &refused) {
		return exitCode(fault.Refused)
	}
	var none noResult
	if p.json && errors.As(err, &none) {
		return exitCode(fault.Failed)
	}
	var exit cli.ExitCoder // an error of the command-line parser
	var child *exec.ExitError
	if errors.As(err, &exit) && !errors.As(err, &child) {
		err = usageError("%s", err)
	}
	return p.printError(err)
}

// printError prints an error and returns its exit code.
func (p *program) printError(err error) int {
	e := workspace.Explain(err)
	e.Hint = cmp.Or(hint(e), exploreHint(err), remoteHint(err))
	var several *fault.AmbiguousError
	var clashes *restores.ConflictError
	var unknown *fault.UnknownError
	errors.As(err, &several)
	errors.As(err, &clashes)
	if errors.As(err, &unknown) {
		e.Message += didYouMean(unknown.Word, unknown.Choices)
	}
	if p.json {
		answer := struct {
			Code       fault.Code          `json:"code"`
			Message    string              `json:"message"`
			Hint       string              `json:"hint"`
			Candidates []fault.Candidate   `json:"candidates,omitempty"`
			Conflicts  []restores.Conflict `json:"conflicts,omitempty"`
		}{Code: e.Code, Message: e.Message, Hint: e.Hint}
		if several != nil {
			answer.Candidates = several.Candidates
		}
		if clashes != nil {
			answer.Conflicts = clashes.Conflicts
		}
		p.printJSON(map[string]any{"error": answer})
		return exitCode(e.Code)
	}
	fmt.Fprintf(p.stderr, "bough: %s\n", clean(e.Message))
	if several != nil {
		p.printCandidates(several)
	}
	if clashes != nil {
		p.printConflicts(p.stderr, clashes.Conflicts)
	}
	if e.Hint != "" {
		fmt.Fprintf(p.stderr, "  %s\n", clean(e.Hint))
	}
	return exitCode(e.Code)
}

// exitCode returns the documented exit code.
func exitCode(c fault.Code) int {
	switch c {
	case fault.Usage:
		return 2
	case fault.NotFound:
		return 3
	case fault.Ambiguous, fault.ReadOnly, fault.HasChildren, fault.ToolCut, fault.Refused:
		return 4
	case fault.Damaged:
		return 5
	case fault.Locked, fault.Busy:
		return 6
	}
	return 1
}

const listsVerbs = "'bough help' lists the verbs"

func usageError(format string, args ...any) *fault.Error {
	return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf(format, args...), Hint: listsVerbs}
}

// note prints a note once, for something that did not fail the command.
func (p *program) note(s string) {
	if !slices.Contains(p.noted, s) {
		p.noted = append(p.noted, s)
		if strings.HasSuffix(s, "("+doctor.UnfinishedRestore+")") {
			s += "; 'bough doctor' says more"
		}
		fmt.Fprintf(p.stderr, "bough: %s\n", line(s))
	}
}

// printJSON prints one document on one line, which is safe to print on a terminal.
func (p *program) printJSON(v any) error {
	_, err := p.stdout.Write(append(rawjson.Escaped(rawjson.Answer(v)), '\n'))
	return err
}

// printText prints text unchanged or, with --json, as the only member of a document.
func (p *program) printText(name, text string) error {
	if p.json {
		return p.printJSON(map[string]string{name: text})
	}
	_, err := io.WriteString(p.stdout, text)
	return err
}
