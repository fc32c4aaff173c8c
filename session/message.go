package session

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A Message is one message of a session, as the bytes it has in the file.
// What its methods return is decoded at each call.
type Message struct {
	ID  string
	Raw []byte

	span     rawjson.Span
	metadata []byte // raw, nil if it is no object
}

// walkMessage goes through the message that w stands before.
func walkMessage(w *rawjson.Walker, data []byte) (Message, error) {
	var m Message
	var keys rawjson.Keys
	m.span.Start, _ = w.Start()
	err := w.Object(func(key []byte, keyStart int) error {
		if err := keys.Add(key, keyStart); err != nil {
			return err
		}
		value, err := w.Value()
		if err != nil {
			return err
		}
		switch string(key) {
		case "id":
			m.ID = idText(gjson.ParseBytes(value.Of(data)))
		case "metadata":
			if data[value.Start] == '{' {
				m.metadata = value.Of(data)
			}
		}
		return nil
	})
	m.span.End, _ = w.Start()
	m.Raw = m.span.Of(data)
	return m, err
}

// Offset is where the message begins in its file, in bytes.
func (m Message) Offset() int { return m.span.Start }

// idText returns an id. One with half a surrogate pair is no text, and what text
// there is of two of them may be the same: it is taken as it is escaped.
func idText(v gjson.Result) string {
	s := text(v)
	if strings.ContainsRune(s, utf8.RuneError) && strings.Contains(v.Raw, `\u`) {
		return v.Raw[1 : len(v.Raw)-1]
	}
	return s
}

// Role is who speaks: user, assistant, system, tool.
func (m Message) Role() string { return text(gjson.GetBytes(m.Raw, "role")) }

// Category is Penguin's category: SYSTEM, CONTEXT, DIALOG, SYSTEM_OUTPUT …
func (m Message) Category() string { return text(gjson.GetBytes(m.Raw, "category")) }

// Time is when the message was written, and whether the file says so in a way
// that can be read.
func (m Message) Time() (time.Time, bool) {
	return ParseTime(text(gjson.GetBytes(m.Raw, "timestamp")))
}

// Text is the message's content for reading: the string it is, or the text of
// its parts with other parts as their type in brackets.
func (m Message) Text() string {
	content := gjson.GetBytes(m.Raw, "content")
	if content.Type == gjson.String {
		return text(content)
	}
	if !content.IsArray() {
		return content.Raw
	}
	var parts []string
	for _, part := range content.Array() {
		switch t := part.Get("text"); {
		case part.Type == gjson.String:
			parts = append(parts, text(part))
		case t.Type == gjson.String:
			parts = append(parts, text(t))
		default:
			parts = append(parts, "["+part.Get("type").String()+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// edge is what a message says of its parent.
type edge int

const (
	follows edge = iota // nothing: it follows the message before it
	begins              // null: it is a root
	named               // the id of its parent
)

func (m Message) parent() (edge, string) {
	if !m.has("parent_id") {
		return follows, ""
	}
	switch v := gjson.GetBytes(m.metadata, "parent_id"); {
	case !v.Exists():
		return follows, ""
	case v.Type == gjson.String && v.Str != "":
		return named, idText(v)
	default:
		return begins, ""
	}
}

// marks reports whether m is the marker that ends the header of a session
// continuing previous.
func (m Message) marks(previous string) bool {
	return m.IsMarker() && text(gjson.GetBytes(m.metadata, "previous_session")) == previous
}

// IsMarker reports whether m marks the place where a line goes on in another
// file.
func (m Message) IsMarker() bool {
	return m.has("session_transition") && text(gjson.GetBytes(m.metadata, "type")) == "session_transition"
}

// late reports whether m came into its file when the file already had a
// continuation: see docs/format.md on markers without a parent_id.
func (m Message) late() bool {
	return m.has("continued") && gjson.GetBytes(m.metadata, "bough.continued").Bool()
}

// has reports whether the metadata may hold the text s. It is a quick look
// before a slow one.
func (m Message) has(s string) bool {
	return bytes.Contains(m.metadata, []byte(s)) || bytes.IndexByte(m.metadata, '\\') >= 0
}

// Calls returns the ids of the tool calls that the message makes, in the forms
// of Penguin, OpenAI, Anthropic and Acontext.
func (m Message) Calls() []string {
	var found ids
	for _, path := range []string{"metadata.tool_calls", "tool_calls"} {
		for _, call := range gjson.GetBytes(m.Raw, path).Array() {
			found.add(call.Get("id"))
		}
	}
	found.addParts(m, "tool_use", "id")
	found.addParts(m, "tool-call", "meta.id")
	return found
}

// Results returns the ids of the tool calls that the message answers.
func (m Message) Results() []string {
	var found ids
	found.add(gjson.GetBytes(m.Raw, "metadata.tool_call_id"))
	found.add(gjson.GetBytes(m.Raw, "tool_call_id"))
	found.addParts(m, "tool_result", "tool_use_id")
	found.addParts(m, "tool-result", "meta.tool_call_id")
	return found
}

// ids is a set of ids in the order in which they were found.
type ids []string

func (list *ids) add(v gjson.Result) {
	if id := idText(v); id != "" && !slices.Contains(*list, id) {
		*list = append(*list, id)
	}
}

// addParts adds what stands at path in each part of a type in the content of m.
func (list *ids) addParts(m Message, kind, path string) {
	content := gjson.GetBytes(m.Raw, "content")
	if !content.IsArray() {
		return
	}
	for _, part := range content.Array() {
		if text(part.Get("type")) == kind {
			list.add(part.Get(path))
		}
	}
}
