package spoken_test

import (
	"testing"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
)

// TestWithText: the text parts become one, where the first of them was; every other byte stays.
func TestWithText(t *testing.T) {
	for _, c := range []struct{ name, message, text, want string }{
		{"a text", `{"id": "1", "content": "Hello", "x": 1e2}`, "Hello", `{"id": "1", "content": "Bye", "x": 1e2}`},
		{"without content", `{"id":"1"}`, "", `{"id":"1","content":"Bye"}`},
		{"null", `{"id":"1","content":null}`, "", `{"id":"1","content":"Bye"}`},
		{"parts", `{"content":[{"type": "text", "text": "One", "y": 1}, {"type":"image","url":"a.png"}, {"type":"text","text":"Two"}]}`,
			"One\n\nTwo", `{"content":[{"type": "text", "text": "Bye", "y": 1}, {"type":"image","url":"a.png"}]}`},
		{"strings as parts", `{"content":["One",{"type":"image"},"Two"]}`, "One\n\nTwo", `{"content":["Bye", {"type":"image"}]}`},
		{"only an image", `{"content":[{"type":"image"}]}`, "", `{"content":[{"type":"text","text":"Bye"}, {"type":"image"}]}`},
		{"no part", `{"content":[]}`, "", `{"content":[{"type":"text","text":"Bye"}]}`},
		{"the text of another part", `{"content":[{"type":"file","text":"No"},{"type":"text","text":"Yes"}]}`, "Yes", `{"content":[{"type":"file","text":"No"}, {"type":"text","text":"Bye"}]}`},
		{"a text that is no string", `{"content":[{"type":"text","text":5}]}`, "", `{"content":[{"type":"text","text":"Bye"}, {"type":"text","text":5}]}`},
	} {
		raw := []byte(c.message)
		if got := spoken.Text(raw); got != c.text {
			t.Errorf("%s: the text is %q, want %q", c.name, got, c.text)
		}
		got, err := spoken.WithText(raw, "Bye")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
		if again := spoken.Text(got); again != "Bye" {
			t.Errorf("%s: the text is %q afterwards", c.name, again)
		}
		if string(raw) != c.message {
			t.Errorf("%s: the message was modified", c.name)
		}
	}
	if got, err := spoken.WithText([]byte(`{"content":"a"}`), "\"\\ <\u2028\x00"); err != nil || spoken.Text(got) != "\"\\ <\u2028\x00" {
		t.Errorf("a text with special characters: %s, %v", got, err)
	}
}

func TestAsks(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"role":"user","content":"Where to?","metadata":{"kind":"user"}}`:                   true,
		`{"role":"user","content":"Where to?"}`:                                              true,
		`{"role":"user","content":"Merged x","metadata":{"kind":"merge"}}`:                   false,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}`: false,
		`{"role":"assistant","content":"Which one?"}`:                                        false,
	} {
		if got := spoken.Asks(session.Message{Raw: []byte(raw)}); got != want {
			t.Errorf("%s asks: %v", raw, got)
		}
	}
}
