// Package oasst reads and writes the message trees of Open Assistant. Each line
// is either a tree, whose messages contain their replies, or a message that
// names its parent; the messages of one tree are then adjacent.
//
// The record of a message is the message with empty replies, that of a tree is
// the tree without its first prompt.
package oasst

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
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

// deepTree is the maximum depth of a tree that is written, because many JSON
// parsers are limited to a thousand levels.
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

// passed returns the end of the value that w has parsed.
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

// flat reads messages that are on separate lines.
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
