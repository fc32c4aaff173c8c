package content

import "encoding/base64"

// toGemini writes m as a content of Gemini. names are the names of tools by the ids
// of the calls.
func toGemini(w *writer, m *Message, link func(*Asset) string, names map[string]string) {
	w.open('{')
	if m.Role == assistant {
		w.text("role", "model")
	} else {
		w.text("role", user)
	}
	w.key("parts")
	w.open('[')
	for i := range m.Parts {
		m.Parts[i].toGemini(w, link, names)
	}
	w.close(']')
	w.close('}')
}

// toGemini writes p as a part of a content, or nothing if Gemini has none for it.
func (p *Part) toGemini(w *writer, link func(*Asset) string, names map[string]string) {
	t := p.tool()
	if p.Type == TypeToolResult && t.name == "" {
		if t.name = names[t.id]; t.name == "" {
			t.name = t.id
		}
	}
	at := len(w.b)
	w.open('{')
	switch {
	case p.Type == TypeText, p.Type == TypeThinking, p.Type == TypeData, p.Type == TypeToolResult && t.name == "":
		if p.Text == "" && t.signature == "" {
			w.b = w.b[:at]
			return
		}
		w.text("text", p.Text)
		if p.Type == TypeThinking {
			w.raw("thought", []byte("true"))
		}
	case p.Type == TypeToolCall && t.name != "":
		w.key("functionCall")
		w.open('{')
		if t.id != "" {
			w.text("id", t.id)
		}
		w.text("name", t.name)
		w.raw("args", object(t.arguments, "input"))
		w.close('}')
	case p.Type == TypeToolResult:
		w.key("functionResponse")
		w.open('{')
		if t.id != "" {
			w.text("id", t.id)
		}
		w.text("name", t.name)
		w.raw("response", object(p.Text, "output"))
		w.close('}')
	case p.Type == TypeToolCall, p.Type == TypeRedacted, !p.toGeminiData(w, p.media(link)):
		w.b = w.b[:at]
		return
	}
	if t.signature != "" {
		if !isBase64(t.signature) { // that of another provider
			t.signature = base64.StdEncoding.EncodeToString([]byte(t.signature))
		}
		w.text("thoughtSignature", t.signature)
	}
	w.close('}')
}

// toGeminiData writes a file or its address.
func (p *Part) toGeminiData(w *writer, f media) bool {
	other := ""
	switch {
	case p.Type == TypeImage:
		other = "image/png"
	case p.Type == TypeAudio && f.format != "":
		other = "audio/" + f.format
	case p.Type == TypeFile && f.kind == "text" && f.data != "":
		w.text("text", f.data)
		return true
	case p.Type == TypeFile:
		other = "application/pdf"
	}
	data, mime, inline := f.inline(other)
	switch {
	case inline:
		w.key("inlineData")
		w.open('{')
		if mime != "" {
			w.text("mimeType", mime)
		}
		w.text("data", data)
	case f.elsewhere() != "":
		w.key("fileData")
		w.open('{')
		if f.mime != "" {
			w.text("mimeType", f.mime)
		}
		w.text("fileUri", f.url)
	default:
		return false
	}
	w.close('}')
	return true
}

func isBase64(s string) bool {
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if _, err := e.DecodeString(s); err == nil {
			return true
		}
	}
	return false
}
