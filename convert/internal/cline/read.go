// Package cline reads and writes the conversations of Cline, and of Roo Code and Kilo Code,
// which began as copies of it.
//
// A session of Cline is an object with its messages, in the file SESSION.messages.json. A
// task of the older versions, and of the others, is an array of messages, in the file
// api_conversation_history.json; Roo Code has the array in an object with version 2. The
// content of a message has Anthropic's blocks, or the parts of the AI SDK. A message may
// have an id, a time, and its model; a message without an id is identified by its content
// and the messages before it.
//
// The program resumes a session (cline --id SESSION) if SESSION.json beside the messages describes
// it; without that file, it begins a new session and replaces the messages. The provider and the
// model there are not used: the user's settings are. That is what the program 3.0.65 does, and its
// library @cline/core 0.0.86 has the members (SessionManifestSchema). An image is an object with its
// data and mediaType (ImageContent in @cline/shared); the program drops an image in the form of
// Anthropic's API when it writes the session. A prompt is in tags with the mode it was typed in
// (formatUserInputBlock in the same library). Roo Code resumes a task from its own list; it was
// discontinued in May 2026. Kilo Code is built on opencode since version 7.
//
// The record of a session is the object with an empty array. The forms are those of
// sdk/packages/core/docs/messages-contract-v1.md and apps/vscode/src/shared/messages/content.ts
// in the repository cline/cline, and of src/core/task-persistence/rooMessage.ts in
// RooCodeInc/Roo-Code.
package cline

import (
	"cmp"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/request"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/vscode"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/tidwall/gjson"
)

const format = "cline"

// Detect recognizes a session by the members of its object, and messages by members or a
// text that only these programs write.
func Detect(head []byte) bool {
	version, agent, object, said, own := false, false, false, false, false
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		text, _ := value.(string)
		if len(path) > 0 && path[0] == "messages" {
			object = true
			path = path[1:]
		}
		switch {
		case jsondoc.Match(path, "version"):
			version = true
		case jsondoc.Match(path, "agent"):
			agent = text == "lead" || text == "subagent" || text == "teammate"
		case jsondoc.Match(path, "", "content"):
			said = true
		case jsondoc.Match(path, "", "content", "", "text"):
			own = own || !object && strings.HasPrefix(text, request.ClinesContext)
		case jsondoc.Match(path, "", "ts"), jsondoc.Match(path, "", "modelInfo"):
			own = true
		case jsondoc.Match(path, "", "parts"), jsondoc.Match(path, "", "type"), jsondoc.Match(path, "", "uuid"):
			said = false // of another program
			return false
		}
		return !(said && (own || agent && version))
	})
	if object {
		return version && said && (agent || own)
	}
	return said && own
}

// Home is the folders of the sessions of Cline, and of the tasks of Cline, Roo Code and Kilo Code.
var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		own := append([]string{sessions(m), path.Join(data(m), "tasks")}, tasks(m, "saoudrizwan.claude-dev")...)
		return slices.Concat(own, RooHome.Roots(m), KiloHome.Roots(m))
	},
	Holds: holds,
	Target: func(m transcript.Machine, _ *transcript.Transcript, o transcript.Options) string {
		return path.Join(sessions(m), o.ID, o.ID+".messages.json")
	},
	Beside: manifest,
	Resume: func(_ transcript.Machine, _ string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return nil, []string{"cline", "--id", o.ID}
	},
}

// RooHome is the folders of the tasks of Roo Code alone.
var RooHome = transcript.Home{
	Roots: func(m transcript.Machine) []string { return tasks(m, "rooveterinaryinc.roo-cline") },
	Holds: holds,
}

// KiloHome is the folders of the tasks of Kilo Code alone, before its version 7.
var KiloHome = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		return append([]string{path.Join(m.Home, ".kilocode", "cli", "global", "tasks")}, tasks(m, "kilocode.kilo-code")...)
	},
	Holds: holds,
}

func holds(p string) bool {
	dir, name := path.Split(p)
	return strings.Count(dir, "/") == 1 && (name == "api_conversation_history.json" || strings.HasSuffix(name, ".messages.json"))
}

// data returns the folder of the data of Cline.
func data(m transcript.Machine) string {
	return cmp.Or(m.Env("CLINE_DATA_DIR"), path.Join(cmp.Or(m.Env("CLINE_DIR"), path.Join(m.Home, ".cline")), "data"))
}

// sessions returns the folder of the sessions of Cline.
func sessions(m transcript.Machine) string {
	return cmp.Or(m.Env("CLINE_SESSION_DATA_DIR"), path.Join(data(m), "sessions"))
}

// tasks returns the folders of the tasks of an extension in the editors.
func tasks(m transcript.Machine, extension string) (list []string) {
	for _, dir := range vscode.Users(m, slices.Concat(vscode.Own, vscode.Others)...) {
		list = append(list, path.Join(dir, "globalStorage", extension, "tasks"))
	}
	return list
}

func Read(in io.Reader, to transcript.Sink) error {
	return export.List(in, []string{"messages"}, to, func(e *export.Conversation) error {
		t := nodes.Tree{Torn: e.Torn, Messages: messagesOf, Open: func(json.RawMessage) bool { return false }}
		c := &t.Conversation
		if raw := e.Around.Record(); raw != nil {
			c.Records = []json.RawMessage{raw}
			c.ID = member.Text(raw, "sessionId")
			c.Side = member.Text(raw, "agent") == "subagent" || member.Text(raw, "agent") == "teammate"
		}
		known := false // some message has an id or a time
		last := ""
		for _, item := range e.Items {
			v := gjson.GetManyBytes(item.Raw, "id", "ts", "role", "content")
			n := nodes.Node{ID: idOf(item.Raw), Parent: last, Record: item.Raw}
			known = known || n.ID != "" || v[1].Exists()
			if n.ID == "" {
				n.ID = transcript.ChainID(last, item.Raw)
			}
			if c.Title == "" && v[2].Str == "user" {
				c.Title = taskOf(v[3])
			}
			last = t.Append(n)
		}
		c.Anonymous = !known
		return t.Read(to)
	})
}

func idOf(record json.RawMessage) string { return member.Text(record, "id") }

// taskOf returns the first line of what the user asked for in a task, "" if the content is
// not wrapped as one.
func taskOf(said gjson.Result) string {
	text := member.String(said)
	if said.IsArray() {
		text = member.String(said.Get("0.text"))
	}
	task, wrapped := typed(text)
	for _, tag := range []string{"task", "user_message"} {
		if rest, ok := strings.CutPrefix(text, "<"+tag+">"); ok {
			task, _, _ = strings.Cut(rest, "</"+tag+">")
			wrapped = true
		}
	}
	if !wrapped {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(task), "\n")
	return strings.TrimSpace(line)
}

// typed returns a prompt without what Cline 3 puts around it, and whether it had that: notices of the
// program, and tags with the mode in which it was typed. Files may follow.
func typed(text string) (string, bool) {
	rest := text
	for strings.HasPrefix(rest, "<mode_notice>") {
		_, after, ok := strings.Cut(rest, "</mode_notice>")
		if !ok {
			return text, false
		}
		rest = strings.TrimLeft(after, " \t\r\n")
	}
	tag, rest, _ := strings.Cut(rest, ">")
	said, files, closed := strings.Cut(rest, "</user_input>")
	if !closed || tag != "<user_input" && !strings.HasPrefix(tag, "<user_input ") {
		return text, false
	}
	return said + files, true
}

// messagesOf returns the message of a record, nil if it has none.
func messagesOf(n nodes.Node) []*transcript.Message {
	v := gjson.ParseBytes(n.Record)
	m := &transcript.Message{ID: n.ID, Format: format}
	switch role := v.Get("role").Str; role {
	case "user", "assistant":
		m.Role = role
	case "tool":
		m.Role = "user"
	case "system":
		m.Role, m.Own.Role = "user", "system"
	default:
		return nil
	}
	m.Time = times.Milliseconds(v.Get("ts"))
	if m.Role == "assistant" {
		m.Model = cmp.Or(v.Get("modelInfo.id").Str, v.Get("modelInfo.modelId").Str)
	}
	if v.Get("isSummary").Bool() {
		m.Kind, m.Role = transcript.Compaction, "user"
	}
	m.Parts = partsOf(v.Get("content"))
	for i := range m.Parts {
		if p := &m.Parts[i]; m.Role == "user" && p.Type == content.TypeText {
			p.Text, _ = typed(p.Text)
		}
	}
	return []*transcript.Message{m}
}

// partsOf returns the parts of content, a text or a list of blocks.
func partsOf(said gjson.Result) []content.Part {
	list := []content.Part{}
	if said.Type == gjson.String {
		return append(list, content.Text(member.String(said)))
	}
	for _, block := range said.Array() {
		list = append(list, partOf(block))
	}
	return list
}

func partOf(block gjson.Result) content.Part {
	call := content.Call{ID: block.Get("toolCallId").Str, Name: member.String(block.Get("toolName"))}
	switch block.Get("type").Str {
	case "reasoning":
		return content.Thinking(member.String(block.Get("text")), block.Get("providerOptions.anthropic.signature").Str)
	case "tool-call":
		call.Arguments = cmp.Or(member.Compact(block.Get("input").Raw), "{}")
		return content.ToolCall(call)
	case "tool-result":
		output := block.Get("output")
		if value := output.Get("value"); value.Exists() {
			call.Failed = strings.HasPrefix(output.Get("type").Str, "error")
			output = value
		}
		if output.Type == gjson.String {
			return content.ToolResult(call, member.String(output))
		}
		return content.ToolResult(call, member.Compact(output.Raw))
	case "image", "file":
		mime := cmp.Or(block.Get("mediaType").Str, block.Get("mimeType").Str)
		data := cmp.Or(block.Get("image").Str, block.Get("data").Str)
		switch {
		case strings.HasPrefix(data, "data:"), strings.HasPrefix(data, "http"):
			return content.ImageURL(data)
		case data != "" && (block.Get("type").Str == "image" || strings.HasPrefix(mime, "image/")):
			return content.Image(cmp.Or(mime, "image/png"), data)
		case block.Get("path").Str != "":
			return parts.NewTextFile(member.String(block.Get("path")), member.String(block.Get("content")))
		}
	}
	said, err := content.Parse(content.Anthropic, []byte(`{"role":"user","content":[`+anthropic(block)+`]}`), nil)
	if err != nil || len(said.Parts) != 1 {
		return parts.Other(block)
	}
	return said.Parts[0]
}

// anthropic returns a block with the images of its result as in Anthropic's API.
func anthropic(block gjson.Result) string {
	said := block.Get("content")
	if !said.IsArray() {
		return block.Raw
	}
	var list []json.RawMessage
	own := false
	for _, part := range said.Array() {
		data := part.Get("data")
		if part.Get("type").Str != "image" || data.Type != gjson.String {
			list = append(list, json.RawMessage(part.Raw))
			continue
		}
		own = true
		source := map[string]string{"type": "base64", "media_type": cmp.Or(part.Get("mediaType").Str, "image/png"), "data": data.Str}
		list = append(list, rawjson.Compact(map[string]any{"type": "image", "source": source}))
	}
	if !own {
		return block.Raw
	}
	return string(member.SetRaw([]byte(block.Raw), "content", records.Join(list)))
}
