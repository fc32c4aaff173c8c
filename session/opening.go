package session

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// An opening holds the first words of a conversation: those of the first user
// message that has text and is no merge. A continuation has none; the first file of its line has
// it.
type opening struct {
	words string
	at    int  // index of the message, or -1
	lost  bool // unknown: the runs of a planned file do not include the message with the words
}

// maxWords is the maximum length of an opening in characters.
const maxWords = 80

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

// Opening returns the first words of the first user message of a document that continues no
// other session, "" if there are none or they are unknown. Unlike [Document.Outline], it
// takes no time per message.
func (d *Document) Opening() (string, error) {
	o := opening{at: -1}
	at := 0
	for _, r := range d.Messages {
		if o.at >= 0 || o.lost {
			break
		}
		if r.Part != nil {
			o.addRun(r, at)
		} else {
			item, err := r.Single()
			if err != nil {
				return "", err
			}
			o.add(item[len(Separator):], at)
		}
		at += r.Len()
	}
	return o.words, nil
}

// add sets the opening from message i unless it is already set.
func (o *opening) add(message []byte, i int) {
	if o.at >= 0 || o.lost {
		return
	}
	if words := openingWords(message); words != "" {
		o.words, o.at = words, i
	}
}

// addRun sets the opening from a run, whose first message becomes message i.
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

// openingWords returns the first words of a message, "" if its role is not user or if it is a
// merge.
func openingWords(message []byte) string {
	if text(gjson.GetBytes(message, "role")) != "user" {
		return ""
	}
	m := Message{Raw: message}
	if c := m.Category(); c == "SYSTEM" || c == "CONTEXT" || m.IsMerge() {
		return ""
	}
	return firstWords(m.Text())
}

// firstWords returns the first non-blank line of a text, cut to maxWords
// characters.
func firstWords(text string) string {
	for line := range strings.Lines(text) {
		line = start(line, maxWords+1)
		if line == "" {
			continue
		}
		if runes := []rune(line); len(runes) > maxWords {
			line = strings.TrimRight(string(runes[:maxWords-1]), " ") + "…"
		}
		return line
	}
	return ""
}

// start returns the words of a line, cut after at least n characters; a line can have hundreds of
// megabytes.
func start(line string, n int) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		if b.Len() > 0 {
			b.WriteByte(' ')
			n--
		}
		for i := range word {
			if n--; n < 0 {
				word = word[:i]
				break
			}
		}
		b.WriteString(word)
		if n < 0 {
			break
		}
	}
	return b.String()
}
