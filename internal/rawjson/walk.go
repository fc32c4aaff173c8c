package rawjson

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// A Walker goes through a document once, from front to back, and checks all
// that it passes. The zero Walker is not usable; see [Walk].
type Walker struct {
	data  []byte
	at    int
	depth int
}

// errStop is behind the error of every document that ends too early or has a
// byte where it cannot stand; Walk says which.
var errStop = errors.New("not JSON")

// Walk calls f with a Walker that stands before the value of the document data.
// f must pass the value, with Object, Array, or Value. Walk returns f's error,
// or what is wrong with the document as a *[SyntaxError].
func Walk(data []byte, f func(*Walker) error) error {
	if err := checkText(data); err != nil {
		return err
	}
	w := &Walker{data: data}
	w.space()
	err := f(w)
	if err == nil {
		if w.space(); w.at == len(data) {
			return nil
		}
		return &SyntaxError{w.at, "more follows after the JSON value"}
	}
	if err == errStop {
		return w.stopped()
	}
	return err
}

// stopped says why the walker could not go on.
func (w *Walker) stopped() error {
	switch {
	case w.depth > MaxDepth:
		return &SyntaxError{w.at, fmt.Sprintf("nested more than %d deep", MaxDepth)}
	case w.at >= len(w.data):
		return &SyntaxError{len(w.data), "the file ends in the middle"}
	}
	r, _ := utf8.DecodeRune(w.data[w.at:])
	return &SyntaxError{w.at, fmt.Sprintf("invalid character %q", r)}
}

// Start returns where the value begins that the walker stands before, and its
// first byte, 0 at the end.
func (w *Walker) Start() (at int, first byte) {
	if w.at < len(w.data) {
		first = w.data[w.at]
	}
	return w.at, first
}

// Object passes an object. It calls f for each member, with the key, unescaped,
// and where the quoted key begins; f must pass the value.
func (w *Walker) Object(f func(key []byte, keyStart int) error) error {
	if err := w.enter('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		if more, err := w.next('}', first); !more || err != nil {
			return err
		}
		keyStart := w.at
		if w.at >= len(w.data) || w.data[w.at] != '"' {
			return errStop
		}
		escaped, err := w.text()
		if err != nil {
			return err
		}
		key := w.data[keyStart+1 : w.at-1]
		if escaped {
			key = unescape(w.data[keyStart:w.at])
		}
		w.space()
		if w.at >= len(w.data) || w.data[w.at] != ':' {
			return errStop
		}
		w.at++
		w.space()
		if err := f(key, keyStart); err != nil {
			return err
		}
	}
}

// Array passes an array. It calls f for each element; f must pass it.
func (w *Walker) Array(f func() error) error {
	if err := w.enter('['); err != nil {
		return err
	}
	for first := true; ; first = false {
		if more, err := w.next(']', first); !more || err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
}

// enter goes into an object or array.
func (w *Walker) enter(open byte) error {
	if w.at >= len(w.data) || w.data[w.at] != open {
		return errStop
	}
	if w.depth++; w.depth > MaxDepth {
		return errStop
	}
	w.at++
	return nil
}

// next goes to the next member or element and reports whether there is one.
func (w *Walker) next(end byte, first bool) (more bool, err error) {
	w.space()
	if w.at >= len(w.data) {
		return false, errStop
	}
	switch c := w.data[w.at]; {
	case c == end:
		w.at++
		w.depth--
		return false, nil
	case first:
		return true, nil
	case c != ',':
		return false, errStop
	}
	w.at++
	w.space()
	return true, nil
}

// Value passes any value and returns where it stands.
func (w *Walker) Value() (Span, error) {
	start := w.at
	err := w.value()
	return Span{start, w.at}, err
}

func (w *Walker) value() error {
	if w.at >= len(w.data) {
		return errStop
	}
	switch w.data[w.at] {
	case '"':
		_, err := w.text()
		return err
	case '{':
		return w.object()
	case '[':
		return w.array()
	case 't':
		return w.word("true")
	case 'f':
		return w.word("false")
	case 'n':
		return w.word("null")
	case 'N':
		return w.word("NaN")
	case 'I':
		return w.word("Infinity")
	}
	return w.number()
}

// object is Object without anybody who looks.
func (w *Walker) object() error {
	return w.Object(func([]byte, int) error { return w.value() })
}

func (w *Walker) array() error { return w.Array(w.value) }

// word passes a word that is spelled out. What only begins like one of Python's
// is invalid from its beginning, as it is for everybody else.
func (w *Walker) word(s string) error {
	start := w.at
	for i := range len(s) {
		if w.at < len(w.data) && w.data[w.at] == s[i] {
			w.at++
			continue
		}
		if w.at < len(w.data) && s[0] <= 'Z' {
			w.at = start
		}
		return errStop
	}
	return nil
}

// number passes a number.
func (w *Walker) number() error {
	if w.peek() == '-' {
		w.at++
		if w.peek() == 'I' {
			return w.word("Infinity")
		}
	}
	if w.peek() == '0' {
		w.at++
	} else if err := w.digits(); err != nil {
		return err
	}
	if w.peek() == '.' {
		w.at++
		if err := w.digits(); err != nil {
			return err
		}
	}
	if w.peek()|0x20 == 'e' {
		w.at++
		if c := w.peek(); c == '+' || c == '-' {
			w.at++
		}
		return w.digits()
	}
	return nil
}

// peek returns the byte that the walker stands before, 0 at the end.
func (w *Walker) peek() byte {
	if w.at < len(w.data) {
		return w.data[w.at]
	}
	return 0
}

// digits passes one digit or more.
func (w *Walker) digits() error {
	start := w.at
	for w.at < len(w.data) && w.data[w.at]-'0' <= 9 {
		w.at++
	}
	if w.at == start {
		return errStop
	}
	return nil
}

// space passes white space.
func (w *Walker) space() {
	for w.at < len(w.data) {
		switch w.data[w.at] {
		case ' ', '\n', '\t', '\r':
			w.at++
		default:
			return
		}
	}
}

// text passes a string and reports whether it has escapes. It looks at eight
// bytes at a time for one that is a quote, a backslash, or a control character.
func (w *Walker) text() (escaped bool, err error) {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	data, i := w.data, w.at+1
	for {
		for i+8 <= len(data) {
			v := binary.LittleEndian.Uint64(data[i:])
			quote, back := v^(ones*'"'), v^(ones*'\\')
			found := ((quote-ones)&^quote | (back-ones)&^back | (v-ones*' ')&^v) & highs
			if found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
			i += 8
		}
		for i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\' {
			i++
		}
		w.at = i
		switch {
		case i >= len(data) || data[i] < ' ':
			return escaped, errStop
		case data[i] == '"':
			w.at++
			return escaped, nil
		}
		escaped = true
		if err := w.escape(); err != nil {
			return escaped, err
		}
		i = w.at
	}
}

// escape passes a backslash and what belongs to it.
func (w *Walker) escape() error {
	w.at++
	c := w.peek()
	if c == 0 || !strings.ContainsRune(`"\/bfnrtu`, rune(c)) {
		return errStop
	}
	w.at++
	if c != 'u' {
		return nil
	}
	for range 4 {
		if c := w.peek(); c-'0' > 9 && c|0x20-'a' > 5 {
			return errStop
		}
		w.at++
	}
	return nil
}

// unescape returns the text of a quoted key.
func unescape(quoted []byte) []byte {
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic("rawjson: " + err.Error())
	}
	return []byte(s)
}
