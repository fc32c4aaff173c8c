package session_test

import (
	"errors"
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

// TestDocumentOpening: the opening of a document is that of its outline.
func TestDocumentOpening(t *testing.T) {
	f := files{
		"p": string(file("", says("a", "assistant", "Hello."), says("b", "user", "How wet?"), says("c", "user", "More."))),
		"q": string(file("", says("d", "assistant", "None."))),
	}
	p, q := f.outline(t, "p"), f.outline(t, "q")
	made := session.Run{Make: func() ([]byte, error) { return []byte(says("e", "user", "Made.")), nil }}
	for _, runs := range [][]session.Run{
		nil,
		{{Part: p, To: 1}},
		{{Part: p, To: 3}},
		{{Part: p, From: 2, To: 3}},
		{{Part: q, To: 1}, {Part: p, To: 2}},
		{{Part: q, To: 1}, made, {Part: p, To: 2}},
		{{Part: q, To: 1}, {Raw: []byte(says("f", "assistant", "Raw."))}, {Raw: []byte(says("g", "user", "Words."))}},
	} {
		d := &session.Document{ID: "d", Messages: runs}
		want := ""
		if words := d.Outline().Summary().Opening; words != nil {
			want = *words
		}
		if got, err := d.Opening(); err != nil || got != want {
			t.Errorf("the opening of %v is %q, %v, want %q", runs, got, err, want)
		}
	}
	broken := errors.New("broken")
	d := &session.Document{ID: "d", Messages: []session.Run{{Make: func() ([]byte, error) { return nil, broken }}}}
	if _, err := d.Opening(); !errors.Is(err, broken) {
		t.Errorf("the error is %v, want %v", err, broken)
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
