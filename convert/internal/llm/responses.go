package llm

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/tables"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/tidwall/gjson"
)

// A conversation is what the tables say about one before its responses are read.
type conversation struct {
	id, name, model string
	responses       []string // their ids
	records         []json.RawMessage

	thread    bool
	tip, fork string // of the thread
}

// ReadDatabase reads all conversations of a database, those of the first versions first, the others in
// the order of their ids.
func ReadDatabase(db *database.DB, to transcript.Sink) error {
	d := &reader{Reader: tables.Reader{DB: db, To: to}}
	for _, t := range []*table{&olderLog, &logs} {
		if err := d.logs(t); err != nil {
			return err
		}
	}
	list, err := d.conversations()
	if err != nil {
		return err
	}
	if d.calls, err = d.ids(&toolCalls); err != nil {
		return err
	}
	if d.results, err = d.ids(&toolResults); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(list)) {
		if err := d.conversation(list, list[id]); err != nil {
			return err
		}
	}
	return nil
}

// conversations returns what the tables have, by the ids of conversations. A response without a
// conversation is one of its own.
func (d *reader) conversations() (map[string]*conversation, error) {
	list := map[string]*conversation{}
	of := func(id string) *conversation {
		c := list[id]
		if c == nil {
			c = &conversation{id: id}
			list[id] = c
		}
		return c
	}
	turned := map[string]bool{}
	if hasThreads(d.DB) {
		if err := d.each("the table turns", &table{"turns", []string{"id"}, nil}, "", nil, func(row database.Row) error {
			turned[row.Text("id")] = true
			return nil
		}); err != nil {
			return nil, err
		}
		if err := d.identified(&threads, func(id string, row database.Row) error {
			c := of(id)
			c.thread, c.name, c.tip, c.fork = true, row.Text("name"), row.Text("tip_message_hash"), row.Text("forked_from")
			c.records = append(c.records, (&record{}).with("thread", threads.object(row)))
			return nil
		}); err != nil {
			return nil, err
		}
	}
	if !hasResponses(d.DB) {
		return list, nil
	}
	if err := d.identified(&table{"responses", []string{"id", "conversation_id"}, nil}, func(id string, row database.Row) error {
		if !turned[id] {
			c := of(cmp.Or(row.Text("conversation_id"), id))
			c.responses = append(c.responses, id)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, c := range list {
		slices.Sort(c.responses)
	}
	return list, d.each("the table conversations", &conversations, "", nil, func(row database.Row) error {
		if c := list[row.Text("id")]; c != nil {
			// A thread of a conversation that began before threads has the name of its first turn.
			c.name, c.model = cmp.Or(row.Text("name"), c.name), row.Text("model")
			c.records = append(c.records, (&record{}).with("conversation", conversations.object(row)))
		}
		return nil
	})
}

// conversation reads a conversation: its thread, and the responses that are missing in the thread.
func (d *reader) conversation(list map[string]*conversation, c *conversation) error {
	said, err := d.responses(c)
	if err != nil {
		return err
	}
	var t thread
	if c.thread {
		if t, err = d.thread(list, c); err != nil {
			return err
		}
	}
	last := ""
	if n := t.join(said); n > 0 {
		last = said[n-1].last()
		said = said[n:]
	}
	if t.tip == nil && len(said) == 0 {
		return nil
	}
	conv := transcript.Conversation{ID: c.id, Title: c.name, Model: c.model, Records: c.records}
	all := t.messages
	system := ""
	for _, r := range said {
		if first := r.messages[0]; first.Own.Role == "system" {
			if first.Text() == system {
				r.messages = r.messages[1:]
				r.messages[0].Records = first.Records
			}
			system = first.Text()
		}
		for _, m := range r.messages {
			m.Parent = last
			last = m.ID
			all = append(all, m)
		}
	}
	if t.tip != nil {
		last = t.tip.ID
		if c.fork != "" {
			conv.Fork = &transcript.Fork{ID: c.fork}
		}
	}
	conv.Leaf = last
	for _, m := range all {
		if m.Model != "" {
			conv.Model = m.Model
		}
		if conv.Created.IsZero() || !m.Time.IsZero() && m.Time.Before(conv.Created) {
			conv.Created = m.Time
		}
		if err := d.To.Message(m); err != nil {
			return err
		}
	}
	return d.To.End(&conv)
}

// A response is the messages of a row of responses, of which the first one has the record. The
// last one is the answer.
type response struct{ messages []*transcript.Message }

func (r *response) last() string { return r.messages[len(r.messages)-1].ID }

// responses reads the responses of a conversation.
func (d *reader) responses(c *conversation) (list []*response, err error) {
	for _, id := range c.responses {
		err := d.each("response "+id, &responses, "WHERE id = ?", []any{id}, func(row database.Row) error {
			r, err := d.response(id, row)
			if err == nil {
				list = append(list, r)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// response reads a response.
func (d *reader) response(id string, row database.Row) (*response, error) {
	where := "response " + id
	var rec record
	at := times.Of(gjson.Result{Type: gjson.String, Str: row.Text("datetime_utc")})
	r := &response{}
	add := func(id, role string, list []content.Part) {
		m := message(id, role, list)
		m.Time = at
		r.messages = append(r.messages, m)
	}

	system, err := d.fragmentsOf(where, "system_fragments", id, &rec)
	if err != nil {
		return nil, err
	}
	var instructions []string
	for _, text := range append(system, row.Text("system")) {
		if text = strings.TrimSpace(text); text != "" {
			instructions = append(instructions, text)
		}
	}
	if len(instructions) > 0 {
		add(transcript.ChainID(id, []byte("system")), "system", []content.Part{content.Text(strings.Join(instructions, "\n\n"))})
	}

	var results []content.Part
	returned := map[string]bool{} // attachments of results
	for _, result := range d.results[id] {
		if err := d.each(where, &toolResults, "WHERE id = ?", []any{result}, func(row database.Row) error {
			rec.add("tool_results", toolResults.object(row))
			call := content.Call{ID: row.Text("tool_call_id"), Name: row.Text("name"), Failed: row.Text("exception") != ""}
			results = append(results, content.ToolResult(call, cmp.Or(row.Text("output"), row.Text("exception"))))
			return nil
		}); err != nil {
			return nil, err
		}
		files, err := d.attachmentsOf(where, "tool_results_attachments", "tool_result_id", result, &rec)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			returned[f.id] = true
			results = append(results, f.part)
		}
	}
	if len(results) > 0 {
		add(transcript.ChainID(id, []byte("tool")), "tool", results)
	}

	said, err := d.fragmentsOf(where, "prompt_fragments", id, &rec)
	if err != nil {
		return nil, err
	}
	if text := row.Text("prompt"); text != "" {
		said = append(said, text)
	}
	var prompt []content.Part
	if text := strings.Join(said, "\n"); text != "" {
		prompt = append(prompt, content.Text(text))
	}
	files, err := d.attachmentsOf(where, "prompt_attachments", "response_id", id, &rec)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !returned[f.id] { // llm sends those of results with the prompt, and stores them twice
			prompt = append(prompt, f.part)
		}
	}
	if len(prompt) > 0 {
		add(transcript.ChainID(id, []byte("user")), "user", prompt)
	}

	var answer []content.Part
	if text := row.Text("reasoning"); text != "" {
		answer = append(answer, content.Thinking(text, ""))
	}
	if text := row.Text("response"); text != "" {
		answer = append(answer, content.Text(text))
	}
	for _, call := range d.calls[id] {
		if err := d.each(where, &toolCalls, "WHERE id = ?", []any{call}, func(row database.Row) error {
			rec.add("tool_calls", toolCalls.object(row))
			answer = append(answer, content.ToolCall(callOf(row.Text("tool_call_id"), row.Text("name"), row.Text("arguments"))))
			return nil
		}); err != nil {
			return nil, err
		}
	}
	add(id, "assistant", answer)
	r.messages[len(r.messages)-1].Model = cmp.Or(row.Text("resolved_model"), row.Text("model"))

	if err := d.schema(where, row.Text("schema_id"), &rec); err != nil {
		return nil, err
	}
	r.messages[0].Records = []json.RawMessage{rec.with("response", responses.object(row))}
	return r, nil
}

// callOf returns a call. Its arguments are JSON.
func callOf(id, name, arguments string) content.Call {
	return content.Call{ID: id, Name: name, Arguments: cmp.Or(member.Compact(arguments), "{}")}
}

// schema adds the schema of an answer to a record.
func (d *reader) schema(where, id string, to *record) error {
	if id == "" {
		return nil
	}
	return d.each(where, &schemas, "WHERE id = ?", []any{id}, func(row database.Row) error {
		to.add("schemas", schemas.object(row))
		return nil
	})
}

// fragmentsOf returns the texts of the fragments that a table names for a response.
func (d *reader) fragmentsOf(where, name, id string, to *record) (texts []string, err error) {
	var list []int64
	named := table{name, []string{"fragment_id", "order"}, nil}
	err = d.each(where, &named, `WHERE response_id = ? ORDER BY "order"`, []any{id}, func(row database.Row) error {
		to.add(name, named.object(row))
		list = append(list, row.Int("fragment_id"))
		return nil
	})
	for _, fragment := range list {
		var text string
		if err == nil {
			text, err = d.fragment(where, fragment, to)
		}
		texts = append(texts, text)
	}
	return texts, err
}

// An attached is an attachment with its id.
type attached struct {
	id   string
	part content.Part
}

// attachmentsOf returns the attachments that a table names for a row.
func (d *reader) attachmentsOf(where, name, column string, id any, to *record) (list []attached, err error) {
	var ids []string
	named := table{name, []string{"attachment_id", "order"}, nil}
	err = d.each(where, &named, "WHERE "+column+` = ? ORDER BY "order"`, []any{id}, func(row database.Row) error {
		to.add(name, named.object(row))
		ids = append(ids, row.Text("attachment_id"))
		return nil
	})
	for _, id := range ids {
		if err != nil {
			break
		}
		var p content.Part
		var ok bool
		if p, ok, err = d.attachment(where, id, to); ok {
			list = append(list, attached{id, p})
		}
	}
	return list, err
}
