package antigravity

import (
	"encoding/json"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// messageOf returns the message of a step without its id, nil if it has none. A result is of the first of pending. The
// late end of a running step has neither calls nor a result.
func messageOf(v gjson.Result, pending []content.Call, late bool) *transcript.Message {
	m := &transcript.Message{Time: times.Of(v.Get("created_at")), Format: format}
	m.Role = "user"
	text, failure := member.String(v.Get("content")), member.String(v.Get("error"))
	kind := v.Get("type").Str
	switch kind {
	case prompt:
		text, _ = typed(text)
	case answer:
		if thought := member.String(v.Get("thinking")); thought != "" {
			m.Parts = append(m.Parts, content.Thinking(thought, ""))
		}
		var calls []content.Part
		if !late {
			calls = callsOf(v)
		}
		if len(m.Parts) == 0 && text == "" && len(calls) == 0 {
			m.Own.Role, text = "system", failure
			break
		}
		m.Role = "assistant"
		if text != "" {
			m.Parts = append(m.Parts, content.Text(text))
		}
		m.Parts = append(m.Parts, calls...)
		return m
	case "CHECKPOINT":
		m.Kind = transcript.Compaction
	default:
		if text == "" || failure == "" {
			text += failure
		} else if text != failure {
			text += "\n" + failure
		}
		if len(pending) > 0 && !late && isResult(kind, v.Get("source").Str) {
			c := content.Call{ID: pending[0].ID, Name: pending[0].Name, Failed: v.Get("status").Str == "ERROR"}
			m.Parts = append(m.Parts, content.ToolResult(c, text))
			return m
		}
		m.Own.Role = "system"
	}
	switch {
	case text != "":
		m.Parts = append(m.Parts, content.Text(text))
	case kind != prompt:
		return nil
	}
	return m
}

// isResult reports whether a step of a type that has no other meaning can be the result of a tool.
func isResult(kind, source string) bool {
	switch kind {
	case "SYSTEM_MESSAGE", "ERROR_MESSAGE":
		return false
	case "TOOL_RESPONSE":
		return true
	}
	return source == "MODEL"
}

// typed returns what the user typed of a prompt, and the context after it, which is for the model.
func typed(text string) (said, context string) {
	const begin, end = "<USER_REQUEST>", "</USER_REQUEST>"
	said, found := strings.CutPrefix(strings.TrimSpace(text), begin)
	for at := 0; found; {
		n := strings.Index(said[at:], end)
		if n < 0 {
			break
		}
		at += n
		context = said[at+len(end):]
		if context == "" || strings.HasPrefix(context, "\n<") { // else the user typed it
			return strings.TrimSuffix(strings.TrimPrefix(said[:at], "\n"), "\n"), context
		}
		at += len(end)
	}
	return text, ""
}

// callsOf returns the calls of an answer, without ids.
func callsOf(v gjson.Result) (parts []content.Part) {
	calls := v.Get("tool_calls")
	if !calls.IsArray() {
		return nil
	}
	for _, call := range calls.Array() {
		if call.IsObject() {
			parts = append(parts, content.ToolCall(content.Call{Name: member.String(call.Get("name")), Arguments: arguments(call.Get("args"))}))
		}
	}
	return parts
}

// arguments returns the arguments of a call. If each of them is a string with JSON, and one of these a JSON string, that
// JSON is the value: a plain text may be a number too.
func arguments(args gjson.Result) string {
	if !args.Exists() {
		return "{}"
	}
	if !args.IsObject() {
		return args.Raw
	}
	var members []string
	all, quoted := true, false
	args.ForEach(func(name, value gjson.Result) bool {
		text := member.String(value)
		if all = value.Type == gjson.String && json.Valid([]byte(text)); all {
			quoted = quoted || gjson.Parse(text).Type == gjson.String
			members = append(members, name.Raw+":"+member.Compact(text))
		}
		return all
	})
	if !all || !quoted {
		return args.Raw
	}
	return "{" + strings.Join(members, ",") + "}"
}
