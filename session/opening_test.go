package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// says is a message of a role with text.
func says(id, role, text string) string {
	return fmt.Sprintf(`{"role":%q,"content":%s,"id":%q}`, role, rawjson.Compact(text), id)
}

func TestOpening(t *testing.T) {
	for _, c := range []struct {
		name     string
		metadata string
		messages []string
		want     string
	}{
		{"nothing", "", nil, ""},
		{"the first of a user", "", []string{says("a", "system", "s"), says("b", "user", "  How wet\tis \u0007too wet?\nSay."), says("c", "user", "x")}, "How wet is too wet?"},
		{"of no user", "", []string{says("a", "assistant", "Hello.")}, ""},
		{"one without words", "", []string{says("a", "user", " \n "), says("b", "user", "\n\nB.")}, "B."},
		{"a context", "", []string{`{"role":"user","category":"CONTEXT","content":"c","id":"a"}`, says("b", "user", "B.")}, "B."},
		{"parts", "", []string{`{"id":"a","role":"user","content":[{"type":"text","text":"Part."}]}`}, "Part."},
		{"long", "", []string{says("a", "user", strings.Repeat("é", 100))}, strings.Repeat("é", 79) + "…"},
		{"as long as can be", "", []string{says("a", "user", strings.Repeat("é", 80))}, strings.Repeat("é", 80)},
		{"a continuation", `"continued_from":["p"]`, []string{says("a", "user", "A.")}, ""},
		{"a snapshot", `"continued_from":["p"],"flattened_snapshot":true`, []string{says("a", "user", "A.")}, "A."},
	} {
		s := decode(t, "s", file(c.metadata, c.messages...))
		if got := s.Summary().Opening; got == nil || *got != c.want {
			t.Errorf("%s: the opening is %v, want %q", c.name, got, c.want)
		}
		edit := decode(t, "s", file(c.metadata, c.messages...)).Edit()
		edit.Append([]byte(says("more", "user", "More.")))
		want := c.want
		if want == "" && !strings.Contains(c.metadata, "continued_from") {
			want = "More."
		}
		if got := *decode(t, "s", edit.Edited()).Summary().Opening; got != want {
			t.Errorf("%s, and more: the opening is %q, want %q", c.name, got, want)
		}
	}
}

func TestSetting(t *testing.T) {
	for metadata, want := range map[string]session.Setting{
		``:                               {},
		`"directory":"/d","modelID":"m"`: {Directory: "/d", Model: "m"},
		`"directory":7,"bough":{"sources":[{"format":"codex","directory":"/s","git_branch":"main","model":"gpt"},{"format":"x","model":"y"}]},"modelID":"m"`: {Tool: "codex", Directory: "/s", GitBranch: "main", Model: "gpt"},
		`"bough":{"sources":[]}`:  {},
		`"bough":{"sources":"x"}`: {},
	} {
		if got := decode(t, "s", file(metadata)).Summary().Setting; got != want {
			t.Errorf("with %s the setting is %+v, want %+v", metadata, got, want)
		}
	}
}
