package checkup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/internal/copymerge"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// ConflictCopies returns the conflict copies in a workspace.
func ConflictCopies(ctx context.Context, w *store.Store) ([]doctor.ConflictFile, error) {
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	copies, err := sessions.New(root, w.Memory).ConflictCopies()
	var list []doctor.ConflictFile
	for _, c := range copies {
		list = append(list, doctor.ConflictFile(c))
	}
	return list, err
}

// MergeCopies adds the messages of each conflict copy to its session.
func MergeCopies(ctx context.Context, w *store.Store) (*doctor.MergedCopies, error) {
	op := operation.Operation{Verb: "doctor --merge-copies"}
	return store.Locked(ctx, w, op, store.Mode{Every: true}, func(tx *store.Tx) (*doctor.MergedCopies, error) {
		out := &doctor.MergedCopies{Copies: []doctor.MergedCopy{}}
		copies, err := tx.View.Folder.ConflictCopies()
		if err != nil || len(copies) == 0 {
			return out, err
		}
		d, err := newCheckup(tx.View, tx)
		if err != nil {
			return out, err
		}
		for len(copies) > 0 {
			n := 1
			for n < len(copies) && copies[n].ID == copies[0].ID {
				n++
			}
			rows, err := d.mergeCopies(copies[0].ID, copies[:n])
			if err != nil {
				return out, err
			}
			out.Copies = append(out.Copies, rows...)
			copies = copies[n:]
		}
		return out, d.finish()
	})
}

// mergeCopies merges the copies of one session into it, as one change of its
// file.
func (d *checkup) mergeCopies(id string, copies []sessions.ConflictCopy) (rows []doctor.MergedCopy, err error) {
	row := func(c sessions.ConflictCopy, status doctor.MergeStatus, messages int, why error) {
		r := doctor.MergedCopy{Path: c.Path, Session: id, Status: status, Messages: messages}
		if why != nil {
			r.Detail = why.Error()
		}
		rows = append(rows, r)
	}
	var discard []sessions.ConflictCopy
	name := session.FileName(id)
	if name == session.IndexPath {
		for _, c := range copies {
			row(c, doctor.CopyContained, 0, nil)
		}
		return rows, d.discardCopies(copies)
	}
	seen := d.identity(name)
	into, err := d.v.Folder.Read(id)
	gone := errors.Is(err, session.ErrNotFound)
	if err != nil && !gone {
		for _, c := range copies {
			row(c, doctor.CopyRefused, 0, err)
		}
		return rows, nil
	}
	err = nil // a copy can restore a missing session
	changed := false
	read := map[string]durable.Identity{}
	for _, c := range copies {
		read[c.Path] = d.identity(c.Path)
		other, err := d.readCopy(c)
		if err != nil {
			row(c, doctor.CopyRefused, 0, err)
			continue
		}
		if into == nil {
			if into, err = session.Decode(id, other.Bytes()); err != nil {
				return nil, err
			}
			changed = true
			row(c, doctor.CopyRestored, into.Len(), nil)
			discard = append(discard, c)
			continue
		}
		merge, err := copymerge.Merge(into, other)
		if err != nil {
			row(c, doctor.CopyRefused, 0, err)
			continue
		}
		discard = append(discard, c)
		if merge.Data == nil {
			row(c, doctor.CopyContained, 0, nil)
			continue
		}
		if into, err = session.Decode(id, merge.Data); err != nil {
			return nil, err
		}
		changed = true
		row(c, doctor.CopyMerged, merge.Messages, nil)
	}
	switch {
	case changed && gone:
		err = d.putNew(into)
	case changed:
		var done bool
		if done, err = d.overwrite(id, into.Bytes(), seen); err == nil && !done {
			err = &fault.Error{Code: fault.Busy, Message: "another program is writing " + name, Hint: "try again when it has finished"}
		}
	}
	if err != nil {
		return nil, err
	}
	// A copy that another program changed meanwhile stays.
	discard = slices.DeleteFunc(discard, func(c sessions.ConflictCopy) bool { return d.identity(c.Path) != read[c.Path] })
	return rows, d.discardCopies(discard)
}

// readCopy reads a conflict copy. It returns an error if the copy has the id of
// another session.
func (d *checkup) readCopy(c sessions.ConflictCopy) (*session.Session, error) {
	info, err := d.v.Root.Lstat(c.Path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: c.Path, Err: errors.New("not a regular file")}
	}
	data, err := durable.ReadFile(d.v.Root, c.Path)
	if err != nil {
		return nil, err
	}
	s, err := session.Decode(c.ID, data)
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage):
		damage.Path = c.Path
		return nil, damage
	case err == nil && s.OwnID != "" && s.OwnID != c.ID:
		return nil, fmt.Errorf("the file has the session id %q", s.OwnID)
	}
	return s, err
}

// putNew stages the file of a session that does not exist.
func (d *checkup) putNew(s *session.Session) error {
	name := session.FileName(s.ID)
	info, err := d.tx.Batch.Create(name, durable.Bytes(s.Bytes()))
	if err != nil {
		return err
	}
	d.tx.Changes(s.ID, operation.Change{File: name, Is: store.StateOfBytes(s.Bytes(), info)})
	s.Stat = sessions.StatOf(s.ID, info)
	d.tx.RecordWrite(s.Outline)
	return nil
}

// discardCopies stages the move of conflict copies to the trash.
func (d *checkup) discardCopies(copies []sessions.ConflictCopy) error {
	for _, c := range copies {
		if err := d.tx.Discard(c.Path); err != nil {
			return err
		}
	}
	return nil
}

// conflictCopies reports the conflict copies.
func (d *checkup) conflictCopies() error {
	copies, err := d.v.Folder.ConflictCopies()
	if err != nil {
		return err
	}
	for _, c := range copies {
		d.found(doctor.ConflictCopy, c.Path, "a file-synchronization program made this copy of "+c.ID+", and it is not merged", false)
	}
	return nil
}
