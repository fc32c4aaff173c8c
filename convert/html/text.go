package html

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape returns s as text of the page, or the value of an attribute in double quotes.
func escape(s string) string { return html.EscapeString(clean(s)) }

// Code returns the HTML of a text that is shown character by character, such as source code:
// control characters that turn the direction of text are spelled out, because they can make
// code look like other code.
func Code(s string) string {
	s = escape(s)
	if !strings.ContainsFunc(s, turns) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if turns(c) {
			fmt.Fprintf(&b, `<span class="turn">U+%04X</span>`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// turns reports whether c turns the direction of text around.
func turns(c rune) bool {
	return c >= '\u202a' && c <= '\u202e' || c >= '\u2066' && c <= '\u2069'
}

// clean returns s without characters that a page must not contain: control characters,
// such as terminal colors, and invalid UTF-8.
func clean(s string) string {
	odd := func(c rune) bool {
		return c == utf8.RuneError || c == '\r' || unicode.IsControl(c) && c != '\n' && c != '\t' || c >= 0xfdd0 && c <= 0xfdef || c&0xfffe == 0xfffe
	}
	if !strings.ContainsFunc(s, odd) {
		return s
	}
	s = strings.ReplaceAll(withoutColors(s), "\r\n", "\n")
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\r':
			return '\n'
		case odd(c):
			return utf8.RuneError
		}
		return c
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// withoutColors returns s without the sequences that color text in a terminal.
func withoutColors(s string) string {
	const begin = "\x1b["
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, begin)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		rest := strings.TrimLeft(after, "0123456789;")
		if rest == "" || rest[0] != 'm' && rest[0] != 'K' {
			b.WriteString("\ufffd[")
			s = after
			continue
		}
		s = rest[1:]
	}
}

// short returns the first words of s on one line.
func short(s string) string {
	const most = 80
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(s) {
		if n > 0 {
			b.WriteByte(' ')
			n++
		}
		for _, c := range word {
			if n++; n > most {
				return b.String() + "…"
			}
			b.WriteRune(c)
		}
	}
	return b.String()
}
