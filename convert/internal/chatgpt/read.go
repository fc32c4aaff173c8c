// Package chatgpt reads and writes conversations.json in an export of ChatGPT:
// an array of conversations, or a single one. Each has a tree of nodes, the
// object mapping; current_node is the leaf.
//
// The record of a message is an object with one member, its node under its key.
// The record of the conversation is the conversation with an empty mapping.
// Nodes without a message, nodes that were hidden from the user, the user's
// profile, and notes on how long the model thought are not messages. A message
// to a tool is a call; a tool's message answers the oldest open call since the
// last prompt. A picture is only a reference that the service can resolve.
package chatgpt

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

func Detect(head []byte) (is bool) {
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		path = jsondoc.Trim(path, "")
		is = jsondoc.Match(path, "mapping", "*", "children") || jsondoc.Match(path, "mapping", "*", "parent") || jsondoc.Match(path, "mapping", "*", "message")
		return !is
	})
	return is
}

// A node is one member of a mapping.
type node struct {
	key, parent string
	raw         json.RawMessage
	m           *transcript.Message // nil if the node is not a message
	call        content.Call
}

func Read(in io.Reader, to transcript.Sink) error {
	return export.Read(in, []string{"mapping"}, "{}", to, func(e *export.Conversation) error {
		raw := e.Around.Record()
		c := transcript.Conversation{Records: []json.RawMessage{raw}}
		if c.ID = member.Text(raw, "conversation_id"); c.ID == "" {
			c.ID = member.Text(raw, "id")
		}
		c.Title, c.Model, c.Created = member.Text(raw, "title"), member.Text(raw, "default_model_slug"), times.Of(gjson.GetBytes(raw, "create_time"))
		items := e.Items
		if e.Torn {
			items = rootedNodes(items)
		}
		t := newNodes(items, to)
		c.Leaf = t.message(member.Text(raw, "current_node"))

		var list []*transcript.Message
		var pending []*node
		for _, n := range t.list {
			if n.m == nil {
				pending = append(pending, n)
				continue
			}
			n.m.Parent = t.message(n.parent)
			before := t.chain(n)
			var mine []json.RawMessage
			for _, p := range pending {
				switch {
				case before[p]:
					mine = append(mine, p.record())
				case len(list) > 0:
					last := list[len(list)-1]
					last.Records = append(last.Records, p.record())
				default:
					c.Records = append(c.Records, p.record())
				}
			}
			pending = nil
			n.m.Records = append(mine, n.record())
			list = append(list, n.m)
		}
		if len(list) == 0 {
			to.Problem(transcript.Problem{What: "a conversation has no messages: " + c.Title})
			return nil
		}
		for _, p := range pending {
			last := list[len(list)-1]
			last.Records = append(last.Records, p.record())
		}
		if c.Model == "" {
			for _, m := range list {
				c.Model = cmp.Or(m.Model, c.Model)
			}
		}
		export.MarkOpen(list, func(m *transcript.Message) bool {
			return member.Text(t.by[m.ID].raw, "message.status") == "in_progress"
		})
		for _, m := range list {
			if err := to.Message(m); err != nil {
				return err
			}
		}
		return to.End(&c)
	})
}

// rootedNodes returns the nodes of a truncated mapping whose ancestors include
// a root.
func rootedNodes(items []export.Item) []export.Item {
	places := map[string]int{}
	for i := range slices.Backward(items) {
		places[items[i].Key] = i
	}
	parents, names := make([]int, len(items)), make([]string, len(items))
	for i, item := range items {
		parents[i], names[i] = -1, member.Text(item.Raw, "parent")
		if p, ok := places[names[i]]; ok && p != i {
			parents[i] = p
		}
	}
	var list []export.Item
	for i, is := range export.Rooted(parents, names) {
		if is && places[items[i].Key] == i {
			list = append(list, items[i])
		}
	}
	return list
}

func (n *node) record() json.RawMessage {
	key := rawjson.Compact(n.key)
	r := make(json.RawMessage, 0, len(key)+len(n.raw)+3)
	r = append(append(append(r, '{'), key...), ':')
	return append(append(r, n.raw...), '}')
}

// nodes are the nodes of a mapping, parents first.
type nodes struct {
	list []*node
	by   map[string]*node
}

func newNodes(items []export.Item, to transcript.Sink) *nodes {
	t := &nodes{by: map[string]*node{}}
	places := map[string]int{}
	all := make([]*node, len(items))
	for i, item := range items {
		n := &node{key: item.Key, raw: item.Raw, parent: member.Text(item.Raw, "parent")}
		all[i] = n
		if t.by[n.key] == nil {
			t.by[n.key], places[n.key] = n, i
		}
	}
	parents, children := make([]int, len(all)), make([][]int, len(all))
	for i, n := range all {
		parents[i] = -1
		if p, ok := places[n.parent]; ok && p != i {
			parents[i] = p
		}
	}
	for i, n := range all {
		gjson.GetBytes(n.raw, "children").ForEach(func(_, key gjson.Result) bool {
			if c, ok := places[key.Str]; ok && parents[c] == i {
				children[i] = append(children[i], c)
			}
			return true
		})
	}
	for _, i := range tree.ParentsFirst(parents, children) {
		n := all[i]
		if t.by[n.key] == n {
			n.m = n.said(t)
		} else {
			to.Problem(transcript.Problem{What: "duplicate node; the first is used: " + n.key})
		}
		t.list = append(t.list, n)
	}
	return t
}

// up calls f for the ancestors of n, nearest first, until it returns false.
func (t *nodes) up(n *node, f func(*node) bool) {
	for steps := 0; steps < len(t.by); steps++ {
		if n = t.by[n.parent]; n == nil || !f(n) {
			return
		}
	}
}

// chain returns the nodes between n and the message before it.
func (t *nodes) chain(n *node) map[*node]bool {
	between := map[*node]bool{}
	t.up(n, func(p *node) bool {
		between[p] = p.m == nil
		return p.m == nil
	})
	return between
}

// message returns the id of the message at key or, if that is not a message, of
// its nearest ancestor that is. If there is none, it returns key.
func (t *nodes) message(key string) string {
	for steps := 0; steps <= len(t.by); steps++ {
		n := t.by[key]
		if n == nil || n.m != nil {
			return key
		}
		key = n.parent
	}
	return ""
}

// said returns the message of a node, nil if it has none.
func (n *node) said(t *nodes) *transcript.Message {
	v := gjson.GetBytes(n.raw, "message")
	role := v.Get("author.role").Str
	kind := v.Get("content.content_type").Str
	if !v.IsObject() || kind == "reasoning_recap" || kind == "user_editable_context" || kind == "model_editable_context" {
		return nil
	}
	m := &transcript.Message{ID: n.key, Format: "chatgpt", Time: times.Of(v.Get("create_time")), Model: v.Get("metadata.model_slug").Str}
	hidden := v.Get("metadata.is_visually_hidden_from_conversation").Bool()
	switch role {
	case "assistant":
		m.Role = "assistant"
		if to := v.Get("recipient").Str; to != "" && to != "all" {
			n.call = content.Call{ID: v.Get("metadata.tool_call_id").Str, Name: to, Arguments: string(parts.Arguments(textOf(v.Get("content"))))}
			if n.call.ID == "" {
				n.call.ID = n.key
			}
			m.Parts = []content.Part{content.ToolCall(n.call)}
			return m
		}
		m.Parts = answerParts(partsOf(v))
	case "tool":
		m.Role = "user"
		text := textOf(v.Get("content"))
		call := t.answered(n, v)
		if text == "" && call.ID == "" || hidden && call.ID == "" {
			return nil
		}
		call.Failed = kind == "system_error" || v.Get("metadata.is_error").Bool()
		m.Parts = []content.Part{content.ToolResult(call, text)}
		return m
	case "user", "system":
		m.Role = "user"
		if role == "system" {
			m.Own.Role = role
		}
		if !hidden {
			m.Parts = partsOf(v)
		}
	}
	if len(m.Parts) == 0 {
		return nil
	}
	return m
}

// answered returns the call that a tool answers. Its id is empty if there is
// none.
func (t *nodes) answered(n *node, v gjson.Result) content.Call {
	name := v.Get("author.name").Str
	if id := v.Get("metadata.tool_call_id").Str; id != "" {
		return content.Call{ID: id, Name: name}
	}
	has := map[string]bool{}
	var any, same content.Call // the oldest
	t.up(n, func(p *node) bool {
		if p.m == nil {
			return true
		}
		if p.m.Role == "user" && !p.m.HasPart(content.TypeToolResult) {
			return false
		}
		for i := range p.m.Parts {
			switch c := p.m.Parts[i].Call(); {
			case p.m.Parts[i].Type == content.TypeToolResult:
				has[c.ID] = true
			case p.m.Parts[i].Type == content.TypeToolCall && !has[c.ID]:
				any = c
				if c.Name == name {
					same = c
				}
			}
		}
		return true
	})
	switch {
	case same.ID != "":
		return content.Call{ID: same.ID, Name: same.Name}
	case any.ID != "":
		return content.Call{ID: any.ID, Name: any.Name}
	}
	return content.Call{Name: name}
}
