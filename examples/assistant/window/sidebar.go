package window

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/bough-dev/bough/examples/assistant/view"
	"github.com/bough-dev/bough/session"
)

// A sidebar is the tree of conversations, with a button that begins one.
type sidebar struct {
	content fyne.CanvasObject
	begin   *widget.Button
	tree    *widget.Tree
	shown   view.Tree
	open    func(id string)
}

func newSidebar(open func(id string), begin func()) *sidebar {
	s := &sidebar{open: open, begin: widget.NewButtonWithIcon("New conversation", theme.ContentAddIcon(), begin)}
	s.tree = widget.NewTree(s.children, func(id string) bool { return id == "" || len(s.shown.Rows[id].Children) > 0 },
		func(bool) fyne.CanvasObject { return newRow() }, func(id string, _ bool, o fyne.CanvasObject) { setRow(o, s.shown.Rows[id]) })
	s.tree.OnSelected = func(id string) {
		if id != s.shown.Open {
			s.open(id)
		}
	}
	s.content = container.NewBorder(container.NewPadded(s.begin), nil, nil, nil, s.tree)
	return s
}

func (s *sidebar) children(id string) []string {
	if id == "" {
		return s.shown.Roots
	}
	return s.shown.Rows[id].Children
}

// show shows a tree. Branches that are new are expanded, and the way to the open
// conversation is.
func (s *sidebar) show(t view.Tree) {
	was := s.shown
	s.shown = t
	for id, row := range t.Rows {
		if len(row.Children) > len(was.Rows[id].Children) {
			s.tree.OpenBranch(id)
		}
	}
	s.tree.Refresh()
	if t.Open != was.Open {
		s.tree.Select(t.Open)
	}
}

// A row has an icon for the kind of a conversation, its title, and the number of
// its messages.
func newRow() fyne.CanvasObject {
	title, messages := widget.NewLabel(""), widget.NewLabel("")
	title.Truncation = fyne.TextTruncateEllipsis
	messages.SizeName = theme.SizeNameCaptionText
	return container.NewBorder(nil, nil, widget.NewIcon(nil), messages, title)
}

func setRow(o fyne.CanvasObject, r view.Row) {
	objects := o.(*fyne.Container).Objects // the center first, then the sides
	objects[0].(*widget.Label).SetText(r.Title)
	objects[1].(*widget.Icon).SetResource(rowIcon(r))
	objects[2].(*widget.Label).SetText(r.Count())
}

func rowIcon(r view.Row) fyne.Resource {
	switch {
	case r.End:
		return theme.MoreHorizontalIcon()
	case r.Running:
		return theme.NewPrimaryThemedResource(theme.MediaRecordIcon())
	case r.Kind == session.Checkpoint:
		return theme.DocumentSaveIcon()
	case r.Kind == session.Branch:
		return theme.MailForwardIcon()
	}
	return theme.DocumentIcon()
}
