package content

import (
	"strings"

	"github.com/bough-dev/bough/internal/rawjson"
)

// Texts returns what m says, to be read or searched: the text of its parts, what it
// thinks and what tools answered too, the names and arguments of tool calls, the names of
// files, and the texts of those that are texts. Arguments that are JSON have their strings as they are read.
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
			add(text(resultText(&writer{}, member(p.meta("raw"), "content")))) // of a result that names no call
		}
		add(p.Filename)
		if p.Type == TypeFile && string(p.meta("type")) == `"text"` {
			add(text(p.meta("data")))
		}
	}
	return list
}

// readable returns JSON with its strings unescaped, which is no JSON any more, and any
// other text as it is.
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

// A ToolUse is a call of a tool that a message makes, or the result of one.
type ToolUse struct {
	Call   string // the id of the call, "" if nobody knows
	Name   string // of the tool; of a result it may be known only from the call
	Result bool
}

// ToolUses returns the tool calls that m makes and those that it answers.
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

// Saying returns the parts of a message of a session file that [Read] makes a message
// of, raw their bytes: what is not in them it does not say.
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
