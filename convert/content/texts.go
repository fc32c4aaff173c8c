package content

import (
	"strings"

	"github.com/bough-dev/bough/internal/rawjson"
)

// Texts returns the readable texts of m, for display or search: the text of its
// parts, including thoughts and tool results, the names and arguments of tool
// calls, the names of files, and the content of text files. The strings of
// arguments that are JSON are unescaped.
func (m *Message) Texts() (list []string) {
	add := func(s string) {
		if s != "" {
			list = append(list, s)
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type == TypeToolCall {
			c := p.tool()
			add(c.name + "(" + readable(c.arguments) + ")")
		}
		add(p.Text)
		if p.Type == TypeData && p.Text == "" {
			add(text(resultText(&writer{}, member(p.meta("raw"), "content")))) // of a result without a call id
		}
		add(p.Filename)
		if p.Type == TypeFile && string(p.meta("type")) == `"text"` {
			add(text(p.meta("data")))
		}
	}
	return list
}

// readable returns JSON with its strings unescaped, which is not valid JSON any
// more, and any other text unchanged.
func readable(s string) string {
	if !strings.Contains(s, `\`) || rawjson.Check([]byte(s)) != nil {
		return s
	}
	var b strings.Builder
	for {
		quote := strings.IndexByte(s, '"')
		if quote < 0 {
			return b.String() + s
		}
		end := quote + 1
		for s[end] != '"' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		b.WriteString(s[:quote+1])
		b.WriteString(text([]byte(s[quote : end+1])))
		b.WriteByte('"')
		s = s[end+1:]
	}
}

// A ToolUse is a tool call of a message, or a tool result in it.
type ToolUse struct {
	Call   string // the id of the call, "" if unknown
	Name   string // of the tool; for a result it may be known only from the call
	Result bool
}

// ToolUses returns the tool calls and tool results of m.
func (m *Message) ToolUses() (list []ToolUse) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type == TypeToolCall || p.Type == TypeToolResult {
			t := p.tool()
			list = append(list, ToolUse{t.id, t.name, p.Type == TypeToolResult})
		}
	}
	return list
}

// OnlyTools reports whether m has tool calls or tool results and says nothing else; thoughts
// do not count.
func (m *Message) OnlyTools() bool {
	tools := false
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Type == TypeToolCall, p.Type == TypeToolResult:
			tools = true
		case p.Type == TypeThinking, p.Type == TypeRedacted, p.Type == TypeText && strings.TrimSpace(p.Text) == "":
		default:
			return false
		}
	}
	return tools
}

// Saying returns the raw values of a message of a session file from which [Read]
// takes the message: all texts are in them.
func Saying(raw []byte) (list [][]byte) {
	each(raw, func(name, value []byte) {
		switch string(name) {
		case "content", "tool_calls":
			list = append(list, value)
		case "metadata":
			each(value, func(name, value []byte) {
				if string(name) == "tool_calls" {
					list = append(list, value)
				}
			})
		}
	})
	return list
}
