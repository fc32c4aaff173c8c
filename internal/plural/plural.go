// Package plural forms the regular plurals of English nouns.
package plural

import (
	"strconv"
	"strings"
)

// Of returns a number of things: "1 session", "2 sessions", "0 branches".
func Of(n int, noun string) string { return strconv.Itoa(n) + " " + Noun(n, noun) }

// Number returns a number with commas between thousands: "1,234".
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Noun returns the form of a noun that follows the number n.
func Noun(n int, noun string) string {
	switch {
	case n == 1:
		return noun
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "s"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && !strings.ContainsAny(noun[max(0, len(noun)-2):len(noun)-1], "aeiou"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}
