package copilot

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/compaction"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

// Write writes the events of a path, and of the other assistants in it. If the path is that
// of another assistant, it becomes that of the main one, where the program continues.
func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, format)
	w := &writer{
		Writer: jsonl.NewWriter(out), Clock: times.Clock{Now: o.Now}, t: t, o: o, lost: lost,
		pairs: calls.Kept(t.Messages), names: map[string]string{}, written: map[string]bool{}, main: map[string]bool{}, in: map[string]*transcript.Message{},
	}
	for _, m := range tree.NewOutline(t).PathTo(tree.Leaf(t)) {
		w.main[m.ID] = true
	}
	for _, m := range t.Messages {
		w.in[m.ID] = m
		for i := range m.Parts {
			if c := m.Parts[i].Call(); m.Parts[i].Type == content.TypeToolCall {
				w.names[c.ID] = c.Name
			}
		}
	}
	w.begin()
	for _, m := range t.Messages {
		if m.Format == format && len(m.Records) > 0 {
			w.endTurn()
			w.Note(m)
			for _, r := range m.Records {
				w.record(r, m)
			}
		} else {
			w.make(m)
		}
	}
	w.endTurn()
	return w.Flush()
}

type writer struct {
	jsonl.Writer
	times.Clock
	t     *transcript.Transcript
	o     transcript.Options
	lost  *report.Report
	pairs map[*content.Part]bool
	names map[string]string // of the tools that are called, by the ids of the calls

	main    map[string]bool                // the messages of the main assistant, by id
	in      map[string]*transcript.Message // all messages, by id
	written map[string]bool                // the ids of events
	last    string                         // the id of the last one
	turn    string                         // the id of a turn that has not ended, "" for none
	turns   int
}

// begin writes the events before the first message.
func (w *writer) begin() {
	var records []json.RawMessage
	if w.t.Format == format {
		records = w.t.Records
	}
	isStart := func(r json.RawMessage) bool { return gjson.GetBytes(r, "type").Str == "session.start" }
	w.lost.Conversation(w.t, report.LostDirs)
	if !slices.ContainsFunc(records, isStart) {
		at := w.t.Created
		if at.IsZero() {
			at = w.o.Now
		}
		w.put("session.start", at, nil, struct {
			ID       string  `json:"sessionId"`
			Version  int     `json:"version"`
			Producer string  `json:"producer"`
			Copilot  string  `json:"copilotVersion"`
			Start    string  `json:"startTime"`
			Model    string  `json:"selectedModel,omitempty"`
			Context  context `json:"context"`
		}{w.o.ID, 1, "bough", "0.0.0", times.ISO(at), w.t.Model, context{w.t.WorkDir()}})
	}
	for _, r := range records {
		if isStart(r) {
			if w.o.ID != "" && gjson.GetBytes(r, "data.sessionId").Str != w.o.ID {
				r = member.Set(r, "data.sessionId", w.o.ID)
			}
			if w.t.Dir != "" && w.t.Dir != member.Text(r, "data.context.cwd") {
				r = member.Set(r, "data.context.cwd", w.t.Dir)
			}
		}
		w.record(r, nil)
	}
}

type context struct {
	Dir string `json:"cwd"`
}

// record writes an event of the transcript. If it names an event that is not written, it
// follows the last one.
func (w *writer) record(r json.RawMessage, m *transcript.Message) {
	v := gjson.GetManyBytes(r, "id", "parentId")
	id, parent := v[0].Str, v[1].Str
	if parent != "" && !w.written[parent] || parent == "" && w.last != "" {
		if r = member.SetRaw(r, "parentId", []byte("null")); w.last != "" {
			r = member.Set(r, "parentId", w.last)
		}
	}
	if m != nil && parse(r).says() != nil {
		w.lost.Trace.ID(id, m)
	}
	if agent := parse(r).agent; m != nil && w.main[m.ID] && agent == agentOf(m) {
		for _, path := range []string{"agentId", "data.parentToolCallId"} {
			if agent != "" && gjson.GetBytes(r, path).Exists() {
				r = member.Drop(r, path)
			}
		}
	}
	w.wrote(id)
	w.Put(r)
}

// agentOf returns the assistant of a message that has events, "" for the main one.
func agentOf(m *transcript.Message) string {
	for _, r := range m.Records {
		if e := parse(r); e.says() != nil {
			return e.agent
		}
	}
	return ""
}

func (w *writer) wrote(id string) {
	if id != "" {
		w.written[id] = true
		w.last = id
	}
}

// put writes a new event. m is its message, nil if it has none.
func (w *writer) put(kind string, at time.Time, m *transcript.Message, data any) {
	e := struct {
		Type   string  `json:"type"`
		Data   any     `json:"data"`
		ID     string  `json:"id"`
		Time   string  `json:"timestamp"`
		Parent *string `json:"parentId"`
	}{Type: kind, Data: data, Time: times.ISO(at)}
	if w.last != "" {
		e.Parent = &w.last
	}
	if m != nil && uuid.Validate(m.ID) == nil && !w.written[m.ID] {
		e.ID = m.ID
	} else {
		e.ID = transcript.ChainID(w.o.ID, []byte(w.last+" "+kind))
	}
	if m != nil {
		w.lost.Trace.ID(e.ID, m)
	}
	raw := rawjson.Compact(e)
	w.wrote(e.ID)
	w.Put(raw)
}

// beginTurn begins the turn of an answer.
func (w *writer) beginTurn(at time.Time) {
	w.endTurn()
	w.turn = strconv.Itoa(w.turns)
	w.turns++
	w.put("assistant.turn_start", at, nil, turn{w.turn})
}

func (w *writer) endTurn() {
	if id := w.turn; id != "" {
		w.turn = ""
		w.put("assistant.turn_end", w.Last, nil, turn{id})
	}
}

type turn struct {
	ID string `json:"turnId"`
}

// make writes a message that has no events.
func (w *writer) make(m *transcript.Message) {
	at := w.Time(m)
	if m.Kind == transcript.Compaction && m.Text() != "" {
		w.lost.Message(m, report.LostTimes, report.LostSummaries)
		for range compaction.Kept(m, w.in) {
			w.lost.Add("messages in the context beside a compaction")
		}
		w.endTurn()
		w.put("session.compaction_start", at, nil, struct{}{})
		w.put("session.compaction_complete", at, m, compacted{true, m.Text()})
		return
	}
	w.lost.Message(m, report.LostTimes, report.LostModels)
	if m.Role == "assistant" {
		w.answer(m, at)
		return
	}
	w.lost.Count(report.LostModels, m.Model != "")
	w.user(m, at)
}

type compacted struct {
	Success bool   `json:"success"`
	Summary string `json:"summaryContent"`
}

type request struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Type      string          `json:"type"`
}

func (w *writer) answer(m *transcript.Message, at time.Time) {
	data := struct {
		ID       string    `json:"messageId"`
		Model    string    `json:"model,omitempty"`
		Content  string    `json:"content"`
		Requests []request `json:"toolRequests"`
		Thinking string    `json:"reasoningText,omitempty"`
		Turn     string    `json:"turnId"`
	}{ID: m.ID, Model: m.Model, Requests: []request{}}
	var texts, thoughts []string
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeText:
			texts = append(texts, p.Text)
		case p.Type == content.TypeThinking:
			w.lost.Signature(p)
			thoughts = append(thoughts, p.Text)
		case p.Type == content.TypeToolCall && w.pairs[p]:
			data.Requests = append(data.Requests, request{c.ID, c.Name, parts.Arguments(c.Arguments), "function"})
		default:
			w.lost.Part(p)
			texts = append(texts, parts.Text(p))
		}
	}
	data.Content, data.Thinking = parts.JoinLines(texts...), parts.JoinLines(thoughts...)
	if data.Content == "" && data.Thinking == "" && len(data.Requests) == 0 {
		w.lost.Add(report.LostMessages)
		return
	}
	w.beginTurn(at)
	data.Turn = w.turn
	w.put("assistant.message", at, m, data)
	if len(data.Requests) == 0 {
		w.endTurn()
	}
}

// An attachment is a file of a prompt, or of the result of a tool.
type attachment struct {
	Type string `json:"type"`
	Data string `json:"data"`
	MIME string `json:"mimeType"`
	Name string `json:"displayName,omitempty"`
}

type result struct {
	Content string       `json:"content"`
	Binary  []attachment `json:"binaryResultsForLlm,omitempty"`
}

type failure struct {
	Message string `json:"message"`
}

type execution struct {
	Call    string   `json:"toolCallId"`
	Turn    string   `json:"turnId,omitempty"`
	Success bool     `json:"success"`
	Result  *result  `json:"result,omitempty"`
	Error   *failure `json:"error,omitempty"`
}

// user writes the events of a message of a user or a tool: one for each result, and one for
// the rest.
func (w *writer) user(m *transcript.Message, at time.Time) {
	var texts []string
	var files []attachment
	var done []execution
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeText:
			texts = append(texts, p.Text)
		case p.Type == content.TypeToolResult && w.pairs[p]:
			e := execution{Call: c.ID, Turn: w.turn, Success: !c.Failed, Result: &result{Content: p.Text, Binary: w.images(p)}}
			if c.Failed {
				e.Error = &failure{p.Text}
				for range e.Result.Binary {
					w.lost.Add(report.LostResultImages)
				}
				e.Result = nil
			}
			done = append(done, e)
		case p.Type == content.TypeImage || p.Type == content.TypeFile:
			mime, data, _ := p.File()
			last := len(done) - 1
			switch {
			case data == "":
				w.lost.Part(p)
				texts = append(texts, parts.Text(p))
			case p.Type == content.TypeImage && last >= 0 && len(texts)+len(files) == 0 && done[last].Result != nil: // it is part of the result before it
				done[last].Result.Binary = append(done[last].Result.Binary, attachment{Type: "image", Data: data, MIME: mime})
			default:
				files = append(files, attachment{"blob", data, cmp.Or(mime, "application/octet-stream"), p.Filename})
			}
		case p.Type == content.TypeData && p.Text != "":
			texts = append(texts, p.Text)
		default:
			w.lost.Part(p)
			texts = append(texts, parts.Text(p))
		}
	}
	for _, e := range done {
		name := cmp.Or(w.names[e.Call], "tool")
		w.put("tool.execution_start", at, nil, struct {
			Call string `json:"toolCallId"`
			Tool string `json:"toolName"`
			Turn string `json:"turnId,omitempty"`
		}{e.Call, name, e.Turn})
		w.put("tool.execution_complete", at, m, e)
	}
	text := parts.JoinLines(texts...)
	switch {
	case text != "" || len(files) > 0:
		w.endTurn()
		w.put("user.message", at, m, struct {
			Content     string       `json:"content"`
			Attachments []attachment `json:"attachments,omitempty"`
		}{text, files})
	case len(done) == 0:
		w.lost.Add(report.LostMessages)
	}
}

// images returns the images in the output of a tool.
func (w *writer) images(p *content.Part) (list []attachment) {
	gjson.GetBytes(p.Meta, "content").ForEach(func(_, block gjson.Result) bool {
		source := block.Get("source")
		switch {
		case block.Get("type").Str == "text":
		case block.Get("type").Str == "image" && source.Get("data").Str != "":
			list = append(list, attachment{Type: "image", Data: source.Get("data").Str, MIME: source.Get("media_type").Str})
		default:
			w.lost.Add(report.LostExtras)
		}
		return true
	})
	return list
}
