package window

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"
)

// save asks for the name of a checkpoint and saves it: the conversation up to
// the message ref, or to its end if ref is "".
func (w *Window) save(ref string) {
	name := widget.NewEntry()
	name.SetPlaceHolder(w.screen.Title)
	form := dialog.NewForm("Save checkpoint", "Save", "Cancel", []*widget.FormItem{widget.NewFormItem("Name", name)}, func(ok bool) {
		w.Canvas().Focus(w.input.entry)
		if ok {
			title := name.Text
			w.report(func(ctx context.Context) (string, error) { return w.desk.Save(ctx, ref, title) })
		}
	}, w)
	name.OnSubmitted = func(string) { form.Submit() }
	form.Resize(fyne.NewSize(420, 160))
	form.Show()
	w.Canvas().Focus(name)
}
