package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// codex is the rollout of OpenAI's Codex: a log with a record on each line. The items
// that the model sees are messages; events that say the same once more for the user, and
// all else, ride along. What stands before a message in its turn rides with it, so that a
// path that ends earlier has nothing of it.
//
// The event thread_rolled_back goes back over the last turns, as many as it says: they
// are a side branch. A message is known by what it says and what comes before it, and the
// conversation that it began in, so that those of a copy are those of the original.
//
// Written are records of the older kind, without ordinals, which every version reads.
var codex = Format{
	Name:     "codex",
	About:    "a session of OpenAI's Codex",
	Ext:      ".jsonl",
	Branches: true,
	detect:   detectCodex,
	read:     readCodex,
	write:    writeCodex,
	home: &home{
		roots: func(m Machine) []string {
			dir := codexHome(m)
			return []string{filepath.Join(dir, "sessions"), filepath.Join(dir, "archived_sessions")}
		},
		holds: func(path string) bool {
			name := path[strings.LastIndexByte(path, '/')+1:]
			return strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, ".jsonl")
		},
		target: func(m Machine, _ *Transcript, o Options) string {
			return filepath.Join(codexHome(m), "sessions", o.Now.Format("2006"), o.Now.Format("01"), o.Now.Format("02"),
				"rollout-"+o.Now.Format("2006-01-02T15-04-05")+"-"+o.ID+".jsonl")
		},
		resume: func(_ string, _ *Transcript, o Options) (before, run []string) {
			return nil, []string{"codex", "resume", o.ID}
		},
	},
}

func codexHome(m Machine) string {
	if dir := m.Env("CODEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(m.Home, ".codex")
}

func detectCodex(head []byte) bool {
	first, _, _ := strings.Cut(string(head), "\n")
	is := func(line gjson.Result) bool {
		switch line.Get("type").Str {
		case "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state":
			return line.Get("payload").IsObject()
		}
		return line.Get("record_type").Str == "state" ||
			line.Get("id").Type == gjson.String && line.Get("timestamp").Exists() && line.Get("instructions").Exists() && !line.Get("type").Exists()
	}
	if strings.HasPrefix(first, "{") && is(gjson.Parse(first)) {
		return true
	}
	return headLines(head, func(raw []byte) bool { return is(gjson.ParseBytes(raw)) })
}

// A codexRecord is a record, of whatever age.
type codexRecord struct {
	kind    string // session_meta, response_item, event_msg, ...
	payload gjson.Result
	time    time.Time
	again   bool // bough wrote it a second time: see [linear]
}

// codexAgain is the member of a record that bough wrote a second time.
const codexAgain = "again"

func parseCodex(raw []byte) codexRecord {
	v := gjson.ParseBytes(raw)
	r := codexRecord{v.Get("type").Str, v.Get("payload"), parseTime(v.Get("timestamp").Str), v.Get(codexAgain).Bool()}
	switch {
	case r.payload.IsObject():
	case r.kind != "":
		r.kind, r.payload = "response_item", v
	case v.Get("record_type").Exists():
		r.kind, r.payload = "state", v
	case v.Get("id").Exists():
		r.kind, r.payload = "session_meta", v
	}
	return r
}

// opens reports whether a record belongs to what follows it, and not to what came before.
func (r *codexRecord) opens() bool {
	switch r.kind {
	case "turn_context", "world_state", "response_item", "compacted", "inter_agent_communication":
		return true
	case "event_msg":
		switch r.payload.Get("type").Str {
		case "task_started", "turn_started", "thread_settings_applied", "thread_rolled_back", "user_message",
			"agent_reasoning", "agent_reasoning_raw_content":
			return true
		case "item_completed", "item_started":
			switch r.payload.Get("item.type").Str {
			case "UserMessage", "Reasoning":
				return true
			}
		}
	}
	return false
}

// rolledBack returns how many turns a record goes back over, 0 for none.
func (r *codexRecord) rolledBack() int {
	if r.kind != "event_msg" || r.payload.Get("type").Str != "thread_rolled_back" {
		return 0
	}
	return int(min(r.payload.Get("num_turns").Uint(), 1<<30))
}

// injected reports whether a message is one that the program itself put before the model.
func (r *codexRecord) injected() bool {
	switch r.payload.Get("role").Str {
	case "user":
	case "assistant":
		return false
	default:
		return true
	}
	if r.payload.Get("internal_chat_message_metadata_passthrough.content_item_metadata.0.provenance.type").Str == "harness" {
		return true
	}
	text := strings.TrimSpace(r.payload.Get("content.0.text").Str)
	for _, start := range []string{
		"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<user_shell_command>",
		"<skill>", "<subagent_notification>", "<model_switch>", "<permissions instructions>",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// twin returns the message that an event tells the user, nil if it tells none. The model
// is shown the same message in a record of its own.
func (r *codexRecord) twin() *Message {
	if r.kind != "event_msg" {
		return nil
	}
	m := &Message{}
	text := r.payload.Get("message").Str
	switch kind := r.payload.Get("type").Str; kind {
	case "user_message":
		m.Role = "user"
	case "agent_message":
		m.Role = "assistant"
	case "item_completed":
		item := r.payload.Get("item")
		switch item.Get("type").Str {
		case "UserMessage":
			m.Role = "user"
		case "AgentMessage":
			m.Role = "assistant"
		default:
			return nil
		}
		text = ""
		item.Get("content").ForEach(func(_, part gjson.Result) bool {
			text += part.Get("text").Str
			return true
		})
	default:
		return nil
	}
	if text == "" {
		return nil
	}
	m.Parts = []content.Part{content.Text(text)}
	return m
}

// says returns the message that a record is, nil if it is none, and what its id is made
// of: what the record says, without what differs in a copy.
func (r *codexRecord) says() (*Message, []byte) {
	p := r.payload
	switch r.kind {
	case "compacted":
		m := &Message{Kind: Compaction}
		m.Role, m.Parts = "user", []content.Part{}
		if text := p.Get("message").Str; text != "" {
			m.Parts = append(m.Parts, content.Text(text))
		}
		return m, codexKey(p, "compacted", "message")
	case "response_item":
	default:
		return nil, nil
	}
	kind := p.Get("type").Str
	m := &Message{}
	call := content.Call{ID: p.Get("call_id").Str, Name: p.Get("name").Str}
	switch kind {
	case "message":
		if r.injected() {
			return nil, nil
		}
		m.Role = p.Get("role").Str
		m.Parts = codexParts(p.Get("content"))
		return m, codexKey(p, kind, "role", "content")
	case "function_call", "custom_tool_call", "local_shell_call":
		m.Role = "assistant"
		switch kind {
		case "function_call":
			call.Arguments = p.Get("arguments").Str
		case "custom_tool_call":
			call.Arguments = string(rawjson.Compact(map[string]string{"input": p.Get("input").Str}))
		default:
			call.Name, call.Arguments = "local_shell", p.Get("action").Raw
			if call.ID == "" {
				call.ID = p.Get("id").Str
			}
		}
		if call.Name == "" {
			return nil, nil
		}
		m.Parts = []content.Part{content.ToolCall(call)}
		return m, codexKey(p, kind, "name", "arguments", "input", "action", "call_id")
	case "function_call_output", "custom_tool_call_output":
		m.Role = "user"
		out := p.Get("output")
		if text := out.Get("content"); out.IsObject() && text.Exists() {
			call.Failed = out.Get("success").Type == gjson.False
			out = text
		}
		var more []content.Part
		text := out.String()
		if out.IsArray() {
			text = ""
			for _, part := range codexParts(out) {
				if part.Type == content.TypeText {
					text += part.Text
				} else {
					more = append(more, part)
				}
			}
		}
		m.Parts = append([]content.Part{content.ToolResult(call, text)}, more...)
		return m, codexKey(p, kind, "call_id", "output")
	}
	return nil, nil
}

// codexKey returns an object of some members of a payload.
func codexKey(p gjson.Result, kind string, names ...string) []byte {
	b := append([]byte(`{"type":`), rawjson.Compact(kind)...)
	for _, name := range names {
		if v := p.Get(name); v.Exists() {
			b = append(append(append(append(b, `,"`...), name...), `":`...), v.Raw...)
		}
	}
	return append(b, '}')
}

func codexParts(list gjson.Result) []content.Part {
	parts := []content.Part{}
	if list.Type == gjson.String {
		return append(parts, content.Text(list.Str))
	}
	list.ForEach(func(_, v gjson.Result) bool {
		text, image := v.Get("text"), v.Get("image_url")
		switch {
		case text.Type == gjson.String:
			if text.Str != "" {
				parts = append(parts, content.Text(text.Str))
			}
		case v.Get("refusal").Type == gjson.String:
			parts = append(parts, content.Text(v.Get("refusal").Str))
		case image.Type == gjson.String:
			parts = append(parts, content.ImageURL(image.Str))
		default:
			parts = append(parts, otherPart(v))
		}
		return true
	})
	return parts
}

// A codexReader makes messages of records.
type codexReader struct {
	to   Sink
	conv Conversation
	seed string

	live  []codexTurn
	taken map[string]int    // how often a message was said with the same before it
	last  map[string]string // its id the last time
	held  *Message          // it is not handed on, since what follows may belong to it
	alone bool              // no event told the user of it so far

	tools    map[string]string // the names of the tools that were called, by the ids of the calls
	riding   []codexRider
	twin     *Message // that an event told the user, and no item showed the model so far
	twinAt   int      // how many records ride up to it
	thoughts []content.Part
	thought  int // how many records ride up to the last one
}

type codexTurn struct {
	id      string
	prompts bool
}

type codexRider struct {
	raw   json.RawMessage
	opens bool
}

func readCodex(in io.Reader, to Sink) error {
	r := &codexReader{to: to, taken: map[string]int{}, tools: map[string]string{}, last: map[string]string{}}
	if err := lines(in, to, r.line); err != nil {
		return err
	}
	if err := r.flush(); err != nil || r.held == nil {
		return err
	}
	for _, rider := range r.riding {
		r.held.Records = append(r.held.Records, rider.raw)
	}
	if err := to.Message(r.held); err != nil {
		return err
	}
	if n := len(r.live); n > 0 {
		r.conv.Leaf = r.live[n-1].id
	}
	return to.End(&r.conv)
}

func (r *codexReader) line(l line) error {
	raw := json.RawMessage(append([]byte(nil), l.raw...))
	rec := parseCodex(raw)
	if n := rec.rolledBack(); n > 0 {
		if err := r.flush(); err != nil {
			return err
		}
		r.ride(raw, true)
		r.live = r.live[:codexCut(len(r.live), n, func(i int) bool { return r.live[i].prompts })]
		return nil
	}
	r.note(&rec, l)
	if m := rec.twin(); m != nil && !rec.again {
		return r.event(m, raw, &rec)
	}
	if rec.kind == "response_item" && rec.payload.Get("type").Str == "reasoning" && !rec.again {
		if r.twin != nil && r.twin.Role == "user" {
			if err := r.flush(); err != nil {
				return err
			}
		}
		r.ride(raw, true)
		r.think(rec.payload)
		return nil
	}
	m, key := rec.says()
	switch {
	case m == nil:
		r.ride(raw, rec.opens())
		return nil
	case m.has(content.TypeToolResult):
		r.named(m)
	case m.Role == "assistant":
		for i := range m.Parts {
			if c := m.Parts[i].Call(); c.ID != "" && m.Parts[i].Type == content.TypeToolCall {
				r.tools[c.ID] = c.Name
			}
		}
	}
	if rec.again {
		r.ride(raw, true)
		r.live = append(r.live, codexTurn{r.last[r.base(key)], m.prompts()})
		return nil
	}
	if r.twin != nil && r.twin.Role == m.Role && !m.has(content.TypeToolResult) && m.Kind == Said && related(r.twin, m) {
		r.twin = nil
		defer func() { r.alone = false }()
	}
	if r.twin != nil || m.Role != "assistant" {
		if err := r.flush(); err != nil {
			return err
		}
	}
	m.Parts = append(r.thoughts, m.Parts...)
	r.thoughts = nil
	m.Time = rec.time
	r.ride(raw, true)
	return r.say(m, key, len(r.riding))
}

// named has results know which tools they are of.
func (r *codexReader) named(m *Message) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeToolResult {
			c := p.Call()
			c.Name = r.tools[c.ID]
			*p = content.ToolResult(c, p.Text)
		}
	}
}

// codexCut returns how much of a path is left after going back over n turns.
func codexCut(length, n int, prompts func(int) bool) int {
	cut := length
	for i := length - 1; i >= 0 && n > 0; i-- {
		if prompts(i) {
			cut = i
			n--
		}
	}
	return cut
}

// note takes in what a record says of the conversation.
func (r *codexReader) note(rec *codexRecord, l line) {
	p := rec.payload
	switch rec.kind {
	case "session_meta":
		if r.held != nil {
			return
		}
		id := p.Get("id").Str
		r.seed = id
		from := p.Get("forked_from_id").Str
		if from != "" {
			r.seed = from
		}
		if r.conv.ID != "" {
			return
		}
		r.conv.ID, r.conv.Dir, r.conv.Version = id, p.Get("cwd").Str, p.Get("cli_version").Str
		if r.conv.Created = parseTime(p.Get("timestamp").Str); r.conv.Created.IsZero() {
			r.conv.Created = rec.time
		}
		r.conv.Side = p.Get("source.subagent").Exists() || p.Get("thread_source").Str == "subagent"
		if base := p.Get("history_base"); base.Get("thread_id").Str != "" {
			r.conv.Fork = &Fork{ID: base.Get("thread_id").Str, Records: int(min(base.Get("end_ordinal_exclusive").Uint(), 1<<40))}
		} else if from != "" {
			r.conv.Fork = &Fork{ID: from}
		}
		if mode := p.Get("history_mode").Str; mode != "" && mode != "legacy" && mode != "paginated" {
			r.to.Problem(l.problem(fmt.Sprintf("its history mode is %q, which is newer than what is known here", mode)))
		}
	case "turn_context":
		if model := p.Get("model").Str; model != "" {
			r.conv.Model = model
		}
		if r.conv.Dir == "" {
			r.conv.Dir = p.Get("cwd").Str
		}
	case "event_msg":
		if name := p.Get("thread_name"); p.Get("type").Str == "thread_name_updated" && name.Type == gjson.String {
			r.conv.Title = name.Str
		}
	}
}

func (r *codexReader) ride(raw json.RawMessage, opens bool) {
	r.riding = append(r.riding, codexRider{raw, opens})
}

// think takes what a model thought, for the message that follows.
func (r *codexReader) think(p gjson.Result) {
	take := func(_, v gjson.Result) bool {
		if text := v.Get("text").Str; text != "" {
			r.thoughts = append(r.thoughts, content.Thinking(text, ""))
		}
		return true
	}
	n := len(r.thoughts)
	p.Get("summary").ForEach(take)
	if len(r.thoughts) == n {
		p.Get("content").ForEach(take)
	}
	r.thought = len(r.riding)
}

// event takes an event that tells the user a message: the one that is held, one that
// follows, or one that is shown to nobody else.
func (r *codexReader) event(m *Message, raw json.RawMessage, rec *codexRecord) error {
	opened := slices.ContainsFunc(r.riding, func(rider codexRider) bool { return rider.opens })
	if r.alone && r.held != nil && !opened && r.held.Role == m.Role && !r.held.has(content.TypeToolResult) && related(m, r.held) {
		r.alone = false
		r.ride(raw, false)
		return nil
	}
	if r.twin != nil || m.Role == "user" {
		if err := r.flush(); err != nil {
			return err
		}
	}
	m.Time = rec.time
	r.ride(raw, true)
	r.twin, r.twinAt = m, len(r.riding)
	return nil
}

// related reports whether an event tells what an item says.
func related(event, item *Message) bool {
	a, b := strings.TrimSpace(event.texts()), strings.TrimSpace(item.texts())
	return b == "" || strings.Contains(a, b) || strings.Contains(b, a)
}

// flush makes messages of what was told or thought and is part of no other.
func (r *codexReader) flush() error {
	if m := r.twin; m != nil {
		r.twin = nil
		kind := map[bool]string{true: "input_text", false: "output_text"}[m.Role == "user"]
		if m.Role == "assistant" && r.thought <= r.twinAt {
			m.Parts = append(r.thoughts, m.Parts...)
			r.thoughts = nil
		}
		key := rawjson.Compact(map[string]any{"type": "message", "role": m.Role, "content": []any{map[string]string{"type": kind, "text": m.texts()}}})
		if err := r.say(m, key, r.twinAt); err != nil {
			return err
		}
		r.thought = max(r.thought-r.twinAt, 0)
		r.alone = false
	}
	if len(r.thoughts) > 0 {
		m := &Message{Message: content.Message{Role: "assistant", Parts: r.thoughts}}
		r.thoughts = nil
		m.Time = parseCodex(r.riding[r.thought-1].raw).time
		texts := []string{"reasoning"}
		for _, p := range m.Parts {
			texts = append(texts, p.Text)
		}
		return r.say(m, rawjson.Compact(texts), r.thought)
	}
	return nil
}

func (r *codexReader) parent() string {
	if n := len(r.live); n > 0 {
		return r.live[n-1].id
	}
	return ""
}

// base returns the id of what is said next, if it was not said there before.
func (r *codexReader) base(key []byte) string {
	if parent := r.parent(); parent != "" {
		return ChainID(parent, key)
	}
	return ChainID(r.seed, key)
}

// say hands on the message that is held, and holds m, whose records are the first n that
// ride, without those that belong to the one before.
func (r *codexReader) say(m *Message, key []byte, n int) error {
	m.Parent = r.parent()
	base := r.base(key)
	m.ID = base
	if times := r.taken[base]; times > 0 {
		m.ID = ChainID(base, fmt.Append(nil, times))
	}
	r.taken[base]++
	r.last[base] = m.ID
	m.Format = "codex"
	if m.Role == "assistant" {
		m.Model = r.conv.Model
	}
	split := max(slices.IndexFunc(r.riding[:n], func(rider codexRider) bool { return rider.opens }), 0)
	for i, rider := range r.riding[:n] {
		switch {
		case i >= split:
			m.Records = append(m.Records, rider.raw)
		case r.held != nil:
			r.held.Records = append(r.held.Records, rider.raw)
		default:
			r.conv.Records = append(r.conv.Records, rider.raw)
		}
	}
	r.riding = append([]codexRider(nil), r.riding[n:]...)
	if r.held != nil {
		if err := r.to.Message(r.held); err != nil {
			return err
		}
	}
	r.held, r.alone = m, true
	r.live = append(r.live, codexTurn{m.ID, m.prompts()})
	return nil
}

// writeCodex writes a log that goes back over every branch but the active one.
func writeCodex(out io.Writer, t *Transcript, o Options, lost *losses) error {
	w := &codexWriter{
		lineWriter: newLineWriter(out), t: t, o: o, lost: lost,
		linear: linear{turns: func(m *Message) bool { return m.prompts() && !m.has(content.TypeToolResult) }},
		clock:  clock{now: o.Now}, pairs: answered(t.Messages), in: map[string]*Message{},
	}
	w.head()
	list, tree := t.inLine(), t.outline()
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
	lost  *losses
	pairs map[*content.Part]*content.Part
	in    map[string]*Message // all messages, by their ids
	old   string              // what the conversation was called
	again bool                // what is being written was written before
}

// head writes the records before the messages.
func (w *codexWriter) head() {
	var records []json.RawMessage
	if w.t.Format == "codex" {
		records = w.t.Records
	}
	if !slices.ContainsFunc(records, isCodexMeta) {
		w.line("session_meta", w.o.Now, map[string]any{
			"id": w.o.ID, "timestamp": isoTime(w.o.Now), "cwd": w.t.dir(), "originator": "bough", "cli_version": "0.0.0", "source": "cli",
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
	}
	w.put(raw)
}

// told returns a record that tells the user a message as logs without ordinals do: there
// is no place for the other kind in them.
func (r *codexRecord) told(raw json.RawMessage) json.RawMessage {
	m := r.twin()
	event := map[string]any{"type": "agent_message", "message": m.texts()}
	if m.Role == "user" {
		event = map[string]any{"type": "user_message", "message": m.texts(), "images": []string{}}
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
func (w *codexWriter) prompts(m *Message) bool { return m.prompts() }

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
		lost = new(losses)
	}
	at := w.last
	if m.Kind == Compaction {
		w.line("compacted", at, map[string]any{"message": m.texts(), "replacement_history": w.instead(m)})
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
		said = append(said, codexPart{Type: m.codexText(), Text: s})
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
		"type": "message", "role": "user", "content": []codexPart{{Type: "input_text", Text: m.texts()}},
	})}
	var b bytes.Buffer
	beside := *w
	beside.lineWriter, beside.lost, beside.again = newLineWriter(&b), new(losses), false
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

func (m *Message) codexText() string {
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
