package convert

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// isTyped reports whether a message with parts is one of the AI SDK or of OpenTelemetry,
// whose parts have types; those of Gemini have none, and its messages no ids.
func isTyped(message gjson.Result) bool {
	return message.Get("id").Exists() || message.Get("parts.0.type").Exists()
}

// isQwen reports whether a record is one of Qwen Code, whose chats are linked as those of
// Claude Code, and say what Gemini's say.
func isQwen(record []byte) bool {
	v := gjson.GetManyBytes(record, "uuid", "sessionId", "message.parts", "systemPayload", "type")
	return v[0].Type == gjson.String && v[1].Type == gjson.String && (v[2].IsArray() || v[3].Exists() || v[4].Str == "tool_result")
}

// isQwenTorn is isQwen for a first record that is longer than the head of the file.
func isQwenTorn(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 1<<10)], []byte(`"parts":[`))
}
