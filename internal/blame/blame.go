// Package blame finds out which change wrote each line of a text. It is pure: the caller passes
// the older versions of the text, newest first, or the edits that made it.
//
// A [Trace] follows lines from version to version. Lines that are unique in both of two
// versions are matched first, and the lines between them by go-udiff, so that a line that
// exists only once is not attributed to a change that wrote equal braces around it.
package blame

import (
	"slices"
	"strings"
)

// None is the origin of a line that no change is known to have written.
const None = -1

// A Trace follows the lines of a text back through its older versions.
type Trace struct {
	text    string // of the version that was reached
	numbers []rune // of its lines
	at      []int  // for each line of text the index of the followed line, -1 if it is not followed
	open    int    // number of followed lines without an origin
	origins []int
	likely  []int // see Rewrite
	matcher
}

// New returns a trace of the lines of a text, which include their line breaks.
func New(text string) *Trace {
	n := countLines(text)
	t := &Trace{text: text, at: make([]int, n), open: n, origins: make([]int, n), likely: make([]int, n)}
	t.numbers = t.number(text, nil)
	for i := range n {
		t.at[i], t.origins[i], t.likely[i] = i, None, None
	}
	return t
}

// Only follows only the lines from first to last, counted from 0.
func (t *Trace) Only(first, last int) {
	for i, line := range t.at {
		if line >= 0 && (line < first || line > last) {
			t.at[i] = -1
			t.open--
		}
	}
}

// Open returns how many lines are still followed. If there are none, older versions change
// nothing.
func (t *Trace) Open() int { return t.open }

// Text returns the version that was reached.
func (t *Trace) Text() string { return t.text }

// Back goes to an older version: lines that it does not have were written by the change by. If by
// is [None], something else wrote them: the change of [Trace.Rewrite] that has them, if there is one.
// It may also have moved lines, which are followed.
func (t *Trace) Back(older string, by int) {
	if older == t.text {
		return
	}
	before, after := common(older, t.text)
	mid := t.text[before : len(t.text)-after]
	start := countBreaks(t.text[:before])
	end := start + countLines(mid)
	lines := t.numbers[start:end]
	olderLines := t.number(older[before:len(older)-after], lines)
	at := make([]int, len(t.at)-len(lines)+len(olderLines))
	copy(at, t.at[:start])
	copy(at[start+len(olderLines):], t.at[end:])
	from := at[start : start+len(olderLines)]
	for i := range from {
		from[i] = -1
	}
	matched := make([]bool, len(lines))
	follow := func(i, j int) { from[i], matched[j] = t.at[start+j], true }
	t.match(olderLines, lines, follow)
	if by == None {
		texts := splitLines(mid)
		for _, p := range t.unique(olderLines, lines) { // what was only moved was written before
			if i, j := p[0], p[1]; !matched[j] && isTelling(texts[j]) {
				follow(i, j)
			}
		}
	}
	for j, ok := range matched {
		if !ok {
			t.settle(t.at[start+j], by)
		}
	}
	t.text, t.at, t.numbers = older, at, slices.Concat(t.numbers[:start], olderLines, t.numbers[end:])
}

// settle sets the origin of a followed line.
func (t *Trace) settle(line, by int) {
	if line < 0 {
		return
	}
	if by == None {
		by = t.likely[line]
	}
	t.origins[line] = by
	t.open--
}

// Rewrite goes to a version that a change wrote as a whole. Lines that it does not have were
// written later by something else, and those that no older change is known to have written are
// of the change.
func (t *Trace) Rewrite(text string, by int) {
	has := map[string]bool{}
	for line := range strings.Lines(text) {
		has[line] = true
	}
	for i, line := range splitLines(t.text) {
		if t.at[i] >= 0 && isTelling(line) && has[line] { // also if it was moved
			t.likely[t.at[i]] = by
		}
	}
	t.Back(text, None)
	for _, line := range t.at {
		if line >= 0 {
			t.likely[line] = by
		}
	}
}

// Origins returns for each line of the text the change that wrote it, or [None].
func (t *Trace) Origins() []int {
	list := slices.Clone(t.origins)
	for _, line := range t.at {
		if line >= 0 {
			list[line] = t.likely[line]
		}
	}
	return list
}

// Undo goes to the version before an edit that replaced old with text, everywhere if all is true.
// If the version that was reached does not have text, for example because a later edit
// changed it, those of its lines that are left are attributed to the edit, if they are unique
// enough.
func (t *Trace) Undo(old, text string, all bool, by int) {
	if text == old || text == "" {
		return
	}
	if all {
		if strings.Contains(t.text, text) {
			t.Back(strings.ReplaceAll(t.text, text, old), by)
		}
		return
	}
	if older, ok := replaceBack(t.text, old, text); ok {
		t.Back(older, by)
		return
	}
	t.claim(old, text, by)
}

// replaceBack returns the text before an edit that replaced old with text. Of several places
// it chooses the one after which old is unique, because tools refuse to edit what is not.
func replaceBack(now, old, text string) (older string, ok bool) {
	first := ""
	for at, from := 0, 0; ; from = at + 1 {
		i := strings.Index(now[from:], text)
		if i < 0 {
			return first, first != ""
		}
		at = from + i
		older = now[:at] + old + now[at+len(text):]
		if old == "" || strings.Count(older, old) == 1 {
			return older, true
		}
		if first == "" {
			first = older
		}
	}
}

// claim attributes the lines that an edit added and that are left to it, wherever they are. A line
// that does not say much needs a neighbour that is attributed to it, as it has in the edit.
func (t *Trace) claim(old, text string, by int) {
	edited := splitLines(text)
	added := map[string]bool{}
	for _, line := range edited {
		added[line] = isTelling(line)
	}
	for line := range strings.Lines(old) {
		delete(added, line)
	}
	lines := splitLines(t.text)
	claimed := map[int]bool{}
	take := func(i int, ok bool) {
		if ok && t.at[i] >= 0 && !claimed[i] {
			t.settle(t.at[i], by)
			t.at[i] = -1
			claimed[i] = true
		}
	}
	for i, line := range lines {
		take(i, added[line])
	}
	mine := map[int]bool{} // lines that the edit has at their place
	t.match(t.number(text, nil), t.numbers, func(_, j int) { _, mine[j] = added[lines[j]] })
	for i := range lines {
		take(i, claimed[i-1] && mine[i])
	}
	for i := range slices.Backward(lines) {
		take(i, claimed[i+1] && mine[i])
	}
}

// isTelling reports whether a line has enough letters and digits to be recognized.
func isTelling(line string) bool {
	const enough = 4
	n := 0
	for _, r := range line {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f {
			n++
		}
	}
	return n >= enough
}

// Likeness returns which part of the lines of two texts both have, from 0 to 1.
func Likeness(a, b string) float64 {
	count := map[string]int{}
	n := 0
	for line := range strings.Lines(a) {
		count[line]++
		n++
	}
	both := 0
	for line := range strings.Lines(b) {
		n++
		if count[line]--; count[line] >= 0 {
			both += 2
		}
	}
	if n == 0 {
		return 0
	}
	return float64(both) / float64(n)
}

// common returns the lengths of the lines that two texts begin and end with.
func common(a, b string) (before, after int) {
	const block = 64 // bytes, which are compared faster together
	n := min(len(a), len(b))
	for before+block <= n && a[before:before+block] == b[before:before+block] {
		before += block
	}
	for before < n && a[before] == b[before] {
		before++
	}
	before = strings.LastIndexByte(a[:before], '\n') + 1
	for after+block <= n-before && a[len(a)-after-block:len(a)-after] == b[len(b)-after-block:len(b)-after] {
		after += block
	}
	for after < n-before && a[len(a)-1-after] == b[len(b)-1-after] {
		after++
	}
	// The last whole lines: after a line break in both texts.
	for after > 0 {
		if isLineStart(a, len(a)-after) && isLineStart(b, len(b)-after) {
			break
		}
		i := strings.IndexByte(a[len(a)-after:], '\n')
		if i < 0 {
			return before, 0
		}
		after -= i + 1
	}
	return before, after
}

func isLineStart(s string, i int) bool { return i == 0 || s[i-1] == '\n' }

// countBreaks returns the number of lines of a text that ends with a line break, or is empty.
func countBreaks(s string) int { return strings.Count(s, "\n") }

func countLines(s string) int {
	n := countBreaks(s)
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}

// splitLines returns the lines of a text, with their line breaks.
func splitLines(s string) []string {
	list := make([]string, 0, countLines(s))
	for line := range strings.Lines(s) {
		list = append(list, line)
	}
	return list
}
