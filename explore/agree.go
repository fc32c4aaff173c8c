package explore

import (
	"slices"

	"github.com/bough-dev/bough/internal/likeness"
)

// clip returns the beginning of a text, as much as is compared.
func clip(s string) string {
	const most = 1000
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

const (
	sameAnswer = 0.85 // so are answers
	longest    = 4 << 10
)

// agree reports whether two normal answers say the same. Alike is not enough where they
// differ in a number, an operator or a not; answers over 4 KiB agree if they are equal.
func agree(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > longest || len(b) > longest || !slices.Equal(likeness.Decisive(a), likeness.Decisive(b)) {
		return false
	}
	return likeness.Of(a, b) >= sameAnswer
}
