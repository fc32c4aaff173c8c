package content

import "bytes"

// toOpenAI writes m as a message of chat completions.
func toOpenAI(w *writer, m *Message, link func(*Asset) string) {
	w.open('{')
	switch {
	case m.Own.Role == "system" || m.Own.Role == "developer":
		w.text("role", m.Own.Role)
		w.text("content", joined(m.Parts))
	case m.Role == assistant:
		w.text("role", m.Role)
		m.openAIAnswer(w)
	default:
		m.openAIUser(w, link)
	}
	if m.Own.Name != "" {
		w.text("name", m.Own.Name)
	}
	if m.Own.Format == OpenAI {
		each(m.Own.Rest, func(name, value []byte) {
			if !isOpenAI(string(name)) {
				w.member(name, value)
			}
		})
	}
	w.close('}')
}

// isOpenAI reports whether a member of a message is written from the parts, the
// role or the name.
func isOpenAI(name string) bool {
	switch name {
	case "role", "name", "content", "refusal", "tool_calls", "function_call", "tool_call_id":
		return true
	}
	return false
}

// openAIUser writes the parts of a user or tool.
func (m *Message) openAIUser(w *writer, link func(*Asset) string) {
	results := 0
	var result tool // the first one with a known call, else the first one
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == TypeToolResult {
			if results++; results == 1 || result.id == "" {
				if t := p.tool(); results == 1 || t.id != "" {
					result = t
				}
			}
		}
	}
	switch {
	case results == 0 || results < len(m.Parts) && result.id == "":
		w.text("role", user)
		m.openAIContent(w, true, func(p *Part) bool { return p.toOpenAI(w, link) })
		return
	case result.id == "" && result.name != "":
		w.text("role", "function")
		w.text("name", result.name)
	default:
		w.text("role", "tool")
		if result.id != "" {
			w.text("tool_call_id", result.id)
		}
	}
	m.openAIContent(w, true, func(p *Part) bool { return p.toText(w) })
}

// openAIAnswer writes the texts and calls of an assistant and drops other parts.
func (m *Message) openAIAnswer(w *writer) {
	m.openAIContent(w, false, func(p *Part) bool { return p.Type != TypeToolResult && p.toText(w) })
	var call *tool
	calls := false
	for i := range m.Parts {
		if m.Parts[i].Type != TypeToolCall {
			continue
		}
		t := m.Parts[i].tool()
		if t.name == "" {
			continue
		}
		if t.kind == "function_call" && call == nil {
			call = &t
			continue
		}
		if !calls {
			w.key("tool_calls")
			w.open('[')
		}
		calls = true
		w.open('{')
		if t.id != "" {
			w.text("id", t.id)
		}
		if t.kind == "custom" {
			t.toOpenAI(w, t.kind, "input")
		} else {
			t.toOpenAI(w, "function", "arguments")
		}
		w.close('}')
	}
	if calls {
		w.close(']')
	}
	if call != nil {
		w.key("function_call")
		w.open('{')
		w.text("name", call.name)
		w.text("arguments", call.arguments)
		w.close('}')
	}
}

func (t *tool) toOpenAI(w *writer, kind, arguments string) {
	w.text("type", kind)
	w.key(kind)
	w.open('{')
	w.text("name", t.name)
	w.text(arguments, t.arguments)
	w.close('}')
}

// openAIContent writes content: the parts that write writes, or a string if that is
// a single text. If there are none, it writes nothing, or empty content if must is
// set.
func (m *Message) openAIContent(w *writer, must bool, write func(*Part) bool) {
	at := len(w.b)
	w.key("content")
	start := len(w.b)
	w.open('[')
	written := 0
	for i := range m.Parts {
		if write(&m.Parts[i]) {
			written++
		}
	}
	w.close(']')
	const text = `[{"type":"text","text":`
	list := w.b[start:]
	switch {
	case written == 1 && bytes.HasPrefix(list, []byte(text)):
		w.b = append(w.b[:start], list[len(text):len(list)-len(`}]`)]...)
	case written == 0:
		w.b = w.b[:at]
		if must {
			w.text("content", "")
		}
	}
}

// toText writes p as a text part. It returns false if p has no text.
func (p *Part) toText(w *writer) bool {
	switch p.Type {
	case TypeText, TypeThinking, TypeData, TypeToolResult:
		if p.Text != "" {
			textPart(w, p.Text)
			return true
		}
	}
	return false
}

func textPart(w *writer, s string) {
	w.open('{')
	w.text("type", "text")
	w.text("text", s)
	w.close('}')
}

// toOpenAI writes p as a part of a user's message. It returns false if OpenAI has
// none for it.
func (p *Part) toOpenAI(w *writer, link func(*Asset) string) bool {
	switch p.Type {
	case TypeText:
		textPart(w, p.Text)
		return true
	case TypeThinking, TypeData, TypeToolResult:
		return p.toText(w)
	case TypeToolCall, TypeRedacted:
		return false
	}
	f := p.media(link)
	data, mime, inline := f.inline("")
	switch {
	case p.Type == TypeImage && f.id == "":
		at := f.url
		if at == "" && inline {
			at = dataURL(data, mime, "image/png")
		}
		if at == "" {
			return false
		}
		w.open('{')
		w.text("type", "image_url")
		w.key("image_url")
		w.open('{')
		w.text("url", at)
		if f.detail != "" {
			w.text("detail", f.detail)
		}
	case p.Type == TypeAudio && inline:
		if f.format == "" {
			f.format = audioFormat(mime)
		}
		w.open('{')
		w.text("type", "input_audio")
		w.key("input_audio")
		w.open('{')
		w.text("data", data)
		if f.format != "" {
			w.text("format", f.format)
		}
	case p.Type != TypeAudio && p.Type != TypeVideo && (inline || f.id != ""):
		w.open('{')
		w.text("type", "file")
		w.key("file")
		w.open('{')
		if f.id != "" {
			w.text("file_id", f.id)
		}
		if inline && mime != "" {
			data = dataURL(data, mime, "")
		}
		if inline {
			w.text("file_data", data)
		}
		if f.name != "" {
			w.text("filename", f.name)
		}
	case f.kind == "text" && f.data != "":
		textPart(w, f.data)
		return true
	case f.elsewhere() != "":
		textPart(w, f.elsewhere())
		return true
	default:
		return false
	}
	w.close('}')
	w.close('}')
	return true
}

// dataURL returns a file in base64 as a data URL.
func dataURL(data, mime, other string) string {
	if mime == "" {
		mime = other
	}
	return "data:" + mime + ";base64," + data
}
