package content

// toAnthropic writes m as a message of Anthropic's Messages API.
func toAnthropic(w *writer, m *Message, link func(*Asset) string) {
	w.open('{')
	w.text("role", m.Role)
	w.key("content")
	w.open('[')
	for i := range m.Parts {
		if raw := m.Parts[i].meta("raw"); m.Own.Format == Anthropic && m.Parts[i].Type == TypeData && isObject(raw) {
			w.next()
			w.b = append(w.b, raw...) // a block in Anthropic's own format
			continue
		}
		m.Parts[i].toAnthropic(w, link)
	}
	w.close(']')
	w.close('}')
}

// toAnthropic writes p as a block, or nothing if Anthropic has none for it. Empty
// texts are dropped, because the API refuses them.
func (p *Part) toAnthropic(w *writer, link func(*Asset) string) {
	t := p.tool()
	switch {
	case p.Type == TypeText, p.Type == TypeData, p.Type == TypeToolResult && t.id == "":
		if p.Text == "" {
			return
		}
		w.open('{')
		w.text("type", "text")
		w.text("text", p.Text)
		w.given(p, "citations")
	case p.Type == TypeThinking:
		if p.Text == "" && t.signature == "" {
			return
		}
		w.open('{')
		w.text("type", "thinking")
		w.text("thinking", p.Text)
		w.text("signature", t.signature)
	case p.Type == TypeRedacted && isText(p.meta("data")):
		w.open('{')
		w.text("type", "redacted_thinking")
		w.raw("data", p.meta("data"))
	case p.Type == TypeToolCall && t.id != "" && t.name != "":
		w.open('{')
		w.text("type", "tool_use")
		w.text("id", t.id)
		w.text("name", t.name)
		w.raw("input", object(t.arguments, "input"))
	case p.Type == TypeToolResult:
		w.open('{')
		w.text("type", "tool_result")
		w.text("tool_use_id", t.id)
		if all := p.meta("content"); isArray(all) {
			w.raw("content", all)
		} else if p.Text != "" {
			w.key("content")
			w.open('[')
			textPart(w, p.Text)
			w.close(']')
		}
		if is := p.meta("is_error"); string(is) == "true" {
			w.raw("is_error", is)
		} else {
			w.raw("is_error", []byte("false"))
		}
	case p.Type == TypeImage, p.Type == TypeFile:
		f := p.media(link)
		kind, other := "image", "image/png"
		if p.Type == TypeFile {
			kind, other = "document", "application/pdf"
		}
		at := len(w.b)
		w.open('{')
		w.text("type", kind)
		if !p.toSource(w, f, other) {
			w.b = w.b[:at]
			return
		}
		if kind == "document" && f.name != "" {
			w.text("title", f.name)
		}
		if kind == "document" {
			w.given(p, "context", "citations")
		}
	default:
		return
	}
	w.given(p, "cache_control")
	w.close('}')
}

// toSource writes the content of a file or its address.
func (p *Part) toSource(w *writer, f media, other string) bool {
	data, mime, inline := f.inline(other)
	switch content := p.meta("content"); {
	case inline:
		w.key("source")
		w.open('{')
		w.text("type", "base64")
		w.text("media_type", mime)
		w.text("data", data)
	case f.kind == "text" && f.data != "":
		w.key("source")
		w.open('{')
		w.text("type", "text")
		w.text("media_type", "text/plain")
		w.text("data", f.data)
	case f.elsewhere() != "":
		w.key("source")
		w.open('{')
		w.text("type", "url")
		w.text("url", f.url)
	case f.id != "":
		w.key("source")
		w.open('{')
		w.text("type", "file")
		w.text("file_id", f.id)
	case f.kind == "content" && !isNull(content):
		w.key("source")
		w.open('{')
		w.text("type", "content")
		w.raw("content", content)
	default:
		return false
	}
	w.close('}')
	return true
}

// given writes the raw members of the meta of p that exist.
func (w *writer) given(p *Part, names ...string) {
	for _, name := range names {
		if value := p.meta(name); !isNull(value) {
			w.raw(name, value)
		}
	}
}
