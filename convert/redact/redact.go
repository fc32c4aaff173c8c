// Package redact detects and removes secrets in conversations: keys and tokens
// of services, passwords, private keys.
//
// # Detection
//
// Most rules are the two hundred of gitleaks' package config, with the
// semantics of gitleaks: a rule is tried near one of its keywords, its regular
// expression must match, the secret must exceed its entropy, and no allow list
// may match. Gitleaks reads source code. In conversations secrets also occur at
// the end of a sentence, in brackets, or in text that was quoted as JSON, once
// or several times, so the rules treat such punctuation as blanks. Further
// rules cover secrets that gitleaks finds only by file names, or not at all;
// see own.go and places.go.
//
// Text that is encoded in base64 once is searched too, and removed as a whole
// if it contains a secret. In JSON, related strings are combined: the lines of
// a private key, the words of a command, a name and its value.
//
// A replacement names the rule: [redacted: aws-access-token]. Searching the
// redacted text again finds nothing.
//
// # Limits
//
// Ids of messages and calls, UUIDs, hashes, and long base64 data are not
// secrets, even after a word like key. The package does not detect secrets that
// look like words, or secrets in pieces, except private keys: it helps to
// review a conversation before sharing it, and does not replace the review.
package redact

import (
	"cmp"
	"slices"
)

// A Redactor finds secrets. It is safe for concurrent use.
type Redactor struct {
	rules    []*rule
	allowed  []*allow // for all rules
	keywords keywords
	dotted   int   // index of the rule that is tried at dots
	key      *rule // for private keys
}

// A Finding is a removed secret, without its text.
type Finding struct {
	Rule string // name of the rule that found it, also in the replacement
	At   int    // offset of the replacement in the redacted text, in bytes
	More bool   // part of the same secret as the previous finding
}

// A span is the position of a secret: text[start:end].
type span struct {
	start, end int
	rule       *rule
	more       bool // part of the previous secret
}

// New returns a Redactor. It compiles a rule's expressions when the rule is first needed.
func New() *Redactor {
	rules, allowed := load()
	r := &Redactor{rules: append(rules, ownRules()...), allowed: allowed}
	for i, one := range r.rules {
		switch {
		case one.byDots:
			r.dotted = i
		case one.ID == privateKey:
			r.key = one
		}
		for _, word := range one.Keywords {
			r.keywords.add(word, i)
		}
	}
	return r
}

// Text returns s with its secrets replaced, and the findings, in order.
func (r *Redactor) Text(s string) (string, []Finding) {
	spans := r.find([]byte(s))
	if len(spans) == 0 {
		return s, nil
	}
	b, found := replace([]byte(s), spans)
	return string(b), found
}

// Bytes replaces the secrets in a text or, if isJSON is true, in the strings of a JSON
// document, and returns the rule of each secret.
func (r *Redactor) Bytes(text []byte, isJSON bool) (clean []byte, rules []string, err error) {
	var found []Finding
	if isJSON {
		clean, found, err = r.JSON(text)
	} else {
		var s string
		s, found = r.Text(string(text))
		clean = []byte(s)
	}
	for _, f := range found {
		if !f.More {
			rules = append(rules, f.Rule)
		}
	}
	return clean, rules, err
}

// replace returns s with spans replaced, and the findings.
func replace(s []byte, spans []span) ([]byte, []Finding) {
	var b []byte
	var found []Finding
	at := 0
	for _, x := range spans {
		b = append(b, s[at:x.start]...)
		found = append(found, Finding{x.rule.ID, len(b), x.more})
		b = append(b, x.rule.replacement()...)
		at = x.end
	}
	return append(b, s[at:]...), found
}

// replacement is the prefix of replacements.
const replacement = "[redacted: "

func (r *rule) replacement() string { return replacement + r.ID + "]" }

// find returns the spans of secrets in s, in order, without adjacent ones.
func (r *Redactor) find(s []byte) []span {
	if len(s) < shortest {
		return nil
	}
	spans := r.findPlain(s)
	if more := r.inEscaped(s); len(more) > 0 {
		spans = join(append(spans, more...))
	}
	return spans
}

// findPlain is find for a text without escapes.
func (r *Redactor) findPlain(s []byte) []span {
	t := &text{s: s}
	t.soften()
	all := r.inEncoded(t)
	t.take(all)
	return join(append(all, r.searchAll(t)...))
}

// searchAll returns the spans of secrets in t, except those in base64.
func (r *Redactor) searchAll(t *text) (all []span) {
	for {
		more := r.search(t)
		if len(more) == 0 {
			return all
		}
		all = join(append(all, more...))
		// A found secret may hide another, because an expression does not find two
		// secrets that share the text between them.
		t.take(more)
	}
}

// shortest is the minimum length of a secret in bytes.
const shortest = 6

// search returns the spans of secrets in t.
func (r *Redactor) search(t *text) []span {
	var spans []span
	hits := r.keywords.find(t.plain)
	for _, at := range t.dots {
		hits = append(hits, hit{r.dotted, at})
	}
	for len(hits) > 0 {
		rule, n := hits[0].rule, 1
		for n < len(hits) && hits[n].rule == rule {
			n++
		}
		spans = r.rules[rule].search(spans, t, hits[:n], r.allowed)
		hits = hits[n:]
	}
	return spans
}

// join sorts spans and merges overlapping ones. The narrowest rule names the result.
func join(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	if len(spans) == 0 {
		return nil
	}
	joined := spans[:1]
	for _, x := range spans[1:] {
		last := &joined[len(joined)-1]
		if x.start >= last.end {
			joined = append(joined, x)
			continue
		}
		last.end = max(last.end, x.end)
		if last.rule.byName && !x.rule.byName {
			last.rule = x.rule
		}
	}
	return joined
}
