// Package rawjson parses JSON without decoding it: it validates a document, finds
// the offsets of its members and elements, and leaves the bytes unchanged.
//
// A document is one JSON value (RFC 8259) in valid UTF-8 without a byte order mark.
// The tokens NaN, Infinity and -Infinity, which Python writes, count as numbers. No
// number or string is converted to a Go value, so values that a caller copies from
// one document to another keep their exact bytes.
package rawjson

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting depth of arrays and objects, the limit of
// encoding/json.
const MaxDepth = 10000

// A SyntaxError is a syntax error in a document with its offset.
type SyntaxError struct {
	Offset  int // in bytes from the start of the document
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: %s", e.Offset, e.Problem)
}

// A Span is the range of a value: data[Start:End].
type Span struct {
	Start, End int
}

// Of returns the bytes of data in the span.
func (s Span) Of(data []byte) []byte { return data[s.Start:s.End:s.End] }

// A Member is one key of an object with the span of its value.
type Member struct {
	Key      string // unescaped
	KeyStart int    // offset of the quoted key
	Value    Span
}

// Check validates data as a document. The error is a *[SyntaxError].
func Check(data []byte) error {
	return Walk(data, func(w *Walker) error {
		_, err := w.Value()
		return err
	})
}

// checkText returns the first error of data as text.
func checkText(data []byte) error {
	switch {
	case len(bytes.TrimLeft(data, " \t\r\n")) == 0:
		return &SyntaxError{len(data), "the file is empty"}
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return &SyntaxError{0, "the file begins with a byte order mark"}
	case !utf8.Valid(data):
		return &SyntaxError{invalidUTF8(data), "invalid UTF-8"}
	}
	return nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// Root returns the span of the value in data, a valid document.
func Root(data []byte) Span {
	start := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
	return Span{start, len(bytes.TrimRight(data, " \t\r\n"))}
}

// Members returns the members of the object at s in data, a valid document. A
// duplicate key is a *[SyntaxError].
func Members(data []byte, s Span) ([]Member, error) {
	if data[s.Start] != '{' {
		return nil, &SyntaxError{s.Start, "not an object"}
	}
	members := make([]Member, 0, 12)
	var keys Keys
	w := &Walker{scanner: scanner{data: data[:s.End]}, at: s.Start}
	err := w.Object(func(key []byte, keyStart int) error {
		if err := keys.Add(key, keyStart); err != nil {
			return err
		}
		value, err := w.Value()
		members = append(members, Member{string(key), keyStart, value})
		return err
	})
	return members, err
}

// Keys is the set of keys of one object. The zero Keys is empty.
type Keys struct {
	hints uint64     // the hints of all keys
	few   [16][]byte // the first keys, enough for most objects
	n     int
	many  map[string]bool
}

// Add adds a key that begins at keyStart. A duplicate key is a *[SyntaxError].
func (k *Keys) Add(key []byte, keyStart int) error {
	hint := hint(key)
	switch {
	case k.hints&hint != 0 && k.has(key):
		return &SyntaxError{keyStart, fmt.Sprintf("duplicate key %q", key)}
	case k.n < len(k.few):
		k.few[k.n] = key
	default:
		if k.many == nil {
			k.many = map[string]bool{}
		}
		k.many[string(key)] = true
	}
	k.hints |= hint
	k.n++
	return nil
}

// hint returns one of 64 bits for a key, computed from its length, first and last
// byte: keys with different hints are different.
func hint(key []byte) uint64 {
	n := len(key)
	if n > 0 {
		n += 2 * (int(key[0]) + int(key[n-1]))
	}
	return 1 << (n & 63)
}

func (k *Keys) has(key []byte) bool {
	for _, known := range k.few[:min(k.n, len(k.few))] {
		if bytes.Equal(known, key) {
			return true
		}
	}
	return k.many[string(key)]
}

// Elements returns the spans of the elements of the array at s in data, a valid
// document.
func Elements(data []byte, s Span) []Span {
	var spans []Span
	w := &Walker{scanner: scanner{data: data[:s.End]}, at: s.Start}
	err := w.Array(func() error {
		value, err := w.Value()
		spans = append(spans, value)
		return err
	})
	if err != nil {
		panic("rawjson: " + err.Error())
	}
	return spans
}

// Pairs returns the members of the object at s in data with raw keys and values.
// data must be a valid document and the object must not have duplicate keys.
func Pairs(data []byte, s Span) []Pair {
	members, err := Members(data, s)
	if err != nil {
		panic("rawjson: " + err.Error())
	}
	pairs := make([]Pair, len(members))
	for i, m := range members {
		quoted := scanner{data: data}
		end, _ := quoted.text(m.KeyStart)
		pairs[i] = Pair{Key: m.Key, Value: m.Value.Of(data), quoted: data[m.KeyStart:end]}
	}
	return pairs
}

// Find returns the span of key's value among members, and reports whether the key
// exists.
func Find(members []Member, key string) (Span, bool) {
	for _, m := range members {
		if m.Key == key {
			return m.Value, true
		}
	}
	return Span{}, false
}
