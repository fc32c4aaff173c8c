package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestShellWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		words []string
		quote byte
		start int
	}{
		{"", []string{""}, 0, 0},
		{"bough sh", []string{"bough", "sh"}, 0, 6},
		{"bough show ", []string{"bough", "show", ""}, 0, 11},
		{`bough show "Plan th`, []string{"bough", "show", "Plan th"}, '"', 11},
		{`bough show 'it is`, []string{"bough", "show", "it is"}, '\'', 11},
		{`bough show Plan\ th`, []string{"bough", "show", "Plan th"}, 0, 11},
		{`bough show "a\$b\c`, []string{"bough", "show", `a$b\c`}, '"', 11},
		{`a "" b`, []string{"a", "", "b"}, 0, 5},
		{`a b\`, []string{"a", "b"}, 0, 2},
	} {
		words, quote, start := shellWords(c.text)
		if !slices.Equal(words, c.words) || quote != c.quote || start != c.start {
			t.Errorf("%s: %q, %q, %d", c.text, words, quote, start)
		}
	}
}

// FuzzQuote: bash parses an inserted word as the original word and expands nothing, in any
// kind of quotes.
func FuzzQuote(f *testing.F) {
	for _, s := range hostileWords {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, line := range []string{"x " + quoteWord(s), `x "` + quoteIn(s, '"') + `"`, "x '" + quoteIn(s, '\'') + "'"} {
			if words, quote, _ := shellWords(line); s != "" && (len(words) != 2 || words[1] != s || quote != 0) {
				t.Errorf("bash parses %q as %s as %q", s, line, words)
			}
		}
	})
}

var hostileWords = []string{
	"Plan the trip", "$(touch hit)", "`touch hit`", "a;touch hit", "*", "?[a]{b,c}", "~", "~root", "it's", `a"b\c`,
	"a!b", "#x", "x&y|z", "<in >out", "$HOME", "漢字 ~x", "(a)", "a=b",
}

// TestQuoteInBash: bash itself reads each inserted word as the word, and runs nothing.
func TestQuoteInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing")
	}
	for _, s := range hostileWords {
		typed := quoteWord(s) + ` "` + quoteIn(s, '"') + `" '` + quoteIn(s, '\'') + "'"
		cmd := exec.Command(bash, "-c", "printf '%s\\n' "+typed)
		cmd.Dir = t.TempDir()
		if out, err := cmd.Output(); err != nil || string(out) != strings.Repeat(s+"\n", 3) {
			t.Errorf("%q typed as %s: %q, %v", s, typed, out, err)
		}
		if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s left %s, %v", typed, left, err)
		}
	}
}
