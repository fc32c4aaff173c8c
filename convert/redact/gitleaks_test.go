package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

// TestLoad holds that the rules are equal to those that gitleaks reads from its
// configuration.
func TestLoad(t *testing.T) {
	c, err := defaults()
	if err != nil {
		t.Fatal(err)
	}
	translated := func(lists []*config.Allowlist) []*allow {
		var all []*allow
		for _, l := range lists {
			if l.MatchCondition == config.AllowlistMatchAnd && len(l.Paths)+len(l.Commits) > 0 {
				continue
			}
			a := &allow{In: l.RegexTarget, Words: lowered(l.StopWords)}
			for _, r := range l.Regexes {
				a.Regexps = append(a.Regexps, r.String())
			}
			if len(a.Regexps)+len(a.Words) > 0 {
				all = append(all, a)
			}
		}
		return all
	}
	same := func(what string, got, want any) {
		t.Helper()
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		if string(g) != string(w) {
			t.Errorf("%s:\n%s, want\n%s", what, g, w)
		}
	}
	rules, allowed := load()
	same("all rules allow", allowed, translated(c.Allowlists))
	ids := map[string]bool{}
	for _, r := range rules {
		ids[r.ID] = true
		want := c.Rules[r.ID]
		same(r.ID, []any{r.Regexp, r.Group, r.Entropy, r.Keywords, r.Allowed},
			[]any{want.Regex.String(), want.SecretGroup, want.Entropy, lowered(want.Keywords), translated(want.Allowlists)})
	}
	for id, r := range c.Rules {
		out := r.Regex == nil || id == "hashicorp-tf-password" || len(r.RequiredRules) > 0 || r.SkipReport
		if out == ids[id] {
			t.Errorf("%s is used: %v", id, ids[id])
		}
	}
	if len(rules) < 200 || !slices.IsSortedFunc(rules, func(a, b *rule) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("there are %d rules", len(rules))
	}
}

// defaults returns the default configuration of gitleaks.
func defaults() (config.Config, error) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		return config.Config{}, err
	}
	var vc config.ViperConfig
	if err := v.Unmarshal(&vc); err != nil {
		return config.Config{}, err
	}
	return vc.Translate()
}
