package wildmatch

import "strings"

// A byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *byteSet) remove(b byte) { s[b>>6] &^= 1 << (b & 63) }

// parseSet parses a set after its opening bracket. n is its length with the closing one.
func parseSet(text string, fold bool) (n int, set *byteSet, ok bool) {
	set = new(byteSet)
	i := 0
	negated := text != "" && (text[0] == '!' || text[0] == '^')
	if negated {
		i++
	}
	first := i
	var previous byte // that a range may begin with; 0 if none
	for ; ; i++ {
		if i == len(text) {
			return 0, nil, false
		}
		b := text[i]
		if b == ']' && i > first {
			break
		}
		switch {
		case b == '-' && previous != 0 && i+1 < len(text) && text[i+1] != ']':
			i++
			if b = text[i]; b == '\\' {
				if i++; i == len(text) {
					return 0, nil, false
				}
				b = text[i]
			}
			set.addRange(previous, b, fold)
			previous = 0
			continue
		case b == '[' && strings.HasPrefix(text[i+1:], ":"):
			end := strings.IndexByte(text[i+2:], ']')
			if end < 0 {
				return 0, nil, false
			}
			name, isClass := strings.CutSuffix(text[i+2:i+2+end], ":")
			if !isClass {
				break
			}
			if !set.addClass(name, fold) {
				return 0, nil, false
			}
			i += 2 + end
			previous = 0
			continue
		case b == '\\':
			if i++; i == len(text) {
				return 0, nil, false
			}
			b = text[i]
		}
		set.add(b)
		previous = b
	}
	if fold {
		for b := byte('A'); b <= 'Z'; b++ {
			set.remove(b)
			if set.has(lower(b)) {
				set.add(b)
			}
		}
	}
	if negated {
		for w := range set {
			set[w] = ^set[w]
		}
	}
	return i + 1, set, true
}

// addRange adds the bytes between first and last, both included.
func (s *byteSet) addRange(first, last byte, fold bool) {
	for b := int(first); b <= int(last); b++ {
		s.add(byte(b))
		if fold {
			s.add(lower(byte(b)))
		}
	}
}

// addClass adds the bytes of a class of POSIX and reports whether there is one of the name.
// The classes have what git has in them: "space" lacks vertical tab and form feed.
func (s *byteSet) addClass(name string, fold bool) bool {
	var in func(b byte) bool
	switch name {
	case "alnum":
		in = func(b byte) bool { return isAlpha(b) || isDigit(b) }
	case "alpha":
		in = isAlpha
	case "blank":
		in = func(b byte) bool { return b == ' ' || b == '\t' }
	case "cntrl":
		in = func(b byte) bool { return b < ' ' || b == 0x7f }
	case "digit":
		in = isDigit
	case "graph":
		in = isGraph
	case "lower":
		in = func(b byte) bool { return 'a' <= b && b <= 'z' }
	case "print":
		in = func(b byte) bool { return isGraph(b) || b == ' ' }
	case "punct":
		in = func(b byte) bool { return isGraph(b) && !isAlpha(b) && !isDigit(b) }
	case "space":
		in = func(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
	case "upper":
		in = func(b byte) bool { return 'A' <= b && b <= 'Z' || fold && 'a' <= b && b <= 'z' }
	case "xdigit":
		in = func(b byte) bool { return isDigit(b) || 'a' <= lower(b) && lower(b) <= 'f' }
	default:
		return false
	}
	for b := range 256 {
		if in(byte(b)) {
			s.add(byte(b))
		}
	}
	return true
}

func isAlpha(b byte) bool { return 'a' <= lower(b) && lower(b) <= 'z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isGraph(b byte) bool { return ' ' < b && b < 0x7f }
