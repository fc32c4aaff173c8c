// Package printable makes texts of files and of other programs safe to print on a terminal, to
// show to a model, and to paste into a shell.
package printable

import (
	"fmt"
	"strings"
	"unicode"
)

// Clean returns a text that is safe to print. Control characters (including ESC, DEL and C1),
// characters that override or isolate the direction of text, and invalid UTF-8 become U+FFFD.
// Line ends of all kinds become \n; tabs stay.
func Clean(s string) string {
	if strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return strings.Map(Rune, s)
}

// Rune returns what r becomes in [Clean].
func Rune(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\r', r == '\u2028', r == '\u2029':
		return '\n'
	case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u206f':
		return unicode.ReplacementChar
	}
	return r
}

// ShellWord quotes a word for a shell, if that is necessary.
func ShellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,~", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if Clean(word) != word { // as bash, zsh and the shell of POSIX 2024 read it
		var b strings.Builder
		for i := range len(word) {
			if c := word[i]; c >= ' ' && c < 0x7f && c != '\'' && c != '\\' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
