// Package librechat reads and writes the conversations that LibreChat exports as JSON: an
// object with the messages of a conversation, each of which names its parent, or, if it is
// recursive, has its children in it. Of several answers to one message LibreChat shows the
// last one.
//
// The record of a message is the message with an empty array of children, that of the
// conversation the object with an empty array of messages. A part of an answer that calls a
// tool also has the result, so an answer is read as several messages, one for each change of
// the speaker.
//
// The form is that of client/src/hooks/Conversations/useExportConversation.ts,
// api/server/utils/import/importers.js with the files beside it, and
// packages/data-provider/src/types/assistants.ts in the repository danny-avila/LibreChat.
package librechat

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nested"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

const format = "librechat"

// noParent is the parent of a message that has none.
const noParent = "00000000-0000-0000-0000-000000000000"

// lists are the members that may have the messages, the older one last.
var lists = []string{"messages", "messagesTree"}

func Detect(head []byte) bool {
	id, said := false, false
	jsondoc.Scan(head, func(path []string, _ json.Token) bool {
		id = id || jsondoc.Match(path, "conversationId")
		said = said || len(path) == 3 && slices.Contains(lists, path[0]) && path[1] == "" && path[2] == "messageId"
		return !(id && said)
	})
	return id && said
}

func Read(in io.Reader, to transcript.Sink) error {
	return export.List(in, lists, to, func(e *export.Conversation) error {
		raw := e.Around.Record()
		if raw == nil {
			to.Problem(transcript.Problem{What: "there is no conversation around the messages"})
			return nil
		}
		t := nodes.Tree{Torn: e.Torn, Messages: messagesOf, Open: isOpen}
		c := &t.Conversation
		c.ID, c.Title, c.Model = member.Text(raw, "conversationId"), member.Text(raw, "title"), member.Text(raw, "options.model")
		c.Records = []json.RawMessage{raw}
		recursive := gjson.GetBytes(raw, "recursive").Bool()
		now := map[string]string{} // the ids of nodes by those in the records, of which the last one counts
		for _, item := range e.Items {
			if !recursive {
				parent := parentOf(item.Raw)
				n := node(item.Raw, cmp.Or(now[parent], parent))
				now[n.ID] = t.Append(n)
				continue
			}
			tree, err := nested.Split(item.Raw, "children")
			if err != nil {
				to.Problem(transcript.Problem{What: err.Error()})
				continue
			}
			first := len(t.Nodes)
			for _, o := range tree {
				parent := ""
				if o.Parent >= 0 {
					parent = t.Nodes[first+o.Parent].ID
				}
				t.Append(node(o.Raw, parent))
			}
		}
		links := make([]link, len(t.Nodes))
		for i, n := range t.Nodes {
			links[i] = link{n.ID, n.Parent, messagesOf(n) != nil}
		}
		c.Leaf = leafOf(links)
		return t.Read(to)
	})
}

func node(record json.RawMessage, parent string) nodes.Node {
	return nodes.Node{ID: cmp.Or(idOf(record), transcript.ChainID(parent, record)), Parent: parent, Record: record}
}

func idOf(record json.RawMessage) string { return member.Text(record, "messageId") }

// parentOf returns the id of the parent of a message, "" for none.
func parentOf(record []byte) string {
	if id := member.Text(record, "parentMessageId"); id != noParent {
		return id
	}
	return ""
}

// A link is the place of a record in the tree.
type link struct {
	id, parent string
	says       bool // it has messages
}

// leafOf returns the id of the record at which LibreChat continues. One without a message, and
// none after it, does not count.
func leafOf(list []link) string {
	at := map[string]int{}
	for i, n := range list {
		at[n.id] = i
	}
	counts := make([]bool, len(list))
	for i, n := range list {
		if !n.says {
			continue
		}
		for known := true; known && !counts[i]; {
			counts[i] = true
			i, known = at[list[i].parent]
		}
	}
	var with []link
	for i, n := range list {
		if counts[i] {
			with = append(with, n)
		}
	}
	return shown(with)
}

// shown returns the id of the record at which LibreChat continues: the end of the path that
// follows the last child of each one.
func shown(list []link) string {
	last := map[string]string{}
	known := map[string]bool{}
	for _, n := range list {
		known[n.id] = true
	}
	for _, n := range list {
		if !known[n.parent] {
			n.parent = ""
		}
		last[n.parent] = n.id
	}
	leaf := last[""]
	for range list {
		next, ok := last[leaf]
		if !ok {
			break
		}
		leaf = next
	}
	return leaf
}

func isOpen(record json.RawMessage) bool { return gjson.GetBytes(record, "unfinished").Bool() }

func messagesOf(n nodes.Node) (list []*transcript.Message) {
	v := gjson.ParseBytes(n.Record)
	first := &transcript.Message{ID: n.ID, Time: times.Of(v.Get("createdAt")), Format: format}
	speaker := "assistant"
	if own := v.Get("isCreatedByUser"); own.Bool() || !own.Exists() && strings.EqualFold(v.Get("sender").Str, "user") {
		speaker = "user"
	} else {
		first.Model = v.Get("model").Str
	}
	add := func(role string, p content.Part) { list = nodes.Add(list, first, role, p) }
	var said strings.Builder
	say := func(text string) {
		if text != "" {
			add(speaker, content.Text(text))
			said.WriteString(text)
		}
	}
	var results []content.Part // of the calls before, which were made at once
	flush := func() {
		for _, p := range results {
			add("user", p)
		}
		results = nil
	}
	v.Get("content").ForEach(func(_, p gjson.Result) bool {
		if p.Get("type").Str != "tool_call" {
			flush()
		}
		switch p.Get("type").Str {
		case "text", "error":
			say(cmp.Or(textOf(p.Get("text")), textOf(p.Get("error"))))
		case "think":
			if text := textOf(p.Get("think")); text != "" {
				add(speaker, content.Thinking(text, ""))
			}
		case "tool_call":
			call, result := callOf(p.Get("tool_call"))
			add("assistant", call)
			results = append(results, result...)
		case "image_url":
			if url := cmp.Or(p.Get("image_url").Str, p.Get("image_url.url").Str); url != "" {
				add(speaker, content.ImageURL(url))
			}
		case "image_file":
			add(speaker, fileOf(p.Get("image_file"), "image"))
		default:
			if p.IsObject() {
				add(speaker, parts.Other(p))
			}
		}
		return true
	})
	flush()
	if text := textOf(v.Get("text")); !strings.Contains(letters(said.String()), letters(text)) {
		say(text)
	}
	v.Get("files").ForEach(func(_, f gjson.Result) bool {
		add(speaker, fileOf(f, "file"))
		return true
	})
	return list
}

// letters returns a text without white space.
func letters(s string) string { return strings.Join(strings.Fields(s), "") }

// textOf returns a text, or the one in an object with a value.
func textOf(v gjson.Result) string {
	if v.IsObject() {
		v = v.Get("value")
	}
	return member.String(v)
}

// callOf returns a call of a tool, and its result if it has one.
func callOf(v gjson.Result) (call content.Part, result []content.Part) {
	f := v.Get("function") // the older form
	arguments, output := v.Get("args"), v.Get("output")
	if f.Exists() {
		arguments, output = f.Get("arguments"), f.Get("output")
	}
	c := content.Call{ID: v.Get("id").Str, Name: cmp.Or(member.String(v.Get("name")), member.String(f.Get("name")), v.Get("type").Str), Arguments: member.String(arguments)}
	if arguments.IsObject() {
		c.Arguments = member.Compact(arguments.Raw)
	}
	if code := v.Get("code_interpreter"); code.Exists() {
		c.Arguments, output = member.Compact(code.Raw), gjson.Result{}
	}
	c.Arguments = cmp.Or(c.Arguments, "{}")
	if text := member.String(output); output.Type == gjson.String || output.IsObject() || output.IsArray() {
		if output.Type == gjson.JSON {
			text = member.Compact(output.Raw)
		}
		result = append(result, content.ToolResult(content.Call{ID: c.ID, Name: c.Name}, text))
	}
	return content.ToolCall(c), result
}

// fileOf returns the part for a file, of which only the server has the content.
func fileOf(f gjson.Result, kind string) content.Part {
	name := cmp.Or(member.String(f.Get("filename")), member.String(f.Get("filepath")), f.Get("file_id").Str)
	if text := member.String(f.Get("text")); text != "" {
		return parts.NewTextFile(name, text)
	}
	if strings.HasPrefix(f.Get("type").Str, "image/") {
		kind = "image"
	}
	return content.Part{Type: content.TypeData, Text: "[" + kind + " " + name + "]", Meta: []byte(`{"data_type":"file"}`)}
}
