package window

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// A prompt is a field of several lines: Enter submits, Alt+Enter follows up, and
// Shift+Enter begins a line.
type prompt struct {
	widget.Entry
	submit, follow func()
	shift          bool
}

func newPrompt(submit, follow func()) *prompt {
	p := &prompt{submit: submit, follow: follow}
	p.MultiLine = true
	p.Wrapping = fyne.TextWrapWord
	p.PlaceHolder = "Message"
	p.SetMinRowsVisible(3)
	p.ExtendBaseWidget(p)
	return p
}

func isEnter(name fyne.KeyName) bool { return name == fyne.KeyReturn || name == fyne.KeyEnter }

func isShift(name fyne.KeyName) bool {
	return name == desktop.KeyShiftLeft || name == desktop.KeyShiftRight
}

// KeyDown implements [desktop.Keyable].
func (p *prompt) KeyDown(key *fyne.KeyEvent) {
	p.shift = p.shift || isShift(key.Name)
	p.Entry.KeyDown(key)
}

// KeyUp implements [desktop.Keyable].
func (p *prompt) KeyUp(key *fyne.KeyEvent) {
	p.shift = p.shift && !isShift(key.Name)
	p.Entry.KeyUp(key)
}

// TypedKey implements [fyne.Focusable].
func (p *prompt) TypedKey(key *fyne.KeyEvent) {
	if isEnter(key.Name) && !p.shift {
		p.submit()
		return
	}
	p.Entry.TypedKey(key)
}

// TypedShortcut implements [fyne.Shortcutable].
func (p *prompt) TypedShortcut(s fyne.Shortcut) {
	if s, ok := s.(*desktop.CustomShortcut); ok && isEnter(s.KeyName) && s.Modifier == fyne.KeyModifierAlt {
		p.follow()
		return
	}
	p.Entry.TypedShortcut(s)
}
