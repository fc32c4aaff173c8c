package index

import (
	"maps"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// Save writes the changes in x: as lines of the journal if the index may have one,
// else as a complete index. An index without a journal gets a modification time no
// older than that of any session file, because Penguin considers it out of date
// otherwise.
func (x *Index) Save() error {
	if x.failed != nil {
		return x.failed
	}
	if x.Stale() {
		if err := x.write(); err != nil {
			return err
		}
		x.rewrite = false
		clear(x.changed)
	}
	if x.files.journal != (durable.Identity{}) || x.files.index.ModTime >= x.newest {
		return nil
	}
	newest := time.Unix(0, x.newest)
	if err := durable.Touch(x.root, session.IndexPath, newest); err != nil {
		return err
	}
	x.files.index = identify(x.root, session.IndexPath)
	return nil
}

// Stage calls put with the path and the new content of the index if it has changed and
// must be written completely, and reports whether it did. put adds the file to those that
// change together, with a modification time no older than newest; their commit must fail
// if the index is no longer in the state was. Otherwise [Index.Save] writes it after the
// commit; that is also the case while not every session has been examined.
func (x *Index) Stage(put func(path string, content []byte, newest time.Time, was session.Stat) error) (bool, error) {
	if x.last != nil || !x.Stale() || x.large() || x.files.journal != (durable.Identity{}) {
		return false, nil
	}
	if err := durable.MakeDir(x.root, session.Dir); err != nil {
		return false, err
	}
	is := x.files.index
	was := session.Stat{Size: is.Size, ModTime: time.Unix(0, is.ModTime), Changed: is.Changed, Inode: is.Inode}
	err := put(session.IndexPath, x.encode(), time.Unix(0, x.newest), was)
	return err == nil, err
}

// Staged records that the files of [Index.Stage] have been committed.
func (x *Index) Staged() {
	x.files.index = identify(x.root, session.IndexPath)
	x.rewrite, x.Torn, x.Foreign = false, false, Foreign{}
	clear(x.changed)
}

func (x *Index) write() error {
	if err := durable.MakeDir(x.root, session.Dir); err != nil {
		return err
	}
	if x.last != nil && x.rewrite { // the last look records that a rewrite is needed, but not the changes
		if err := x.Whole(); err != nil {
			return err
		}
	}
	if !x.rewrite && !x.claimed && x.large() {
		if lines, ends := x.lines(); x.fits(len(ends), len(lines)) {
			if err := x.append(lines, len(ends)); err != nil {
				return err
			}
			x.journaled(ends)
			return nil
		}
	}
	return x.fold()
}

// lines returns the journal lines of the changes, in the order of the index, and
// where each of them ends.
func (x *Index) lines() (data []byte, ends []lineEnd) {
	var list []*Entry
	for _, id := range slices.Sorted(maps.Keys(x.changed)) {
		if e := x.listed(id); e != nil {
			list = append(list, e)
			continue
		}
		data = line{id: id}.append(data)
		ends = append(ends, lineEnd{id, len(data)})
	}
	slices.SortStableFunc(list, func(a, b *Entry) int { return a.place - b.place })
	for _, e := range list {
		data = line{e.ID, e.bytes()}.append(data)
		ends = append(ends, lineEnd{e.ID, len(data)})
	}
	return data, ends
}

// A lineEnd is the offset at which the line of a session ends.
type lineEnd struct {
	id string
	at int
}

// append appends n lines to the journal.
func (x *Index) append(lines []byte, n int) error {
	add := func() error {
		info, err := durable.AppendCache(x.root, JournalPath, lines)
		if err != nil {
			return err
		}
		if info.Size() != x.files.size+int64(len(lines)) {
			x.folder.safe = false // another program wrote to it
		}
		x.files.journal, x.files.size = durable.Identify(info), info.Size()
		x.files.lines += int64(n)
		return nil
	}
	if x.files.journal == (durable.Identity{}) {
		return x.Change(add)
	}
	return add()
}

// fold writes the complete index and removes the journal. A crash between the two
// must leave a journal that agrees with the new index, so the journal is completed
// first.
func (x *Index) fold() error {
	if err := x.Whole(); err != nil {
		return err
	}
	journaled := x.files.journal != durable.Identity{}
	if journaled && len(x.changed) > 0 {
		lines, ends := x.lines()
		if err := x.append(lines, len(ends)); err != nil {
			return err
		}
	}
	return x.Change(func() error {
		info, err := durable.Replace(x.root, session.IndexPath, durable.Bytes(x.encode()))
		if err != nil {
			return err
		}
		x.absent, x.files.index = false, durable.Identify(info)
		if !journaled {
			return nil
		}
		err = durable.Remove(x.root, JournalPath)
		if err == nil {
			x.files.journal, x.files.lines, x.files.size = durable.Identity{}, 0, 0
		}
		return err
	})
}
