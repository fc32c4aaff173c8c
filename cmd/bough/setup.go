package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/bough-dev/bough/cmd/bough/internal/setup"
	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/integration"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/urfave/cli/v2"
)

func (p *program) machineSetupVerb() verb {
	return verb{
		name:  "setup",
		args:  "[--files] [--dry-run | --yes] [--undo]",
		short: "set up bough with the assistants on this machine",
		long: `Finds the assistants that you use, and offers four things, with one question each: to import their
conversations, to install hooks, to add bough to their MCP servers, and to start the daemon at each
login. Shows each change of a file first. The verbs import, 'hook install', 'mcp install' and
'daemon install' do the same one by one. --undo reverts all of it, with the same questions; an
import is undone only if the workspace has not changed since.`,
		example: `bough setup
bough setup --undo`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "print what would be done and change nothing"},
			&cli.BoolFlag{Name: "yes", DisableDefaultText: true, Usage: "do all of it without asking"},
			&cli.BoolFlag{Name: "undo", DisableDefaultText: true, Usage: "revert what setup did"},
			hookFilesFlag(),
		},
		standalone: p.setUpMachine,
	}
}

// A setupStep is a step of the setup with its result.
type setupStep struct {
	Step   string   `json:"step"` // import, hooks, mcp or daemon
	Tools  []string `json:"tools"`
	Status string   `json:"status"` // done, declined, planned (in a dry run), nothing or failed
	Detail string   `json:"detail"` // why it failed, else ""

	question string
	act      func() error // nil if there is nothing to do
	problems []string     // why it cannot be done for some tools
}

func (p *program) setUpMachine(c *cli.Context) error {
	if !c.Bool("yes") && !c.Bool("dry-run") && (p.json || !p.canAsk()) {
		return usageError("no terminal to confirm on; --yes does not ask")
	}
	site, err := p.setupSite(!c.Bool("undo"))
	if err != nil {
		return err
	}
	w, err := p.openShared(c.Context)
	if err != nil {
		return err
	}
	s := &machineSetup{p: p, c: c, w: w, site: site}
	plans := []func() setupStep{s.importStep, s.hookStep, s.mcpStep, s.daemonStep}
	if c.Bool("files") && c.Bool("undo") {
		return usageError("--undo takes no --files")
	}
	if c.Bool("undo") {
		plans = []func() setupStep{s.undoDaemon, s.undoMCP, s.undoHooks, s.undoImport}
	} else if !c.Bool("dry-run") {
		if err := w.Make(c.Context); err != nil {
			return err
		}
	}
	steps := []setupStep{}
	failed := false
	for _, plan := range plans {
		step := plan()
		s.take(&step)
		steps = append(steps, step)
		failed = failed || step.Status == "failed"
		if step.Step == "hooks" && c.Bool("files") && (step.Status == "done" || step.Status == "nothing") && !c.Bool("dry-run") {
			if err := p.setHookFiles(c.Context); err != nil {
				return err
			}
		}
	}
	if p.json {
		err = p.printJSON(struct {
			Steps  []setupStep `json:"steps"`
			DryRun bool        `json:"dry_run"`
		}{steps, c.Bool("dry-run")})
	}
	if err == nil && failed {
		err = &fault.Error{Code: fault.Failed, Message: "a part of the setup failed", Hint: "the other parts are done; 'bough setup' tries again"}
		if p.json {
			return noResult{err}
		}
	}
	return err
}

// A machineSetup is one run of the setup.
type machineSetup struct {
	p    *program
	c    *cli.Context
	w    *workspace.Workspace
	site setup.Site
}

// take asks, and takes a step. An error of the step is its result.
func (s *machineSetup) take(step *setupStep) {
	if step.Tools == nil {
		step.Tools = []string{}
	}
	switch {
	case step.Status == "failed":
	case step.act == nil:
		step.Status = "nothing"
	case s.c.Bool("dry-run"):
		step.Status = "planned"
	default:
		s.p.stdout.Flush()
		if err := s.p.confirm(step.question, s.c.Bool("yes")); err != nil {
			step.Status = "declined"
		} else if err := step.act(); err != nil {
			step.Status, step.Detail = "failed", workspace.Explain(err).Message
		} else {
			step.Status = "done"
		}
	}
	if len(step.problems) > 0 {
		if step.Status != "declined" {
			step.Status = "failed"
		}
		if step.Detail != "" {
			step.problems = append(step.problems, step.Detail)
		}
		step.Detail = strings.Join(step.problems, "; ")
	}
	if s.p.json {
		return
	}
	text := step.Step + ": " + step.Status
	if step.Status == "nothing" {
		text = step.Step + ": nothing to do"
	}
	if len(step.Tools) > 0 {
		text += " (" + strings.Join(step.Tools, ", ") + ")"
	}
	if step.Detail != "" {
		text += ": " + line(step.Detail)
	}
	fmt.Fprintln(s.p.stderr, clean(text))
}

// importStep imports the conversations of the tools that are found.
func (s *machineSetup) importStep() setupStep {
	step := setupStep{Step: "import"}
	var sources []imports.Source
	for _, tool := range convert.Formats {
		roots := slices.DeleteFunc(slices.Clone(tool.Roots(machine())), func(dir string) bool {
			_, err := os.Stat(dir)
			return err != nil
		})
		if len(roots) > 0 {
			step.Tools = append(step.Tools, tool.Name)
			sources = append(sources, imports.Source{Paths: roots, Format: tool, Holds: tool.Holds})
		}
	}
	if len(sources) == 0 {
		return step
	}
	step.question = "Import the conversations of " + strings.Join(step.Tools, ", ") + "?"
	step.act = func() error {
		report, err := s.w.ImportAll(s.c.Context, sources, imports.Options{})
		if report == nil {
			return err
		}
		s.p.meter.clear()
		if !s.p.json {
			s.p.importSummary(report, false)
		}
		isNew := func(r imports.Transcript) bool { return r.Added > 0 || r.Replaced > 0 }
		if err != nil || !slices.ContainsFunc(report.Imported, isNew) {
			return err
		}
		return s.recordImport()
	}
	return step
}

// files returns a step that changes settings of the programs.
func (s *machineSetup) files(name, question string, kind setup.Kind, programs []integration.Program, install bool) setupStep {
	step := setupStep{Step: name}
	var changes []*setup.Change
	for _, t := range programs {
		plan := s.site.Uninstall
		if install {
			if plan = s.site.Install; !s.site.Uses(t) {
				continue
			}
		}
		ch, err := plan(kind, t)
		switch {
		case err != nil && (install || s.site.IsRecorded(kind, t)):
			step.problems = append(step.problems, workspace.Explain(err).Message)
		case err != nil:
			s.p.note(workspace.Explain(err).Message)
		case ch.Diff != "":
			step.Tools = append(step.Tools, t.Name)
			changes = append(changes, ch)
		}
	}
	if len(changes) == 0 {
		return step
	}
	if !s.p.json {
		s.p.printChanges(changes, install)
	}
	step.question = question + strings.Join(step.Tools, ", ") + "?"
	step.act = func() error {
		if err := s.p.applyChanges(s.c.Context, changes, install); err != nil {
			return err
		}
		for _, ch := range changes {
			if install && ch.Note != "" && !s.p.json {
				fmt.Fprintf(s.p.stderr, "  %s\n", ch.Note)
			}
		}
		return nil
	}
	return step
}

func (s *machineSetup) hookStep() setupStep {
	return s.files("hooks", "Install hooks, which save conversations and checkpoints, in ", setup.Hook, hookPrograms(), true)
}

func (s *machineSetup) mcpStep() setupStep {
	return s.files("mcp", "Add bough to the MCP servers of ", setup.MCP, integration.Clients(), true)
}

func (s *machineSetup) undoHooks() setupStep {
	return s.files("hooks", "Remove the hooks from ", setup.Hook, hookPrograms(), false)
}

func (s *machineSetup) undoMCP() setupStep {
	return s.files("mcp", "Remove bough from the MCP servers of ", setup.MCP, integration.Clients(), false)
}

// daemonStep starts the daemon at each login.
func (s *machineSetup) daemonStep() setupStep {
	step := setupStep{Step: "daemon"}
	plan, err := servicePlan(s.w.Dir(), nil)
	if err != nil {
		return step
	}
	if _, err := os.Stat(plan.Path); err == nil || len(plan.Install) == 0 || !isInstalled(plan.Install) {
		return step // it is installed, or this machine has no service manager
	}
	step.question = "Start the daemon at each login, which imports what assistants without hooks write?"
	step.act = func() error { return s.run("daemon", "install", "--yes") }
	return step
}

// isInstalled reports whether the program of the first command exists.
func isInstalled(commands [][]string) bool {
	_, err := exec.LookPath(commands[0][0])
	return err == nil
}

func (s *machineSetup) undoDaemon() setupStep {
	step := setupStep{Step: "daemon"}
	plan, err := servicePlan(s.w.Dir(), nil)
	if err != nil {
		return step
	}
	if _, err := os.Stat(plan.Path); err != nil {
		return step
	}
	step.question = "Stop the daemon, and no longer start it at login?"
	step.act = func() error { return s.run("daemon", "uninstall", "--yes") }
	return step
}

// run runs another verb. With --json its document is dropped: the step has the result.
func (s *machineSetup) run(words ...string) error {
	p := s.p
	if p.json {
		out := p.stdout
		p.stdout = bufio.NewWriter(&bytes.Buffer{})
		defer func() { p.stdout = out }()
	}
	app := p.app(words[0])
	return app.RunContext(s.c.Context, append([]string{app.Name}, arrange(words, app.Commands)...))
}

// importRecord is the record of an import of the setup.
func (s *machineSetup) importRecord() setup.Record {
	return setup.Record{Kind: setup.Import, Tool: "setup", Workspace: s.site.Call.Workspace, Path: s.site.Call.Workspace}
}

// recordImport records the import that was the last operation.
func (s *machineSetup) recordImport() error {
	last, err := s.w.Undo(s.c.Context, history.UndoOptions{DryRun: true})
	if err != nil || len(last.Operations) == 0 {
		return err
	}
	r := s.importRecord()
	r.Operation = last.Operations[0].Seq
	return s.site.Keep(r)
}

// undoImport undoes the import of the setup, if the workspace was not changed since.
func (s *machineSetup) undoImport() setupStep {
	step := setupStep{Step: "import"}
	r := s.importRecord()
	record := s.site.Record(r.Kind, r.Tool, r.Path)
	if record == nil || record.Operation == 0 {
		return step
	}
	last, err := s.w.Undo(s.c.Context, history.UndoOptions{DryRun: true})
	if err != nil || len(last.Operations) == 0 || last.Operations[0].Seq != record.Operation {
		step.Status, step.Detail = "failed", "the workspace was changed after the import; 'bough undo' undoes one operation after the other"
		return step
	}
	step.question = fmt.Sprintf("Undo the import of %s?", count(len(last.Operations), "conversation"))
	step.act = func() error {
		if _, err := s.w.Undo(s.c.Context, history.UndoOptions{}); err != nil {
			return err
		}
		return s.site.Drop(r)
	}
	return step
}
