package goose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/riders"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A session reads the messages of a session, in order.
type session struct {
	to   transcript.Sink
	ids  map[string]string // of the conversations of the same database, by the ids of their sessions
	own  string            // the id that the program has
	conv transcript.Conversation

	held   *transcript.Message // not passed on yet, because the next records may belong to it
	hidden bool                // held is not visible to the user
	riding riders.List
	known  bool              // a message has an id or a time
	seen   map[string]int    // how often an id was used
	tools  map[string]string // names of the called tools, by id of the call
}

// message reads a message. If nothing in it is read, it becomes a record of the message before it.
func (s *session) message(raw json.RawMessage) error {
	v := gjson.ParseBytes(raw)
	role, metadata := v.Get("role").Str, v.Get("metadata")
	hidden := metadata.Get("userVisible").Type == gjson.False
	m := &transcript.Message{Format: format}
	m.Role = role
	if isRole(role) && metadata.Get("turnContext").Type != gjson.True {
		s.read(m, v.Get("content"))
	}
	if s.held != nil && s.hidden && s.held.Role == "user" && hidden && continues(m) {
		s.held.Kind = transcript.Compaction
		m.Parts = nil
	}
	if len(m.Parts) == 0 {
		s.riding.Add(raw, false)
		return nil
	}
	m.Time = created(v.Get("created"))
	if role == "assistant" {
		m.Model = cmp.Or(member.String(metadata.Get("inference.resolvedModel")), member.String(metadata.Get("inference.requestedModel")))
	}
	if s.held != nil {
		m.Parent = s.held.ID
	}
	own := member.String(v.Get("id"))
	m.ID = s.id(own, m)
	s.known = s.known || own != "" || !m.Time.IsZero()
	s.riding.Add(raw, true)
	s.riding.Assign(len(s.riding), m, s.held, &s.conv)
	if s.held != nil {
		if err := s.to.Message(s.held); err != nil {
			return err
		}
	}
	s.held, s.hidden = m, hidden
	return nil
}

// end passes on the last message and ends the conversation, unless there is no message.
func (s *session) end() error {
	if s.held == nil {
		return nil
	}
	s.held.Records = append(s.held.Records, s.riding.Records()...)
	s.held.Open = s.hidden && s.held.Role == "user" && s.held.Kind == transcript.Said // it may be a summary
	if err := s.to.Message(s.held); err != nil {
		return err
	}
	s.conv.Leaf, s.conv.Anonymous = s.held.ID, !s.known
	return s.to.End(&s.conv)
}

// continues reports whether m is the message after a summary, which tells the model that the
// previous message is one.
func continues(m *transcript.Message) bool {
	text := m.Text()
	return m.Role == "assistant" && strings.Contains(text, "previous message") && strings.Contains(text, "summary")
}

// conversationID returns the id of the conversation of a session, given the id of the session, which may be
// used again, and its creation time.
func conversationID(id string, created time.Time) string {
	if id == "" || created.IsZero() {
		return id
	}
	return id + "@" + created.UTC().Format(time.RFC3339Nano)
}

// conversationOf returns the id of the conversation of another session, or the id of the session if its
// creation time is unknown.
func (s *session) conversationOf(id string) string { return cmp.Or(s.ids[id], id) }

// isNumbered reports whether id is a date and a number, as goose gives to a session in a database. The id of
// a session that was a file is a date and a time of six digits, or a name.
func isNumbered(id string) bool {
	date, number, ok := strings.Cut(id, "_")
	return ok && len(date) == 8 && isDigits(date) && len(number) > 0 && len(number) < 6 && isDigits(number)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// id returns the id of m, given its id in goose.
func (s *session) id(own string, m *transcript.Message) string {
	if made, ok := strings.CutPrefix(own, "msg_"+s.own+"_"); ok && s.own != "" {
		if isDigits(made) || !isNumbered(s.own) {
			own = ""
		}
	}
	if own == "" {
		own = transcript.ChainID(m.Parent, fmt.Appendf(nil, "%d at %d", transcript.Digest(m), m.Time.Unix()))
	}
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	n := s.seen[own]
	s.seen[own]++
	if n > 0 {
		return transcript.ChainID(own, fmt.Append(nil, n))
	}
	return own
}

// created parses the time of a message.
func created(v gjson.Result) time.Time {
	if v.Type == gjson.Number && math.Abs(v.Num) > 1e10 {
		return times.Milliseconds(v)
	}
	return times.Of(v)
}

// read appends the parts of blocks to a message.
func (s *session) read(m *transcript.Message, blocks gjson.Result) {
	add := func(list ...content.Part) { m.Parts = append(m.Parts, list...) }
	blocks.ForEach(func(_, v gjson.Result) bool {
		switch v.Get("type").Str {
		case "text":
			if text := member.String(v.Get("text")); text != "" {
				add(content.Text(text))
			}
		case "image":
			add(content.Image(v.Get("mimeType").Str, v.Get("data").Str))
		case "document":
			add(parts.NewFile(member.String(v.Get("name")), v.Get("mimeType").Str, v.Get("data").Str))
		case "thinking", "reasoning":
			if text := cmp.Or(member.String(v.Get("thinking")), member.String(v.Get("text"))); text != "" {
				add(content.Thinking(text, v.Get("signature").Str))
			}
		case "redactedThinking":
			add(content.Part{Type: content.TypeRedacted, Meta: rawjson.Compact(struct {
				Data string `json:"data"`
			}{v.Get("data").Str})})
		case "toolRequest", "frontendToolRequest":
			add(s.call(v))
		case "toolResponse":
			add(s.result(v)...)
		case "error":
			add(content.Part{Type: content.TypeData, Text: member.String(v.Get("message")), Meta: []byte(`{"data_type":"error"}`)})
		case "actionRequired":
			if kind := v.Get("data.actionType").Str; kind == "elicitation" || kind == "elicitationResponse" {
				add(parts.Other(v))
			}
		case "toolConfirmationRequest", "systemNotification", "conversationCompacted":
		default:
			add(parts.Other(v))
		}
		return true
	})
}

// call returns the part that is a call of a tool.
func (s *session) call(v gjson.Result) content.Part {
	value := v.Get("toolCall.value")
	c := content.Call{ID: member.String(v.Get("id")), Name: member.String(value.Get("name")), Arguments: member.Compact(value.Get("arguments").Raw)}
	if c.Name == "" { // the model wrote an invalid call
		return parts.Other(v)
	}
	if c.Arguments == "" || c.Arguments == "null" {
		c.Arguments = "{}"
	}
	if s.tools == nil {
		s.tools = map[string]string{}
	}
	s.tools[c.ID] = c.Name
	return content.ToolCall(c)
}

// result returns the parts of the result of a tool: its text, then its files.
func (s *session) result(v gjson.Result) []content.Part {
	id, result := member.String(v.Get("id")), v.Get("toolResult")
	c := content.Call{ID: id, Name: s.tools[id]}
	if result.Get("status").Str == "error" {
		c.Failed = true
		return []content.Part{content.ToolResult(c, member.String(result.Get("error")))}
	}
	value := result.Get("value")
	items := value
	if value.IsObject() {
		items = value.Get("content")
		c.Failed = value.Get("isError").Type == gjson.True
		if begun := member.String(value.Get("_meta.subagent_session_id")); begun != "" && c.ID != "" {
			if s.conv.Began == nil {
				s.conv.Began = map[string]string{}
			}
			s.conv.Began[s.conversationOf(begun)] = c.ID
		}
	}
	var texts []string
	var files []content.Part
	items.ForEach(func(_, item gjson.Result) bool {
		if !forModel(item) {
			return true
		}
		resource := item.Get("resource")
		switch kind := item.Get("type").Str; {
		case kind == "text":
			texts = append(texts, member.String(item.Get("text")))
		case kind == "image":
			files = append(files, content.Image(item.Get("mimeType").Str, item.Get("data").Str))
		case kind == "resource" && resource.Get("text").Type == gjson.String:
			texts = append(texts, member.String(resource.Get("text")))
		case kind == "resource" && resource.Get("blob").Type == gjson.String:
			files = append(files, parts.NewFile(path.Base(member.String(resource.Get("uri"))), resource.Get("mimeType").Str, resource.Get("blob").Str))
		default:
			files = append(files, parts.Other(item))
		}
		return true
	})
	return append([]content.Part{content.ToolResult(c, parts.JoinLines(texts...))}, files...)
}

// forModel reports whether an item of a result is sent to the model.
func forModel(item gjson.Result) bool {
	audience := item.Get("annotations.audience")
	if !audience.IsArray() {
		return true
	}
	for _, to := range audience.Array() {
		if to.Str == "assistant" {
			return true
		}
	}
	return false
}
