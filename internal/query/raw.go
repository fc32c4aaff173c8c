package query

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A needle is a part of a term that appears in the JSON of every text with the
// term. The search looks for its first characters, and then compares the rest with
// the JSON, escaped or not.
type needle struct {
	run   []rune    // folded
	heads []pattern // possible encodings of its first characters
	ascii string    // its first characters if they are ASCII, else ""
}

// newNeedle returns the best needle of a term. ok is false if all characters of the
// term have many JSON forms.
func newNeedle(t term) (best needle, ok bool) {
	for _, word := range t {
		for _, run := range strings.FieldsFunc(word, func(r rune) bool { return !steady(r) }) {
			if n, fits := needleOf([]rune(run)); fits && (!ok || n.worth() > best.worth()) {
				best, ok = n, true
			}
		}
	}
	return best, ok
}

// worth returns a measure of how selective n is.
func (n *needle) worth() int {
	if len(n.ascii) == headSize {
		return 100 + len(n.run)
	}
	return len(n.run)
}

// steady reports whether a character of a text always appears in its JSON, either
// raw or as a \u escape. That is not so for white space, for characters that JSON
// can escape by a letter, and for separators of texts that may be dropped.
func steady(r rune) bool {
	return r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsControl(r) && !strings.ContainsRune(`"\/<>&'(){}[]:,`, r)
}

// headSize is the number of ASCII characters at the start of a needle.
const headSize = 3

// needleOf returns the needle for adjacent characters.
func needleOf(run []rune) (needle, bool) {
	if strings.Contains("null", string(run)) {
		return needle{}, false // it may come from one of Python's numbers
	}
	ascii := 0 // number of adjacent ASCII characters
	for i, r := range run {
		if r >= utf8.RuneSelf {
			ascii = 0
		} else if ascii++; ascii == headSize {
			return asciiNeedle(run[i+1-headSize:], headSize), true
		}
	}
	for i, r := range run {
		if r >= utf8.RuneSelf {
			if heads := headsOf(r); heads != nil {
				return needle{run: run[i:], heads: heads}, true
			}
		}
	}
	for i, r := range run {
		if r < utf8.RuneSelf {
			n := 1
			for i+n < len(run) && run[i+n] < utf8.RuneSelf {
				n++
			}
			return asciiNeedle(run[i:], n), true
		}
	}
	return needle{}, false
}

func asciiNeedle(run []rune, head int) needle {
	n := needle{run: run, ascii: string(run[:head])}
	var p pattern
	for i := range p.part {
		c := byte(run[min(i, head-1)])
		at := part{at: min(i, head-1), value: c}
		if c >= 'a' && c <= 'z' {
			at.either = 'a' - 'A'
		}
		p.part[i] = at.ready()
	}
	n.heads = []pattern{p}
	return n
}

// headsOf returns the possible encodings of a non-ASCII character in JSON, nil if
// its case variants have other lengths.
func headsOf(r rune) []pattern {
	variants := []rune{r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if utf8.RuneLen(other) != utf8.RuneLen(r) {
			return nil
		}
		variants = append(variants, other)
	}
	look := func(places [headSize]int, bytesOf func(rune) string) (p pattern) {
		first := bytesOf(r)
		for i, at := range places {
			p.part[i] = part{at: at, value: first[at]}
			for _, v := range variants {
				c := bytesOf(v)[at]
				p.part[i].either |= c ^ first[at]
				if c >= 'a' && c <= 'f' {
					p.part[i].either |= 'a' - 'A'
				}
			}
			p.part[i] = p.part[i].ready()
		}
		return p
	}
	size := utf8.RuneLen(r)
	return []pattern{
		look([headSize]int{size - 3 + bit(size < 3), size - 2, size - 1}, func(v rune) string { return string(v) }),
		look([headSize]int{0, 4, 5}, escaped),
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// escaped returns the \u escape of a character.
func escaped(r rune) string {
	if r > 0xffff {
		r, _ = utf16.EncodeRune(r)
	}
	const hex = "0123456789abcdef"
	return string([]byte{'\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]})
}

// A pattern is a set of bytes at given distances from a position.
type pattern struct{ part [headSize]part }

// A part is one byte of a pattern.
type part struct {
	at            int
	value, either byte   // bits set in either are ignored
	values, any   uint64 // the same for eight bytes
}

func (p part) ready() part {
	const each = 0x0101010101010101
	p.values, p.any = uint64(p.value|p.either)*each, uint64(p.either)*each
	return p
}

// next returns the first match of p in data at from or later, or -1. It examines
// sixteen positions at once.
func (p *pattern) next(data []byte, from int) int {
	a, b, c := &p.part[0], &p.part[1], &p.part[2]
	end := len(data) - max(a.at, b.at, c.at)
	if from >= end {
		return -1
	}
	first, second, third := data[a.at:], data[b.at:], data[c.at:]
	aAny, bAny, cAny, aIs, bIs, cIs := a.any, b.any, c.any, a.values, b.values, c.values
	i := from
	for ; i+16 <= end; i += 16 {
		f, s, t := first[i:i+16], second[i:i+16], third[i:i+16]
		x := ((word(f) | aAny) ^ aIs) | ((word(s) | bAny) ^ bIs) | ((word(t) | cAny) ^ cIs)
		y := ((word(f[8:]) | aAny) ^ aIs) | ((word(s[8:]) | bAny) ^ bIs) | ((word(t[8:]) | cAny) ^ cIs)
		if maybeZero(x, y) {
			if n, ok := firstZero(x, y); ok {
				return i + n
			}
		}
	}
	for ; i < end; i++ {
		if a.is(first[i]) && b.is(second[i]) && c.is(third[i]) {
			return i
		}
	}
	return -1
}

// is reports whether c matches.
func (p *part) is(c byte) bool { return c|p.either == p.value|p.either }

func word(data []byte) uint64 { return binary.LittleEndian.Uint64(data) }

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// maybeZero reports whether a byte of x or y may be zero: it returns true if one is
// zero or greater than 0x80.
func maybeZero(x, y uint64) bool { return ((x-lows)|(y-lows))&highs != 0 }

// firstZero returns the index of the first zero byte of x and y.
func firstZero(x, y uint64) (int, bool) {
	// Bits below the first zero are not marked; bits above it may be.
	if marks := (x - lows) &^ x & highs; marks != 0 {
		return bits.TrailingZeros64(marks) / 8, true
	}
	if marks := (y - lows) &^ y & highs; marks != 0 {
		return 8 + bits.TrailingZeros64(marks)/8, true
	}
	return 0, false
}

// May reports whether a text in the pieces of raw JSON may match q. It handles
// escaped characters, and JSON in strings of JSON, whose characters are escaped
// twice. It returns false only if no text can match, except for words that are
// split over several strings.
func (q *Query) May(json ...[]byte) bool {
	for i := range q.needles {
		n := &q.needles[i]
		if !slices.ContainsFunc(json, func(piece []byte) bool { return n.in(piece, q) }) {
			return false
		}
	}
	return true
}

func (n *needle) in(json []byte, q *Query) bool {
	for i := range n.heads {
		p := &n.heads[i]
		for at := p.next(json, 0); at >= 0; at = p.next(json, at+1) {
			if n.begins(json[at:], q) {
				return true
			}
		}
	}
	return n.ascii != "" && n.isOdd(json)
}

// begins reports whether json begins with the characters of n.
func (n *needle) begins(json []byte, q *Query) bool {
	for _, want := range n.run {
		if len(json) == 0 {
			return false
		}
		if c := json[0]; c < utf8.RuneSelf && c != '\\' {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			if rune(c) != want {
				return false
			}
			json = json[1:]
			continue
		}
		r, size := character(json)
		if size == 0 || r != want && q.fold().rune(r) != want {
			return false
		}
		json = json[size:]
	}
	return true
}

// character returns the first character of a JSON string and its size in bytes, 0
// for an escape by a letter. Adjacent backslashes count as one.
func character(json []byte) (r rune, size int) {
	if json[0] != '\\' {
		return utf8.DecodeRune(json)
	}
	r, size = number(json)
	if size > 0 && utf16.IsSurrogate(r) && size < len(json) && json[size] == '\\' {
		if low, more := number(json[size:]); more > 0 {
			return utf16.DecodeRune(r, low), size + more
		}
	}
	return r, size
}

// number returns the number of the \u escape at the start of json and its size in
// bytes, 0 if json does not begin with one.
func number(json []byte) (r rune, size int) {
	for size < len(json) && json[size] == '\\' {
		size++
	}
	if size+5 > len(json) || json[size] != 'u' {
		return 0, 0
	}
	for _, c := range json[size+1 : size+5] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, 0
		}
	}
	return r, size + 5
}

// isOdd reports whether json has an unusual encoding of the first characters of n:
// an escaped ASCII character, or a non-ASCII case variant.
func (n *needle) isOdd(json []byte) bool {
	if strings.Contains(n.ascii, "k") && bytes.Contains(json, []byte("\u212a")) ||
		strings.Contains(n.ascii, "s") && bytes.Contains(json, []byte("\u017f")) {
		return true
	}
	for at := nextEscape(json, 0); at >= 0; at = nextEscape(json, at+1) {
		r, size := number(json[at:])
		if size > 0 && (r < utf8.RuneSelf || r == 0x17f || r == 0x212a) && strings.ContainsRune(n.ascii, foldRune(r)) {
			return true
		}
	}
	return false
}

// nextEscape returns the first position in data at from or later where an escape
// \u0020 to \u007f, \u017f or \u212a is possible, or -1: a backslash with 0 or 1
// three bytes after it.
func nextEscape(data []byte, from int) int {
	const distance = 3
	end := len(data) - distance
	if from >= end {
		return -1
	}
	digits := data[distance:]
	i := from
	for ; i+16 <= end; i += 16 {
		b, d := data[i:i+16], digits[i:i+16]
		x := (word(b) ^ '\\'*lows) | ((word(d) | lows) ^ '1'*lows)
		y := (word(b[8:]) ^ '\\'*lows) | ((word(d[8:]) | lows) ^ '1'*lows)
		if maybeZero(x, y) {
			if n, ok := firstZero(x, y); ok {
				return i + n
			}
		}
	}
	for ; i < end; i++ {
		if data[i] == '\\' && digits[i]|1 == '1' {
			return i
		}
	}
	return -1
}
