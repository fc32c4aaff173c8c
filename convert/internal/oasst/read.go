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
	"github.com/bough-dev/bough/convert/internal/nested"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
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
	raw := bytes.Clone(l.Raw)
	list, around, err := nested.SplitMember(raw, "prompt", "replies")
	if err != nil || len(list) == 0 {
		to.Problem(l.Problem("its prompt cannot be read"))
		return nil
	}
	c := transcript.Conversation{ID: member.Text(raw, "message_tree_id"), Records: []json.RawMessage{around}}
	c.Created = times.Of(gjson.GetBytes(list[0].Raw, "created_date"))
	if err := pass(list, "", to); err != nil {
		return err
	}
	return to.End(&c)
}

// pass passes the messages of a tree below a parent.
func pass(list []nested.Object, parent string, to transcript.Sink) error {
	ids := make([]string, len(list))
	for i, o := range list {
		if o.Parent >= 0 {
			parent = ids[o.Parent]
		}
		m := messageOf(o.Raw, parent)
		ids[i] = m.ID
		if err := to.Message(m); err != nil {
			return err
		}
	}
	return nil
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
	list, err := nested.Split(bytes.Clone(l.Raw), "replies")
	if err != nil {
		f.to.Problem(l.Problem(err.Error()))
		return nil
	}
	f.n += len(list)
	return pass(list, parent, f.to)
}

func (f *flat) end() error {
	if f.n == 0 {
		return nil
	}
	c := transcript.Conversation{ID: f.tree}
	f.n, f.tree = 0, ""
	return f.to.End(&c)
}
