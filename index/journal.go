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
	index   int64 // an index of fewer bytes has no journal
	journal int64 // maximum size of the journal in bytes
}

var defaultLimits = limits{1 << 20, 1 << 20}

// large reports whether the index may have a journal.
func (x *Index) large() bool {
	return x.count.Lists > 0 && x.count.Bytes >= x.limits.index
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
