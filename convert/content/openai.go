package content

// fromOpenAI parses a message of chat completions.
func fromOpenAI(blob []byte) (*Message, error) {
	var role, name, said, refusal, calls, call, id []byte
	var rest writer
	each(blob, func(key, value []byte) {
		switch string(key) {
		case "role":
			set(&role, value)
		case "name":
			set(&name, value)
		case "content":
			set(&said, value)
		case "refusal":
			set(&refusal, value)
		case "tool_calls":
			set(&calls, value)
		case "function_call":
			set(&call, value)
		case "tool_call_id":
			set(&id, value)
		default:
			rest.keep(key, value)
		}
	})
	m := &Message{Role: user, Own: Own{Format: OpenAI, Rest: rest.object()}}
	as, err := roleOf(role, user, assistant, "system", "developer", "tool", "function")
	if err != nil {
		return nil, err
	}
	if m.Own.Name, err = textOf("name", name); err != nil {
		return nil, err
	}
	switch as {
	case user:
		m.Parts, err = openAIContent(said, openAIPart)
	case assistant:
		m.Role = assistant
		m.Parts, err = openAIAnswer(said, refusal, calls, call)
	case "tool":
		m.Parts, err = openAIResult(said, id, "")
	case "function":
		m.Parts, err = openAIResult(said, nil, m.Own.Name)
		m.Own.Name = ""
	default:
		m.Own.Role = as
		m.Parts, err = openAIContent(said, textOnly)
	}
	return m, err
}

// openAIContent parses content, a string or an array of parts.
func openAIContent(said []byte, part func([]byte) (Part, error)) ([]Part, error) {
	switch {
	case isText(said):
		return []Part{{Type: TypeText, Text: text(said)}}, nil
	case isArray(said) && len(said) > len(`[]`):
		return parts("content", said, part)
	}
	return nil, wrong("content", "must be a string or an array of parts")
}

// openAIAnswer parses the content and calls of an assistant.
func openAIAnswer(said, refusal, calls, call []byte) (list []Part, err error) {
	if text(said) != "" || said != nil && !isText(said) && !isBlank(said) {
		if list, err = openAIContent(said, textOnly); err != nil {
			return nil, err
		}
	}
	if refusal != nil {
		p, err := refused("refusal", refusal)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if calls != nil && !isArray(calls) {
		return nil, wrong("tool_calls", "must be an array")
	}
	called, err := parts("tool_calls", calls, openAICall)
	if err != nil {
		return nil, err
	}
	list = append(list, called...)
	if call != nil {
		var meta writer
		if err := openAIFunction(&meta, "function_call", call); err != nil {
			return nil, err
		}
		list = append(list, Part{Type: TypeToolCall, Meta: meta.object()})
	}
	return list, nil
}

// refused returns the part for a refusal.
func refused(at string, value []byte) (p Part, err error) {
	p = Part{Type: TypeText, Meta: []byte(`{"is_refusal":true}`)}
	p.Text, err = textOf(at, value)
	return p, err
}

// openAIResult parses the result of a tool call, identified by its id, or of a
// function, identified by its name.
func openAIResult(said, id []byte, name string) ([]Part, error) {
	p := Part{Type: TypeToolResult}
	if said != nil && !isBlank(said) {
		texts, err := openAIContent(said, textOnly)
		if err != nil {
			return nil, err
		}
		p.Text = joined(texts)
	}
	var meta writer
	if s, err := textOf("tool_call_id", id); err != nil {
		return nil, err
	} else if s != "" {
		meta.text("tool_call_id", s)
	}
	if name != "" {
		meta.text("name", name)
	}
	p.Meta = meta.object()
	return []Part{p}, nil
}

// joined returns the concatenated texts of parts.
func joined(list []Part) string {
	var s string
	for i := range list {
		if list[i].Type == TypeText {
			s += list[i].Text
		}
	}
	return s
}

// openAICall parses one of tool_calls.
func openAICall(element []byte) (Part, error) {
	if !isObject(element) {
		return Part{}, wrong("", "must be an object")
	}
	var id, function, custom []byte
	var meta, rest writer
	each(element, func(name, value []byte) {
		switch string(name) {
		case "id":
			set(&id, value)
		case "function":
			set(&function, value)
		case "custom":
			set(&custom, value)
		case "type", "index":
		default:
			rest.keep(name, value)
		}
	})
	s, err := textOf("id", id)
	if s != "" {
		meta.text("id", s)
	}
	switch {
	case err != nil:
	case custom != nil:
		err = openAIFunction(&meta, "custom", custom)
	default:
		err = openAIFunction(&meta, "function", function)
	}
	if err != nil {
		return Part{}, err
	}
	each(rest.object(), meta.member)
	return Part{Type: TypeToolCall, Meta: meta.object()}, nil
}

// openAIFunction parses the member at of a call, with the name and arguments, into
// meta.
func openAIFunction(meta *writer, at string, function []byte) error {
	if !isObject(function) {
		return wrong(at, "must be an object")
	}
	var name, arguments []byte
	each(function, func(key, value []byte) {
		switch string(key) {
		case "name":
			set(&name, value)
		case "arguments", "input":
			set(&arguments, value)
		}
	})
	if text(name) == "" {
		return wrong(at+".name", "must be a string that is not empty")
	}
	meta.raw("name", name)
	if isText(arguments) {
		meta.raw("arguments", arguments)
	} else {
		meta.text("arguments", string(arguments))
	}
	meta.text("type", at)
	return nil
}

// textOnly parses a part that must be a text.
func textOnly(element []byte) (Part, error) {
	p, err := openAIPart(element)
	if err == nil && p.Type != TypeText {
		err = wrong("type", "only text is allowed here")
	}
	return p, err
}

// openAIPart parses one part of content.
func openAIPart(element []byte) (p Part, err error) {
	if !isObject(element) {
		return p, wrong("", "must be an object")
	}
	kind := member(element, "type")
	at := text(kind) // the member with the content of the part has the name of its type
	var about []byte
	var rest writer
	each(element, func(name, value []byte) {
		switch string(name) {
		case at:
			set(&about, value)
		case "type":
		default:
			rest.keep(name, value)
		}
	})
	var meta writer
	switch at {
	case "text":
		p.Type = TypeText
		p.Text, err = textOf(at, about)
	case "refusal":
		p, err = refused(at, about)
		each(p.Meta, meta.member)
	case "image_url":
		p.Type = TypeImage
		if isText(about) {
			meta.raw("url", about)
		} else {
			err = inner(&meta, at, about, "url")
		}
	case "input_audio":
		p.Type = TypeAudio
		err = inner(&meta, at, about, "data")
	case "file":
		p.Type = TypeFile
		err = inner(&meta, at, about)
	default:
		if kind == nil {
			return p, wrong("type", "missing")
		}
		return p, wrong("type", "%s is not one of text, image_url, input_audio, file and refusal", kind)
	}
	if err == nil && about == nil {
		err = wrong(at, "missing in a part of type %s", at)
	}
	each(rest.object(), meta.member)
	p.Meta = meta.object()
	return p, err
}

// inner parses an object, the member at of a part, into meta. The members named by
// strings must be strings.
func inner(meta *writer, at string, object []byte, strings ...string) error {
	if !isObject(object) {
		return wrong(at, "must be an object")
	}
	for _, name := range strings {
		if !isText(member(object, name)) {
			return wrong(at+"."+name, "must be a string")
		}
	}
	each(object, meta.keep)
	return nil
}
