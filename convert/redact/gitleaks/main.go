// Gitleaks writes the rules of gitleaks for package redact, from the version that its
// go.mod names:
//
//	go run . > ../rules.json
//
// It is a module of its own because gitleaks links sixty modules, and does at start what
// the command has no time for. Its test holds that the rules are those, and that package
// redact finds with them what gitleaks finds.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

const module = "github.com/zricethezav/gitleaks/v8"

// left says which rules are left out, and why.
func left(r *config.Rule) bool {
	switch {
	case r.Regex == nil:
		return true // it looks at the names of files only
	case r.RuleID == "hashicorp-tf-password":
		return true // it is for Terraform's files: elsewhere it takes any short word for a password
	}
	return len(r.RequiredRules) > 0 || r.SkipReport
}

// A file is what package redact reads.
type file struct {
	Source  string  `json:"source"`
	Licence string  `json:"licence"`
	Allowed []allow `json:"allowed"` // by all rules
	Rules   []rule  `json:"rules"`
}

type rule struct {
	ID       string   `json:"id"`
	Regexp   string   `json:"regexp"`
	Group    int      `json:"group,omitempty"`
	Entropy  float64  `json:"entropy,omitempty"`
	Keywords []string `json:"keywords"`
	Allowed  []allow  `json:"allowed,omitempty"`
}

type allow struct {
	In      string   `json:"in,omitempty"` // match or line; the secret if it is empty
	Regexps []string `json:"regexps,omitempty"`
	Words   []string `json:"words,omitempty"`
}

func main() {
	data, err := rules()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gitleaks:", err)
		os.Exit(1)
	}
	os.Stdout.Write(data)
}

// rules returns the rules as JSON.
func rules() ([]byte, error) {
	c, err := defaults()
	if err != nil {
		return nil, err
	}
	source, licence, err := origin()
	if err != nil {
		return nil, err
	}
	f := file{Source: source, Licence: licence, Allowed: allowed(c.Allowlists)}
	for _, r := range c.Rules {
		if left(&r) {
			continue
		}
		f.Rules = append(f.Rules, rule{r.RuleID, r.Regex.String(), r.SecretGroup, r.Entropy, lower(r.Keywords), allowed(r.Allowlists)})
	}
	slices.SortFunc(f.Rules, func(a, b rule) int { return strings.Compare(a.ID, b.ID) })
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err = enc.Encode(f)
	return []byte(b.String()), err
}

// defaults returns the configuration that gitleaks has without one.
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

// allowed returns what of lists does not speak of files and commits.
func allowed(lists []*config.Allowlist) []allow {
	var all []allow
	for _, l := range lists {
		if l.MatchCondition == config.AllowlistMatchAnd && len(l.Paths)+len(l.Commits) > 0 {
			continue
		}
		a := allow{In: l.RegexTarget, Words: lower(l.StopWords)}
		for _, r := range l.Regexes {
			a.Regexps = append(a.Regexps, r.String())
		}
		if len(a.Regexps)+len(a.Words) > 0 {
			all = append(all, a)
		}
	}
	return all
}

func lower(words []string) []string {
	var list []string
	for _, w := range words {
		list = append(list, strings.ToLower(w))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// origin returns the version of gitleaks and the text of its licence.
func origin() (source, licence string, err error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", module).Output()
	if err != nil {
		return "", "", fmt.Errorf("go list: %w", err)
	}
	version, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	text, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	return module + " " + version, string(text), err
}
