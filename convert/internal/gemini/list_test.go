package gemini

import (
	"testing"

	"github.com/tidwall/gjson"
)

// TestGeminiContext: context for the model is not a message, and the user's next text is
// one.
func TestGeminiContext(t *testing.T) {
	for said, want := range map[string]bool{
		`"<session_context>x</session_context>"`:                                  true,
		`[{"text":"<session_context>x"}]`:                                         true,
		`[{"text":" <hook_context>x</hook_context>\n"}]`:                          true,
		`[{"text":"<session_context>x</session_context>"},{"text":"Hello"}]`:      false,
		`[{"text":"<hook_context>x</hook_context>"},{"inlineData":{"data":"A"}}]`: false,
		`[{"text":"<hook_context>x</hook_context>"},"Hello"]`:                     false,
		`[{"text":"Why <session_context>?"}]`:                                     false,
		`"Hello"`:                                                                 false,
	} {
		if got := isContext(gjson.Parse(`{"type":"user","content":` + said + `}`)); got != want {
			t.Errorf("%s is context: %v", said, got)
		}
	}
}
