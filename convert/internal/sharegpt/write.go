package sharegpt

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Write writes a path on one line. Records with line breaks are compacted.
func Write(w io.Writer, t *transcript.Transcript, _ transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, format)
	lost.Conversation(t)
	around := []byte(`{"conversations":[]}`)
	s := writer{lost: lost, pairs: calls.Adjacent(t.Messages)}
	if t.Format == format && len(t.Records) > 0 {
		around = bytes.Clone(jsonl.OneLine(t.Records[0]))
	} else {
		lost.Count(report.LostModels, t.Model != "")
	}
	for _, m := range t.Messages {
		if m.Format == format && len(m.Records) > 0 {
			for i, r := range m.Records {
				if r = jsonl.OneLine(r); i == len(m.Records)-1 {
					lost.Trace.Record(r, m)
				}
				if system := gjson.GetBytes(r, "system"); system.Exists() && !gjson.GetBytes(r, "from").Exists() {
					around = member.SetRaw(around, "system", []byte(system.Raw))
				} else {
					s.list = append(s.list, r)
				}
			}
			continue
		}
		s.message(m)
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range s.list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(r)
	}
	b.WriteByte(']')
	_, err := w.Write(append(member.SetRaw(around, "conversations", b.Bytes()), '\n'))
	return err
}

type writer struct {
	lost  *report.Report
	pairs map[*content.Part]bool
	list  []json.RawMessage
}

// A turn is what one speaker says.
type turn struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// message writes the turns of a message: its results, its texts, and its calls.
func (s *writer) message(m *transcript.Message) {
	s.lost.Message(m, report.LostSystem)
	var texts []string
	var made []call
	written := false
	put := func(from, value string) {
		r := rawjson.Compact(turn{from, value})
		s.lost.Trace.Record(r, m)
		s.list = append(s.list, r)
		written = true
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeText, p.Type == content.TypeData && p.Text != "":
			texts = append(texts, p.Text)
		case p.Type == content.TypeToolCall && s.pairs[p]:
			made = append(made, call{c.Name, parts.Arguments(c.Arguments)})
		case p.Type == content.TypeToolResult && s.pairs[p]:
			s.lost.Count(report.LostFailures, c.Failed)
			s.lost.Extras(p)
			put("observation", p.Text)
		default:
			s.lost.Signature(p)
			s.lost.Part(p)
			texts = append(texts, parts.Text(p))
		}
	}
	from := "human"
	switch {
	case m.Role == "assistant":
		from = "gpt"
	case m.Own.Role != "":
		from = "system"
	}
	if text := parts.JoinLines(texts...); text != "" {
		put(from, text)
	}
	switch len(made) {
	case 0:
	case 1:
		put("function_call", string(rawjson.Compact(made[0])))
	default:
		put("function_call", string(rawjson.Compact(made)))
	}
	s.lost.Count(report.LostMessages, !written)
}
