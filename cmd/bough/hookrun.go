package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/cmd/bough/internal/hook"
	"github.com/bough-dev/bough/internal/hooklog"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

const (
	// hookBudget is the time after which a hook leaves its work to a detached process.
	hookBudget = 200 * time.Millisecond
	// hookStateBudget is the time after which a hook leaves the state of the files to it.
	hookStateBudget = 2 * time.Second
	// hookPatience is how long the detached process waits for other writers.
	hookPatience = 2 * time.Minute
	// hookInputWait is how long a hook waits for the end of its input.
	hookInputWait = 5 * time.Second
	// hookGarbage is how much garbage a hook has before it is collected, in percent of what it
	// uses: a hook uses little memory and is in a hurry.
	hookGarbage = 800
	// maxHookInput is the maximum size of the input of a hook in bytes.
	maxHookInput = 256 << 20
)

func (p *program) hookRunVerb() verb {
	return verb{
		name:  "run",
		args:  "TOOL EVENT",
		short: "run a hook; for the tools that 'bough hook install' sets up",
		long: `Reads what TOOL passes to a hook on standard input, imports the new messages of its transcript and,
if EVENT is before a prompt, makes an automatic checkpoint. It prints nothing and always exits with
0, so that it never fails the tool. What takes longer than 0.2 s continues in the background, with
the transcript as it was. Errors go to .bough/hooks.log, which 'bough doctor' reports.`,
		example: `bough -w ~/conversations hook run claude-code UserPromptSubmit`,
		flags:   []cli.Flag{&cli.StringFlag{Name: "later", Hidden: true}},
		max:     1 << 20,
		standalone: func(c *cli.Context) error {
			p.hook(c)
			return nil
		},
	}
}

// isHookRun reports whether a command line runs a hook: then it prints nothing, and exits
// with 0 whatever happens, because a tool may take any other code as an instruction.
func isHookRun(args []string) bool {
	_, rest, _ := splitGlobal(args)
	at := firstWord(rest)
	return at >= 0 && at+1 < len(rest) && rest[at] == "hook" && rest[at+1] == "run"
}

// hook runs a hook and logs its error.
func (p *program) hook(c *cli.Context) {
	dir, err := p.workspaceDir()
	if err != nil || !workspace.Is(dir) {
		return // the workspace was removed
	}
	p.wait = 0
	if c.IsSet("later") {
		p.wait = hookPatience
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		if err != nil {
			logHook(dir, strings.Join(c.Args().Slice(), " ")+": "+workspace.Explain(err).Message)
		}
	}()
	w, err := p.open(c.Context, checkpoint.Retention{})
	if err != nil {
		return
	}
	w = w.Observed(func(string, int64, int64) {}, func(string) {})
	if c.IsSet("later") {
		err = runLater(c.Context, w, c.String("later"))
		return
	}
	debug.SetGCPercent(hookGarbage)
	err = p.runHook(c, w)
}

// runHook runs a hook, and leaves what takes too long to a detached process.
func (p *program) runHook(c *cli.Context, w *workspace.Workspace) error {
	deadline := time.Now().Add(hookStateBudget)
	call, todo, err := p.hookCall(c.Args().Slice())
	if err != nil {
		return err
	}
	var states bool
	settings, err := p.settingsOf(false)
	if err = cmp.Or(err, settings.Decode("hook.files", &states)); states && err == nil {
		call.WantState(os.Getenv)
	}
	left := false
	if todo {
		var failed error
		if left, failed = call.RunFor(c.Context, w, hookBudget); call.Imported {
			err = errors.Join(err, failed)
		}
	}
	if call.State != nil {
		stateLeft, failed := p.hookState(c, call, deadline)
		left, err = left || stateLeft, errors.Join(err, failed)
	}
	if left {
		err = errors.Join(err, call.Detach(w.Dir()))
	}
	return err
}

// hookState takes the state of a call. That a folder is not one for states is logged once.
func (p *program) hookState(c *cli.Context, call *hook.Call, deadline time.Time) (left bool, err error) {
	p.wait = max(time.Until(deadline), 0)
	w, err := p.open(c.Context, checkpoint.Retention{})
	if err != nil {
		return false, err
	}
	w = w.Observed(func(string, int64, int64) {}, func(string) {})
	if left, err = call.StateFor(c.Context, w, deadline); left {
		return true, nil
	}
	call.State = nil
	if call.PruneStates {
		return true, nil
	}
	if errors.Is(err, fault.Refused) || errors.Is(err, fault.NotFound) {
		if e := workspace.Explain(err); !hasLogged(w.Dir(), e.Message) {
			logHook(w.Dir(), e.Message)
		}
		return false, nil
	}
	return false, err
}

// hasLogged reports whether the log of a workspace has a text.
func hasLogged(dir, text string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	list, err := hooklog.Since(root, time.Time{})
	return err == nil && slices.ContainsFunc(list, func(e hooklog.Entry) bool { return e.Text == text })
}

// logHook adds a line to the log of the workspace. Its error has no other place.
func logHook(dir, text string) {
	if root, err := os.OpenRoot(dir); err == nil {
		hooklog.Add(root, time.Now(), text)
		root.Close()
	}
}

// hookCall returns the call with the input on standard input, and whether there is something
// to import.
func (p *program) hookCall(words []string) (call *hook.Call, todo bool, err error) {
	if len(words) != 2 {
		return nil, false, fmt.Errorf("a hook takes TOOL EVENT; got %d arguments", len(words))
	}
	if call, err = hook.New(words[0], words[1]); err != nil {
		return nil, false, err
	}
	data, err := hook.ReadUntil(io.LimitReader(p.stdin, maxHookInput+1), time.After(hookInputWait))
	if err != nil {
		return nil, false, err
	}
	if len(data) > maxHookInput {
		return nil, false, fmt.Errorf("the input of the hook is larger than %s", size(maxHookInput))
	}
	todo, err = call.Take(data, machine())
	return call, todo, err
}

// runLater does the work that a hook has left in a file.
func runLater(ctx context.Context, w *workspace.Workspace, path string) error {
	call, err := hook.Detached(path)
	if err != nil {
		return err
	}
	return call.RunQueued(ctx, w, hookPatience)
}
