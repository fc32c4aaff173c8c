// Package sharegpt reads and writes conversations in the form that ShareGPT's exports gave to
// data for training: an object with the turns of a conversation, each of which has a speaker
// and a text. A file is an array of conversations, or has one on each line.
//
// A turn function_call has the calls of tools as JSON, and observation, or tool, a result.
// There are no ids and times: a message is identified by its content and the messages before
// it, and a result belongs to the oldest call without one.
//
// The record of a conversation is the object with an empty array of turns. The form is that
// of data/README.md and src/llamafactory/data/converter.py in the repository
// hiyouga/LLaMA-Factory.
package sharegpt

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

const format = "sharegpt"

func Detect(head []byte) bool {
	from, value := false, false
	jsondoc.Scan(head, func(path []string, _ json.Token) bool {
		path = jsondoc.Trim(path, "")
		from = from || jsondoc.Match(path, "conversations", "", "from")
		value = value || jsondoc.Match(path, "conversations", "", "value")
		return !(from && value)
	})
	return from && value
}

func Read(in io.Reader, to transcript.Sink) error {
	r := bufio.NewReaderSize(in, jsonl.HeadSize)
	head, _ := r.Peek(jsonl.HeadSize)
	head = bytes.TrimSpace(jsonl.TrimBOM(head))
	if first, rest, _ := bytes.Cut(head, []byte("\n")); len(bytes.TrimSpace(rest)) > 0 && len(first) > 0 && first[0] == '{' && rawjson.Check(bytes.TrimSpace(first)) == nil {
		return jsonl.Read(r, to, func(l jsonl.Line) error {
			if !l.Get("conversations").IsArray() {
				to.Problem(l.Problem("there are no turns in it"))
				return nil
			}
			return document(bytes.NewReader(l.Raw), to)
		})
	}
	return document(r, to)
}

// document reads one conversation or an array of them.
func document(in io.Reader, to transcript.Sink) error {
	return export.Read(in, []string{"conversations"}, "[]", to, func(e *export.Conversation) error {
		raw := e.Around.Record()
		if e.Torn && !gjson.GetBytes(raw, "system").Exists() {
			to.Problem(transcript.Problem{What: "its turns are not read: all messages follow the member system, which may have come later"})
			return nil
		}
		d := dialogue{}
		t := nodes.Tree{Torn: e.Torn, Messages: d.messagesOf, Open: func(json.RawMessage) bool { return false }}
		c := &t.Conversation
		c.Anonymous, c.ID = true, member.Text(raw, "id")
		last := ""
		add := func(record json.RawMessage) {
			last = t.Append(nodes.Node{ID: transcript.ChainID(last, record), Parent: last, Record: record})
		}
		if system := member.Text(raw, "system"); system != "" {
			add(json.RawMessage(`{"system":` + gjson.GetBytes(raw, "system").Raw + `}`))
			raw = member.SetRaw(raw, "system", []byte("null"))
		}
		c.Records = []json.RawMessage{raw}
		for _, item := range e.Items {
			add(item.Raw)
		}
		return t.Read(to)
	})
}

// A dialogue reads the turns of a conversation in order.
type dialogue struct {
	calls int
	open  []content.Call // calls without a result
}

// messagesOf returns the message of a turn, nil if it has none.
func (d *dialogue) messagesOf(n nodes.Node) []*transcript.Message {
	v := gjson.GetManyBytes(n.Record, "from", "value", "system")
	m := &transcript.Message{ID: n.ID, Format: format}
	text := member.String(v[1])
	m.Parts = []content.Part{content.Text(text)}
	switch v[0].Str {
	case "human", "user":
		m.Role = "user"
	case "gpt", "assistant", "chatgpt", "bing", "bard", "claude", "model":
		m.Role = "assistant"
	case "system":
		m.Role, m.Own.Role = "user", "system"
	case "function_call":
		m.Role = "assistant"
		if list := d.callsOf(text); list != nil {
			m.Parts = list
		}
	case "observation", "tool", "function_response":
		m.Role = "user"
		c := content.Call{}
		if len(d.open) > 0 {
			c, d.open = d.open[0], d.open[1:]
		}
		m.Parts[0] = content.ToolResult(content.Call{ID: c.ID, Name: c.Name}, text)
		return []*transcript.Message{m}
	default:
		if text = member.String(v[2]); v[0].Exists() || text == "" {
			return nil
		}
		m.Role, m.Own.Role, m.Parts[0].Text = "user", "system", text
	}
	if m.Parts[0].Type == content.TypeText && m.Parts[0].Text == "" {
		return nil
	}
	return []*transcript.Message{m}
}

// callsOf returns the calls of tools in a text, nil if it has none: a call or an array of them
// as JSON.
func (d *dialogue) callsOf(text string) (list []content.Part) {
	if !json.Valid([]byte(text)) {
		return nil
	}
	calls, open := gjson.Parse(text), []content.Call(nil)
	if calls.IsObject() {
		calls = gjson.Parse("[" + text + "]")
	}
	for _, v := range calls.Array() {
		name, arguments := member.String(v.Get("name")), v.Get("arguments")
		if name == "" {
			return nil
		}
		c := content.Call{ID: fmt.Sprintf("call_%d", d.calls+len(open)+1), Name: name, Arguments: member.Compact(arguments.Raw)}
		if arguments.Type == gjson.String {
			c.Arguments = member.String(arguments)
		}
		c.Arguments = cmp.Or(c.Arguments, "{}")
		open = append(open, c)
		list = append(list, content.ToolCall(c))
	}
	d.open, d.calls = open, d.calls+len(open)
	return list
}
