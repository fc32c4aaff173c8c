package explore

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/likeness"
)

// A claim is the conclusion of an answer, without its reasons.
type claim struct {
	text  string // normalized
	code  bool   // it is code, which is compared exactly
	whole string // the whole answer, normalized
	said  bool   // the answer labels it as its conclusion
}

// claimOf returns the claim of an answer: its code if it has any, else the text
// after a label such as "Answer:", else its first sentence. Reasons are removed
// from the text.
func claimOf(answer string) claim {
	c := claim{whole: likeness.Normal(answer)}
	if code := codeIn(answer); code != "" {
		c.text, c.code, c.said = likeness.Normal(code), true, true
		return c
	}
	var text string
	text, c.said = conclusion(answer)
	if !c.said {
		text = firstSentence(answer)
	}
	c.text = likeness.Normal(withoutReason(text))
	for _, lead := range []string{"so ", "therefore ", "i think ", "i believe ", "the answer is ", "the result is ", "it is ", "its ", "i would ", "id ", "you should ", "we should ", "i recommend to ", "i recommend ", "my recommendation is to ", "my recommendation is "} {
		if rest, ok := strings.CutPrefix(c.text, lead); ok && rest != "" {
			c.text = rest
		}
	}
	if c.text == "" {
		c.text = c.whole
	}
	return c
}

// agree reports whether two claims have the same meaning.
func (c claim) agree(d claim) bool {
	switch {
	case c.text == d.text && (c.said && d.said || c.whole == d.whole):
		return true
	case c.code || d.code:
		return c.code && d.code && c.text == d.text
	case c.text == c.whole || d.text == d.whole || c.said || d.said:
		return agree(c.text, d.text)
	}
	// Different answers may begin with the same sentence.
	return agree(c.text, d.text) && overlap(contentWords(c.whole), contentWords(d.whole)) >= sameSubject
}

// codeIn returns the code of an answer in Markdown, without lines that are comments.
func codeIn(answer string) string {
	var code []string
	fence := ""
	for line := range strings.Lines(answer) {
		text := strings.TrimSpace(line)
		switch {
		case fence == "" && (strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")):
			fence = text[:3]
		case fence != "" && strings.HasPrefix(text, fence):
			fence = ""
		case fence != "" && text != "" && !strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "# "):
			code = append(code, text)
		}
	}
	return strings.Join(code, "\n")
}

// conclusion returns the text that an answer labels as its conclusion, the last
// one if there are several.
func conclusion(answer string) (text string, ok bool) {
	marks := []string{"answer", "final answer", "the answer is", "result", "conclusion", "recommendation", "verdict", "decision", "tl;dr", "in short", "short answer"}
	for _, s := range sentencesOf(answer) {
		plain := strings.TrimLeft(strings.ReplaceAll(s, "*", ""), "#>-• ")
		plain = strings.TrimPrefix(plain, "So, ")
		lower := strings.ToLower(plain)
		if len(lower) != len(plain) {
			continue
		}
		for _, mark := range marks {
			rest, found := strings.CutPrefix(lower, mark)
			if !found || rest == "" || strings.IndexByte(":, ", rest[0]) < 0 {
				continue
			}
			if rest[0] == ' ' && !strings.HasSuffix(mark, " is") {
				continue
			}
			if rest := strings.TrimLeft(plain[len(mark):], ":, "); strings.TrimSpace(rest) != "" {
				text, ok = rest, true
			}
		}
	}
	return text, ok
}

// firstSentence returns the first sentence of an answer that is not a greeting.
func firstSentence(answer string) string {
	for _, s := range sentencesOf(answer) {
		if w := likeness.Normal(s); w != "" && !slices.Contains([]string{"sure", "of course", "certainly", "great question", "good question", "ok", "okay", "hi", "hello"}, w) {
			return s
		}
	}
	return answer
}

// sentencesOf returns the sentences of a text. A line break also ends a sentence.
func sentencesOf(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		begin := 0
		for i := 0; i+1 < len(line); i++ {
			if strings.IndexByte(".?!", line[i]) >= 0 && line[i+1] == ' ' && i-begin > 2 {
				list = append(list, line[begin:i+1])
				begin = i + 2
			}
		}
		if begin < len(line) {
			list = append(list, line[begin:])
		}
	}
	return list
}

// withoutReason returns s up to the words that introduce a reason.
func withoutReason(s string) string {
	at := len(s)
	for _, word := range []string{" because ", ", since ", " since ", ", as ", ", so that ", ", which "} {
		if i := strings.Index(s, word); i > 0 {
			at = min(at, i)
		}
	}
	return strings.TrimSpace(s[:at])
}

const (
	sameAnswer  = 0.85 // answers that are at least this similar agree
	sameWords   = 0.75 // answers that share at least this many words agree
	sameSubject = 0.3  // answers that share fewer words have different subjects
	longest     = 4 << 10
)

// agree reports whether two normalized texts have the same meaning. Similar
// texts do not if they differ in a number, an operator or a negation, or where
// the order of words matters, as around "than" and "instead". Texts over 4 KiB
// agree only if they are equal.
func agree(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > longest || len(b) > longest || !slices.Equal(likeness.Decisive(a), likeness.Decisive(b)) {
		return false
	}
	x, y := contentWords(a), contentWords(b)
	if (directed(a) || directed(b)) && !slices.Equal(shared(x, y), shared(y, x)) {
		return false
	}
	return likeness.Of(a, b) >= sameAnswer || min(len(x), len(y)) > 1 && overlap(x, y) >= sameWords
}

// directed reports whether the order of the words of a normalized text changes its meaning.
func directed(s string) bool {
	return slices.ContainsFunc(strings.Fields(s), func(w string) bool {
		switch w {
		case "than", "instead", "over", "rather", "before", "after", "from", "to", "with", "by", "into", "if", "unless", "/", "-", "%", "<", ">", "=":
			return true
		}
		return false
	})
}

// contentWords returns the stems of the words of a normalized text, in order,
// without words such as "the" and "is".
func contentWords(s string) []string {
	var list []string
	for _, w := range strings.Fields(s) {
		switch w {
		case "a", "an", "the", "is", "are", "be", "was", "it", "its", "this", "that", "here", "of", "and", "i", "you", "we", "would", "should", "will",
			"so", "just", "really", "simply", "also", "then", "best", "recommend", "suggest":
			continue
		}
		for _, end := range []string{"ing", "ed", "es", "s", "e"} {
			if stem, ok := strings.CutSuffix(w, end); ok && len(stem) > 1 {
				w = stem
				break
			}
		}
		list = append(list, w)
	}
	return list
}

// shared returns the words of a that are also in b, without duplicates.
func shared(a, b []string) []string {
	var list []string
	for _, w := range a {
		if slices.Contains(b, w) && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// overlap returns the share of the words of a and b that are in both, from 0 to 1.
func overlap(a, b []string) float64 {
	both := len(shared(a, b))
	all := len(shared(a, a)) + len(shared(b, b)) - both
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}
