// Package oasst reads and writes the message trees of Open Assistant. Each line is a tree,
// whose messages contain their replies, or a message that names its parent; the messages
// of one tree are adjacent then.
//
// The record of a message is the message with empty replies, that of a tree is the tree
// without its first prompt.
package oasst

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

func Detect(head []byte) (is bool) {
	jsondoc.Scan(head, func(path []string, _ json.Token) bool {
		is = is || jsondoc.Match(path, "message_tree_id") || jsondoc.Match(path, "message_id")
		return len(path) < 2
	})
	return is
}

// deepTree is how many messages may hold one another in a tree that is written; many
// readers of JSON go no deeper than a thousand levels.
const deepTree = 400

func Read(in io.Reader, to transcript.Sink) error {
	flat := flat{to: to}
	err := jsonl.Read(in, to, func(l jsonl.Line) error {
		if prompt := l.Get("prompt"); prompt.IsObject() {
			if err := flat.end(); err != nil {
				return err
			}
			return readTree(l, to)
		}
		return flat.message(l)
	})
	if err != nil {
		return err
	}
	return flat.end()
}

// readTree reads a line that is a whole tree.
func readTree(l jsonl.Line, to transcript.Sink) error {
	var c transcript.Conversation
	var list []reply
	raw := bytes.Clone(l.Raw)
	err := rawjson.Walk(raw, func(w *rawjson.Walker) error {
		from, _ := w.Start()
		cut := rawjson.Span{Start: from, End: from}
		err := w.Object(func(key []byte, _ int) error {
			at, first := w.Start()
			if string(key) != "prompt" || first != '{' || len(list) > 0 {
				_, err := w.Value()
				return err
			}
			err := treeMessage(w, raw, -1, &list)
			cut = rawjson.Span{Start: at, End: passed(w, raw)}
			return err
		})
		if err != nil {
			return err
		}
		c.Records = []json.RawMessage{splice(raw, cut, "null")}
		return nil
	})
	if err != nil {
		to.Problem(l.Problem(err.Error()))
		return nil
	}
	for i := range list {
		parent := ""
		if list[i].parent >= 0 {
			parent = list[list[i].parent].id
		}
		m := messageOf(list[i].record, parent)
		if list[i].id = m.ID; i == 0 {
			c.ID, c.Created = member.Text(raw, "message_tree_id"), m.Time
		}
		if err := to.Message(m); err != nil {
			return err
		}
	}
	return to.End(&c)
}

// A reply is a message of a tree.
type reply struct {
	record json.RawMessage
	parent int // its place among those of the tree, -1 for the first
	id     string
}

// treeMessage passes a message with all its replies and appends them to list, parents
// first.
func treeMessage(w *rawjson.Walker, raw []byte, parent int, list *[]reply) error {
	start, _ := w.Start()
	place := len(*list)
	*list = append(*list, reply{parent: parent})
	var cut rawjson.Span
	seen := false
	err := w.Object(func(key []byte, _ int) error {
		at, first := w.Start()
		if string(key) != "replies" || first != '[' || seen {
			seen = seen || string(key) == "replies"
			_, err := w.Value()
			return err
		}
		seen = true
		err := w.Array(func() error {
			if _, first := w.Start(); first == '{' {
				return treeMessage(w, raw, place, list)
			}
			_, err := w.Value()
			return err
		})
		cut = rawjson.Span{Start: at - start, End: passed(w, raw) - start}
		return err
	})
	if err != nil {
		return err
	}
	record := raw[start:passed(w, raw)]
	if cut.End > 0 {
		record = splice(record, cut, "[]")
	}
	(*list)[place].record = bytes.Clone(record)
	return nil
}

// passed returns where the value ends that w has passed.
func passed(w *rawjson.Walker, raw []byte) int {
	at, _ := w.Start()
	return len(bytes.TrimRight(raw[:at], " \t\r\n"))
}

// splice returns raw with something else in the place of a part of it.
func splice(raw []byte, cut rawjson.Span, other string) json.RawMessage {
	out := make(json.RawMessage, 0, len(raw)-(cut.End-cut.Start)+len(other))
	return append(append(append(out, raw[:cut.Start]...), other...), raw[cut.End:]...)
}

func messageOf(record json.RawMessage, parent string) *transcript.Message {
	m := &transcript.Message{ID: member.Text(record, "message_id"), Parent: parent, Format: "oasst", Records: []json.RawMessage{record}}
	if m.ID == "" {
		m.ID = transcript.ChainID(parent, record)
	}
	m.Role = "user"
	if member.Text(record, "role") == "assistant" {
		m.Role = "assistant"
	}
	m.Model = member.Text(record, "model_name")
	m.Time = times.Of(gjson.GetBytes(record, "created_date"))
	m.Parts = []content.Part{content.Text(member.Text(record, "text"))}
	return m
}

// flat reads messages that stand on a line each.
type flat struct {
	to   transcript.Sink
	tree string
	n    int
}

func (f *flat) message(l jsonl.Line) error {
	id, tree := member.Text(l.Raw, "message_id"), member.Text(l.Raw, "message_tree_id")
	if id == "" || l.Get("text").Type != gjson.String {
		f.to.Problem(l.Problem("it is neither a message nor a tree"))
		return nil
	}
	parent := member.Text(l.Raw, "parent_id")
	if f.n > 0 && (tree != f.tree || tree == "" && parent == "") {
		if err := f.end(); err != nil {
			return err
		}
	}
	f.tree = tree
	f.n++
	return f.to.Message(messageOf(bytes.Clone(l.Raw), parent))
}

func (f *flat) end() error {
	if f.n == 0 {
		return nil
	}
	c := transcript.Conversation{ID: f.tree}
	f.n, f.tree = 0, ""
	return f.to.End(&c)
}

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
			if gjson.GetBytes(record, "replies").Exists() {
				record = member.Drop(record, "replies")
			}
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
	record := s.record(m, false)
	replies := s.replies(m.ID)
	cut := gjson.GetBytes(record, "replies")
	if !cut.IsArray() && len(replies) > 0 {
		record = member.SetRaw(record, "replies", []byte("[]"))
		cut = gjson.GetBytes(record, "replies")
	}
	if len(replies) == 0 {
		b.Write(record)
		return
	}
	b.Write(record[:cut.Index])
	for i, r := range replies {
		b.WriteByte("[,"[min(i, 1)])
		s.tree(b, r)
	}
	b.WriteByte(']')
	b.Write(record[cut.Index+len(cut.Raw):])
}

// record returns the record of a message, one that is made for it if it has none. One of a
// message that stands on a line of its own has an id.
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
