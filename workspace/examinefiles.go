package workspace

import (
	"fmt"
	"path"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/tidwall/gjson"
)

// attachments checks the attachments, and that those that messages refer to
// exist.
func (d *checkup) attachments() error {
	whole := map[string]bool{} // that exist, by SHA-256
	entries, err := durable.ReadDir(d.v.root, filesDir)
	if err != nil {
		entries = nil // no attachment exists; references are reported as lost
	}
	for _, e := range entries {
		if !validSum(e.Name()) {
			continue
		}
		whole[e.Name()] = true
		if err := checkFile(d.v.root, e.Name()); err != nil {
			d.found(doctor.DamagedAttachment, path.Join(filesDir, e.Name()), err.Error(), false)
		}
		if err := d.v.ctx.Err(); err != nil {
			return err
		}
	}
	for _, e := range d.v.index.Entries() {
		o, err := d.v.outline(e.ID)
		if err != nil || !stores(o) {
			continue
		}
		s, err := d.v.reopen(o)
		if err != nil {
			return err
		}
		for _, m := range s.Messages {
			for _, sum := range attached(m) {
				if !whole[sum] {
					d.found(doctor.LostAttachment, session.FileName(e.ID), fmt.Sprintf("the message %q refers to %s", m.ID, FilePath(sum)), false)
				}
			}
		}
		delete(d.v.opened, o.ID) // keeps at most one session open
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

// attached returns the SHA-256 of each attachment that a message refers to.
func attached(m session.Message) (sums []string) {
	content := gjson.GetBytes(m.Raw, "content")
	if !content.IsArray() {
		return nil
	}
	for _, part := range content.Array() {
		if sum := part.Get("asset.sha256").Str; validSum(sum) {
			sums = append(sums, sum)
		}
	}
	return sums
}
