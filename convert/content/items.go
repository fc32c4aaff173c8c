package content

import (
	"encoding/json"
)

// Items encodes messages in a format, one item for each. link returns the address
// of a file, as an http or data URL; a part is dropped if that is "". link may be
// nil. In Acontext's format an item has the form that [Parse] accepts: without ids
// and times.
//
// In Gemini's format a tool result needs the name of its tool, which is taken from
// the call in list.
func Items(f Format, list []*Message, link func(*Asset) string) []json.RawMessage {
	if link == nil {
		link = func(*Asset) string { return "" }
	}
	write := toOpenAI
	switch f {
	case "", OpenAI:
	case Acontext:
		write = func(w *writer, m *Message, _ func(*Asset) string) { toAcontext(w, m) }
	case Anthropic:
		write = toAnthropic
	case Gemini:
		names := namesOf(list)
		write = func(w *writer, m *Message, link func(*Asset) string) { toGemini(w, m, link, names) }
	default:
		panic("content: unknown format: " + string(f))
	}
	size := 0
	for _, m := range list {
		for i := range m.Parts {
			size += 64 + len(m.Parts[i].Text) + len(m.Parts[i].Meta)
		}
	}
	w := writer{make([]byte, 0, size+size/8)}
	ends := make([]int, len(list))
	for i, m := range list {
		write(&w, m, link)
		ends[i] = len(w.b)
	}
	items := make([]json.RawMessage, len(list))
	start := 0
	for i, end := range ends {
		if i > 0 {
			start++ // the comma
		}
		items[i] = w.b[start:end:end]
		start = end
	}
	return items
}

// namesOf returns the names of the called tools by the ids of the calls.
func namesOf(list []*Message) map[string]string {
	names := map[string]string{}
	for _, m := range list {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Type == TypeToolCall {
				if t := p.tool(); t.id != "" && t.name != "" {
					names[t.id] = t.name
				}
			}
		}
	}
	return names
}

// object returns the arguments or the result of a call as an object: s itself if it
// is one, else an object with s as the member name, or an empty object for "".
func object(s, name string) []byte {
	if s == "" {
		return []byte(`{}`)
	}
	if b := []byte(s); b[0] == '{' && json.Valid(b) && !tooDeep(b, maxDepth) {
		return tidy(b)
	}
	var w writer
	w.open('{')
	w.text(name, s)
	w.close('}')
	return w.b
}
