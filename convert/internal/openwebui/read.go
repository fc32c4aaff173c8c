// Package openwebui reads and writes the chats that Open WebUI exports: an array of chats,
// or a single one. Each has a tree of messages, the object chat.history.messages;
// chat.history.currentId is the leaf.
//
// The record of a message is an object with one member, the message under its key. The
// record of the conversation is the chat with empty chat.history.messages. An answer has
// its steps in the member output: thinking, calls of tools, their results, and texts. Older
// versions have only the text for the user, with thinking and calls in elements details. An
// answer is read as several messages, one for each change of the speaker.
//
// The form is that of backend/open_webui/models/chats.py (ChatModel, ChatImportForm) in the
// repository open-webui/open-webui, and of the export with reasoning and tools in the tests
// of danny-avila/LibreChat.
package openwebui

import (
	"cmp"
	"encoding/json"
	"html"
	"io"
	"regexp"
	"strings"
	"sync"

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

const format = "open-webui"

func Detect(head []byte) (is bool) {
	jsondoc.Scan(head, func(path []string, _ json.Token) bool {
		path = jsondoc.Trim(path, "")
		for _, name := range []string{"role", "parentId", "childrenIds"} {
			is = is || jsondoc.Match(path, "chat", "history", "messages", "*", name) || jsondoc.Match(path, "chat", "messages", "", name)
		}
		return !is
	})
	return is
}

func Read(in io.Reader, to transcript.Sink) error {
	return export.Read(in, []string{"chat", "history", "messages"}, "{}", to, func(e *export.Conversation) error {
		raw := e.Around.Record()
		t := nodes.Tree{Torn: e.Torn, Messages: messagesOf, Open: isOpen}
		c := &t.Conversation
		c.Records = []json.RawMessage{raw}
		c.ID, c.Leaf = member.Text(raw, "id"), member.Text(raw, "chat.history.currentId")
		c.Title = titleOf(raw)
		c.Model = member.Text(raw, "chat.models.0")
		c.Created = times.Of(gjson.GetBytes(raw, "created_at"))
		for _, item := range e.Items {
			n := nodes.Node{ID: item.Key, Parent: member.Text(item.Raw, "parentId"), Record: recordOf(item)}
			gjson.GetBytes(item.Raw, "childrenIds").ForEach(func(_, id gjson.Result) bool {
				n.Children = append(n.Children, id.Str)
				return true
			})
			t.Append(n)
		}
		return t.Read(to)
	})
}

// titleOf returns the title of a chat, which has it twice.
func titleOf(chat []byte) string {
	return cmp.Or(member.Text(chat, "title"), member.Text(chat, "chat.title"))
}

func recordOf(item export.Item) json.RawMessage {
	key := rawjson.Compact(item.Key)
	r := make(json.RawMessage, 0, len(key)+len(item.Raw)+3)
	r = append(append(append(r, '{'), key...), ':')
	return append(append(r, item.Raw...), '}')
}

func isOpen(record json.RawMessage) bool {
	_, raw := member.Only(record)
	return member.Text(raw, "role") == "assistant" && gjson.GetBytes(raw, "done").Type == gjson.False
}

func messagesOf(n nodes.Node) (list []*transcript.Message) {
	_, raw := member.Only(n.Record)
	v := gjson.ParseBytes(raw)
	first := &transcript.Message{ID: n.ID, Time: times.Of(v.Get("timestamp")), Format: format}
	speaker := v.Get("role").Str
	add := func(role string, p content.Part) { list = nodes.Add(list, first, role, p) }
	switch speaker {
	case "user":
		for _, p := range textsOf(v.Get("content")) {
			add(speaker, p)
		}
	case "system":
		speaker, first.Own.Role = "user", "system"
		for _, p := range textsOf(v.Get("content")) {
			add(speaker, p)
		}
	case "assistant":
		first.Model = v.Get("model").Str
		if output := v.Get("output"); len(output.Array()) > 0 {
			steps(output, add)
		}
		if len(list) == 0 {
			shown(member.String(v.Get("content")), add)
		}
		if said := member.String(v.Get("error.content")); len(list) == 0 && said != "" {
			add(speaker, content.Text(said))
		}
	default:
		return nil
	}
	v.Get("files").ForEach(func(_, f gjson.Result) bool {
		add(speaker, fileOf(f))
		return true
	})
	return list
}

// textsOf returns the texts of content, a string or parts as in OpenAI's format.
func textsOf(v gjson.Result) (list []content.Part) {
	if v.Type == gjson.String {
		if v.Str != "" {
			list = append(list, content.Text(member.String(v)))
		}
		return list
	}
	v.ForEach(func(_, p gjson.Result) bool {
		switch {
		case p.Get("text").Str != "":
			list = append(list, content.Text(member.String(p.Get("text"))))
		case p.Get("image_url.url").Str != "":
			list = append(list, content.ImageURL(p.Get("image_url.url").Str))
		}
		return true
	})
	return list
}

func fileOf(f gjson.Result) content.Part {
	kind, url := f.Get("type").Str, f.Get("url").Str
	if kind == "image" || strings.HasPrefix(f.Get("content_type").Str, "image/") {
		if url != "" {
			return content.ImageURL(url)
		}
	}
	name := f.Get("name").Str
	if text := f.Get("file.data.content"); text.Str != "" {
		return parts.NewTextFile(name, member.String(text))
	}
	if kind == "" {
		kind = "file"
	}
	return content.Part{Type: content.TypeData, Text: "[" + kind + " " + name + "]", Meta: []byte(`{"data_type":"file"}`)}
}

// steps passes the items of an output, which have the form of OpenAI's responses.
func steps(output gjson.Result, add func(role string, p content.Part)) {
	names := map[string]string{}
	output.ForEach(func(_, item gjson.Result) bool {
		switch item.Get("type").Str {
		case "message":
			for _, p := range textsOf(item.Get("content")) {
				add("assistant", p)
			}
		case "reasoning":
			text := outputText(item.Get("content"))
			if text == "" {
				text = outputText(item.Get("summary"))
			}
			if text != "" {
				add("assistant", content.Thinking(text, ""))
			}
		case "function_call":
			c := content.Call{ID: item.Get("call_id").Str, Name: item.Get("name").Str, Arguments: argumentsOf(item.Get("arguments"))}
			names[c.ID] = c.Name
			add("assistant", content.ToolCall(c))
		case "function_call_output":
			id := item.Get("call_id").Str
			add("user", content.ToolResult(content.Call{ID: id, Name: names[id]}, outputText(item.Get("output"))))
		default:
			add("assistant", parts.Other(item))
		}
		return true
	})
}

// outputText returns the text of a step, a string or blocks.
func outputText(v gjson.Result) string {
	if v.Type == gjson.String {
		return member.String(v)
	}
	var b strings.Builder
	v.ForEach(func(_, block gjson.Result) bool {
		b.WriteString(member.String(block.Get("text")))
		return true
	})
	return b.String()
}

func argumentsOf(v gjson.Result) string {
	switch {
	case v.Type == gjson.String:
		return member.String(v)
	case v.Exists():
		return v.Raw
	}
	return "{}"
}

// elements are the patterns of elements in a text, compiled when the first is read.
var elements struct {
	once                        sync.Once
	details, attribute, summary *regexp.Regexp
}

func compile() {
	elements.once.Do(func() {
		elements.details = regexp.MustCompile(`(?s)<details type="(reasoning|tool_calls)"([^>]*)>(.*?)</details>\n?`)
		elements.attribute = regexp.MustCompile(`(\w+)="([^"]*)"`)
		elements.summary = regexp.MustCompile(`(?s)<summary>.*?</summary>`)
	})
}

// shown passes the parts of a text for the user, in which thinking and calls are elements.
func shown(text string, add func(role string, p content.Part)) {
	compile()
	say := func(s string) {
		if strings.TrimSpace(s) != "" {
			add("assistant", content.Text(strings.Trim(s, "\n")))
		}
	}
	at := 0
	for _, m := range elements.details.FindAllStringSubmatchIndex(text, -1) {
		say(text[at:m[0]])
		at = m[1]
		kind, attributes, body := text[m[2]:m[3]], map[string]string{}, text[m[6]:m[7]]
		for _, a := range elements.attribute.FindAllStringSubmatch(text[m[4]:m[5]], -1) {
			attributes[a[1]] = html.UnescapeString(a[2])
		}
		body = strings.TrimSpace(html.UnescapeString(elements.summary.ReplaceAllString(body, "")))
		if kind == "reasoning" {
			lines := strings.Split(body, "\n")
			for i, line := range lines {
				lines[i] = strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
			}
			if body != "" {
				add("assistant", content.Thinking(strings.Join(lines, "\n"), ""))
			}
			continue
		}
		c := content.Call{ID: attributes["id"], Name: attributes["name"], Arguments: unquoted(attributes["arguments"])}
		add("assistant", content.ToolCall(c))
		result, ok := attributes["result"]
		if !ok {
			result, ok = body, body != ""
		}
		if ok && attributes["done"] != "false" {
			add("user", content.ToolResult(content.Call{ID: c.ID, Name: c.Name}, unquoted(result)))
		}
	}
	switch rest := text[at:]; {
	case at > 0:
		say(rest)
	case rest != "":
		add("assistant", content.Text(rest))
	}
}

// unquoted returns the text of a value that may be a string in JSON.
func unquoted(s string) string {
	var text string
	if json.Unmarshal([]byte(s), &text) == nil {
		return text
	}
	return s
}
