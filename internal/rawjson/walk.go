package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// A Walker parses and validates a document once, from start to end. The zero Walker
// is not usable; see [Walk].
type Walker struct {
	scanner
	at int
}

// errStop is the internal error for an invalid or truncated document; Walk replaces
// it by the details.
var errStop = errors.New("not JSON")

// Walk calls f with a Walker at the value of the document data. f must parse the
// value with Object, Array or Value, and return the error if one fails. Walk
// returns the error of f, or a *[SyntaxError] for an invalid document. Errors of
// the encoding come first.
func Walk(data []byte, f func(*Walker) error) error {
	w := &Walker{scanner: scanner{data: data}}
	w.at = w.space(0)
	err := f(w)
	if err == nil {
		if w.at = w.space(w.at); w.at == len(data) {
			return nil
		}
		err = &SyntaxError{w.at, "more follows after the JSON value"}
	}
	if bad := checkText(data); bad != nil {
		return bad
	}
	if err == errStop {
		return w.stopped()
	}
	return err
}

// stopped returns the error at the position where the walker stopped.
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

// Start returns the offset of the next value and its first byte, 0 at the end.
func (w *Walker) Start() (at int, first byte) { return w.at, w.peek(w.at) }

// Object parses an object. It calls f for each member, with the unescaped key and
// the offset of the quoted key; f must parse the value.
func (w *Walker) Object(f func(key []byte, keyStart int) error) error {
	i, more, ok := w.enter(w.at, '{')
	for more {
		keyStart := i
		if i, ok = w.text(i); !ok {
			break
		}
		key := w.data[keyStart+1 : i-1]
		if w.near.backs != 0 && bytes.IndexByte(key, '\\') >= 0 {
			key = unescape(w.data[keyStart:i])
		}
		if i, ok = w.colon(i); !ok {
			break
		}
		w.at = i
		if err := f(key, keyStart); err != nil {
			return err
		}
		i, more, ok = w.after(w.at, '{')
	}
	return w.to(i, ok)
}

// Array parses an array. It calls f for each element; f must parse it.
func (w *Walker) Array(f func() error) error {
	i, more, ok := w.enter(w.at, '[')
	for more {
		w.at = i
		if err := f(); err != nil {
			return err
		}
		i, more, ok = w.after(w.at, '[')
	}
	return w.to(i, ok)
}

// Value parses any value and returns its span.
func (w *Walker) Value() (Span, error) {
	start := w.at
	err := w.to(w.value(start))
	return Span{start, w.at}, err
}

// to sets the position to the result of the scanner.
func (w *Walker) to(at int, ok bool) error {
	w.at = at
	if !ok {
		return errStop
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
