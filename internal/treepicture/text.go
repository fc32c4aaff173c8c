package treepicture

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// fit returns s on one line, in at most a number of columns.
func fit(s string, columns int) string {
	const enough = 4 // bytes per column; a column has few combining characters
	if len(s) > columns*enough {
		end := columns * enough
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	return displaywidth.TruncateString(strings.Join(strings.Fields(strings.Map(plain, s)), " "), columns, "…")
}

// plain replaces characters that XML cannot have, and those that turn the direction of the
// text after them.
func plain(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == '\r', r == '\u2028', r == '\u2029':
		return ' '
	case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u206f', r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe:
		return utf8.RuneError
	}
	return r
}

// escape returns text for an element or for an attribute in double quotes.
func escape(s string) string { return html.EscapeString(strings.Map(plain, s)) }

// extent estimates the width of a line of text in pixels. It is rather too large than too
// small, because viewers have different fonts.
func extent(t text) float64 {
	s, size := t.s, 13.0
	if t.class != "tp-words" && t.class != "tp-soft" {
		size *= 1.14 // bold
	}
	width := 0.0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
		case strings.IndexByte(" !'()*,./:;I[]`fijlrt{|}", c) >= 0:
			width += 0.39
		case c >= 'A' && c <= 'Z', strings.IndexByte("%&@mw", c) >= 0:
			width += 0.82
		default:
			width += 0.63
		}
	}
	rest := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return -1
		}
		return r
	}, s)
	return size * (width + 0.62*float64(displaywidth.String(rest)))
}
