package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bough-dev/bough/cmd/bough/internal/daemon"
	"github.com/bough-dev/bough/cmd/bough/internal/service"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

func (p *program) daemonInstallVerb() verb {
	return verb{
		name:  "install",
		args:  "[--from TOOL…] [--dry-run | --yes]",
		short: "start the daemon at each login",
		long: `Writes a systemd user unit, a launchd agent or a task of the Windows Task Scheduler, and starts the
daemon with it. It shows the file and the commands first, and asks; --yes does not ask, and --dry-run
only shows them. Installing again replaces the file. Daemons of other workspaces stay as they are.`,
		example: `bough daemon install --dry-run`,
		flags: append(daemonFlags(),
			&cli.BoolFlag{Name: "yes", DisableDefaultText: true, Usage: "do not ask"},
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "print what would be done and change nothing"}),
		standalone: p.daemonInstall,
	}
}

// A serviceDone is the document of 'bough daemon install' and 'bough daemon uninstall'.
type serviceDone struct {
	Manager  string     `json:"manager"`
	Path     string     `json:"path"`
	Text     string     `json:"text"`
	Commands [][]string `json:"commands"`
	Changed  bool       `json:"changed"`  // the file was written or removed
	Problems []string   `json:"problems"` // commands that failed
}

func (p *program) daemonInstall(c *cli.Context) error {
	w, err := p.openShared(c.Context)
	if err != nil {
		return err
	}
	if _, err := p.followSources(c.StringSlice("from")); err != nil {
		return err
	}
	plan, err := servicePlan(w.Dir(), daemonArgs(w, c.StringSlice("from")))
	if err != nil {
		return err
	}
	done := serviceDone{Manager: plan.Manager, Path: plan.Path, Text: string(plan.Text), Commands: plan.Install, Problems: []string{}}
	was, err := os.ReadFile(plan.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !p.json {
		p.showPlan("Write", plan.Path, plan.Text, plan.Install)
	}
	if c.Bool("dry-run") {
		return p.serviceDone(done)
	}
	if err := p.confirm("Write it and start the daemon?", c.Bool("yes")); err != nil {
		return err
	}
	if err := w.Make(c.Context); err != nil {
		return err
	}
	if !bytes.Equal(was, plan.Text) {
		if err := writeFile(plan.Path, plan.Text); err != nil {
			return err
		}
		done.Changed = true
	}
	if _, err := daemon.Importer().Stop(c.Context, w.Dir()); err != nil {
		return err
	}
	done.Problems = runAll(c.Context, plan.Install)
	err = p.serviceDone(done)
	if err == nil && len(done.Problems) > 0 {
		err = noResult{&fault.Error{
			Code: fault.Failed, Message: "the daemon was installed, but not started",
			Hint: "it starts at the next login; 'bough daemon start' starts it now",
		}}
	}
	return err
}

func (p *program) daemonUninstallVerb() verb {
	return verb{
		name:  "uninstall",
		args:  "[--dry-run | --yes]",
		short: "stop the daemon, and no longer start it at login",
		long: `Stops the daemon and removes the file that 'bough daemon install' wrote. It shows the commands first,
and asks; --yes does not ask, and --dry-run only shows them.`,
		example: `bough daemon uninstall`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", DisableDefaultText: true, Usage: "do not ask"},
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "print what would be done and change nothing"},
		},
		standalone: p.daemonUninstall,
	}
}

func (p *program) daemonUninstall(c *cli.Context) error {
	w, err := p.openShared(c.Context)
	if err != nil {
		return err
	}
	plan, err := servicePlan(w.Dir(), nil)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(plan.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{Code: fault.NotFound, Message: "the daemon is not installed: there is no " + plan.Path, Err: err}
	} else if err != nil {
		return err
	}
	commands := append(plan.Remove, plan.Removed...)
	done := serviceDone{Manager: plan.Manager, Path: plan.Path, Text: string(text), Commands: commands, Problems: []string{}}
	if !p.json {
		p.showPlan("Remove", plan.Path, nil, commands)
	}
	if c.Bool("dry-run") {
		return p.serviceDone(done)
	}
	if err := p.confirm("Remove it and stop the daemon?", c.Bool("yes")); err != nil {
		return err
	}
	done.Problems = runAll(c.Context, plan.Remove)
	if _, err := daemon.Importer().Stop(c.Context, w.Dir()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(plan.Path))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := durable.Remove(root, filepath.Base(plan.Path)); err != nil {
		return err
	}
	done.Changed = true
	done.Problems = append(done.Problems, runAll(c.Context, plan.Removed)...)
	return p.serviceDone(done)
}

// showPlan prints the steps of a change of the service manager.
func (p *program) showPlan(does, path string, text []byte, commands [][]string) {
	fmt.Fprintf(p.stderr, "%s %s\n", does, clean(path))
	if len(text) > 0 {
		fmt.Fprintf(p.stdout, "%s", clean(string(text)))
		p.stdout.Flush()
	}
	for _, command := range commands {
		fmt.Fprintf(p.stderr, "Run %s\n", clean(quoteArgs(command)))
	}
}

// serviceDone prints the result of a change of the service manager.
func (p *program) serviceDone(done serviceDone) error {
	if p.json {
		return p.printJSON(done)
	}
	for _, problem := range done.Problems {
		p.note(problem)
	}
	return nil
}

// confirm asks the user. The error is a refusal.
func (p *program) confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	if p.json || !p.canAsk() {
		return usageError("no terminal to confirm on; --yes does not ask")
	}
	fmt.Fprintf(p.stderr, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(p.stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &fault.Error{Code: fault.Refused, Message: "not confirmed; nothing was changed"}
}

// writeFile replaces a file of the user, and creates its folder.
func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = durable.Replace(root, filepath.Base(path), durable.Bytes(text))
	return err
}

// runAll runs commands and returns the failures of those that fail.
func runAll(ctx context.Context, commands [][]string) (problems []string) {
	for _, command := range commands {
		out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
		if err != nil {
			problems = append(problems, strings.TrimSuffix(fmt.Sprintf("%s: %v: %s", quoteArgs(command), err, line(strings.TrimSpace(string(out)))), ": "))
		}
	}
	return append([]string{}, problems...)
}

// servicePlan returns how the daemon of a workspace is installed on this system.
func servicePlan(dir string, args []string) (service.Plan, error) {
	program, err := programPath()
	if err != nil {
		return service.Plan{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return service.Plan{}, err
	}
	sum := sha256.Sum256([]byte(dir))
	s := service.Program{
		Name: "bough-" + hex.EncodeToString(sum[:4]), About: "bough: import conversations of assistants into " + dir,
		Path: program, Args: args, Dir: dir, Env: toolEnviron(), Log: daemon.Importer().LogPath(dir),
	}
	switch runtime.GOOS {
	case "windows":
		data, err := os.UserConfigDir()
		if err != nil {
			return service.Plan{}, err
		}
		u, err := user.Current()
		if err != nil {
			return service.Plan{}, err
		}
		return service.Task(s, filepath.Join(data, "bough"), u.Username), nil
	case "darwin":
		return service.Launchd(s, home, fmt.Sprint(os.Getuid())), nil
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return service.Plan{}, err
	}
	return service.Systemd(s, config), nil
}
