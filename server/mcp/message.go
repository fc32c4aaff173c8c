package mcp

import (
	"fmt"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// A shownMessage is a message of a conversation as a model reads it.
type shownMessage struct {
	Index   int        `json:"index" jsonschema:"position on the path, from 0"`
	ID      string     `json:"message_id"`
	Ref     string     `json:"ref,omitempty" jsonschema:"the shortest ref to it"`
	Role    string     `json:"role"`
	Time    *time.Time `json:"created_at" jsonschema:"null if the file has no time"`
	Text    string     `json:"text" jsonschema:"with tool calls and their results, each after an arrow"`
	Offset  int        `json:"offset,omitempty" jsonschema:"bytes of its text that earlier pages have"`
	Omitted int        `json:"omitted_bytes,omitempty" jsonschema:"bytes of its text that this answer omits"`
}

// A renderer turns messages into text.
type renderer struct {
	thinking bool // includes what the model thought
	whole    bool // does not shorten tool calls and results
}

// texts returns the texts of messages by their index, and only those from one
// index to before another one. Tool results get the name of their tool from the
// messages shortly before them.
func (r renderer) texts(messages []session.Message, from, to int) []string {
	const before = 100
	list := make([]string, len(messages))
	start, end := max(0, from-before), min(to, len(messages))
	if start >= end {
		return list
	}
	said := make([]*content.Message, end-start)
	for i := range said {
		said[i] = content.Read(messages[start+i].Raw)
	}
	content.Follow(said, said)
	for i := from; i < end; i++ {
		var parts []string
		for k := range said[i-start].Parts {
			if text := r.part(&said[i-start].Parts[k]); text != "" {
				parts = append(parts, text)
			}
		}
		list[i] = strings.Join(parts, "\n")
	}
	return list
}

// part returns the text of a part of a message, "" for none.
func (r renderer) part(p *content.Part) string {
	text := strings.TrimRight(printable.Clean(p.Text), " \t\n")
	call := p.Call()
	switch p.Type {
	case content.TypeText:
		return text
	case content.TypeThinking, content.TypeRedacted:
		if !r.thinking || text == "" {
			return ""
		}
		return "(thinking) " + text
	case content.TypeToolCall:
		return "→ " + toolName(call.Name) + " " + r.short(printable.Clean(call.Arguments))
	case content.TypeToolResult:
		if call.Failed {
			text = "(failed) " + text
		}
		return "← " + toolName(call.Name) + " " + r.short(text)
	}
	label := p.Type
	if kind := gjson.GetBytes(p.Meta, "data_type"); p.Type == content.TypeData && kind.Type == gjson.String {
		label = kind.Str
	}
	return strings.TrimSpace("[" + oneLine(label+" "+p.Filename, 200) + "] " + r.short(text))
}

// short cuts the text of a tool call or its result.
func (r renderer) short(s string) string {
	if r.whole {
		return s
	}
	return shortText(s, maxPart)
}

func toolName(name string) string {
	if name = oneLine(name, 100); name == "" {
		return "tool"
	}
	return name
}

// shown returns a message with its text, cut to a number of bytes.
func shown(index int, m session.Message, ref, text string, most int) shownMessage {
	s := shownMessage{Index: index, ID: m.ID, Ref: ref, Role: shortText(m.Role(), maxName)}
	if at, ok := m.Time(); ok {
		s.Time = &at
	}
	s.Text, s.Omitted = cutText(text, most)
	return s
}

// String formats the message as text for a model.
func (s *shownMessage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] %s", s.Index, oneLine(s.Role, 40))
	if s.Time != nil {
		b.WriteString(" · " + s.Time.UTC().Format("2006-01-02 15:04"))
	}
	name := s.Ref
	if name == "" {
		name = s.ID
	}
	b.WriteString(" · " + name + "\n")
	if s.Offset > 0 {
		fmt.Fprintf(&b, "(continued from byte %d)\n", s.Offset)
	}
	if s.Text == "" {
		b.WriteString("(no text)")
	}
	b.WriteString(quoteHeads(s.Text))
	if s.Omitted > 0 {
		fmt.Fprintf(&b, "\n(%d more bytes; show_conversation with {\"ref\": %q, \"only\": true} returns the whole message)", s.Omitted, name)
	}
	b.WriteString("\n")
	return b.String()
}

// quoteHeads indents the lines of a text that begin as the first line of a message
// does, so that no message can pretend to contain others.
func quoteHeads(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if isHead(line) {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// isHead reports whether a line begins with a number in brackets and a space.
func isHead(line string) bool {
	rest, bracket := strings.CutPrefix(line, "[")
	after := strings.TrimLeft(rest, "0123456789")
	return bracket && len(after) < len(rest) && strings.HasPrefix(after, "] ")
}

// size returns how many bytes the message takes in the JSON of an answer.
func (s *shownMessage) size() int { return len(rawjson.Answer(s)) }
