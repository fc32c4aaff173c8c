package lookup

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/bough-dev/bough/workspace/fault"
)

// Word returns a [fault.UnknownError] unless word is one of choices.
func Word[T ~string](what string, word T, choices ...T) error {
	if slices.Contains(choices, word) {
		return nil
	}
	e := &fault.UnknownError{What: what, Word: string(word)}
	for _, choice := range choices {
		e.Choices = append(e.Choices, string(choice))
	}
	return e
}

// Nearest returns the choice that is most similar to word, "" if none is
// similar: the only choice that begins with word, else the nearest of those
// that differ in at most a third of the letters of word. It ignores case and
// leading dashes.
func Nearest(word string, choices []string) string {
	word = strings.ToLower(strings.TrimLeft(word, "-"))
	best, least := "", max(1, len(word)/3)+1
	begun, begins := "", 0
	for _, choice := range choices {
		name := strings.ToLower(strings.TrimLeft(choice, "-"))
		d := levenshtein.ComputeDistance(word, name)
		if isTwisted(word, name) {
			d = 1
		}
		if d < least && d < len(name) {
			best, least = choice, d
		}
		if len(word) > 1 && strings.HasPrefix(name, word) {
			begun, begins = choice, begins+1
		}
	}
	if begins == 1 {
		return begun
	}
	return best
}

// isTwisted reports whether two words differ only in two adjacent letters that are swapped.
func isTwisted(a, b string) bool {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return len(a) == len(b) && i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
