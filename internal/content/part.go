package content

import "encoding/json"

// Text returns the part that is a text.
func Text(text string) Part { return Part{Type: TypeText, Text: text} }

// Thinking returns the part that is what a model thought, with the signature of its
// provider, "" for none.
func Thinking(text, signature string) Part {
	return Part{Type: TypeThinking, Text: text, Meta: members("signature", signature)}
}

// Image returns the part that is an image: its media type, and its bytes in base64.
func Image(mime, data string) Part {
	return Part{Type: TypeImage, Meta: members("type", "base64", "media_type", mime, "data", data)}
}

// ImageURL returns the part that is an image that stands elsewhere, or in a data URL.
func ImageURL(url string) Part {
	return Part{Type: TypeImage, Meta: members("url", url)}
}

// A Call is what a part says of a call of a tool.
type Call struct {
	ID        string // of the call, "" if nobody knows
	Name      string // of the tool, "" if nobody knows
	Arguments string // JSON, mostly; "" of a result
	Failed    bool   // of a result: what the tool says is an error
}

// ToolCall returns the part that is a call of a tool.
func ToolCall(c Call) Part {
	return Part{Type: TypeToolCall, Meta: members("id", c.ID, "name", c.Name, "arguments", c.Arguments)}
}

// ToolResult returns the part that is what a tool said when it was called.
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

// Call returns what a tool call or a tool result says of the call.
func (p *Part) Call() Call {
	t := p.tool()
	return Call{ID: t.id, Name: t.name, Arguments: t.arguments, Failed: p.Type == TypeToolResult && string(p.meta("is_error")) == "true"}
}

// File returns where the file of a part is: in base64 with its media type if the part
// holds it, else its URL, "" if nobody can tell.
func (p *Part) File() (mime, data, url string) {
	m := p.media(func(*Asset) string { return "" })
	if data, mime, ok := m.inline(""); ok {
		return mime, data, ""
	}
	return m.mime, "", m.elsewhere()
}

// members returns an object of members with texts, without those that are empty; nil
// if there are none.
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
