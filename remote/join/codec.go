package join

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/fault"
)

// format is the version of encoded states and bases.
const format = 1

// A checksum is the first line of an encoded state.
type checksum struct {
	Format int    `json:"format"`
	CRC32C uint32 `json:"crc32c"` // of what follows
}

// A header is the second line of an encoded state; a line for each entity follows.
type header struct {
	Format   int                        `json:"format,omitempty"` // only in a row
	Streams  map[record.Machine]*stream `json:"streams"`
	Needs    record.Vector              `json:"needs,omitempty"`
	Lost     record.Vector              `json:"lost,omitempty"`
	Seen     []headerSeen               `json:"seen,omitempty"`
	Kept     []Kept                     `json:"kept,omitempty"`
	Entities int                        `json:"entities"`
}

type headerSeen struct {
	Machine record.Machine `json:"machine"`
	Seq     uint64         `json:"seq"`
	Seen    record.Vector  `json:"seen"`
}

// Encode returns s in lines of JSON. It is the same for states of the same records.
func (s *State) Encode() []byte {
	if s.rows != nil { // all are needed
		var names []string
		for name := range s.stored("", false) {
			names = append(names, name)
		}
		for _, name := range names {
			s.whole(name)
		}
	}
	h := header{Streams: s.streams, Needs: s.needs, Lost: s.lost, Kept: s.kept, Entities: len(s.entities)}
	for at, seen := range s.seen {
		h.Seen = append(h.Seen, headerSeen{at.machine, at.seq, seen})
	}
	slices.SortFunc(h.Seen, func(a, b headerSeen) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Seq, b.Seq))
	})
	var first, rest bytes.Buffer
	appendJSON(&rest, h)
	for _, name := range s.sorted() {
		if sl := s.entities[name]; sl.line != nil {
			rest.Write(sl.line)
			rest.WriteByte('\n')
		} else {
			appendLine(&rest, name, sl.entity)
		}
	}
	appendJSON(&first, checksum{format, crc32c.Of(rest.Bytes())})
	return slices.Concat(first.Bytes(), rest.Bytes())
}

// Decode decodes what [State.Encode] returned. data must not be changed afterwards. The error has
// the code [fault.Damaged].
func Decode(data []byte) (*State, error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	var sum checksum
	if err := json.Unmarshal(first, &sum); err != nil || sum.Format != format {
		return nil, damaged(1, "not the checksum of a state of format %d", format)
	}
	if crc32c.Of(rest) != sum.CRC32C {
		return nil, damaged(1, "the checksum differs")
	}
	second, body, _ := bytes.Cut(rest, []byte("\n"))
	var h header
	if err := json.Unmarshal(second, &h); err != nil || h.Entities < 0 || h.Entities > len(body) {
		return nil, damaged(2, "not the header of a state")
	}
	s := New()
	s.entities = make(map[string]*slot, h.Entities)
	slots := make([]slot, h.Entities)
	s.names = make([]string, 0, h.Entities)
	for i := 0; len(body) > 0 && i < len(slots); i++ {
		slots[i].line, body, _ = bytes.Cut(body, []byte("\n"))
		name := lineName(slots[i].line)
		s.entities[name], s.names = &slots[i], append(s.names, name)
	}
	if len(s.entities) != h.Entities || len(body) > 0 {
		return nil, damaged(2, "it has not %d entities", h.Entities)
	}
	maps.Copy(s.streams, h.Streams)
	maps.Copy(s.needs, h.Needs)
	maps.Copy(s.lost, h.Lost)
	for _, r := range h.Seen {
		s.seen[position{r.Machine, r.Seq}] = r.Seen
	}
	s.kept = h.Kept
	return s, nil
}

func damaged(line int, problem string, args ...any) error {
	return &fault.Error{Code: fault.Damaged, Message: fmt.Sprintf("line %d: %s", line, fmt.Sprintf(problem, args...))}
}

// A baseHeader is the first line of an encoded base.
type baseHeader struct {
	Format   int                      `json:"format"`
	Machine  record.Machine           `json:"machine"`
	Seq      uint64                   `json:"seq"`
	Lamport  uint64                   `json:"lamport"`
	Seen     record.Vector            `json:"seen"`
	Lost     record.Vector            `json:"lost,omitempty"`
	Removals map[uint64]record.Vector `json:"removals,omitempty"`
	Kept     []Kept                   `json:"kept,omitempty"`
}

// Encode returns b in lines of JSON.
func (b *Base) Encode() []byte {
	var data bytes.Buffer
	appendJSON(&data, baseHeader{format, b.Machine, b.Seq, b.Lamport, b.Seen, b.Lost, b.removals, b.kept})
	for _, name := range slices.Sorted(maps.Keys(b.entities)) {
		appendLine(&data, name, b.entities[name])
	}
	return data.Bytes()
}

// DecodeBase decodes what [Base.Encode] returned, maybe on a hostile machine: it can say nothing in
// the name of another machine. The error has the code [fault.Damaged].
func DecodeBase(data []byte) (*Base, error) {
	first, body, _ := bytes.Cut(data, []byte("\n"))
	var h baseHeader
	if err := checkLine(first); err != nil {
		return nil, damaged(1, "%v", err)
	}
	if err := json.Unmarshal(first, &h); err != nil || h.Format != format {
		return nil, damaged(1, "not the header of a base of format %d", format)
	}
	b := &Base{h.Machine, h.Seq, h.Lamport, h.Seen, h.Lost, map[string]*Entity{}, h.Removals, h.Kept}
	if !b.validHeader() {
		return nil, damaged(1, "a base of machine %q with values out of bounds", h.Machine)
	}
	size := 0
	for n := 2; len(body) > 0; n++ {
		var raw []byte
		raw, body, _ = bytes.Cut(body, []byte("\n"))
		name := lineName(raw)
		if err := checkLine(raw); err != nil {
			return nil, damaged(n, "the entity %.100q: %v", name, err)
		}
		e, err := decodeLine(raw)
		if err == nil {
			if size += len(raw) + e.size(); size > maxDecoded {
				return nil, damaged(n, "the base takes more than %d bytes of memory", maxDecoded)
			}
		}
		if err != nil || !validEntity(name) || b.entities[name] != nil || !b.validPart(name, e) {
			return nil, damaged(n, "malformed entity %.100q", name)
		}
		b.entities[name] = e
	}
	if !b.validRemovals() {
		return nil, damaged(1, "a base of machine %q whose removals cover what it has not seen", h.Machine)
	}
	return b, nil
}

// Bounds of a base that another machine wrote. JSON of a few bytes can take a hundred times as many in memory.
const (
	maxLine    = 128 << 20 // bytes of a line
	maxNested  = 4_000_000 // arrays and objects in a line, also those in values
	maxDecoded = 1<<31 - 1 // bytes of all entities in memory
)

func checkLine(raw []byte) error {
	switch {
	case len(raw) > maxLine:
		return fmt.Errorf("it has more than %d bytes", maxLine)
	case bytes.Count(raw, []byte("{"))+bytes.Count(raw, []byte("[")) > maxNested:
		return fmt.Errorf("it has more than %d arrays and objects", maxNested)
	}
	return nil
}

// size returns about how many bytes an entity takes in memory beside its values.
func (e *Entity) size() int {
	const each, whole = 150, 600
	n := len(e.touched) + len(e.removed) + len(e.Registers)
	for _, list := range e.Sets {
		for _, el := range list {
			if n++; el.Body != nil {
				n += 1 + len(el.Body.Items)
			}
		}
	}
	for _, dropped := range e.dropped {
		n += 1 + len(dropped)
	}
	return whole + each*n
}

func (b *Base) validHeader() bool {
	for _, v := range []record.Vector{b.Seen, b.Lost} {
		for m, n := range v {
			if !hexadecimal(string(m), 32) || m == b.Machine || n > maxSeq {
				return false
			}
		}
	}
	for _, k := range b.kept {
		if !b.validStamp(k.Stamp) {
			return false
		}
	}
	return hexadecimal(string(b.Machine), 32) && b.Seq > 0 && b.Seq <= maxSeq && b.Lamport <= b.Seq+b.Seen.Sum(b.Lost, b.Lamport)
}

// validRemovals reports whether the removals of b cover only what its machine had seen, but for one that retires a machine:
// it may cover more of that, if it is the only one of its record.
func (b *Base) validRemovals() bool {
	of := map[uint64][]string{} // entities, by the record that removed them
	for name, e := range b.entities {
		for _, r := range e.removed {
			of[r.at.seq] = append(of[r.at.seq], name)
		}
	}
	for seq, covered := range b.removals {
		if seq > b.Seq {
			return false
		}
		for m, n := range covered {
			if n > b.Seen[m] && (n > maxSeq || len(of[seq]) != 1 || of[seq][0] != machineKind+string(m)) {
				return false
			}
		}
	}
	return true
}

func (b *Base) validStamp(s record.Stamp) bool {
	return s.Machine == b.Machine && s.Seq > 0 && s.Seq <= b.Seq && s.Lamport <= b.Lamport && s.Index >= 0 && s.Index < maxIndex
}

// validPart reports whether e can be what the machine of b said of an entity.
func (b *Base) validPart(name string, e *Entity) bool {
	if len(e.touched)+len(e.Registers)+len(e.Sets)+len(e.dropped) > 0 && !mayWrite(b.Machine, name) {
		return false
	}
	for m, at := range e.touched {
		if m != b.Machine || at.seq > b.Seq {
			return false
		}
	}
	for _, r := range e.removed {
		if _, ok := b.removals[r.at.seq]; !ok || r.by != b.Machine {
			return false
		}
	}
	for field, r := range e.Registers {
		if !validName(field) || !validValue(r.Value) || !b.validStamp(r.Stamp) {
			return false
		}
	}
	for field, list := range e.Sets {
		for _, el := range list {
			if !validName(field) || !validElement(el.Value, el.Body) || !b.validStamp(el.Stamp) {
				return false
			}
		}
	}
	for field, dropped := range e.dropped {
		for id, by := range dropped {
			if !validName(field) || id.of == b.Machine || id.at.seq > b.Seen[id.of] || len(by) != 1 || by[0] != b.Machine {
				return false
			}
		}
	}
	return true
}
