package window

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/bough-dev/bough/examples/assistant/view"
)

// An input is the field for the next message, with what happens to the message.
type input struct {
	content  fyne.CanvasObject
	icon     *widget.Icon
	hint     *widget.Label
	why      *fyne.Container // icon and hint
	queue    *widget.Label
	resume   *widget.Button
	waiting  *fyne.Container // queue and resume
	entry    *prompt
	send     *widget.Button
	followUp *widget.Button
	stop     *widget.Button
	shown    view.Input
}

func newInput(send, followUp func(text string), stop, resume func()) *input {
	in := &input{
		icon:   widget.NewIcon(nil),
		hint:   widget.NewLabel(""),
		queue:  widget.NewLabel(""),
		resume: widget.NewButton("Deliver", resume),
		stop:   widget.NewButtonWithIcon("Stop", theme.MediaStopIcon(), stop),
	}
	take := func(to func(string)) func() {
		return func() {
			text := strings.TrimSpace(in.entry.Text)
			if text == "" || !in.shown.Enabled() {
				return
			}
			in.entry.SetText("")
			to(text)
		}
	}
	in.entry = newPrompt(take(send), func() {
		if in.shown.FollowUp != "" {
			take(followUp)()
		}
	})
	in.send = widget.NewButtonWithIcon("", theme.MailSendIcon(), in.entry.submit)
	in.send.Importance = widget.HighImportance
	in.followUp = widget.NewButtonWithIcon("", theme.HistoryIcon(), in.entry.follow)
	in.hint.Truncation = fyne.TextTruncateEllipsis
	in.queue.Truncation = fyne.TextTruncateEllipsis
	in.queue.TextStyle.Italic = true
	in.why = container.NewBorder(nil, nil, in.icon, nil, in.hint)
	in.waiting = container.NewBorder(nil, nil, nil, in.resume, in.queue)
	buttons := container.NewVBox(in.send, in.followUp, in.stop)
	in.content = container.NewVBox(widget.NewSeparator(), in.waiting, in.why,
		container.NewPadded(container.NewBorder(nil, nil, nil, buttons, in.entry)))
	return in
}

func (in *input) show(s view.Screen) {
	in.shown = s.Input
	in.hint.SetText(s.Input.Hint)
	in.icon.SetResource(modeIcon(s.Input.Mode))
	in.why.Hidden = s.Input.Hint == ""
	in.send.SetText(s.Input.Send)
	enable(in.send, s.Input.Enabled())
	in.followUp.SetText(s.Input.FollowUp)
	in.followUp.Hidden = s.Input.FollowUp == ""
	in.stop.Hidden = !s.Input.Stop

	in.queue.SetText(queued(s.Queue))
	in.waiting.Hidden = len(s.Queue) == 0
	in.resume.Hidden = len(s.Queue) == 0 || s.Queue[0].Mode != view.Held
	in.content.Refresh()
}

// queued returns the messages that wait, on one line.
func queued(list []view.Queued) string {
	texts := make([]string, len(list))
	for i, q := range list {
		texts[i] = q.Mode + ": " + q.Text
	}
	return strings.Join(texts, "   ")
}

func modeIcon(m view.Mode) fyne.Resource {
	switch m {
	case view.Fork:
		return theme.MailForwardIcon()
	case view.Steer:
		return theme.MediaFastForwardIcon()
	case view.Wait:
		return theme.HistoryIcon()
	}
	return theme.MailSendIcon()
}
