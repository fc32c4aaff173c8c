package chatgpt

import (
	"strings"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// ChatGPT uses private runes for citation marks.
const (
	citeBegin = "\ue200"
	citeEnd   = "\ue201"
	citeNext  = "\ue202" // between the type of a mark and its content
	citeRunes = "\ue200\ue201\ue202\ue203\ue204\ue205\ue206"
)

// withoutCitations returns a reply of ChatGPT without its citation marks, which only
// the service can resolve. A mark with text is replaced by it.
func withoutCitations(text string) string {
	if !strings.ContainsAny(text, citeRunes+"【") && !strings.Contains(text, ":contentReference[oaicite:") {
		return text
	}
	var b strings.Builder
	for text != "" {
		before, shown, after, ok := nextCitation(text)
		if !ok {
			break
		}
		if shown == "" && (after == "" || strings.ContainsAny(after[:1], ".,;:!?)\n")) {
			before = strings.TrimRight(before, " \t")
		}
		b.WriteString(before)
		b.WriteString(shown)
		text = after
	}
	b.WriteString(text)
	return strings.Map(func(r rune) rune {
		if r >= '\ue200' && r <= '\ue206' {
			return -1
		}
		return r
	}, b.String())
}

// nextCitation splits a text around its first citation mark. shown is the text
// that replaces the mark.
func nextCitation(text string) (before, shown, after string, ok bool) {
	const most, mostShown = 300, 4 << 10 // maximum length of a mark, and of one with a text, in bytes
	for at := 0; at < len(text); at++ {
		rest := text[at:]
		switch {
		case strings.HasPrefix(rest, citeBegin):
			mark, closed := cutWithin(rest[len(citeBegin):], citeEnd, mostShown)
			if closed && !strings.Contains(mark, citeBegin) {
				return text[:at], citationText(mark), rest[len(citeBegin)+len(mark)+len(citeEnd):], true
			}
		case strings.HasPrefix(rest, "【"):
			mark, closed := cutWithin(rest, "】", most)
			if closed && strings.Contains(mark, "†") && !strings.Contains(mark, "\n") {
				return text[:at], "", rest[len(mark)+len("】"):], true
			}
		case strings.HasPrefix(rest, ":contentReference[oaicite:"):
			if mark, closed := cutWithin(rest, "}", most); closed {
				return text[:at], "", rest[len(mark)+len("}"):], true
			}
		}
	}
	return "", "", "", false
}

// cutWithin returns the text before sep, if sep ends within a number of bytes.
func cutWithin(s, sep string, most int) (before string, found bool) {
	before, _, found = strings.Cut(s[:min(len(s), most)], sep)
	return before, found
}

// citationText returns the text of a mark: the name of a thing, or the title of links.
func citationText(mark string) string {
	list := strings.Split(mark, citeNext)
	if len(list) < 2 {
		return ""
	}
	switch list[0] {
	case "entity":
		if v := gjson.Parse(list[1]); rawjson.Check([]byte(list[1])) == nil && v.IsArray() {
			return v.Get("1").Str
		}
	case "url", "link", "link_title", "navlist":
		return list[1]
	}
	return ""
}
