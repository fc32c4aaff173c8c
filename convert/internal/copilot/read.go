// Package copilot reads and writes the sessions of GitHub Copilot CLI: a log of events, one
// per line, in the file events.jsonl of a folder for each session. An event has an id, and
// names the event before it. The log is linear, because the program removes the events that
// it goes back over.
//
// Prompts, answers, results of tools and summaries are messages, and each is one event. All
// other events are kept with a message as riders. The events of another assistant that the
// model called have an agentId: they are a tree of their own in the conversation, or, if they
// do not begin with a prompt, a branch after the call.
//
// The form is that of nodejs/src/generated/session-events.ts in the repository
// github/copilot-sdk, and of files that version 1.0.102 of the program wrote.
package copilot

import (
	"bytes"
	"cmp"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/riders"
	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/internal/state"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/tidwall/gjson"
)

const format = "copilot-cli"

func Detect(head []byte) bool {
	is := false
	jsonl.InHead(head, func(raw []byte) bool {
		v := gjson.GetManyBytes(raw, "type", "data", "id", "parentId", "timestamp")
		area, _, dotted := strings.Cut(v[0].Str, ".")
		is = dotted && slices.Contains([]string{"session", "user", "assistant", "tool", "system", "hook", "subagent", "skill"}, area) &&
			v[1].IsObject() && v[2].Type == gjson.String && (v[3].Type == gjson.String || v[3].Type == gjson.Null && v[3].Exists()) && v[4].Type == gjson.String
		return true
	})
	return is
}

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string { return []string{sessions(m)} },
	Holds: func(p string) bool {
		dir, name := path.Split(p)
		// Before version 0.0.343, a session was a file.
		return name == "events.jsonl" && strings.Count(dir, "/") == 1 || dir == "" && path.Ext(name) == ".jsonl"
	},
	Target: func(m transcript.Machine, _ *transcript.Transcript, o transcript.Options) string {
		return path.Join(sessions(m), o.ID, "events.jsonl")
	},
	Resume: func(_ transcript.Machine, _ string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return nil, []string{"copilot", "--resume", o.ID}
	},
}

// sessions returns the folder with the sessions.
func sessions(m transcript.Machine) string {
	if dir := m.Env("COPILOT_HOME"); dir != "" {
		return path.Join(dir, "session-state")
	}
	return path.Join(m.Home, ".copilot", "session-state")
}

// A reader converts events to messages.
type reader struct {
	to    transcript.Sink
	lines *jsonl.Reader
	conv  transcript.Conversation

	held   *transcript.Message // not passed on yet, because the next events may belong to it
	riding riders.List
	last   map[string]string // the last message of each assistant, "" for the main one
	began  map[string]string // the call that began an assistant
	called map[string]string // the message of a call
	tools  map[string]string // names of the called tools, by id of the call
	asked  map[string]string // commands of the user, by id of the call
}

func newReader(to transcript.Sink) *reader {
	r := &reader{to: to, last: map[string]string{}, began: map[string]string{}, called: map[string]string{}, tools: map[string]string{}, asked: map[string]string{}}
	r.lines = jsonl.NewReader(to, r.line)
	return r
}

func Read(in io.Reader, to transcript.Sink) error { return sink.ReadTail(newReader(to), in, to) }

// NewTail returns a reader of a growing session.
func NewTail(to transcript.Sink) sink.Tail { return newReader(to) }

// Read implements [sink.Tail].
func (r *reader) Read(in io.Reader) error { return r.lines.Read(in) }

// Fields implements [sink.Tail].
func (r *reader) Fields(c *fields.Coder) {
	r.lines.Fields(c)
	state.Conversation(c, &r.conv)
	state.Message(c, &r.held)
	r.riding.Fields(c)
	for _, m := range []*map[string]string{&r.last, &r.began, &r.called, &r.tools, &r.asked} {
		fields.Map(c, m, c.String)
	}
}

// End implements [sink.Tail].
func (r *reader) End(to transcript.Sink) error {
	if r.held == nil {
		return nil
	}
	held, conv := *r.held, r.conv
	held.Records = append(slices.Clip(held.Records), r.riding.Records()...)
	if err := to.Message(&held); err != nil {
		return err
	}
	conv.Leaf = cmp.Or(r.last[""], held.ID)
	return to.End(&conv)
}

func (r *reader) line(l jsonl.Line) error {
	raw := bytes.Clone(l.Raw)
	e := parse(raw)
	r.note(e)
	m := r.message(e)
	if m == nil {
		r.riding.Add(raw, e.opens())
		return nil
	}
	m.ID, m.Parent, m.Time, m.Format = e.id, r.last[e.agent], e.time, format
	if m.Parent == "" && e.agent != "" && !m.IsPrompt() { // older versions have the prompt only in the call
		m.Parent = r.called[cmp.Or(r.began[e.agent], e.agent)]
	}
	if m.ID == "" {
		m.ID = transcript.ChainID(m.Parent, raw)
	}
	r.last[e.agent] = m.ID
	for i := range m.Parts {
		if c := m.Parts[i].Call(); m.Parts[i].Type == content.TypeToolCall {
			r.tools[c.ID], r.called[c.ID] = c.Name, m.ID
		}
	}
	r.riding.Add(raw, true)
	r.riding.Assign(len(r.riding), m, r.held, &r.conv)
	if r.held != nil {
		if err := r.to.Message(r.held); err != nil {
			return err
		}
	}
	r.held = m
	return nil
}

// note records the properties of the conversation in an event.
func (r *reader) note(e event) {
	if e.agent != "" {
		return
	}
	context := e.data.Get("context")
	switch e.kind {
	case "session.start":
		if r.conv.ID != "" {
			return
		}
		r.conv.ID, r.conv.Version = e.data.Get("sessionId").Str, e.data.Get("copilotVersion").Str
		if r.conv.Created = times.Parse(e.data.Get("startTime").Str); r.conv.Created.IsZero() {
			r.conv.Created = e.time
		}
		r.conv.Branch = member.String(context.Get("branch"))
		fallthrough
	case "session.resume":
		r.conv.Model = cmp.Or(e.data.Get("selectedModel").Str, r.conv.Model)
	case "session.model_change":
		r.conv.Model = cmp.Or(e.data.Get("newModel").Str, r.conv.Model)
	case "session.context_changed":
		context = e.data
	default:
		return
	}
	if r.conv.Dir == "" {
		r.conv.Dir = member.String(context.Get("cwd"))
	}
}

// message returns the message of an event, nil if it has none.
func (r *reader) message(e event) *transcript.Message {
	m := e.says()
	switch {
	case e.kind == "subagent.started":
		r.began[e.agent] = e.data.Get("toolCallId").Str
	case e.kind == "tool.user_requested":
		r.asked[e.data.Get("toolCallId").Str] = cmp.Or(member.String(e.data.Get("arguments.command")), e.data.Get("arguments").Raw)
	case m == nil:
	case m.Role == "assistant":
		if m.Model == "" && e.agent == "" {
			m.Model = r.conv.Model
		}
	case m.HasPart(content.TypeToolResult):
		c := m.Parts[0].Call()
		if command, is := r.asked[c.ID]; is {
			m.Parts[0] = content.Text("Ran `" + command + "`\n" + m.Parts[0].Text)
			return m
		}
		c.Name = r.tools[c.ID]
		m.Parts[0] = content.ToolResult(c, m.Parts[0].Text)
	}
	return m
}

// toolResult returns the parts of a result: its text and its images.
func toolResult(data gjson.Result) []content.Part {
	result, failed := data.Get("result"), data.Get("success").Type == gjson.False
	text := member.String(result.Get("content"))
	if failed {
		text = cmp.Or(member.String(data.Get("error.message")), text)
	}
	list := []content.Part{content.ToolResult(content.Call{ID: data.Get("toolCallId").Str, Failed: failed}, text)}
	result.Get("binaryResultsForLlm").ForEach(func(_, v gjson.Result) bool {
		if v.Get("type").Str == "image" && v.Get("data").Str != "" {
			list = append(list, content.Image(v.Get("mimeType").Str, v.Get("data").Str))
		}
		return true
	})
	return list
}

// attached returns the part for an attachment of a prompt.
func attached(v gjson.Result) content.Part {
	mime, data := v.Get("mimeType").Str, v.Get("data").Str
	name := cmp.Or(member.String(v.Get("path")), member.String(v.Get("filePath")), member.String(v.Get("displayName")), member.String(v.Get("url")))
	switch {
	case data != "" && strings.HasPrefix(mime, "image/"):
		return content.Image(mime, data)
	case data != "":
		return parts.NewFile(name, mime, data)
	}
	text := "[" + cmp.Or(v.Get("type").Str, "file") + " " + name + "]"
	if said := member.String(v.Get("text")); said != "" {
		text += "\n" + said
	}
	return content.Part{Type: content.TypeData, Text: text, Meta: []byte(`{"data_type":"attachment"}`)}
}
