package content

// fromAnthropic parses a message of Anthropic's Messages API.
func fromAnthropic(blob []byte) (*Message, error) {
	var role, said []byte
	each(blob, func(name, value []byte) {
		switch string(name) {
		case "role":
			set(&role, value)
		case "content":
			set(&said, value)
		}
	})
	m := &Message{Own: Own{Format: Anthropic}}
	var err error
	if m.Role, err = roleOf(role, user, assistant); err != nil {
		return nil, err
	}
	switch {
	case isText(said):
		m.Parts = []Part{{Type: TypeText, Text: text(said)}}
	case isArray(said):
		m.Parts, err = parts("content", said, anyBlock)
	default:
		err = wrong("content", "must be a string or an array of blocks")
	}
	return m, err
}

// anyBlock parses one block of content. A block of an unknown type, such as the
// provider's own tools use, is kept unchanged.
func anyBlock(element []byte) (Part, error) {
	p, err := anthropicBlock(element)
	if err == nil && p.Type == "" {
		p = readOther(element)
	}
	return p, err
}

// anthropicBlock parses one block of content. For an unknown type the part has no
// type.
func anthropicBlock(element []byte) (p Part, err error) {
	if !isObject(element) {
		return p, wrong("", "must be an object")
	}
	kind, err := textOf("type", member(element, "type"))
	if err != nil || kind == "" {
		return p, wrong("type", "missing")
	}
	var said, source, id, input []byte
	var meta, rest writer
	each(element, func(name, value []byte) {
		switch string(name) {
		case "type":
		case "source":
			set(&source, value)
		case "id", "tool_use_id":
			set(&id, value)
		case "input":
			set(&input, value)
		case "text", "thinking", "content":
			set(&said, value)
		default:
			rest.keep(name, value)
		}
	})
	switch kind {
	case "text":
		p.Type = TypeText
		err = need(kind, said)
	case "thinking":
		p.Type = TypeThinking
		err = need(kind, said)
	case "redacted_thinking":
		p.Type = TypeRedacted
	case "image":
		p.Type = TypeImage
		err = inner(&meta, "source", source)
	case "document":
		p.Type = TypeFile
		err = inner(&meta, "source", source)
	case "tool_use":
		p.Type = TypeToolCall
		if err = need("id", id); err == nil {
			err = need("name", member(element, "name"))
		}
		meta.raw("id", id)
		if input == nil {
			input = []byte(`{}`)
		}
		meta.text("arguments", string(input))
		meta.text("type", kind)
	case "tool_result":
		p.Type = TypeToolResult
		err = need("tool_use_id", id)
		meta.raw("tool_call_id", id)
		if isNull(member(element, "is_error")) {
			meta.raw("is_error", []byte("false"))
		}
		said = resultText(&meta, said)
	default:
		return Part{}, nil
	}
	if err != nil {
		return p, err
	}
	p.Text = text(said)
	each(rest.object(), meta.member)
	p.Meta = meta.object()
	return p, nil
}

// need returns an error if a member is not a string.
func need(at string, value []byte) error {
	if !isText(value) {
		return wrong(at, "must be a string")
	}
	return nil
}

// resultText returns the text of a tool result's content as a JSON string, and
// stores content with other blocks in meta.
func resultText(meta *writer, said []byte) []byte {
	if !isArray(said) {
		return said
	}
	var all string
	more := false
	elements(said, func(block []byte) {
		if s := member(block, "text"); text(member(block, "type")) == "text" && isText(s) {
			all += text(s)
		} else {
			more = true
		}
	})
	if more {
		meta.raw("content", tidy(said))
	}
	return appendText(nil, all)
}
