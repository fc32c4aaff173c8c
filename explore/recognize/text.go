package recognize

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/internal/likeness"
)

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func letter(r rune) bool { return unicode.IsLetter(r) }
func digit(r rune) bool  { return r >= '0' && r <= '9' }

// normalWords returns the normalized words of s.
func normalWords(s string) []string { return strings.Fields(likeness.Normal(s)) }

// sentences returns the sentences of a text, at least one.
func sentences(text string) []string {
	var list []string
	begin := 0
	for i := 0; i+1 < len(text); i++ {
		joined := text[i] == ';' && startsWith(text[i+2:], "or", "we could", "you could", "alternatively")
		ends := strings.IndexByte(".?!", text[i]) >= 0 && !abbreviated(text[begin:i])
		if (ends || joined) && text[i+1] == ' ' && i-begin > 3 {
			list = append(list, strings.TrimSpace(text[begin:i+1]))
			begin = i + 2
		}
	}
	if rest := strings.TrimSpace(text[begin:]); rest != "" || list == nil {
		list = append(list, rest)
	}
	return list
}

// abbreviated reports whether a period after s does not end a sentence.
func abbreviated(s string) bool {
	last := s[strings.LastIndexAny(s, " (")+1:]
	return oneOf(last, "vs", "e.g", "i.e", "cf", "approx", "ca", "Dr", "Mr", "Mrs", "Ms")
}

func lastSentence(text string) string {
	list := sentences(text)
	return list[len(list)-1]
}

// cutAny cuts s at the first occurrence of any of separators.
func cutAny(s string, separators ...string) (before, after string, ok bool) {
	at, width := len(s), 0
	for _, sep := range separators {
		if i := strings.Index(s, sep); i >= 0 && i < at {
			at, width = i, len(sep)
		}
	}
	if width == 0 {
		return s, "", false
	}
	return s[:at], s[at+width:], true
}

// cutPrefixes removes the longest of words that s begins with, ignoring case.
func cutPrefixes(s string, words ...string) (rest string, ok bool) {
	most := 0
	for _, w := range words {
		if len(w) > most && startsWith(s, w) {
			most = len(w)
		}
	}
	return strings.TrimLeft(s[most:], " ,:"), most > 0
}

// startsWith reports whether s begins with one of the words as a whole word,
// ignoring case.
func startsWith(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return len(s) >= len(w) && strings.EqualFold(s[:len(w)], w) && (len(s) == len(w) || strings.IndexByte(" ,:", s[len(w)]) >= 0)
	})
}

func oneOf(s string, list ...string) bool { return slices.Contains(list, s) }
