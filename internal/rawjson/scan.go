package rawjson

import (
	"math/bits"
	"unicode/utf8"
)

// A scanner scans the parts of a document. Its methods take the offset of a part
// and return its end offset or, if not ok, the offset of the first invalid byte.
type scanner struct {
	data  []byte
	depth int
	near  block
}

// value scans any value.
func (s *scanner) value(i int) (end int, ok bool) {
	switch s.peek(i) {
	case '"':
		return s.text(i)
	case '{', '[':
		return s.inside(i)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	case 'N':
		return s.literal(i, "NaN")
	case 'I':
		return s.literal(i, "Infinity")
	}
	return s.number(i)
}

// inside scans an object or array.
func (s *scanner) inside(i int) (end int, ok bool) {
	open := s.data[i]
	i, more, ok := s.enter(i, open)
	for more {
		if open == '{' {
			if i, ok = s.text(i); !ok {
				return i, false
			}
			if i, ok = s.colon(i); !ok {
				return i, false
			}
		}
		if i, ok = s.value(i); !ok {
			return i, false
		}
		i, more, ok = s.after(i, open)
	}
	return i, ok
}

// enter scans the opening bracket of an object or array. If more is true, next is
// the offset of the first member or element.
func (s *scanner) enter(i int, open byte) (next int, more, ok bool) {
	if s.peek(i) != open {
		return i, false, false
	}
	if s.depth++; s.depth > MaxDepth {
		return i, false, false
	}
	i = s.space(i + 1)
	if s.peek(i) == open+2 {
		s.depth--
		return i + 1, false, true
	}
	return i, true, true
}

// after scans what follows a member or element. If more is true, next is the offset
// of the next one.
func (s *scanner) after(i int, open byte) (next int, more, ok bool) {
	i = s.space(i)
	switch s.peek(i) {
	case ',':
		return s.space(i + 1), true, true
	case open + 2:
		s.depth--
		return i + 1, false, true
	}
	return i, false, false
}

// colon scans from the end of a key to its value.
func (s *scanner) colon(i int) (next int, ok bool) {
	i = s.space(i)
	if s.peek(i) != ':' {
		return i, false
	}
	return s.space(i + 1), true
}

// literal scans the literal name. A token that only begins like one of Python's is
// invalid from its first byte, as for other parsers.
func (s *scanner) literal(i int, name string) (end int, ok bool) {
	rest := s.data[i:]
	if len(rest) >= len(name) && string(rest[:len(name)]) == name {
		return i + len(name), true
	}
	n := 0
	for n < len(rest) && rest[n] == name[n] {
		n++
	}
	if n < len(rest) && name[0] <= 'Z' {
		return i, false
	}
	return i + n, false
}

// number scans a number.
func (s *scanner) number(i int) (end int, ok bool) {
	if s.peek(i) == '-' {
		i++
		if s.peek(i) == 'I' {
			return s.literal(i, "Infinity")
		}
	}
	if s.peek(i) == '0' {
		i++
	} else if i, ok = s.digits(i); !ok {
		return i, false
	}
	if s.peek(i) == '.' {
		if i, ok = s.digits(i + 1); !ok {
			return i, false
		}
	}
	if s.peek(i)|0x20 == 'e' {
		i++
		if c := s.peek(i); c == '+' || c == '-' {
			i++
		}
		return s.digits(i)
	}
	return i, true
}

// digits scans one or more digits.
func (s *scanner) digits(i int) (end int, ok bool) {
	start := i
	for s.peek(i)-'0' <= 9 {
		i++
	}
	return i, i > start
}

// space skips white space: usually a blank, or a line break and an indent.
func (s *scanner) space(i int) int {
	data := s.data
	for i < len(data) && data[i] <= ' ' {
		switch data[i] {
		case ' ', '\t', '\r':
			i++
		case '\n':
			for i++; len(data)-i >= 8; i += 8 {
				if others := word(data[i:]) ^ ones*' '; others != 0 {
					i += bits.TrailingZeros64(others) / 8
					break
				}
			}
		default:
			return i
		}
	}
	return i
}

// text scans a string: by blocks and, if a block has a suspicious byte, byte by
// byte.
func (s *scanner) text(i int) (end int, ok bool) {
	if s.peek(i) != '"' {
		return i, false
	}
	start, b := i+1, &s.near
	if left := b.end - start; left <= 0 {
		*b = block{end: start}
		b.next(s.data)
	} else if b.stops &= ^uint64(0) << (64 - left); b.stops == 0 {
		b.next(s.data)
	}
	end = b.end - 64 + bits.TrailingZeros64(b.stops)
	if s.peek(end) != '"' || b.beyond != 0 && !utf8.Valid(s.data[start:end]) {
		return s.plainText(i)
	}
	return end + 1, true
}

// plainText scans a string byte by byte. It does not check UTF-8; [Walk] does.
func (s *scanner) plainText(i int) (end int, ok bool) {
	start := i + 1
	for i = start; s.peek(i) != '"'; {
		switch c := s.peek(i); {
		case c < ' ':
			return i, false
		case c != '\\':
			i++
		default:
			if i, ok = s.escape(i); !ok {
				return i, false
			}
		}
	}
	return i + 1, utf8.Valid(s.data[start:i])
}

// escape scans an escape sequence.
func (s *scanner) escape(i int) (end int, ok bool) {
	i++
	if short(s.peek(i)) {
		return i + 1, true
	}
	if s.peek(i) != 'u' {
		return i, false
	}
	for range 4 {
		i++
		if c := s.peek(i); c-'0' > 9 && c|0x20-'a' > 5 {
			return i, false
		}
	}
	return i + 1, true
}

// peek returns the byte at i, 0 at the end.
func (s *scanner) peek(i int) byte {
	if i < len(s.data) {
		return s.data[i]
	}
	return 0
}
