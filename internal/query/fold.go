package query

import (
	"unicode"
	"unicode/utf8"
)

// A folding is a table for folding the characters of many scripts faster than
// package unicode.
type folding [0x600]uint16

func newFolding() *folding {
	var f folding
	for r := range f {
		f[r] = uint16(foldRune(rune(r)))
	}
	return &f
}

// rune returns the common folded form of r and all characters that differ from it
// only in case.
func (f *folding) rune(r rune) rune {
	switch {
	case r < rune(len(f)):
		return rune(f[r])
	case r >= 0x2e80 && r < 0xa640 || r >= 0xac00 && r < 0xd800: // East Asian, without case
		return r
	}
	return foldRune(r)
}

// foldRune computes the result of folding.rune.
func foldRune(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if least >= 'A' && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

// places maps offsets in a folded text to offsets in the text, nil if they are
// equal.
type places []uint32

func (p places) of(at int) int {
	if p == nil {
		return at
	}
	return int(p[at])
}

// folded returns text with every character folded.
func (q *Query) folded(text string) (string, places) {
	b := make([]byte, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			return q.foldedFrom(b[:i], text)
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b[i] = c
	}
	return string(b), nil
}

// foldedFrom continues after b, the folded form of the preceding text.
func (q *Query) foldedFrom(b []byte, text string) (string, places) {
	var p places
	fold := q.fold()
	for i := len(b); i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		before := len(b)
		if r == utf8.RuneError && size == 1 {
			b = append(b, text[i]) // an invalid byte
		} else {
			b = utf8.AppendRune(b, fold.rune(r))
		}
		if p == nil && len(b)-before != size {
			for at := range before {
				p = append(p, uint32(at))
			}
		}
		if p != nil {
			for range len(b) - before {
				p = append(p, uint32(i))
			}
		}
		i += size
	}
	if p != nil {
		p = append(p, uint32(len(text)))
	}
	return string(b), p
}
