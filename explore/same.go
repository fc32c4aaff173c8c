package explore

import (
	"slices"
	"strings"
	"unicode"

	"github.com/adrg/strutil"
	"github.com/adrg/strutil/metrics"
	"golang.org/x/text/unicode/norm"
)

// normal returns s in the form in which answers and names are compared: words and
// numbers with single spaces between them, without case, Markdown's marks and the
// punctuation of sentences. Operators stay. Numbers lose the commas of thousands and
// the zeros that say nothing. Where nothing would be left it is s itself.
func normal(s string) string {
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
			// isn't and isnt are one word
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

// numberLen returns how many of the runes, the first of which is a digit, are one
// number. A comma belongs to it before three digits and no fourth one, a point before any.
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

// likeness returns from 0 to 1 how much two normal texts have in common: the
// Sørensen-Dice coefficient of their runs of three characters. The order of words
// hardly matters to it.
func likeness(a, b string) float64 {
	if a == b {
		return 1
	}
	m := metrics.NewSorensenDice()
	m.NgramSize = 3
	return strutil.Similarity(" "+a+" ", " "+b+" ", m)
}

// contextLikeness is the likeness of two normal contexts. Of a text less than half as long
// as the other, it is how much of it stands there, so that a few words find a long one.
func contextLikeness(a, b string) float64 {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if short < 6 || 2*short > long {
		return likeness(a, b)
	}
	m := metrics.NewOverlapCoefficient()
	m.NgramSize = 3
	// Much of a few words stands in any long text: what is beyond that counts.
	part := strutil.Similarity(" "+a+" ", " "+b+" ", m)
	return max(likeness(a, b), 2*part-1, 0)
}

// clip returns the beginning of a text, as much as is compared.
func clip(s string) string {
	const most = 1000
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

const (
	sameName   = 0.8  // names that are more alike than this are one
	sameAnswer = 0.85 // so are answers
	longest    = 4 << 10
)

// agree reports whether two normal answers say the same. Alike is not enough where they
// differ in a number, an operator or a not; answers over 4 KiB agree if they are equal.
func agree(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > longest || len(b) > longest || !slices.Equal(decisive(a), decisive(b)) {
		return false
	}
	return likeness(a, b) >= sameAnswer
}

// decisive returns the words of a normal text any of which turns its meaning round.
func decisive(s string) []string {
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

// negated reports whether a word is one as isn't, without its apostrophe.
func negated(w string) bool {
	switch strings.TrimSuffix(w, "nt") {
	case "is", "are", "was", "were", "do", "does", "did", "ca", "wo", "should", "would", "could", "must", "has", "have", "had":
		return true
	}
	return false
}

// sameStrategy reports whether two names are of one strategy. "Option 1" and "Option 2"
// are not, however alike.
func sameStrategy(a, b string) bool {
	a, b = bare(a), bare(b)
	return a == b || slices.Equal(decisive(a), decisive(b)) && singles(a) == singles(b) && likeness(a, b) >= sameName
}

// bare returns a name in its normal form, without articles. The a of "plan a" is none.
func bare(name string) string {
	words := strings.Fields(normal(name))
	kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "a" || w == "an" || w == "the" })
	if n := len(words); n > 0 && words[n-1] == "a" {
		kept = append(kept, "a")
	}
	return strings.Join(kept, " ")
}

// singles returns the single letters among the words, which tell names as "plan a"
// and "plan b" apart.
func singles(s string) string {
	var list []string
	for _, w := range strings.Fields(s) {
		if len([]rune(w)) == 1 {
			list = append(list, w)
		}
	}
	return strings.Join(list, " ")
}
