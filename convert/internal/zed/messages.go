package zed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A thread is the messages of a thread that were read.
type thread struct {
	id    string
	list  []*transcript.Message
	chain string // the id of the last message that is not a compaction; at first, that of the thread

	compacted bool // the last message is a compaction
	loose     bool // the last message is a prompt before which Zed may insert a compaction

	pending []json.RawMessage // records without a message
	names   map[string]string // of the tools, by the id of the call
	began   map[string]string // see [transcript.Conversation.Began]
}

// message reads a message of a document, and reports whether its kind is known.
func (t *thread) message(v gjson.Result) (known bool) {
	var said, results []content.Part
	role, own := "user", ""
	kind, value := variant(v)
	compaction := kind == "Compaction"
	switch {
	case v.Get("role").Type == gjson.String:
		switch r := v.Get("role").Str; r {
		case "assistant":
			role = r
		case "user":
		default:
			own = r
		}
		said, results = t.older(v)
	case kind == "User":
		value.Get("content").ForEach(func(_, c gjson.Result) bool {
			if p := userPart(c); p.Type != content.TypeText || p.Text != "" {
				said = append(said, p)
			}
			return true
		})
	case kind == "Agent":
		role = "assistant"
		said, results = t.agent(value)
	case compaction:
		if name, summary := variant(value); name == "Summary" {
			said = append(said, content.Text(member.String(summary)))
		} else {
			said = append(said, parts.Unknown(cmp.Or(name, kind), value))
		}
	case kind == "Resume":
	default:
		t.pending = append(t.pending, json.RawMessage(v.Raw))
		return false
	}
	t.pending = append(t.pending, json.RawMessage(v.Raw))
	add := func(role string, list []content.Part) {
		if len(list) == 0 {
			return
		}
		m := &transcript.Message{Format: "zed", Records: t.pending}
		t.pending = nil
		m.Role, m.Parts, m.Own.Role = role, list, own
		if compaction {
			m.Kind = transcript.Compaction
		}
		before := t.chain
		if n := len(t.list); n > 0 {
			m.Parent = t.list[n-1].ID
			if compaction {
				before = m.Parent
			}
		}
		m.ID = transcript.ChainID(before, rawjson.Compact([]any{m.Role, m.Parts}))
		t.list = append(t.list, m)
		if !compaction {
			t.chain = m.ID
		}
		t.loose = kind == "User" && !t.compacted
		t.compacted = compaction
	}
	if role == "user" { // the results of version 0.1.0
		add("user", append(results, said...))
	} else {
		add(role, said)
		add("user", results)
	}
	return true
}

// variant returns the name and the value of an enum.
func variant(v gjson.Result) (name string, value gjson.Result) {
	if v.Type == gjson.String {
		return member.String(v), gjson.Result{}
	}
	n := 0
	if v.IsObject() {
		v.ForEach(func(key, of gjson.Result) bool {
			name, value = key.String(), of
			n++
			return n < 2
		})
	}
	if n != 1 {
		return "", gjson.Result{}
	}
	return name, value
}

// userPart returns a part of a message of the user.
func userPart(v gjson.Result) content.Part {
	switch kind, value := variant(v); kind {
	case "Text":
		return content.Text(member.String(value))
	case "Image":
		return image(value)
	case "Mention":
		return mention(value)
	default:
		return parts.Unknown(cmp.Or(kind, "unknown"), v)
	}
}

func image(v gjson.Result) content.Part {
	return content.Image(cmp.Or(member.String(v.Get("mime_type")), "image/png"), member.String(v.Get("source")))
}

// mention returns what the user named in a message: a file with its content, or only its name if
// there is no content.
func mention(v gjson.Result) content.Part {
	kind, uri := variant(v.Get("uri"))
	name := ""
	for _, of := range []string{"abs_path", "path", "skill_file_path", "name", "url", "file_path", "base_ref"} {
		if name = member.String(uri.Get(of)); name != "" {
			break
		}
	}
	if lines := uri.Get("line_range"); name != "" && lines.IsObject() {
		name += fmt.Sprintf(":%d-%d", lines.Get("start").Int()+1, lines.Get("end").Int()+1)
	}
	if text := member.String(v.Get("content")); text != "" {
		return parts.NewTextFile(cmp.Or(name, kind), text)
	}
	words := strings.TrimSpace(strings.ToLower(kind) + " " + name)
	return content.Part{Type: content.TypeData, Text: "[" + words + "]", Meta: rawjson.Compact(map[string]string{"data_type": "attachment"})}
}

// agent returns what the agent said, and the results of its calls.
func (t *thread) agent(v gjson.Result) (said, results []content.Part) {
	v.Get("content").ForEach(func(_, c gjson.Result) bool {
		switch kind, value := variant(c); kind {
		case "Text":
			if text := member.String(value); text != "" {
				said = append(said, content.Text(text))
			}
		case "Thinking":
			said = append(said, content.Thinking(member.String(value.Get("text")), member.String(value.Get("signature"))))
		case "RedactedThinking":
			said = append(said, redacted(value))
		case "ToolUse":
			said = append(said, t.call(value, arguments(value.Get("input"))))
		default:
			said = append(said, parts.Unknown(cmp.Or(kind, "unknown"), c))
		}
		return true
	})
	v.Get("tool_results").ForEach(func(_, r gjson.Result) bool {
		results = append(results, t.result(r)...)
		return true
	})
	return said, results
}

// redacted returns thinking that only its provider can read.
func redacted(v gjson.Result) content.Part {
	return content.Part{Type: content.TypeRedacted, Meta: rawjson.Compact(map[string]string{"data": member.String(v)})}
}

func (t *thread) call(v gjson.Result, arguments string) content.Part {
	c := content.Call{ID: member.String(v.Get("id")), Name: member.String(v.Get("name")), Arguments: cmp.Or(arguments, "{}")}
	t.names[c.ID] = c.Name
	return content.ToolCall(c)
}

// arguments returns the arguments of a call, which newer versions wrap.
func arguments(input gjson.Result) string {
	if kind, value := input.Get("type").Str, input.Get("value"); value.Exists() && len(input.Map()) == 2 {
		switch kind {
		case "json":
			return member.Compact(value.Raw)
		case "text":
			return member.String(value)
		}
	}
	return member.Compact(input.Raw)
}

// result returns the result of a call, with the images in it.
func (t *thread) result(v gjson.Result) []content.Part {
	c := content.Call{ID: member.String(v.Get("tool_use_id")), Failed: v.Get("is_error").Bool()}
	c.Name = cmp.Or(member.String(v.Get("tool_name")), t.names[c.ID])
	var texts []string
	var images []content.Part
	list := []gjson.Result{v.Get("content")}
	if list[0].IsArray() {
		list = list[0].Array()
	}
	for _, p := range list {
		if text, is := textOf(p); is {
			texts = append(texts, text)
		} else if i := imageOf(p); i.Exists() {
			images = append(images, image(i))
		} else if p.Exists() {
			images = append(images, parts.Unknown("tool_result_content", p))
		}
	}
	text := parts.JoinLines(texts...)
	if c.Name == "spawn_agent" {
		id := member.String(v.Get("output.session_id"))
		if id == "" && json.Valid([]byte(text)) {
			id = member.String(gjson.Get(text, "session_id"))
		}
		if _, known := t.began[id]; id != "" && !known { // a later call continues it
			if t.began == nil {
				t.began = map[string]string{}
			}
			t.began[id] = c.ID
		}
	}
	return append([]content.Part{content.ToolResult(c, text)}, images...)
}

// textOf returns the text of a part of a result, in any of the forms that Zed accepts.
func textOf(v gjson.Result) (text string, is bool) {
	if v.Type == gjson.String {
		return member.String(v), true
	}
	text, n := "", 0
	if v.IsObject() {
		v.ForEach(func(key, value gjson.Result) bool {
			if n++; strings.EqualFold(key.String(), "text") && value.Type == gjson.String {
				text, is = member.String(value), true
			}
			return true
		})
	}
	return text, is && (n == 1 || strings.EqualFold(v.Get("type").Str, "text"))
}

// imageOf returns the object of an image in a result; it does not exist if there is none.
func imageOf(v gjson.Result) gjson.Result {
	if kind, value := variant(v); strings.EqualFold(kind, "image") {
		v = value
	}
	if v.Get("source").Type != gjson.String {
		return gjson.Result{}
	}
	return v
}

// older returns the content of a message before version 0.3.0, and the results in it.
func (t *thread) older(v gjson.Result) (said, results []content.Part) {
	if text := member.String(v.Get("text")); text != "" {
		said = append(said, content.Text(text))
	}
	v.Get("segments").ForEach(func(_, s gjson.Result) bool {
		text := member.String(s.Get("text"))
		switch s.Get("type").Str {
		case "text":
			if text != "" {
				said = append(said, content.Text(text))
			}
		case "thinking":
			said = append(said, content.Thinking(text, member.String(s.Get("signature"))))
		case "RedactedThinking":
			said = append(said, redacted(s.Get("data")))
		default:
			said = append(said, parts.Other(s))
		}
		return true
	})
	if context := member.String(v.Get("context")); len(said) == 0 && context != "" {
		said = append(said, content.Text(context))
	}
	v.Get("tool_uses").ForEach(func(_, u gjson.Result) bool {
		said = append(said, t.call(u, member.Compact(u.Get("input").Raw)))
		return true
	})
	v.Get("tool_results").ForEach(func(_, r gjson.Result) bool {
		results = append(results, t.result(r)...)
		return true
	})
	return said, results
}
