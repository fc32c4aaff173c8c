// Package request reads and writes the requests that are sent to a provider of models.
package request

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A Provider is the request format of a provider: an array of messages, or an object with
// the array in the member messages. A file may also have one such object per line, as
// files for fine-tuning do; each is a conversation. There are no ids and times: a message
// is identified by its content and the messages before it.
//
// The record of a conversation is the object with an empty array of messages. A
// message of an unknown form is kept with the next one.
type Provider struct {
	Name string
	API  content.Format
	// Lines reports whether a file has one object per line, and none names a model: then
	// it is not a request but data for training.
	Lines bool
}

// ClinesContext begins the text that Cline, Roo Code and Kilo Code add to prompts.
const ClinesContext = "<environment_details>"

// kindOf returns the provider whose messages a document begins with, "" if
// there is none. An array of messages that could be of either provider is
// OpenAI's.
func kindOf(head []byte) string {
	count := 0
	messages, role, said, object, model, openAI, anthropic, blocks, stranger := false, false, false, false, false, false, false, false, false
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		if len(path) > 0 && path[0] == "messages" {
			object = true
			path = path[1:]
		} else if len(path) == 1 && path[0] != "" {
			anthropic = anthropic || path[0] == "system" || path[0] == "anthropic_version"
			s, _ := value.(string)
			model = model || path[0] == "model"
			anthropic = anthropic || path[0] == "model" && strings.HasPrefix(s, "claude")
			return true
		}
		if jsondoc.Match(path, "") {
			count++
			messages = messages || value == json.Delim('{')
		}
		if len(path) == 0 || path[0] != "" {
			return true
		}
		s, is := value.(string)
		switch {
		case jsondoc.Match(path, "", "role") && is:
			role = true
			openAI = openAI || s != "user" && s != "assistant"
			stranger = stranger || count == 1 && !slices.Contains([]string{"system", "developer", "user", "assistant", "tool", "function"}, s)
		case jsondoc.Match(path, "", "id"), jsondoc.Match(path, "", "parts"), jsondoc.Match(path, "", "uuid"),
			jsondoc.Match(path, "", "ts"), jsondoc.Match(path, "", "modelInfo"), // of Cline
			jsondoc.Match(path, "", "messageId"): // of Amp and LibreChat
			stranger = true
		case jsondoc.Match(path, "", "content", "", "text"):
			stranger = stranger || !object && strings.HasPrefix(s, ClinesContext)
		case jsondoc.Match(path, "", "content"):
			said = true
		case jsondoc.Match(path, "", "tool_calls"), jsondoc.Match(path, "", "function_call"), jsondoc.Match(path, "", "content", "", "image_url"):
			said, openAI = true, true
		case jsondoc.Match(path, "", "content", "", "source"):
			blocks = true
		case jsondoc.Match(path, "", "content", "", "type"):
			blocks = blocks || slices.Contains([]string{"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}, s)
		}
		return !stranger
	})
	switch {
	case !messages || !role || !said || stranger:
		return ""
	case blocks || anthropic && !openAI:
		return "anthropic"
	case object && !model && isLines(head):
		return "messages"
	}
	return "openai"
}

// isLines reports whether the first object of a file is on a line of its own.
func isLines(head []byte) bool {
	first, _, more := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return !more || rawjson.Check(bytes.TrimSpace(first)) == nil
}

// Detect reports whether head begins messages for the provider.
func (q Provider) Detect(head []byte) bool { return kindOf(head) == q.Name }

func (q Provider) Read(in io.Reader, to transcript.Sink) error {
	r := bufio.NewReaderSize(in, jsonl.HeadSize)
	head, _ := r.Peek(jsonl.HeadSize)
	head = bytes.TrimSpace(jsonl.TrimBOM(head))
	if len(head) == 0 {
		return nil
	}
	if first, rest, _ := bytes.Cut(head, []byte("\n")); len(bytes.TrimSpace(rest)) > 0 && rawjson.Check(bytes.TrimSpace(first)) == nil && first[0] == '{' {
		return jsonl.Read(r, to, func(l jsonl.Line) error {
			if !l.Get("messages").IsArray() {
				to.Problem(l.Problem("there are no messages in it"))
				return nil
			}
			return q.document(bytes.NewReader(l.Raw), false, l.Number, to)
		})
	}
	return q.document(r, head[0] == '[', 0, to)
}

// document reads one conversation or several concatenated ones.
func (q Provider) document(in io.Reader, array bool, number int, to transcript.Sink) error {
	d := &reader{Provider: q, to: to, line: number, streams: array || q.API != content.Anthropic}
	into := func(path []string) bool {
		return len(path) == 0 || !array && len(path) == 1 && path[0] == "messages"
	}
	ended := false // a document has
	err := jsondoc.WalkAll(in, into, func(v jsondoc.Visit) error {
		switch {
		case len(v.Path) == 0:
			ended = true
			return d.end()
		case v.Path[len(v.Path)-1] == "" && v.Raw != nil && (array || len(v.Path) == 2):
			return d.message(v.Raw, v.Offset)
		case array || len(v.Path) > 1:
		case v.Path[0] == "messages":
			d.around.Add("messages", []byte("[]"))
		default:
			d.around.Add(v.Path[0], v.Raw)
		}
		return nil
	})
	if what := jsondoc.Damage(err); what != "" && (d.last != "" || ended) {
		to.Problem(transcript.Problem{Line: number, What: what})
		if d.last == "" {
			return nil
		}
		if !d.streams && !gjson.GetBytes(d.around.Record(), "system").Exists() {
			to.Problem(transcript.Problem{Line: number, What: "its messages are not read: all ids depend on the member system, which may have followed"})
			return nil
		}
		if !array {
			d.around.Add("messages", []byte("[]"))
		}
		err = d.end()
	}
	return err
}

type reader struct {
	Provider
	to      transcript.Sink
	line    int
	streams bool // no member after the messages must precede them

	around  jsondoc.Hull
	list    []*transcript.Message
	last    string
	pending []json.RawMessage
}

func (d *reader) message(raw json.RawMessage, offset int64) error {
	said, err := content.Parse(d.API, raw, nil)
	if err != nil {
		d.to.Problem(transcript.Problem{Line: d.line, Offset: offset, What: err.Error()})
		d.pending = append(d.pending, raw)
		return nil
	}
	if d.streams {
		if err := d.flush(); err != nil {
			return err
		}
	}
	d.add(said, raw)
	return nil
}

func (d *reader) add(said *content.Message, raw json.RawMessage) {
	said.Own.Format, said.Own.Rest = "", nil
	m := &transcript.Message{Message: *said, ID: transcript.ChainID(d.last, raw), Parent: d.last, Format: d.Name, Records: append(d.pending, raw)}
	d.last, d.pending = m.ID, nil
	d.list = append(d.list, m)
}

func (d *reader) flush() error {
	for _, m := range d.list {
		if err := d.to.Message(m); err != nil {
			return err
		}
	}
	d.list = d.list[:0]
	return nil
}

// end ends a conversation, unless it has no messages.
func (d *reader) end() error {
	c := transcript.Conversation{Anonymous: true}
	defer func() { d.around, d.list, d.last, d.pending = jsondoc.Hull{}, nil, "", nil }()
	if d.last == "" {
		return nil
	}
	if raw := d.around.Record(); raw != nil {
		c.Model = member.Text(raw, "model")
		if system := d.system(raw); system != nil {
			raw = member.SetRaw(raw, "system", []byte("null"))
			d.first(system)
		}
		c.Records = []json.RawMessage{raw}
	}
	if len(d.pending) > 0 {
		if n := len(d.list); n > 0 {
			d.list[n-1].Records = append(d.list[n-1].Records, d.pending...)
		} else {
			c.Records = append(c.Records, d.pending...)
		}
	}
	if err := d.flush(); err != nil {
		return err
	}
	return d.to.End(&c)
}

// system returns the message for the member system of a request to Anthropic,
// nil if there is none. Its record is an object with only this member.
func (d *reader) system(around []byte) *transcript.Message {
	v := gjson.GetBytes(around, "system")
	if d.API != content.Anthropic || !v.IsArray() && v.Type != gjson.String {
		return nil
	}
	said, err := content.Parse(d.API, []byte(`{"role":"user","content":`+v.Raw+`}`), nil)
	if err != nil || len(said.Parts) == 0 || v.Raw == `""` {
		return nil
	}
	said.Own = content.Own{Role: "system"}
	record := json.RawMessage(`{"system":` + v.Raw + `}`)
	return &transcript.Message{Message: *said, ID: transcript.ChainID("", record), Format: d.Name, Records: []json.RawMessage{record}}
}

// first puts a message before all others, whose ids depend on it.
func (d *reader) first(m *transcript.Message) {
	last := m.ID
	for _, next := range d.list {
		next.ID, next.Parent = transcript.ChainID(last, next.Records[len(next.Records)-1]), last
		last = next.ID
	}
	d.list = append([]*transcript.Message{m}, d.list...)
}
