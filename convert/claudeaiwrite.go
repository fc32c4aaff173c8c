package convert

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// writeClaudeAI writes an array with one conversation and all its messages.
func writeClaudeAI(w io.Writer, t *Transcript, o Options, lost *report) error {
	around := []byte(`{"uuid":"","name":"","summary":"","created_at":"","updated_at":"","account":{"uuid":""},"chat_messages":[],"current_leaf_message_uuid":""}`)
	set := func(name string, value any) { around = setRaw(around, name, rawjson.Compact(value)) }
	s := claudeAIWriter{lost: lost, t: t, outline: outlineOf(t), tip: map[string]string{}}
	lost.conversation(t, lostTitles)
	if t.Format == "claude-ai" && len(t.Records) > 0 {
		around = bytes.Clone(t.Records[0])
	} else {
		created := t.Created
		if created.IsZero() {
			created = o.Now
		}
		set("created_at", isoMicro(created))
		set("updated_at", isoMicro(o.Now))
		if t.Model != "" {
			set("model", t.Model)
		}
	}
	if textOf(around, "name") != t.Title {
		set("name", t.Title)
	}
	if o.ID != "" && textOf(around, "uuid") != o.ID {
		set("uuid", o.ID)
	}
	for i := range t.Messages {
		s.message(i)
	}
	// Parents are written unless all is one line that says none.
	linked, before := false, ""
	for _, n := range s.list {
		if !n.rider {
			linked = linked || n.parent != before || n.m == nil || textOf(n.raw, "parent_message_uuid") != ""
			before = n.key
		}
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, n := range s.list {
		now, says := textOf(n.raw, "parent_message_uuid"), gjson.GetBytes(n.raw, "parent_message_uuid").Exists()
		if linked && !n.rider && (!says && i > 0 || now != n.parent && !(n.parent == "" && now == noParent)) {
			parent := n.parent
			if parent == "" {
				parent = noParent
			}
			if n.raw = setRaw(n.raw, "parent_message_uuid", rawjson.Compact(parent)); textOf(n.raw, "uuid") == "" {
				n.raw = setRaw(n.raw, "uuid", rawjson.Compact(n.key)) // it was made of all that is said
			}
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		b.Write(n.raw)
	}
	b.WriteString("\n]")
	leaf := s.tip[leafOf(t)]
	if has := gjson.GetBytes(around, "current_leaf_message_uuid").Exists(); has || linked && len(s.list) > 0 && leaf != s.list[len(s.list)-1].key {
		if textOf(around, "current_leaf_message_uuid") != leaf {
			set("current_leaf_message_uuid", leaf)
		}
	}
	around = setRaw(around, "chat_messages", b.Bytes())
	_, err := w.Write(append(append([]byte("["), around...), "]\n"...))
	return err
}

// A claudeAIRecord is one message that is written.
type claudeAIRecord struct {
	key, parent string
	raw         []byte
	m           *Message // whose record it is, nil for what was said elsewhere
	rider       bool
}

type claudeAIWriter struct {
	lost *report
	t    *Transcript
	outline
	list []*claudeAIRecord
	tip  map[string]string // the messages of the service that hold messages, by their ids
}

func (s *claudeAIWriter) message(i int) {
	m := s.t.Messages[i]
	if _, done := s.tip[m.ID]; done {
		return // a part of a record
	}
	parent := m.Parent
	if s.has(parent) {
		parent = s.tip[parent]
	}
	if m.Format == "claude-ai" && len(m.Records) > 0 {
		main := -1
		for i, r := range m.Records {
			if uuid := textOf(r, "uuid"); uuid == m.ID || main < 0 && claudeAIMessages(r, m.ID, &openCalls{}) != nil {
				main = i
			}
		}
		if main >= 0 && s.whole(m, m.Records[main]) {
			for i, r := range m.Records {
				n := &claudeAIRecord{key: textOf(r, "uuid"), parent: parent, raw: r, m: m, rider: i != main}
				if i == main && n.key != m.ID && n.key != "" {
					n.key = m.ID
					n.raw = setRaw(r, "uuid", rawjson.Compact(m.ID))
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
func (s *claudeAIWriter) whole(m *Message, record json.RawMessage) bool {
	all := claudeAIMessages(record, m.ID, &openCalls{})
	for _, part := range all {
		if !s.has(part.ID) {
			return false
		}
	}
	for _, part := range all {
		s.tip[part.ID] = m.ID
	}
	return true
}

func (s *claudeAIWriter) words(m *Message, parent string) {
	at := m.Time
	block := func(pairs ...any) map[string]any {
		b := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			b[pairs[i].(string)] = pairs[i+1]
		}
		if !at.IsZero() {
			b["start_timestamp"], b["stop_timestamp"] = isoMicro(at), isoMicro(at)
		}
		return b
	}
	sender := "human"
	if m.Role == "assistant" || m.HasPart(content.TypeToolResult) {
		sender = "assistant"
	}
	s.lost.message(m, lostTimes, lostModels)
	s.lost.count(lostModels, m.Model != "" && m.Model != s.t.Model)
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
			if signature := signature(p); signature != "" {
				b["signature"] = signature
			}
			blocks = append(blocks, b)
		case content.TypeToolCall:
			blocks = append(blocks, block("type", "tool_use", "id", c.ID, "name", c.Name, "input", arguments(c.Arguments)))
		case content.TypeToolResult:
			s.lost.extras(p)
			blocks = append(blocks, block("type", "tool_result", "tool_use_id", c.ID, "name", c.Name, "is_error", c.Failed,
				"content", []map[string]any{{"type": "text", "text": p.Text}}))
		case content.TypeRedacted:
			s.lost.part(p)
		case content.TypeFile:
			if text, ok := textFile(p); ok {
				attachments = append(attachments, map[string]any{"file_name": p.Filename, "file_type": "text/plain", "file_size": len(text), "extracted_content": text})
				continue
			}
			fallthrough
		default:
			if p.Type != content.TypeData || p.Text == "" {
				s.lost.part(p)
			}
			if text := asText(p); text != "" {
				blocks = append(blocks, block("type", "text", "text", text))
				texts = append(texts, text)
			}
		}
	}
	if len(blocks)+len(attachments) == 0 {
		s.lost.add(lostMessages)
		s.tip[m.ID] = parent
		return
	}
	when := ""
	if !at.IsZero() {
		when = isoMicro(at)
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
	}{m.ID, joinLines(texts...), blocks, sender, when, when, attachments, []map[string]any{}, ""})
	s.tip[m.ID] = m.ID
	s.list = append(s.list, &claudeAIRecord{key: m.ID, parent: parent, raw: raw})
}
