package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/redact"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// TestRecall compares package redact with gitleaks' package detect on gitleaks' own
// examples, unchanged and as a string of JSON, as transcripts have them. Every finding of
// detect must be redacted, except for the exceptions in declined.
func TestRecall(t *testing.T) {
	gitleaks, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	r := redact.New()
	type figures struct{ examples, theirs, ours, theirsInJSON, oursInJSON int }
	var secrets, others figures
	perRule := map[string]*figures{}
	for _, e := range examples(t) {
		doc, err := json.Marshal(map[string]string{"content": e.Text})
		if err != nil {
			t.Fatal(err)
		}
		text, found := r.Text(e.Text)
		redacted, foundInJSON, err := r.JSON(doc)
		if err != nil {
			t.Fatal(err)
		}
		var content struct{ Content string }
		if err := json.Unmarshal(redacted, &content); err != nil {
			t.Fatalf("%q becomes %q: %v", doc, redacted, err)
		}
		theirs := gitleaks.Detect(detect.Fragment{Raw: e.Text, FilePath: e.Path})
		ours, oursInJSON := len(found) > 0, len(foundInJSON) > 0
		for _, f := range theirs {
			ours = ours && !strings.Contains(text, f.Secret)
			oursInJSON = oursInJSON && !strings.Contains(content.Content, f.Secret)
		}
		add := func(f *figures) {
			f.examples++
			f.theirs += count(len(theirs) > 0)
			f.ours += count(ours)
			f.theirsInJSON += count(len(gitleaks.DetectString(string(doc))) > 0)
			f.oursInJSON += count(oursInJSON)
		}
		if !e.Secret {
			add(&others)
			if len(found) > 0 && len(theirs) == 0 && !slices.Contains(strictly, e.Rule) {
				t.Errorf("%s: %q is not a secret, but becomes %q", e.Rule, e.Text, text)
			}
			continue
		}
		if perRule[e.Rule] == nil {
			perRule[e.Rule] = &figures{}
		}
		add(perRule[e.Rule])
		add(&secrets)
		if len(theirs) > 0 && (!ours || !oursInJSON) && !isDeclined(e) {
			t.Errorf("%s: %q becomes %q, and in JSON %q; gitleaks finds %q", e.Rule, e.Text, text, content.Content, theirs[0].Secret)
		}
	}
	for rule, f := range perRule {
		if f.ours < f.examples || f.oursInJSON < f.examples {
			t.Logf("%s: %+v", rule, *f)
		}
	}
	t.Logf("secrets of %d rules: %+v", len(perRule), secrets)
	t.Logf("no secrets: %+v", others)
	if len(perRule) < 200 || secrets.ours < secrets.examples*99/100 || secrets.oursInJSON < secrets.ours {
		t.Errorf("the recall of %d rules is %+v", len(perRule), secrets)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// strictly are the rules with examples of other texts that package redact removes
// nevertheless: keys of Anthropic of another length, a key that is assigned to token, and
// secrets of PHP and NuGet in a file of any name.
var strictly = []string{"anthropic-admin-api-key", "anthropic-api-key", "freemius-secret-key", "mailchimp-api-key", "nuget-config-password"}

var (
	uuid      = regexp.MustCompile(`"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"`)
	backslash = regexp.MustCompile(`ey\w+\.ey\S*\\`)
)

// isDeclined reports whether package redact keeps a secret that gitleaks finds.
func isDeclined(e example) bool {
	switch e.Rule {
	case "pkcs12-file": // only the name of the file says so
		return e.Text == ""
	case "hashicorp-tf-password": // any word after password, in Terraform's files
		return true
	case "generic-api-key": // a UUID is an id
		return uuid.MatchString(e.Text)
	case "jwt": // base64 has no backslash: it quotes something
		return backslash.MatchString(e.Text)
	}
	return false
}
