package window

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
	"github.com/bough-dev/bough/examples/assistant/view"
)

// A talk is the messages of the open conversation. It follows new messages as
// long as the user has not scrolled away from the end.
type talk struct {
	content *fyne.Container
	scroll  *container.Scroll
	list    *fyne.Container // earlier and the messages
	earlier *widget.Button
	menu    func(view.Message) *fyne.Menu
	open    string
	shown   []*bubble
	pinned  bool // at the end
}

func newTalk(menu func(view.Message) *fyne.Menu, earlier func()) *talk {
	t := &talk{menu: menu, earlier: widget.NewButton("", earlier)}
	t.earlier.Importance = widget.LowImportance
	t.earlier.Hide()
	t.list = container.New(after{layout.NewVBoxLayout(), t.stick}, t.earlier)
	t.scroll = container.NewVScroll(t.list)
	t.scroll.OnScrolled = func(fyne.Position) { t.pinned = t.atEnd() }
	t.content = container.New(after{layout.NewStackLayout(), t.stick}, t.scroll)
	return t
}

// show shows messages. The widgets of those that were shown stay.
func (t *talk) show(s view.Screen) {
	if s.Tree.Open != t.open {
		t.open, t.pinned = s.Tree.Open, true
	}
	t.earlier.SetText(fmt.Sprintf("%d earlier messages", s.Earlier))
	t.earlier.Hidden = s.Earlier == 0

	byRef := map[string]*bubble{}
	for _, b := range t.shown {
		byRef[b.message.Ref] = b
	}
	t.shown = nil
	objects := []fyne.CanvasObject{t.earlier}
	for _, m := range s.Messages {
		b := byRef[m.Ref]
		if b == nil {
			b = newBubble(t.menu)
		}
		b.show(m)
		t.shown, objects = append(t.shown, b), append(objects, b.content)
	}
	t.list.Objects = objects
	t.list.Refresh()
	t.scroll.Refresh()
	t.stick()
}

// stick scrolls to the end if the view was there.
func (t *talk) stick() {
	if t.pinned {
		t.scroll.ScrollToBottom()
	}
}

func (t *talk) atEnd() bool {
	const near = 40
	return t.scroll.Offset.Y+t.scroll.Size().Height >= t.list.MinSize().Height-near
}

// An after is a layout that calls do each time: a text has its height only after
// it got its width, so the end of the messages moves.
type after struct {
	layout fyne.Layout
	do     func()
}

// Layout implements [fyne.Layout].
func (a after) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	a.layout.Layout(objects, size)
	a.do()
}

// MinSize implements [fyne.Layout].
func (a after) MinSize(objects []fyne.CanvasObject) fyne.Size { return a.layout.MinSize(objects) }
