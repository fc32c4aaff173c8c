package main

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/redact"
	"github.com/lucasjones/reggen"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/report"
)

// TestRedact holds that every finding of gitleaks is removed, for every rule, in texts that
// are generated from its expression.
func TestRedact(t *testing.T) {
	gitleaks, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	r := redact.New()
	folded := strings.NewReplacer("\u017f", "s", "\u212a", "k") // (?i) matches them, but they do not occur in practice
	found := 0
	for id, rule := range gitleaks.Config.Rules {
		if rule.Regex == nil || id == "hashicorp-tf-password" || len(rule.RequiredRules) > 0 || rule.SkipReport {
			continue // package redact excludes it
		}
		g, err := reggen.NewGenerator(rule.Regex.String())
		if err != nil {
			continue // it supports only some syntax
		}
		some := false
		for seed := range int64(20) {
			g.SetSeed(seed)
			text := "It says:\n" + folded.Replace(strings.ToValidUTF8(g.Generate(60), "?")) + "\nand no more."
			redacted, _ := r.Text(text)
			for _, f := range gitleaks.DetectString(text) {
				if f.RuleID != id || other(text, f) {
					continue
				}
				some = true
				if strings.Contains(redacted, f.Secret) {
					t.Errorf("%s finds %q in %q; the result is %q", id, f.Secret, text, redacted)
				}
			}
		}
		if some {
			found++
		}
	}
	if found < 120 {
		t.Errorf("gitleaks found something for %d rules only", found)
	}
}

// other reports whether package redact scans the text differently on purpose.
func other(text string, f report.Finding) bool {
	switch f.RuleID {
	case "generic-api-key": // it excludes ids and names
		return true
	case "private-key": // package redact requires a key between the marks, and tests its own rule
		return true
	case "jwt", "jwt-base64": // a backslash is an escape, and a token that ends with a point has no signature
		return strings.Contains(text, `\`) || strings.HasSuffix(f.Secret, ".")
	case "nytimes-access-token", "mailchimp-api-key": // names have no punctuation
		return strings.ContainsAny(text, "%,")
	}
	return false
}
