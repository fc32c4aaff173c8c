// Package spoken describes a message in a list of messages: in a few words, and whether a
// person or a tool is speaking.
package spoken

import (
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/session"
)

// Words returns the first words of a message, on one line. Of a message without text these
// are its first tool call or result, "" if it has none.
func Words(m session.Message) string {
	if words := m.FirstWords(); words != "" {
		return words
	}
	for _, text := range content.Read(m.Raw).Texts() {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				return cut(line)
			}
		}
	}
	return ""
}

// cut returns at most 80 characters of s.
func cut(s string) string {
	const most = 80
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}

// ByPerson reports whether a person wrote a message. Some programs store results of tools as
// messages of the user.
func ByPerson(m session.Message) bool { return m.Role() == "user" && !content.Read(m.Raw).OnlyTools() }

// ByTool reports whether a message is a result of a tool, or has tool calls and no text.
func ByTool(m session.Message) bool { return m.Role() == "tool" || content.Read(m.Raw).OnlyTools() }
