package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const gitleaksModule = "github.com/zricethezav/gitleaks/v8"

// An example is a text that gitleaks' authors wrote for a rule.
type example struct {
	Rule   string
	Text   string
	Path   string // of the file, "" for any
	Secret bool   // the rule finds a secret in it
}

// Replacements for the parts of gitleaks' generator that try its examples and that make up
// secrets, to keep the examples, and the same ones each time.
const (
	recordExamples = `package utils

import "github.com/zricethezav/gitleaks/v8/config"

type Example struct {
	Rule, Text, Path string
	Secret           bool
}

var Examples []Example

func Validate(r config.Rule, secrets, others []string) *config.Rule {
	for _, text := range secrets {
		Examples = append(Examples, Example{r.RuleID, text, "", true})
	}
	for _, text := range others {
		Examples = append(Examples, Example{r.RuleID, text, "", false})
	}
	return &r
}

func ValidateWithPaths(r config.Rule, secrets, others map[string]string) *config.Rule {
	for path, text := range secrets {
		Examples = append(Examples, Example{r.RuleID, text, path, true})
	}
	for path, text := range others {
		Examples = append(Examples, Example{r.RuleID, text, path, false})
	}
	return &r
}
`
	repeatableSecrets = `package secrets

import "github.com/lucasjones/reggen"

var seed int64

func NewSecret(regex string) string {
	g, err := reggen.NewGenerator(regex)
	if err != nil {
		panic(err)
	}
	seed++
	g.SetSeed(seed)
	return g.Generate(1)
}
`
	printExamples = `package main

import (
	"encoding/json"
	"os"

	"github.com/zricethezav/gitleaks/v8/cmd/generate/config/rules"
	"github.com/zricethezav/gitleaks/v8/cmd/generate/config/utils"
)

func main() {
	%s
	if err := json.NewEncoder(os.Stdout).Encode(utils.Examples); err != nil {
		panic(err)
	}
}
`
)

// examples returns the examples of all rules of gitleaks, sorted. They are in functions of
// its generator, which is run from a copy of the module.
func examples(t *testing.T) []example {
	t.Helper()
	run := func(args ...string) []byte {
		cmd := exec.Command("go", args...)
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v", strings.Join(args, " "), err)
		}
		return out
	}
	from := strings.TrimSpace(string(run("list", "-m", "-f", "{{.Dir}}", gitleaksModule)))
	dir := t.TempDir()
	module := filepath.Join(dir, "gitleaks")
	if err := os.CopyFS(module, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	generator, err := os.ReadFile(filepath.Join(from, "cmd/generate/config/main.go"))
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`(?m)^\s*rules\.\w+\(\),$`).FindAll(generator, -1)
	if len(calls) < 200 {
		t.Fatalf("gitleaks' generator has %d rules", len(calls))
	}
	var body strings.Builder
	for _, call := range calls {
		fmt.Fprintln(&body, strings.TrimRight(string(call), ","))
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod = []byte(strings.Replace(string(mod), "=> ..\n", "=> "+here+"\nreplace "+gitleaksModule+" => "+module+"\n", 1))
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"gitleaks/cmd/generate/config/utils/validate.go": recordExamples,
		"gitleaks/cmd/generate/secrets/regen.go":         repeatableSecrets,
		"print/main.go":                                  fmt.Sprintf(printExamples, body.String()),
		"go.mod":                                         string(mod),
		"go.sum":                                         string(sum),
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var list []example
	if err := json.Unmarshal(run("run", "-modfile", filepath.Join(dir, "go.mod"), filepath.Join(dir, "print", "main.go")), &list); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b example) int {
		return strings.Compare(a.Rule+"\x00"+a.Path+"\x00"+a.Text, b.Rule+"\x00"+b.Path+"\x00"+b.Text)
	})
	return list
}
