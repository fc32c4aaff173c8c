package redact

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// gitleaks is the part of gitleaks' configuration that is used here.
type gitleaks struct {
	Allowlist  *allowlist // the older form of Allowlists
	Allowlists []allowlist
	Rules      []gitleaksRule
}

type gitleaksRule struct {
	ID          string
	Regex       string
	SecretGroup int
	Entropy     float64
	Keywords    []string
	SkipReport  bool
	Required    []any
	Allowlists  []allowlist
}

type allowlist struct {
	Condition   string
	Paths       []string
	Commits     []string
	RegexTarget string
	Regexes     []string
	StopWords   []string
}

// load returns the rules of gitleaks, by id, and the global allow lists. It decodes the
// configuration itself, because gitleaks would compile two hundred expressions. Its
// package detect is not used either: it takes three times as long, reports lines and
// columns instead of offsets, and includes quotation marks in secrets.
func load() ([]*rule, []*allow) {
	var c gitleaks
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &c); err != nil {
		panic("redact: " + err.Error())
	}
	if c.Allowlist != nil {
		c.Allowlists = append(c.Allowlists, *c.Allowlist)
	}
	var rules []*rule
	for _, g := range c.Rules {
		if !g.applies() {
			continue
		}
		r := &rule{ID: g.ID, Regexp: g.Regex, Group: g.SecretGroup, Entropy: g.Entropy, Keywords: lowered(g.Keywords), Allowed: allowed(g.Allowlists)}
		switch r.ID {
		case "generic-api-key":
			r.byName, r.noName = true, true
		case privateKey:
			r.check = isKeyBlock
		case "vault-service-token": // s. and letters
			r.noName = true
		case "freemius-secret-key", "kubernetes-secret-yaml": // any characters, and {{templates}}
			r.exact = true
		}
		rules = append(rules, r)
	}
	slices.SortFunc(rules, func(a, b *rule) int { return strings.Compare(a.ID, b.ID) })
	return rules, allowed(c.Allowlists)
}

// applies reports whether a rule applies to text.
func (g *gitleaksRule) applies() bool {
	switch {
	case g.Regex == "":
		return false // it only checks names of files
	case g.ID == "hashicorp-tf-password":
		return false // it is for Terraform's files; elsewhere it would find any short word
	}
	return len(g.Required) == 0 && !g.SkipReport
}

// allowed returns the lists that are not about files and commits.
func allowed(lists []allowlist) []*allow {
	var all []*allow
	for _, l := range lists {
		and := strings.EqualFold(l.Condition, "and") || l.Condition == "&&"
		if and && len(l.Paths)+len(l.Commits) > 0 || len(l.Regexes)+len(l.StopWords) == 0 {
			continue
		}
		a := &allow{Regexps: l.Regexes, Words: lowered(l.StopWords)}
		if l.RegexTarget != "secret" {
			a.In = l.RegexTarget
		}
		all = append(all, a)
	}
	return all
}

func lowered(words []string) []string {
	var list []string
	for _, w := range words {
		list = append(list, strings.ToLower(w))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
