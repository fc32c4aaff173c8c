package recognize

import (
	"strings"

	"github.com/bough-dev/bough/internal/likeness"
)

// enumerated returns what a sentence names after words as "three approaches:", between
// either and or, or asks about.
func enumerated(s string) group {
	g := group{rule: "sentence"}
	head, tail, ok := cutAny(s, ": ", " — ", " – ", " namely ", " such as ")
	if weight, announced := heard(head); ok && weight >= 0.25 {
		parts := enumeration(tail)
		for _, p := range parts {
			if len(strings.Fields(p)) > 14 {
				return g
			}
			g.named = append(g.named, named(p))
		}
		g.score = start + weight
		if announced == len(parts) {
			g.score += counted
		} else if announced > 0 {
			g.score -= counted
		}
		return g
	}
	lower := strings.ToLower(s)
	if i := strings.Index(" "+lower, " either "); i >= 0 && len(lower) == len(s) {
		rest := s[i+len("either "):]
		subject := likeness.Normal(s[:i])
		if one, other, ok := strings.Cut(rest, " or "); ok && (strings.HasSuffix(subject, "could") || strings.HasSuffix(subject, "can") || strings.HasSuffix(subject, "should")) {
			g.named = []Strategy{named(one), named(other)}
			g.score = start + 0.4
			return g
		}
	}
	if rest, ok := cutPrefixes(s, "should we", "should i", "shall we", "shall i", "would you prefer", "do you prefer", "do you want", "would you like", "do you want me to", "would you like me to"); ok && strings.HasSuffix(s, "?") {
		if parts := enumeration(rest); strings.Contains(rest, " or ") && len(strings.Fields(rest)) < 30 {
			for _, p := range parts {
				if name := named(p); likeness.Normal(p) != "not" {
					g.named = append(g.named, name)
				}
			}
			g.score = start + 0.35
		}
	}
	return g
}

// enumeration returns the parts of "a, b, and c", without the marks before them.
func enumeration(s string) []string {
	separator := ","
	if strings.Contains(s, ";") {
		separator = ";"
	}
	var parts []string
	add := func(p string) {
		p = strings.TrimSpace(p)
		p, _ = cutPrefixes(p, "and", "or")
		p = unmark(strings.Trim(p, " .?!"))
		if p != "" {
			parts = append(parts, p)
		}
	}
	split := strings.Split(s, separator)
	for i, p := range split {
		last := i == len(split)-1 && separator == ","
		if one, other, ok := cutAny(p, " or ", " and "); ok && last && !startsWith(p, "and", "or") {
			add(one)
			add(other)
			continue
		}
		add(p)
	}
	return parts
}
