package redact

import (
	"bytes"
	"strings"
)

// A text is a text to search. Gitleaks' rules expect source code, so they
// search soft, in which quotes and punctuation of conversations are blanks.
// plain and soft have the length of s.
type text struct {
	s     []byte
	plain []byte // s without escaping backslashes, data, and earlier redactions
	soft  []byte // and without punctuation

	encoded []encoded // texts in base64
	dots    []int     // possible starts of the second part of a token with three parts
}

// take overwrites spans so that they are not found again.
func (t *text) take(spans []span) {
	for _, x := range spans {
		fill(t.plain[x.start:x.end], gone)
		fill(t.soft[x.start:x.end], gone)
	}
}

// data is the minimum length of a run of base64 letters that is data and not a
// secret.
const data = 2048

// botMiddle is the distance between the dots of a token of Discord.
const botMiddle = 7

// gone overwrites found secrets. It does not occur otherwise.
const gone = 0

func fill(b []byte, c byte) {
	for i := range b {
		b[i] = c
	}
}

func (t *text) soften() {
	s := t.s
	t.plain = bytes.Clone(s)
	run := 0 // start of a run of base64 letters
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isBase64(s[i]) {
			continue
		}
		if i-run >= shortestEncoded || i > run && len(t.encoded) > 0 {
			t.letters(run, i)
		}
		if i-run >= data {
			fill(t.plain[run:i], ' ')
		}
		if i < len(s) {
			switch s[i] {
			case gone:
				t.plain[i] = ' '
			case '.':
				if i+botMiddle < len(s) && s[i+botMiddle] == '.' {
					t.dots = append(t.dots, i)
				}
			case '\\':
				i = t.unquote(i) - 1
			case '[':
				if n := replaced(s[i:]); n > 0 {
					fill(t.plain[i:i+n], gone)
					i += n - 1
				}
			}
		}
		run = i + 1
	}
	t.soft = bytes.Clone(t.plain)
	for i, c := range t.plain {
		switch c {
		case ')', ']', '}', '&':
			t.soft[i] = ' '
		case '<':
			if i+1 < len(s) && s[i+1] == '/' {
				t.soft[i] = ' '
			}
		case ',':
			if isValue(s[:i]) && (ends(s, i+1) || isToken(s, i+1)) {
				t.soft[i] = ' '
			}
		case '.', '!', '?':
			if isToken(s, i-1) && ends(s, i+1) {
				t.soft[i] = ' '
			}
		}
	}
}

// unquote blanks the backslashes at i, with the escape sequence of white space or a
// character that follows, and returns the end.
func (t *text) unquote(i int) int {
	for ; i < len(t.s) && t.s[i] == '\\'; i++ {
		t.plain[i] = ' '
	}
	n := 0
	switch rest := t.s[i:]; {
	case len(rest) >= 5 && rest[0] == 'u' && isHex(string(rest[1:5])):
		n = 5
	case len(rest) > 0 && strings.IndexByte("nrt", rest[0]) >= 0:
		n = 1
	}
	fill(t.plain[i:i+n], ' ')
	return i + n
}

// replaced returns the length of the replacement that s begins with, 0 if there is none.
func replaced(s []byte) int {
	const longest = 80
	if !bytes.HasPrefix(s, []byte(replacement)) {
		return 0
	}
	return 1 + bytes.IndexByte(s[:min(len(s), longest)], ']')
}

// ends reports whether a sentence may end before s[i].
func ends(s []byte, i int) bool {
	return i >= len(s) || strings.IndexByte(" \t\r\n\"'`)]}\\<", s[i]) >= 0
}

// isToken reports whether s[i] may be in a token.
func isToken(s []byte, i int) bool {
	return i >= 0 && i < len(s) && (isBase64(s[i]) && s[i] != '/' || s[i] == '_' || s[i] == '-')
}

// isValue reports whether s ends with a token that is assigned to something, or
// that is longer than a name.
func isValue(s []byte) bool {
	const longest = 15
	n := 0
	for n <= longest && isToken(s, len(s)-1-n) && s[len(s)-1-n] != '=' {
		n++
	}
	before := bytes.TrimRight(s[:len(s)-n], " ")
	return n > longest || n > 0 && len(before) > 0 && (before[len(before)-1] == '=' || before[len(before)-1] == ':')
}

// isWord reports whether s[i] may be in a name.
func isWord(s []byte, i int) bool { return isToken(s, i) && s[i] != '=' && s[i] != '+' }

func isBase64(c byte) bool {
	const (
		low  = 1<<'+' | 1<<'/' | 0x3ff<<'0' | 1<<'='
		high = 0x3ffffff<<('A'-64) | 0x3ffffff<<('a'-64)
	)
	if c < 64 {
		return uint64(low)>>c&1 != 0
	}
	return uint64(high)>>(c-64)&1 != 0
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }
