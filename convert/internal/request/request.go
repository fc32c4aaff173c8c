// Package request reads and writes the requests that are sent to a provider of models.
package request

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A Provider is the form of what is sent to a provider: an array of messages, or an object
// with it in the member messages. A file may also have one such object on each line, as
// those do that models are tuned with; each is a conversation. There are no ids and no
// times: a message is known by what it says and what comes before it.
//
// The record of a conversation is the object, with an empty array in the place of the
// messages. A message that nobody understands rides along with the next one.
type Provider struct {
	Name string
	API  content.Format
}

// kindOf returns the format of the messages that a document begins with, "" if it begins
// with none. An array with messages that could be of either provider is OpenAI's.
func kindOf(head []byte) string {
	count := 0
	messages, role, said, openAI, anthropic, blocks, stranger := false, false, false, false, false, false, false
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		if len(path) > 0 && path[0] == "messages" {
			path = path[1:]
		} else if len(path) == 1 && path[0] != "" {
			anthropic = anthropic || path[0] == "system" || path[0] == "anthropic_version"
			s, _ := value.(string)
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
		case jsondoc.Match(path, "", "id"), jsondoc.Match(path, "", "parts"), jsondoc.Match(path, "", "uuid"):
			stranger = true
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
	}
	return "openai"
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

// document reads a conversation, or several that stand one behind the other.
func (q Provider) document(in io.Reader, array bool, number int, to transcript.Sink) error {
	d := &reader{Provider: q, to: to, line: number, streams: array || q.API != content.Anthropic}
	into := func(path []string) bool {
		return len(path) == 0 || !array && len(path) == 1 && path[0] == "messages"
	}
	err := jsondoc.WalkAll(in, into, func(v jsondoc.Visit) error {
		switch {
		case len(v.Path) == 0:
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
	if what := jsondoc.Damage(err); what != "" && d.last != "" {
		to.Problem(transcript.Problem{Line: number, What: what})
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
	streams bool // nothing that stands after the messages comes before them

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

// system returns the message that is the member system of a request to Anthropic, nil if
// there is none. Its record is an object with nothing but this member.
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

func (q Provider) Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	s := writer{Provider: q, lost: lost, trace: lost.Trace, pairs: calls.Adjacent(t.Messages)}
	if t.Format == q.Name && len(t.Records) > 0 {
		if gjson.GetBytes(t.Records[0], "messages").IsArray() {
			s.around = slices.Clone(t.Records[0])
			s.list = slices.Clone(t.Records[1:])
		} else {
			s.list = slices.Clone(t.Records)
		}
	}
	lost.Conversation(t)
	if t.Model != "" && s.around == nil {
		lost.Add(report.LostModels)
	}
	for _, m := range t.Messages {
		s.message(m)
	}
	s.flush()
	if s.system != nil {
		if s.around == nil { // system comes first: a file that is torn in the messages can be read
			s.around = []byte(`{"system":null,"messages":[]}`)
		}
		s.around = member.SetRaw(s.around, "system", s.system)
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range s.list {
		if i > 0 {
			b.WriteString(",\n ")
		}
		b.Write(item)
	}
	b.WriteByte(']')
	out := b.Bytes()
	if s.around != nil {
		var err error
		if out, err = sjson.SetRawBytes(s.around, "messages", out); err != nil {
			return err
		}
	}
	_, err := w.Write(append(out, '\n'))
	return err
}

type writer struct {
	Provider
	lost   *report.Report
	pairs  map[*content.Part]bool
	around []byte
	system json.RawMessage
	list   []json.RawMessage
	own    []*content.Message      // said elsewhere, not yet in list
	ownOf  [][]*transcript.Message // the messages of each of these
	trace  *report.Trace
}

func (s *writer) message(m *transcript.Message) {
	if m.Format == s.Name && len(m.Records) > 0 {
		s.flush()
		if system := gjson.GetBytes(m.Records[0], "system"); s.API == content.Anthropic && system.Exists() && len(m.Records) == 1 {
			s.system = json.RawMessage(system.Raw)
			s.trace.Record(m.Records[0], m)
		} else {
			s.trace.Record(m.Records[len(m.Records)-1], m)
			s.list = append(s.list, m.Records...)
		}
		return
	}
	said := &content.Message{Role: m.Role, Own: content.Own{Name: m.Own.Name, Role: m.Own.Role}}
	var results []content.Part
	for i := range m.Parts {
		p := s.part(m, &m.Parts[i])
		switch {
		case p == nil:
		case p.Type == content.TypeToolResult:
			results = append(results, *p)
		default:
			said.Parts = append(said.Parts, *p)
		}
	}
	if s.API == content.Anthropic {
		s.lost.Message(m, report.LostSystem)
		said.Own.Name = ""
		said.Parts = append(results, said.Parts...)
		if m.Own.Role != "" && s.isSystem(said) {
			s.trace.Record([]byte(`{"system":`+string(s.system)+`}`), m)
			return
		}
		said.Own.Role = ""
	} else {
		s.lost.Message(m, report.LostSystem, report.LostNames)
		for _, p := range results {
			s.say(m, &content.Message{Role: "user", Parts: []content.Part{p}})
		}
	}
	switch {
	case len(said.Parts) > 0:
		s.say(m, said)
	case len(results) == 0:
		s.lost.Add(report.LostMessages)
	}
}

// isSystem reports whether what a system says is put before the messages: only what
// stands there already is.
func (s *writer) isSystem(said *content.Message) bool {
	if len(s.list)+len(s.own) > 0 || s.system != nil {
		s.lost.Add(report.LostSystem)
		return false
	}
	raw := content.Items(s.API, []*content.Message{said}, nil)[0]
	s.system = json.RawMessage(gjson.GetBytes(raw, "content").Raw)
	return true
}

// part returns a part of m as the provider takes it, nil for nothing.
func (s *writer) part(m *transcript.Message, p *content.Part) *content.Part {
	text := func() *content.Part {
		s.lost.Part(p)
		q := content.Text(parts.Text(p))
		return &q
	}
	toOpenAI := s.API == content.OpenAI
	switch p.Type {
	case content.TypeText:
		if p.Text == "" {
			return nil
		}
		q := content.Text(p.Text)
		return &q
	case content.TypeThinking:
		if parts.Signature(p) != "" && !toOpenAI && m.Role == "assistant" {
			return p
		}
		s.lost.Signature(p)
		if p.Text == "" {
			return nil
		}
		return text()
	case content.TypeToolCall:
		if !s.pairs[p] {
			return text()
		}
		return p
	case content.TypeToolResult:
		if !s.pairs[p] {
			return text()
		}
		if toOpenAI {
			s.lost.Count(report.LostFailures, p.Call().Failed)
			s.lost.Extras(p)
		}
		return p
	case content.TypeRedacted:
		if toOpenAI {
			s.lost.Part(p)
			return nil
		}
		return p
	case content.TypeData:
		if p.Text == "" {
			s.lost.Part(p)
			return nil
		}
		return p
	}
	_, data, url := p.File()
	_, isText := parts.TextFile(p)
	there := data != "" || isText || strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
	raw := content.Items(s.API, []*content.Message{{Role: "user", Parts: []content.Part{*p}}}, nil)[0]
	if said := gjson.GetBytes(raw, "content"); !there || m.Role == "assistant" || m.Own.Role != "" || said.Raw == "[]" || said.Raw == `""` {
		return text()
	}
	return p
}

// say takes what m says, which was said elsewhere. Answers that follow a call become a part
// of it: the results of all come after them.
func (s *writer) say(m *transcript.Message, said *content.Message) {
	if n := len(s.own); n > 0 && said.Role == "assistant" && s.own[n-1].Role == "assistant" &&
		slices.ContainsFunc(s.own[n-1].Parts, func(p content.Part) bool { return p.Type == content.TypeToolCall }) {
		s.own[n-1].Parts = append(s.own[n-1].Parts, said.Parts...)
		s.ownOf[n-1] = append(s.ownOf[n-1], m)
		return
	}
	s.own, s.ownOf = append(s.own, said), append(s.ownOf, []*transcript.Message{m})
}

func (s *writer) flush() {
	for i, item := range content.Items(s.API, s.own, nil) {
		s.trace.Record(item, s.ownOf[i]...)
		s.list = append(s.list, item)
	}
	s.own, s.ownOf = nil, nil
}
