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
	"github.com/bough-dev/bough/session"
)

// now returns the time for something new in l, nil for a line that begins: at
// least a microsecond after the newest message of each of its files.
func (v *view) now(l *line) time.Time {
	t := v.opts.Now().Truncate(time.Microsecond)
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

// newID returns a session id that is not taken.
func (v *view) newID() (string, error) { return v.newIDAt(v.opts.Now()) }

// newIDAt returns a session id that is not taken, of something that began at a time.
func (v *view) newIDAt(at time.Time) (string, error) {
	const tries = 100
	for range tries {
		id, err := session.NewID(at, v.opts.Random)
		if err != nil || v.index.Entry(id) == nil && v.index.Err(id) == nil {
			return id, err
		}
	}
	return "", fmt.Errorf("%d new session ids were all taken", tries)
}

// create prepares a new session file and takes it into the index.
func (v *view) create(d *session.Document) error {
	o, err := v.folder.Create(v.batch, d, v.watch)
	if err != nil {
		return err
	}
	v.changes(o.ID, operation.Change{File: session.FileName(o.ID), Is: stateOf(o)})
	v.took(o)
	return nil
}

// replace prepares a change of a session file and takes it into the index.
func (v *view) replace(edit *session.Edit) error { return v.edit(edit, false) }

// edit prepares a change of a session file, of nothing but a link that follows
// from others if link is true, and takes it into the index.
func (v *view) edit(edit *session.Edit, link bool) error {
	splices, err := v.folder.Splices(edit)
	if err != nil {
		return err
	}
	was := stateOf(edit.Of())
	o, err := v.folder.Replace(v.batch, edit, v.watch)
	if err != nil {
		return err
	}
	c := operation.Change{File: session.FileName(o.ID), Was: was, Is: stateOf(o), Link: link}
	for _, s := range splices {
		c.Splices = append(c.Splices, operation.Splice{At: s.At, Old: string(s.Old), New: s.New})
	}
	v.changes(o.ID, c)
	v.took(o)
	return nil
}

// replaceSmall prepares that a file that is no session holds data. It was what was
// read of it, nil if there was none.
func (v *view) replaceSmall(name string, was, data []byte) error {
	info, err := v.batch.Replace(name, durable.Bytes(data))
	if err != nil {
		return err
	}
	c := operation.Change{File: name, Is: stateOfBytes(data, info), After: string(data)}
	if was != nil {
		c.Was, c.Before = stateOfBytes(was, nil), string(was)
		if err := v.logDifference(&c); err != nil {
			return err
		}
	}
	v.changes("", c)
	return nil
}

// logDifference has c, of a small file, say only what differs, if that is shorter.
func (v *view) logDifference(c *operation.Change) error {
	log, err := operation.Open(v.root)
	if err != nil {
		return err
	}
	defer log.Close()
	c.Diff(c.Before, c.After, log.Operations())
	return nil
}

// withTexts returns an operation of the log with what its small files held, where that is known.
func (v *view) withTexts(o *operation.Operation) (*operation.Operation, error) {
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

// changes takes down for the log what happens to a file, that of a session unless
// id is "".
func (v *view) changes(id string, c operation.Change) {
	v.op.Changes = append(v.op.Changes, c)
	if id != "" && !slices.Contains(v.op.Sessions, id) {
		v.op.Sessions = append(v.op.Sessions, id)
	}
}

// stateOf returns the state of a session file.
func stateOf(o *session.Outline) *operation.State {
	return &operation.State{Size: int64(o.Size()), CRC32C: hex32(o.CRC32C), MTime: mtimeOf(o.Stat.ModTime)}
}

// stateOfBytes returns the state of a file that holds data; info may be nil.
func stateOfBytes(data []byte, info fs.FileInfo) *operation.State {
	s := &operation.State{Size: int64(len(data)), CRC32C: hex32(crc32c.Of(data))}
	if info != nil {
		s.MTime = mtimeOf(info.ModTime())
	}
	return s
}

func hex32(sum uint32) string { return fmt.Sprintf("%08x", sum) }

func mtimeOf(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// took takes in a session that is going to be written.
func (v *view) took(o *session.Outline) {
	delete(v.open, o.ID)
	v.outlines[o.ID] = o
	v.written = append(v.written, written{o, v.batch.Len() - 1})
	v.index.Put(o.Summary(), o.Stat)
}

// A written session is one that is written by the change of that number.
type written struct {
	*session.Outline
	change int
}

// commit makes the changes that were prepared, and completes the index with
// them. Once the first one of an operation is made the operation has happened: what
// fails after that is noted, and made up for later.
func (v *view) commit() error {
	later, err := v.commitAll()
	if err == nil && later != nil && slices.ContainsFunc(v.prepared(), v.comesBackLater) {
		return later // what is not all back is not back, until the next writer completes it
	}
	v.follow("not all that goes with it is written", later)
	return err
}

// comesBackLater reports whether a file that o brings back is still in the trash.
func (v *view) comesBackLater(o *operation.Operation) bool {
	return slices.ContainsFunc(o.Changes, func(c operation.Change) bool { return c.Was == nil && v.unmoved(c) })
}

// commitAll makes the changes, and returns what failed after the first ones as
// later. With a *[durable.PartialError] those of the operations before are made.
func (v *view) commitAll() (later, err error) {
	if v.index.Torn && v.index.Stale() {
		if err := v.keepCopy(session.IndexPath); err != nil {
			return nil, err
		}
	}
	before := v.seq
	lines := v.logLines()
	defer func() {
		if err != nil {
			v.withdraw(before, err)
		}
	}()
	staged, err := v.index.Stage(v.batch)
	if err != nil {
		return nil, err
	}
	if v.batch.Len() == 0 {
		if len(lines) > 0 {
			if _, err := durable.Append(v.root, operation.Path, slices.Concat(lines...)); err != nil {
				return nil, err
			}
		}
		return nil, v.index.Save()
	}
	if len(lines) > 0 {
		if err := v.batch.Log(operation.Path, lines...); err != nil {
			return nil, err
		}
	}
	var encoding sync.WaitGroup
	encoding.Go(func() {
		for _, o := range v.written {
			o.Encode() // while the disk is busy
		}
		v.rememberNew()
	})
	v.batch.Named = func(info fs.FileInfo) {
		encoding.Wait()
		if len(v.written) > 0 && v.written[0].change == 0 {
			v.remember(v.written[0].Outline, info)
		}
	}
	infos, later, err := v.batch.Commit(v.ctx)
	encoding.Wait()
	if err != nil && !isPartial(err) {
		return nil, err
	}
	for _, o := range v.written {
		if err != nil && infos[o.change] == nil {
			continue
		}
		if o.change > 0 {
			v.remember(o.Outline, infos[o.change])
		}
		v.index.Written(o.Stat)
	}
	for _, id := range v.gone {
		v.folder.Forget(id)
	}
	if !staged && err == nil { // else the next command looks what the files hold
		later = cmp.Or(later, v.index.Save())
	}
	return later, err
}

// logLines returns the lines for the log, one for each operation: what is going to be
// done, and, before the first, what other programs were seen to have changed.
func (v *view) logLines() (lines [][]byte) {
	foreign := v.foreignLine()
	for _, o := range v.prepared() {
		v.seq++
		o.Seq = v.seq
		o.Time = session.FormatTime(v.opts.Now())
		if v.grouped {
			v.group = cmp.Or(v.group, o.Seq)
			o.Group = v.group
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

// remember remembers the outline of a session that has its name now; info is nil
// if it does not.
func (v *view) remember(o *session.Outline, info fs.FileInfo) {
	if info == nil {
		return
	}
	if o.Written(info); !o.Brief() {
		v.folder.Remember(o)
	}
}

// watch tells how far the writing of a file is, and stops it when nobody waits
// for it any longer.
func (v *view) watch(done, total int64) error {
	v.opts.Progress("writing", done, total)
	return v.ctx.Err()
}

// path returns the absolute path of a file of the workspace.
func (v *view) path(name string) string { return filepath.Join(v.dir, filepath.FromSlash(name)) }
