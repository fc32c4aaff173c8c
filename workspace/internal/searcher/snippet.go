package searcher

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/query"
)

// messageText returns the text of a message.
func messageText(m *content.Message) string { return strings.Join(m.Texts(), "\n") }

// Lengths of the displayed text around a match, in characters.
const (
	snippetBefore = 30
	snippetLength = 160
)

// snippetOf returns a part of text on one line, where the matches of p are
// densest, with an ellipsis where it is cut. spans are the matches in it, in
// characters.
func snippetOf(p *pattern, text string) (snippet string, spans [][2]int) {
	all := p.Find(text)
	start, end := window(text, all)
	snippet = strings.Join(strings.FieldsFunc(text[start:end], unicode.IsSpace), " ")
	before := strings.TrimSpace(text[:start]) != ""
	if before {
		snippet = "…" + snippet
	}
	if strings.TrimSpace(text[end:]) != "" {
		snippet += "…"
	}
	spans = [][2]int{}
	if p.re == nil {
		for _, s := range p.Find(snippet) {
			from := utf8.RuneCountInString(snippet[:s.Start])
			spans = append(spans, [2]int{from, from + utf8.RuneCountInString(snippet[s.Start:s.End])})
		}
		return snippet, spans
	}
	// The expression may match differently in the snippet, whose white space
	// differs, so the positions in text are converted.
	place := func(at int) int {
		n := runesJoined(text[start:at])
		if before {
			n++
		}
		return n
	}
	for _, s := range all {
		if s.Start = max(s.Start, start); s.Start < min(s.End, end) {
			spans = append(spans, [2]int{place(s.Start), place(min(s.End, end))})
		}
	}
	return snippet, spans
}

// runesJoined counts the characters of a text after white space is trimmed at
// its start and collapsed elsewhere.
func runesJoined(text string) int {
	n, space := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if space {
			n, space = n+1, false
		}
		n++
	}
	if space {
		n++
	}
	return n
}

// window returns the part of text to display, given the spans of matches.
func window(text string, spans []query.Span) (start, end int) {
	if len(text) <= snippetLength {
		return 0, len(text)
	}
	best, most := 0, 0
	for i, s := range spans {
		reach := s.Start + snippetLength - snippetBefore
		n := 0 // bytes in matches
		for _, other := range spans[i:] {
			if other.End > reach {
				break
			}
			n += other.End - other.Start
		}
		if n > most {
			best, most = i, n
		}
	}
	if len(spans) > 0 {
		start = spans[best].Start
	}
	start = wordStart(text, start)
	end = start
	for range snippetLength {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return start, end
}

// wordStart returns where to cut the text before place: at a word, about as far
// back as the displayed context is long.
func wordStart(text string, place int) int {
	start, word := place, place
	for range snippetBefore {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if size == 0 {
			return start
		}
		if unicode.IsSpace(r) && start < place {
			word = start
		}
		start -= size
	}
	if word < place {
		return word
	}
	return start
}
