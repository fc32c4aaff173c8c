package join

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/fault"
)

// Rows are where a state is stored. A row has a key and a value; neither has a line break, and a
// key has no tab. A row that is absent has a nil value.
type Rows interface {
	Get(key string) []byte
	Scan(prefix string) iter.Seq2[string, []byte] // the rows whose keys begin with prefix, ascending
}

// The keys of rows. The parts of a key are separated by a character that no name has.
const (
	separator = "\x01"
	headRow   = "head"
	entityRow = "entity" + separator // then its name; and of an element its set and its stamp
	logRow    = "log" + separator    // the same, of the elements of the log of a machine
	linkRow   = "link" + separator   // see link
)

const (
	machineKind = "machine/"
	logField    = "log" // of a machine: a set that grows without end, so it is read only if it is needed
)

// Open returns the state in rows. It reads entities when they are needed. A row that cannot be read
// counts as absent, so the implementation of Rows must report such errors itself. The error has the
// code [fault.Damaged].
func Open(rows Rows) (*State, error) {
	s := New()
	s.rows = rows
	data := rows.Get(headRow)
	if data == nil {
		return s, nil
	}
	var h header
	if err := json.Unmarshal(data, &h); err != nil || h.Format != format {
		return nil, &fault.Error{Code: fault.Damaged, Message: "not the header of a state", Err: err}
	}
	maps.Copy(s.streams, h.Streams)
	maps.Copy(s.needs, h.Needs)
	maps.Copy(s.lost, h.Lost)
	s.kept = h.Kept
	return s, nil
}

// Save calls put for each row that differs from what was stored or saved before, with a nil value for
// one that is gone.
func (s *State) Save(put func(key string, value []byte)) {
	var head bytes.Buffer
	appendJSON(&head, header{Format: format, Streams: s.streams, Needs: s.needs, Lost: s.lost, Kept: s.kept})
	put(headRow, bytes.TrimSuffix(head.Bytes(), []byte("\n")))
	for _, name := range s.sorted() {
		sl := s.entities[name]
		if !sl.changed && s.rows != nil {
			continue
		}
		old, is := s.oldRows(name, sl.short), s.rowsOf(name, s.entity(name))
		for key, value := range is {
			if was, ok := old[key]; !ok || !bytes.Equal(was, value) {
				put(key, value)
			}
		}
		for key := range old {
			if _, ok := is[key]; !ok {
				put(key, nil)
			}
		}
	}
}

// oldRows returns the rows of an entity that are stored, without the log of a machine if short is set.
func (s *State) oldRows(name string, short bool) map[string][]byte {
	old := map[string][]byte{}
	if s.rows == nil || s.rows.Get(entityRow+name) == nil {
		return old
	}
	old[entityRow+name] = s.rows.Get(entityRow + name)
	kinds := []string{entityRow}
	if !short && strings.HasPrefix(name, machineKind) {
		kinds = append(kinds, logRow)
	}
	for _, kind := range kinds {
		for key, value := range s.rows.Scan(kind + name + separator) {
			old[key] = value
		}
	}
	if id, ok := strings.CutPrefix(name, sessionKind); ok {
		for l := range linksOf(s.load(name, false).entity) {
			old[l.key(id)] = []byte{}
		}
	}
	return old
}

// rowsOf returns the rows of an entity.
func (s *State) rowsOf(name string, e *Entity) map[string][]byte {
	rows := map[string][]byte{}
	for field, list := range e.Sets {
		for _, el := range list {
			var data bytes.Buffer
			appendJSON(&data, rowElement{encodeValue(el.Value), el.Body})
			rows[elementKey(name, field, el.Stamp)] = bytes.TrimSuffix(data.Bytes(), []byte("\n"))
		}
	}
	l := lineOf(name, e, false)
	for _, r := range e.removed {
		l.Seen = append(l.Seen, s.seen[position{r.by, r.at.seq}])
	}
	var core bytes.Buffer
	appendJSON(&core, l)
	rows[entityRow+name] = bytes.TrimSuffix(core.Bytes(), []byte("\n"))
	if id, ok := strings.CutPrefix(name, sessionKind); ok {
		for l := range linksOf(e) {
			rows[l.key(id)] = []byte{}
		}
	}
	return rows
}

// A rowElement is the value of the row of an element.
type rowElement struct {
	lineValue
	Body *record.Body `json:"b,omitempty"`
}

func elementKey(name, field string, s record.Stamp) string {
	kind := entityRow
	if isLog(name, field) {
		kind = logRow
	}
	return fmt.Sprintf("%s%s%s%s%s%016x%s%s%s%016x%s%08x", kind, name, separator, field, separator,
		s.Lamport, separator, s.Machine, separator, s.Seq, separator, s.Index)
}

func isLog(name, field string) bool { return field == logField && strings.HasPrefix(name, machineKind) }

// parseElementKey returns the set and the stamp in the key of an element, after the name of the entity.
func parseElementKey(rest string) (field string, s record.Stamp, err error) {
	parts := strings.Split(rest, separator)
	if len(parts) != 5 {
		return "", s, errLine
	}
	var index uint64
	for _, n := range []struct {
		text string
		to   *uint64
	}{{parts[1], &s.Lamport}, {parts[3], &s.Seq}, {parts[4], &index}} {
		if *n.to, err = strconv.ParseUint(n.text, 16, 64); err != nil {
			return "", s, errLine
		}
	}
	s.Machine, s.Index = record.Machine(parts[2]), int(index)
	return parts[0], s, nil
}

// load reads an entity, nil if there is none. If whole is not set, the log of a machine has no
// elements.
func (s *State) load(name string, whole bool) *slot {
	core := s.rows.Get(entityRow + name)
	if core == nil {
		return nil
	}
	sl := s.begin(name, core, whole)
	for key, value := range s.rows.Scan(entityRow + name + separator) {
		sl.addElement(name, key, value)
	}
	sl.entity.Alive = sl.entity.alive(s.seen)
	return sl
}

// begin returns a slot with the row of an entity, to which its elements are added next.
func (s *State) begin(name string, core []byte, whole bool) *slot {
	sl := &slot{}
	var seen []record.Vector
	var err error
	if sl.entity, seen, err = decodeRow(core); err != nil {
		panic(err) // the checksum was right
	}
	for i, r := range sl.entity.removed {
		s.seen[position{r.by, r.at.seq}] = seen[i]
	}
	switch {
	case !strings.HasPrefix(name, machineKind):
	case !whole:
		sl.short = true
	default:
		for key, value := range s.rows.Scan(logRow + name + separator) {
			sl.addElement(name, key, value)
		}
	}
	return sl
}

func (sl *slot) addElement(name, key string, value []byte) {
	_, rest, _ := strings.Cut(key, separator)
	field, stamp, err := parseElementKey(strings.TrimPrefix(rest, name+separator))
	var el rowElement
	if err == nil {
		err = json.Unmarshal(value, &el)
	}
	if err != nil {
		panic(err) // the checksum was right
	}
	sl.entity.add(field, Element{stamp, el.decode(), el.Body})
}

// stored yields the entities in the rows whose names begin with prefix, ascending, without what
// changed in memory.
func (s *State) stored(prefix string, whole bool) iter.Seq2[string, *Entity] {
	return func(yield func(string, *Entity) bool) {
		var last string
		var sl *slot
		for key, value := range s.rows.Scan(entityRow + prefix) {
			name, _, isElement := strings.Cut(key[len(entityRow):], separator)
			switch {
			case sl != nil && isElement && name == last:
				sl.addElement(name, key, value)
				continue
			case isElement:
				continue // its entity is missing
			}
			if sl != nil {
				sl.entity.Alive = sl.entity.alive(s.seen)
				if !yield(last, sl.entity) {
					return
				}
			}
			last, sl = name, s.begin(name, value, whole)
		}
		if sl != nil {
			sl.entity.Alive = sl.entity.alive(s.seen)
			yield(last, sl.entity)
		}
	}
}
