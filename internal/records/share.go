package records

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"

	"github.com/bough-dev/bough/internal/rawjson"
)

// Shared returns records as an array in which values that occur in content, or
// in an earlier record, are replaced by "", and the texts to restore them.
// texts is nil if nothing was replaced.
func Shared(content []byte, records []json.RawMessage) (array, texts []byte) {
	s := sharers.Get().(*sharer)
	defer sharers.Put(s)
	s.reset()
	if err := s.share(content, records); err != nil || !s.shares() {
		return Join(records), nil
	}
	array = append(append(make([]byte, 0, len(s.out)+1), s.out...), ']')
	size := 0
	for _, r := range records {
		size += len(r)
	}
	if size > sizeLimit(len(content), len(array)) {
		return Join(records), nil
	}
	return array, appendReferences(nil, s.references)
}

func appendReferences(dst []byte, list []reference) []byte {
	for len(list) > 0 && list[len(list)-1] == (reference{}) {
		list = list[:len(list)-1]
	}
	dst = append(dst, '[')
	for i, r := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch r.form {
		case asItStands:
			dst = strconv.AppendInt(dst, int64(r.number), 10)
		case inText:
			dst = strconv.AppendInt(dst, int64(-r.number), 10)
		case asASCII:
			dst = append(strconv.AppendInt(append(dst, '['), int64(r.number), 10), ']')
		}
	}
	return append(dst, ']')
}

// A sharer finds repeated values.
type sharer struct {
	seed  maphash.Seed
	known map[uint64]int32 // index in values, by hash of the value

	values     []sharedValue // the longer values so far
	passed     int           // number of all values so far
	ascii      bool          // the records escape non-ASCII characters
	in         []byte        // the current record
	copied     int           // number of its bytes that are in out
	out        []byte
	references []reference // one for each "" in out
}

// A sharedValue is a value that a reference can name.
type sharedValue struct {
	bytes []byte
	reference
}

var sharers = sync.Pool{New: func() any {
	return &sharer{seed: maphash.MakeSeed(), known: map[uint64]int32{}}
}}

func (s *sharer) reset() {
	clear(s.known)
	clear(s.values) // values retain the records
	s.values, s.references = s.values[:0], s.references[:0]
	s.out, s.in, s.passed, s.copied = s.out[:0], nil, 0, 0
}

func (s *sharer) shares() bool {
	return slices.ContainsFunc(s.references, func(r reference) bool { return r.number > 0 })
}

func (s *sharer) share(content []byte, records []json.RawMessage) error {
	s.ascii = slices.ContainsFunc(records, func(r json.RawMessage) bool { return bytes.Contains(r, []byte(`\u`)) })
	if err := eachValue(content, s.source); err != nil {
		return err
	}
	for i, r := range records {
		s.out = append(s.out, "[,"[min(i, 1)])
		s.in, s.copied = r, rawjson.Root(r).Start
		err := rawjson.Walk(r, func(w *rawjson.Walker) error { return s.value(w, 0) })
		if err != nil {
			return err
		}
		s.out = append(s.out, bytes.TrimRight(r[s.copied:], " \t\r\n")...)
	}
	return nil
}

// source adds a value of the content.
func (s *sharer) source(value []byte) {
	s.passed++
	if len(value) < minShared {
		return
	}
	s.add(value, reference{s.passed, asItStands})
	if value[0] != '"' {
		return
	}
	if c := value[1]; c == '{' || c == '[' {
		if text, ok := textBytes(value); ok {
			s.add(text, reference{s.passed, inText})
		}
	}
	if s.ascii {
		if escaped, ok := escapeASCII(value); ok && !bytes.Equal(escaped, value) {
			s.add(escaped, reference{s.passed, asASCII})
		}
	}
}

// value parses a value of a record.
func (s *sharer) value(w *rawjson.Walker, depth int) error {
	at, first := w.Start()
	switch first {
	case '"':
		span, err := w.Value()
		if err != nil {
			return err
		}
		value := span.Of(s.in)
		switch r, ok := s.find(value); {
		case len(value) == len(`""`):
			s.references = append(s.references, reference{})
		case ok:
			s.name(span, r)
		default:
			s.passed++
			s.add(value, reference{s.passed, asItStands})
		}
		return nil
	case '{', '[':
	default:
		_, err := w.Value()
		return err
	}
	s.passed++
	number, values, references, out, copied := s.passed, len(s.values), len(s.references), len(s.out), s.copied
	var err error
	if first == '{' {
		err = w.Object(func([]byte, int) error { return s.value(w, depth+1) })
	} else {
		err = w.Array(func() error { return s.value(w, depth+1) })
	}
	if err != nil || depth > maxSharedDepth {
		return err
	}
	end, _ := w.Start()
	span := rawjson.Span{Start: at, End: end}
	if r, ok := s.find(span.Of(s.in)); ok {
		s.passed, s.values, s.references = number-1, s.values[:values], s.references[:references]
		s.out, s.copied = s.out[:out], copied
		s.name(span, r)
		return nil
	}
	s.add(span.Of(s.in), reference{number, asItStands})
	return nil
}

// name writes the record up to a value, and a reference instead of the value.
func (s *sharer) name(span rawjson.Span, r reference) {
	s.out = append(append(s.out, s.in[s.copied:span.Start]...), `""`...)
	s.copied = span.End
	s.references = append(s.references, r)
}

func (s *sharer) add(value []byte, r reference) {
	if len(value) >= minShared {
		s.known[maphash.Bytes(s.seed, value)] = int32(len(s.values))
		s.values = append(s.values, sharedValue{value, r})
	}
}

// find returns the reference for a value. known may have entries of dropped
// values, so the bytes are compared.
func (s *sharer) find(value []byte) (reference, bool) {
	if len(value) < minShared {
		return reference{}, false
	}
	i, ok := s.known[maphash.Bytes(s.seed, value)]
	if !ok || int(i) >= len(s.values) || !bytes.Equal(s.values[i].bytes, value) {
		return reference{}, false
	}
	return s.values[i].reference, true
}
