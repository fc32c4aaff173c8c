package codex

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
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
	"github.com/tidwall/gjson"
)

// Write writes a log that discards every branch but the active one.
func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	w := &writer{
		Writer: jsonl.NewWriter(out), t: t, o: o, lost: lost,
		Linear: tree.Linear{Turns: func(m *transcript.Message) bool { return m.IsPrompt() && !m.HasPart(content.TypeToolResult) }},
		Clock:  times.Clock{Now: o.Now}, pairs: calls.Answered(t.Messages), in: map[string]*transcript.Message{},
	}
	w.head()
	list, tree := tree.InLine(t), tree.NewOutline(t)
	for _, m := range list {
		w.in[m.ID] = m
	}
	for i, m := range list {
		leaf := ""
		if i == len(list)-1 {
			leaf = t.Leaf
		}
		w.message(m, tree.Parent(m), leaf)
	}
	if tree.Has(t.Leaf) {
		w.goTo(t.Leaf, o.Now)
	}
	return w.Flush()
}

type writer struct {
	jsonl.Writer
	tree.Linear
	times.Clock
	t     *transcript.Transcript
	o     transcript.Options
	lost  *report.Report
	pairs map[*content.Part]*content.Part
	in    map[string]*transcript.Message // all messages, by id
	old   string                         // the original id of the conversation
	again bool                           // the message is written a second time

	saying *transcript.Message // the message whose records are being written, nil for none
}

// head writes the records before the messages.
func (w *writer) head() {
	var records []json.RawMessage
	if w.t.Format == "codex" {
		records = w.t.Records
	}
	if !slices.ContainsFunc(records, isMeta) {
		w.line("session_meta", w.o.Now, map[string]any{
			"id": w.o.ID, "timestamp": times.ISO(w.o.Now), "cwd": w.t.WorkDir(), "originator": "bough", "cli_version": "0.0.0", "source": "cli",
		})
		w.lost.Conversation(w.t, report.LostDirs)
	}
	first := true
	for _, raw := range records {
		if first && isMeta(raw) {
			first = false
			raw = w.meta(raw)
		}
		w.record(raw, false)
	}
}

func isMeta(raw json.RawMessage) bool {
	r := parseRecord(raw)
	return r.kind == "session_meta"
}

// meta returns the first record with the new id.
func (w *writer) meta(raw json.RawMessage) json.RawMessage {
	v := gjson.ParseBytes(raw)
	if !v.Get("payload").IsObject() {
		raw = w.wrapped(raw, "session_meta")
		for name, value := range map[string]string{"cwd": w.t.Dir, "originator": "codex_cli_rs", "cli_version": "0.0.0"} {
			if !gjson.GetBytes(raw, "payload."+name).Exists() {
				raw = member.Set(raw, "payload."+name, value)
			}
		}
		v = gjson.ParseBytes(raw)
	}
	w.old = v.Get("payload.id").Str
	raw = member.Set(raw, "payload.id", w.o.ID)
	if v.Get("payload.session_id").Exists() {
		raw = member.Set(raw, "payload.session_id", w.o.ID)
	}
	if v.Get("payload.forked_from_id").Str == "" && w.old != "" && w.old != w.o.ID {
		raw = member.Set(raw, "payload.forked_from_id", w.old)
	}
	for _, name := range []string{"history_mode", "history_base", "forked_from_ordinal_exclusive"} {
		if v.Get("payload." + name).Exists() {
			raw = member.Drop(raw, "payload."+name)
		}
	}
	return raw
}

// wrapped converts a record of the oldest kind to the current one.
func (w *writer) wrapped(raw json.RawMessage, kind string) json.RawMessage {
	at := gjson.GetBytes(raw, "timestamp").Str
	if at == "" {
		at = times.ISO(w.o.Now)
	}
	b := append([]byte(`{"timestamp":`), rawjson.Compact(at)...)
	b = append(append(append(b, `,"type":"`...), kind...), `","payload":`...)
	return append(append(b, raw...), '}')
}

// record writes a record with the new id of the conversation.
func (w *writer) record(raw json.RawMessage, again bool) {
	v := gjson.ParseBytes(raw)
	if !v.Get("payload").IsObject() && v.Get("type").Exists() {
		raw = w.wrapped(raw, "response_item")
	}
	if v.Get("payload.type").Str == "item_completed" {
		if r := parseRecord(raw); r.twin() != nil {
			raw = r.legacyEvent(raw)
			v = gjson.ParseBytes(raw)
		}
	}
	if v.Get("ordinal").Exists() {
		raw = member.Drop(raw, "ordinal")
	}
	for _, path := range []string{"payload.thread_id", "payload.session_id"} {
		if id := v.Get(path); w.old != "" && id.Type == gjson.String && id.Str == w.old {
			raw = member.Set(raw, path, w.o.ID)
		}
	}
	if again {
		raw = member.Set(raw, againMember, true)
	} else if w.saying != nil {
		if r := parseRecord(raw); w.says(&r) {
			w.lost.Trace.Record(raw, w.saying)
		}
	}
	w.Put(raw)
}

// legacyEvent returns an event of a message for the user in the form of logs
// without ordinals.
func (r *record) legacyEvent(raw json.RawMessage) json.RawMessage {
	m := r.twin()
	event := map[string]any{"type": "agent_message", "message": m.Text()}
	if m.Role == "user" {
		event = map[string]any{"type": "user_message", "message": m.Text(), "images": []string{}}
	}
	return member.Set(raw, "payload", event)
}

func (w *writer) line(kind string, at time.Time, payload any) {
	w.record(rawjson.Compact(struct {
		Timestamp string `json:"timestamp"`
		Type      string `json:"type"`
		Payload   any    `json:"payload"`
	}{times.ISO(at), kind, payload}), w.again)
}

// goTo writes the marks that make a message the last one.
func (w *writer) goTo(id string, at time.Time) {
	steps, ok := w.Back(id)
	if !ok {
		w.lost.Add("branches from before the first prompt")
	}
	for _, s := range steps {
		if s.Message != nil {
			w.say(s.Message, true)
			continue
		}
		n := 0
		for _, m := range s.Over {
			if w.prompts(m) {
				n++
			}
		}
		w.line("event_msg", at, map[string]any{"type": "thread_rolled_back", "num_turns": n})
	}
}

// message writes m after its parent, which is the last message. The log continues at
// leaf, "" for m.
func (w *writer) message(m *transcript.Message, parent, leaf string) {
	at := w.Time(m)
	if m.Format != "codex" || len(m.Records) == 0 {
		w.goTo(parent, at)
		w.saying = m
		defer func() { w.saying = nil }()
		w.say(m, false)
		w.Live = append(w.Live, m)
		return
	}
	before, after := w.marks(m)
	n, ok := w.marked(before)
	asIs := ok && (n == 0 && parent == "" || n > 0 && w.Live[n-1].ID == parent)
	if asIs {
		w.Live = w.Live[:n]
	} else {
		w.goTo(parent, at)
	}
	w.Live = append(w.Live, m)
	w.saying = m
	defer func() { w.saying = nil }()
	n, ok = w.marked(after)
	keep := leaf != "" && ok && n > 0 && w.Live[n-1].ID == leaf
	said := false
	for _, raw := range m.Records {
		r := parseRecord(raw)
		switch {
		case r.again, r.rolledBack() > 0 && !(asIs && !said || keep && said):
			continue
		case w.says(&r):
			said = true
		}
		w.record(raw, false)
	}
	if keep {
		w.Live = w.Live[:n]
	}
}

// marks returns the marks of m before and after its content. before is nil if
// the messages that it discards were written again.
func (w *writer) marks(m *transcript.Message) (before, after []int) {
	said, again := false, false
	for _, raw := range m.Records {
		r := parseRecord(raw)
		n := r.rolledBack()
		switch {
		case r.again:
			again = true
		case n > 0 && said:
			after = append(after, n)
		case n > 0:
			before = append(before, n)
		case w.says(&r):
			said = true
		}
	}
	if again {
		before = append(before, 0)
	}
	return before, after
}

// marked returns how many messages are live after some marks. It returns false
// if that cannot be determined.
func (w *writer) marked(marks []int) (int, bool) {
	n := len(w.Live)
	for _, turns := range marks {
		if turns == 0 {
			return 0, false
		}
		n = cutAt(n, turns, func(i int) bool { return w.prompts(w.Live[i]) })
	}
	return n, true
}

func (w *writer) says(r *record) bool {
	m, _ := r.says()
	return m != nil || r.twin() != nil
}

// prompts reports whether m is a turn that the program counts.
func (w *writer) prompts(m *transcript.Message) bool { return m.IsPrompt() }

// say writes the content of m.
func (w *writer) say(m *transcript.Message, again bool) {
	w.again = again
	defer func() { w.again = false }()
	if m.Format == "codex" && len(m.Records) > 0 {
		for _, raw := range m.Records {
			if r := parseRecord(raw); !r.again && r.rolledBack() == 0 {
				w.record(raw, again)
			}
		}
		return
	}
	lost := w.lost
	if again {
		lost = new(report.Report)
	}
	at := w.Last
	if m.Kind == transcript.Compaction {
		w.line("compacted", at, map[string]any{"message": m.Text(), "replacement_history": w.instead(m)})
		return
	}
	lost.Message(m, report.LostTimes, report.LostSystem)
	var said []textPart
	var text []string
	flush := func() {
		if len(said) > 0 {
			w.spoken(m, at, said, strings.Join(text, "\n"))
		}
		said, text = nil, nil
	}
	add := func(s string) {
		said = append(said, textPart{Type: textOf(m), Text: s})
		text = append(text, s)
	}
	wrote := false
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeText:
			if p.Text != "" {
				add(p.Text)
			}
		case p.Type == content.TypeThinking:
			lost.Add("thinking, which the model does not see again")
			if p.Text != "" {
				w.line("event_msg", at, map[string]any{"type": "agent_reasoning", "text": p.Text})
			}
		case p.Type == content.TypeImage && m.Role == "user" && m.Own.Role == "" && parts.DataURL(p) != "":
			said = append(said, textPart{Type: "input_image", ImageURL: parts.DataURL(p)})
		case p.Type == content.TypeToolCall && w.pairs[p] != nil:
			flush()
			wrote = true
			w.line("response_item", at, map[string]any{"type": "function_call", "name": c.Name, "arguments": c.Arguments, "call_id": c.ID})
		case p.Type == content.TypeToolResult && w.pairs[p] != nil:
			flush()
			wrote = true
			lost.Count(report.LostFailures, c.Failed)
			lost.Extras(p)
			w.line("response_item", at, map[string]any{"type": "function_call_output", "call_id": c.ID, "output": p.Text})
		default:
			lost.Part(p)
			if s := parts.Text(p); s != "" {
				add(s)
			}
		}
	}
	if len(said) == 0 && !wrote {
		lost.Add(report.LostMessages)
		return
	}
	lost.Count("system messages, which the user does not see there", m.Own.Role != "")
	flush()
}

// instead returns the items that replace the messages before a compaction in the model's
// context: its summary, and the messages that its program kept.
func (w *writer) instead(m *transcript.Message) []json.RawMessage {
	list := []json.RawMessage{rawjson.Compact(map[string]any{
		"type": "message", "role": "user", "content": []textPart{{Type: "input_text", Text: m.Text()}},
	})}
	var b bytes.Buffer
	beside := *w
	beside.Writer, beside.lost, beside.again, beside.saying = jsonl.NewWriter(&b), new(report.Report), false, nil
	for _, shown := range compaction.Kept(m, w.in) {
		if shown.Kind != transcript.Compaction {
			beside.say(shown, false)
		}
	}
	beside.Flush()
	jsonl.InHead(b.Bytes(), func(raw []byte) bool {
		if r := parseRecord(raw); r.kind == "response_item" {
			list = append(list, json.RawMessage(r.payload.Raw))
		}
		return false
	})
	return list
}

type textPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

func textOf(m *transcript.Message) string {
	if m.Role == "assistant" {
		return "output_text"
	}
	return "input_text"
}

// spoken writes a message for the model, and its event for the user.
func (w *writer) spoken(m *transcript.Message, at time.Time, parts []textPart, text string) {
	item := map[string]any{"type": "message", "role": m.Role, "content": parts}
	switch {
	case m.Own.Role != "":
		item["role"] = "developer"
		w.line("response_item", at, item)
	case m.Role == "user":
		w.line("event_msg", at, map[string]any{"type": "user_message", "message": text, "images": []string{}})
		w.line("response_item", at, item)
	default:
		w.line("response_item", at, item)
		w.line("event_msg", at, map[string]any{"type": "agent_message", "message": text})
	}
}
