package window

import (
	"cmp"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/bough-dev/bough/examples/assistant/view"
)

// A header has the title of the open conversation, what can be done with it, and
// why something cannot.
type header struct {
	content fyne.CanvasObject
	title   *widget.Label
	detail  *widget.Label
	save    *widget.Button
	delete  *widget.Button
	reason  *widget.Label
}

func newHeader(save, remove func()) *header {
	h := &header{
		title:  widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}),
		detail: widget.NewLabel(""),
		save:   widget.NewButtonWithIcon("Save checkpoint", theme.DocumentSaveIcon(), save),
		delete: widget.NewButtonWithIcon("Delete", theme.DeleteIcon(), remove),
		reason: widget.NewLabelWithStyle("", fyne.TextAlignTrailing, fyne.TextStyle{Italic: true}),
	}
	h.title.Truncation = fyne.TextTruncateEllipsis
	h.title.SizeName = theme.SizeNameSubHeadingText
	h.detail.SizeName = theme.SizeNameCaptionText
	h.reason.Truncation = fyne.TextTruncateEllipsis
	h.reason.SizeName = theme.SizeNameCaptionText
	buttons := container.NewHBox(h.save, h.delete)
	h.content = container.NewVBox(
		container.NewBorder(nil, nil, nil, buttons, h.title),
		container.NewBorder(nil, nil, h.detail, nil, h.reason),
		widget.NewSeparator(),
	)
	return h
}

func (h *header) show(s view.Screen) {
	h.title.SetText(s.Title)
	h.detail.SetText(s.Detail)
	enable(h.save, s.Save.Enabled)
	enable(h.delete, s.Delete.Enabled)
	h.reason.SetText(cmp.Or(s.Delete.Reason, s.Save.Reason))
}

func enable(b *widget.Button, enabled bool) {
	if enabled {
		b.Enable()
	} else {
		b.Disable()
	}
}
