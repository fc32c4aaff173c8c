package checkup

import (
	"fmt"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// dialects checks that all links are in one dialect, and rewrites the others if
// the options say so.
func (d *checkup) dialects() error {
	if bough, penguin, mixed := d.v.Index.Mixed(); !d.rewrite {
		if mixed {
			d.found(doctor.MixedDialects, session.Dir, fmt.Sprintf("%s has links in bough's dialect, %s in Penguin's; Penguin does not follow the former", bough, penguin), false)
		}
		return nil
	}
	n := 0
	for _, e := range d.v.Index.Entries() {
		o, err := d.v.Outline(e.ID)
		if err != nil {
			continue // reported already
		}
		edit := translate(o, d.dialect, d.v.Index.Continuations(o.ID))
		if edit == nil {
			continue
		}
		if err := d.keep(d.v.File(o.ID)); err != nil {
			return err
		}
		if err := d.tx.Replace(edit); err != nil {
			return err
		}
		if err := d.commitMany(); err != nil {
			return err
		}
		n++
	}
	if n > 0 {
		d.found(doctor.MixedDialects, session.Dir, fmt.Sprintf("%s had links in another dialect than %s", plural.Of(n, "session"), d.dialect), true)
	}
	return nil
}

// translate returns the edit that writes the links of a session in the dialect
// d, nil if they are. children are its continuations.
//
// In Penguin's dialect a snapshot has branched_from and no continued_from. If
// the two links differ, translate returns nil.
func translate(o *session.Outline, d session.Dialect, children []string) *session.Edit {
	m, origin := o.Meta, o.Meta.Origin()
	edit := o.Edit()
	switch {
	case m.Dialect() == d, d == session.Bough && origin == "" && len(children) == 0:
		return nil
	case d == session.Bough && origin == "":
		edit.SetMeta("continued_from", []string{})
	case d == session.Bough:
		edit.SetMeta("continued_from", []string{origin})
	case m.Snapshot && origin != "" && m.BranchedFrom != "" && m.BranchedFrom != origin:
		return nil
	case m.Snapshot || origin == "":
		edit.DeleteMeta("continued_from")
		if origin != "" {
			edit.SetMeta("branched_from", origin)
		}
	default:
		edit.SetMeta("continued_from", origin)
	}
	store.LinkTo(edit, d, children)
	return edit
}
