// Package window shows an assistant in a window: the conversations at the left,
// the open one in the middle, and the field for the next message below it.
// Package view decides which of it is shown.
package window

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/bough-dev/bough/examples/assistant/desk"
	"github.com/bough-dev/bough/examples/assistant/view"
)

// A Window is the window of an assistant. Its methods must be called on the
// goroutine of the user interface.
type Window struct {
	fyne.Window
	ctx  context.Context
	desk *desk.Desk
	do   func(func()) // calls a function on the goroutine of the user interface

	screen  view.Screen
	sidebar *sidebar
	header  *header
	talk    *talk
	input   *input
	status  *widget.Label
	undo    *widget.Button
}

// New returns a window in which the user works at a desk, until ctx ends. do
// calls a function on the goroutine of the user interface, as fyne.Do does.
func New(ctx context.Context, app fyne.App, d *desk.Desk, do func(func())) *Window {
	w := &Window{Window: app.NewWindow("Assistant"), ctx: ctx, desk: d, do: do, status: widget.NewLabel("")}
	w.status.Truncation = fyne.TextTruncateEllipsis
	w.sidebar = newSidebar(func(id string) {
		d.Open(id)
		w.Canvas().Focus(w.input.entry)
	}, func() { w.run(d.Begin) })
	w.header = newHeader(func() { w.save("") }, func() { w.report(d.Delete) })
	w.talk = newTalk(w.messageMenu, d.ShowEarlier)
	w.input = newInput(w.send, w.followUp, d.Stop, func() { w.run(d.Resume) })

	w.undo = widget.NewButtonWithIcon("Undo", theme.ContentUndoIcon(), func() { w.report(d.Undo) })
	w.undo.Importance = widget.LowImportance
	bar := container.NewBorder(nil, nil, nil, w.undo, w.status)
	middle := container.NewBorder(w.header.content, w.input.content, nil, nil, w.talk.content)
	split := container.NewHSplit(w.sidebar.content, middle)
	split.Offset = 0.3
	w.SetContent(container.NewBorder(nil, container.NewVBox(widget.NewSeparator(), bar), nil, nil, split))
	w.Resize(fyne.NewSize(1040, 720))
	w.Canvas().Focus(w.input.entry)

	go d.Run(ctx, func(s view.Screen, err error) {
		do(func() {
			if err != nil {
				w.status.SetText(view.Problem(err))
				return
			}
			w.show(s)
		})
	})
	return w
}

func (w *Window) show(s view.Screen) {
	w.screen = s
	w.sidebar.show(s.Tree)
	w.header.show(s)
	w.talk.show(s)
	w.input.show(s)
}

// send sends a message in the current mode.
func (w *Window) send(text string) {
	mode := w.screen.Input.Mode
	w.run(func(ctx context.Context) error { return w.keep(text, w.desk.Send(ctx, mode, text)) })
}

// followUp sends a message that is read after the reply.
func (w *Window) followUp(text string) {
	w.run(func(ctx context.Context) error { return w.keep(text, w.desk.FollowUp(ctx, text)) })
}

// keep puts the text of a message that was not sent back into its field, unless
// the user has begun another.
func (w *Window) keep(text string, err error) error {
	var unsent *desk.UnsentError
	if errors.As(err, &unsent) {
		w.do(func() {
			if w.input.entry.Text == "" {
				w.input.entry.SetText(text)
			}
		})
	}
	return err
}

// run does something that may take long.
func (w *Window) run(f func(context.Context) error) {
	w.report(func(ctx context.Context) (string, error) { return "", f(ctx) })
}

// report does something that may take long, and shows what was done.
func (w *Window) report(f func(context.Context) (done string, err error)) {
	w.status.SetText("")
	go func() {
		done, err := f(w.ctx)
		if err != nil {
			done = view.Problem(err)
		}
		if done != "" {
			w.do(func() { w.status.SetText(done) })
		}
	}()
}

// messageMenu returns the menu of a message.
func (w *Window) messageMenu(m view.Message) *fyne.Menu {
	branch := fyne.NewMenuItem("Branch from here", func() {
		name := view.BranchName(m.Text, w.screen.Tree)
		w.run(func(ctx context.Context) error { return w.desk.Branch(ctx, m.Ref, name) })
	})
	branch.Icon = theme.MailForwardIcon()
	save := fyne.NewMenuItem("Save checkpoint…", func() { w.save(m.Ref) })
	save.Icon = theme.DocumentSaveIcon()
	text := fyne.NewMenuItem("Copy text", func() { fyne.CurrentApp().Clipboard().SetContent(m.Text) })
	text.Icon = theme.ContentCopyIcon()
	return fyne.NewMenu("", branch, save, text)
}
