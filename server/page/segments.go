package page

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/session"
)

// A segment is a part of a text.
type segment struct {
	Text    string
	Changed bool // the other text does not have it
}

// mark sets the segments of two messages if both are only text, one of them is long, and
// they are similar.
func mark(x, y *comparedMessage, a, b session.Message) {
	const long, minAlike = 160, 0.4
	s, ok := plainText(a)
	t, okay := plainText(b)
	if !ok || !okay || max(len(s), len(t)) < long || s == t {
		return
	}
	before, after, alike := differences(s, t)
	if alike < minAlike {
		return
	}
	x.Segments, y.Segments, y.Added = before, after, true
}

// plainText returns the text of a message that has no other parts.
func plainText(m session.Message) (string, bool) {
	shown := html.MessageOf(transcript.FromSession(m, ""))
	var b strings.Builder
	for _, p := range shown.Parts {
		if p.Type != "text" {
			return "", false
		}
		b.WriteString(p.Text)
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String()), true
}

// maxMarked is the size of the longest text whose words are compared.
const maxMarked = 100_000

// differences compares two texts by words. alike is the part of the longer text that the
// other one has too, from 0 to 1.
func differences(a, b string) (before, after []segment, alike float64) {
	if len(a) > maxMarked || len(b) > maxMarked {
		return nil, nil, 0
	}
	words := map[string]rune{}
	as, bs := wordsOf(a), wordsOf(b)
	x, y := runesOf(as, words), runesOf(bs, words)
	// The edits have offsets in bytes of x, whose runes are the words of a.
	offsets := make(map[int]int, len(as)+1)
	n := 0
	for i := range x {
		offsets[i] = n
		n++
	}
	offsets[len(x)] = n
	at, to, same := 0, 0, 0 // words of a and of b so far, and bytes that both have
	keep := func(until int) {
		for ; at < until; at, to = at+1, to+1 {
			before, after = extend(before, as[at], false), extend(after, bs[to], false)
			same += len(as[at])
		}
	}
	for _, e := range udiff.Strings(x, y) {
		keep(offsets[e.Start])
		for ; at < offsets[e.End]; at++ {
			before = extend(before, as[at], true)
		}
		for range e.New {
			after = extend(after, bs[to], true)
			to++
		}
	}
	keep(len(as))
	return before, after, float64(same) / float64(max(len(a), len(b), 1))
}

// extend appends a text to segments.
func extend(list []segment, text string, changed bool) []segment {
	if n := len(list); n > 0 && list[n-1].Changed == changed {
		list[n-1].Text += text
		return list
	}
	return append(list, segment{text, changed})
}

// wordsOf divides a text into words, spaces and other characters.
func wordsOf(s string) (list []string) {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	start, last := 0, -1
	for i, r := range s {
		c := class(r)
		if i > 0 && (c != last || c == 0) {
			list = append(list, s[start:i])
			start = i
		}
		last = c
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}

// runesOf returns a string with a rune for each of words. known has the runes of words so
// far.
func runesOf(words []string, known map[string]rune) string {
	var b strings.Builder
	for _, w := range words {
		r, ok := known[w]
		if !ok {
			const first, surrogates, afterSurrogates = 0x100, 0xd800, 0xe000
			if r = rune(first + len(known)); r >= surrogates {
				r += afterSurrogates - surrogates
			}
			known[w] = r
		}
		b.WriteRune(r)
	}
	return b.String()
}
