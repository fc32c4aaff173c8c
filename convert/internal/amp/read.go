// Package amp reads the threads of Amp: an object with the messages of a thread in a row. A
// message has a number, and content in blocks like those of Anthropic's API; the result of a
// tool is the run of the call.
//
// The record of a thread is the object with an empty array of messages. The form is that of
// dist/main.js of the npm package @sourcegraph/amp 0.0.1767830505, which keeps threads on the
// machine.
package amp

import (
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"path"
	"strings"

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

const format = "amp"

func Detect(head []byte) bool {
	id, role, said := false, false, false
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		text, _ := value.(string)
		switch {
		case jsondoc.Match(path, "id"):
			id = strings.HasPrefix(text, "T-")
		case jsondoc.Match(path, "messages", "", "role"):
			role = text == "user" || text == "assistant" || text == "info"
		case jsondoc.Match(path, "messages", "", "content", "", "type"):
			said = true
		}
		return !(id && role && said)
	})
	return id && role && said
}

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		return []string{path.Join(cmp.Or(m.Env("XDG_DATA_HOME"), path.Join(m.Home, ".local", "share")), "amp", "threads")}
	},
	Holds: func(p string) bool {
		return strings.HasPrefix(p, "T-") && path.Ext(p) == ".json" && !strings.Contains(p, "/")
	},
}

func Read(in io.Reader, to transcript.Sink) error {
	return export.List(in, []string{"messages"}, to, func(e *export.Conversation) error {
		raw := e.Around.Record()
		if raw == nil {
			to.Problem(transcript.Problem{What: "there is no thread around the messages"})
			return nil
		}
		t := nodes.Tree{Torn: e.Torn, Messages: named(), Open: isOpen}
		c := &t.Conversation
		c.ID, c.Title, c.Records = member.Text(raw, "id"), member.Text(raw, "title"), []json.RawMessage{raw}
		c.Created = times.Milliseconds(gjson.GetBytes(raw, "created"))
		c.Dir = dirOf(gjson.GetBytes(raw, "env.initial.trees.0.uri"))
		c.Version = member.Text(raw, "env.initial.platform.clientVersion")
		c.BegunBy = member.Text(raw, "mainThreadID")
		c.Side = gjson.GetBytes(raw, "mainThreadID").Exists()
		last := ""
		for _, item := range e.Items {
			n := nodes.Node{Parent: last, Record: item.Raw}
			if number := gjson.GetBytes(item.Raw, "messageId"); number.Exists() { // it is unique in the thread only
				n.ID = transcript.ChainID(c.ID, []byte(number.Raw))
			} else {
				n.ID = transcript.ChainID(cmp.Or(last, c.ID), item.Raw)
			}
			last = t.Append(n)
		}
		return t.Read(to)
	})
}

// dirOf returns the path in a URL of a file, "" for any other.
func dirOf(v gjson.Result) string {
	u, err := url.Parse(v.Str)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

// isOpen reports whether an answer is being received, or a tool is running.
func isOpen(record json.RawMessage) (is bool) {
	is = member.Text(record, "state.type") == "streaming"
	gjson.GetBytes(record, "content").ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str == "tool_result" {
			_, done := resultOf(block)
			is = is || !done
		}
		return !is
	})
	return is
}

// named returns messagesOf for the messages of a thread in order, with the names of the tools
// in their results.
func named() func(n nodes.Node) []*transcript.Message {
	tools := map[string]string{}
	return func(n nodes.Node) []*transcript.Message {
		list := messagesOf(n)
		for _, m := range list {
			for i := range m.Parts {
				switch p := &m.Parts[i]; p.Type {
				case content.TypeToolCall:
					tools[p.Call().ID] = p.Call().Name
				case content.TypeToolResult:
					c := p.Call()
					c.Name = tools[c.ID]
					*p = content.ToolResult(c, p.Text)
				}
			}
		}
		return list
	}
}

// messagesOf returns the message of a record, nil if it has none.
func messagesOf(n nodes.Node) []*transcript.Message {
	v := gjson.ParseBytes(n.Record)
	m := &transcript.Message{ID: n.ID, Format: format}
	m.Role = "user"
	role := v.Get("role").Str
	switch role {
	case "user":
		m.Time = times.Milliseconds(v.Get("meta.sentAt"))
	case "assistant":
		m.Role, m.Model, m.Time = "assistant", v.Get("usage.model").Str, times.Of(v.Get("usage.timestamp"))
	case "info":
	default:
		return nil
	}
	v.Get("content").ForEach(func(_, block gjson.Result) bool {
		kind, text := block.Get("type").Str, member.String(block.Get("text"))
		switch {
		case kind == "text":
			if text != "" {
				m.Parts = append(m.Parts, content.Text(text))
			}
			if role == "info" { // of the program for the model
				m.Own.Role = "system"
			}
		case kind == "summary":
			if text := member.String(block.Get("summary.summary")); text != "" {
				m.Kind, m.Parts = transcript.Compaction, append(m.Parts, content.Text(text))
			}
		case kind == "manual_bash_invocation":
			if !block.Get("hidden").Bool() {
				m.Parts = append(m.Parts, content.Text(ranText(block)))
			}
		case kind == "tool_result":
			if list, done := resultOf(block); done {
				m.Parts = append(m.Parts, list...)
			}
		case block.IsObject():
			m.Parts = append(m.Parts, partOf(block))
		}
		return true
	})
	if len(m.Parts) == 0 {
		return nil
	}
	return []*transcript.Message{m}
}

// ranText returns the text for a command that the user ran.
func ranText(block gjson.Result) string {
	text := "Ran `" + member.String(block.Get("args.cmd")) + "`"
	if out := member.String(block.Get("toolRun.result.output")); out != "" {
		text += "\n" + parts.Fence("", out)
	}
	return text
}

func partOf(block gjson.Result) content.Part {
	switch block.Get("type").Str {
	case "thinking":
		signature := block.Get("signature").Str
		if by := block.Get("provider").Str; by != "" && by != "anthropic" {
			signature = ""
		}
		return content.Thinking(member.String(block.Get("thinking")), signature)
	case "redacted_thinking":
		return content.Part{Type: content.TypeRedacted, Meta: rawjson.Compact(struct {
			Data string `json:"data"`
		}{block.Get("data").Str})}
	case "tool_use":
		return content.ToolCall(content.Call{ID: block.Get("id").Str, Name: member.String(block.Get("name")), Arguments: cmp.Or(member.Compact(block.Get("input").Raw), "{}")})
	case "image":
		if address := block.Get("source.url").Str; address != "" {
			return content.ImageURL(address)
		}
		return content.Image(cmp.Or(block.Get("source.mediaType").Str, block.Get("source.media_type").Str), block.Get("source.data").Str)
	}
	return parts.Other(block)
}

// resultOf returns the result of a tool and its images, and false if it is not finished.
func resultOf(block gjson.Result) (list []content.Part, done bool) {
	run := block.Get("run")
	c := content.Call{ID: block.Get("toolUseID").Str, Failed: true}
	switch run.Get("status").Str {
	case "done":
		c.Failed = false
		result := run.Get("result")
		texts, images := blocksOf(result)
		switch {
		case result.Type == gjson.String:
			texts = member.String(result)
		case texts == "" && images == nil:
			texts = member.Compact(result.Raw)
		}
		return append([]content.Part{content.ToolResult(c, texts)}, images...), true
	case "error":
		return []content.Part{content.ToolResult(c, cmp.Or(member.String(run.Get("error.message")), "unknown error"))}, true
	case "rejected-by-user":
		return []content.Part{content.ToolResult(c, "The user rejected the call.")}, true
	case "cancelled":
		return []content.Part{content.ToolResult(c, "The call was cancelled.")}, true
	}
	return nil, false
}

// blocksOf returns the texts and images of a result that is an array of blocks.
func blocksOf(v gjson.Result) (text string, images []content.Part) {
	var texts []string
	for _, block := range v.Array() {
		switch block.Get("type").Str {
		case "text":
			texts = append(texts, member.String(block.Get("text")))
		case "image":
			mime, data := block.Get("mimeType").Str, block.Get("data").Str
			if source := block.Get("source"); source.Exists() {
				mime, data = cmp.Or(source.Get("media_type").Str, source.Get("mediaType").Str), source.Get("data").Str
			}
			images = append(images, content.Image(mime, data))
		}
	}
	return parts.JoinLines(texts...), images
}
