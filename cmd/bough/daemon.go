package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/cmd/bough/internal/daemon"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/urfave/cli/v2"
)

func (p *program) daemonVerb() verb {
	v := verb{
		name:  "daemon",
		args:  "VERB",
		short: "import conversations of other assistants in the background",
		long: `The daemon runs 'bough watch --import' in the background, for one workspace: what other assistants
write is in the workspace about a second later. It is optional. It listens on no port, writes a log
to .bough/daemon/log (at most 1 MB, and one older file), restarts when the program bough is replaced,
and ends when the workspace is removed.`,
		example: `bough daemon start
bough daemon status
bough daemon install`,
		subs: []verb{p.daemonStartVerb(), p.daemonStopVerb(), p.daemonStatusVerb(), p.daemonInstallVerb(), p.daemonUninstallVerb(), p.daemonRunVerb()},
	}
	for i := range v.subs {
		v.subs[i].parent = v.name
	}
	return v
}

// daemonFlags are the flags for what the daemon follows.
func daemonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "from", DefaultText: "all tools", Usage: "import only from the tool `TOOL`; repeatable"},
	}
}

func (p *program) daemonStartVerb() verb {
	return verb{
		name:  "start",
		args:  "[--from TOOL…]",
		short: "start the daemon of the workspace",
		long: `Starts the daemon and returns when it runs. If it runs already, start changes nothing. The workspace
is created if it does not exist. It runs until 'bough daemon stop' or the end of the login session;
'bough daemon install' starts it at each login.`,
		example:    `bough daemon start --from claude-code`,
		flags:      daemonFlags(),
		standalone: p.daemonStart,
	}
}

func (p *program) daemonStart(c *cli.Context) error {
	w, err := p.openShared(c.Context)
	if err != nil {
		return err
	}
	if _, err := p.followSources(c.StringSlice("from")); err != nil {
		return err
	}
	if err := w.Make(c.Context); err != nil {
		return err
	}
	state, err := daemon.Importer().Look(w.Dir())
	if err != nil {
		return err
	}
	if !state.Running {
		program, err := programPath()
		if err != nil {
			return err
		}
		if state, err = daemon.Importer().Start(c.Context, w.Dir(), program, daemonArgs(w, c.StringSlice("from"))...); err != nil {
			return err
		}
		if !p.json {
			fmt.Fprintf(p.stderr, "Started the daemon of %s, process %d\n", clean(w.Dir()), state.PID)
			return nil
		}
	}
	return p.printDaemon(w, state)
}

// daemonArgs returns the arguments of bough for the process of the daemon.
func daemonArgs(w *workspace.Workspace, tools []string) []string {
	args := []string{"-w", w.Dir(), "daemon", "run"}
	for _, tool := range tools {
		args = append(args, "--from", tool)
	}
	return args
}

func (p *program) daemonStopVerb() verb {
	return verb{
		name:       "stop",
		short:      "stop the daemon of the workspace",
		long:       `Stops the daemon and returns when it has ended. It is not an error if none runs.`,
		example:    `bough daemon stop`,
		standalone: p.daemonStop,
	}
}

func (p *program) daemonStop(c *cli.Context) error {
	w, err := p.openShared(c.Context)
	if err != nil {
		return err
	}
	was, err := daemon.Importer().Stop(c.Context, w.Dir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if p.json {
		return p.printDaemon(w, daemon.State{})
	}
	if was.Running {
		fmt.Fprintf(p.stderr, "Stopped the daemon of %s\n", clean(w.Dir()))
	} else {
		fmt.Fprintf(p.stderr, "The daemon of %s is not running.\n", clean(w.Dir()))
	}
	return nil
}

func (p *program) daemonStatusVerb() verb {
	return verb{
		name:       "status",
		short:      "print whether the daemon of the workspace runs",
		long:       `Prints whether the daemon runs, where its log is, and whether it is started at login.`,
		example:    `bough daemon status --json`,
		standalone: p.daemonStatus,
	}
}

func (p *program) daemonStatus(c *cli.Context) error {
	w, err := p.openShared(c.Context)
	if err != nil {
		return err
	}
	state, err := daemon.Importer().Look(w.Dir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return p.printDaemon(w, state)
}

// A daemonStatus is the document of 'bough daemon status'.
type daemonStatus struct {
	Running   bool       `json:"running"`
	PID       *int       `json:"pid"`
	Since     *time.Time `json:"since"`
	Workspace string     `json:"workspace"`
	Log       *string    `json:"log"`     // nil if there is none
	Service   *string    `json:"service"` // the file of the service manager, nil if there is none
}

func (p *program) printDaemon(w *workspace.Workspace, state daemon.State) error {
	s := daemonStatus{Running: state.Running, Workspace: w.Dir()}
	if state.PID > 0 {
		s.PID = &state.PID
	}
	if !state.Since.IsZero() {
		s.Since = &state.Since
	}
	if path := daemon.Importer().LogPath(w.Dir()); exists(path) {
		s.Log = &path
	}
	if plan, err := servicePlan(w.Dir(), nil); err == nil && exists(plan.Path) {
		s.Service = &plan.Path
	}
	if p.json {
		return p.printJSON(s)
	}
	if s.Running {
		text := "running"
		if s.PID != nil {
			text += fmt.Sprintf(", process %d", *s.PID)
		}
		if s.Since != nil {
			text += ", since " + s.Since.Local().Format(time.DateTime)
		}
		fmt.Fprintln(p.stdout, text)
	} else {
		fmt.Fprintln(p.stdout, "not running")
	}
	fmt.Fprintf(p.stdout, "workspace  %s\n", clean(s.Workspace))
	if s.Log != nil {
		fmt.Fprintf(p.stdout, "log        %s\n", clean(*s.Log))
	}
	if s.Service != nil {
		fmt.Fprintf(p.stdout, "service    %s\n", clean(*s.Service))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (p *program) daemonRunVerb() verb {
	return verb{
		name:  "run",
		args:  "[--from TOOL…]",
		short: "run the daemon in the foreground, for a service manager",
		long: `Runs until it is interrupted, and writes to the log. The exit code is 3 if the workspace does not
exist or is removed, and 6 if its daemon runs already.`,
		example:    `bough daemon run`,
		flags:      daemonFlags(),
		standalone: p.daemonRun,
	}
}

// binaryInterval is how often the daemon checks whether bough was replaced.
const binaryInterval = 1 * time.Second

func (p *program) daemonRun(c *cli.Context) error {
	ctx, stop := untilInterrupt(c.Context)
	defer stop()
	w, err := p.openShared(ctx)
	if err != nil {
		return err
	}
	sources, err := p.followSources(c.StringSlice("from"))
	if err != nil {
		return err
	}
	path, err := programPath()
	if err != nil {
		return err
	}
	binary, err := daemon.BinaryAt(path)
	if err != nil {
		return err
	}
	lock, err := acquireDaemon(ctx, w)
	if err != nil {
		return err
	}
	defer func() { lock.Release() }()
	file := daemon.Importer().OpenLog(w.Dir())
	defer file.Close()
	lines := log.New(file, "", log.LstdFlags)
	defer p.logTo(lines)()
	lines.Printf("started bough %s, process %d", version, os.Getpid())
	for {
		why, err := p.followUntilReplaced(ctx, w, sources, &binary, lock)
		p.stdout.Flush()
		if why == "" {
			if err != nil {
				lines.Printf("ended: %v", err)
			} else {
				lines.Print("stopped")
			}
			return err
		}
		lines.Print(why + "; restarting")
		lock.Release()
		err = daemon.Become(binary.Path)
		lines.Printf("restarting failed; going on as before: %v", err)
		binary.Keep()
		again, err := acquireDaemon(ctx, w)
		if err != nil {
			return err
		}
		lock = again
	}
}

// acquireDaemon makes this process the daemon of w.
func acquireDaemon(ctx context.Context, w *workspace.Workspace) (*daemon.Lock, error) {
	lock, err := daemon.Importer().Acquire(ctx, w.Dir())
	var held *writelock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, &fault.Error{Code: fault.Locked, Message: fmt.Sprintf("the daemon of %s is already running, process %d", w.Dir(), held.Holder.PID), Hint: "'bough daemon stop' stops it", Err: err}
	case errors.Is(err, os.ErrNotExist):
		return nil, &fault.Error{Code: fault.NotFound, Message: "there is no workspace at " + w.Dir(), Hint: "'bough daemon start' creates it", Err: err}
	}
	return lock, err
}

// logTo makes the program print to the log, a record for each line, until the function that
// it returns is called.
func (p *program) logTo(lines *log.Logger) (restore func()) {
	stdout, stderr := p.stdout, p.stderr
	out := &lineLogger{lines: lines}
	p.stdout = bufio.NewWriter(out)
	p.stderr = talk{out, p.stdout}
	p.paint, p.talk = paint{}, paint{}
	p.screen, p.terminal = nil, nil
	return func() { p.stdout, p.stderr = stdout, stderr }
}

// A lineLogger logs its input, line by line.
type lineLogger struct {
	lines *log.Logger
	rest  []byte
}

func (l *lineLogger) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		text, rest, ok := strings.Cut(string(l.rest), "\n")
		if !ok {
			return len(b), nil
		}
		l.lines.Print(text)
		l.rest = []byte(rest)
	}
}

// followUntilReplaced imports from sources until ctx ends, following fails, or the program
// or the workspace is replaced: then why says so.
func (p *program) followUntilReplaced(ctx context.Context, w *workspace.Workspace, sources []imports.Source, binary *daemon.Binary, lock *daemon.Lock) (why string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(binaryInterval)
		defer tick.Stop()
		removed := false // at the last tick
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			state := lock.State()
			// while the workspace is being removed, nothing is created in it
			lost := state == daemon.LockReplaced || state == daemon.LockRemoved && removed && workspace.Is(w.Dir())
			removed = state == daemon.LockRemoved
			switch {
			case lost:
				why = "the lock of the daemon is gone from " + w.Dir()
			case binary.Replaced():
				why = binary.Path + " was replaced"
			default:
				continue
			}
			stop()
			return
		}
	}()
	err = w.Follow(ctx, sources, imports.Options{Each: func(r imports.Transcript) {
		p.noting.Lock()
		defer p.noting.Unlock()
		r.Title = "" // 'bough forget' does not know the log
		p.followed(r)
	}})
	stop()
	<-done
	if err != nil {
		why = ""
	}
	return why, err
}

// toolEnviron returns the variables that say where tools keep their conversations. A service
// manager does not have those of the user's shell.
func toolEnviron() (list []string) {
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		if value := os.Getenv(name); filepath.IsAbs(value) {
			list = append(list, name+"="+value)
		}
	}
	return list
}
