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
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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

// noParent is the value for the parent of a first message.
const noParent = "00000000-0000-4000-8000-000000000000"

func Detect(head []byte) (is bool) {
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		if len(path) > 0 && path[0] == "" {
			path = path[1:]
		}
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

		places := map[string]int{}
		parents, names := make([]int, len(e.Items)), make([]string, len(e.Items))
		ids := make([]string, len(e.Items))
		for i, item := range e.Items {
			ids[i] = member.Text(item.Raw, "uuid")
			if ids[i] == "" { // the same in a tree and in a line
				raw := item.Raw
				for _, name := range []string{"parent_message_uuid", "index"} {
					if gjson.GetBytes(raw, name).Exists() {
						raw = member.Drop(raw, name)
					}
				}
				ids[i] = transcript.ChainID("", raw)
			}
			if first, ok := places[ids[i]]; !ok {
				places[ids[i]] = i
			} else if !bytes.Equal(item.Raw, e.Items[first].Raw) {
				to.Problem(transcript.Problem{What: "duplicate message id; the second message gets a new one: " + ids[i]})
				ids[i] = transcript.ChainID(ids[i], item.Raw)
			}
		}
		for i, item := range e.Items {
			parents[i] = -1
			if gjson.GetBytes(item.Raw, "parent_message_uuid").Exists() {
				if names[i] = member.Text(item.Raw, "parent_message_uuid"); names[i] == noParent {
					names[i] = ""
				}
				if p, ok := places[names[i]]; ok && p != i {
					parents[i] = p
				}
			} else if i > 0 {
				parents[i], names[i] = i-1, ids[i-1]
			}
		}

		whole := func(int) bool { return true }
		if e.Torn {
			list := export.Rooted(parents, names)
			whole = func(i int) bool { return list[i] }
		}

		if n := versionsInLine(e.Items); n > 0 {
			to.Problem(transcript.Problem{Note: true, What: fmt.Sprintf("it does not say which messages are versions of one: %d of %q follow one of the same speaker", n, cmp.Or(c.Title, c.ID))})
		}

		last := make([]string, len(e.Items)) // the last message of each item
		first := map[*transcript.Message]int{}
		calls := map[string]*openCalls{}
		var pending []json.RawMessage
		var list []*transcript.Message
		for _, i := range tree.ParentsFirst(parents, nil) {
			if !whole(i) {
				continue
			}
			open := &openCalls{}
			if above := calls[names[i]]; above != nil {
				open = above.clone()
			}
			said := messagesOf(e.Items[i].Raw, ids[i], open)
			calls[ids[i]] = open
			if len(said) == 0 {
				pending = append(pending, e.Items[i].Raw)
				if member.Text(e.Items[i].Raw, "text") != "" || len(gjson.GetBytes(e.Items[i].Raw, "content").Array()) > 0 {
					to.Problem(transcript.Problem{What: "a message says nothing that can be read: " + ids[i]})
				}
				continue
			}
			said[0].Records = append(pending, e.Items[i].Raw)
			said[0].Guessed = names[i] != "" && !gjson.GetBytes(e.Items[i].Raw, "parent_message_uuid").Exists()
			pending = nil
			last[i], first[said[0]] = said[len(said)-1].ID, i
			list = append(list, said...)
		}
		// Nodes without content are skipped.
		tip := func(i int) string {
			for range parents {
				if last[i] != "" || parents[i] < 0 {
					return cmp.Or(last[i], names[i])
				}
				i = parents[i]
			}
			return ""
		}
		for m, i := range first {
			if m.Parent = names[i]; parents[i] >= 0 {
				m.Parent = tip(parents[i])
			}
		}
		if len(list) == 0 {
			to.Problem(transcript.Problem{What: "a conversation has no messages: " + c.Title})
			return nil
		}
		if n := len(list); len(pending) > 0 {
			for n--; n > 0 && len(list[n].Records) == 0; n-- {
			}
			list[n].Records = append(list[n].Records, pending...)
		}
		if leaf, ok := places[member.Text(raw, "current_leaf_message_uuid")]; ok {
			c.Leaf = tip(leaf)
		}
		export.MarkOpen(list, func(m *transcript.Message) bool {
			i, ok := first[m]
			return ok && streams(e.Items[i].Raw)
		})
		for _, m := range list {
			if err := to.Message(m); err != nil {
				return err
			}
		}
		return to.End(&c)
	})
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
func streams(raw []byte) bool {
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
		add(speaker, content.Part{Type: content.TypeFile, Filename: name, Meta: rawjson.Compact(struct {
			Type string `json:"type"`
			MIME string `json:"media_type"`
			Data string `json:"data"`
		}{"text", "text/plain", text})})
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
