package store

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
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// Now returns the time for new data in l, at least a microsecond after the
// newest message of each of its files. l may be nil.
func (v *View) Now(l *Line) time.Time {
	t := v.Store.Opts.Now().Truncate(time.Microsecond)
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

// NewID returns an unused session id.
func (v *View) NewID() (string, error) { return v.NewIDAt(v.Store.Opts.Now()) }

// NewIDAt returns an unused session id for something that began at a time.
func (v *View) NewIDAt(at time.Time) (string, error) {
	const tries = 100
	for range tries {
		id, err := sessionid.New(at, v.Store.Opts.Random)
		if err != nil || v.Index.Entry(id) == nil && v.Index.Err(id) == nil {
			return id, err
		}
	}
	return "", fmt.Errorf("%d generated session ids were all in use", tries)
}

// Create stages a new session file and adds it to the index.
func (tx *Tx) Create(d *session.Document) error {
	tx.View.rememberMeanwhile()
	o, err := tx.View.Folder.Create(tx.Batch, d, tx.View.watch)
	if err != nil {
		return err
	}
	tx.Changes(o.ID, operation.Change{File: session.FileName(o.ID), Is: StateOf(o)})
	tx.RecordWrite(o)
	return nil
}

// CreateFile stages a new session file with the bytes of s, and adds it to the index.
func (tx *Tx) CreateFile(s *session.Session) error {
	if err := durable.MakeDir(tx.View.Root, session.Dir); err != nil {
		return err
	}
	info, err := tx.Batch.Create(session.FileName(s.ID), durable.Bytes(s.Bytes()))
	if err != nil {
		return err
	}
	o := *s.Outline
	o.Stat = sessions.StatOf(s.ID, info)
	tx.Changes(o.ID, operation.Change{File: session.FileName(o.ID), Is: StateOf(&o)})
	tx.RecordWrite(&o)
	return nil
}

// Replace stages a change of a session file and updates the index.
func (tx *Tx) Replace(edit *session.Edit) error { return tx.Edit(edit, false) }

// Edit stages a change of a session file and updates the index. link reports
// that the change only adds a link that follows from other files.
func (tx *Tx) Edit(edit *session.Edit, link bool) error {
	if tx.View.IsPacked(edit.Of().ID) {
		return tx.editPacked(edit)
	}
	splices, err := tx.View.Folder.Splices(edit)
	if err != nil {
		return err
	}
	was := StateOf(edit.Of())
	o, err := tx.View.Folder.Replace(tx.Batch, edit, tx.View.watch)
	if err != nil {
		return err
	}
	c := operation.Change{File: session.FileName(o.ID), Was: was, Is: StateOf(o), Link: link}
	for _, s := range splices {
		c.Splices = append(c.Splices, operation.Splice{At: s.At, Old: string(s.Old), New: s.New})
	}
	tx.Changes(o.ID, c)
	tx.RecordWrite(o)
	return nil
}

// ReplaceSmall stages the content of a file that is not a session. was is the
// previous content, nil if there was no file.
func (tx *Tx) ReplaceSmall(name string, was, data []byte) error {
	info, err := tx.Batch.Replace(name, durable.Bytes(data))
	if err != nil {
		return err
	}
	if name == HeadFile {
		tx.HeadMove = &HeadMove{string(was), string(data)}
	}
	c := operation.Change{File: name, Is: StateOfBytes(data, info), After: string(data)}
	if was != nil {
		c.Was, c.Before = StateOfBytes(was, nil), string(was)
		if err := tx.View.logDifference(&c); err != nil {
			return err
		}
	}
	tx.Changes("", c)
	return nil
}

// logDifference replaces the content of a small file in c with a difference if
// that is shorter.
func (v *View) logDifference(c *operation.Change) error {
	log, err := operation.Open(v.Root)
	if err != nil {
		return err
	}
	defer log.Close()
	c.Diff(c.Before, c.After, log.Operations())
	return nil
}

// WithTexts returns a logged operation with the contents of its small files, as
// far as they are known.
func (v *View) WithTexts(o *operation.Operation) (*operation.Operation, error) {
	if !slices.ContainsFunc(o.Changes, func(c operation.Change) bool { return c.Differs }) {
		return o, nil
	}
	log, err := operation.Open(v.Root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	full, _ := operation.Full(log.Operations(), o)
	return full, nil
}

// Changes adds a change of a file to the log entry. If id is not "", the file
// is a session.
func (tx *Tx) Changes(id string, c operation.Change) {
	tx.Op.Changes = append(tx.Op.Changes, c)
	if id != "" && !slices.Contains(tx.Op.Sessions, id) {
		tx.Op.Sessions = append(tx.Op.Sessions, id)
	}
}

// StateOf returns the state of a session file.
func StateOf(o *session.Outline) *operation.State {
	return &operation.State{Size: int64(o.Size()), CRC32C: hex32(o.CRC32C), MTime: mtimeOf(o.Stat.ModTime)}
}

// StateOfBytes returns the state of a file with the content data. info may be
// nil.
func StateOfBytes(data []byte, info fs.FileInfo) *operation.State {
	s := &operation.State{Size: int64(len(data)), CRC32C: hex32(crc32c.Of(data))}
	if info != nil {
		s.MTime = mtimeOf(info.ModTime())
	}
	return s
}

func hex32(sum uint32) string { return fmt.Sprintf("%08x", sum) }

func mtimeOf(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// RecordWrite records a session that is to be written.
func (tx *Tx) RecordWrite(o *session.Outline) {
	delete(tx.View.Opened, o.ID)
	tx.View.Outlines[o.ID] = o
	tx.Written = append(tx.Written, written{Outline: o, change: tx.Batch.Len() - 1})
	tx.View.Index.Put(o.Summary(), o.Stat)
}

// A written session is a session with the index of the change that writes it.
type written struct {
	*session.Outline
	change  int
	encoded []byte // for the cache, set while the change is committed
}

// commit writes the staged changes and then the index. The operation takes
// effect with its first change: a later failure is noted, and the next writer
// completes the operation.
func (tx *Tx) commit() error {
	later, err := tx.CommitAll()
	if err == nil && later != nil && slices.ContainsFunc(tx.prepared(), tx.View.restoresFromTrash) {
		return later // an incomplete undo is reported; the next writer completes it
	}
	tx.View.Warn("files that follow from the change were not all written", later)
	return err
}

// restoresFromTrash reports whether a file that o restores is still in the
// trash.
func (v *View) restoresFromTrash(o *operation.Operation) bool {
	return slices.ContainsFunc(o.Changes, func(c operation.Change) bool { return c.Was == nil && v.unmoved(c) })
}

// CommitAll writes the changes. It returns a failure after the first change as
// later. If err is a *[durable.PartialError], the operations before it are
// written.
func (tx *Tx) CommitAll() (later, err error) {
	if tx.View.Index.Torn && tx.View.Index.Stale() {
		if err := tx.KeepCopy(session.IndexPath); err != nil {
			return nil, err
		}
	}
	before := tx.Seq
	lines := tx.logLines()
	defer func() {
		if err != nil {
			tx.withdraw(before, err)
		}
	}()
	staged, err := tx.View.Index.Stage(tx.stageIndex)
	if err != nil {
		return nil, err
	}
	if tx.Batch.Len() == 0 {
		if len(lines) > 0 {
			if _, err := durable.Append(tx.View.Root, operation.Path, slices.Concat(lines...)); err != nil {
				return nil, err
			}
		}
		return nil, tx.View.Index.Save()
	}
	if len(lines) > 0 {
		if err := tx.Batch.Log(operation.Path, lines...); err != nil {
			return nil, err
		}
	}
	var encoding sync.WaitGroup
	encoding.Go(func() {
		for i, o := range tx.Written {
			tx.Written[i].encoded = tx.View.Folder.EncodeWritten(o.Outline) // while the files are being flushed
		}
		tx.View.rememberNew()
	})
	tx.Batch.Named = func(info fs.FileInfo) {
		encoding.Wait()
		if len(tx.Written) > 0 && tx.Written[0].change == 0 {
			tx.View.remember(tx.Written[0], info)
		}
	}
	infos, later, err := tx.Batch.Commit(tx.View.Ctx)
	encoding.Wait()
	if err != nil && !IsPartial(err) {
		return nil, err
	}
	for _, o := range tx.Written {
		if err != nil && infos[o.change] == nil {
			continue
		}
		if o.change > 0 {
			tx.View.remember(o, infos[o.change])
		}
		tx.View.Index.Written(o.Stat)
	}
	tx.View.kept.caching.Wait() // it may have files that are gone
	for _, id := range tx.gone {
		tx.View.Folder.Forget(id)
	}
	if !staged && err == nil { // otherwise the next command reads the files
		later = cmp.Or(later, tx.View.Index.Save())
	}
	return later, err
}

// stageIndex adds the index to the batch.
func (tx *Tx) stageIndex(path string, content []byte, newest time.Time, was session.Stat) error {
	info, err := tx.Batch.Derive(path, durable.Bytes(content))
	if err != nil {
		return err
	}
	tx.Batch.Expect(sessions.Identity(was))
	if info.ModTime().Before(newest) {
		return tx.Batch.Touch(newest)
	}
	return nil
}

// logLines returns the lines for the log: one for changes by other programs, if
// there are any, then one for each operation.
func (tx *Tx) logLines() (lines [][]byte) {
	foreign := tx.foreignLine()
	for _, o := range tx.prepared() {
		tx.Seq++
		o.Seq = tx.Seq
		o.Time = session.Bough.Time(tx.View.Store.Opts.Now())
		if tx.Grouped {
			tx.Group = cmp.Or(tx.Group, o.Seq)
			o.Group = tx.Group
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
func (v *View) remember(o written, info fs.FileInfo) {
	if info == nil {
		return
	}
	o.Stat = sessions.StatOf(o.ID, info)
	v.Folder.RememberWritten(o.Outline, o.encoded)
}

// watch reports the progress of a write. It returns an error if ctx has ended,
// which stops the write.
func (v *View) watch(done, total int64) error {
	v.Store.Opts.Progress("writing", done, total)
	return v.Ctx.Err()
}

// Path returns the absolute path of a file of the workspace.
func (v *View) Path(name string) string { return filepath.Join(v.Store.Dir, filepath.FromSlash(name)) }
