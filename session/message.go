package session

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A Message is one message of a session, with its bytes in the file. Its methods
// decode at each call.
type Message struct {
	ID  string
	Raw []byte
}

// idText returns an id as a string. If it contains an unpaired surrogate, which no
// Go string can represent, it returns the escaped form, so that different ids stay
// different.
func idText(v gjson.Result) string {
	s := text(v)
	if strings.ContainsRune(s, utf8.RuneError) && strings.Contains(v.Raw, `\u`) {
		return v.Raw[1 : len(v.Raw)-1]
	}
	return s
}

// Role is the author: user, assistant, system or tool.
func (m Message) Role() string { return text(gjson.GetBytes(m.Raw, "role")) }

// Category is Penguin's category: SYSTEM, CONTEXT, DIALOG, SYSTEM_OUTPUT and
// others.
func (m Message) Category() string { return text(gjson.GetBytes(m.Raw, "category")) }

// Time returns when the message was written. ok is false if the message has no time
// or it cannot be parsed.
func (m Message) Time() (time.Time, bool) {
	return ParseTime(timeText(m.Raw))
}

// Text is the content in readable form: the string itself, or the text of its
// parts, with tool calls as name(arguments) and other parts as their type in
// brackets.
func (m Message) Text() string { return contentText(gjson.GetBytes(m.Raw, "content")) }

// FirstWords is the first non-blank line of the text, cut to 80 characters.
func (m Message) FirstWords() string { return firstWords(m.Text()) }

// JSON returns the message on one line. NaN and Infinity are kept.
func (m Message) JSON() []byte { return rawjson.Dense(m.Raw) }

// MarshalJSON returns the message with null in place of NaN and Infinity, which are
// not valid JSON.
func (m Message) MarshalJSON() ([]byte, error) { return rawjson.Strict(m.JSON()), nil }

func contentText(content gjson.Result) string {
	if content.Type == gjson.String {
		return text(content)
	}
	if !content.IsArray() {
		return content.Raw
	}
	var parts []string
	for _, part := range content.Array() {
		parts = append(parts, partText(part))
	}
	return strings.Join(parts, "\n")
}

func partText(part gjson.Result) string {
	if part.Type == gjson.String {
		return text(part)
	}
	if t := part.Get("text"); t.Type == gjson.String {
		return text(t)
	}
	kind := text(part.Get("type"))
	switch kind {
	case "tool-call":
		return text(part.Get("meta.name")) + "(" + text(part.Get("meta.arguments")) + ")"
	case "tool_use":
		return text(part.Get("name")) + "(" + part.Get("input").Raw + ")"
	case "tool_result":
		if hasTime := contentText(part.Get("content")); hasTime != "" {
			return hasTime
		}
	}
	if file := text(part.Get("filename")); file != "" {
		kind += " " + file
	}
	return "[" + kind + "]"
}

// IsMarker reports whether m is the marker that ends the header of a continuation.
func (m Message) IsMarker() bool {
	_, ok := marks([]byte(gjson.GetBytes(m.Raw, "metadata").Raw))
	return ok
}

// IsMerge reports whether m is a merge: a message of the user that has the result of a branch
// and asks nothing.
func (m Message) IsMerge() bool { return gjson.GetBytes(m.Raw, "metadata.kind").Str == "merge" }
