package digest

import (
	"iter"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/internal/spoken"
)

// plainLines yields the lines of a text in Markdown as a reader sees them, without code.
func plainLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fence := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			mark := ""
			for _, m := range []string{"```", "~~~"} {
				if strings.HasPrefix(line, m) {
					mark = m
				}
			}
			switch {
			case fence != "":
				if mark == fence {
					fence = ""
				}
				continue
			case mark != "":
				fence = mark
				continue
			}
			const longest = 4 << 10 // bytes of a line that is no prose
			if len(line) > longest {
				line = strings.ToValidUTF8(line[:longest], "")
			}
			plain, _ := spoken.Plain(line, nil)
			if !yield(strings.TrimSpace(plain)) {
				return
			}
		}
	}
}

// firstParagraph returns the first lines of a text up to an empty one, on one line. A heading
// alone is no paragraph.
func firstParagraph(text string) string {
	var lines []string
	for line := range plainLines(text) {
		if line == "" && len(lines) > 0 {
			break
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

// sentences yields the sentences of a text. The end of a line ends a sentence.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range plainLines(text) {
			from := 0
			for i, r := range line {
				end := i + len(string(r))
				ends := strings.ContainsRune(".!?", r) && (end == len(line) || unicode.IsSpace(rune(line[end]))) || strings.ContainsRune("。！？", r)
				if !ends && end < len(line) {
					continue
				}
				sentence := strings.TrimSpace(line[from:end])
				from = end
				if strings.ContainsFunc(sentence, unicode.IsLetter) && !yield(sentence) {
					return
				}
			}
		}
	}
}

// decides reports whether a sentence says that something is decided.
func decides(sentence string) bool {
	if strings.HasSuffix(sentence, "?") {
		return false
	}
	words := " " + strings.Join(strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(sentence, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\''
	}), " ") + " "
	for _, phrase := range [...]string{
		"decided", "decision", "we decide", "let us", "let's", "we will", "we'll", "go with", "going with", "went with",
		"settled on", "settle on", "we chose", "i chose", "chosen", "agreed", "we stick", "stick with", "we use", "we keep",
	} {
		if strings.Contains(words, " "+phrase+" ") {
			return true
		}
	}
	return false
}
