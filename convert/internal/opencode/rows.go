package opencode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// IsDatabase reports whether a database is that of opencode.
func IsDatabase(db *database.DB) bool {
	return db.Has("session", "id") && db.Has("message", "id", "session_id", "data") && db.Has("part", "id", "message_id", "data")
}

// ReadDatabase reads all sessions of a database. The records are those of the export.
func ReadDatabase(db *database.DB, to transcript.Sink) error {
	d := &rows{db: db, to: to}
	ids, err := d.sessions()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := d.session(id); err != nil {
			return err
		}
	}
	return nil
}

type rows struct {
	db *database.DB
	to transcript.Sink
}

// each calls f for the rows of a query. Rows that cannot be read are a problem, with the words of
// where.
func (d *rows) each(where string, q database.Query, f func(database.Row) error) error {
	err := d.db.Each(q, f)
	var failed *database.QueryError
	if errors.As(err, &failed) {
		d.problem("%s: %v", where, failed)
		return nil
	}
	return err
}

func (d *rows) problem(format string, args ...any) {
	d.to.Problem(transcript.Problem{What: fmt.Sprintf(format, args...)})
}

// sessions returns the ids of all sessions, also of those of which only messages are left.
func (d *rows) sessions() (ids []string, err error) {
	seen := map[string]bool{}
	add := func(where string, q database.Query) error {
		return d.each(where, q, func(r database.Row) error {
			if id := r.Text(q.Columns[0]); !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
			return nil
		})
	}
	order := "ORDER BY id"
	if d.db.Has("session", "time_created") {
		order = "ORDER BY time_created, id"
	}
	if err = add("the table session", database.Query{Table: "session", Columns: []string{"id"}, Rest: order}); err == nil {
		err = add("the table message", database.Query{Table: "message", Columns: []string{"session_id"}, Rest: "GROUP BY session_id"})
	}
	return ids, err
}

// session reads a session.
func (d *rows) session(id string) error {
	r := &reader{to: d.to, first: map[string]string{}}
	where := "session " + id
	var around json.RawMessage
	err := d.each(where, database.Query{Table: "session", Columns: columns, Rest: "WHERE id = ?", Args: []any{id}}, func(row database.Row) error {
		around = info(row)
		return nil
	})
	if err != nil {
		return err
	}
	if around == nil {
		var h jsondoc.Hull
		h.Add("info", indented(rawjson.Compact(map[string]string{"id": id}), "  "))
		around = h.Record()
	}
	order := "WHERE session_id = ? ORDER BY id"
	if d.db.Has("message", "time_created") {
		order = "WHERE session_id = ? ORDER BY time_created, id"
	}
	err = d.each(where, database.Query{Table: "message", Columns: []string{"id", "data"}, Rest: order, Args: []any{id}}, func(row database.Row) error {
		return d.message(r, id, row.Text("id"), row.Text("data"))
	})
	if err != nil {
		return err
	}
	return r.end(around)
}

// message reads a message with its parts.
func (d *rows) message(r *reader, session, id, data string) error {
	where := "session " + session + ", message " + id
	if !gjson.Valid(data) || !gjson.Get(data, "role").Exists() {
		d.problem("%s: it has no role, or is not JSON", where)
		return nil
	}
	var b bytes.Buffer
	b.WriteString(`{"info":`)
	b.Write(with(data, "id", id, "sessionID", session))
	b.WriteString(`,"parts":[`)
	first := true
	err := d.each(where, database.Query{Table: "part", Columns: []string{"id", "data"}, Rest: "WHERE message_id = ? ORDER BY id", Args: []any{id}}, func(row database.Row) error {
		part, data := row.Text("id"), row.Text("data")
		if !gjson.Valid(data) || !gjson.Parse(data).IsObject() {
			d.problem("%s, part %s: it is not an object", where, part)
			return nil
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(with(data, "id", part, "sessionID", session, "messageID", id))
		return nil
	})
	if err != nil {
		return err
	}
	b.WriteString("]}")
	return r.message(indented(b.Bytes(), "    "))
}

// with returns an object with members whose values are texts, which are set as the program does:
// at the end, or where the object has them.
func with(object string, members ...string) []byte {
	b := []byte(strings.TrimSpace(object))
	for i := 0; i < len(members); i += 2 {
		name, value := members[i], rawjson.Compact(members[i+1])
		switch {
		case gjson.GetBytes(b, name).Exists():
			b = member.SetRaw(b, name, value)
		default:
			b = b[:len(b)-1]
			if len(bytes.TrimSpace(b)) > 1 {
				b = append(b, ',')
			}
			b = append(append(append(append(b, rawjson.Compact(name)...), ':'), value...), '}')
		}
	}
	return b
}

// indented returns JSON as the export has it, in which the first line is not indented.
func indented(raw []byte, prefix string) json.RawMessage {
	var b bytes.Buffer
	if json.Indent(&b, raw, prefix, "  ") != nil {
		return raw
	}
	return b.Bytes()
}

// columns are the columns of a session that info reads.
var columns = []string{
	"id", "slug", "project_id", "workspace_id", "directory", "path", "parent_id", "title", "agent", "model", "version",
	"summary_additions", "summary_deletions", "summary_files", "summary_diffs", "cost",
	"tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write",
	"share_url", "metadata", "revert", "permission", "time_created", "time_updated", "time_compacting", "time_archived",
}

// info returns the document of a session without its messages: the members of the export, in the
// same order. A member whose column is NULL, or that an older version does not have, is left out.
func info(row database.Row) json.RawMessage {
	var o jsondoc.Hull
	text := func(o *jsondoc.Hull, name, column string) {
		if row.Value(column) != nil {
			o.Add(name, rawjson.Compact(row.Text(column)))
		}
	}
	number := func(o *jsondoc.Hull, name, column string) {
		switch v := row.Value(column).(type) {
		case int64, float64:
			o.Add(name, rawjson.Compact(v))
		}
	}
	object := func(name, column string, members ...string) {
		switch raw := row.Text(column); {
		case !gjson.Valid(raw) || gjson.Parse(raw).Type == gjson.Null:
		case len(members) == 0:
			o.Add(name, []byte(raw))
		default:
			var in jsondoc.Hull
			for _, m := range members {
				if v := gjson.Get(raw, m); v.Exists() {
					in.Add(m, []byte(v.Raw))
				}
			}
			if r := in.Record(); r != nil {
				o.Add(name, r)
			}
		}
	}
	// numbers returns an object of numbers, nil if all are NULL.
	numbers := func(pairs ...string) (in jsondoc.Hull) {
		for i := 0; i < len(pairs); i += 2 {
			number(&in, pairs[i], pairs[i+1])
		}
		return in
	}
	text(&o, "id", "id")
	text(&o, "slug", "slug")
	text(&o, "projectID", "project_id")
	text(&o, "workspaceID", "workspace_id")
	text(&o, "directory", "directory")
	text(&o, "path", "path")
	text(&o, "parentID", "parent_id")
	text(&o, "title", "title")
	text(&o, "agent", "agent")
	object("model", "model", "id", "providerID", "variant")
	text(&o, "version", "version")
	if summary := numbers("additions", "summary_additions", "deletions", "summary_deletions", "files", "summary_files"); summary.Record() != nil {
		if diffs := row.Text("summary_diffs"); gjson.Valid(diffs) {
			summary.Add("diffs", []byte(diffs))
		}
		o.Add("summary", summary.Record())
	}
	number(&o, "cost", "cost")
	if tokens := numbers("input", "tokens_input", "output", "tokens_output", "reasoning", "tokens_reasoning"); tokens.Record() != nil {
		cache := numbers("read", "tokens_cache_read", "write", "tokens_cache_write")
		if r := cache.Record(); r != nil {
			tokens.Add("cache", r)
		}
		o.Add("tokens", tokens.Record())
	}
	if row.Value("share_url") != nil {
		o.Add("share", rawjson.Compact(map[string]string{"url": row.Text("share_url")}))
	}
	object("metadata", "metadata")
	object("revert", "revert", "messageID", "partID", "snapshot", "diff")
	object("permission", "permission")
	if time := numbers("created", "time_created", "updated", "time_updated", "compacting", "time_compacting", "archived", "time_archived"); time.Record() != nil {
		o.Add("time", time.Record())
	}
	var around jsondoc.Hull
	around.Add("info", indented(o.Record(), "  "))
	return around.Record()
}
