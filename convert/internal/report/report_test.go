package report

import (
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/parts"
)

// TestLossesOfParts: the loss of any part is described, and its text replaces it.
func TestLossesOfParts(t *testing.T) {
	failed := content.Call{ID: "c", Name: "look", Failed: true}
	for _, test := range []struct {
		part       content.Part
		what, text string
	}{
		{content.ToolCall(content.Call{ID: "c", Name: "look", Arguments: `{"n":1}`}), "tool calls, converted to text", `[called look] {"n":1}`},
		{content.ToolResult(content.Call{ID: "c", Name: "look"}, "A"), "tool results, converted to text", "[the tool said] A"},
		{content.ToolResult(failed, "A"), "tool results, converted to text", "[the tool failed] A"},
		{content.Thinking("Hm.", ""), "thinking, converted to text", "Hm."},
		{content.Part{Type: content.TypeRedacted, Meta: []byte(`{"data":"x"}`)}, "hidden thinking", ""},
		{content.Part{Type: content.TypeData, Text: "seen"}, "data of other programs", "seen"},
		{content.Image("image/png", "aGk="), "images", "[image]"},
		{content.ImageURL("https://example.org/a.png"), "images", "[image https://example.org/a.png]"},
		{content.Part{Type: content.TypeAudio, Filename: "a.mp3"}, "audio", "[audio a.mp3]"},
		{content.Part{Type: content.TypeVideo}, "videos", "[video]"},
		{content.Part{Type: content.TypeFile, Filename: "a.txt"}, "files", "[file a.txt]"},
	} {
		var lost Report
		lost.Part(&test.part)
		if got := lost.Losses[0].What; got != test.what {
			t.Errorf("%s: lost %q, want %q", test.part.Type, got, test.what)
		}
		if got := parts.Text(&test.part); got != test.text {
			t.Errorf("%s: text %q, want %q", test.part.Type, got, test.text)
		}
	}
}
