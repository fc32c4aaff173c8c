package request

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

func (q Provider) Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	s := writer{Provider: q, lost: lost, trace: lost.Trace, pairs: calls.Adjacent(t.Messages)}
	if q.holds(t.Format) && len(t.Records) > 0 {
		s.list = slices.Clone(t.Records)
		if gjson.GetBytes(s.list[0], "messages").IsArray() {
			s.around, s.list = q.compact(s.list[0]), s.list[1:]
		}
		if t.Format != q.Name {
			lost.Count(report.LostMessages, len(s.list) > 0)
			s.list = nil
			if q.Lines && gjson.GetBytes(s.around, "model").Exists() { // with it, it would be a request
				s.around = member.Drop(s.around, "model")
				lost.Add(report.LostModels)
			}
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
		if s.around == nil { // system comes first, so that a file that is truncated in the messages can be read
			s.around = []byte(`{"system":null,"messages":[]}`)
		}
		s.around = member.SetRaw(s.around, "system", s.system)
	}
	separator := ",\n "
	if q.Lines {
		separator = ","
		if s.around == nil && t.Format != q.Name {
			s.around = []byte(`{"messages":[]}`)
		}
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range s.list {
		if i > 0 {
			b.WriteString(separator)
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

// holds reports whether records of a format are written as they are: those of the own one, and
// requests to OpenAI and data for training have the same messages.
func (q Provider) holds(format string) bool {
	return format == q.Name || q.API == content.OpenAI && (format == "openai" || format == "messages")
}

// native returns the records of a message that [Provider.holds]. Of another format, it is the
// message alone, as what is kept with it has an unknown form. They have no line breaks if the file
// has lines.
func (q Provider) native(format string, records []json.RawMessage) []json.RawMessage {
	if format == q.Name {
		list := make([]json.RawMessage, len(records))
		for i, r := range records {
			list[i] = q.compact(r)
		}
		return list
	}
	at := slices.IndexFunc(records, func(r json.RawMessage) bool {
		_, err := content.Parse(q.API, r, nil)
		return err == nil
	})
	return []json.RawMessage{q.compact(records[max(at, 0)])}
}

// compact returns a copy of a record, without line breaks if the file has lines.
func (q Provider) compact(record json.RawMessage) json.RawMessage {
	if q.Lines {
		record = jsonl.OneLine(record)
	}
	return slices.Clone(record)
}

type writer struct {
	Provider
	lost   *report.Report
	pairs  map[*content.Part]bool
	around []byte
	system json.RawMessage
	list   []json.RawMessage
	own    []*content.Message      // from other formats, not yet in list
	ownOf  [][]*transcript.Message // the messages of each of these
	trace  *report.Trace
}

func (s *writer) message(m *transcript.Message) {
	if s.holds(m.Format) && len(m.Records) > 0 {
		s.flush()
		records := s.native(m.Format, m.Records)
		s.lost.Count(report.LostMessages, len(records) < len(m.Records))
		if system := gjson.GetBytes(records[0], "system"); s.API == content.Anthropic && system.Exists() && len(records) == 1 {
			s.system = json.RawMessage(system.Raw)
			s.trace.Record(records[0], m)
		} else {
			s.trace.Record(records[len(records)-1], m)
			s.list = append(s.list, records...)
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

// isSystem reports whether a system message belongs before the messages: only
// leading ones do.
func (s *writer) isSystem(said *content.Message) bool {
	if len(s.list)+len(s.own) > 0 || s.system != nil {
		s.lost.Add(report.LostSystem)
		return false
	}
	raw := content.Items(s.API, []*content.Message{said}, nil)[0]
	s.system = json.RawMessage(gjson.GetBytes(raw, "content").Raw)
	return true
}

// part returns a part of m in the provider's form, nil if it is omitted.
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

// say adds a converted message. Assistant messages after a call are merged into it: the
// results of all calls follow.
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
