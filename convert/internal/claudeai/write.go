package claudeai

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Write writes an array with one conversation and all its messages.
func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	around := []byte(`{"uuid":"","name":"","summary":"","created_at":"","updated_at":"","account":{"uuid":""},"chat_messages":[],"current_leaf_message_uuid":""}`)
	set := func(name string, value any) { around = member.SetRaw(around, name, rawjson.Compact(value)) }
	s := writer{lost: lost, t: t, Outline: tree.NewOutline(t), tip: map[string]string{}}
	lost.Conversation(t, report.LostTitles)
	if t.Format == "claude-ai" && len(t.Records) > 0 {
		around = bytes.Clone(t.Records[0])
	} else {
		created := t.Created
		if created.IsZero() {
			created = o.Now
		}
		set("created_at", times.ISOMicro(created))
		set("updated_at", times.ISOMicro(o.Now))
		if t.Model != "" {
			set("model", t.Model)
		}
	}
	if member.Text(around, "name") != t.Title {
		set("name", t.Title)
	}
	if o.ID != "" && member.Text(around, "uuid") != o.ID {
		set("uuid", o.ID)
	}
	for i := range t.Messages {
		s.message(i)
	}
	// Parents are written unless all messages are linear and name none.
	linked, before := false, ""
	for _, n := range s.list {
		if !n.rider {
			linked = linked || n.parent != before || n.m == nil || member.Text(n.raw, "parent_message_uuid") != ""
			before = n.key
		}
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, n := range s.list {
		now, says := member.Text(n.raw, "parent_message_uuid"), gjson.GetBytes(n.raw, "parent_message_uuid").Exists()
		if linked && !n.rider && (!says && i > 0 || now != n.parent && !(n.parent == "" && now == noParent)) {
			parent := n.parent
			if parent == "" {
				parent = noParent
			}
			if n.raw = member.SetRaw(n.raw, "parent_message_uuid", rawjson.Compact(parent)); member.Text(n.raw, "uuid") == "" {
				n.raw = member.SetRaw(n.raw, "uuid", rawjson.Compact(n.key)) // it is generated from all of the content
			}
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		b.Write(n.raw)
	}
	b.WriteString("\n]")
	leaf := s.tip[tree.Leaf(t)]
	if has := gjson.GetBytes(around, "current_leaf_message_uuid").Exists(); has || linked && len(s.list) > 0 && leaf != s.list[len(s.list)-1].key {
		if member.Text(around, "current_leaf_message_uuid") != leaf {
			set("current_leaf_message_uuid", leaf)
		}
	}
	around = member.SetRaw(around, "chat_messages", b.Bytes())
	_, err := w.Write(append(append([]byte("["), around...), "]\n"...))
	return err
}

// A row is a message to write.
type row struct {
	key, parent string
	raw         []byte
	m           *transcript.Message // of a record, nil for a converted message
	rider       bool
}

type writer struct {
	lost *report.Report
	t    *transcript.Transcript
	tree.Outline
	list []*row
	tip  map[string]string // by message: the message of the service that has it
}

func (s *writer) message(i int) {
	m := s.t.Messages[i]
	if _, done := s.tip[m.ID]; done {
		return // a part of a record
	}
	parent := m.Parent
	if s.Has(parent) {
		parent = s.tip[parent]
	}
	if m.Format == "claude-ai" && len(m.Records) > 0 {
		main := -1
		for i, r := range m.Records {
			if uuid := member.Text(r, "uuid"); uuid == m.ID || main < 0 && messagesOf(r, m.ID, &openCalls{}) != nil {
				main = i
			}
		}
		if main >= 0 && s.whole(m, m.Records[main]) {
			for i, r := range m.Records {
				n := &row{key: member.Text(r, "uuid"), parent: parent, raw: r, m: m, rider: i != main}
				if i == main && n.key != m.ID && n.key != "" {
					n.key = m.ID
					n.raw = member.SetRaw(r, "uuid", rawjson.Compact(m.ID))
				} else if i == main {
					n.key = m.ID
				}
				s.list = append(s.list, n)
			}
			return
		}
	}
	s.words(m, parent)
}

// whole reports whether all messages that a record of m makes are written, and notes that
// they are.
func (s *writer) whole(m *transcript.Message, record json.RawMessage) bool {
	all := messagesOf(record, m.ID, &openCalls{})
	for _, part := range all {
		if !s.Has(part.ID) {
			return false
		}
	}
	for _, part := range all {
		s.tip[part.ID] = m.ID
	}
	return true
}

func (s *writer) words(m *transcript.Message, parent string) {
	at := m.Time
	block := func(pairs ...any) map[string]any {
		b := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			b[pairs[i].(string)] = pairs[i+1]
		}
		if !at.IsZero() {
			b["start_timestamp"], b["stop_timestamp"] = times.ISOMicro(at), times.ISOMicro(at)
		}
		return b
	}
	sender := "human"
	if m.Role == "assistant" || m.HasPart(content.TypeToolResult) {
		sender = "assistant"
	}
	s.lost.Message(m, report.LostTimes, report.LostModels)
	s.lost.Count(report.LostModels, m.Model != "" && m.Model != s.t.Model)
	blocks, attachments := []map[string]any{}, []map[string]any{}
	var texts []string
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch p.Type {
		case content.TypeText:
			if p.Text == "" {
				continue
			}
			blocks = append(blocks, block("type", "text", "text", p.Text))
			texts = append(texts, p.Text)
		case content.TypeThinking:
			b := block("type", "thinking", "thinking", p.Text)
			if signature := parts.Signature(p); signature != "" {
				b["signature"] = signature
			}
			blocks = append(blocks, b)
		case content.TypeToolCall:
			blocks = append(blocks, block("type", "tool_use", "id", c.ID, "name", c.Name, "input", parts.Arguments(c.Arguments)))
		case content.TypeToolResult:
			s.lost.Extras(p)
			blocks = append(blocks, block("type", "tool_result", "tool_use_id", c.ID, "name", c.Name, "is_error", c.Failed,
				"content", []map[string]any{{"type": "text", "text": p.Text}}))
		case content.TypeRedacted:
			s.lost.Part(p)
		case content.TypeFile:
			if text, ok := parts.TextFile(p); ok {
				attachments = append(attachments, map[string]any{"file_name": p.Filename, "file_type": "text/plain", "file_size": len(text), "extracted_content": text})
				continue
			}
			fallthrough
		default:
			if p.Type != content.TypeData || p.Text == "" {
				s.lost.Part(p)
			}
			if text := parts.Text(p); text != "" {
				blocks = append(blocks, block("type", "text", "text", text))
				texts = append(texts, text)
			}
		}
	}
	if len(blocks)+len(attachments) == 0 {
		s.lost.Add(report.LostMessages)
		s.tip[m.ID] = parent
		return
	}
	when := ""
	if !at.IsZero() {
		when = times.ISOMicro(at)
	}
	raw := rawjson.Compact(struct {
		UUID        string           `json:"uuid"`
		Text        string           `json:"text"`
		Content     []map[string]any `json:"content"`
		Sender      string           `json:"sender"`
		Created     string           `json:"created_at"`
		Updated     string           `json:"updated_at"`
		Attachments []map[string]any `json:"attachments"`
		Files       []map[string]any `json:"files"`
		Parent      string           `json:"parent_message_uuid"`
	}{m.ID, parts.JoinLines(texts...), blocks, sender, when, when, attachments, []map[string]any{}, ""})
	s.tip[m.ID] = m.ID
	s.list = append(s.list, &row{key: m.ID, parent: parent, raw: raw})
}
