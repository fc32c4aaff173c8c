// Package qwen reads the sessions of Qwen Code: a record per line, each of which names its
// parent. The program appends to the file and goes back by a record whose parent is an earlier
// one, so that the records form a tree.
//
// Records of users, answers and results of tools have a content of Gemini's API. All others,
// and records of the system, are kept with a message as riders (see package thread), except
// that a compression is a message with its summary. A file beside has the conversation of a
// sub-agent.
//
// The form is that of packages/core/src/services/chatRecordingService.ts and
// session-api-history.ts, and of packages/core/src/utils/conversation-chain.ts in the
// repository QwenLM/qwen-code. Versions before that recording wrote chats of Gemini CLI.
package qwen

import (
	"cmp"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/internal/thread"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/tidwall/gjson"
)

const format = "qwen-code"

// Detect recognizes a content of Gemini's API in a record that names its parent.
func Detect(head []byte) bool {
	uuid, session, said := false, false, false
	jsondoc.Scan(head, func(path []string, _ json.Token) bool { // of the first record, which may be long
		uuid = uuid || jsondoc.Match(path, "parentUuid")
		session = session || jsondoc.Match(path, "sessionId")
		said = said || jsondoc.Match(path, "message", "parts", "")
		return !(uuid && session && said)
	})
	return uuid && session && said || jsonl.InHead(head, func(raw []byte) bool {
		v := gjson.GetManyBytes(raw, "uuid", "parentUuid", "sessionId", "type", "message.parts", "systemPayload")
		known := v[0].Type == gjson.String && v[1].Exists() && v[2].Type == gjson.String &&
			slices.Contains([]string{"user", "assistant", "tool_result", "system"}, v[3].Str)
		return known && (v[4].IsArray() || v[3].Str == "system" && v[5].IsObject())
	})
}

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		dir := cmp.Or(m.Env("QWEN_RUNTIME_DIR"), m.Env("QWEN_HOME"), path.Join(m.Home, ".qwen"))
		return []string{path.Join(dir, "projects")}
	},
	Holds: func(p string) bool {
		dir, name := path.Split(p)
		return (strings.Contains(dir, "/chats/") || strings.Contains(dir, "/subagents/")) && path.Ext(name) == ".jsonl"
	},
}

// aside are the records of the system that are no part of a conversation.
var aside = []string{
	"session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot",
	"managed_session_header_v1", "managed_session_event_v1", "managed_session_commit_v1",
}

// A reader reads the records of a session.
type reader struct {
	*thread.Reader
	lines *jsonl.Reader
	last  string            // the last message
	entry string            // the last record of the conversation
	model string            // the model, as last set
	tools map[string]string // names of the called tools, by id of the call
	gaps  map[string]bool   // records that went back to a missing one, and those after them
	main  bool              // a message is not of another assistant

	agent  string            // the other assistant whose conversation the file has
	agents map[string]string // types of the assistants that calls began, by id of the call
	began  map[string]string // ids of those assistants, each with its call
}

func newReader(to transcript.Sink) *reader {
	c := &reader{
		Reader: thread.NewReader(to), tools: map[string]string{}, gaps: map[string]bool{},
		agents: map[string]string{}, began: map[string]string{},
	}
	c.lines = jsonl.NewReader(to, c.line)
	return c
}

func Read(in io.Reader, to transcript.Sink) error { return sink.ReadTail(newReader(to), in, to) }

// NewTail returns a reader of a growing session.
func NewTail(to transcript.Sink) sink.Tail { return newReader(to) }

// Read implements [sink.Tail].
func (c *reader) Read(in io.Reader) error { return c.lines.Read(in) }

// Fields implements [sink.Tail].
func (c *reader) Fields(f *fields.Coder) {
	c.lines.Fields(f)
	c.Reader.Fields(f)
	for _, text := range []*string{&c.last, &c.entry, &c.model, &c.agent} {
		f.String(text)
	}
	for _, list := range []*map[string]string{&c.tools, &c.agents, &c.began} {
		fields.Map(f, list, f.String)
	}
	fields.Map(f, &c.gaps, f.Bool)
	f.Bool(&c.main)
}

// End implements [sink.Tail].
func (c *reader) End(to transcript.Sink) error {
	conv := c.Conv
	conv.Leaf, conv.Model, conv.Side = c.last, c.model, !c.main
	if id, known := c.Find(c.entry); known && id != "" {
		conv.Leaf = id
	}
	thread.Link(&conv, c.agent, c.began)
	// A record may be continued by another one with its id.
	return c.Reader.End(to, conv, c.Held != nil && c.Held.Role == "assistant")
}

func (c *reader) line(l jsonl.Line) error {
	v := gjson.GetManyBytes(l.Raw, "uuid", "parentUuid", "type", "subtype")
	id, parent, kind, subtype := v[0].Str, v[1].Str, v[2].Str, v[3].Str
	c.note(&l, kind, subtype)
	m := messageOf(id, kind, subtype, l.Raw)
	at, taken := c.At[id]
	switch {
	case taken && at.Is && m != nil && c.Held.ID == id && c.Held.Role == m.Role:
		c.Held.Parts = append(c.Held.Parts, m.Parts...)
		c.Join(l.Raw, id)
		return nil
	case taken:
		c.Ride(l.Raw, "", "")
		return nil
	}
	if !slices.Contains(aside, subtype) && id != "" {
		c.entry = id
	}
	before, known := c.Find(parent)
	if c.gaps[parent] || subtype == "rewind" && !known {
		c.gaps[id] = true
	}
	if m == nil {
		c.Ride(l.Raw, id, parent)
		return nil
	}
	if m.ID == "" {
		m.ID = transcript.ChainID(before, l.Raw)
	}
	m.Parent, m.Time, m.Format = before, times.Parse(member.Text(l.Raw, "timestamp")), format
	if !known && !c.gaps[parent] {
		m.Joined = c.last
	}
	if of := l.Get("forkedFrom.messageUuid").Str; of != m.ID {
		m.CopyOf = of
	}
	if m.Role == "assistant" && m.Model != "" {
		c.model = m.Model
	}
	c.name(m)
	c.begin(m, &l)
	c.main = c.main || !l.Get("isSidechain").Bool()
	c.last = m.ID
	return c.Say(m, l.Raw, id, parent)
}

// note records the properties of the conversation in a record.
func (c *reader) note(l *jsonl.Line, kind, subtype string) {
	if c.Conv.ID == "" {
		c.Conv.ID, c.Conv.Dir = member.Text(l.Raw, "sessionId"), member.Text(l.Raw, "cwd")
		c.Conv.Version, c.Conv.Branch = member.Text(l.Raw, "version"), member.Text(l.Raw, "gitBranch")
		c.Conv.Created = times.Parse(member.Text(l.Raw, "timestamp"))
		c.agent = member.Text(l.Raw, "agentId")
		if from := member.Text(l.Raw, "forkedFrom.sessionId"); from != "" {
			c.Conv.Fork = &transcript.Fork{ID: from}
		}
	}
	if kind != "system" {
		return
	}
	switch subtype {
	case "custom_title":
		c.Conv.Title = member.String(l.Get("systemPayload.customTitle"))
	case "session_model":
		c.model = cmp.Or(l.Get("systemPayload.modelId").Str, c.model)
	}
}

// name sets the tools of the results in m, and records those of its calls.
func (c *reader) name(m *transcript.Message) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Type {
		case content.TypeToolCall:
			c.tools[p.Call().ID] = p.Call().Name
		case content.TypeToolResult:
			if call := p.Call(); call.Name == "" {
				call.Name = c.tools[call.ID]
				*p = content.ToolResult(call, p.Text)
			}
		}
	}
}

// begin records which other assistants the results in m are of. The id of one is its type and the
// id of the call. A result has the type, except in the conversation of another assistant.
func (c *reader) begin(m *transcript.Message, l *jsonl.Line) {
	for i := range m.Parts {
		p := &m.Parts[i]
		call := p.Call()
		switch {
		case p.Type == content.TypeToolCall && call.Name == "agent":
			c.agents[call.ID] = cmp.Or(member.String(gjson.Get(call.Arguments, "subagent_type")), "general-purpose")
		case p.Type == content.TypeToolResult && call.ID != "":
			kind := member.String(l.Get("toolCallResult.resultDisplay.subagentName"))
			if kind == "" && c.agent != "" && !call.Failed {
				kind = c.agents[call.ID]
			}
			if kind != "" {
				c.began[kind+"-"+call.ID] = call.ID
			}
			delete(c.agents, call.ID)
		}
	}
}

// messageOf returns the message of a record, nil if it has none.
func messageOf(id, kind, subtype string, raw []byte) *transcript.Message {
	v := gjson.ParseBytes(raw)
	m := &transcript.Message{ID: id}
	said := v.Get("message.parts")
	switch kind {
	case "user":
		m.Role = "user"
		if v.Get("provenance").Str == "system" && subtype == "notification" {
			m.Own.Role = "system"
		}
		said = ofUser(said)
	case "assistant":
		m.Role, m.Model = "assistant", strings.Clone(v.Get("model").Str) // a substring would retain the whole record
	case "tool_result":
		if subtype == "code_mode_tool_result" { // of a call that the model did not make
			return nil
		}
		m.Role = "user"
	case "system":
		if subtype != "chat_compression" {
			return nil
		}
		m.Role, m.Kind = "user", transcript.Compaction
		said = v.Get("systemPayload.compressedHistory.0.parts")
	default:
		return nil
	}
	m.Parts = parts.Gemini(said, m.Role, id)
	failed := v.Get("toolCallResult.status").Str == "error" || v.Get("toolCallResult.status").Str == "cancelled"
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != content.TypeToolResult {
			continue
		}
		c := p.Call()
		c.Failed = failed
		if text := gjson.Get(p.Text, "error"); json.Valid([]byte(p.Text)) && text.Type == gjson.String {
			p.Text, c.Failed = text.Str, true
		}
		*p = content.ToolResult(content.Call{ID: c.ID, Name: c.Name, Failed: c.Failed}, p.Text)
	}
	if len(m.Parts) == 0 {
		return nil
	}
	return m
}

// ofUser returns the parts of a prompt without the last one, if that is the context that a
// hook of the program added.
func ofUser(said gjson.Result) gjson.Result {
	list := said.Array()
	last := len(list) - 1
	if last < 1 {
		return said
	}
	text := strings.TrimSpace(member.String(list[last].Get("text")))
	if !strings.HasPrefix(text, "<qwen:user-prompt-submit-context>\n") || !strings.HasSuffix(text, "\n</qwen:user-prompt-submit-context>") {
		return said
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, p := range list[:last] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(p.Raw)
	}
	b.WriteByte(']')
	return gjson.Parse(b.String())
}
