package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
)

// A Prompt is a conversation in a form that a provider accepts, derived from
// any stored form:
//
//   - Each call of a message is followed by one result, before anything else. A call
//     without a result gets one that says so; a result without a call is omitted.
//   - Calls have unique ids, and names that the provider accepts; their arguments are
//     objects.
//   - Thinking, empty texts and messages, and content of another provider's own tools
//     are omitted. A file that the provider does not support is replaced by a text.
//   - The last message is not the model's.
//
// Anthropic's form has more rules: leading system messages become the system
// text, later ones messages of the user; the first message is the user's;
// consecutive messages have different roles.
type Prompt struct {
	System   string            // "" for none; in OpenAI's form it is a message
	Messages []json.RawMessage // in the provider's form
	Tools    []Tool
	Called   []string // tools that the messages call, in the order of their first calls

	names map[string]string // the agent's names of tools, by the provider's
}

// A Tool is a tool that the request offers.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // an object whose type is object, with properties
}

// Compose returns the prompt of a request; f is [content.OpenAI] or
// [content.Anthropic]. It returns a readable error for a request that cannot be
// sent.
func Compose(r *model.Request, f content.Format) (*Prompt, error) {
	c := composer{form: f, prompt: &Prompt{System: r.System, names: map[string]string{}}, ids: map[string]bool{}}
	for _, t := range r.Tools {
		if err := c.tool(t); err != nil {
			return nil, err
		}
	}
	for _, m := range r.Messages {
		c.message(m)
	}
	c.finish()
	if !slices.ContainsFunc(c.out, func(m *content.Message) bool { return m.Own.Role != "system" }) {
		return nil, errors.New("no message to answer")
	}
	if c.out[len(c.out)-1].Role == assistant {
		return nil, errors.New("the last message with text is the model's own, so there is nothing to answer")
	}
	p := c.prompt
	if f == content.Anthropic {
		p.Messages = content.Items(f, merged(c.out), nil)
		return p, nil
	}
	if strings.TrimSpace(p.System) != "" {
		c.out = append([]*content.Message{system(p.System)}, c.out...)
		p.System = ""
	}
	p.Messages = content.Items(f, c.out, nil)
	return p, nil
}

// The roles and parts of package content.
const (
	user       = "user"
	assistant  = "assistant"
	textPart   = "text"
	callPart   = "tool-call"
	resultPart = "tool-result"
)

// A composer converts the messages in one pass.
type composer struct {
	form   content.Format
	prompt *Prompt
	out    []*content.Message
	open   []openCall      // without a result
	ids    map[string]bool // of calls
	made   int             // ids
}

// An openCall is a call that waits for its result.
type openCall struct{ stored, name, id string }

func (c *composer) add(role string, parts ...content.Part) *content.Message {
	m := &content.Message{Role: role, Parts: parts}
	c.out = append(c.out, m)
	return m
}

func system(text string) *content.Message {
	return &content.Message{Role: user, Parts: []content.Part{{Type: textPart, Text: text}}, Own: content.Own{Role: "system"}}
}

// message adds a message: first its results, then its text, then its calls.
func (c *composer) message(stored model.Message) {
	m := content.Read(raw(stored))
	failed := gjson.GetBytes(stored.Metadata, "bough.failed").Bool()
	var said, calls []content.Part
	for _, p := range m.Parts {
		switch p.Type {
		case resultPart:
			c.result(p, failed)
		case callPart:
			calls = append(calls, p)
		default:
			if p, ok := c.part(p, m); ok {
				said = append(said, p)
			}
		}
	}
	if m.Role != assistant {
		calls = nil
	}
	if len(said)+len(calls) == 0 {
		return
	}
	c.finish()
	switch {
	case m.Role == assistant:
		n := len(c.out)
		answer := c.add(assistant, said...)
		for _, p := range calls {
			c.call(answer, p)
		}
		if len(answer.Parts) == 0 {
			c.out = c.out[:n]
			return
		}
	case isSystem(m):
		text := joined(said)
		if c.form != content.Anthropic {
			c.out = append(c.out, system(text))
			return
		} else if len(c.out) > 0 {
			c.add(user, said...)
			return
		}
		if c.prompt.System != "" {
			text = "\n\n" + text
		}
		c.prompt.System += text
		return
	default:
		spoken := c.add(user, said...)
		if name := m.Own.Name; c.form == content.OpenAI && plain(name) == name && len(name) <= longestName {
			spoken.Own.Name = name
		}
	}
}

func isSystem(m *content.Message) bool { return m.Own.Role == "system" || m.Own.Role == "developer" }

// raw returns the stored form of a message.
func raw(m model.Message) []byte {
	b := append([]byte(`{"role":`), rawjson.Compact(m.Role)...)
	if len(m.Content) > 0 {
		b = append(append(b, `,"content":`...), m.Content...)
	}
	if len(m.Metadata) > 0 {
		b = append(append(b, `,"metadata":`...), m.Metadata...)
	}
	return append(b, '}')
}

func joined(parts []content.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// part returns the form of a part other than a call or a result, and whether there is
// any.
func (c *composer) part(p content.Part, m *content.Message) (content.Part, bool) {
	switch p.Type {
	case "thinking", "redacted_thinking":
		return p, false // thoughts of another model, or of an incomplete message
	case "image", "audio", "video", "file":
		if m.Role != assistant && !isSystem(m) && c.shown(p) {
			return content.Part{Type: p.Type, Text: p.Text, Filename: p.Filename, Meta: without(p.Meta, "cache_control")}, true
		}
		name := p.Filename
		if name == "" {
			name = gjson.GetBytes(p.Meta, "filename").String()
		}
		s := fmt.Sprintf("(Here is a file that cannot be shown: %s.)", p.Type)
		if name != "" {
			s = fmt.Sprintf("(Here is a file that cannot be shown: %s, %q.)", p.Type, name)
		}
		return content.Part{Type: textPart, Text: s}, true
	}
	return content.Part{Type: textPart, Text: p.Text}, !blank(p.Text)
}

// shown reports whether the form supports a file, and the provider can get it.
func (c *composer) shown(p content.Part) bool {
	items := content.Items(c.form, []*content.Message{{Role: user, Parts: []content.Part{p}}}, nil)
	said := gjson.GetBytes(items[0], "content")
	if !said.IsArray() {
		return c.form == content.OpenAI && said.String() != "" && !strings.HasPrefix(said.String(), "file:")
	}
	for _, path := range []string{"0.image_url.url", "0.source.url"} {
		at := said.Get(path).String()
		if at != "" && !strings.HasPrefix(at, "http://") && !strings.HasPrefix(at, "https://") && !strings.HasPrefix(at, "data:") {
			return false
		}
	}
	return said.Get("#").Int() > 0
}

// without returns an object without a member.
func without(object []byte, name string) []byte {
	var pairs []rawjson.Pair
	gjson.ParseBytes(object).ForEach(func(key, value gjson.Result) bool {
		if key.String() != name {
			pairs = append(pairs, rawjson.Pair{Key: key.String(), Value: []byte(value.Raw)})
		}
		return true
	})
	if len(pairs) == 0 {
		return nil
	}
	return joinPairs(pairs)
}

// joinPairs returns an object without white space between its members.
func joinPairs(pairs []rawjson.Pair) []byte {
	b := []byte{'{'}
	for i, p := range pairs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, rawjson.Compact(p.Key)...), ':'), p.Value...)
	}
	return append(b, '}')
}

// call adds a call of a message.
func (c *composer) call(m *content.Message, p content.Part) {
	said := gjson.ParseBytes(p.Meta)
	stored, name := said.Get("id").String(), c.name(said.Get("name").String())
	if stored != "" && slices.ContainsFunc(c.open, func(o openCall) bool { return o.stored == stored }) {
		return // a repeated call
	}
	arguments := said.Get("arguments").String()
	if !said.Get("arguments").Exists() || blank(arguments) {
		arguments = "{}"
	} else if !gjson.Parse(arguments).IsObject() || !json.Valid([]byte(arguments)) {
		arguments = string(rawjson.Compact(map[string]string{"input": arguments}))
	}
	id := c.id(stored)
	c.open = append(c.open, openCall{stored, name, id})
	if !slices.Contains(c.prompt.Called, name) {
		c.prompt.Called = append(c.prompt.Called, name)
	}
	m.Parts = append(m.Parts, content.Part{Type: callPart, Meta: rawjson.Compact(struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
		Type      string `json:"type"`
	}{id, name, arguments, "function"})})
}

// result adds a result if there is a call for it: the one with its id or, without an
// id, the first one of its tool.
func (c *composer) result(p content.Part, failed bool) {
	said := gjson.ParseBytes(p.Meta)
	id, name := said.Get("tool_call_id").String(), said.Get("name").String()
	i := slices.IndexFunc(c.open, func(o openCall) bool {
		return o.stored == id && (id != "" || name == "" || c.name(name) == o.name)
	})
	if i < 0 {
		return
	}
	var more json.RawMessage
	if all := said.Get("content"); c.form == content.Anthropic && all.IsArray() {
		more = blocks(all)
	}
	c.answer(i, p.Text, failed || said.Get("is_error").Bool(), more)
}

// blocks returns an array of blocks without those of empty texts, nil if none is left.
func blocks(all gjson.Result) json.RawMessage {
	list := []byte{'['}
	for _, b := range all.Array() {
		if b.IsObject() && (b.Get("type").String() != "text" || !blank(b.Get("text").String())) {
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = append(list, without([]byte(b.Raw), "cache_control")...)
		}
	}
	if len(list) == 1 {
		return nil
	}
	return append(list, ']')
}

// answer writes the result of an open call.
func (c *composer) answer(i int, text string, failed bool, more json.RawMessage) {
	if blank(text) {
		text = ""
	}
	meta := rawjson.Compact(struct {
		ID      string          `json:"tool_call_id"`
		Failed  bool            `json:"is_error,omitempty"`
		Content json.RawMessage `json:"content,omitempty"`
	}{c.open[i].id, failed, more})
	c.add(user, content.Part{Type: resultPart, Text: text, Meta: meta})
	c.open = slices.Delete(c.open, i, i+1)
}

// finish gives results to the calls that have none.
func (c *composer) finish() {
	for len(c.open) > 0 {
		c.answer(0, "There is no result of this call.", true, nil)
	}
}

// merged returns messages as Anthropic has them.
func merged(list []*content.Message) []*content.Message {
	var out []*content.Message
	for _, m := range list {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = append(out[n-1].Parts, m.Parts...)
			continue
		}
		out = append(out, &content.Message{Role: m.Role, Parts: slices.Clone(m.Parts), Own: m.Own})
	}
	if out[0].Role == assistant {
		begin := &content.Message{Role: user, Parts: []content.Part{{Type: textPart, Text: "(The conversation begins with your message.)"}}}
		out = append([]*content.Message{begin}, out...)
	}
	return out
}
