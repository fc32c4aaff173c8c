// Package redact detects and removes secrets in conversations: keys and tokens of
// services, passwords, private keys.
//
// # What is found
//
// Most rules are the two hundred of gitleaks' package config, with the semantics of
// gitleaks: a rule is tried near one of its keywords, its regular expression must match,
// the secret must exceed its entropy, and no allow list may match. Gitleaks reads source
// code. In conversations secrets also occur at the end of a sentence, in brackets, or in
// text that was quoted as JSON, once or several times: the rules see such punctuation as
// blanks. Further rules cover secrets that gitleaks finds by file names only, or not at
// all; see own.go and places.go.
//
// Text encoded once in base64 is searched too, and removed as a whole if it contains a
// secret. In JSON, related strings are combined: the lines of a private key, the words of
// a command, a name and its value.
//
// A replacement names the rule: [redacted: aws-access-token]. Text from which secrets
// were taken holds none any more.
//
// # What is left
//
// Ids of messages and calls, UUIDs, hashes, and long base64 data are not secrets, even
// after a word like key. Redact does not detect secrets that look like words, or secrets
// in pieces, except private keys: it helps to review a conversation before sharing it,
// and does not replace the review.
package redact

import (
	"cmp"
	"slices"
)

// A Redactor finds secrets. Several goroutines may use one.
type Redactor struct {
	rules    []*rule
	allowed  []*allow // by all rules
	keywords keywords
	dotted   int   // the rule that is tried at dots
	key      *rule // of private keys
}

// A Finding is a removed secret, without its text.
type Finding struct {
	Rule string // the name of the rule that found it, as the replacement has it
	At   int    // where the replacement begins in the redacted text, in bytes
	More bool   // it is a part of the same secret as the finding before
}

// A span is the position of a secret: text[start:end].
type span struct {
	start, end int
	rule       *rule
	more       bool // it is a part of the secret before
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
		// A found secret may hide another: an expression does not find two
		// secrets that share the text between them.
		t.take(more)
	}
}

// shortest is how long a secret is, in bytes.
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
