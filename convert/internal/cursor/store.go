package cursor

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/tables"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/tidwall/gjson"
)

// The tables of a store.
const (
	blobs = "blobs"
	meta  = "meta"
)

// isStore reports whether a database is the store of a conversation of the command line.
func isStore(db *database.DB) bool {
	if !db.Has(blobs, "id", "data") || !db.Has(meta, "key", "value") {
		return false
	}
	raw, err := (&rows{Reader: tables.Reader{DB: db}}).meta()
	return err == nil && gjson.Get(raw, "agentId").Exists()
}

// meta returns the JSON that describes the conversation of a store, "" if it is damaged.
func (d *rows) meta() (raw string, err error) {
	err = d.DB.Each(database.Query{Table: meta, Columns: []string{"value"}, Rest: "WHERE key = '0'"}, func(r database.Row) error {
		if data, err := hex.DecodeString(strings.TrimSpace(r.Text("value"))); err == nil && json.Valid(data) {
			raw = strings.ToValidUTF8(string(data), "\uFFFD")
		}
		return nil
	})
	return raw, err
}

// blob returns a blob of a store; ok is false if it is missing or damaged.
func (d *rows) blob(id string) (data []byte, ok bool, err error) {
	err = d.Each("blob "+id, database.Query{Table: blobs, Columns: []string{"data"}, Rest: "WHERE id = ?", Args: []any{id}}, func(r database.Row) error {
		switch v := r.Value("data").(type) {
		case []byte:
			data, ok = v, true
		case string:
			data, ok = []byte(v), true
		}
		return nil
	})
	return data, ok, err
}

// What Cursor writes if there is no title and if it chooses the model.
const (
	unnamed = "New Agent"
	routed  = "default"
)

// unless returns a text, "" if it is the one that means none.
func unless(none string, v gjson.Result) string {
	if text := member.String(v); text != none {
		return text
	}
	return ""
}

// milliseconds returns a time, which some versions write as a text of digits.
func milliseconds(v gjson.Result) time.Time {
	if v.Type == gjson.String {
		v = gjson.Parse(v.Str)
	}
	return times.Milliseconds(v)
}

// store reads the conversation of a store.
func (d *rows) store() error {
	raw, err := d.meta()
	if err != nil {
		return err
	}
	v := gjson.Parse(raw)
	s := &said{conv: transcript.Conversation{ID: member.String(v.Get("agentId")), Records: []json.RawMessage{json.RawMessage(raw)}}}
	s.conv.Title = unless(unnamed, v.Get("name"))
	s.conv.Model = unless(routed, v.Get("lastUsedModel"))
	s.conv.Created = milliseconds(v.Get("createdAt"))
	s.conv.BegunBy = member.String(v.Get("subagentInfo.parentAgentId"))
	s.conv.Side = s.conv.BegunBy != ""
	root := member.String(v.Get("latestRootBlobId"))
	if root == "" {
		return nil // nothing was said
	}
	data, ok, err := d.blob(root)
	if err != nil {
		return err
	}
	list, whole := decode(data)
	if !ok || !whole {
		d.Problem("conversation %s: the list of its messages, blob %s, is missing or damaged", s.conv.ID, root)
	}
	for _, f := range list {
		if f.number != 1 {
			continue
		}
		id := hex.EncodeToString(f.data)
		data, ok, err := d.blob(id)
		if err != nil {
			return err
		}
		if !ok || !json.Valid(data) || !gjson.ParseBytes(data).IsObject() {
			d.Problem("conversation %s: a message, blob %s, is missing or not a JSON object", s.conv.ID, id)
			continue
		}
		s.model(json.RawMessage(strings.ToValidUTF8(string(data), "\uFFFD")))
	}
	return s.end(d.To)
}

// A field is a field of a message of Protocol Buffers that has bytes.
type field struct {
	number int
	data   []byte
}

// decode returns the fields of a message that have bytes, and whether all of it is well-formed.
func decode(b []byte) (list []field, whole bool) {
	number := func() (uint64, bool) {
		v, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		return v, n > 0
	}
	for len(b) > 0 {
		tag, ok := number()
		size := uint64(0)
		switch {
		case !ok:
		case tag&7 == 0:
			_, ok = number()
		case tag&7 == 1:
			size = 8
		case tag&7 == 2:
			size, ok = number()
		case tag&7 == 5:
			size = 4
		default:
			ok = false
		}
		if !ok || size > uint64(len(b)) {
			return list, false
		}
		if tag&7 == 2 {
			list = append(list, field{int(tag >> 3), b[:size]})
		}
		b = b[size:]
	}
	return list, true
}

// said is a conversation whose messages have no ids. The id of a message is computed from its content and
// from the messages before it. Context that the program writes does not count for the ids of other
// messages, because it may change.
type said struct {
	conv    transcript.Conversation
	list    []*transcript.Message
	last    string            // the id that the next one follows
	pending []json.RawMessage // records without a message
	tools   map[string]string // names, by the id of the call
	ids     map[string]int    // how many messages have the same context, by the id of the first one

	requests bool // a message of the user states its request: then all that the user asks do

	// of the message that is being read
	asked, informed bool // it is of the user, or has context of the program
	queried         bool // a part of it is marked as what the user asked
}

// add adds a message.
func (s *said) add(m *transcript.Message, raw json.RawMessage) {
	s.pending = append(s.pending, raw)
	if m.Role == "user" && m.Own.Role == "" && s.informed && !s.asked {
		m.Own.Role = "system"
	}
	s.asked, s.informed, s.queried = false, false, false
	if len(m.Parts) == 0 {
		return
	}
	m.Format, m.Records = format, s.pending
	s.pending = nil
	before := cmp.Or(s.last, s.conv.ID)
	if m.Own.Role != "" {
		before = s.conv.ID
	}
	m.ID = transcript.ChainID(before, raw)
	if s.ids == nil {
		s.ids = map[string]int{}
	}
	n := s.ids[m.ID]
	s.ids[m.ID]++
	if n > 0 {
		m.ID = transcript.ChainID(m.ID, strconv.AppendInt(nil, int64(n), 10))
	}
	if m.Own.Role == "" {
		s.last = m.ID
	}
	if n := len(s.list); n > 0 {
		m.Parent = s.list[n-1].ID
	}
	s.list = append(s.list, m)
}

// end passes the conversation to a sink.
func (s *said) end(to transcript.Sink) error {
	if len(s.list) == 0 {
		return nil
	}
	last := s.list[len(s.list)-1]
	last.Records = append(last.Records, s.pending...)
	s.conv.Leaf = last.ID
	for _, m := range s.list {
		if err := to.Message(m); err != nil {
			return err
		}
	}
	return to.End(&s.conv)
}

// model reads a message in the form of the AI SDK's ModelMessage.
func (s *said) model(raw json.RawMessage) {
	v := gjson.ParseBytes(raw)
	m := &transcript.Message{}
	m.Role = "user"
	switch role := v.Get("role").Str; role {
	case "assistant":
		m.Role = role
	case "user", "tool":
		request := role == "user" && member.String(v.Get("providerOptions.cursor.requestId")) != ""
		if v.Get("providerOptions.cursor.isSummary").Bool() {
			m.Kind = transcript.Compaction
		}
		s.asked, s.informed = request || role == "tool" || m.Kind == transcript.Compaction, s.requests
		s.requests = s.requests || request
	default:
		m.Own.Role = cmp.Or(role, "system")
	}
	list := []gjson.Result{v.Get("content")}
	if list[0].IsArray() {
		list = list[0].Array()
	}
	for _, p := range list {
		s.part(m, p, v)
	}
	s.add(m, raw)
}

// part adds a part of a message in the form of the AI SDK.
func (s *said) part(m *transcript.Message, p, message gjson.Result) {
	if m.Role == "assistant" {
		m.Model = cmp.Or(unless(routed, p.Get("providerOptions.cursor.modelName")), m.Model)
	}
	call := content.Call{ID: member.String(p.Get("toolCallId")), Name: member.String(p.Get("toolName"))}
	switch kind := p.Get("type").Str; {
	case p.Type == gjson.String:
		s.text(m, member.String(p))
	case kind == "text":
		s.text(m, member.String(p.Get("text")))
	case kind == "reasoning":
		if text := member.String(p.Get("text")); text != "" {
			m.Parts = append(m.Parts, content.Thinking(text, member.String(p.Get("signature"))))
		}
	case kind == "redacted-reasoning":
		m.Parts = append(m.Parts, parts.Unknown(kind, p))
	case kind == "tool-call":
		call.Arguments = cmp.Or(member.Compact(p.Get("args").Raw), "{}")
		if s.tools == nil {
			s.tools = map[string]string{}
		}
		s.tools[call.ID] = call.Name
		m.Parts = append(m.Parts, content.ToolCall(call))
	case kind == "tool-result":
		call.Failed = message.Get("providerOptions.cursor.highLevelToolCallResult.isError").Bool()
		call.Name = cmp.Or(call.Name, s.tools[call.ID])
		m.Parts = append(m.Parts, content.ToolResult(call, resultOf(p)))
	case p.Exists() && p.Type != gjson.Null:
		m.Parts = append(m.Parts, parts.Other(p))
	}
}

// resultOf returns the result of a call: a text, which experimental_content has too, or JSON.
func resultOf(p gjson.Result) string {
	result := p.Get("result")
	if result.Type == gjson.String {
		return member.String(result)
	}
	var texts []string
	for _, e := range elements(p.Get("experimental_content")) {
		if e.Get("type").Str == "text" {
			texts = append(texts, member.String(e.Get("text")))
		}
	}
	if len(texts) == 0 && result.Exists() {
		return member.Compact(result.Raw)
	}
	return strings.Join(texts, "\n")
}

// text adds a text. Of the user's, only what is asked is content of the message: the
// rest is context of the program, which is in the record.
func (s *said) text(m *transcript.Message, text string) {
	if m.Role == "user" && m.Own.Role == "" && m.Kind == transcript.Said {
		if m.Time.IsZero() {
			m.Time = stamp(text)
		}
		if info, ok := between(text, "user_info"); ok {
			s.informed = true
			_, dir, _ := strings.Cut(info, "Workspace Path: ")
			dir, _, _ = strings.Cut(dir, "\n")
			s.conv.Dir = cmp.Or(s.conv.Dir, strings.TrimSpace(dir))
		}
		query, ok := between(text, "user_query")
		switch {
		case ok && !s.queried: // texts before it are context
			m.Parts = slices.DeleteFunc(m.Parts, func(p content.Part) bool { return p.Type == content.TypeText })
			s.queried, s.asked = true, true
		case !ok && s.queried:
			return
		}
		if ok {
			text = strings.TrimSpace(query)
		}
	}
	if text != "" {
		m.Parts = append(m.Parts, content.Text(text))
	}
}

// between returns the text in the element with a name.
func between(text, name string) (inner string, ok bool) {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	at := strings.LastIndex(rest, "</"+name+">")
	if !ok || at < 0 {
		return "", false
	}
	return rest[:at], true
}

// stamp returns the time in a text such as <timestamp>Tuesday, Jun 2, 2026, 11:20 AM
// (UTC+5:30)</timestamp>, zero if there is none.
func stamp(text string) time.Time {
	inner, _ := between(text, "timestamp")
	when, zone, _ := strings.Cut(inner, "(UTC")
	zone, _, ok := strings.Cut(zone, ")")
	t, err := time.Parse("Monday, Jan 2, 2006, 3:04 PM", strings.TrimSpace(when))
	if err != nil || !ok {
		return time.Time{}
	}
	if zone == "" {
		return t
	}
	hours, minutes, _ := strings.Cut(zone, ":")
	h, err := strconv.Atoi(hours)
	n, _ := strconv.Atoi(minutes)
	if err != nil || h < -14 || h > 14 {
		return time.Time{}
	}
	if strings.HasPrefix(hours, "-") {
		n = -n
	}
	return t.Add(-time.Duration(h)*time.Hour - time.Duration(n)*time.Minute)
}
