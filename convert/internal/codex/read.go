// Package codex reads and writes the rollouts of OpenAI's Codex: a log with one record on
// each line. The items that the model sees are messages. Events that repeat them for the
// user, and all other records, ride along. A record before a message in its turn rides
// with that message, so a path that ends earlier does not contain it.
//
// The event thread_rolled_back discards the last turns, as many as it says: they become a
// side branch. The id of a message is made of its content, the messages before it and the
// conversation that it began in, so the messages of a copy have the ids of the original.
//
// Write uses the older kind of records, without ordinals, which every version reads.
package codex

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		dir := homeDir(m)
		return []string{filepath.Join(dir, "sessions"), filepath.Join(dir, "archived_sessions")}
	},
	Holds: func(path string) bool {
		name := path[strings.LastIndexByte(path, '/')+1:]
		return strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, ".jsonl")
	},
	Target: func(m transcript.Machine, _ *transcript.Transcript, o transcript.Options) string {
		return filepath.Join(homeDir(m), "sessions", o.Now.Format("2006"), o.Now.Format("01"), o.Now.Format("02"),
			"rollout-"+o.Now.Format("2006-01-02T15-04-05")+"-"+o.ID+".jsonl")
	},
	Resume: func(_ string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return nil, []string{"codex", "resume", o.ID}
	},
}

func homeDir(m transcript.Machine) string {
	if dir := m.Env("CODEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(m.Home, ".codex")
}

func Detect(head []byte) bool {
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
	return jsonl.InHead(head, func(raw []byte) bool { return is(gjson.ParseBytes(raw)) })
}

// A record is a record, of whatever age.
type record struct {
	kind    string // session_meta, response_item, event_msg, ...
	payload gjson.Result
	time    time.Time
	again   bool // bough wrote it a second time: see [tree.Linear]
}

// againMember is the member of a record that bough wrote a second time.
const againMember = "again"

func parseRecord(raw []byte) record {
	v := gjson.ParseBytes(raw)
	r := record{v.Get("type").Str, v.Get("payload"), times.Parse(v.Get("timestamp").Str), v.Get(againMember).Bool()}
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
func (r *record) opens() bool {
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
func (r *record) rolledBack() int {
	if r.kind != "event_msg" || r.payload.Get("type").Str != "thread_rolled_back" {
		return 0
	}
	return int(min(r.payload.Get("num_turns").Uint(), 1<<30))
}

// injected reports whether a message is one that the program itself put before the model.
func (r *record) injected() bool {
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
func (r *record) twin() *transcript.Message {
	if r.kind != "event_msg" {
		return nil
	}
	m := &transcript.Message{}
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
func (r *record) says() (*transcript.Message, []byte) {
	p := r.payload
	switch r.kind {
	case "compacted":
		m := &transcript.Message{Kind: transcript.Compaction}
		m.Role, m.Parts = "user", []content.Part{}
		if text := p.Get("message").Str; text != "" {
			m.Parts = append(m.Parts, content.Text(text))
		}
		return m, keyOf(p, "compacted", "message")
	case "response_item":
	default:
		return nil, nil
	}
	kind := p.Get("type").Str
	m := &transcript.Message{}
	call := content.Call{ID: p.Get("call_id").Str, Name: p.Get("name").Str}
	switch kind {
	case "message":
		if r.injected() {
			return nil, nil
		}
		m.Role = p.Get("role").Str
		m.Parts = partsOf(p.Get("content"))
		return m, keyOf(p, kind, "role", "content")
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
		return m, keyOf(p, kind, "name", "arguments", "input", "action", "call_id")
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
			for _, part := range partsOf(out) {
				if part.Type == content.TypeText {
					text += part.Text
				} else {
					more = append(more, part)
				}
			}
		}
		m.Parts = append([]content.Part{content.ToolResult(call, text)}, more...)
		return m, keyOf(p, kind, "call_id", "output")
	}
	return nil, nil
}

// keyOf returns an object of some members of a payload.
func keyOf(p gjson.Result, kind string, names ...string) []byte {
	b := append([]byte(`{"type":`), rawjson.Compact(kind)...)
	for _, name := range names {
		if v := p.Get(name); v.Exists() {
			b = append(append(append(append(b, `,"`...), name...), `":`...), v.Raw...)
		}
	}
	return append(b, '}')
}

func partsOf(said gjson.Result) []content.Part {
	list := []content.Part{}
	if said.Type == gjson.String {
		return append(list, content.Text(said.Str))
	}
	said.ForEach(func(_, v gjson.Result) bool {
		text, image := v.Get("text"), v.Get("image_url")
		switch {
		case text.Type == gjson.String:
			if text.Str != "" {
				list = append(list, content.Text(text.Str))
			}
		case v.Get("refusal").Type == gjson.String:
			list = append(list, content.Text(v.Get("refusal").Str))
		case image.Type == gjson.String:
			list = append(list, content.ImageURL(image.Str))
		default:
			list = append(list, parts.Other(v))
		}
		return true
	})
	return list
}

// A reader makes messages of records.
type reader struct {
	to   transcript.Sink
	conv transcript.Conversation
	seed string

	live  []turn
	taken map[string]int      // how often a message was said with the same before it
	last  map[string]string   // its id the last time
	held  *transcript.Message // it is not handed on, since what follows may belong to it
	alone bool                // no event told the user of it so far

	running  bool              // a turn began and has not ended
	tools    map[string]string // the names of the tools that were called, by the ids of the calls
	riding   []rider
	twin     *transcript.Message // that an event told the user, and no item showed the model so far
	twinAt   int                 // how many records ride up to it
	thoughts []content.Part
	thought  int // how many records ride up to the last one
}

type turn struct {
	id      string
	prompts bool
}

type rider struct {
	raw   json.RawMessage
	opens bool
}

func Read(in io.Reader, to transcript.Sink) error {
	r := &reader{to: to, taken: map[string]int{}, tools: map[string]string{}, last: map[string]string{}}
	if err := jsonl.Read(in, to, r.line); err != nil {
		return err
	}
	if err := r.finish(); err != nil || r.held == nil {
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

func (r *reader) line(l jsonl.Line) error {
	raw := json.RawMessage(append([]byte(nil), l.Raw...))
	rec := parseRecord(raw)
	if n := rec.rolledBack(); n > 0 {
		if err := r.flush(); err != nil {
			return err
		}
		r.ride(raw, true)
		r.live = r.live[:cutAt(len(r.live), n, func(i int) bool { return r.live[i].prompts })]
		return nil
	}
	r.note(&rec, l)
	if m := rec.twin(); m != nil && !rec.again {
		return r.event(m, raw, &rec)
	}
	if rec.kind == "response_item" && rec.payload.Get("type").Str == "reasoning" && !rec.again {
		if r.twin != nil {
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
	case m.HasPart(content.TypeToolResult):
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
		r.live = append(r.live, turn{r.last[r.base(key)], m.IsPrompt()})
		return nil
	}
	m.Time = rec.time
	if r.twin != nil && r.twin.Role == m.Role && !m.HasPart(content.TypeToolResult) && !m.HasPart(content.TypeToolCall) && m.Kind == transcript.Said && related(r.twin, m) {
		if !r.twin.Time.IsZero() {
			m.Time = r.twin.Time // as in a log that ends between the two
		}
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
	r.ride(raw, true)
	return r.say(m, key, len(r.riding))
}

// named has results know which tools they are of.
func (r *reader) named(m *transcript.Message) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeToolResult {
			c := p.Call()
			c.Name = r.tools[c.ID]
			*p = content.ToolResult(c, p.Text)
		}
	}
}

// cutAt returns how much of a path is left after going back over n turns.
func cutAt(length, n int, prompts func(int) bool) int {
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
func (r *reader) note(rec *record, l jsonl.Line) {
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
		r.conv.Branch = p.Get("git.branch").Str
		if r.conv.Created = times.Parse(p.Get("timestamp").Str); r.conv.Created.IsZero() {
			r.conv.Created = rec.time
		}
		r.conv.Side = p.Get("source.subagent").Exists() || p.Get("thread_source").Str == "subagent"
		if base := p.Get("history_base"); base.Get("thread_id").Str != "" {
			r.conv.Fork = &transcript.Fork{ID: base.Get("thread_id").Str, Records: int(min(base.Get("end_ordinal_exclusive").Uint(), 1<<40))}
		} else if from != "" {
			r.conv.Fork = &transcript.Fork{ID: from}
		}
		if mode := p.Get("history_mode").Str; mode != "" && mode != "legacy" && mode != "paginated" {
			r.to.Problem(l.Problem(fmt.Sprintf("its history mode is %q, which is newer than what is known here", mode)))
		}
	case "response_item": // older logs say the folder only to the model
		if text := p.Get("content.0.text").Str; r.conv.Dir == "" && strings.HasPrefix(text, "<environment_context>") {
			_, rest, _ := strings.Cut(text, "<cwd>")
			r.conv.Dir, _, _ = strings.Cut(rest, "</cwd>")
		}
	case "turn_context":
		if model := p.Get("model").Str; model != "" {
			r.conv.Model = model
		}
		if r.conv.Dir == "" {
			r.conv.Dir = p.Get("cwd").Str
		}
	case "event_msg":
		switch p.Get("type").Str {
		case "task_started", "turn_started":
			r.running = true
		case "task_complete", "turn_complete", "turn_aborted":
			r.running = false
		}
		if name := p.Get("thread_name"); p.Get("type").Str == "thread_name_updated" && name.Type == gjson.String {
			r.conv.Title = name.Str
		}
	}
}

func (r *reader) ride(raw json.RawMessage, opens bool) {
	r.riding = append(r.riding, rider{raw, opens})
}

// think takes what a model thought, for the message that follows.
func (r *reader) think(p gjson.Result) {
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
func (r *reader) event(m *transcript.Message, raw json.RawMessage, rec *record) error {
	opened := slices.ContainsFunc(r.riding, func(rider rider) bool { return rider.opens })
	if r.alone && r.held != nil && !opened && r.held.Role == m.Role && !r.held.HasPart(content.TypeToolResult) && related(m, r.held) {
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

// finish makes a message of what was told or thought when the log ends. It is open, since
// the item that says the same may follow; so is an answer in a turn that has not ended.
func (r *reader) finish() error {
	pending := r.twin != nil || len(r.thoughts) > 0
	if err := r.flush(); err != nil || r.held == nil {
		return err
	}
	r.held.Open = pending || r.running && r.held.Role == "assistant"
	return nil
}

// related reports whether an event tells what an item says.
func related(event, item *transcript.Message) bool {
	a, b := strings.TrimSpace(event.Text()), strings.TrimSpace(item.Text())
	return b == "" || strings.Contains(a, b) || strings.Contains(b, a)
}

// flush makes messages of what was told or thought and is part of no other.
func (r *reader) flush() error {
	if m := r.twin; m != nil {
		r.twin = nil
		kind := map[bool]string{true: "input_text", false: "output_text"}[m.Role == "user"]
		if m.Role == "assistant" && r.thought <= r.twinAt {
			m.Parts = append(r.thoughts, m.Parts...)
			r.thoughts = nil
		}
		key := rawjson.Compact(map[string]any{"type": "message", "role": m.Role, "content": []any{map[string]string{"type": kind, "text": m.Text()}}})
		if err := r.say(m, key, r.twinAt); err != nil {
			return err
		}
		r.thought = max(r.thought-r.twinAt, 0)
		r.alone = false
	}
	if len(r.thoughts) > 0 {
		m := &transcript.Message{Message: content.Message{Role: "assistant", Parts: r.thoughts}}
		r.thoughts = nil
		m.Time = parseRecord(r.riding[r.thought-1].raw).time
		texts := []string{"reasoning"}
		for _, p := range m.Parts {
			texts = append(texts, p.Text)
		}
		return r.say(m, rawjson.Compact(texts), r.thought)
	}
	return nil
}

func (r *reader) parent() string {
	if n := len(r.live); n > 0 {
		return r.live[n-1].id
	}
	return ""
}

// base returns the id of what is said next, if it was not said there before.
func (r *reader) base(key []byte) string {
	if parent := r.parent(); parent != "" {
		return transcript.ChainID(parent, key)
	}
	return transcript.ChainID(r.seed, key)
}

// say hands on the message that is held, and holds m, whose records are the first n that
// ride, without those that belong to the one before.
func (r *reader) say(m *transcript.Message, key []byte, n int) error {
	m.Parent = r.parent()
	base := r.base(key)
	m.ID = base
	if times := r.taken[base]; times > 0 {
		m.ID = transcript.ChainID(base, fmt.Append(nil, times))
	}
	r.taken[base]++
	r.last[base] = m.ID
	m.Format = "codex"
	if m.Role == "assistant" {
		m.Model = r.conv.Model
	}
	split := max(slices.IndexFunc(r.riding[:n], func(rider rider) bool { return rider.opens }), 0)
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
	r.riding = append([]rider(nil), r.riding[n:]...)
	if r.held != nil {
		if err := r.to.Message(r.held); err != nil {
			return err
		}
	}
	r.held, r.alone = m, true
	r.live = append(r.live, turn{m.ID, m.IsPrompt()})
	return nil
}
