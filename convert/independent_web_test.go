package convert

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// rawMembers returns the members of an object in their order, the first of each name.
func rawMembers(raw json.RawMessage) (names []string, values map[string]json.RawMessage) {
	values = map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, values
	}
	for d.More() {
		key, err := d.Token()
		var v json.RawMessage
		if err != nil || d.Decode(&v) != nil {
			break
		}
		name, _ := key.(string)
		if values[name] == nil {
			names = append(names, name)
			values[name] = v
		}
	}
	return names, values
}

// rawConversations returns the objects of a document that is an object or an array of
// objects.
func rawConversations(data []byte) (list []json.RawMessage, ok bool) {
	if !json.Valid(data) {
		return nil, false
	}
	if json.Unmarshal(data, &list) == nil {
		return list, true
	}
	return []json.RawMessage{data}, true
}

// rawChatGPT: a message is a node of the mapping with a message of the user, a system, the
// model or a tool that has a text, an asset or a file. Hidden ones of the user, a system or
// a tool, recaps and contexts are none. Its parent is the nearest message above it. Texts
// are those of parts; citation marks and fenced code are derived.
func rawChatGPT(data []byte) *rawCount {
	c := newRawCount()
	c.derived = func(s string) bool { return strings.HasPrefix(s, "```") }
	list, ok := rawConversations(data)
	if c.torn = !ok; c.torn {
		return c
	}
	for _, raw := range list {
		_, conversation := rawMembers(raw)
		keys, mapping := rawMembers(conversation["mapping"])
		var nodes []rawNode
		for _, key := range keys {
			var v map[string]any
			if json.Unmarshal(mapping[key], &v) != nil {
				continue
			}
			n := rawNode{id: key, parent: rawString(v, "parent")}
			role, kind := rawString(v, "message", "author", "role"), rawString(v, "message", "content", "content_type")
			hidden := rawGet(v, "message", "metadata", "is_visually_hidden_from_conversation") == true
			says := len(rawList(v, "message", "metadata", "attachments")) > 0
			var texts []string
			for _, p := range rawList(v, "message", "content", "parts") {
				if s, ok := p.(string); ok {
					texts = append(texts, s)
				} else {
					texts = append(texts, rawString(p, "text"))
					says = says || rawString(p, "asset_pointer") != ""
				}
			}
			says = says || strings.Join(texts, "") != "" || rawString(v, "message", "content", "text") != "" ||
				rawString(v, "message", "content", "result") != "" || len(rawList(v, "message", "content", "thoughts")) > 0
			switch role {
			case "user", "system", "tool":
				says = says && !hidden
			case "assistant":
			default:
				says = false
			}
			if says && kind != "reasoning_recap" && kind != "user_editable_context" && kind != "model_editable_context" {
				n.messages = 1
				to := rawString(v, "message", "recipient")
				if role != "tool" && (to == "" || to == "all") && kind != "code" && kind != "thoughts" {
					c.says(texts...)
				}
			}
			nodes = append(nodes, n)
		}
		c.tree(nodes)
	}
	return c
}

// rawClaudeAI: a message of the service becomes one message for each change of the speaker:
// a text, a thought or a call is the sender's, a result is the user's, and an attachment is
// the sender's again. Its member text counts if it has no text block. Its parent is
// parent_message_uuid or, without that, the message before it. Two equal messages count
// once.
func rawClaudeAI(data []byte) *rawCount {
	c := newRawCount()
	list, ok := rawConversations(data)
	if c.torn = !ok; c.torn {
		return c
	}
	for _, raw := range list {
		_, conversation := rawMembers(raw)
		var items []json.RawMessage
		_ = json.Unmarshal(conversation["chat_messages"], &items)
		var nodes []rawNode
		seen := map[string]bool{}
		last := ""
		for i, item := range items {
			var v map[string]any
			if json.Unmarshal(item, &v) != nil || seen[string(item)] {
				continue
			}
			seen[string(item)] = true
			n := rawNode{id: rawString(v, "uuid"), parent: last}
			if n.id == "" || slices.ContainsFunc(nodes, func(o rawNode) bool { return o.id == n.id }) {
				n.id += strings.Repeat("-", i+1)
			}
			if parent, has := v["parent_message_uuid"]; has {
				n.parent, _ = parent.(string)
			}
			last = n.id
			sender := rawString(v, "sender")
			if sender != "human" && sender != "assistant" {
				nodes = append(nodes, n)
				continue
			}
			var turns []string
			said := false
			for _, b := range rawList(v, "content") {
				switch kind := rawString(b, "type"); {
				case kind == "text" && rawString(b, "text") != "":
					said = true
					c.says(rawString(b, "text"))
					turns = append(turns, sender)
				case kind == "thinking" && rawString(b, "thinking") != "":
					turns = append(turns, sender)
				case kind == "tool_use":
					turns = append(turns, "assistant")
				case kind == "tool_result":
					turns = append(turns, "human")
				}
			}
			if text := rawString(v, "text"); !said && text != "" {
				c.says(text)
				turns = append(turns, sender)
			}
			if len(rawList(v, "attachments"))+len(rawList(v, "files"))+len(rawList(v, "files_v2")) > 0 {
				turns = append(turns, sender)
			}
			n.messages = len(slices.Compact(turns))
			nodes = append(nodes, n)
		}
		c.tree(nodes)
	}
	return c
}

// rawOasst: a message is an object with a text and a role, on a line of its own or in the
// replies of its parent; on a line its parent is parent_id.
func rawOasst(data []byte) *rawCount {
	c := newRawCount()
	var nodes []rawNode
	var add func(v any, parent string)
	add = func(v any, parent string) {
		if _, ok := rawGet(v, "text").(string); !ok || rawString(v, "role") == "" {
			return
		}
		n := rawNode{id: rawString(v, "message_id"), parent: parent, messages: 1}
		if n.id == "" {
			n.id = strings.Repeat("-", len(nodes)+1)
		}
		c.says(rawString(v, "text"))
		nodes = append(nodes, n)
		for _, reply := range rawList(v, "replies") {
			add(reply, n.id)
		}
	}
	for _, r := range rawLines(data) {
		if prompt := r["prompt"]; prompt != nil {
			add(prompt, "")
		} else {
			add(r, rawString(r, "parent_id"))
		}
	}
	c.tree(nodes)
	return c
}

// rawRequests: a message is an object of messages, or of the array that is the document,
// with a role of the provider, and a system beside them. Each request, and each line of a
// file of them, is one path.
func rawRequests(data []byte) *rawCount {
	c := newRawCount()
	var all []any
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var v any
		if d.Decode(&v) != nil {
			break
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		c.torn = true
		return c
	}
	for _, v := range all {
		messages, array := v.([]any)
		if !array {
			messages = rawList(v, "messages")
		}
		n := 0
		system := rawTexts(rawGet(v, "system"))
		if c.says(system...); len(system) > 0 {
			n++
		}
		for _, m := range messages {
			role := rawString(m, "role")
			switch role {
			case "user", "assistant", "tool", "function":
			case "system", "developer":
				if len(system) > 0 {
					continue // only OpenAI has it among the messages
				}
			default:
				continue
			}
			n++
			if role != "tool" && role != "function" {
				c.says(rawTexts(rawGet(m, "content"))...)
			}
		}
		c.messages += n
		c.ends += min(n, 1)
	}
	return c
}

// rawOpenWebUI: a message is a member of chat.history.messages with a role. It becomes one
// message for each change of the speaker: an item of output that is a result is the user's,
// the others are the model's. Without output, a call with a result among the elements
// details makes three of one. Its parent is parentId. Texts are those of the items, else
// the content without elements.
func rawOpenWebUI(data []byte) *rawCount {
	c := newRawCount()
	list, ok := rawConversations(data)
	if c.torn = !ok; c.torn {
		return c
	}
	for _, raw := range list {
		var chat map[string]any
		_ = json.Unmarshal(raw, &chat)
		all, _ := rawGet(chat, "chat", "history", "messages").(map[string]any)
		var nodes []rawNode
		for key, v := range all {
			n := rawNode{id: key, parent: rawString(v, "parentId")}
			role, text := rawString(v, "role"), rawString(v, "content")
			var turns []string
			for _, item := range rawList(v, "output") {
				switch rawString(item, "type") {
				case "message":
					c.says(rawTexts(rawGet(item, "content"))...)
					turns = append(turns, "assistant")
				case "function_call_output":
					turns = append(turns, "user")
				default:
					turns = append(turns, "assistant")
				}
			}
			if len(turns) == 0 && role != "" {
				for role == "assistant" && strings.Contains(text, "<details type=") {
					before, rest, _ := strings.Cut(text, "<details type=")
					element, after, _ := strings.Cut(rest, "</details>")
					c.says(strings.Trim(before, "\n"))
					turns = append(turns, "assistant")
					if strings.Contains(element, " result=") {
						turns = append(turns, "user")
					}
					text = strings.Trim(after, "\n")
				}
				if text == "" {
					text = rawString(v, "error", "content")
				}
				if c.says(text); text != "" || len(rawList(v, "files")) > 0 {
					turns = append(turns, role)
				}
			}
			n.messages = len(slices.Compact(turns))
			nodes = append(nodes, n)
		}
		c.tree(nodes)
	}
	return c
}

// rawLibreChat: a message is an object of messages, and of the children of another one if the
// export is recursive. It becomes one message for each change of the speaker: the outputs of
// calls in a row are of the user, after the calls. Its text counts if the content has not the
// same words.
func rawLibreChat(data []byte) *rawCount {
	c := newRawCount()
	var v map[string]any
	if json.Unmarshal(data, &v) != nil {
		c.torn = true
		return c
	}
	var nodes []rawNode
	var add func(m any, parent string)
	add = func(m any, parent string) {
		n := rawNode{id: rawString(m, "messageId"), parent: parent}
		speaker := "assistant"
		if rawGet(m, "isCreatedByUser") == true {
			speaker = "user"
		}
		var turns []string
		answered, inContent := false, ""
		for _, p := range rawList(m, "content") {
			if calls := rawString(p, "type") == "tool_call"; !calls && answered {
				turns, answered = append(turns, "user"), false
			}
			turns = append(turns, speaker)
			answered = answered || rawString(p, "tool_call", "output")+rawString(p, "tool_call", "function", "output") != ""
			words := []string{rawString(p, "text"), rawString(p, "text", "value"), rawString(p, "error")}
			c.says(words...)
			inContent += strings.Join(words, " ") + " "
		}
		if answered {
			turns = append(turns, "user")
		}
		if text := rawString(m, "text"); text != "" && !strings.Contains(strings.Join(strings.Fields(inContent), " "), strings.Join(strings.Fields(text), " ")) {
			c.says(text)
			turns = append(turns, speaker)
		}
		if len(rawList(m, "files")) > 0 {
			turns = append(turns, speaker)
		}
		n.messages = len(slices.Compact(turns))
		nodes = append(nodes, n)
		if v["recursive"] == true {
			for _, child := range rawList(m, "children") {
				add(child, n.id)
			}
		}
	}
	for _, m := range rawList(v, "messages") {
		parent := rawString(m, "parentMessageId")
		if v["recursive"] == true {
			parent = ""
		}
		add(m, parent)
	}
	c.tree(nodes)
	return c
}

// rawShareGPT: a message is a turn with a value, of a known speaker, or a system beside the
// turns. Each conversation of an array, and each line, is one path. A turn with calls has no
// text, except if they cannot be read.
func rawShareGPT(data []byte) *rawCount {
	c := newRawCount()
	var all []any
	d := json.NewDecoder(bytes.NewReader(data))
	for d.More() {
		var v any
		if d.Decode(&v) != nil {
			c.torn = true
			return c
		}
		if list, is := v.([]any); is {
			all = append(all, list...)
		} else {
			all = append(all, v)
		}
	}
	for _, v := range all {
		n := 0
		if system := rawString(v, "system"); system != "" && len(rawList(v, "conversations")) > 0 {
			c.says(system)
			n++
		}
		for _, turn := range rawList(v, "conversations") {
			value := rawString(turn, "value")
			switch rawString(turn, "from") {
			case "human", "user", "gpt", "assistant", "system":
				c.says(value)
			case "function_call":
				if !json.Valid([]byte(value)) {
					c.says(value)
				}
			case "observation", "tool":
			default:
				continue
			}
			if value != "" {
				n++
			}
		}
		c.messages += n
		c.ends += min(n, 1)
	}
	return c
}

// rawAISDK: a message with a known role becomes one for each change of the speaker: the
// results of calls in a row are the user's, after the calls. A message without parts has its
// content.
func rawAISDK(data []byte) *rawCount {
	c := newRawCount()
	var v any
	if json.Unmarshal(data, &v) != nil {
		c.torn = true
		return c
	}
	messages, array := v.([]any)
	if !array {
		messages = rawList(v, "messages")
	}
	for _, m := range messages {
		role := rawString(m, "role")
		if role != "user" && role != "assistant" && role != "system" {
			continue
		}
		var turns []string
		answered := false
		for _, p := range rawList(m, "parts") {
			kind := rawString(p, "type")
			call := kind == "dynamic-tool" || strings.HasPrefix(kind, "tool-")
			if !call && answered {
				turns, answered = append(turns, "user"), false
			}
			if kind != "step-start" {
				turns = append(turns, role)
			}
			state := rawString(p, "state") + rawString(p, "toolInvocation", "state")
			answered = answered || call && (strings.HasPrefix(state, "output-") || state == "result")
			if kind == "text" {
				c.says(rawString(p, "text"))
			}
		}
		if answered {
			turns = append(turns, "user")
		}
		if text := rawString(m, "content"); len(turns) == 0 && text != "" {
			c.says(text)
			turns = append(turns, role)
		}
		c.messages += len(slices.Compact(turns))
	}
	c.ends = min(c.messages, 1)
	return c
}
