package index

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// JournalPath is the path of the journal of the index, relative to the workspace.
const JournalPath = session.Dir + "/session_index.journal"

// limits are the sizes at which a journal is begun and folded.
type limits struct {
	sessions int64 // an index of fewer sessions and fewer bytes has no journal
	bytes    int64
	lines    int64 // maximum number of lines of the journal of an index of fewer bytes
	journal  int64 // maximum size of the journal in bytes
}

var defaultLimits = limits{sessions: 500, bytes: 1 << 20, lines: 64, journal: 1 << 20}

// large reports whether the index may have a journal.
func (x *Index) large() bool {
	return x.count.Lists > 0 && (x.count.Sessions >= x.limits.sessions || x.count.Bytes >= x.limits.bytes)
}

// fits reports whether the journal may grow by so many lines with so many bytes. Folding the
// journal takes longer the more bytes the index has, and reading it the more lines it has.
func (x *Index) fits(lines, size int) bool {
	if x.count.Bytes < x.limits.bytes && x.files.lines+int64(lines) > x.limits.lines {
		return false
	}
	return x.files.size+int64(size) <= x.limits.journal
}

// A line is one line of the journal.
type line struct {
	id    string
	entry []byte // nil for a deleted session
}

// append appends the encoded line to data.
func (l line) append(data []byte) []byte {
	data = append(data, `{"id":`...)
	data = append(data, rawjson.Compact(l.id)...)
	data = append(data, `,"entry":`...)
	if l.entry == nil {
		data = append(data, "null"...)
	} else {
		data = appendFlat(data, l.entry)
	}
	return append(data, "}\n"...)
}

// appendFlat appends a JSON value on one line. It removes line breaks, which can
// only occur between two tokens, and the white space after them.
func appendFlat(data, value []byte) []byte {
	for {
		i := bytes.IndexAny(value, "\r\n")
		if i < 0 {
			return append(data, value...)
		}
		data = append(data, value[:i]...)
		value = bytes.TrimLeft(value[i:], " \t\r\n")
	}
}

// parseLine parses a line of the journal and reports whether it is valid.
func parseLine(data []byte) (l line, ok bool) {
	if rawjson.Check(data) != nil {
		return l, false
	}
	members, err := rawjson.Members(data, rawjson.Root(data))
	if err != nil {
		return l, false
	}
	id, hasID := rawjson.Find(members, "id")
	entry, hasEntry := rawjson.Find(members, "entry")
	if !hasID || !hasEntry || data[id.Start] != '"' || json.Unmarshal(id.Of(data), &l.id) != nil {
		return l, false
	}
	if value := entry.Of(data); value[0] == '{' {
		l.entry = value
	} else if string(value) != "null" {
		return l, false
	}
	return l, true
}

// replay applies the journal to stored. An invalid line is ignored: the session's
// file is read instead.
func (x *Index) replay(stored map[string]*Entry, journal []byte) {
	n := 0
	for data := range bytes.Lines(journal) {
		n++
		l, ok := parseLine(data)
		if !ok {
			x.rewrite = true
			if x.Trouble == "" {
				x.Trouble = fmt.Sprintf("the journal of the index is damaged (line %d)", n)
			}
			continue
		}
		if l.entry == nil {
			delete(stored, l.id)
			continue
		}
		e := decodeEntry(l.id, l.entry)
		e.flat = true
		if old := stored[l.id]; old != nil {
			e.place = old.place
		} else {
			e.place = x.places
			x.places++
		}
		stored[l.id] = e
	}
}
