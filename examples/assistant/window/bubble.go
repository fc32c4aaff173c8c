package window

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/bough-dev/bough/examples/assistant/view"
)

// A bubble is one message with its menu.
type bubble struct {
	content *fyne.Container
	message view.Message
	back    *canvas.Rectangle
	author  *widget.Label
	time    *widget.Label
	more    *widget.Button
	text    *widget.RichText
	indent  *indent
}

func newBubble(menu func(view.Message) *fyne.Menu) *bubble {
	b := &bubble{
		back:   canvas.NewRectangle(nil),
		author: widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}),
		time:   widget.NewLabel(""),
		more:   widget.NewButtonWithIcon("", theme.MoreVerticalIcon(), nil),
		text:   widget.NewRichText(),
		indent: &indent{},
	}
	b.back.CornerRadius = 10
	b.time.SizeName = theme.SizeNameCaptionText
	b.text.Wrapping = fyne.TextWrapWord
	b.more.Importance = widget.LowImportance
	b.more.OnTapped = func() {
		below := fyne.NewPos(0, b.more.Size().Height)
		widget.ShowPopUpMenuAtRelativePosition(menu(b.message), fyne.CurrentApp().Driver().CanvasForObject(b.more), below, b.more)
	}
	top := container.NewBorder(nil, nil, b.author, container.NewHBox(b.time, b.more))
	b.content = container.New(b.indent, b.back, container.New(layout.NewCustomPaddedVBoxLayout(-theme.InnerPadding()), top, b.text))
	return b
}

func (b *bubble) show(m view.Message) {
	if b.message == m {
		return
	}
	b.message = m
	b.author.SetText(string(m.Author))
	b.time.SetText(m.Time)
	if m.Author == view.Assistant {
		b.text.ParseMarkdown(m.Text)
	} else {
		b.text.Segments = []widget.RichTextSegment{&widget.TextSegment{Text: m.Text, Style: widget.RichTextStyleParagraph}}
		b.text.Refresh()
	}
	name := theme.ColorNameInputBackground
	if b.indent.right = m.Author == view.You; b.indent.right {
		name = theme.ColorNameSelection
	}
	b.back.FillColor = theme.Color(name)
	b.more.Hidden = m.Arriving
	b.content.Refresh()
}

// An indent is the layout of a bubble, which leaves free a part of the width: at
// the left for the user's messages, else at the right.
type indent struct{ right bool }

const share = 0.85 // of the width

// Layout implements [fyne.Layout].
func (l *indent) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	pos := fyne.NewPos(0, 0)
	if l.right {
		pos.X = size.Width * (1 - share)
	}
	for _, o := range objects {
		o.Move(pos)
		o.Resize(fyne.NewSize(size.Width*share, size.Height))
	}
}

// MinSize implements [fyne.Layout].
func (l *indent) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	for _, o := range objects {
		size = size.Max(o.MinSize())
	}
	return size
}
