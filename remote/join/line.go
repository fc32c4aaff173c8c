package join

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/record"
)

// A line is an entity as it is encoded. Machines are numbers in its list of them.
type line struct {
	Name      string                    `json:"n"` // must be the first member
	Machines  []record.Machine          `json:"m"` // ascending
	Touched   [][3]uint64               `json:"t,omitempty"`
	Removed   [][3]uint64               `json:"x,omitempty"`
	Registers map[string]lineRegister   `json:"r,omitempty"`
	Sets      map[string][]lineElement  `json:"s,omitempty"`
	Dropped   map[string][]lineDropping `json:"d,omitempty"`
	Seen      []record.Vector           `json:"v,omitempty"` // of a row: what the records of Removed had seen
}

// A lineStamp is Lamport, machine, sequence number and index.
type lineStamp [4]uint64

type lineRegister struct {
	Stamp lineStamp `json:"s"`
	lineValue
}

type lineElement struct {
	Stamp lineStamp `json:"s"`
	lineValue
	Body *record.Body `json:"b,omitempty"`
}

// A lineValue is a value of which every byte is kept: itself, or its text where encoding/json would
// omit white space or refuse a number of Python's.
type lineValue struct {
	Value json.RawMessage `json:"v,omitempty"`
	Text  *string         `json:"w,omitempty"`
}

func encodeValue(value json.RawMessage) lineValue {
	var b bytes.Buffer
	if value == nil || json.Compact(&b, value) == nil && bytes.Equal(b.Bytes(), value) {
		return lineValue{Value: value}
	}
	text := string(value)
	return lineValue{Text: &text}
}

func (v lineValue) decode() json.RawMessage {
	if v.Text != nil {
		return json.RawMessage(*v.Text)
	}
	return v.Value
}

type lineDropping struct {
	Element [3]uint64 `json:"e"`
	By      []uint64  `json:"by"`
}

const lineStart = `{"n":"`

// lineName returns the name of the entity of an encoded line, "" if it is none.
func lineName(raw []byte) string {
	rest, ok := bytes.CutPrefix(raw, []byte(lineStart))
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 {
		return ""
	}
	return string(rest[:end])
}

// appendJSON appends v in JSON and a line break. Its values were valid when they were added.
func appendJSON(b *bytes.Buffer, v any) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
}

// appendLine appends the line of an entity. It is the same for equal entities.
func appendLine(b *bytes.Buffer, name string, e *Entity) { appendJSON(b, lineOf(name, e, true)) }

// lineOf returns the line of an entity, without its elements if sets is not set.
func lineOf(name string, e *Entity, sets bool) line {
	l := line{Name: name, Machines: e.machines()}
	number := func(m record.Machine) uint64 {
		i, _ := slices.BinarySearch(l.Machines, m)
		return uint64(i)
	}
	stamp := func(s record.Stamp) lineStamp {
		return lineStamp{s.Lamport, number(s.Machine), s.Seq, uint64(s.Index)}
	}
	for _, m := range slices.Sorted(maps.Keys(e.touched)) {
		l.Touched = append(l.Touched, [3]uint64{number(m), e.touched[m].seq, uint64(e.touched[m].index)})
	}
	for _, r := range e.removed {
		l.Removed = append(l.Removed, [3]uint64{number(r.by), r.at.seq, uint64(r.at.index)})
	}
	l.Registers = make(map[string]lineRegister, len(e.Registers))
	for field, r := range e.Registers {
		l.Registers[field] = lineRegister{stamp(r.Stamp), encodeValue(r.Value)}
	}
	if sets {
		l.Sets = make(map[string][]lineElement, len(e.Sets))
		for field, list := range e.Sets {
			for _, el := range list {
				l.Sets[field] = append(l.Sets[field], lineElement{stamp(el.Stamp), encodeValue(el.Value), el.Body})
			}
		}
	}
	l.Dropped = make(map[string][]lineDropping, len(e.dropped))
	for field, dropped := range e.dropped {
		for _, id := range slices.SortedFunc(maps.Keys(dropped), element.compare) {
			d := lineDropping{Element: [3]uint64{number(id.of), id.at.seq, uint64(id.at.index)}}
			for _, m := range dropped[id] {
				d.By = append(d.By, number(m))
			}
			l.Dropped[field] = append(l.Dropped[field], d)
		}
	}
	return l
}

// machines returns the machines that e names, ascending.
func (e *Entity) machines() []record.Machine {
	set := map[record.Machine]bool{}
	for m := range e.touched {
		set[m] = true
	}
	for _, r := range e.removed {
		set[r.by] = true
	}
	for _, r := range e.Registers {
		set[r.Stamp.Machine] = true
	}
	for _, list := range e.Sets {
		for _, el := range list {
			set[el.Stamp.Machine] = true
		}
	}
	for _, dropped := range e.dropped {
		for id, by := range dropped {
			set[id.of] = true
			for _, m := range by {
				set[m] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

var errLine = errors.New("malformed entity")

// decodeRow decodes the row of an entity, and what the records of its removals had seen.
func decodeRow(raw []byte) (*Entity, []record.Vector, error) {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil || len(l.Seen) != len(l.Removed) {
		return nil, nil, errLine
	}
	e, err := l.entity()
	return e, l.Seen, err
}

// decodeLine decodes the line of an entity. It does not check what the entity has.
func decodeLine(raw []byte) (*Entity, error) {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, errLine
	}
	return l.entity()
}

func (l *line) entity() (*Entity, error) {
	e, ok := newEntity(), true
	machine := func(n uint64) record.Machine {
		if n >= uint64(len(l.Machines)) {
			ok = false
			return ""
		}
		return l.Machines[n]
	}
	at := func(seq, index uint64) place {
		ok = ok && index < maxIndex
		return place{seq, int(index)}
	}
	stamp := func(s lineStamp) record.Stamp {
		return record.Stamp{Lamport: s[0], Machine: machine(s[1]), Seq: s[2], Index: at(s[2], s[3]).index}
	}
	for _, t := range l.Touched {
		e.touched[machine(t[0])] = at(t[1], t[2])
	}
	for _, r := range l.Removed {
		e.removed = append(e.removed, removal{machine(r[0]), at(r[1], r[2])})
	}
	for field, r := range l.Registers {
		e.Registers[field] = Register{r.decode(), stamp(r.Stamp)}
	}
	for field, list := range l.Sets {
		for _, el := range list {
			e.add(field, Element{stamp(el.Stamp), el.decode(), el.Body})
		}
	}
	for field, list := range l.Dropped {
		e.dropped[field] = make(map[element][]record.Machine, len(list))
		for _, d := range list {
			id := element{machine(d.Element[0]), at(d.Element[1], d.Element[2])}
			for _, n := range d.By {
				e.dropped[field][id] = append(e.dropped[field][id], machine(n))
			}
		}
	}
	if !ok {
		return nil, errLine
	}
	return e, nil
}
