package copilot

import (
	"cmp"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// An event is a line of a session.
type event struct {
	kind, id string
	agent    string // the assistant that it is of, "" for the main one
	time     time.Time
	data     gjson.Result
}

func parse(raw []byte) event {
	v := gjson.GetManyBytes(raw, "type", "id", "agentId", "timestamp", "data")
	agent := v[2].Str
	if agent == "" { // older versions have only the call that began the other assistant
		agent = v[4].Get("parentToolCallId").Str
	}
	return event{v[0].Str, v[1].Str, agent, times.Parse(v[3].Str), v[4]}
}

// opens reports whether an event without a message belongs to the message after it, not to
// the one before.
func (e event) opens() bool {
	switch e.kind {
	case "session.resume", "session.model_change", "session.context_changed", "session.mode_changed", "session.compaction_start",
		"session.context_cleared", "system.message", "user.message", "assistant.turn_start", "tool.user_requested",
		"tool.execution_start", "subagent.started", "subagent.selected", "hook.start", "skill.invoked":
		return true
	}
	return false
}

// says returns the message of an event, nil if it has none. The name of a result's tool is
// not in its event.
func (e event) says() *transcript.Message {
	m := &transcript.Message{Message: content.Message{Role: "user"}}
	add := func(list ...content.Part) { m.Parts = append(m.Parts, list...) }
	switch e.kind {
	case "user.message":
		if strings.HasPrefix(e.data.Get("source").Str, "skill-") { // not shown to the user
			return nil
		}
		if text := member.String(e.data.Get("content")); text != "" {
			add(content.Text(text))
		}
		e.data.Get("attachments").ForEach(func(_, v gjson.Result) bool {
			add(attached(v))
			return true
		})
	case "assistant.message":
		m.Role, m.Model = "assistant", e.data.Get("model").Str
		if text := member.String(e.data.Get("reasoningText")); text != "" {
			add(content.Thinking(text, ""))
		}
		if text := member.String(e.data.Get("content")); text != "" {
			add(content.Text(text))
		}
		e.data.Get("toolRequests").ForEach(func(_, v gjson.Result) bool {
			arguments := v.Get("arguments")
			text := member.Compact(arguments.Raw)
			if arguments.Type == gjson.String {
				text = member.String(arguments)
			}
			add(content.ToolCall(content.Call{ID: v.Get("toolCallId").Str, Name: member.String(v.Get("name")), Arguments: cmp.Or(text, "{}")}))
			return true
		})
	case "tool.execution_complete":
		add(toolResult(e.data)...)
	case "session.compaction_complete":
		m.Kind = transcript.Compaction
		if text := member.String(e.data.Get("summaryContent")); text != "" && e.data.Get("success").Type != gjson.False {
			add(content.Text(text))
		}
	}
	if len(m.Parts) == 0 {
		return nil
	}
	return m
}
