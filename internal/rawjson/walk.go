package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// A Walker goes through a document once, from front to back, and checks all
// that it passes. The zero Walker is not usable; see [Walk].
type Walker struct {
	scanner
	at int
}

// errStop is behind the error of every document that ends too early or has a
// byte where it cannot stand; Walk says which.
var errStop = errors.New("not JSON")

// Walk calls f with a Walker that stands before the value of the document data.
// f must pass the value, with Object, Array, or Value, and return the error of
// one that fails. Walk returns f's error, or what is wrong with the document as
// a *[SyntaxError]; if data is not even text, that comes first.
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
func (w *Walker) Start() (at int, first byte) { return w.at, w.peek(w.at) }

// Object passes an object. It calls f for each member, with the key, unescaped,
// and where the quoted key begins; f must pass the value.
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

// Array passes an array. It calls f for each element; f must pass it.
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

// Value passes any value and returns where it stands.
func (w *Walker) Value() (Span, error) {
	start := w.at
	err := w.to(w.value(start))
	return Span{start, w.at}, err
}

// to goes to where the scanner came.
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
