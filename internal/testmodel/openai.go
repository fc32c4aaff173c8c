package testmodel

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var openAI = form{
	path:    "/v1/chat/completions",
	allowed: openAIAllowed,
	fail: func(status int, kind, message string) any {
		e := object{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
		if status >= 500 {
			e["type"] = "server_error"
		}
		if kind != "" && kind != "invalid_request_error" {
			e["code"] = kind
		}
		return object{"error": e}
	},
	reply: openAIReply,
	plain: func(r Reply, model string) any {
		message := object{"role": "assistant", "content": strings.Join(r.Text, ""), "refusal": nil}
		if r.Refuse != "" {
			message["refusal"] = r.Refuse
		}
		var calls []object
		for _, c := range r.Calls {
			calls = append(calls, object{"id": c.ID, "type": "function",
				"function": object{"name": c.Name, "arguments": strings.Join(c.Arguments, "")}})
		}
		if calls != nil {
			message["tool_calls"] = calls
		}
		return object{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
			"choices": []object{{"index": 0, "message": message, "logprobs": nil, "finish_reason": openAIStop(r)}}}
	},
}

func openAIStop(r Reply) string {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func openAIReply(w *stream, r Reply, model string) {
	chunk := func(delta object, stop any) {
		w.event("", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "system_fingerprint": "fp_1",
			"choices": []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": stop}}})
	}
	chunk(object{"role": "assistant", "content": "", "refusal": nil}, nil)
	for i, s := range r.Text {
		if r.Before != nil {
			r.Before(i)
		}
		chunk(object{"content": s}, nil)
	}
	if r.Refuse != "" {
		chunk(object{"refusal": r.Refuse}, nil)
	}
	for i, c := range r.Calls {
		first := object{"index": i, "type": "function", "function": object{"name": c.Name, "arguments": ""}}
		if c.ID != "" {
			first["id"] = c.ID
		}
		chunk(object{"tool_calls": []object{first}}, nil)
		for _, s := range c.Arguments {
			chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": s}}}}, nil)
		}
	}
	if r.Error != "" {
		w.event("", object{"error": object{"message": r.Error, "type": "server_error", "param": nil, "code": nil}})
		return
	}
	if r.End != Whole {
		return
	}
	chunk(object{}, openAIStop(r))
	w.raw("data: [DONE]\n\n")
}

// openAINames are the members of a request.
var openAINames = []string{"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
	"max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "seed", "user", "metadata", "store", "n"}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// openAIAllowed returns why a request is invalid, or nil.
func openAIAllowed(s *Server, r *Request, body map[string]json.RawMessage) *problem {
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		said := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		return &problem{http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: " + said + "."}
	}
	for name := range body {
		if !slices.Contains(openAINames, name) {
			return invalid("Unrecognized request argument supplied: %s", name)
		}
	}
	model, ok := text(body["model"])
	if !ok || model == "" {
		return invalid("you must provide a model parameter")
	}
	if s.Model != "" && s.Model != model {
		return &problem{http.StatusNotFound, "model_not_found", "The model `" + model + "` does not exist or you do not have access to it."}
	}
	if raw, ok := body["tools"]; ok {
		if p := openAITools(raw); p != nil {
			return p
		}
	}
	list, ok := array(body["messages"])
	if !ok || len(list) == 0 {
		return invalid("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	var open []string // calls of the last assistant message without a result
	var answered []string
	for i, raw := range list {
		m, p := members("messages", raw, "role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call")
		if p != nil {
			return p
		}
		role, _ := text(m["role"])
		if role != "tool" && len(open) > 0 {
			return invalid("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
		}
		if name, given := m["name"]; given {
			if s, ok := text(name); !ok || !regexp.MustCompile(`^[^\s<|\\/>]+$`).MatchString(s) {
				return invalid("Invalid 'messages[%d].name': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.", i)
			}
		}
		_, calls := m["tool_calls"]
		id, isResult := text(m["tool_call_id"])
		if calls && role != "assistant" || isResult && role != "tool" {
			return invalid("messages[%d]: tool_calls and tool_call_id are not for the role %s", i, role)
		}
		if p := openAIContent(i, role, m["content"], calls); p != nil {
			return p
		}
		switch role {
		case "system", "developer", "user":
		case "assistant":
			if open, p = openAICalls(i, m["tool_calls"], calls); p != nil {
				return p
			}
			answered = nil
		case "tool":
			at := slices.Index(open, id)
			if at < 0 || !isResult || slices.Contains(answered, id) {
				return invalid("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			open = slices.Delete(open, at, at+1)
			answered = append(answered, id)
		default:
			return invalid("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role)
		}
	}
	if len(open) > 0 {
		return invalid("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
	}
	return nil
}

func openAITools(raw json.RawMessage) *problem {
	list, ok := array(raw)
	if !ok || len(list) == 0 {
		return invalid("Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	seen := map[string]bool{}
	for i, raw := range list {
		tool, p := members("tools", raw, "type", "function")
		if p != nil {
			return p
		}
		f, p := members("tools.function", tool["function"], "name", "description", "parameters", "strict")
		if p != nil {
			return p
		}
		name, _ := text(f["name"])
		if kind, _ := text(tool["type"]); kind != "function" || !toolName.MatchString(name) || seen[name] {
			return invalid("Invalid 'tools[%d].function.name': %q", i, name)
		}
		seen[name] = true
		if schema, given := f["parameters"]; given {
			var m struct{ Properties map[string]json.RawMessage }
			json.Unmarshal(schema, &m)
			if !isSchema(schema) || m.Properties == nil {
				return invalid("Invalid schema for function '%s': In context=(), object schema missing properties.", name)
			}
		}
	}
	return nil
}

// openAIParts are the types of parts that are allowed for a role.
var openAIParts = map[string][]string{
	"system": {"text"}, "developer": {"text"}, "tool": {"text"}, "assistant": {"text", "refusal"},
	"user": {"text", "image_url", "input_audio", "file"},
}

func openAIContent(i int, role string, raw json.RawMessage, calls bool) *problem {
	if _, ok := text(raw); ok {
		return nil
	}
	if raw == nil || string(raw) == "null" {
		if role == "assistant" && calls {
			return nil
		}
		return invalid("Invalid value for 'content': expected a string, got null. (messages[%d])", i)
	}
	list, ok := array(raw)
	if !ok || len(list) == 0 {
		return invalid("Invalid 'messages[%d].content': empty array.", i)
	}
	for _, raw := range list {
		p, problem := members("messages.content", raw, "type", "text", "image_url", "input_audio", "file", "refusal")
		if problem != nil {
			return problem
		}
		kind, _ := text(p["type"])
		if !slices.Contains(openAIParts[role], kind) || p[kind] == nil {
			return invalid("Invalid value: '%s'. (messages[%d].content)", kind, i)
		}
		if kind == "image_url" {
			var at struct{ URL string }
			json.Unmarshal(p[kind], &at)
			if !strings.HasPrefix(at.URL, "http") && !strings.HasPrefix(at.URL, "data:image/") {
				return invalid("Invalid 'messages[%d].content': Expected a valid URL", i)
			}
		}
	}
	return nil
}

// openAICalls returns the ids of the calls of a message.
func openAICalls(i int, raw json.RawMessage, given bool) (ids []string, p *problem) {
	if !given {
		return nil, nil
	}
	list, ok := array(raw)
	if !ok || len(list) == 0 {
		return nil, invalid("Invalid 'messages[%d].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", i)
	}
	for _, raw := range list {
		c, p := members("tool_calls", raw, "id", "type", "function")
		if p != nil {
			return nil, p
		}
		f, p := members("tool_calls.function", c["function"], "name", "arguments")
		if p != nil {
			return nil, p
		}
		id, _ := text(c["id"])
		kind, _ := text(c["type"])
		name, _ := text(f["name"])
		arguments, isText := text(f["arguments"])
		switch {
		case id == "" || len(id) > 40 || slices.Contains(ids, id):
			return nil, invalid("Invalid 'messages[%d].tool_calls[].id': %q", i, id)
		case kind != "function" || !toolName.MatchString(name):
			return nil, invalid("Invalid 'messages[%d].tool_calls[].function.name': %q", i, name)
		case !isText || !json.Valid([]byte(arguments)): // servers other than OpenAI's parse them
			return nil, invalid("Invalid 'messages[%d].tool_calls[].function.arguments'", i)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
