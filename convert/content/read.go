package content

// Read decodes a message of a session file; raw must be valid JSON. Messages that
// bough stored are restored exactly. In messages of other programs it recognizes
// tool calls in metadata.tool_calls and tool_calls, results by
// metadata.tool_call_id and tool_call_id, and the parts of OpenAI, Anthropic and
// Penguin. Any other content becomes a part of type data with the raw value in
// meta.raw.
func Read(raw []byte) *Message {
	var role, name, said, calls, result, metadata []byte
	each(raw, func(key, value []byte) {
		switch string(key) {
		case "role":
			set(&role, value)
		case "name":
			set(&name, value)
		case "content":
			set(&said, value)
		case "tool_calls":
			set(&calls, value)
		case "tool_call_id":
			set(&result, value)
		case "metadata":
			set(&metadata, value)
		}
	})
	var own, metaCalls, metaResult, action []byte
	each(metadata, func(key, value []byte) {
		switch string(key) {
		case "bough":
			set(&own, value)
		case "tool_calls":
			set(&metaCalls, value)
		case "tool_call_id":
			set(&metaResult, value)
		case "action_type":
			set(&action, value)
		}
	})
	m := &Message{Role: user, Own: Own{Name: text(name)}}
	as := text(role)
	switch as {
	case assistant, "model":
		m.Role = assistant
	case user, "tool", "function", "":
	default:
		m.Own.Role = as
	}
	m.Own.readStored(own)
	m.Parts = readContent(said)
	n := len(m.Parts)
	m.addCalls(metaCalls)
	m.addCalls(calls)
	if n == 1 && len(m.Parts) > 1 && m.Parts[0].isEmpty() {
		m.Parts = m.Parts[1:] // only calls
	}
	if as == "tool" || as == "function" {
		id := text(metaResult)
		if id == "" {
			id = text(result)
		}
		if as == "function" && id == "" {
			action, m.Own.Name = name, ""
		}
		m.result(id, text(action))
	}
	return m.whole()
}

// readStored decodes the members of metadata.bough.
func (o *Own) readStored(bough []byte) {
	var format, name, role, rest []byte
	each(bough, func(key, value []byte) {
		switch string(key) {
		case keyFormat:
			set(&format, value)
		case keyName:
			set(&name, value)
		case keyRole:
			set(&role, value)
		case keyRest:
			set(&rest, value)
		}
	})
	o.Format = Format(text(format))
	if isText(name) {
		o.Name = text(name)
	}
	if isText(role) {
		o.Role = text(role)
	}
	if isObject(rest) && !isBlank(rest) {
		o.Rest = tidy(rest)
	}
}

// readContent decodes content of any type.
func readContent(said []byte) []Part {
	switch {
	case said == nil:
		return nil
	case isText(said):
		return []Part{{Type: TypeText, Text: text(said)}}
	case !isArray(said):
		return []Part{readAny(said)}
	}
	var list []Part
	elements(said, func(element []byte) { list = append(list, readAny(element)) })
	return list
}

// readAny decodes an element of content in any format.
func readAny(raw []byte) Part {
	if isText(raw) {
		return Part{Type: TypeText, Text: text(raw)}
	}
	if p, ok := readPart(raw); ok {
		return p
	}
	raw = tidy(raw)
	if p, err := anthropicBlock(raw); err == nil && p.Type != "" {
		return p
	}
	if p, err := openAIPart(raw); err == nil {
		return p
	}
	return readOther(raw)
}

// readOther decodes an element of content that is in none of the formats: a text or
// a file with unknown members, which become meta, or anything else.
func readOther(raw []byte) Part {
	kind, said := text(member(raw, "type")), member(raw, "text")
	p := Part{Text: text(said)}
	switch {
	case isText(said) && (kind == "" || kind == "input_text" || kind == "output_text"):
		p.Type = TypeText
	case kind == "image_url" && isText(member(raw, "image_path")):
		p.Type = TypeImage
	case kind == TypeImage || kind == TypeAudio || kind == TypeVideo || kind == TypeFile:
		p.Type = kind
	}
	var meta writer
	if p.Type != "" {
		each(raw, func(name, value []byte) {
			if string(name) != "type" && (string(name) != "text" || !isText(value)) {
				meta.keep(name, value)
			}
		})
		p.Meta = meta.object()
		return p
	}
	if kind == "" {
		kind = "unknown"
	}
	meta.text("data_type", kind)
	meta.raw("raw", raw)
	p.Type, p.Meta = TypeData, meta.object()
	return p
}

// addCalls adds tool calls in OpenAI's format that m does not have yet.
func (m *Message) addCalls(calls []byte) {
	if !isArray(calls) {
		return
	}
	known := map[string]bool{}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == TypeToolCall {
			known[p.tool().id] = true
		}
	}
	elements(tidy(calls), func(element []byte) {
		p, err := openAICall(element)
		if err != nil {
			p = readOther(element)
		}
		if id := p.tool().id; id == "" || !known[id] {
			m.Parts = append(m.Parts, p)
		}
	})
}

// isEmpty reports whether p is an empty text, as programs write beside tool calls.
func (p *Part) isEmpty() bool { return p.Type == TypeText && p.Text == "" && p.Meta == nil }

// result turns the texts of m into one tool result, unless m has results.
func (m *Message) result(id, name string) {
	if m.hasResults() {
		return
	}
	var meta writer
	if id != "" {
		meta.text("tool_call_id", id)
	}
	if name != "" {
		meta.text("name", name)
	}
	list := []Part{{Type: TypeToolResult, Text: joined(m.Parts), Meta: meta.object()}}
	for _, p := range m.Parts {
		if p.Type != TypeText {
			list = append(list, p)
		}
	}
	m.Parts = list
}
