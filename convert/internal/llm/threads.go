package llm

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/tidwall/gjson"
)

// A thread is the messages of a thread, each after its parent.
type thread struct {
	messages []*transcript.Message
	tip      *transcript.Message // where it continues, nil if there are none
}

// A chain reads the messages of a thread.
type chain struct {
	*reader
	where string
	scope string                         // the id of the first thread in the chain of forks
	last  map[string]*transcript.Message // the last message that was read from a row, by its hash
	list  []*transcript.Message
}

// thread reads the thread of a conversation.
func (d *reader) thread(list map[string]*conversation, c *conversation) (thread, error) {
	t := &chain{reader: d, where: "thread " + c.id, scope: c.id, last: map[string]*transcript.Message{}}
	passed := map[string]bool{}
	for o := c; o != nil && o.fork != "" && !passed[o.id]; o = list[o.fork] {
		passed[o.id] = true
		t.scope = o.fork
	}
	type turn struct {
		parent, tip, model string
		at                 time.Time
		record             json.RawMessage
	}
	var calls []turn
	err := d.each(t.where, &turns, "WHERE thread_id = ? ORDER BY id", []any{c.id}, func(row database.Row) error {
		var rec record
		if err := d.schema(t.where, row.Text("schema_id"), &rec); err != nil {
			return err
		}
		calls = append(calls, turn{row.Text("parent_message_hash"), row.Text("tip_message_hash"), cmp.Or(row.Text("resolved_model"), row.Text("model")),
			times.Of(gjson.Result{Type: gjson.String, Str: row.Text("datetime_utc")}), rec.with("turn", turns.object(row))})
		return nil
	})
	if err != nil {
		return thread{}, err
	}
	for _, call := range calls {
		if err := t.read(call.parent, "", call.at); err != nil {
			return thread{}, err
		}
		if err := t.read(call.tip, call.model, call.at); err != nil {
			return thread{}, err
		}
		if m := cmp.Or(t.last[call.tip], t.last[call.parent]); m != nil {
			m.Records = append(m.Records, call.record)
		} else {
			c.records = append(c.records, call.record)
		}
	}
	if err := t.read(c.tip, "", time.Time{}); err != nil {
		return thread{}, err
	}
	tip := t.last[c.tip]
	if tip == nil && len(t.list) > 0 {
		tip = t.list[len(t.list)-1]
	}
	return thread{t.list, tip}, nil
}

// read reads the message with a hash and the messages before it, except those that were read already.
func (t *chain) read(hash, model string, at time.Time) error {
	type row struct {
		hash, parent, role string
		raw                json.RawMessage
	}
	var list []row
	passed := map[string]bool{}
	for next := hash; next != "" && t.last[next] == nil && !passed[next]; {
		passed[next] = true
		n := len(list)
		if err := t.each(t.where, &messages, "WHERE hash = ?", []any{next}, func(r database.Row) error {
			list = append(list, row{next, r.Text("parent_hash"), r.Text("role"), messages.object(r)})
			return nil
		}); err != nil {
			return err
		}
		if len(list) == n {
			t.Problem("%s: the message %s is missing", t.where, next)
			break
		}
		next = list[n].parent
	}
	for _, r := range slices.Backward(list) {
		m := message(t.id(r.hash), r.role, nil)
		m.Time, m.Parent = at, t.id(r.parent)
		if parent := t.last[r.parent]; parent != nil {
			m.Parent = parent.ID
		}
		if m.Role == "assistant" {
			m.Model = model
		}
		var rec record
		if err := t.parts(m, r.hash, &rec); err != nil {
			return err
		}
		m.Records = []json.RawMessage{rec.with("message", r.raw)}
		all := divided(m)
		t.list = append(t.list, all...)
		t.last[r.hash] = all[len(all)-1]
	}
	return nil
}

// id returns the id of the message with a hash, "" for none.
func (t *chain) id(hash string) string {
	if hash == "" {
		return ""
	}
	return transcript.ChainID(t.scope, []byte(hash))
}

// parts reads the parts of a message.
func (t *chain) parts(m *transcript.Message, hash string, rec *record) error {
	where := t.where + ", message " + hash
	type row struct {
		kind, text, payload string
		raw                 json.RawMessage
	}
	var list []row
	if err := t.each(where, &partsTable, "WHERE message_hash = ? ORDER BY position", []any{hash}, func(r database.Row) error {
		raw := partsTable.object(r)
		rec.add("parts", raw)
		list = append(list, row{r.Text("type"), r.Text("text"), r.Text("payload"), raw})
		return nil
	}); err != nil {
		return err
	}
	for i, r := range list {
		v := gjson.Parse(r.payload)
		if r.payload != "" && !(json.Valid([]byte(r.payload)) && v.IsObject()) {
			t.Problem("%s, part %d: the payload is not an object", where, i+1)
			v = gjson.Result{}
		}
		switch r.kind {
		case "text", "reasoning":
			text, err := t.text(where, r.text, v.Get("text_ref"), rec)
			if err != nil {
				return err
			}
			switch {
			case text == "":
			case r.kind == "text":
				m.Parts = append(m.Parts, content.Text(text))
			default:
				m.Parts = append(m.Parts, content.Thinking(text, ""))
			}
		case "tool_call":
			m.Parts = append(m.Parts, content.ToolCall(callOf(v.Get("tool_call_id").String(), v.Get("name").String(), v.Get("arguments").Raw)))
		case "tool_result":
			call := content.Call{ID: v.Get("tool_call_id").String(), Name: v.Get("name").String(), Failed: v.Get("exception").String() != ""}
			m.Parts = append(m.Parts, content.ToolResult(call, cmp.Or(member.String(v.Get("output")), v.Get("exception").String())))
			for _, ref := range v.Get("attachments").Array() {
				if err := t.attach(m, where, ref, rec); err != nil {
					return err
				}
			}
		case "attachment":
			if err := t.attach(m, where, v.Get("attachment"), rec); err != nil {
				return err
			}
		default:
			m.Parts = append(m.Parts, unknown(r.kind, r.raw))
		}
	}
	return nil
}

// attach adds an attachment to a message.
func (t *chain) attach(m *transcript.Message, where string, ref gjson.Result, rec *record) error {
	p, ok, err := t.attachment(where, ref.Get("id").String(), rec)
	if ok {
		m.Parts = append(m.Parts, p)
	}
	return err
}

// text returns a text, which may have fragments.
func (t *chain) text(where, text string, pieces gjson.Result, rec *record) (string, error) {
	if !pieces.IsArray() {
		return text, nil
	}
	var b strings.Builder
	for _, piece := range pieces.Array() {
		if id := piece.Get("fragment"); id.Exists() && !piece.Get("literal").Exists() {
			text, err := t.fragment(where, id.Int(), rec)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		} else {
			b.WriteString(piece.Get("literal").String())
		}
	}
	return b.String(), nil
}

// join gives each message that a response has too the id, time, parts and records of the response, and
// returns how many of the responses are in the thread.
func (t *thread) join(said []*response) (n int) {
	if t.tip == nil || len(said) == 0 {
		return 0
	}
	renamed := map[string]string{}
	same := func(m, as *transcript.Message) bool {
		return m.Role == as.Role && m.Own.Role == as.Own.Role && m.Text() == as.Text()
	}
	byID := map[string]*transcript.Message{}
	for _, m := range t.messages {
		byID[m.ID] = m
	}
	var path []*transcript.Message
	for m := t.tip; m != nil; m = byID[m.Parent] {
		delete(byID, m.ID) // a damaged database may have a cycle
		path = append(path, m)
	}
	slices.Reverse(path)
	from := 0
	for i, m := range path {
		if n == len(said) {
			break
		}
		r := said[n].messages
		if m.Role != "assistant" || !same(m, r[len(r)-1]) {
			continue
		}
		for k := 0; k < len(r) && i-k >= from && same(path[i-k], r[len(r)-1-k]); k++ {
			is, as := path[i-k], r[len(r)-1-k]
			renamed[is.ID] = as.ID
			is.ID, is.Time = as.ID, as.Time
			if len(as.Parts) >= len(is.Parts) {
				is.Parts = as.Parts // llm copies responses to a thread without their attachments and failures
			}
			if as.Model != "" {
				is.Model = as.Model
			}
		}
		m.Records = append(m.Records, r[0].Records...)
		from = i + 1
		n++
	}
	for _, m := range t.messages {
		m.Parent = cmp.Or(renamed[m.Parent], m.Parent)
	}
	return n
}
