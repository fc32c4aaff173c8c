package index

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// files identifies the index files as last read or written. A missing file has the
// zero Identity.
type files struct {
	index, journal durable.Identity
	lines          int64 // number of complete lines of the journal
	size           int64 // of these lines in bytes
}

// changed returns when the files of the index were written. The index records the
// size and modification time of a session file, which a program can set
// arbitrarily; so a file that changed after the index is read again.
func (f *files) changed() int64 {
	return max(f.index.Changed, f.journal.Changed)
}

// read reads the index and the journal. The journal is read first: an old journal
// with a new index is harmless, but an old index lacks the lines that a new journal
// no longer has. If either file was replaced, created or removed meanwhile, both
// are read again. The error concerns the index.
func (f *files) read(root *os.Root) (index, journal []byte, err error) {
	const tries = 100 // a fold during each of them is practically impossible
	for range tries {
		var journalErr error
		f.journal, journal = identifyJournal(root), nil
		if f.journal != (durable.Identity{}) {
			journal, journalErr = durable.ReadFile(root, JournalPath)
		}
		f.index = identify(root, session.IndexPath)
		index, err = durable.ReadFile(root, session.IndexPath)
		now := identifyJournal(root)
		if errors.Is(journalErr, fs.ErrNotExist) || identify(root, session.IndexPath) != f.index {
			continue
		}
		if (now.Size == 0) == (f.journal.Size == 0) && now.Inode == f.journal.Inode && now.Size >= f.journal.Size {
			break
		}
	}
	journal = journal[:bytes.LastIndexByte(journal, '\n')+1]
	f.lines, f.size = int64(bytes.Count(journal, []byte("\n"))), int64(len(journal))
	return index, journal, err
}

// identify returns the identity of a file, or zero on any error.
func identify(root *os.Root, name string) durable.Identity {
	info, err := root.Stat(name)
	if err != nil {
		return durable.Identity{}
	}
	return durable.Identify(info)
}

// identifyJournal returns the identity of the journal, or zero if it does not exist
// or is not a regular file. It does not follow links.
func identifyJournal(root *os.Root) durable.Identity {
	info, err := root.Lstat(JournalPath)
	if err != nil || !info.Mode().IsRegular() {
		return durable.Identity{}
	}
	return durable.Identify(info)
}

// decode decodes the index file. err is the error of reading it.
func (x *Index) decode(data []byte, err error) map[string]*Entry {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.absent, x.rewrite = true, true
		return map[string]*Entry{}
	case err != nil:
		x.Trouble, x.rewrite = "the index cannot be read: "+err.Error(), true
		return map[string]*Entry{}
	}
	stored, err := decode(data)
	if err != nil {
		x.Trouble, x.Torn, x.rewrite = "the index is damaged ("+err.Error()+")", true, true
		return map[string]*Entry{}
	}
	x.places = len(stored)
	return stored
}

// decode decodes an index file. An invalid entry describes no file.
func decode(data []byte) (map[string]*Entry, error) {
	stored := make(map[string]*Entry, len(data)/512)
	keys := map[string]string{} // interned member names
	var members []rawjson.Member
	err := rawjson.Walk(data, func(w *rawjson.Walker) error {
		if at, first := w.Start(); first != '{' {
			if _, err := w.Value(); err != nil {
				return err
			}
			return &rawjson.SyntaxError{Offset: at, Problem: "not an object"}
		}
		return w.Object(func(key []byte, keyStart int) error {
			e := &Entry{ID: string(key), place: len(stored)}
			if stored[e.ID] != nil {
				return &rawjson.SyntaxError{Offset: keyStart, Problem: fmt.Sprintf("duplicate key %q", key)}
			}
			stored[e.ID] = e
			start, first := w.Start()
			if first != '{' {
				_, err := w.Value()
				return err
			}
			var own rawjson.Keys
			usable := true
			members = members[:0]
			err := w.Object(func(key []byte, keyStart int) error {
				usable = own.Add(key, keyStart) == nil && usable
				if _, ok := keys[string(key)]; !ok {
					keys[string(key)] = string(key)
				}
				value, err := w.Value()
				members = append(members, rawjson.Member{Key: keys[string(key)], KeyStart: keyStart, Value: value})
				return err
			})
			if err == nil && usable {
				end, _ := w.Start()
				e.decode(data, rawjson.Span{Start: start, End: end}, members)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return stored, nil
}

// encode returns the index file.
func (x *Index) encode() []byte {
	list := x.byPlace()
	children := map[string][]*Entry{}
	for _, e := range list {
		if from := e.from(); from != "" {
			children[from] = append(children[from], e)
		}
	}
	pairs := make([]rawjson.Pair, len(list))
	size := len("{\n}\n")
	for i, e := range list {
		pairs[i] = rawjson.Pair{Key: e.ID, Value: e.beside(children[e.ID])}
		size += len(e.ID) + len(pairs[i].Value) + len("\n  \"\": ,")
	}
	return append(rawjson.AppendObject(make([]byte, 0, size), pairs, 0), '\n')
}

// byPlace returns the entries of the index file in its order: all but those of packed
// checkpoints.
func (x *Index) byPlace() []*Entry {
	list := make([]*Entry, 0, len(x.entries))
	for _, e := range x.entries {
		if e != nil && e.Packed == nil {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *Entry) int { return a.place - b.place })
	return list
}

// beside returns e as it is written to an index in which children have e in their
// continued_from: raw if it is still valid.
func (e *Entry) beside(children []*Entry) []byte {
	to := e.continuedTo(children)
	switch {
	case e.Err != nil && e.raw != nil:
		to = e.to
	case e.fresh != nil:
		return e.encode(to)
	}
	if !e.flat && bytes.Equal(to, e.to) {
		return e.raw
	}
	return e.encode(to)
}

// continuedTo returns the computed continued_to in the dialect of the entry: a
// list, or in Penguin's dialect a string for one child and nothing for none.
func (e *Entry) continuedTo(children []*Entry) []byte {
	slices.SortFunc(children, byAge)
	switch {
	case e.ListLinks && children == nil:
		return []byte("[]")
	case e.ListLinks || len(children) > 1:
		return rawjson.Value(idsOf(children), 2)
	case len(children) == 1:
		return rawjson.Compact(children[0].ID)
	}
	return nil
}
