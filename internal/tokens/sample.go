package tokens

import "unicode/utf8"

const (
	maxExact   = 512 << 10 // maximum size of a text that is counted completely, in bytes
	sampleSize = 8 << 10   // bytes
)

// samples returns the parts of text that are counted: all of it, or if it is longer
// than maxExact, evenly spread parts including the start and the end.
func samples(text string) []string {
	if len(text) <= maxExact {
		return []string{text}
	}
	const count = maxExact / sampleSize
	list := make([]string, count)
	for i := range list {
		from := (len(text) - sampleSize) / (count - 1) * i
		if i == count-1 {
			from = len(text) - sampleSize
		}
		list[i] = text[runeAt(text, from):runeAt(text, from+sampleSize)]
	}
	return list
}

// runeAt returns the offset of the rune that contains the byte at i, or i if the
// byte is invalid.
func runeAt(text string, i int) int {
	for at := i; at >= 0 && at > i-utf8.UTFMax; at-- {
		if at < len(text) && utf8.RuneStart(text[at]) {
			if _, size := utf8.DecodeRuneInString(text[at:]); at+size > i {
				return at
			}
			break
		}
	}
	return i
}
