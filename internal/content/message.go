package content

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Message is what one message says.
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

// A Part is one piece of what a message says.
type Part struct {
	Type     string          `json:"type"`
	Text     string          `json:"text,omitempty"`
	Asset    *Asset          `json:"asset,omitempty"`
	Filename string          `json:"filename,omitempty"` // of the asset
	Meta     json.RawMessage `json:"meta,omitempty"`     // an object without white space, nil if it is empty

	// FileField is the form field with the file that is to become the asset.
	FileField string `json:"-"`

	called string // the tool that a result is of, as [Follow] found it
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

// Own is what the form that a message came in says beside its parts. Its JSON is what
// Acontext calls the meta of a message.
type Own struct {
	Format Format          // the form, "" for a message of a session file that came in none
	Name   string          // who speaks
	Role   string          // the role there, if it is another than the message's: system, developer
	Rest   json.RawMessage // other members, an object without white space, nil if there are none
}

// MarshalJSON returns o as an object with the members source_format, name and
// original_role, as far as they are known, and the others.
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

// A Format is a form in which programs send and expect messages.
type Format string

// The formats.
const (
	OpenAI    Format = "openai"    // of chat completions
	Acontext  Format = "acontext"  // role and parts
	Anthropic Format = "anthropic" // of messages
	Gemini    Format = "gemini"    // of contents
)

// ParseFormat returns the format of that name, OpenAI for none. The error is an
// *[Error].
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case "":
		return OpenAI, nil
	case OpenAI, Acontext, Anthropic, Gemini:
		return f, nil
	}
	return "", &Error{Problem: fmt.Sprintf("the format %q is none of openai, acontext, anthropic or gemini", name)}
}

// An Error says what is wrong with what a program sent, in words for a person.
type Error struct {
	At      string // where: content[2].image_url, "" for all of it
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

// in returns err, if it is not nil, for the place at, inside which it was found.
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

// Tokens returns how many tokens m has, as count counts them: of all its texts, and
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

// A tool is what the meta of a tool call or a tool result says.
type tool struct {
	id        string // of the call, "" if nobody knows
	name      string // of the tool
	kind      string // what kind of call: function, tool_use ...
	arguments string // JSON, mostly
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

// meta returns a member of the part's meta, nil if there is none.
func (p *Part) meta(name string) []byte { return member(p.Meta, name) }
