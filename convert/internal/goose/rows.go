package goose

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/tables"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// IsDatabase reports whether a database is that of goose.
func IsDatabase(db *database.DB) bool {
	return db.Has("sessions", "id", "working_dir") && db.Has("messages", "id", "session_id", "role", "content_json", "created_timestamp")
}

// ReadDatabase reads all sessions of a database.
func ReadDatabase(db *database.DB, to transcript.Sink) error {
	d := &rows{Reader: tables.Reader{DB: db, To: to}, names: map[string]string{}, messages: map[any][]place{}}
	if err := d.list(); err != nil {
		return err
	}
	for _, id := range d.ids {
		if err := d.session(id); err != nil {
			return err
		}
	}
	return nil
}

type rows struct {
	tables.Reader

	ids      []any             // of the sessions, as they are stored
	names    map[string]string // of their conversations; see [conversationID]
	messages map[any][]place   // of each session, by the key of its id
}

// A place is where a message is: the number of its row, and its time, by which goose sorts.
type place struct {
	row  int64
	time float64
}

// list reads the ids of all sessions, including those that only have messages, and the places of their
// messages. It reads no content, so that one unreadable message does not lose the others, and uses no
// index, because that may be damaged.
func (d *rows) list() error {
	seen := map[any]bool{}
	note := func(id any) {
		if k := tables.Key(id); !seen[k] {
			seen[k] = true
			d.ids = append(d.ids, id)
		}
	}
	order := "ORDER BY id"
	if d.DB.Has("sessions", "created_at") {
		order = "ORDER BY created_at, id"
	}
	err := d.Each("the table sessions", database.Query{Table: "sessions", Columns: []string{"id", "created_at"}, Rest: order}, func(r database.Row) error {
		id := r.Value("id")
		note(id)
		d.names[database.Text(id)] = conversationID(database.Text(id), timeOf(gjson.Result{Str: r.Text("created_at")}))
		return nil
	})
	if err != nil {
		return err
	}
	err = d.Each("the table messages", database.Query{Table: "messages", Columns: []string{"id", "session_id", "created_timestamp"}, Rest: "NOT INDEXED"}, func(r database.Row) error {
		id, at := r.Value("session_id"), place{row: r.Int("id")}
		switch v := r.Value("created_timestamp").(type) {
		case int64:
			at.time = float64(v)
		case float64:
			at.time = v
		}
		note(id)
		d.messages[tables.Key(id)] = append(d.messages[tables.Key(id)], at)
		return nil
	})
	for _, list := range d.messages {
		slices.SortStableFunc(list, func(a, b place) int { return cmp.Compare(a.time, b.time) })
	}
	return err
}

// session reads a session.
func (d *rows) session(id any) error {
	where := "session " + database.Text(id)
	s := &session{to: d.To, ids: d.names}
	err := d.Each(where, database.Query{Table: "sessions", Columns: columns, Rest: "WHERE id IS ?", Args: []any{id}}, func(r database.Row) error {
		s.describe(record(r))
		return nil
	})
	if err != nil {
		return err
	}
	if s.conv.Records == nil {
		s.describe(rawjson.Compact(map[string]string{"id": database.Text(id)}))
	}
	for _, m := range d.messages[tables.Key(id)] {
		at := fmt.Sprintf("%s, message %d", where, m.row)
		err := d.Each(at, database.Query{Table: "messages", Columns: messageColumns, Rest: "WHERE id = ?", Args: []any{m.row}}, func(r database.Row) error {
			raw := message(r)
			if what := flaw(raw); what != "" {
				d.Problem("%s: %s", at, what)
				return nil
			}
			return s.message(raw)
		})
		if err != nil {
			return err
		}
	}
	return s.end()
}

var messageColumns = []string{"message_id", "role", "content_json", "created_timestamp", "tokens", "metadata_json"}

// message returns the message of a row as an export has it.
func message(r database.Row) json.RawMessage {
	var o jsondoc.Hull
	add(&o, r, "id", "message_id")
	add(&o, r, "role", "role")
	add(&o, r, "created", "created_timestamp")
	add(&o, r, "content", "content_json")
	add(&o, r, "metadata", "metadata_json")
	add(&o, r, "tokens", "tokens")
	return o.Record()
}

// columns are the columns of a session, in the order of an export.
var columns = []string{
	"id", "working_dir", "name", "description", "user_set_name", "session_type", "created_at", "updated_at", "extension_data",
	"total_tokens", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
	"accumulated_total_tokens", "accumulated_input_tokens", "accumulated_output_tokens",
	"accumulated_cache_read_tokens", "accumulated_cache_write_tokens", "accumulated_cost",
	"schedule_id", "recipe_json", "user_recipe_values_json", "provider_name", "model_config_json", "goose_mode",
	"archived_at", "project_id", "thread_id", "parent_session_id", "parent_delegation",
}

// record returns the row of a session as an export has it.
func record(r database.Row) json.RawMessage {
	var o jsondoc.Hull
	for _, c := range columns {
		add(&o, r, strings.TrimSuffix(c, "_json"), c)
	}
	return o.Record()
}

// add adds the value of a column, unless it is NULL. JSON is kept as it is in the columns that have it.
func add(o *jsondoc.Hull, r database.Row, name, column string) {
	switch v := r.Value(column).(type) {
	case nil:
	case float64:
		if !math.IsInf(v, 0) {
			o.Add(name, rawjson.Compact(v))
			return
		}
		o.Add(name, rawjson.Compact(r.Text(column)))
	case int64:
		if column == "user_set_name" {
			o.Add(name, rawjson.Compact(v != 0))
			return
		}
		o.Add(name, rawjson.Compact(v))
	default:
		if raw := r.JSON(column); raw != "" && (strings.HasSuffix(column, "_json") || column == "extension_data" || column == "parent_delegation") {
			o.Add(name, bytes.TrimSpace([]byte(raw)))
			return
		}
		o.Add(name, rawjson.Compact(r.Text(column)))
	}
}
