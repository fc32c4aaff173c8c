package workspace

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/durable"
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
func (v *view) newID() (string, error) {
	const tries = 100
	for range tries {
		id, err := session.NewID(v.opts.Now(), v.opts.Random)
		if err != nil || v.index.Entry(id) == nil && v.index.Err(id) == nil {
			return id, err
		}
	}
	return "", fmt.Errorf("%d new session ids were all taken", tries)
}

// mayWrite reports whether sessions can be written, and the head too if the
// caller is going to move it: a verb that does more than to prepare changes is
// not begun if it cannot be completed.
func (v *view) mayWrite(head bool) error {
	if err := durable.MakeDir(v.root, session.Dir); err != nil {
		return err
	}
	if err := v.index.Change(func() error { return durable.Probe(v.root, session.IndexPath) }); err != nil {
		return err
	}
	if head {
		return durable.Probe(v.root, headFile)
	}
	return nil
}

// create prepares a new session file and takes it into the index.
func (v *view) create(d *session.Document) error {
	o, err := v.folder.Create(v.batch, d, v.watch)
	if err == nil {
		v.took(o)
	}
	return err
}

// replace prepares a change of a session file and takes it into the index.
func (v *view) replace(edit *session.Edit) error {
	o, err := v.folder.Replace(v.batch, edit, v.watch)
	if err == nil {
		v.took(o)
	}
	return err
}

// took takes in a session that is going to be written.
func (v *view) took(o *session.Outline) {
	delete(v.open, o.ID)
	v.outlines[o.ID] = o
	v.written = append(v.written, o)
	v.index.Put(o.Summary(), o.Stat)
}

// commit makes the changes that were prepared, and completes the index with
// them. Once the first one is made the verb has happened: what fails after that
// is noted, and made up for later.
func (v *view) commit() error {
	later, err := v.commitAll()
	v.follow("not all that goes with it is written", later)
	return err
}

// commitAll makes the changes, and returns what failed after the first one as
// later.
func (v *view) commitAll() (later, err error) {
	if v.index.Torn && v.index.Stale() {
		if err := v.keepCopy(session.IndexPath); err != nil {
			return nil, err
		}
	}
	staged, err := v.index.Stage(v.batch)
	if err != nil {
		return nil, err
	}
	if v.batch.Len() == 0 {
		return nil, v.index.Save()
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
		if len(v.written) > 0 {
			v.remember(v.written[0], info)
		}
	}
	infos, later, err := v.batch.Commit(v.ctx)
	encoding.Wait()
	if err != nil {
		return nil, err
	}
	for i, o := range v.written {
		if i > 0 {
			v.remember(o, infos[i])
		}
		v.index.Written(o.Stat)
	}
	if !staged {
		later = cmp.Or(later, v.index.Save())
	}
	return later, nil
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
