package content

import "encoding/json"

// Text returns a text part.
func Text(text string) Part { return Part{Type: TypeText, Text: text} }

// Thinking returns a part with a model's thoughts and the signature of its
// provider, "" for none.
func Thinking(text, signature string) Part {
	return Part{Type: TypeThinking, Text: text, Meta: members("signature", signature)}
}

// Image returns an image part with its media type and its bytes in base64.
func Image(mime, data string) Part {
	return Part{Type: TypeImage, Meta: members("type", "base64", "media_type", mime, "data", data)}
}

// ImageURL returns an image part with the image's URL, which may be a data URL.
func ImageURL(url string) Part {
	return Part{Type: TypeImage, Meta: members("url", url)}
}

// A Call describes a tool call in a part.
type Call struct {
	ID        string // of the call, "" if unknown
	Name      string // of the tool, "" if unknown
	Arguments string // usually JSON; "" for a result
	Failed    bool   // of a result: it is an error
}

// ToolCall returns a part with a tool call.
func ToolCall(c Call) Part {
	return Part{Type: TypeToolCall, Meta: members("id", c.ID, "name", c.Name, "arguments", c.Arguments)}
}

// ToolResult returns a part with the result of a tool call.
func ToolResult(c Call, text string) Part {
	var w writer
	w.open('{')
	if c.ID != "" {
		w.text("tool_call_id", c.ID)
	}
	if c.Name != "" {
		w.text("name", c.Name)
	}
	if c.Failed {
		w.member([]byte("is_error"), []byte("true"))
	}
	w.close('}')
	return Part{Type: TypeToolResult, Text: text, Meta: w.b}
}

// Call returns the call of a tool call or tool result.
func (p *Part) Call() Call {
	t := p.tool()
	return Call{ID: t.id, Name: t.name, Arguments: t.arguments, Failed: p.Type == TypeToolResult && string(p.meta("is_error")) == "true"}
}

// File returns the file of a part: in base64 with its media type if it is inline,
// else its URL, "" if unknown.
func (p *Part) File() (mime, data, url string) {
	m := p.media(func(*Asset) string { return "" })
	if data, mime, ok := m.inline(""); ok {
		return mime, data, ""
	}
	return m.mime, "", m.elsewhere()
}

// members returns an object of members with texts, without empty ones; nil if there
// are none.
func members(pairs ...string) json.RawMessage {
	var w writer
	w.open('{')
	empty := true
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			w.text(pairs[i], pairs[i+1])
			empty = false
		}
	}
	w.close('}')
	if empty {
		return nil
	}
	return w.b
}
