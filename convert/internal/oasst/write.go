package oasst

import (
	"bytes"
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nested"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	s := writer{t: t, Outline: tree.NewOutline(t), lost: lost, active: map[string]bool{}}
	lost.Conversation(t)
	lost.Count(report.LostModels, t.Model != "" && t.Format != "oasst")
	for _, m := range s.Outline.PathTo(tree.Leaf(t)) {
		s.active[m.ID] = true
	}
	roots := s.replies("")
	around := []byte(`{"message_tree_id":"","tree_state":"ready_for_export","prompt":null}`)
	flat := len(roots) != 1 || s.depth(roots[0]) > deepTree || t.Format == "oasst" && len(t.Records) == 0
	if t.Format == "oasst" && len(t.Records) > 0 {
		around = bytes.Clone(t.Records[0])
	}
	id := o.ID
	if id == "" {
		id = t.ID
	}
	var b bytes.Buffer
	if flat {
		order := s.order(roots)
		for _, m := range order {
			record := s.record(m, true)
			if s.Has(m.Parent) && member.Text(record, "parent_id") != m.Parent {
				record = member.Set(record, "parent_id", m.Parent)
			}
			if id != "" && member.Text(record, "message_tree_id") != id && (m.Format != "oasst" || len(roots) > 1 || gjson.GetBytes(record, "message_tree_id").Exists()) {
				record = member.Set(record, "message_tree_id", id)
			}
			b.Write(record)
			b.WriteByte('\n')
		}
		_, err := w.Write(b.Bytes())
		return err
	}
	if id != "" && member.Text(around, "message_tree_id") != id {
		around = member.Set(around, "message_tree_id", id)
	}
	cut := gjson.GetBytes(around, "prompt")
	b.Write(around[:cut.Index])
	s.tree(&b, roots[0])
	b.Write(around[cut.Index+len(cut.Raw):])
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

type writer struct {
	t *transcript.Transcript
	tree.Outline
	lost   *report.Report
	active map[string]bool // the ids of the path to the leaf
}

// replies returns the messages after one, that of the path to the leaf last.
func (s *writer) replies(id string) []*transcript.Message {
	list := s.Children[id]
	for i, m := range list {
		if s.active[m.ID] && i < len(list)-1 {
			moved := append(append([]*transcript.Message{}, list[:i]...), list[i+1:]...)
			return append(moved, m)
		}
	}
	return list
}

// order returns all messages, each before its replies.
func (s *writer) order(roots []*transcript.Message) []*transcript.Message {
	if s.t.Format == "oasst" && len(s.t.Messages) > 0 && tree.Leaf(s.t) == s.t.Messages[len(s.t.Messages)-1].ID {
		return s.t.Messages
	}
	var order, stack []*transcript.Message
	push := func(list []*transcript.Message) {
		for i := len(list) - 1; i >= 0; i-- {
			stack = append(stack, list[i])
		}
	}
	push(roots)
	for len(stack) > 0 {
		m := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, m)
		push(s.replies(m.ID))
	}
	return order
}

// depth returns how many messages the longest path from m has.
func (s *writer) depth(m *transcript.Message) int {
	deep, most := map[string]int{}, 1
	for _, n := range s.t.Messages {
		deep[n.ID] = deep[n.Parent] + 1
		most = max(most, deep[n.ID])
	}
	return most
}

func (s *writer) tree(b *bytes.Buffer, m *transcript.Message) {
	replies := s.replies(m.ID)
	nested.Join(b, s.record(m, false), "replies", len(replies), func(i int) { s.tree(b, replies[i]) })
}

// record returns the record of a message, a generated one if it has none. A record on a
// line of its own has an id.
func (s *writer) record(m *transcript.Message, flat bool) []byte {
	if m.Format == "oasst" && len(m.Records) > 0 {
		r := bytes.Clone(m.Records[0])
		if id := member.Text(r, "message_id"); id != m.ID && (id != "" || flat) {
			r = member.Set(r, "message_id", m.ID)
		}
		return r
	}
	var texts []string
	s.lost.Message(m, report.LostTimes, report.LostModels)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != content.TypeText {
			s.lost.Part(p)
		}
		texts = append(texts, parts.Text(p))
	}
	role := "prompter"
	if m.Role == "assistant" {
		role = "assistant"
	}
	r := struct {
		ID     string `json:"message_id"`
		Parent string `json:"parent_id,omitempty"`
		Text   string `json:"text"`
		Role   string `json:"role"`
		Date   string `json:"created_date,omitempty"`
		Model  string `json:"model_name,omitempty"`
	}{ID: m.ID, Text: parts.JoinLines(texts...), Role: role, Model: m.Model}
	if s.Has(m.Parent) {
		r.Parent = m.Parent
	}
	if !m.Time.IsZero() {
		r.Date = times.ISOMicro(m.Time)
	}
	return rawjson.Compact(r)
}
