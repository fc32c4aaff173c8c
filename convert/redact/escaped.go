package redact

import (
	"bytes"
	"html"
	"slices"
	"strconv"
)

// deepest is how many layers of escapes are removed from a text, such as those of HTML in JSON in
// HTML. Escapes of one kind, however often they are escaped, are one layer.
const deepest = 4

// inEscaped returns the spans of secrets that are found once the escapes of a text are
// replaced by their characters. What is an escape only after that is replaced too.
func (r *Redactor) inEscaped(s []byte) (spans []span) {
	var layers []unescape
	for len(layers) < deepest {
		u, is := unescaped(s)
		if !is {
			break
		}
		layers, s = append(layers, u), u.plain
		for _, x := range r.findPlain(s) {
			for i := len(layers) - 1; i >= 0; i-- {
				x.start, x.end = layers[i].place(x.start), layers[i].place(x.end)
			}
			spans = append(spans, x)
		}
	}
	return spans
}

// An unescape is a text without its escapes.
type unescape struct {
	plain []byte
	runs  []run // beginning at each escape, and after it
}

// A run is a part of the plain text that has the bytes of the original, or those of one escape.
type run struct{ plain, original int }

// place returns the offset in the original of a byte of the plain text, or of its end.
func (u *unescape) place(at int) int {
	i, found := slices.BinarySearchFunc(u.runs, at, func(r run, at int) int { return r.plain - at })
	if !found {
		i--
	}
	if i < 0 {
		return at
	}
	return u.runs[i].original + at - u.runs[i].plain
}

// unescaped replaces the escapes with which programs write the quotes and signs of a text into
// HTML, and into JSON beside the backslashes that [text.unquote] handles. It returns false if
// there are none.
func unescaped(s []byte) (u unescape, is bool) {
	if bytes.IndexByte(s, '&') < 0 && !bytes.Contains(s, []byte(`\u00`)) {
		return u, false
	}
	done := 0 // how much of s is in the plain text
	for i := 0; i < len(s); {
		next := bytes.IndexAny(s[i:], `&\`)
		if next < 0 {
			break
		}
		i += next
		char, size := entity(s[i:])
		if s[i] == '\\' {
			char, size = escapedSign(s[i:])
		}
		if char != "" {
			u.plain = append(u.plain, s[done:i]...)
			u.runs = append(u.runs, run{len(u.plain), i})
			u.plain = append(u.plain, char...)
			done = i + size
			u.runs = append(u.runs, run{len(u.plain), done})
		}
		i += size
	}
	if done > 0 {
		u.plain = append(u.plain, s[done:]...)
	}
	return u, done > 0
}

// entity returns the character of the entity of HTML that s begins with, which may be escaped
// several times, and its length. Without one there is no character.
func entity(s []byte) (char string, size int) {
	const amp, longest = "amp;", len("#x00022;")
	at := 1
	for bytes.HasPrefix(s[at:], []byte(amp)) {
		at += len(amp)
	}
	if n := bytes.IndexByte(s[at:min(len(s), at+longest)], ';') + 1; n > 0 {
		code := "&" + string(s[at:at+n])
		if char = html.UnescapeString(code); char != code {
			return char, at + n
		}
	}
	if at > 1 {
		return "&", at
	}
	return "", 1
}

// escapedSign returns the character of ASCII whose escape, such as \u003d, s begins with, and the
// length. JSON in JSON has several backslashes. Without a character, it is that of the backslashes.
func escapedSign(s []byte) (char string, size int) {
	const digits = 4
	for size < len(s) && s[size] == '\\' {
		size++
	}
	if rest := s[size:]; len(rest) > digits && rest[0] == 'u' {
		if c, err := strconv.ParseUint(string(rest[1:1+digits]), 16, 16); err == nil && ' ' <= c && c <= '~' {
			return string(rune(c)), size + 1 + digits
		}
	}
	return "", size
}
