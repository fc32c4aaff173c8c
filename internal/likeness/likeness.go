// Package likeness compares texts, such as answers, names and questions, by
// content, ignoring how they are typed.
package likeness

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Normal returns s in the form in which answers and names are compared: words and
// numbers separated by single spaces, in lower case, without Markdown marks and
// punctuation of sentences. Operators are kept. Numbers lose thousands separators
// and insignificant zeros. If nothing is left, Normal returns s.
func Normal(s string) string {
	runes := []rune(strings.ToLower(norm.NFKC.String(s)))
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	var out strings.Builder
	for i := 0; i < len(runes); {
		r := runes[i]
		if digit(r) && !letter(at(i-1)) {
			n := numberLen(runes[i:])
			out.WriteString(number(string(runes[i : i+n])))
			i += n
			continue
		}
		switch {
		case letter(r) || digit(r) || unicode.IsMark(r):
			out.WriteRune(r)
		case r == '\'' || r == '’':
			// isn't and isnt are the same word
		case r == '-' && digit(at(i+1)) && (unicode.IsSpace(at(i-1)) || strings.ContainsRune("=:([", at(i-1))):
			out.WriteString(" -")
		case r == '!' && (letter(at(i+1)) || at(i+1) == '='):
			out.WriteString(" ! ")
		case r == '-' && (letter(at(i-1)) || letter(at(i+1))) || strings.ContainsRune("*_#–—", r):
			out.WriteByte(' ')
		case unicode.IsSymbol(r) && r != '`' || strings.ContainsRune("+-/%&@\\", r):
			out.WriteString(" " + string(r) + " ")
		default:
			out.WriteByte(' ')
		}
		i++
	}
	if key := strings.Join(strings.Fields(out.String()), " "); key != "" {
		return key
	}
	return strings.TrimSpace(s)
}

func letter(r rune) bool { return unicode.IsLetter(r) }
func digit(r rune) bool  { return r >= '0' && r <= '9' }

// numberLen returns the length of the number at the start of runes; the first rune
// must be a digit. A comma belongs to it before exactly three digits, a point
// before any digit.
func numberLen(runes []rune) int {
	isDigit := func(i int) bool { return i < len(runes) && digit(runes[i]) }
	point := false
	n := 1
	for n < len(runes) {
		switch r := runes[n]; {
		case digit(r):
			n++
		case r == '.' && !point && isDigit(n+1):
			point = true
			n++
		case r == ',' && !point && isDigit(n+1) && isDigit(n+2) && isDigit(n+3) && !isDigit(n+4):
			n++
		default:
			return n
		}
	}
	return n
}

func number(s string) string {
	whole, part, _ := strings.Cut(strings.ReplaceAll(s, ",", ""), ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if part = strings.TrimRight(part, "0"); part == "" {
		return whole
	}
	return whole + "." + part
}

// Of returns the similarity of two normal texts from 0 to 1: the Sørensen-Dice
// coefficient of their trigrams. The order of words hardly matters.
func Of(a, b string) float64 {
	if a == b {
		return 1
	}
	common, ofA, ofB := trigrams(a, b)
	return 2 * float64(common) / float64(ofA+ofB)
}

// trigrams returns how many runs of three characters two normal texts have in common, and
// how many each has, with a blank before and after each text.
//
// No maintained library for Go has this measure: strutil is from 2023, and the others
// measure edit distances, which depend on the order of words.
func trigrams(a, b string) (common, ofA, ofB int) {
	const n = 3
	pad := func(s string) []rune { return []rune(" " + s + " ") }
	ra, rb := pad(a), pad(b)
	ofA, ofB = max(len(ra)-n+1, 0), max(len(rb)-n+1, 0)
	seen := make(map[[n]rune]int, ofA)
	for i := range ofA {
		seen[[n]rune(ra[i:])]++
	}
	for i := range ofB {
		if run := [n]rune(rb[i:]); seen[run] > 0 {
			seen[run]--
			common++
		}
	}
	return common, ofA, ofB
}

// Overlap returns the similarity of two normal contexts. For a text less than half
// as long as the other it is based on the part of the shorter text that the longer
// one contains, so that a few words match a long text.
func Overlap(a, b string) float64 {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if short < 6 || 2*short > long {
		return Of(a, b)
	}
	common, ofA, ofB := trigrams(a, b)
	// Any long text contains much of a few words, so only the excess counts.
	part := float64(common) / float64(min(ofA, ofB))
	return max(Of(a, b), 2*part-1, 0)
}

// sameName is the minimum similarity of two names for the same strategy.
const sameName = 0.8

// Decisive returns the words of a normal text that can reverse its meaning.
func Decisive(s string) []string {
	var list []string
	for _, w := range strings.Fields(s) {
		r := []rune(w)[0]
		switch {
		case strings.ContainsAny(w, "0123456789"), !letter(r), strings.HasSuffix(w, "nt") && len(w) > 3 && negated(w):
			list = append(list, w)
		case slices.Contains([]string{"not", "no", "never", "none", "without", "cannot", "nor", "neither", "yes", "true", "false"}, w):
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return list
}

// negated reports whether a word is a contraction such as isn't without its
// apostrophe.
func negated(w string) bool {
	switch strings.TrimSuffix(w, "nt") {
	case "is", "are", "was", "were", "do", "does", "did", "ca", "wo", "should", "would", "could", "must", "has", "have", "had":
		return true
	}
	return false
}

// SameName reports whether two names are of the same strategy. "Option 1" and
// "Option 2" are not, despite their similarity.
func SameName(a, b string) bool {
	a, b = bare(a), bare(b)
	return a == b || slices.Equal(Decisive(a), Decisive(b)) && singles(a) == singles(b) && Of(a, b) >= sameName
}

// bare returns the normal form of a name without articles. The a of "plan a" is not
// an article.
func bare(name string) string {
	words := strings.Fields(Normal(name))
	kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "a" || w == "an" || w == "the" })
	if n := len(words); n > 0 && words[n-1] == "a" {
		kept = append(kept, "a")
	}
	return strings.Join(kept, " ")
}

// singles returns the single letters among the words, which distinguish names such
// as "plan a" and "plan b".
func singles(s string) string {
	var list []string
	for _, w := range strings.Fields(s) {
		if len([]rune(w)) == 1 {
			list = append(list, w)
		}
	}
	return strings.Join(list, " ")
}
