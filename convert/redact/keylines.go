package redact

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
)

var (
	keyBegin = pattern{expr: `-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[^A-Za-z0-9]{0,8}$`}
	keyEnd   = pattern{expr: `-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`}
	keyLine  = pattern{expr: `^[^A-Za-z0-9/]{0,24}(?:(?:[\w./-]{1,80}[:-])?\d{1,6}[^A-Za-z0-9/]{1,12})?([A-Za-z0-9+/]{1,100}={0,2})[^A-Za-z0-9+/=]{0,8}$`}
)

// keyLines finds a private key whose lines are strings of their own in a document: those
// of an array, or of the objects in it.
type keyLines struct {
	begun bool        // the first line was found
	lines []keyString // the lines after it
	short []keyString // after them, one of which is the last line if the key's end follows
	other int         // strings since the last line
}

// A keyString is the span of a key's letters in the text of a string.
type keyString struct {
	string rawjson.Span
	place  place
}

const (
	keyLineLetters = 40 // minimum length of a line that is not the last
	keyLineGap     = 4  // maximum number of strings between two lines
	keyLeast       = 2  // minimum number of lines of a key without its first line
)

// string adds the next string of the document with its decoded text, and returns the
// lines of a complete key.
func (k *keyLines) string(at rawjson.Span, text []byte) []keyString {
	switch {
	case keyBegin.compiled().Match(text):
		lines := k.end(false)
		k.begun = true
		return lines
	case keyEnd.compiled().Match(text):
		return k.end(true)
	}
	if m := keyLine.compiled().FindSubmatchIndex(text); m != nil {
		line := keyString{at, place{m[2], m[3]}}
		if m[3]-m[2] >= keyLineLetters && !isHex(string(text[m[2]:m[3]])) {
			k.lines, k.short, k.other = append(k.lines, line), nil, 0
			return nil
		}
		k.short = append(k.short, line)
	}
	if k.other++; k.other > keyLineGap {
		return k.end(false)
	}
	return nil
}

// end returns the lines of the key, nil if there is none.
func (k *keyLines) end(ended bool) []keyString {
	lines := k.lines
	if ended && len(lines) > 0 && len(k.short) > 0 {
		lines = append(lines, slices.MaxFunc(k.short, func(a, b keyString) int {
			return cmp.Compare(a.place.end-a.place.start, b.place.end-b.place.start)
		}))
	}
	begun := k.begun
	*k = keyLines{}
	if begun || ended && len(lines) >= keyLeast {
		return lines
	}
	return nil
}

// mayHaveKey reports whether a document has a line that begins or ends a private key.
func mayHaveKey(doc []byte) bool { return bytes.Contains(doc, []byte("PRIVATE KEY")) }
