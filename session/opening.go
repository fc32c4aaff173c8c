package session

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// An opening is the first words of a conversation: those of the first message of a user
// that has any. A continuation has none: the first file of its line has them.
type opening struct {
	words string
	at    int  // of the message, -1 if there is none
	lost  bool // nothing is known: a file that was planned leaves out the message that had the words
}

// mostWords is how many characters of an opening are kept.
const mostWords = 80

// openingOf returns the opening of the session in data, whose outline is o.
func (o *Outline) openingOf(data []byte) opening {
	if o.continues() != "" {
		return opening{at: -1}
	}
	for i := range o.marks {
		if words := openingWords(o.span(i, i+1).Of(data)); words != "" {
			return opening{words: words, at: i}
		}
	}
	return opening{at: -1}
}

// add takes in message i, if none before it has words.
func (o *opening) add(message []byte, i int) {
	if o.at >= 0 || o.lost {
		return
	}
	if words := openingWords(message); words != "" {
		o.words, o.at = words, i
	}
}

// addRun takes in the messages of a run, the first of which is message i.
func (o *opening) addRun(r Run, i int) {
	was := r.Part.opening
	switch {
	case o.at >= 0 || o.lost:
	case was.lost || r.Part.continues() != "" || was.at >= 0 && was.at < r.From:
		o.lost = true
	case was.at >= 0 && was.at < r.To:
		o.words, o.at = was.words, i+was.at-r.From
	}
}

// openingWords returns the first words of a message, "" if it is no user's.
func openingWords(message []byte) string {
	if text(gjson.GetBytes(message, "role")) != "user" {
		return ""
	}
	m := Message{Raw: message}
	if c := m.Category(); c == "SYSTEM" || c == "CONTEXT" {
		return ""
	}
	return firstWords(m.Text())
}

// firstWords returns the first line of a text that has words, at most mostWords
// characters of it.
func firstWords(text string) string {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
		if line == "" {
			continue
		}
		if runes := []rune(line); len(runes) > mostWords {
			line = strings.TrimRight(string(runes[:mostWords-1]), " ") + "…"
		}
		return line
	}
	return ""
}
