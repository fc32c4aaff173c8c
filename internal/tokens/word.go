package tokens

import "unicode"

const (
	longRun   = 60_000 // in bytes
	longSpace = 1_000  // in characters
)

// wordIn returns the length of the first word of text, including the characters
// before it. A word ends after a letter or digit that is not followed by a letter,
// digit, mark or apostrophe, which may be that of don't.
func wordIn(text string) int {
	spaces := 0
	inWord := false
	for i, r := range text {
		switch is := kindOf(r); {
		case is == letter:
			inWord = true
			spaces = 0
		case inWord && is != joint:
			return i
		case is == space:
			if spaces++; spaces > longSpace {
				return i
			}
		default:
			inWord = false
			spaces = 0
		}
		if i >= longRun {
			return i
		}
	}
	return len(text)
}

// A kind is a kind of character.
type kind int

const (
	other  kind = iota
	letter      // or digit
	joint       // an apostrophe or mark
	space
)

func kindOf(r rune) kind {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return letter
	case r == '\'', unicode.IsMark(r):
		return joint
	case unicode.IsSpace(r):
		return space
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return letter
	}
	return other
}
