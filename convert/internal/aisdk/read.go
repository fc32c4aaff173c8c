// Package aisdk reads and writes the UI messages of the AI SDK: an array of messages, as
// programs store a chat, or an object with the array in the member messages, as useChat sends
// it. A message has parts; a call of a tool is one part with its result.
//
// A message is read as several, one for each change of the speaker: the calls of a step, their
// results, and what follows. An array has no id: it is identified by its first message that is
// not of the system. The tool-invocation parts of version 4 are read too. By convention metadata has the time as
// createdAt and the name of the model.
//
// The form is that of packages/ai/src/ui/ui-messages.ts and validate-ui-messages.ts in the
// repository vercel/ai.
package aisdk

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

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

const format = "ai-sdk"

func Detect(head []byte) bool {
	id, role, kind := false, false, false
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		path = jsondoc.Trim(path, "messages")
		text, is := value.(string)
		switch {
		case jsondoc.Match(path, "", "id"):
			id = is
		case jsondoc.Match(path, "", "role"):
			role = text == "user" || text == "assistant" || text == "system"
		case jsondoc.Match(path, "", "parts", "", "type"):
			kind = is
		}
		return !(id && role && kind)
	})
	return id && role && kind
}

func Read(in io.Reader, to transcript.Sink) error {
	return export.List(in, []string{"messages"}, to, func(e *export.Conversation) error {
		t := nodes.Tree{Torn: e.Torn, Messages: messagesOf, Open: isOpen}
		c := &t.Conversation
		if raw := e.Around.Record(); raw != nil {
			c.Records, c.ID = []json.RawMessage{raw}, member.Text(raw, "id")
		}
		if c.ID == "" {
			first := e.Items[max(slices.IndexFunc(e.Items, isSaid), 0)].Raw
			c.ID = transcript.ChainID(idOf(first), first)
		}
		last := ""
		for _, item := range e.Items {
			last = t.Append(nodes.Node{ID: cmp.Or(idOf(item.Raw), transcript.ChainID(last, item.Raw)), Parent: last, Record: item.Raw})
		}
		return t.Read(to)
	})
}

// isSaid reports whether a message is not one of the program, which may begin all its chats.
func isSaid(item export.Item) bool { return member.Text(item.Raw, "role") != "system" }

func idOf(record json.RawMessage) string { return member.Text(record, "id") }

// isOpen reports whether a message is still being received.
func isOpen(record json.RawMessage) (is bool) {
	gjson.GetBytes(record, "parts").ForEach(func(_, p gjson.Result) bool {
		state := p.Get("state").Str
		is = state == "streaming" || state == "input-streaming"
		return !is
	})
	return is
}

func messagesOf(n nodes.Node) (list []*transcript.Message) {
	v := gjson.ParseBytes(n.Record)
	first := &transcript.Message{ID: n.ID, Format: format, Time: timeOf(v)}
	role := v.Get("role").Str
	switch role {
	case "assistant":
		first.Model = v.Get("metadata.model").Str
	case "system":
		role, first.Own.Role = "user", "system"
	case "user":
	default:
		return nil
	}
	add := func(role string, p content.Part) { list = nodes.Add(list, first, role, p) }
	var results []content.Part // of the calls before, which were made at once
	flush := func() {
		for _, p := range results {
			add("user", p)
		}
		results = nil
	}
	v.Get("parts").ForEach(func(_, p gjson.Result) bool {
		if call, result, is := callOf(p); is {
			add(role, call)
			results = append(results, result...)
			return true
		}
		flush()
		if part, is := partOf(p); is {
			add(role, part)
		}
		return true
	})
	flush()
	if len(list) == 0 {
		if text := member.String(v.Get("content")); text != "" {
			add(role, content.Text(text))
		}
	}
	return list
}

// timeOf returns the time of a message, zero if it has none.
func timeOf(v gjson.Result) time.Time {
	for _, at := range []gjson.Result{v.Get("metadata.createdAt"), v.Get("createdAt")} {
		if at.Type == gjson.Number {
			return times.Milliseconds(at)
		}
		if t := times.Of(at); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// partOf returns a part, and false for one that has no content.
func partOf(p gjson.Result) (part content.Part, is bool) {
	text := member.String(p.Get("text"))
	switch p.Get("type").Str {
	case "step-start":
		return part, false
	case "text":
		return content.Text(text), text != ""
	case "reasoning":
		if data := p.Get("providerMetadata.anthropic.redactedData"); data.Str != "" {
			return content.Part{Type: content.TypeRedacted, Meta: rawjson.Compact(struct {
				Data string `json:"data"`
			}{data.Str})}, true
		}
		text = cmp.Or(text, member.String(p.Get("reasoning")))
		signature := p.Get("providerMetadata.anthropic.signature").Str
		return content.Thinking(text, signature), text != "" || signature != ""
	case "file":
		return fileOf(p), true
	}
	return parts.Other(p), p.IsObject()
}

func fileOf(p gjson.Result) content.Part {
	mime, url := cmp.Or(p.Get("mediaType").Str, p.Get("mimeType").Str), p.Get("url").Str
	if data := p.Get("data").Str; data != "" && url == "" { // version 4
		url = "data:" + mime + ";base64," + data
	}
	name := member.String(p.Get("filename"))
	if strings.HasPrefix(mime, "image") {
		part := content.ImageURL(url)
		part.Filename = name
		return part
	}
	if head, data, is := strings.Cut(url, ";base64,"); is && strings.HasPrefix(head, "data:") {
		return parts.NewFile(name, cmp.Or(strings.TrimPrefix(head, "data:"), mime), data)
	}
	return content.Part{Type: content.TypeFile, Filename: name, Meta: rawjson.Compact(struct {
		Type string `json:"type"`
		MIME string `json:"media_type,omitempty"`
		URL  string `json:"url"`
	}{"url", mime, url})}
}

// callOf returns the call of a tool in a part, and its result if it has one.
func callOf(p gjson.Result) (call content.Part, result []content.Part, is bool) {
	kind := p.Get("type").Str
	name, fixed := strings.CutPrefix(kind, "tool-")
	input, output, failure := p.Get("input"), p.Get("output"), p.Get("errorText")
	switch {
	case kind == "tool-invocation" && p.Get("toolInvocation").IsObject(): // version 4
		p = p.Get("toolInvocation")
		name, input, output, failure = p.Get("toolName").Str, p.Get("args"), p.Get("result"), gjson.Result{}
	case kind == "dynamic-tool":
		name = member.String(p.Get("toolName"))
	case !fixed:
		return call, nil, false
	}
	if !input.Exists() {
		input = p.Get("rawInput")
	}
	c := content.Call{ID: p.Get("toolCallId").Str, Name: name, Arguments: cmp.Or(valueOf(input), "{}")}
	done := content.Call{ID: c.ID, Name: name}
	switch state := p.Get("state").Str; {
	case state == "output-denied":
		done.Failed = true
		result = append(result, content.ToolResult(done, cmp.Or(member.String(p.Get("approval.reason")), "The user denied the call.")))
	case failure.Type == gjson.String:
		done.Failed = true
		result = append(result, content.ToolResult(done, member.String(failure)))
	case state == "output-available", state == "result":
		result = append(result, content.ToolResult(done, valueOf(output)))
	}
	return content.ToolCall(c), result, true
}

// valueOf returns a text, or any other value as JSON.
func valueOf(v gjson.Result) string {
	if v.Type == gjson.String {
		return member.String(v)
	}
	return member.Compact(v.Raw)
}
