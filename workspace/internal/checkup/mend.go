package checkup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// mendSessions repairs damaged sessions, returns the repaired problems, and
// writes the index. If there are none, it writes nothing.
func mendSessions(tx *store.Tx) ([]doctor.Problem, error) {
	d, err := newCheckup(tx.View, tx)
	if err != nil {
		return nil, err
	}
	if err := d.mendLog(); err != nil {
		return nil, err
	}
	if err := d.clearIndexPlace(); err != nil {
		return nil, err
	}
	for _, e := range append(d.v.Index.Unusable(), d.v.Index.Entries()...) {
		if err := d.mendSession(e.ID); err != nil {
			return nil, err
		}
	}
	if len(d.problems) == 0 {
		return nil, d.v.Ctx.Err()
	}
	d.indexFile()
	return d.problems, d.finish()
}

// mendSession replaces a damaged session with its intact part or a copy.
func (d *checkup) mendSession(id string) error {
	if d.v.Folder.IsPacked(id) {
		return nil // see packs
	}
	name := session.FileName(id)
	var damage *session.DamageError
	s, err := d.v.Outline(id)
	if err == nil && d.newerCopy(s).more == 0 {
		d.cache(s)
		return nil
	}
	if err != nil && !errors.As(err, &damage) {
		return nil // examine reports it
	}
	seen, settled := d.settle(name)
	if _, copySettled := d.settle(name + ".bak"); !settled || !copySettled {
		return d.v.Ctx.Err()
	}
	delete(d.v.Outlines, id)
	switch s, err := d.v.Outline(id); {
	case errors.As(err, &damage):
		if r := d.remedy(id); r.data != nil {
			return d.putBack(id, r.data, seen, doctor.Problem{Kind: doctor.DamagedSession, Path: damage.Path, Detail: damageDetail(damage, r, true), Fixed: true})
		}
	case err == nil:
		d.cache(s)
		if c := d.newerCopy(s); c.more > 0 && c.extends {
			return d.putBack(id, c.data, seen, doctor.Problem{Kind: doctor.BetterCopy, Path: name, Detail: c.detail(), Fixed: true})
		}
	}
	return nil
}

// putBack is overwrite, and reports the problem that it fixes.
func (d *checkup) putBack(id string, data []byte, seen durable.Identity, fixed doctor.Problem) error {
	done, err := d.overwrite(id, data, seen)
	if err != nil || !done {
		return err
	}
	d.problems = append(d.problems, fixed)
	return d.commitMany()
}

// overwrite replaces the file of a session with data and keeps a copy of the
// old file in the trash. If the file is no longer the one that was seen,
// because another program writes it, overwrite changes nothing.
func (d *checkup) overwrite(id string, data []byte, seen durable.Identity) (done bool, err error) {
	name := session.FileName(id)
	s, err := session.Decode(id, data)
	if err != nil {
		return false, err
	}
	torn, err := d.v.StateNow(name)
	if err != nil {
		return false, err
	}
	if d.identity(name) != seen {
		return false, nil
	}
	to, err := d.tx.InTrash(name)
	if err != nil {
		return false, err
	}
	if err := durable.KeepOriginal(d.v.Root, name, to); err != nil {
		return false, err
	}
	d.safe[name] = true
	was, err := d.v.Root.Stat(name)
	if err != nil {
		return false, err
	}
	info, err := d.tx.Batch.Replace(name, durable.Bytes(data))
	if err != nil {
		return false, err
	}
	d.tx.Batch.Expect(durable.Identify(was))
	d.tx.Changes(id, operation.Change{File: name, Was: torn, Is: store.StateOfBytes(data, info), Kept: to})
	s.Stat = sessions.StatOf(s.ID, info)
	d.tx.RecordWrite(s.Outline)
	return true, nil
}

// keep copies existing files that will be replaced to the trash, once each.
func (d *checkup) keep(names ...string) error {
	for _, name := range names {
		if d.safe[name] {
			continue
		}
		if err := d.tx.KeepCopy(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		d.safe[name] = true
	}
	return nil
}

// commitMany commits the staged changes if they are many: each keeps a file
// open until then.
func (d *checkup) commitMany() error {
	const many = 128
	if d.tx.Batch.Len() < many {
		return nil
	}
	return d.finish()
}

// finish commits the staged changes as one operation.
func (d *checkup) finish() error {
	if !d.v.Index.Torn && d.v.Index.Stale() {
		if err := d.keep(session.IndexPath, index.JournalPath); err != nil {
			return err
		}
	}
	later, err := d.tx.CommitAll()
	if err := cmp.Or(err, later); err != nil {
		return err
	}
	d.v.Index.Staged()
	d.tx.Op.Sessions, d.tx.Op.Changes, d.tx.Written, d.tx.LogEmpty = nil, nil, nil, false
	return nil
}

// relink writes the continuations of a session into its file.
func (d *checkup) relink(s *session.Outline) error {
	if err := d.keep(d.v.File(s.ID)); err != nil {
		return err
	}
	if err := d.tx.SetContinuedTo(s); err != nil {
		return err
	}
	return d.commitMany()
}

// A remedy is a replacement for a damaged session file.
type remedy struct {
	data []byte // nil if none is possible without loss
	what string // description of data, or of an unused copy; "" for neither
}

// remedy returns the replacement for a damaged session file.
func (d *checkup) remedy(id string) remedy {
	if !sessionid.Valid(id) {
		return remedy{}
	}
	damaged, err := durable.ReadFile(d.v.Root, session.FileName(id))
	if err != nil {
		return remedy{}
	}
	older, _ := durable.ReadFile(d.v.Root, session.FileName(id)+".bak")
	return remedyFor(id, damaged, older)
}

// remedyFor chooses between the intact part of a damaged file and Penguin's
// copy of it, which may be nil. The copy is chosen if it is valid and has as
// many messages. A file with damage in the middle may have messages after it;
// they are estimated by counting roles. A file that has become readable needs
// no remedy.
func remedyFor(id string, damaged, older []byte) remedy {
	if _, err := session.Decode(id, damaged); err == nil {
		return remedy{}
	}
	rest, n, torn := session.Recover(damaged)
	if !torn {
		n = bytes.Count(damaged, []byte(`"role"`))
	}
	s, err := session.Decode(id, older)
	switch {
	case err == nil && len(s.Messages) >= n:
		return remedy{data: older, what: "Penguin's copy of it, with " + plural.Of(len(s.Messages), "message")}
	case torn:
		return remedy{data: rest, what: "its intact part, " + plural.Of(n, "message")}
	case err == nil:
		return remedy{what: fmt.Sprintf("Penguin's copy of it, %s.bak, with %s of about %d", session.FileName(id), plural.Of(len(s.Messages), "message"), n)}
	}
	return remedy{}
}

// damageDetail describes the damage of a session file, and the available
// replacement or, if done, the one used.
func damageDetail(damage *session.DamageError, r remedy, done bool) string {
	detail := fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem)
	switch {
	case r.what == "":
		return detail
	case done:
		return detail + "; the file was moved to the trash and replaced with " + r.what
	case r.data != nil:
		return detail + "; a repair replaces it with " + r.what
	}
	return detail + "; you can replace it with " + r.what
}

// A spare is Penguin's copy of a session, from before the last change.
type spare struct {
	name    string
	data    []byte
	more    int  // how many messages only the copy has
	extends bool // it begins with all messages of the session
}

func (c spare) detail() string {
	detail := fmt.Sprintf("%s is newer and has %s that this session lacks", c.name, plural.Of(c.more, "message"))
	if !c.extends {
		detail += ", but lacks some of this session's; renamed to .json, it is a session of its own"
	}
	return detail
}

// newerCopy returns Penguin's copy of a session if it is newer than the
// session, which only happens after a failure; otherwise it returns a copy
// without extra messages.
func (d *checkup) newerCopy(o *session.Outline) spare {
	if d.v.IsPacked(o.ID) {
		return spare{}
	}
	name := session.FileName(o.ID) + ".bak"
	info, err := d.v.Root.Lstat(name)
	if err != nil || !info.ModTime().After(o.Stat.ModTime) {
		return spare{}
	}
	data, _ := durable.ReadFile(d.v.Root, name)
	its, err := session.Decode(o.ID, data)
	if err != nil {
		return spare{}
	}
	s, err := d.v.Reopen(o)
	if err != nil {
		return spare{}
	}
	more, extends := beyond(s.Messages, its.Messages)
	return spare{name, data, more, extends}
}

// beyond returns how many messages of its are not in ours, and whether its
// begins with ours.
func beyond(ours, its []session.Message) (more int, extends bool) {
	known := map[string]bool{}
	for _, m := range ours {
		known[string(m.Raw)] = true
	}
	for _, m := range its {
		if !known[string(m.Raw)] {
			more++
		}
	}
	same := func(a, b session.Message) bool { return bytes.Equal(a.Raw, b.Raw) }
	return more, len(its) >= len(ours) && slices.EqualFunc(ours, its[:len(ours)], same)
}
