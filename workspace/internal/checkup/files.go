package checkup

import (
	"fmt"
	"path"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
)

// attachments checks the attachments, and that those that messages refer to
// exist.
func (d *checkup) attachments() error {
	whole := map[string]bool{} // that exist, by SHA-256
	entries, err := durable.ReadDir(d.v.Root, lines.FilesDir)
	if err != nil {
		entries = nil // no attachment exists; references are reported as lost
	}
	for _, e := range entries {
		if !lines.ValidSum(e.Name()) {
			continue
		}
		whole[e.Name()] = true
		if err := store.CheckFile(d.v.Root, e.Name()); err != nil {
			d.found(doctor.DamagedAttachment, path.Join(lines.FilesDir, e.Name()), err.Error(), false)
		}
		if err := d.v.Ctx.Err(); err != nil {
			return err
		}
	}
	for _, e := range d.v.Index.Entries() {
		o, err := d.v.Outline(e.ID)
		if err != nil || !stores(o) {
			continue
		}
		s, err := d.v.Reopen(o)
		if err != nil {
			return err
		}
		for _, m := range s.Messages {
			for _, sum := range store.Attached(m) {
				if !whole[sum] {
					d.found(doctor.LostAttachment, d.v.File(e.ID), fmt.Sprintf("the message %q refers to %s", m.ID, lines.FilePath(sum)), false)
				}
			}
		}
		delete(d.v.Opened, o.ID) // keeps at most one session open
	}
	return nil
}

// stores reports whether a session has messages that may refer to attachments.
func stores(o *session.Outline) bool {
	for i := range o.Len() {
		if !o.Brief() && o.Stored(i) {
			return true
		}
	}
	return false
}
