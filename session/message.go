package session

import (
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

// Text is the message's content for reading: the string it is, or the text of its
// parts, tool calls as name(arguments), and other parts as their type in brackets.
func (m Message) Text() string { return contentText(gjson.GetBytes(m.Raw, "content")) }

// FirstWords is the first line of the message's text that has words, cut to 80 characters.
func (m Message) FirstWords() string { return firstWords(m.Text()) }

// JSON returns the message on one line, with the tokens that it has: NaN and Infinity too.
func (m Message) JSON() []byte { return rawjson.Dense(m.Raw) }

// MarshalJSON returns the message with null in place of NaN and Infinity, which JSON does
// not have.
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
		if said := contentText(part.Get("content")); said != "" {
			return said
		}
	}
	if file := text(part.Get("filename")); file != "" {
		kind += " " + file
	}
	return "[" + kind + "]"
}

// IsMarker reports whether m marks the place where a line goes on in another
// file.
func (m Message) IsMarker() bool {
	_, ok := marks([]byte(gjson.GetBytes(m.Raw, "metadata").Raw))
	return ok
}
