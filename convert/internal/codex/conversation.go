package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// note records the properties of the conversation in a record.
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
		if r.conv.BegunBy = p.Get("source.subagent.thread_spawn.parent_thread_id").Str; r.conv.BegunBy == "" && p.Get("thread_source").Str == "subagent" {
			r.conv.BegunBy = p.Get("parent_thread_id").Str
		}
		if r.conv.BegunBy != "" { // its first messages may be copies, but it is no fork
		} else if base := p.Get("history_base"); base.Get("thread_id").Str != "" {
			r.conv.Fork = &transcript.Fork{ID: base.Get("thread_id").Str, Records: int(min(base.Get("end_ordinal_exclusive").Uint(), 1<<40))}
		} else if from != "" {
			r.conv.Fork = &transcript.Fork{ID: from}
		}
		if mode := p.Get("history_mode").Str; mode != "" && mode != "legacy" && mode != "paginated" {
			r.to.Problem(l.Problem(fmt.Sprintf("its history mode %q is newer than the supported ones", mode)))
		}
	case "response_item": // older logs have the folder only in an item for the model
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
		r.begins(p)
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

// spawned records which other assistants the results in m began.
func (r *reader) spawned(m *transcript.Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != content.TypeToolResult || !strings.HasSuffix(r.tools[p.Call().ID], "spawn_agent") {
			continue
		}
		if text := strings.TrimSpace(p.Text); json.Valid([]byte(text)) {
			r.began(gjson.Get(text, "agent_id").Str, p.Call().ID)
		}
	}
}

// begins records which other assistant an event says that a call began.
func (r *reader) begins(p gjson.Result) {
	kind := p.Get("type").Str
	if kind == "item_completed" {
		p = p.Get("item")
		kind = p.Get("type").Str
	}
	switch kind {
	case "collab_agent_spawn_end":
		if by := p.Get("sender_thread_id").Str; r.conv.BegunBy != "" && by != "" && by != r.conv.ID {
			return // a copy of an event of the conversation that began this one
		}
		r.began(p.Get("new_thread_id").Str, p.Get("call_id").Str)
	case "sub_agent_activity", "SubAgentActivity":
		if p.Get("kind").Str == "started" {
			r.began(p.Get("agent_thread_id").Str, p.Get("event_id").Str+p.Get("id").Str)
		}
	case "CollabAgentToolCall":
		if tool := p.Get("tool").Str; tool == "spawnAgent" || tool == "spawn_agent" {
			r.began(p.Get("receiver_thread_ids.0").Str, p.Get("id").Str)
		}
	}
}

// began records that a call began a conversation. The first one counts.
func (r *reader) began(conversation, call string) {
	if conversation == "" || call == "" || r.conv.Began[conversation] != "" {
		return
	}
	if r.conv.Began == nil {
		r.conv.Began = map[string]string{}
	}
	r.conv.Began[conversation] = call
}
