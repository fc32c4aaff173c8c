package tokens

import "unicode/utf8"

const (
	mostExact  = 512 << 10 // bytes of a text that is counted whole
	sampleSize = 8 << 10   // bytes
)

// samples returns the parts of text that are counted: all of it, or if it is longer than
// mostExact parts that are spread evenly, the beginning and the end among them.
func samples(text string) []string {
	if len(text) <= mostExact {
		return []string{text}
	}
	const count = mostExact / sampleSize
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

// runeAt returns the position of the rune that the byte at i is part of, i if that is no
// part of one.
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
