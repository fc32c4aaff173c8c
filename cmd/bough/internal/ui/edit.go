package ui

import (
	"context"
	"io"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/rewrite"
	"golang.org/x/term"
)

// An editRequest is a message of the user to change in the editor.
type editRequest struct{ ref, text string }

// editMessage opens the selected message in the editor.
func (m *model) editMessage() tea.Cmd {
	if m.focus == treeSide || m.conv.selected() == "" || m.env.Edit == nil {
		m.refuse("Select a message of the user to change it")
		return nil
	}
	ref, _ := m.target()
	e := m.env
	return e.do(func() tea.Msg {
		text, err := e.w.UserText(e.ctx, ref)
		if err != nil {
			return failure{err}
		}
		return editRequest{ref, text}
	})
}

// edit runs the editor, and adds what the user makes of the message as another reply.
func (m *model) edit(r editRequest) tea.Cmd {
	e := m.env
	editor := &editor{env: e, text: r.text}
	return tea.Exec(editor, func(err error) tea.Msg {
		if err != nil {
			return failure{err}
		}
		return editResult{r.ref, editor.text}
	})
}

// An editResult is the new text of a message.
type editResult struct{ ref, text string }

func (m *model) addEdited(r editResult) tea.Cmd {
	return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
		done, err := w.EditMessage(ctx, r.ref, rewrite.EditOptions{Text: r.text})
		if err != nil || done.Unchanged {
			return place{}, err
		}
		return place{session: done.Session, leaf: string(done.Message)}, nil
	})
}

// An editor is the program that changes a text, as bubbletea runs it: with the terminal as it
// was before the page.
type editor struct {
	*env
	text string
}

// resetModes turns off what an editor that was killed may have left on: the mouse, bracketed
// paste, the keypad, the alternate screen, and a hidden cursor.
const resetModes = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1l\x1b>\x1b[?1049l\x1b[?25h\x1b[0m"

// Run runs the editor. After it, the terminal is as before, also if it was killed.
func (e *editor) Run() (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.fail(r)
		}
	}()
	e.text, err = e.Edit(e.ctx, e.text)
	if err != nil && e.terminal != nil {
		_ = term.Restore(e.terminalFd, e.terminal)
		_, _ = io.WriteString(e.out, resetModes)
	}
	return err
}

// The editor opens the terminal itself.

func (e *editor) SetStdin(io.Reader)  {}
func (e *editor) SetStdout(io.Writer) {}
func (e *editor) SetStderr(io.Writer) {}

// keepTerminal notes the settings of the terminal, if in is one.
func (e *env) keepTerminal(in io.Reader, out io.Writer) {
	f, ok := in.(*os.File)
	if !ok {
		return
	}
	if state, err := term.GetState(int(f.Fd())); err == nil {
		e.terminal, e.terminalFd, e.out = state, int(f.Fd()), out
	}
}
