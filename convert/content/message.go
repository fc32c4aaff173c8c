package content

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Message is the content of one message.
type Message struct {
	Role  string // user or assistant
	Parts []Part // not nil
	Own   Own
}

// The roles of a message.
const (
	user      = "user"
	assistant = "assistant"
)

// A Part is one part of a message.
type Part struct {
	Type     string          `json:"type"`
	Text     string          `json:"text,omitempty"`
	Asset    *Asset          `json:"asset,omitempty"`
	Filename string          `json:"filename,omitempty"` // of the asset
	Meta     json.RawMessage `json:"meta,omitempty"`     // an object without white space, nil if empty

	// FileField is the form field with the file for the asset.
	FileField string `json:"-"`

	called string // the name of a result's tool, set by [Follow]
}

// The types of parts.
const (
	TypeText       = "text"
	TypeImage      = "image"
	TypeAudio      = "audio"
	TypeVideo      = "video"
	TypeFile       = "file"
	TypeToolCall   = "tool-call"
	TypeToolResult = "tool-result"
	TypeData       = "data"
	TypeThinking   = "thinking"
	TypeRedacted   = "redacted_thinking"
)

func isPartType(name string) bool {
	switch name {
	case TypeText, TypeImage, TypeAudio, TypeVideo, TypeFile, TypeToolCall, TypeToolResult, TypeData, TypeThinking, TypeRedacted:
		return true
	}
	return false
}

// An Asset is a file that a part refers to.
type Asset struct {
	Bucket string `json:"bucket"`
	S3Key  string `json:"s3_key"`
	ETag   string `json:"etag"`
	SHA256 string `json:"sha256"`
	MIME   string `json:"mime"`
	SizeB  int64  `json:"size_b"`
}

// Own holds the members of a message in its original format besides its parts. Its
// JSON is Acontext's meta of a message.
type Own struct {
	Format Format          // the original format, "" for a message of a session file without one
	Name   string          // name of the author
	Role   string          // the original role if it differs from the message's: system, developer
	Rest   json.RawMessage // other members, an object without white space, or nil
}

// MarshalJSON returns o as an object with the members source_format, name and
// original_role unless empty, and the other members.
func (o Own) MarshalJSON() ([]byte, error) {
	var w writer
	w.open('{')
	for _, m := range []struct{ name, value string }{
		{"source_format", string(o.Format)}, {"name", o.Name}, {"original_role", o.Role},
	} {
		if m.value != "" {
			w.text(m.name, m.value)
		}
	}
	each(o.Rest, w.member)
	w.close('}')
	return w.b, nil
}

// A Format is a format in which programs send and expect messages.
type Format string

// The formats.
const (
	OpenAI    Format = "openai"    // of chat completions
	Acontext  Format = "acontext"  // role and parts
	Anthropic Format = "anthropic" // of messages
	Gemini    Format = "gemini"    // of contents
)

// ParseFormat returns the format with a name, OpenAI for "". The error is an
// *[Error].
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case "":
		return OpenAI, nil
	case OpenAI, Acontext, Anthropic, Gemini:
		return f, nil
	}
	return "", &Error{Problem: fmt.Sprintf("unknown format %q; want openai, acontext, anthropic or gemini", name)}
}

// An Error is an error in the input of a program, for a person.
type Error struct {
	At      string // path such as content[2].image_url, "" for the complete input
	Problem string
}

func (e *Error) Error() string {
	if e.At == "" {
		return e.Problem
	}
	return e.At + ": " + e.Problem
}

func wrong(at, format string, args ...any) error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

// in returns err, if not nil, with at prepended to its path.
func in(at string, err error) error {
	e, ok := err.(*Error)
	switch {
	case !ok:
		return err
	case e.At == "":
		return &Error{at, e.Problem}
	case e.At[0] != '[':
		at += "."
	}
	return &Error{at + e.At, e.Problem}
}

// Tokens returns the number of tokens of m as counted by count: of all texts, and
// of the names and arguments of tool calls.
func (m *Message) Tokens(count func(text string) int) int {
	n := 0
	add := func(s string) {
		if s != "" {
			n += count(s)
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		add(p.Text)
		if p.Type == TypeToolCall {
			c := p.tool()
			add(c.name)
			add(c.arguments)
		}
	}
	return n
}

func (m *Message) hasResults() bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Type == TypeToolResult })
}

// A tool is the decoded meta of a tool call or tool result.
type tool struct {
	id        string // of the call, "" if unknown
	name      string // of the tool
	kind      string // type of the call: function, tool_use and others
	arguments string // usually JSON
	hasArgs   bool
	signature string
}

func (p *Part) tool() tool {
	idName := "tool_call_id"
	if p.Type == TypeToolCall {
		idName = "id"
	}
	var id, name, kind, arguments, signature []byte
	each(p.Meta, func(key, value []byte) {
		switch string(key) {
		case idName:
			set(&id, value)
		case "name":
			set(&name, value)
		case "type":
			set(&kind, value)
		case "arguments":
			set(&arguments, value)
		case "signature":
			set(&signature, value)
		}
	})
	t := tool{text(id), text(name), text(kind), text(arguments), arguments != nil, text(signature)}
	if !isText(arguments) {
		t.arguments = string(arguments)
	}
	if t.name == "" {
		t.name = p.called
	}
	return t
}

// meta returns a member of the part's meta, or nil.
func (p *Part) meta(name string) []byte { return member(p.Meta, name) }
