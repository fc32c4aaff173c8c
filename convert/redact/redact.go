// Package redact finds secrets in what people and programs said, and takes them out: keys
// and tokens of services, passwords, private keys.
//
// # What is found
//
// The rules are those of gitleaks, two hundred of them, as its package config has them.
// Their meaning is gitleaks': a rule is tried where one of its keywords is, its regular
// expression must match, the secret in it must look random enough, and no list of what is
// allowed may name it.
// Gitleaks reads files of source code. In conversations the same secrets stand at the end
// of a sentence, in brackets, or in text that was quoted as JSON, once or several times:
// the rules see such punctuation as blanks. A few rules more are for what gitleaks knows
// by the names of files only, or not at all; see own.go and places.go.
//
// Text that was encoded once in base64 is searched too, and taken out as a whole if it
// holds a secret. In JSON, strings tell about each other: the lines of a private key, the
// words of a command, a name and its value.
//
// A replacement names the rule: [redacted: aws-access-token]. Text from which secrets
// were taken holds none any more.
//
// # What is left
//
// Ids of messages and calls, UUIDs, hashes, and long data in base64 are no secrets, even
// if what stands before them is called a key. So is a secret that nothing distinguishes
// from a word, and one that stands in pieces, but for private keys: redaction is a help
// for who reads a conversation before giving it away, and not in place of it.
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
	dotted   int   // the rule that is tried where dots stand
	key      *rule // of private keys
}

// A Finding is a secret that was taken out. It does not hold the secret.
type Finding struct {
	Rule string // the name of the rule that found it, as the replacement has it
	At   int    // where the replacement begins in the redacted text, in bytes
	More bool   // it is a part of the same secret as the finding before
}

// A span is where a secret stands: text[start:end].
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

// Text returns s without its secrets, and what was found, in order.
func (r *Redactor) Text(s string) (string, []Finding) {
	spans := r.find([]byte(s))
	if len(spans) == 0 {
		return s, nil
	}
	b, found := replace([]byte(s), spans)
	return string(b), found
}

// replace returns s without what stands at spans, and what that was.
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

// replacement is what replacements begin with.
const replacement = "[redacted: "

func (r *rule) replacement() string { return replacement + r.ID + "]" }

// find returns where secrets stand in s, in order, none touching another.
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

// searchAll returns where secrets stand in t, but for those in base64.
func (r *Redactor) searchAll(t *text) (all []span) {
	for {
		more := r.search(t)
		if len(more) == 0 {
			return all
		}
		all = join(append(all, more...))
		// What is found stood perhaps in the way of something else: an expression
		// finds no two secrets that share what stands between them.
		t.take(more)
	}
}

// shortest is how long a secret is, in bytes.
const shortest = 6

// search returns where secrets stand in t.
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

// join puts spans into order and makes one of those that overlap. The narrowest rule
// gives it its name.
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
