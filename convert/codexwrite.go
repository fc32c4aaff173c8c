package convert

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// writeCodex writes a log that goes back over every branch but the active one.
func writeCodex(out io.Writer, t *Transcript, o Options, lost *report) error {
	w := &codexWriter{
		lineWriter: newLineWriter(out), t: t, o: o, lost: lost,
		linear: linear{turns: func(m *Message) bool { return m.IsPrompt() && !m.HasPart(content.TypeToolResult) }},
		clock:  clock{now: o.Now}, pairs: answered(t.Messages), in: map[string]*Message{},
	}
	w.head()
	list, tree := inLine(t), outlineOf(t)
	for _, m := range list {
		w.in[m.ID] = m
	}
	for i, m := range list {
		leaf := ""
		if i == len(list)-1 {
			leaf = t.Leaf
		}
		w.message(m, tree.parent(m), leaf)
	}
	if tree.has(t.Leaf) {
		w.goTo(t.Leaf, o.Now)
	}
	return w.flush()
}

type codexWriter struct {
	lineWriter
	linear
	clock
	t     *Transcript
	o     Options
	lost  *report
	pairs map[*content.Part]*content.Part
	in    map[string]*Message // all messages, by their ids
	old   string              // what the conversation was called
	again bool                // what is being written was written before

	saying *Message // whose records are being written, nil for none
}

// head writes the records before the messages.
func (w *codexWriter) head() {
	var records []json.RawMessage
	if w.t.Format == "codex" {
		records = w.t.Records
	}
	if !slices.ContainsFunc(records, isCodexMeta) {
		w.line("session_meta", w.o.Now, map[string]any{
			"id": w.o.ID, "timestamp": isoTime(w.o.Now), "cwd": w.t.WorkDir(), "originator": "bough", "cli_version": "0.0.0", "source": "cli",
		})
		w.lost.conversation(w.t, lostDirs)
	}
	first := true
	for _, raw := range records {
		if first && isCodexMeta(raw) {
			first = false
			raw = w.meta(raw)
		}
		w.record(raw, false)
	}
}

func isCodexMeta(raw json.RawMessage) bool {
	r := parseCodex(raw)
	return r.kind == "session_meta"
}

// meta returns the first record with the new id.
func (w *codexWriter) meta(raw json.RawMessage) json.RawMessage {
	v := gjson.ParseBytes(raw)
	if !v.Get("payload").IsObject() {
		raw = w.wrapped(raw, "session_meta")
		for name, value := range map[string]string{"cwd": w.t.Dir, "originator": "codex_cli_rs", "cli_version": "0.0.0"} {
			if !gjson.GetBytes(raw, "payload."+name).Exists() {
				raw = setMember(raw, "payload."+name, value)
			}
		}
		v = gjson.ParseBytes(raw)
	}
	w.old = v.Get("payload.id").Str
	raw = setMember(raw, "payload.id", w.o.ID)
	if v.Get("payload.session_id").Exists() {
		raw = setMember(raw, "payload.session_id", w.o.ID)
	}
	if v.Get("payload.forked_from_id").Str == "" && w.old != "" && w.old != w.o.ID {
		raw = setMember(raw, "payload.forked_from_id", w.old)
	}
	for _, name := range []string{"history_mode", "history_base", "forked_from_ordinal_exclusive"} {
		if v.Get("payload." + name).Exists() {
			raw = dropMember(raw, "payload."+name)
		}
	}
	return raw
}

// wrapped returns a record of the oldest kind as one of now.
func (w *codexWriter) wrapped(raw json.RawMessage, kind string) json.RawMessage {
	at := gjson.GetBytes(raw, "timestamp").Str
	if at == "" {
		at = isoTime(w.o.Now)
	}
	b := append([]byte(`{"timestamp":`), rawjson.Compact(at)...)
	b = append(append(append(b, `,"type":"`...), kind...), `","payload":`...)
	return append(append(b, raw...), '}')
}

// record writes a record with what names the conversation changed.
func (w *codexWriter) record(raw json.RawMessage, again bool) {
	v := gjson.ParseBytes(raw)
	if !v.Get("payload").IsObject() && v.Get("type").Exists() {
		raw = w.wrapped(raw, "response_item")
	}
	if v.Get("payload.type").Str == "item_completed" {
		if r := parseCodex(raw); r.twin() != nil {
			raw = r.told(raw)
			v = gjson.ParseBytes(raw)
		}
	}
	if v.Get("ordinal").Exists() {
		raw = dropMember(raw, "ordinal")
	}
	for _, path := range []string{"payload.thread_id", "payload.session_id"} {
		if id := v.Get(path); w.old != "" && id.Type == gjson.String && id.Str == w.old {
			raw = setMember(raw, path, w.o.ID)
		}
	}
	if again {
		raw = setMember(raw, codexAgain, true)
	} else if w.saying != nil {
		if r := parseCodex(raw); w.says(&r) {
			w.lost.trace.record(raw, w.saying)
		}
	}
	w.put(raw)
}

// told returns a record that tells the user a message as logs without ordinals do: there
// is no place for the other kind in them.
func (r *codexRecord) told(raw json.RawMessage) json.RawMessage {
	m := r.twin()
	event := map[string]any{"type": "agent_message", "message": m.Text()}
	if m.Role == "user" {
		event = map[string]any{"type": "user_message", "message": m.Text(), "images": []string{}}
	}
	return setMember(raw, "payload", event)
}

func (w *codexWriter) line(kind string, at time.Time, payload any) {
	w.record(rawjson.Compact(struct {
		Timestamp string `json:"timestamp"`
		Type      string `json:"type"`
		Payload   any    `json:"payload"`
	}{isoTime(at), kind, payload}), w.again)
}

// goTo writes what makes the message of an id the last one.
func (w *codexWriter) goTo(id string, at time.Time) {
	steps, ok := w.back(id)
	if !ok {
		w.lost.add("branches from before the first prompt")
	}
	for _, s := range steps {
		if s.m != nil {
			w.say(s.m, true)
			continue
		}
		n := 0
		for _, m := range s.over {
			if w.prompts(m) {
				n++
			}
		}
		w.line("event_msg", at, map[string]any{"type": "thread_rolled_back", "num_turns": n})
	}
}

// message writes m where its parent is the last one. leaf is where the log goes on after
// it, "" for m.
func (w *codexWriter) message(m *Message, parent, leaf string) {
	at := w.of(m)
	if m.Format != "codex" || len(m.Records) == 0 {
		w.goTo(parent, at)
		w.saying = m
		defer func() { w.saying = nil }()
		w.say(m, false)
		w.live = append(w.live, m)
		return
	}
	before, after := w.marks(m)
	n, ok := w.marked(before)
	asIs := ok && (n == 0 && parent == "" || n > 0 && w.live[n-1].ID == parent)
	if asIs {
		w.live = w.live[:n]
	} else {
		w.goTo(parent, at)
	}
	w.live = append(w.live, m)
	w.saying = m
	defer func() { w.saying = nil }()
	n, ok = w.marked(after)
	keep := leaf != "" && ok && n > 0 && w.live[n-1].ID == leaf
	said := false
	for _, raw := range m.Records {
		r := parseCodex(raw)
		switch {
		case r.again, r.rolledBack() > 0 && !(asIs && !said || keep && said):
			continue
		case w.says(&r):
			said = true
		}
		w.record(raw, false)
	}
	if keep {
		w.live = w.live[:n]
	}
}

// marks returns the marks of m that stand before what it says, and after. One before is
// nil if what it goes back over was written again.
func (w *codexWriter) marks(m *Message) (before, after []int) {
	said, again := false, false
	for _, raw := range m.Records {
		r := parseCodex(raw)
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

// marked returns how much is live after some marks. It reports false if that is not to be
// known.
func (w *codexWriter) marked(marks []int) (int, bool) {
	n := len(w.live)
	for _, turns := range marks {
		if turns == 0 {
			return 0, false
		}
		n = codexCut(n, turns, func(i int) bool { return w.prompts(w.live[i]) })
	}
	return n, true
}

func (w *codexWriter) says(r *codexRecord) bool {
	m, _ := r.says()
	return m != nil || r.twin() != nil
}

// prompts reports whether m is a turn that the program counts.
func (w *codexWriter) prompts(m *Message) bool { return m.IsPrompt() }

// say writes what m says.
func (w *codexWriter) say(m *Message, again bool) {
	w.again = again
	defer func() { w.again = false }()
	if m.Format == "codex" && len(m.Records) > 0 {
		for _, raw := range m.Records {
			if r := parseCodex(raw); !r.again && r.rolledBack() == 0 {
				w.record(raw, again)
			}
		}
		return
	}
	lost := w.lost
	if again {
		lost = new(report)
	}
	at := w.last
	if m.Kind == Compaction {
		w.line("compacted", at, map[string]any{"message": m.Text(), "replacement_history": w.instead(m)})
		return
	}
	lost.message(m, lostTimes, lostSystem)
	var said []codexPart
	var text []string
	flush := func() {
		if len(said) > 0 {
			w.spoken(m, at, said, strings.Join(text, "\n"))
		}
		said, text = nil, nil
	}
	add := func(s string) {
		said = append(said, codexPart{Type: codexText(m), Text: s})
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
			lost.add("thinking, which the model does not see again")
			if p.Text != "" {
				w.line("event_msg", at, map[string]any{"type": "agent_reasoning", "text": p.Text})
			}
		case p.Type == content.TypeImage && m.Role == "user" && m.Own.Role == "" && dataURL(p) != "":
			said = append(said, codexPart{Type: "input_image", ImageURL: dataURL(p)})
		case p.Type == content.TypeToolCall && w.pairs[p] != nil:
			flush()
			wrote = true
			w.line("response_item", at, map[string]any{"type": "function_call", "name": c.Name, "arguments": c.Arguments, "call_id": c.ID})
		case p.Type == content.TypeToolResult && w.pairs[p] != nil:
			flush()
			wrote = true
			lost.count(lostFailures, c.Failed)
			lost.extras(p)
			w.line("response_item", at, map[string]any{"type": "function_call_output", "call_id": c.ID, "output": p.Text})
		default:
			lost.part(p)
			if s := asText(p); s != "" {
				add(s)
			}
		}
	}
	if len(said) == 0 && !wrote {
		lost.add(lostMessages)
		return
	}
	lost.count("system messages, which the user does not see there", m.Own.Role != "")
	flush()
}

// instead returns the items that the model sees instead of what came before a compaction:
// its summary, and what its program still showed beside it.
func (w *codexWriter) instead(m *Message) []json.RawMessage {
	list := []json.RawMessage{rawjson.Compact(map[string]any{
		"type": "message", "role": "user", "content": []codexPart{{Type: "input_text", Text: m.Text()}},
	})}
	var b bytes.Buffer
	beside := *w
	beside.lineWriter, beside.lost, beside.again, beside.saying = newLineWriter(&b), new(report), false, nil
	for _, shown := range kept(m, w.in) {
		if shown.Kind != Compaction {
			beside.say(shown, false)
		}
	}
	beside.flush()
	headLines(b.Bytes(), func(raw []byte) bool {
		if r := parseCodex(raw); r.kind == "response_item" {
			list = append(list, json.RawMessage(r.payload.Raw))
		}
		return false
	})
	return list
}

type codexPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

func codexText(m *Message) string {
	if m.Role == "assistant" {
		return "output_text"
	}
	return "input_text"
}

// spoken writes a message for the model, and the event that tells it the user.
func (w *codexWriter) spoken(m *Message, at time.Time, parts []codexPart, text string) {
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
