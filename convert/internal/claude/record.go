package claude

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// A record is a decoded record.
type record struct {
	kind, subtype, uuid, session, time string

	parent, logical      gjson.Result
	side, meta, compact  bool
	message, attachment  gjson.Result
	cwd, version, agent  string
	leaf, title, summary string
	forkedFrom, metadata gjson.Result
	data                 gjson.Result // of progress
	result               gjson.Result // of a tool, as the program has it
	branch               string
	plan                 bool // the prompt that the program creates from a plan
}

func parseRecord(raw []byte) (r record) {
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "type":
			r.kind = value.Str
		case "subtype":
			r.subtype = value.Str
		case "uuid":
			r.uuid = cmp.Or(r.uuid, strings.Clone(value.Str)) // the first one, as for the writer
		case "sessionId":
			r.session = cmp.Or(r.session, strings.Clone(value.Str))
		case "timestamp":
			r.time = value.Str
		case "parentUuid":
			if !r.parent.Exists() {
				r.parent = value
			}
		case "logicalParentUuid":
			r.logical = value
		case "isSidechain":
			r.side = value.Bool()
		case "isMeta":
			r.meta = value.Bool()
		case "isCompactSummary":
			r.compact = value.Bool()
		case "message":
			r.message = value
		case "attachment":
			r.attachment = value
		case "cwd":
			r.cwd = strings.Clone(value.Str)
		case "version":
			r.version = strings.Clone(value.Str)
		case "agentId":
			r.agent = strings.Clone(value.Str)
		case "leafUuid":
			r.leaf = strings.Clone(value.Str)
		case "customTitle", "aiTitle":
			r.title = strings.Clone(value.Str)
		case "summary":
			r.summary = strings.Clone(value.Str)
		case "forkedFrom":
			r.forkedFrom = value
		case "compactMetadata":
			r.metadata = value
		case "data":
			r.data = value
		case "toolUseResult":
			r.result = value
		case "gitBranch":
			r.branch = strings.Clone(value.Str)
		case "planContent":
			r.plan = value.Str != ""
		}
		return true
	})
	return r
}

// saying returns the Anthropic message in a record, "" if it has none. Messages
// of the user while a turn is running are attachments.
func (r *record) saying() string {
	switch r.kind {
	case "user", "assistant":
		if r.message.Exists() && !r.local() {
			return r.message.Raw
		}
	case "attachment":
		if prompt := r.attachment.Get("prompt"); r.attachment.Get("type").Str == "queued_command" &&
			(prompt.Type == gjson.String && prompt.Str != "" || prompt.IsArray()) {
			return `{"role":"user","content":` + prompt.Raw + `}`
		}
	}
	return ""
}

// prompts reports whether a record is a message of the user, not a result of
// tools.
func (r *record) prompts() bool { return r.kind == "user" && !r.meta && !r.compact && !r.plan }

// ends reports whether an answer has no records after this one.
func (r *record) ends() bool {
	switch r.message.Get("stop_reason").Str {
	case "", "tool_use", "pause_turn":
		return false
	}
	said := r.message.Get("content")
	if !said.IsArray() {
		return true
	}
	blocks := said.Array()
	return len(blocks) > 0 && blocks[len(blocks)-1].Get("type").Str == "text"
}

// linkOf returns the member with the predecessor of a record.
func linkOf(record []byte) string {
	if v := gjson.GetManyBytes(record, "subtype", "parentUuid"); v[0].Str == "compact_boundary" && v[1].Str == "" {
		return "logicalParentUuid"
	}
	return "parentUuid"
}

// says reports whether a record has content.
func says(record []byte) bool { return contentOf(record) != nil }

// isPart reports whether a message has a part of the content of a record.
func isPart(m *transcript.Message, record []byte) bool {
	said := contentOf(record)
	return len(said.Parts) == 0 || slices.ContainsFunc(said.Parts, func(p content.Part) bool {
		return slices.ContainsFunc(m.Parts, func(q content.Part) bool {
			return p.Type == q.Type && p.Text == q.Text && p.Call() == q.Call()
		})
	})
}

// contentOf returns the content of a record, nil if it has none.
func contentOf(record []byte) *content.Message {
	r := parseRecord(record)
	raw := r.saying()
	if raw == "" {
		return nil
	}
	said, err := content.Parse(content.Anthropic, []byte(raw), nil)
	if err != nil {
		return nil
	}
	return said
}
