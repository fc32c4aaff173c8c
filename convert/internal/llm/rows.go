package llm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/tables"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A table is a table whose rows are kept in records.
type table struct {
	name    string
	columns []string
	json    []string // those of the columns that have JSON
}

var (
	conversations = table{"conversations", []string{"id", "name", "model"}, nil}
	responses     = table{"responses", []string{"id", "model", "resolved_model", "prompt", "system", "prompt_json", "options_json", "response", "reasoning", "response_json",
		"conversation_id", "duration_ms", "datetime_utc", "input_tokens", "output_tokens", "token_details", "schema_id"}, []string{"prompt_json", "options_json", "response_json", "token_details"}}
	toolCalls   = table{"tool_calls", []string{"id", "response_id", "tool_id", "name", "arguments", "tool_call_id"}, []string{"arguments"}}
	toolResults = table{"tool_results", []string{"id", "response_id", "tool_id", "name", "output", "tool_call_id", "instance_id", "exception"}, nil}
	attachments = table{"attachments", []string{"id", "type", "path", "url", "content"}, nil}
	fragments   = table{"fragments", []string{"id", "hash", "content", "datetime_utc", "source"}, nil}
	schemas     = table{"schemas", []string{"id", "content"}, []string{"content"}}

	threads = table{"threads", []string{"id", "name", "tip_message_hash", "forked_from", "datetime_utc"}, nil}
	turns   = table{"turns", []string{"id", "thread_id", "parent_message_hash", "tip_message_hash", "model", "resolved_model", "options_json", "schema_id",
		"input_tokens", "output_tokens", "token_details", "duration_ms", "datetime_utc", "response_json"}, []string{"options_json", "token_details", "response_json"}}
	messages   = table{"messages", []string{"hash", "parent_hash", "role", "provider_metadata"}, []string{"provider_metadata"}}
	partsTable = table{"parts", []string{"id", "message_hash", "position", "type", "tool_name", "text", "payload"}, []string{"payload"}}
)

// object returns a row as an object.
func (t *table) object(row database.Row) json.RawMessage {
	var o jsondoc.Hull
	for _, c := range t.columns {
		switch v := row.Value(c).(type) {
		case nil:
		case []byte:
			o.Add(c, rawjson.Compact(base64.StdEncoding.EncodeToString(v)))
		case string:
			text := row.Text(c)
			if slices.Contains(t.json, c) && json.Valid([]byte(text)) {
				o.Add(c, []byte(strings.TrimSpace(text)))
			} else {
				o.Add(c, rawjson.Compact(text))
			}
		case int64:
			o.Add(c, rawjson.Compact(v))
		default: // it may be infinite
			o.Add(c, rawjson.Compact(row.Text(c)))
		}
	}
	return o.Record()
}

// A record is the rows of a message, by their kind.
type record struct {
	kinds []string
	rows  map[string][]json.RawMessage
}

// add adds a row to a list.
func (r *record) add(kind string, row json.RawMessage) {
	if r.rows == nil {
		r.rows = map[string][]json.RawMessage{}
	}
	if r.rows[kind] == nil {
		r.kinds = append(r.kinds, kind)
	}
	r.rows[kind] = append(r.rows[kind], row)
}

// with returns the record, whose first member is one row.
func (r *record) with(kind string, row json.RawMessage) json.RawMessage {
	var o jsondoc.Hull
	o.Add(kind, row)
	for _, k := range r.kinds {
		list := []byte{'['}
		for i, raw := range r.rows[k] {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, raw...)
		}
		o.Add(k, append(list, ']'))
	}
	return o.Record()
}

type reader struct {
	tables.Reader

	// ids of rows, by the response that they belong to: the tables have no index for it.
	calls, results map[string][]int64
}

// each calls f for the rows of a query. Rows that are damaged or too large are reported as a problem
// at where; any other error is returned.
func (d *reader) each(where string, t *table, rest string, args []any, f func(database.Row) error) error {
	if !d.DB.Has(t.name) {
		return nil
	}
	return d.Each(where, database.Query{Table: t.name, Columns: t.columns, Rest: rest, Args: args}, f)
}

// identified calls f for each row of a table whose id is a text that is not empty, and reports the number of the others
// as a problem.
func (d *reader) identified(t *table, f func(id string, row database.Row) error) error {
	where, others := "the table "+t.name, 0
	err := d.each(where, t, "", nil, func(row database.Row) error {
		if stored, _ := row.Value("id").(string); stored != "" {
			return f(row.Text("id"), row)
		}
		others++
		return nil
	})
	if others > 0 {
		d.Problem("%s: number of rows that are skipped because their id is not text: %d", where, others)
	}
	return err
}

// ids returns the values of a column for each value of another one, in the order of the table.
func (d *reader) ids(t *table) (map[string][]int64, error) {
	list := map[string][]int64{}
	few := table{t.name, []string{"response_id", "id"}, nil}
	return list, d.each("the table "+t.name, &few, "ORDER BY id", nil, func(row database.Row) error {
		response := row.Text("response_id")
		list[response] = append(list[response], row.Int("id"))
		return nil
	})
}

// attachment reads an attachment and adds it to a record. ok is false if there is none with the id.
func (d *reader) attachment(where string, id string, to *record) (p content.Part, ok bool, err error) {
	err = d.each(where, &attachments, "WHERE id = ?", []any{id}, func(row database.Row) error {
		ok = true
		to.add("attachments", attachments.object(row))
		p = file(row)
		return nil
	})
	if err == nil && !ok {
		d.Problem("%s: the attachment %s is missing", where, id)
	}
	return p, ok, err
}

// file returns the part that is an attachment.
func file(row database.Row) content.Part {
	mime, at, name := row.Text("type"), row.Text("url"), ""
	if at == "" && row.Text("path") != "" {
		name = path.Base(strings.ReplaceAll(row.Text("path"), `\`, "/"))
		at = (&url.URL{Scheme: "file", Path: row.Text("path")}).String()
	}
	data, _ := row.Value("content").([]byte)
	if text, ok := row.Value("content").(string); ok {
		data = []byte(text)
	}
	kind, _, _ := strings.Cut(mime, "/")
	p := content.ImageURL(at)
	if len(data) > 0 {
		p = content.Image(mime, base64.StdEncoding.EncodeToString(data))
	}
	switch kind {
	case "image":
	case "audio":
		p.Type = content.TypeAudio
	case "video":
		p.Type = content.TypeVideo
	default:
		p.Type = content.TypeFile
	}
	p.Filename = name
	return p
}

// fragment returns the text of a fragment, and adds it to a record.
func (d *reader) fragment(where string, id int64, to *record) (text string, err error) {
	found := false
	err = d.each(where, &fragments, "WHERE id = ?", []any{id}, func(row database.Row) error {
		found = true
		to.add("fragments", fragments.object(row))
		text = row.Text("content")
		return nil
	})
	if err == nil && !found {
		d.Problem("%s: the fragment %d is missing", where, id)
	}
	return text, err
}

// message returns a message with a role of the program.
func message(id, role string, list []content.Part) *transcript.Message {
	m := &transcript.Message{ID: id, Format: "llm"}
	m.Role, m.Parts = "user", list
	switch role {
	case "assistant":
		m.Role = role
	case "user", "tool":
	default:
		m.Own.Role = role
	}
	if m.Parts == nil {
		m.Parts = []content.Part{}
	}
	return m
}

// divided returns the messages of m: one for what comes before the results in it, one for these,
// and so on. Only the first one has the records.
func divided(m *transcript.Message) (list []*transcript.Message) {
	list = []*transcript.Message{m}
	if m.Role != "assistant" || !m.HasPart(content.TypeToolResult) {
		return list
	}
	all, id := m.Parts, m.ID
	m.Parts = []content.Part{}
	for i := range all {
		last := list[len(list)-1]
		role := "assistant"
		if all[i].Type == content.TypeToolResult {
			role = "user"
		}
		if role != last.Role {
			n := message(transcript.ChainID(id, fmt.Append(nil, len(list))), role, nil)
			n.Parent, n.Time = last.ID, m.Time
			if role == "assistant" {
				n.Model = m.Model
			}
			list = append(list, n)
			last = n
		}
		last.Parts = append(last.Parts, all[i])
	}
	return list
}

// unknown returns a part of a type that is not known.
func unknown(kind string, raw []byte) content.Part {
	return parts.Unknown(kind, gjson.ParseBytes(raw))
}
