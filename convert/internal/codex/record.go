package codex

import (
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A record is a record of any version.
type record struct {
	kind    string // session_meta, response_item, event_msg, ...
	payload gjson.Result
	time    time.Time
	again   bool // bough wrote it a second time: see [tree.Linear]
}

// againMember is the member of a record that bough wrote a second time.
const againMember = "again"

func parseRecord(raw []byte) record {
	v := gjson.ParseBytes(raw)
	r := record{v.Get("type").Str, v.Get("payload"), times.Parse(v.Get("timestamp").Str), v.Get(againMember).Bool()}
	switch {
	case r.payload.IsObject():
	case r.kind != "":
		r.kind, r.payload = "response_item", v
	case v.Get("record_type").Exists():
		r.kind, r.payload = "state", v
	case v.Get("id").Exists():
		r.kind, r.payload = "session_meta", v
	}
	return r
}

// opens reports whether a record belongs to the message after it, not to the one before.
func (r *record) opens() bool {
	switch r.kind {
	case "turn_context", "world_state", "response_item", "compacted", "inter_agent_communication":
		return true
	case "event_msg":
		switch r.payload.Get("type").Str {
		case "task_started", "turn_started", "thread_settings_applied", "thread_rolled_back", "user_message",
			"agent_reasoning", "agent_reasoning_raw_content":
			return true
		case "item_completed", "item_started":
			switch r.payload.Get("item.type").Str {
			case "UserMessage", "Reasoning":
				return true
			}
		}
	}
	return false
}

// rolledBack returns how many turns a record discards, 0 for none.
func (r *record) rolledBack() int {
	if r.kind != "event_msg" || r.payload.Get("type").Str != "thread_rolled_back" {
		return 0
	}
	return int(min(r.payload.Get("num_turns").Uint(), 1<<30))
}

// injected reports whether the program added a message for the model by itself.
func (r *record) injected() bool {
	switch r.payload.Get("role").Str {
	case "user":
	case "assistant":
		return false
	default:
		return true
	}
	if r.payload.Get("internal_chat_message_metadata_passthrough.content_item_metadata.0.provenance.type").Str == "harness" {
		return true
	}
	text := strings.TrimSpace(r.payload.Get("content.0.text").Str)
	for _, start := range []string{
		"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<user_shell_command>",
		"<skill>", "<subagent_notification>", "<model_switch>", "<permissions instructions>",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// twin returns the message in an event for the user, nil if there is none. The model
// gets the same message in a separate record.
func (r *record) twin() *transcript.Message {
	if r.kind != "event_msg" {
		return nil
	}
	m := &transcript.Message{}
	text := r.payload.Get("message").Str
	switch kind := r.payload.Get("type").Str; kind {
	case "user_message":
		m.Role = "user"
	case "agent_message":
		m.Role = "assistant"
	case "item_completed":
		item := r.payload.Get("item")
		switch item.Get("type").Str {
		case "UserMessage":
			m.Role = "user"
		case "AgentMessage":
			m.Role = "assistant"
		default:
			return nil
		}
		text = ""
		item.Get("content").ForEach(func(_, part gjson.Result) bool {
			text += part.Get("text").Str
			return true
		})
	default:
		return nil
	}
	if text == "" {
		return nil
	}
	m.Parts = []content.Part{content.Text(text)}
	return m
}

// says returns the message of a record, nil if it has none, and the key for its
// id: the content without fields that differ in a copy.
func (r *record) says() (*transcript.Message, []byte) {
	p := r.payload
	switch r.kind {
	case "compacted":
		m := &transcript.Message{Kind: transcript.Compaction}
		m.Role, m.Parts = "user", []content.Part{}
		if text := p.Get("message").Str; text != "" {
			m.Parts = append(m.Parts, content.Text(text))
		}
		return m, keyOf(p, "compacted", "message")
	case "response_item":
	default:
		return nil, nil
	}
	kind := p.Get("type").Str
	m := &transcript.Message{}
	call := content.Call{ID: p.Get("call_id").Str, Name: p.Get("name").Str}
	switch kind {
	case "message":
		if r.injected() {
			return nil, nil
		}
		m.Role = p.Get("role").Str
		m.Parts = partsOf(p.Get("content"))
		return m, keyOf(p, kind, "role", "content")
	case "function_call", "custom_tool_call", "local_shell_call":
		m.Role = "assistant"
		switch kind {
		case "function_call":
			call.Arguments = p.Get("arguments").Str
		case "custom_tool_call":
			call.Arguments = string(rawjson.Compact(map[string]string{"input": p.Get("input").Str}))
		default:
			call.Name, call.Arguments = "local_shell", p.Get("action").Raw
			if call.ID == "" {
				call.ID = p.Get("id").Str
			}
		}
		if call.Name == "" {
			return nil, nil
		}
		m.Parts = []content.Part{content.ToolCall(call)}
		return m, keyOf(p, kind, "name", "arguments", "input", "action", "call_id")
	case "function_call_output", "custom_tool_call_output":
		m.Role = "user"
		out := p.Get("output")
		if text := out.Get("content"); out.IsObject() && text.Exists() {
			call.Failed = out.Get("success").Type == gjson.False
			out = text
		}
		var more []content.Part
		text := out.String()
		if out.IsArray() {
			text = ""
			for _, part := range partsOf(out) {
				if part.Type == content.TypeText {
					text += part.Text
				} else {
					more = append(more, part)
				}
			}
		}
		m.Parts = append([]content.Part{content.ToolResult(call, text)}, more...)
		return m, keyOf(p, kind, "call_id", "output")
	}
	return nil, nil
}

// keyOf returns an object of some members of a payload.
func keyOf(p gjson.Result, kind string, names ...string) []byte {
	b := append([]byte(`{"type":`), rawjson.Compact(kind)...)
	for _, name := range names {
		if v := p.Get(name); v.Exists() {
			b = append(append(append(append(b, `,"`...), name...), `":`...), v.Raw...)
		}
	}
	return append(b, '}')
}

func partsOf(said gjson.Result) []content.Part {
	list := []content.Part{}
	if said.Type == gjson.String {
		return append(list, content.Text(said.Str))
	}
	said.ForEach(func(_, v gjson.Result) bool {
		text, image := v.Get("text"), v.Get("image_url")
		switch {
		case text.Type == gjson.String:
			if text.Str != "" {
				list = append(list, content.Text(text.Str))
			}
		case v.Get("refusal").Type == gjson.String:
			list = append(list, content.Text(v.Get("refusal").Str))
		case image.Type == gjson.String:
			list = append(list, content.ImageURL(image.Str))
		default:
			list = append(list, parts.Other(v))
		}
		return true
	})
	return list
}
