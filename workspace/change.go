package workspace

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// now returns the time for new data in l, at least a microsecond after the
// newest message of each of its files. l may be nil.
func (v *View) now(l *line) time.Time {
	t := v.store.opts.Now().Truncate(time.Microsecond)
	if l == nil {
		return t
	}
	after := func(last time.Time, ok bool) {
		if ok && !t.After(last) {
			t = last.Truncate(time.Microsecond).Add(time.Microsecond)
		}
	}
	for p, part := range l.Parts {
		if n := part.Len(); n > 0 {
			after(part.Time(n - 1))
		}
		if leaf := l.Leaf(p); leaf >= 0 {
			after(l.Time(leaf))
		}
	}
	return t
}

// newID returns an unused session id.
func (v *View) newID() (string, error) { return v.newIDAt(v.store.opts.Now()) }

// newIDAt returns an unused session id for something that began at a time.
func (v *View) newIDAt(at time.Time) (string, error) {
	const tries = 100
	for range tries {
		id, err := sessionid.New(at, v.store.opts.Random)
		if err != nil || v.index.Entry(id) == nil && v.index.Err(id) == nil {
			return id, err
		}
	}
	return "", fmt.Errorf("%d generated session ids were all in use", tries)
}

// create stages a new session file and adds it to the index.
func (tx *Tx) create(d *session.Document) error {
	o, err := tx.View.folder.Create(tx.batch, d, tx.View.watch)
	if err != nil {
		return err
	}
	tx.changes(o.ID, operation.Change{File: session.FileName(o.ID), Is: stateOf(o)})
	tx.recordWrite(o)
	return nil
}

// replace stages a change of a session file and updates the index.
func (tx *Tx) replace(edit *session.Edit) error { return tx.edit(edit, false) }

// edit stages a change of a session file and updates the index. link reports
// that the change only adds a link that follows from other files.
func (tx *Tx) edit(edit *session.Edit, link bool) error {
	splices, err := tx.View.folder.Splices(edit)
	if err != nil {
		return err
	}
	was := stateOf(edit.Of())
	o, err := tx.View.folder.Replace(tx.batch, edit, tx.View.watch)
	if err != nil {
		return err
	}
	c := operation.Change{File: session.FileName(o.ID), Was: was, Is: stateOf(o), Link: link}
	for _, s := range splices {
		c.Splices = append(c.Splices, operation.Splice{At: s.At, Old: string(s.Old), New: s.New})
	}
	tx.changes(o.ID, c)
	tx.recordWrite(o)
	return nil
}

// replaceSmall stages the content of a file that is not a session. was is the
// previous content, nil if there was no file.
func (tx *Tx) replaceSmall(name string, was, data []byte) error {
	info, err := tx.batch.Replace(name, durable.Bytes(data))
	if err != nil {
		return err
	}
	c := operation.Change{File: name, Is: stateOfBytes(data, info), After: string(data)}
	if was != nil {
		c.Was, c.Before = stateOfBytes(was, nil), string(was)
		if err := tx.View.logDifference(&c); err != nil {
			return err
		}
	}
	tx.changes("", c)
	return nil
}

// logDifference replaces the content of a small file in c with a difference if
// that is shorter.
func (v *View) logDifference(c *operation.Change) error {
	log, err := operation.Open(v.root)
	if err != nil {
		return err
	}
	defer log.Close()
	c.Diff(c.Before, c.After, log.Operations())
	return nil
}

// withTexts returns a logged operation with the contents of its small files, as
// far as they are known.
func (v *View) withTexts(o *operation.Operation) (*operation.Operation, error) {
	if !slices.ContainsFunc(o.Changes, func(c operation.Change) bool { return c.Differs }) {
		return o, nil
	}
	log, err := operation.Open(v.root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	full, _ := operation.Full(log.Operations(), o)
	return full, nil
}

// changes adds a change of a file to the log entry. If id is not "", the file
// is a session.
func (tx *Tx) changes(id string, c operation.Change) {
	tx.op.Changes = append(tx.op.Changes, c)
	if id != "" && !slices.Contains(tx.op.Sessions, id) {
		tx.op.Sessions = append(tx.op.Sessions, id)
	}
}

// stateOf returns the state of a session file.
func stateOf(o *session.Outline) *operation.State {
	return &operation.State{Size: int64(o.Size()), CRC32C: hex32(o.CRC32C), MTime: mtimeOf(o.Stat.ModTime)}
}

// stateOfBytes returns the state of a file with the content data. info may be
// nil.
func stateOfBytes(data []byte, info fs.FileInfo) *operation.State {
	s := &operation.State{Size: int64(len(data)), CRC32C: hex32(crc32c.Of(data))}
	if info != nil {
		s.MTime = mtimeOf(info.ModTime())
	}
	return s
}

func hex32(sum uint32) string { return fmt.Sprintf("%08x", sum) }

func mtimeOf(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// recordWrite records a session that is to be written.
func (tx *Tx) recordWrite(o *session.Outline) {
	delete(tx.View.opened, o.ID)
	tx.View.outlines[o.ID] = o
	tx.written = append(tx.written, written{o, tx.batch.Len() - 1})
	tx.View.index.Put(o.Summary(), o.Stat)
}

// A written session is a session with the index of the change that writes it.
type written struct {
	*session.Outline
	change int
}

// commit writes the staged changes and then the index. The operation takes
// effect with its first change: a later failure is noted, and the next writer
// completes the operation.
func (tx *Tx) commit() error {
	later, err := tx.commitAll()
	if err == nil && later != nil && slices.ContainsFunc(tx.prepared(), tx.View.restoresFromTrash) {
		return later // an incomplete undo is reported; the next writer completes it
	}
	tx.View.follow("files that follow from the change were not all written", later)
	return err
}

// restoresFromTrash reports whether a file that o restores is still in the
// trash.
func (v *View) restoresFromTrash(o *operation.Operation) bool {
	return slices.ContainsFunc(o.Changes, func(c operation.Change) bool { return c.Was == nil && v.unmoved(c) })
}

// commitAll writes the changes. It returns a failure after the first change as
// later. If err is a *[durable.PartialError], the operations before it are
// written.
func (tx *Tx) commitAll() (later, err error) {
	if tx.View.index.Torn && tx.View.index.Stale() {
		if err := tx.keepCopy(session.IndexPath); err != nil {
			return nil, err
		}
	}
	before := tx.seq
	lines := tx.logLines()
	defer func() {
		if err != nil {
			tx.withdraw(before, err)
		}
	}()
	staged, err := tx.View.index.Stage(tx.stageIndex)
	if err != nil {
		return nil, err
	}
	if tx.batch.Len() == 0 {
		if len(lines) > 0 {
			if _, err := durable.Append(tx.View.root, operation.Path, slices.Concat(lines...)); err != nil {
				return nil, err
			}
		}
		return nil, tx.View.index.Save()
	}
	if len(lines) > 0 {
		if err := tx.batch.Log(operation.Path, lines...); err != nil {
			return nil, err
		}
	}
	var encoding sync.WaitGroup
	encoding.Go(func() {
		for _, o := range tx.written {
			o.Encode() // while the files are being flushed
		}
		tx.View.rememberNew()
	})
	tx.batch.Named = func(info fs.FileInfo) {
		encoding.Wait()
		if len(tx.written) > 0 && tx.written[0].change == 0 {
			tx.View.remember(tx.written[0].Outline, info)
		}
	}
	infos, later, err := tx.batch.Commit(tx.View.ctx)
	encoding.Wait()
	if err != nil && !isPartial(err) {
		return nil, err
	}
	for _, o := range tx.written {
		if err != nil && infos[o.change] == nil {
			continue
		}
		if o.change > 0 {
			tx.View.remember(o.Outline, infos[o.change])
		}
		tx.View.index.Written(o.Stat)
	}
	for _, id := range tx.gone {
		tx.View.folder.Forget(id)
	}
	if !staged && err == nil { // otherwise the next command reads the files
		later = cmp.Or(later, tx.View.index.Save())
	}
	return later, err
}

// stageIndex adds the index to the batch.
func (tx *Tx) stageIndex(path string, content []byte, newest time.Time, was session.Stat) error {
	info, err := tx.batch.Derive(path, durable.Bytes(content))
	if err != nil {
		return err
	}
	tx.batch.Expect(was.Identity())
	if info.ModTime().Before(newest) {
		return tx.batch.Touch(newest)
	}
	return nil
}

// logLines returns the lines for the log: one for changes by other programs, if
// there are any, then one for each operation.
func (tx *Tx) logLines() (lines [][]byte) {
	foreign := tx.foreignLine()
	for _, o := range tx.prepared() {
		tx.seq++
		o.Seq = tx.seq
		o.Time = session.Bough.Time(tx.View.store.opts.Now())
		if tx.grouped {
			tx.group = cmp.Or(tx.group, o.Seq)
			o.Group = tx.group
		}
		lines = append(lines, o.Encode())
	}
	switch {
	case foreign == nil:
	case len(lines) == 0:
		lines = [][]byte{foreign}
	default:
		lines[0] = append(foreign, lines[0]...)
	}
	return lines
}

// remember adds the outline of a written session to the cache. If info is nil,
// the outline is dropped.
func (v *View) remember(o *session.Outline, info fs.FileInfo) {
	if info == nil {
		return
	}
	if o.Written(info); !o.Brief() {
		v.folder.Remember(o)
	}
}

// watch reports the progress of a write. It returns an error if ctx has ended,
// which stops the write.
func (v *View) watch(done, total int64) error {
	v.store.opts.Progress("writing", done, total)
	return v.ctx.Err()
}

// path returns the absolute path of a file of the workspace.
func (v *View) path(name string) string { return filepath.Join(v.store.dir, filepath.FromSlash(name)) }
