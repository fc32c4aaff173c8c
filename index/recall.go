package index

import (
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// recall returns the entry of a session from the last look if its file is
// unchanged, else from the file. If the last look is damaged, it examines every
// session.
func (x *Index) recall(id string) *Entry {
	r, err := x.last.lookUp(x, id)
	if err != nil {
		x.whole()
		x.before = look{}
	} else if r != nil {
		x.confirm(r)
	}
	return x.entries[id]
}

// lookUp returns the record of a session, or nil. If the session's journal line
// cannot be read, the record fits no file.
func (l *last) lookUp(x *Index, id string) (*record, error) {
	recent, ok := l.recent[id]
	if !ok {
		return l.table.lookUp(id)
	}
	if recent.size == 0 {
		return nil, nil
	}
	r := &record{id: id, file: recent.file}
	if line, ok := x.readLine(recent); ok && line.id == id && line.entry != nil {
		r.entry = line.entry
	} else {
		r.file = durable.Identity{}
	}
	return r, nil
}

// readLine reads a line of the journal.
func (x *Index) readLine(r recent) (l line, ok bool) {
	f, err := durable.OpenRegular(x.root, JournalPath)
	if err != nil {
		return l, false
	}
	defer f.Close()
	data := make([]byte, min(r.size, uint64(x.files.size)))
	if _, err := f.ReadAt(data, r.at); err != nil {
		return l, false
	}
	return parseLine(data)
}

// confirm adds the entry of r, after comparing it with the file.
func (x *Index) confirm(r *record) {
	e := decodeEntry(r.id, r.entry)
	e.file = r.file
	x.entries[r.id] = e // counted already
	f := file{id: r.id}
	if info, err := x.root.Stat(session.FileName(r.id)); err == nil {
		f.Identity = durable.Identify(info)
	}
	if f.Identity == r.file && f.Size > 0 && !r.unusable && e.raw != nil {
		return
	}
	again := x.read(f, e, f.Size)
	if again == nil {
		x.outOfDate("it lists " + r.id + ", which is gone")
		x.note(r.id)
		x.Foreign.Removed = append(x.Foreign.Removed, r.id)
	} else {
		x.reread(again, e)
	}
	x.set(r.id, again)
}

// remembered returns the sessions that had the name n at the last look.
func (x *Index) remembered(n name) []string {
	if x.last == nil {
		return nil
	}
	ids, err := x.last.table.withName(n)
	if err != nil {
		x.giveUp()
		return nil
	}
	return ids
}

// rememberedWith returns the sessions of the last look whose id contains piece.
func (x *Index) rememberedWith(piece string) []string {
	if x.last == nil {
		return nil
	}
	ids, err := x.last.table.containing(piece)
	if err != nil {
		x.giveUp()
		return nil
	}
	for id := range x.last.recent {
		ids = append(ids, id)
	}
	return ids
}

// giveUp examines every session because the last look is damaged. If that fails
// too, every session has the error.
func (x *Index) giveUp() {
	x.Whole()
	x.before = look{}
}

// journaled records the offsets of lines that were just appended to the journal.
func (x *Index) journaled(ends []lineEnd) {
	if x.last == nil {
		return
	}
	start := 0
	at := x.files.size - int64(ends[len(ends)-1].at)
	for _, end := range ends {
		r := recent{at: at + int64(start), size: uint64(end.at - start)}
		start = end.at
		if e := x.listed(end.id); e != nil {
			r.file, r.names = e.file, e.names()
		} else {
			r.size = 0
		}
		x.last.recent[end.id] = r
	}
}
