package testmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var anthropic = form{
	path:    "/v1/messages",
	allowed: anthropicAllowed,
	fail: func(status int, kind, message string) any {
		if kind == "" {
			kind = map[int]string{401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
				429: "rate_limit_error", 500: "api_error", 503: "api_error", 529: "overloaded_error"}[status]
		}
		if kind == "" {
			kind = "invalid_request_error"
		}
		return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_1"}
	},
	reply: anthropicReply,
	plain: func(r Reply, model string) any {
		blocks := []object{}
		if s := strings.Join(r.Text, ""); s != "" {
			blocks = append(blocks, object{"type": "text", "text": s, "citations": nil})
		}
		for _, c := range r.Calls {
			input := strings.Join(c.Arguments, "")
			if input == "" {
				input = "{}"
			}
			blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(input)})
		}
		m := anthropicMessage(model)
		m["content"], m["stop_reason"] = blocks, anthropicStop(r)
		return m
	},
}

func anthropicMessage(model string) object {
	return object{"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []object{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 1}}
}

func anthropicStop(r Reply) string {
	switch {
	case r.Stop != "":
		return r.Stop
	case r.Refuse != "":
		return "refusal"
	case len(r.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func anthropicReply(w *stream, r Reply, model string) {
	event := func(name string, o object) {
		o["type"] = name
		w.event(name, o)
	}
	event("message_start", object{"message": anthropicMessage(model)})
	index := 0
	block := func(o object, deltas []object) {
		event("content_block_start", object{"index": index, "content_block": o})
		event("ping", object{})
		for _, d := range deltas {
			event("content_block_delta", object{"index": index, "delta": d})
		}
		index++
	}
	stop := func() { event("content_block_stop", object{"index": index - 1}) }
	if len(r.Text) > 0 {
		var deltas []object
		for _, s := range r.Text {
			deltas = append(deltas, object{"type": "text_delta", "text": s})
		}
		block(object{"type": "text", "text": ""}, deltas)
		if r.End == Whole || len(r.Calls) > 0 {
			stop()
		}
	}
	for _, c := range r.Calls {
		var deltas []object
		for _, s := range append([]string{""}, c.Arguments...) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": s})
		}
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, deltas)
		stop()
	}
	if r.Error != "" {
		kind := r.Kind
		if kind == "" {
			kind = "overloaded_error"
		}
		event("error", object{"error": object{"type": kind, "message": r.Error}})
		return
	}
	if r.End != Whole {
		return
	}
	event("message_delta", object{"delta": object{"stop_reason": anthropicStop(r), "stop_sequence": nil}, "usage": object{"output_tokens": 5}})
	event("message_stop", object{})
}

// anthropicNames are the members of a request.
var anthropicNames = []string{"model", "messages", "max_tokens", "stream", "system", "tools", "tool_choice", "metadata",
	"stop_sequences", "temperature", "top_k", "top_p", "thinking", "service_tier"}

var (
	callID       = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	longToolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// anthropicAllowed returns why a request is invalid, or nil.
func anthropicAllowed(s *Server, r *Request, body map[string]json.RawMessage) *problem {
	if s.Key != "" && r.Header.Get("X-Api-Key") != s.Key {
		return &problem{http.StatusUnauthorized, "authentication_error", "invalid x-api-key"}
	}
	if r.Header.Get("Anthropic-Version") == "" {
		return invalid("anthropic-version: header is required")
	}
	for name := range body {
		if !slices.Contains(anthropicNames, name) {
			return invalid("%s: Extra inputs are not permitted", name)
		}
	}
	model, ok := text(body["model"])
	if !ok || model == "" {
		return invalid("model: Field required")
	}
	if s.Model != "" && s.Model != model {
		return &problem{http.StatusNotFound, "not_found_error", "model: " + model}
	}
	var most int
	if json.Unmarshal(body["max_tokens"], &most) != nil || most < 1 {
		return invalid("max_tokens: Field required")
	}
	if raw, given := body["system"]; given {
		if p := anthropicSystem(raw); p != nil {
			return p
		}
	}
	tools, given := body["tools"]
	if given {
		if p := anthropicTools(tools); p != nil {
			return p
		}
	}
	list, _ := array(body["messages"])
	if len(list) == 0 {
		return invalid("messages: at least one message is required")
	}
	turns, p := anthropicTurns(list)
	if p != nil {
		return p
	}
	if turns[0].role != "user" {
		return invalid("messages: first message must use the \"user\" role")
	}
	if last := turns[len(turns)-1]; last.role == "assistant" {
		if s := last.text; s != strings.TrimRight(s, " \t\r\n") {
			return invalid("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return anthropicPairs(turns, given)
}

func anthropicSystem(raw json.RawMessage) *problem {
	if s, ok := text(raw); ok {
		if strings.TrimSpace(s) == "" {
			return invalid("system: text content blocks must contain non-whitespace text")
		}
		return nil
	}
	list, ok := array(raw)
	if !ok {
		return invalid("system: Input should be a valid string or list")
	}
	for i, raw := range list {
		b, p := members(fmt.Sprintf("system.%d", i), raw, "type", "text", "cache_control", "citations")
		if p != nil {
			return p
		}
		if s, _ := text(b["text"]); strings.TrimSpace(s) == "" {
			return invalid("system: text content blocks must be non-empty")
		}
	}
	return nil
}

func anthropicTools(raw json.RawMessage) *problem {
	list, ok := array(raw)
	if !ok {
		return invalid("tools: Input should be a valid list")
	}
	seen := map[string]bool{}
	for i, raw := range list {
		tool, p := members(fmt.Sprintf("tools.%d", i), raw, "name", "description", "input_schema", "cache_control", "type")
		if p != nil {
			return p
		}
		name, _ := text(tool["name"])
		switch {
		case !longToolName.MatchString(name):
			return invalid("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		case seen[name]:
			return invalid("tools: Tool names must be unique.")
		case !isSchema(tool["input_schema"]):
			return invalid("tools.%d.custom.input_schema.type: Field required", i)
		}
		seen[name] = true
	}
	return nil
}

// A turn is a sequence of adjacent messages of one role.
type turn struct {
	role    string
	calls   []string // ids
	results []string
	other   bool   // it has a block that is not a result
	late    bool   // a result follows such a block
	text    string // of the last block, "" if that is not a text
}

// anthropicTurns validates messages, and joins those of one role.
func anthropicTurns(list []json.RawMessage) ([]*turn, *problem) {
	var turns []*turn
	for i, raw := range list {
		m, p := members(fmt.Sprintf("messages.%d", i), raw, "role", "content")
		if p != nil {
			return nil, p
		}
		role, _ := text(m["role"])
		if role != "user" && role != "assistant" {
			return nil, invalid("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		if len(turns) == 0 || turns[len(turns)-1].role != role {
			turns = append(turns, &turn{role: role})
		}
		t := turns[len(turns)-1]
		if s, ok := text(m["content"]); ok {
			if strings.TrimSpace(s) == "" {
				return nil, invalid("messages.%d: user messages must have non-empty content", i)
			}
			t.text, t.other = s, true
			continue
		}
		blocks, _ := array(m["content"])
		if len(blocks) == 0 {
			return nil, invalid("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for j, raw := range blocks {
			if p := t.block(fmt.Sprintf("messages.%d.content.%d", i, j), raw); p != nil {
				return nil, p
			}
		}
	}
	return turns, nil
}

// block validates a block of a turn.
func (t *turn) block(at string, raw json.RawMessage) *problem {
	b, p := members(at, raw, "type", "text", "id", "name", "input", "tool_use_id", "content", "is_error", "source", "title", "context",
		"cache_control", "citations", "thinking", "signature", "data")
	if p != nil {
		return p
	}
	kind, _ := text(b["type"])
	t.text = ""
	switch {
	case kind == "text":
		s, _ := text(b["text"])
		if s == "" {
			return invalid("messages: text content blocks must be non-empty")
		}
		if strings.TrimSpace(s) == "" {
			return invalid("messages: text content blocks must contain non-whitespace text")
		}
		t.text = s
	case kind == "tool_use" && t.role == "assistant":
		id, _ := text(b["id"])
		name, _ := text(b["name"])
		var input map[string]json.RawMessage
		switch {
		case !callID.MatchString(id):
			return invalid("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
		case !longToolName.MatchString(name):
			return invalid("%s.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", at)
		case json.Unmarshal(b["input"], &input) != nil || input == nil:
			return invalid("%s.tool_use.input: Input should be a valid dictionary", at)
		}
		t.calls = append(t.calls, id)
	case kind == "tool_result" && t.role == "user":
		id, _ := text(b["tool_use_id"])
		if p := resultContent(at, b["content"]); p != nil {
			return p
		}
		t.results = append(t.results, id)
		t.late = t.late || t.other
		return nil
	case (kind == "image" || kind == "document") && t.role == "user":
		if b["source"] == nil {
			return invalid("%s.%s.source: Field required", at, kind)
		}
	case kind == "thinking" && t.role == "assistant":
		if s, ok := text(b["signature"]); !ok || s == "" {
			return invalid("%s.thinking.signature: Field required", at)
		}
	case kind == "redacted_thinking" && t.role == "assistant":
	default:
		return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags", at, kind)
	}
	t.other = true
	return nil
}

func resultContent(at string, raw json.RawMessage) *problem {
	if raw == nil {
		return nil
	}
	if _, ok := text(raw); ok {
		return nil
	}
	list, ok := array(raw)
	if !ok {
		return invalid("%s.tool_result.content: Input should be a valid string or list", at)
	}
	for _, raw := range list {
		var b struct{ Type, Text string }
		if json.Unmarshal(raw, &b) != nil || b.Type == "text" && strings.TrimSpace(b.Text) == "" {
			return invalid("messages: text content blocks must be non-empty")
		}
	}
	return nil
}

// anthropicPairs returns an error if a call has no result.
func anthropicPairs(turns []*turn, tools bool) *problem {
	seen := map[string]bool{}
	var before *turn
	for i, t := range turns {
		var calls []string
		if before != nil {
			calls = before.calls
		}
		var missing, done []string
		for _, id := range t.results {
			if !slices.Contains(calls, id) {
				return invalid("messages.%d.content: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, id)
			}
			if slices.Contains(done, id) {
				return invalid("messages.%d.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", i, id)
			}
			done = append(done, id)
		}
		for _, id := range calls {
			if !slices.Contains(done, id) {
				missing = append(missing, id)
			}
		}
		if len(missing) > 0 || t.late {
			return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1, strings.Join(missing, ", "))
		}
		for _, id := range t.calls {
			if seen[id] {
				return invalid("messages.%d: `tool_use` ids must be unique", i)
			}
			seen[id] = true
		}
		if len(t.calls) > 0 && !tools {
			return invalid("Requests which include `tool_use` or `tool_result` blocks must define tools")
		}
		before = t
	}
	if len(before.calls) > 0 {
		return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", len(turns)-1, strings.Join(before.calls, ", "))
	}
	return nil
}
