package chatgpt

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

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

// Write writes an array with one conversation and all its nodes.
func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	s := writer{lost: lost, trace: lost.Trace, t: tree.NewOutline(t), by: map[string]*written{}, tip: map[string]string{}, calls: map[string]string{}}
	lost.Conversation(t, report.LostTitles)
	around := []byte(`{"title":"","create_time":null,"update_time":null,"mapping":{},"moderation_results":[],"current_node":null,"conversation_id":""}`)
	set := func(name string, value []byte) { around = member.SetRaw(around, name, value) }
	fresh := true
	if t.Format == "chatgpt" {
		for i, r := range t.Records {
			if i == 0 && gjson.GetBytes(r, "mapping").IsObject() {
				around, fresh = bytes.Clone(r), false
			} else {
				s.record(r, nil)
			}
		}
	}
	if member.Text(around, "title") != t.Title {
		set("title", rawjson.Compact(t.Title))
	}
	if fresh {
		created := t.Created
		if created.IsZero() {
			created = o.Now
		}
		set("create_time", times.Seconds(created))
		set("update_time", times.Seconds(o.Now))
		if t.Model != "" {
			set("default_model_slug", rawjson.Compact(t.Model))
		}
	}
	for _, name := range []string{"conversation_id", "id"} {
		if o.ID != "" && gjson.GetBytes(around, name).Exists() && member.Text(around, name) != o.ID {
			set(name, rawjson.Compact(o.ID))
		}
	}
	for _, m := range t.Messages {
		s.message(m)
	}
	s.link()
	if at, leaf := member.Text(around, "current_node"), s.tip[tree.Leaf(t)]; s.by[at] == nil || s.above(at) != tree.Leaf(t) {
		set("current_node", rawjson.Compact(leaf))
	}

	var b bytes.Buffer
	b.WriteByte('{')
	for i, n := range s.list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		b.Write(rawjson.Compact(n.key))
		b.WriteString(": ")
		b.Write(n.raw)
	}
	b.WriteString("\n}")
	set("mapping", b.Bytes())
	_, err := w.Write(append(append([]byte("["), around...), "]\n"...))
	return err
}

// A written is a node to write.
type written struct {
	key    string
	raw    []byte
	parent string              // the key of its parent, "" for none
	m      *transcript.Message // the message of the record, nil if it belongs to the conversation
	before bool                // it is before the node of the message
	main   bool                // it is the node of the message
	twice  bool                // another node has the same key
}

type writer struct {
	lost  *report.Report
	trace *report.Trace
	t     tree.Outline
	list  []*written
	by    map[string]*written
	tip   map[string]string // by message: the key of the node that is the parent of its children
	root  string            // the key of a node without a message, the parent of roots
	calls map[string]string // the names of tools, by the ids of calls
}

func (s *writer) add(n *written) {
	s.list = append(s.list, n)
	s.by[n.key] = n
}

// record adds the node of a record. A node that exists already is skipped; a different one
// with the same key, as in a malformed export, is not changed. It returns nil for both.
func (s *writer) record(r json.RawMessage, m *transcript.Message) *written {
	key, raw := member.Only(r)
	if s.by[key] != nil || len(raw) == 0 {
		if same := s.by[key]; len(raw) > 0 && !bytes.Equal(same.raw, raw) {
			s.list = append(s.list, &written{key: key, raw: raw, twice: true})
		}
		return nil
	}
	n := &written{key: key, raw: raw, parent: member.Text(raw, "parent"), m: m}
	s.add(n)
	return n
}

func (s *writer) message(m *transcript.Message) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeToolCall {
			s.calls[p.Call().ID] = p.Call().Name
		}
	}
	if m.Format != "chatgpt" || len(m.Records) == 0 {
		s.words(m)
		return
	}
	// The message is the node with its id or, if that was taken at import, the one with
	// content.
	main := -1
	for i, r := range m.Records {
		key, raw := member.Only(r)
		n := &node{key: key, raw: raw}
		if key == m.ID {
			main = i
			break
		}
		if n.said(&nodes{}) != nil {
			main = i
		}
	}
	for i, r := range m.Records {
		if i == main {
			key, raw := member.Only(r)
			n := &written{key: m.ID, raw: raw, parent: member.Text(raw, "parent"), m: m, main: true}
			if key != m.ID {
				n.raw = member.SetRaw(raw, "id", rawjson.Compact(m.ID))
			}
			s.add(n)
		} else if n := s.record(r, m); n != nil {
			n.before = i < main
		}
	}
	s.tip[m.ID] = m.ID
}

// above returns the id of the message of a node or, if it has none, of its nearest
// ancestor; for an unwritten one its key.
func (s *writer) above(key string) string {
	for steps := 0; steps <= len(s.list); steps++ {
		n := s.by[key]
		if n == nil {
			return key
		}
		if n.main {
			return n.m.ID
		}
		key = n.parent
	}
	return ""
}

// link sets the parent and children of every node. Correct existing links are kept.
func (s *writer) link() {
	for _, n := range s.list {
		lost := n.parent != "" && s.by[n.parent] == nil
		if n.m == nil {
			continue
		}
		want := s.t.Parent(n.m)
		switch {
		case n.main && want != "" && s.above(n.parent) != want:
			n.parent = s.tip[want]
		case n.main && want == "" && !lost && s.above(n.parent) != "" && s.t.Has(s.above(n.parent)):
			n.parent = "" // it was a cycle
		case !lost:
		case !n.main && !n.before:
			n.parent = s.tip[n.m.ID]
		case want != "":
			n.parent = s.tip[want]
		case n.m.Parent == "":
			n.parent = s.root
		}
	}
	children := map[string][]string{}
	for _, n := range s.list {
		if !n.twice {
			children[n.parent] = append(children[n.parent], n.key)
		}
	}
	for _, n := range s.list {
		if n.twice {
			continue
		}
		if member.Text(n.raw, "parent") != n.parent {
			parent := []byte("null")
			if n.parent != "" {
				parent = rawjson.Compact(n.parent)
			}
			n.raw = member.SetRaw(n.raw, "parent", parent)
		}
		var have, want []string
		gjson.GetBytes(n.raw, "children").ForEach(func(_, key gjson.Result) bool {
			have = append(have, key.Str)
			if slices.Contains(children[n.key], key.Str) {
				want = append(want, key.Str)
			}
			return true
		})
		for _, key := range children[n.key] {
			if !slices.Contains(want, key) {
				want = append(want, key)
			}
		}
		if !slices.Equal(have, want) {
			n.raw = member.SetRaw(n.raw, "children", rawjson.Compact(append([]string{}, want...)))
		}
	}
}

// words adds nodes for a message from another format: one for each run of texts
// and for each call, result and thinking. The last one has the id of the
// message.
func (s *writer) words(m *transcript.Message) {
	list := s.pieces(m)
	s.lost.Message(m, report.LostTimes, report.LostModels, report.LostSystem)
	parent := s.tip[s.t.Parent(m)]
	if parent == "" {
		parent = s.under(m)
	}
	for i, p := range list {
		key := m.ID
		if i < len(list)-1 {
			key = transcript.ChainID(m.ID, rawjson.Compact([]any{"chatgpt", i})) // differs from ids that other formats derive
		}
		s.trace.ID(key, m)
		p["id"], p["create_time"], p["update_time"] = key, times.Seconds(m.Time), nil
		p["status"], p["end_turn"], p["weight"] = "finished_successfully", i == len(list)-1, 1
		metadata := p["metadata"].(map[string]any)
		if m.Model != "" {
			metadata["model_slug"] = m.Model
		}
		raw := rawjson.Compact(map[string]any{"id": key, "message": p, "parent": nil, "children": []string{}})
		s.add(&written{key: key, raw: raw, m: m, parent: parent, main: i == len(list)-1, before: i < len(list)-1})
		parent = key
	}
	if len(list) == 0 {
		s.lost.Add(report.LostMessages)
	}
	s.tip[m.ID] = parent
}

// under returns the key of the node without a message that is the parent of m.
func (s *writer) under(m *transcript.Message) string {
	for _, n := range s.list {
		if s.root == "" && n.parent == "" && gjson.GetBytes(n.raw, "message").Type == gjson.Null {
			s.root = n.key
		}
	}
	if s.root == "" {
		s.root = transcript.ChainID(m.ID, []byte("root"))
		s.add(&written{key: s.root, raw: rawjson.Compact(map[string]any{"id": s.root, "message": nil, "parent": nil, "children": []string{}})})
	}
	return s.root
}

// pieces returns the messages that make up m, without their common members.
func (s *writer) pieces(m *transcript.Message) (list []map[string]any) {
	role := m.Role
	if m.Own.Role != "" {
		role = "system"
	}
	var texts []string
	add := func(role, name, to string, content, metadata map[string]any) {
		author := map[string]any{"role": role, "name": nil, "metadata": map[string]any{}}
		if name != "" {
			author["name"] = name
		}
		list = append(list, map[string]any{"author": author, "recipient": to, "content": content, "metadata": metadata})
	}
	flush := func() {
		if len(texts) > 0 {
			add(role, "", "all", map[string]any{"content_type": "text", "parts": texts}, map[string]any{})
		}
		texts = nil
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		metadata := map[string]any{}
		if c.ID != "" {
			metadata["tool_call_id"] = c.ID
		}
		switch p.Type {
		case content.TypeThinking:
			s.lost.Signature(p)
			if p.Text != "" {
				flush()
				add("assistant", "", "all", map[string]any{"content_type": "thoughts", "thoughts": []map[string]any{{"summary": "", "content": p.Text}}}, metadata)
			}
		case content.TypeToolCall:
			flush()
			if c.Name == "" {
				c.Name = "tool"
			}
			add("assistant", "", c.Name, map[string]any{"content_type": "code", "language": "unknown", "text": c.Arguments}, metadata)
		case content.TypeToolResult:
			flush()
			if c.Name == "" {
				c.Name = s.calls[c.ID]
			}
			if c.Failed {
				metadata["is_error"] = true
			}
			s.lost.Extras(p)
			add("tool", c.Name, "all", map[string]any{"content_type": "execution_output", "text": p.Text}, metadata)
		case content.TypeText:
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		case content.TypeRedacted:
			s.lost.Part(p)
		default:
			if text := parts.Text(p); text != "" {
				texts = append(texts, text)
			}
			if p.Type != content.TypeData || p.Text == "" {
				s.lost.Part(p)
			}
		}
	}
	flush()
	return list
}
