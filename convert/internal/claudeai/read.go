// Package claudeai reads and writes conversations.json in an export of
// claude.ai: an array of conversations, or a single one. Either the messages
// name their parents, and the conversation its leaf, or they are linear.
//
// The record of a message is the message itself, that of the conversation is
// the conversation with empty chat_messages. A message may contain tool calls
// with their results; it is then read as several messages, one for each change
// of the speaker. The first has the record, the others have only the format.
package claudeai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// noParent is the value for the parent of a first message.
const noParent = "00000000-0000-4000-8000-000000000000"

func Detect(head []byte) (is bool) {
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		path = jsondoc.Trim(path, "")
		is = jsondoc.Match(path, "chat_messages", "", "sender") || jsondoc.Match(path, "chat_messages", "", "uuid")
		return !is
	})
	return is
}

func Read(in io.Reader, to transcript.Sink) error {
	return export.Read(in, []string{"chat_messages"}, "[]", to, func(e *export.Conversation) error {
		raw := e.Around.Record()
		c := transcript.Conversation{Records: []json.RawMessage{raw}, ID: member.Text(raw, "uuid"), Title: member.Text(raw, "name"), Model: member.Text(raw, "model")}
		c.Created = times.Of(gjson.GetBytes(raw, "created_at"))

		if n := versionsInLine(e.Items); n > 0 {
			to.Problem(transcript.Problem{Note: true, What: fmt.Sprintf("it does not say which messages are versions of one: %d of %q follow one of the same speaker", n, cmp.Or(c.Title, c.ID))})
		}
		c.Leaf = member.Text(raw, "current_leaf_message_uuid")
		calls := map[string]*openCalls{} // by nodes
		t := nodes.Tree{Conversation: c, Torn: e.Torn, Open: streams}
		t.Messages = func(n nodes.Node) []*transcript.Message {
			open := &openCalls{}
			if above := calls[n.Parent]; above != nil {
				open = above.clone()
			}
			said := messagesOf(n.Record, n.ID, open)
			calls[n.ID] = open
			if len(said) == 0 && (member.Text(n.Record, "text") != "" || len(gjson.GetBytes(n.Record, "content").Array()) > 0) {
				to.Problem(transcript.Problem{What: "a message says nothing that can be read: " + n.ID})
			}
			return said
		}
		for i, item := range e.Items {
			n := nodeOf(item.Raw)
			if i > 0 && !gjson.GetBytes(item.Raw, "parent_message_uuid").Exists() {
				n.Parent, n.Guessed = t.Nodes[i-1].ID, true
			}
			t.Append(n)
		}
		return t.Read(to)
	})
}

// nodeOf returns the node of a message of the service. Without a uuid, its id is the same
// in a tree and in a line.
func nodeOf(raw json.RawMessage) nodes.Node {
	n := nodes.Node{ID: member.Text(raw, "uuid"), Parent: member.Text(raw, "parent_message_uuid"), Record: raw}
	if n.Parent == noParent {
		n.Parent = ""
	}
	if n.ID == "" {
		bare := raw
		for _, name := range []string{"parent_message_uuid", "index"} {
			if gjson.GetBytes(bare, name).Exists() {
				bare = member.Drop(bare, name)
			}
		}
		n.ID = transcript.ChainID("", bare)
	}
	return n
}

// versionsInLine returns how many messages name no parent and follow one of the
// same speaker. Most likely these were versions of one message.
func versionsInLine(items []export.Item) (n int) {
	for i := 1; i < len(items); i++ {
		speaker := member.Text(items[i].Raw, "sender")
		if !gjson.GetBytes(items[i].Raw, "parent_message_uuid").Exists() && speaker != "" && speaker == member.Text(items[i-1].Raw, "sender") {
			n++
		}
	}
	return n
}

// streams reports whether an answer was exported while it was written: its last
// block has begun and not ended.
func streams(raw json.RawMessage) bool {
	blocks := gjson.GetBytes(raw, "content").Array()
	if len(blocks) == 0 || member.Text(raw, "sender") != "assistant" {
		return false
	}
	last := blocks[len(blocks)-1]
	return last.Get("start_timestamp").Type == gjson.String && last.Get("stop_timestamp").Raw == "null"
}

// openCalls are the calls of a path that have no result yet.
type openCalls struct{ list []content.Call }

func (o *openCalls) clone() *openCalls { return &openCalls{slices.Clone(o.list)} }

// answer returns the call of a result, by id or else the oldest one, and
// removes it.
func (o *openCalls) answer(id string) (c content.Call) {
	for i, open := range o.list {
		if id == "" || open.ID == id {
			o.list = slices.Delete(o.list, i, i+1)
			return open
		}
	}
	return content.Call{ID: id}
}

// messagesOf returns the messages in one message of the service. Each has at
// least one part.
func messagesOf(raw json.RawMessage, id string, open *openCalls) (list []*transcript.Message) {
	v := gjson.ParseBytes(raw)
	speaker := "user"
	if v.Get("sender").Str == "assistant" {
		speaker = "assistant"
	} else if v.Get("sender").Str != "human" {
		return nil
	}
	at := times.Of(v.Get("created_at"))
	add := func(role string, p content.Part) {
		last := len(list) - 1
		if last < 0 || list[last].Role != role {
			m := &transcript.Message{ID: id, Time: at, Format: "claude-ai"}
			m.Role = role
			if last >= 0 {
				m.ID, m.Parent = transcript.ChainID(id, rawjson.Compact(last+1)), list[last].ID
			}
			list = append(list, m)
			last++
		}
		list[last].Parts = append(list[last].Parts, p)
	}
	said := false
	v.Get("content").ForEach(func(_, b gjson.Result) bool {
		switch b.Get("type").Str {
		case "text":
			if b.Get("text").Str != "" {
				said = true
				add(speaker, content.Text(b.Get("text").Str))
			}
		case "thinking":
			if b.Get("thinking").Str != "" {
				add(speaker, content.Thinking(b.Get("thinking").Str, b.Get("signature").Str))
			}
		case "tool_use":
			c := content.Call{ID: b.Get("id").Str, Name: b.Get("name").Str, Arguments: b.Get("input").Raw}
			if c.ID == "" {
				c.ID = transcript.ChainID(id, []byte(b.Raw))
			}
			if c.Arguments == "" {
				c.Arguments = "{}"
			}
			open.list = append(open.list, c)
			add("assistant", content.ToolCall(c))
		case "tool_result":
			c := open.answer(b.Get("tool_use_id").Str)
			if c.Name == "" {
				c.Name = b.Get("name").Str
			}
			add("user", content.ToolResult(content.Call{ID: c.ID, Name: c.Name, Failed: b.Get("is_error").Bool()}, blocksText(b.Get("content"))))
		}
		return true
	})
	if text := v.Get("text").Str; !said && text != "" {
		add(speaker, content.Text(text))
	}
	v.Get("attachments").ForEach(func(_, a gjson.Result) bool {
		name, text := a.Get("file_name").Str, a.Get("extracted_content").Str
		add(speaker, parts.NewTextFile(name, text))
		return true
	})
	for _, files := range []string{"files", "files_v2"} {
		done := false
		v.Get(files).ForEach(func(_, f gjson.Result) bool {
			kind := f.Get("file_kind").Str
			if kind == "" {
				kind = "file"
			}
			add(speaker, content.Part{Type: content.TypeData, Text: "[" + kind + " " + f.Get("file_name").Str + "]", Meta: []byte(`{"data_type":"file"}`)})
			done = true
			return true
		})
		if done {
			break
		}
	}
	return list
}

// blocksText returns the text output of a tool, a string or blocks.
func blocksText(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	var texts []string
	v.ForEach(func(_, b gjson.Result) bool {
		switch {
		case b.Get("text").Str != "":
			texts = append(texts, b.Get("text").Str)
		case b.Get("title").Str != "":
			texts = append(texts, parts.JoinLines(b.Get("title").Str, b.Get("url").Str))
		case b.IsObject():
			texts = append(texts, "["+b.Get("type").Str+"]")
		}
		return true
	})
	return parts.JoinLines(texts...)
}
