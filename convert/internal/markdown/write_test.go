package markdown

import "testing"

// TestMarkdownClosed: an open fence is closed with the fence that opened it, because any
// other one would open a new one.
func TestMarkdownClosed(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"```\na\n", "```\na\n```"},
		{"- a\n  ```go\n  b", "- a\n  ```go\n  b\n  ```"},
		{"As in\n\n    ~~~~\n    b", "As in\n\n    ~~~~\n    b\n    ~~~~"},
		{"- a\n  ```\n  b\n  ```\n~~~\nc", "- a\n  ```\n  b\n  ```\n~~~\nc\n~~~"},
		{"```\na\n````\n", "```\na\n````"},
	} {
		if got := closed(c.in); got != c.want {
			t.Errorf("closed(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
