// Package codex reads and writes the rollouts of OpenAI's Codex: a log with one
// record per line. The items for the model are messages. Events that repeat
// them for the user, and all other records, are kept with a message as riders.
// A record before a message in its turn belongs to that message, so that a path
// that ends earlier does not contain it.
//
// The event thread_rolled_back discards the last turns, as many as it says:
// they become a side branch. The id of a message is computed from its content,
// the messages before it, and the conversation in which it began, so the
// messages of a copy have the ids of the original.
//
// A rollout of a sub-agent names the thread that began it in source.subagent.thread_spawn, and
// may begin with a copy of that thread's messages. Which call began it is in the other rollout:
// the events collab_agent_spawn_end and sub_agent_activity, the item CollabAgentToolCall of
// paginated ones, or the result of spawn_agent (SubAgentSource, CollabAgentSpawnEndEvent and their
// like in codex-rs/protocol of openai/codex; these names are in the program 0.169.0).
//
// Write uses the older kind of records, without ordinals, which every version
// reads.
package codex

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/riders"
	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/internal/state"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

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

// A reader converts records to messages.
type reader struct {
	to    transcript.Sink
	lines *jsonl.Reader
	conv  transcript.Conversation
	seed  string

	live  []turn
	taken map[string]int      // how often a message occurred after the same messages
	last  map[string]string   // its id at the last occurrence
	held  *transcript.Message // not passed on yet, because the next records may belong to it
	alone bool                // it has no event for the user yet

	running  bool              // a turn began and has not ended
	tools    map[string]string // names of the called tools, by id of the call
	riding   riders.List
	twin     *transcript.Message // the message of an event for the user that has no item for the model yet
	twinAt   int                 // how many riders precede it
	thoughts []content.Part
	thought  int // how many riders precede the last thinking
}

type turn struct {
	id      string
	prompts bool
}

func newReader(to transcript.Sink) *reader {
	r := &reader{to: to, taken: map[string]int{}, tools: map[string]string{}, last: map[string]string{}}
	r.lines = jsonl.NewReader(to, r.line)
	return r
}

func Read(in io.Reader, to transcript.Sink) error { return sink.ReadTail(newReader(to), in, to) }

// NewTail returns a reader of a growing rollout.
func NewTail(to transcript.Sink) sink.Tail { return newReader(to) }

// Read implements [sink.Tail].
func (r *reader) Read(in io.Reader) error { return r.lines.Read(in) }

// Fields implements [sink.Tail].
func (r *reader) Fields(c *fields.Coder) {
	r.lines.Fields(c)
	state.Conversation(c, &r.conv)
	c.String(&r.seed)
	fields.Slice(c, &r.live, func(t *turn) {
		c.String(&t.id)
		c.Bool(&t.prompts)
	})
	fields.Map(c, &r.taken, c.Int)
	fields.Map(c, &r.last, c.String)
	state.Message(c, &r.held)
	c.Bool(&r.alone)
	c.Bool(&r.running)
	fields.Map(c, &r.tools, c.String)
	r.riding.Fields(c)
	state.Message(c, &r.twin)
	c.Int(&r.twinAt)
	state.Parts(c, &r.thoughts)
	c.Int(&r.thought)
}

// End implements [sink.Tail].
func (r *reader) End(to transcript.Sink) error {
	r = r.copy(to)
	if err := r.finish(); err != nil || r.held == nil {
		return err
	}
	r.held.Records = append(r.held.Records, r.riding.Records()...)
	if err := to.Message(r.held); err != nil {
		return err
	}
	if n := len(r.live); n > 0 {
		r.conv.Leaf = r.live[n-1].id
	}
	return to.End(&r.conv)
}

// copy returns a copy for the end of the log, which passes messages to to. It shares what
// only records change.
func (r *reader) copy(to transcript.Sink) *reader {
	c := *r
	c.to = to
	c.conv.Records = slices.Clip(r.conv.Records)
	c.conv.Began = maps.Clone(r.conv.Began)
	c.live, c.riding, c.thoughts = slices.Clip(r.live), slices.Clip(r.riding), slices.Clip(r.thoughts)
	if r.held != nil {
		held := *r.held
		held.Records = slices.Clip(held.Records)
		c.held = &held
	}
	if r.twin != nil || len(r.thoughts) > 0 {
		c.taken, c.last = maps.Clone(r.taken), maps.Clone(r.last)
	}
	if r.twin != nil {
		twin := *r.twin
		c.twin = &twin
	}
	return &c
}

func (r *reader) line(l jsonl.Line) error {
	raw := json.RawMessage(append([]byte(nil), l.Raw...))
	rec := parseRecord(raw)
	if n := rec.rolledBack(); n > 0 {
		if err := r.flush(); err != nil {
			return err
		}
		r.riding.Add(raw, true)
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
		r.riding.Add(raw, true)
		r.think(rec.payload)
		return nil
	}
	m, key := rec.says()
	switch {
	case m == nil:
		r.riding.Add(raw, rec.opens())
		return nil
	case m.HasPart(content.TypeToolResult):
		r.named(m)
		r.spawned(m)
	case m.Role == "assistant":
		for i := range m.Parts {
			if c := m.Parts[i].Call(); c.ID != "" && m.Parts[i].Type == content.TypeToolCall {
				r.tools[c.ID] = c.Name
			}
		}
	}
	if rec.again {
		r.riding.Add(raw, true)
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
	r.riding.Add(raw, true)
	return r.say(m, key, len(r.riding))
}

// named sets the tools of the results in m.
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

// think keeps a model's thinking for the next message.
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

// event handles an event of a message for the user: the held one, a later one, or
// one without an item for the model.
func (r *reader) event(m *transcript.Message, raw json.RawMessage, rec *record) error {
	if r.alone && r.held != nil && !r.riding.Opened() && r.held.Role == m.Role && !r.held.HasPart(content.TypeToolResult) && related(m, r.held) {
		r.alone = false
		r.riding.Add(raw, false)
		return nil
	}
	if r.twin != nil || m.Role == "user" {
		if err := r.flush(); err != nil {
			return err
		}
	}
	m.Time = rec.time
	r.riding.Add(raw, true)
	r.twin, r.twinAt = m, len(r.riding)
	return nil
}

// finish makes a message of pending events and thoughts at the end of the log. It is
// open, since the matching item may follow; so is a reply in an unfinished turn.
func (r *reader) finish() error {
	pending := r.twin != nil || len(r.thoughts) > 0
	if err := r.flush(); err != nil || r.held == nil {
		return err
	}
	r.held.Open = pending || r.running && r.held.Role == "assistant"
	return nil
}

// related reports whether an event and an item are the same message.
func related(event, item *transcript.Message) bool {
	a, b := strings.TrimSpace(event.Text()), strings.TrimSpace(item.Text())
	return b == "" || strings.Contains(a, b) || strings.Contains(b, a)
}

// flush makes messages of pending events and thoughts that belong to no item.
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
		m.Time = parseRecord(r.riding[r.thought-1].Raw).time
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

// base returns the id of the next message, if its content is new at this place.
func (r *reader) base(key []byte) string {
	if parent := r.parent(); parent != "" {
		return transcript.ChainID(parent, key)
	}
	return transcript.ChainID(r.seed, key)
}

// say passes on the held message and holds m. The records of m are the first n
// of the pending ones, without those of the message before.
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
	r.riding.Assign(n, m, r.held, &r.conv)
	if r.held != nil {
		if err := r.to.Message(r.held); err != nil {
			return err
		}
	}
	r.held, r.alone = m, true
	r.live = append(r.live, turn{m.ID, m.IsPrompt()})
	return nil
}
