package ui

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	agentmodel "github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
)

// Options configure Run.
type Options struct {
	// Now returns the current time. If nil, time.Now is used.
	Now func() time.Time
	// Models opens the model of an agent, by its id.
	Models func(ctx context.Context, id string) (agentmodel.Model, error)
	// Edit returns what the user makes of a text in the editor, which it runs on the terminal.
	// If nil, messages are not edited.
	Edit func(ctx context.Context, text string) (string, error)
	// Commands returns the names of the commands of the settings that can try the strategies of
	// an exploration, and Command one of them, or an error if the user has not approved it. If
	// Commands is nil, there are none.
	Commands func() ([]string, error)
	Command  func(name string) (string, error)
	// Typed records that the user typed the command of a runner, which the workspace now stores:
	// that approves it. If nil, no command can be typed.
	Typed func(explore.Runner) error
}

// Run shows the page on a terminal until the user leaves it or ctx ends, and restores the
// terminal. It returns when its commands have ended: a change that has begun is completed. After a
// panic it prints that and its stack, and the error is [tea.ErrProgramPanic].
func Run(ctx context.Context, w *workspace.Workspace, in io.Reader, out io.Writer, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	e := &env{Options: o, ctx: reading}
	e.keepTerminal(in, out)
	guarded := &guard{model: newModel(e)}
	p := tea.NewProgram(guarded, tea.WithInput(in), tea.WithOutput(out))
	e.send, e.after, guarded.quit = p.Send, e.wait, p.Quit
	e.w = w.Observed(func(string, int64, int64) {}, func(text string) { p.Send(note{text}) })
	defer context.AfterFunc(ctx, p.Quit)() // tea.WithContext would end the page without waiting for its reader
	_, err := p.Run()
	stop()
	e.end()
	if text := e.crashed(); text != "" {
		fmt.Fprintln(os.Stderr, "panic: "+text)
		return tea.ErrProgramPanic
	}
	if err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A guard is the model of a page that ends when it panics. Bubbletea catches a panic too, but then
// it closes the input without waiting for the goroutine that reads it, and prints the panic of a
// command before it restores the screen, which hides it.
type guard struct {
	*model
	quit func()
}

func (g *guard) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			g.env.fail(r)
			next, cmd = g, tea.Quit
		}
	}()
	if g.env.crashed() != "" {
		return g, tea.Quit
	}
	_, cmd = g.model.Update(msg)
	return g, cmd
}

func (g *guard) View() (v tea.View) {
	defer func() {
		if r := recover(); r != nil {
			g.env.fail(r)
			go g.quit()
			v = viewOf("")
		}
	}()
	if g.env.crashed() != "" {
		return viewOf("")
	}
	return g.model.View()
}
