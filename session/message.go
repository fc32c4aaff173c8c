package session

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A Message is one message of a session, as the bytes it has in the file.
// What its methods return is decoded at each call.
type Message struct {
	ID  string
	Raw []byte
}

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
	return ParseTime(timeText(m.Raw))
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

// IsMarker reports whether m marks the place where a line goes on in another
// file.
func (m Message) IsMarker() bool {
	_, ok := marks([]byte(gjson.GetBytes(m.Raw, "metadata").Raw))
	return ok
}

// calls returns the ids of the tool calls that the message makes, in the forms
// of Penguin, OpenAI, Anthropic and Acontext.
func (m Message) calls() []string {
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

// results returns the ids of the tool calls that the message answers.
func (m Message) results() []string {
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
		*list = append(*list, strings.Clone(id)) // and let go of the message
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
