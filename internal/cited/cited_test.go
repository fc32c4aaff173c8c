package cited_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/cited"
)

// TestRefs: a citation is a REF in brackets, and nothing else is.
func TestRefs(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		"By train [a@b].":                {"a@b"},
		"[a@b][a@c] [a@b]":               {"a@b", "a@c"},
		"[a@b, a@c]":                     {"a@b", "a@c"},
		"[a@b, note]":                    nil,
		"[x] [1] [a link](mailto:a@b)":   nil,
		"[a@b](https://example.com)":     nil,
		"[write to a@b] [a@] [@b] [ ] [": nil,
		"[[a@b]]":                        {"a@b"},
	} {
		if got := cited.Refs(text); !slices.Equal(got, want) {
			t.Errorf("%q cites %q, want %q", text, got, want)
		}
	}
}

// TestCheck: an answer must cite, and only what was given.
func TestCheck(t *testing.T) {
	list := []cited.Message{{Ref: "a@b"}, {Ref: "a@c"}}
	if refs, err := cited.Check("So [a@c], [a@b].", list); err != nil || !slices.Equal(refs, []string{"a@c", "a@b"}) {
		t.Errorf("a good answer cites %q, %v", refs, err)
	}
	for text, unknown := range map[string][]string{"So.": nil, "So [a@b], [a@d].": {"a@d"}} {
		_, err := cited.Check(text, list)
		if wrong, ok := errors.AsType[*cited.Error](err); !ok || !slices.Equal(wrong.Unknown, unknown) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRefs(f *testing.F) {
	f.Add("So [a@b, c@d] and [e@f](g) [[h@i]]")
	f.Fuzz(func(t *testing.T, text string) {
		for _, ref := range cited.Refs(text) {
			if again := cited.Refs("[" + ref + "]"); !slices.Equal(again, []string{ref}) {
				t.Errorf("%q in %q alone is read as %q", ref, text, again)
			}
		}
	})
}
