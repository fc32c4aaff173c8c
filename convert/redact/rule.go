package redact

import (
	"bytes"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// A rule describes a kind of secret.
type rule struct {
	ID       string
	Regexp   string
	Group    int      // of the secret in the expression; 0 means the first group that matched, or the whole match
	Entropy  float64  // the minimum entropy of the secret, exclusive, in bits per byte
	Keywords []string // lower case; the match must contain one
	Allowed  []*allow

	own     bool // not from gitleaks
	exact   bool // punctuation matters to its expression
	byName  bool // only the text before it indicates a secret
	anyWord bool // the secret may be any word, so lists of example words do not apply
	near    int  // the maximum distance of a match from its keyword, in bytes; 0 means reach
	byDots  bool // it has no keywords, and is tried at dots that may separate the three parts of a token
	noName  bool // a match that looks like a name is dropped

	// sentence excludes the punctuation of a sentence from the end of a secret.
	sentence bool
	// check reports whether s[start:end] is a secret. If nil, every match is.
	check func(s []byte, start, end int) bool

	once    sync.Once
	re      *regexp.Regexp
	reach   int  // length of the longest match in bytes, -1 if there is no maximum
	assigns bool // an assignment follows the keyword
}

// privateKey is the rule of gitleaks for private keys.
const privateKey = "private-key"

// An allow describes text that looks like a secret but is not.
type allow struct {
	In      string   // the input of the expressions: match, line, or else the secret
	Regexps []string // at least one must match
	Words   []string // lower case; the secret must contain one

	once sync.Once
	re   *regexp.Regexp // nil without expressions
}

func (r *rule) compile() {
	r.once.Do(func() {
		r.re = regexp.MustCompile(r.Regexp)
		tree, err := syntax.Parse(r.Regexp, syntax.Perl)
		if err != nil {
			panic("redact: " + err.Error()) // MustCompile has parsed it
		}
		r.reach = longest(tree)
		name, _, ok := strings.Cut(r.Regexp, assignment)
		r.assigns = ok && (r.byName || !slices.ContainsFunc(r.Keywords, func(word string) bool {
			return !strings.Contains(strings.ToLower(name), word) // the secret contains it
		}))
	})
}

// assignment is the part of gitleaks' expressions for an assignment. Half of the rules
// contain it, and their keywords are common words.
const assignment = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`

// assigned returns the end of a value that may be assigned to the name at s[at]: a
// superset of [assignment].
func assigned(s []byte, at int) (end int, ok bool) {
	const name, quotes, more, least = 60, 3, 10, 8
	run := func(most int, letters string, word bool) {
		for most += at; at < most && at < len(s) && (strings.IndexByte(letters, s[at]) >= 0 || word && isWord(s, at)); at++ {
		}
	}
	run(name, " \t./", true)
	run(quotes, " \t\r\n\f\"'", false)
	before := at
	run(more, "=>:|?,", false)
	if at == before {
		return 0, false
	}
	run(more, " \t\r\n\f\"'`=", false)
	value := s[at:min(len(s), at+2*data)]
	if i := bytes.IndexAny(value, " \t\r\n\f\"'`;"); i >= 0 {
		value = value[:i]
	}
	return at + len(value), len(value) >= least
}

// window returns the range in which a match with the keyword at s[at] can be.
// ok is false if there is none.
func (r *rule) window(s []byte, at int) (from, to int, ok bool) {
	const (
		beside = 8   // context that an expression needs around a match
		before = 128 // context that an assignment needs before its keyword
	)
	switch {
	case r.near > 0:
		from, to, ok = at-r.near, at+r.near, true
	case r.assigns:
		from = at - before
		to, ok = assigned(s, at)
		to = max(to, at+before) + beside
	case r.ID == "jwt": // its keyword is too common
		const header = 19
		if isWord(s, at-1) && s[at-1] != '-' || at+header > len(s) || bytes.IndexByte(s[at:at+header], ' ') >= 0 {
			return 0, 0, false
		}
		from, to, ok = at-beside, len(s), true
	case r.reach < 0:
		from, to, ok = 0, len(s), true
	default:
		from, to, ok = at-r.reach-beside, at+r.reach+beside, true
	}
	return max(0, from), min(len(s), to), ok
}

// search appends to spans where the rule finds secrets in t near its keywords, which are
// in order.
func (r *rule) search(spans []span, t *text, keywords []hit, allowed []*allow) []span {
	r.compile()
	start, end := 0, -1
	for _, k := range keywords {
		from, to, ok := r.window(t.soft, k.at)
		switch {
		case !ok:
		case from > end:
			if end >= 0 {
				spans = r.searchIn(spans, t, start, end, allowed)
			}
			start, end = from, to
		default:
			end = max(end, to)
		}
	}
	if end >= 0 {
		spans = r.searchIn(spans, t, start, end, allowed)
	}
	return spans
}

// searchIn is search in a range of the text.
func (r *rule) searchIn(spans []span, t *text, from, to int, allowed []*allow) []span {
	seen := t.soft
	if r.own || r.exact {
		seen = t.plain
	}
	for _, m := range r.re.FindAllSubmatchIndex(seen[from:to], -1) {
		for i := range m {
			if m[i] >= 0 {
				m[i] += from
			}
		}
		if m[0] == from && from > 0 || m[1] == to && to < len(t.s) {
			continue // truncated
		}
		start, end := r.secret(m)
		for start < end && seen[start] == '\n' {
			start++
		}
		for start < end && seen[end-1] == '\n' {
			end--
		}
		if r.sentence {
			end = start + len(bytes.TrimRight(t.s[start:end], ".,:;?"))
		}
		secret := t.s[start:end]
		switch {
		case len(secret) < shortest && !r.own, entropy(secret) <= r.Entropy:
		case bytes.IndexByte(seen[start:end], gone) >= 0:
		case r.byName && isID(t.s[m[0]:start], secret):
		case r.noName && isName(string(secret)) && !bytes.Contains(bytes.ToLower(t.s[m[0]:start]), []byte("passw")):
		case r.anyWord && isPlaceholder(secret):
		case r.check != nil && !r.check(t.s, start, end):
		case allows(allowed, t.s, m, secret), allows(r.Allowed, t.s, m, secret):
		default:
			spans = append(spans, span{start: start, end: end, rule: r})
		}
	}
	return spans
}

// secret returns the span of the secret in a match.
func (r *rule) secret(m []int) (start, end int) {
	if r.Group > 0 {
		return max(0, m[2*r.Group]), max(0, m[2*r.Group+1])
	}
	names := r.re.SubexpNames()
	for i := 1; i < len(names); i++ {
		if start, end := m[2*i], m[2*i+1]; start < end && names[i] == "" {
			if end-start < shortest && !r.own {
				break // a piece of formatted data
			}
			return start, end
		}
	}
	return m[0], m[1]
}

// allows reports whether one of lists names a secret, or the match that it is in.
func allows(lists []*allow, s []byte, m []int, secret []byte) bool {
	for _, a := range lists {
		a.once.Do(func() {
			if len(a.Regexps) > 0 {
				a.re = regexp.MustCompile("(?:" + strings.Join(a.Regexps, ")|(?:") + ")")
			}
		})
		in := secret
		switch a.In {
		case "match":
			in = s[m[0]:m[1]]
		case "line":
			in = s[bytes.LastIndexByte(s[:m[0]], '\n')+1:]
			if i := bytes.IndexByte(s[m[1]:], '\n'); i >= 0 {
				in = in[:len(in)-len(s)+m[1]+i]
			}
		}
		if a.re != nil && a.re.Match(in) {
			return true
		}
		if len(a.Words) > 0 {
			lower := bytes.ToLower(secret)
			for _, w := range a.Words {
				if bytes.Contains(lower, []byte(w)) {
					return true
				}
			}
		}
	}
	return false
}

// entropy returns how random a text looks, in bits for each byte.
func entropy(s []byte) float64 {
	var counts [256]int
	for _, c := range s {
		counts[c]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// longest returns the length of the longest match of an expression, in bytes, -1 if
// there is none.
func longest(re *syntax.Regexp) int {
	const widest = 4 // bytes of a character
	switch re.Op {
	case syntax.OpLiteral:
		return widest * len(re.Rune)
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 && re.Rune[n-1] < 0x80 {
			return 1
		}
		return widest
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return widest
	case syntax.OpStar, syntax.OpPlus:
		return -1
	case syntax.OpCapture, syntax.OpQuest:
		return longest(re.Sub[0])
	case syntax.OpRepeat:
		one := longest(re.Sub[0])
		if re.Max < 0 || one < 0 {
			return -1
		}
		return re.Max * one
	case syntax.OpConcat, syntax.OpAlternate:
		most := 0
		for _, sub := range re.Sub {
			n := longest(sub)
			switch {
			case n < 0:
				return -1
			case re.Op == syntax.OpConcat:
				most += n
			default:
				most = max(most, n)
			}
		}
		return most
	}
	return 0
}
