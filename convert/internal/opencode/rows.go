package opencode

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/tables"
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
	d := &rows{Reader: tables.Reader{DB: db, To: to}, told: map[string]int{}}
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
	tables.Reader
	told map[string]int // how often the session could not be read, by the reason
}

// each calls f for the rows of a query, and reports whether all were read. Rows that are damaged
// or too large are a problem, with the words of where; any other error ends the reading.
func (d *rows) each(where string, q database.Query, f func(database.Row) error) (whole bool, err error) {
	err = d.DB.Each(q, f)
	if failed := tables.Damage(err); failed != nil {
		if d.told[failed.Error()]++; d.told[failed.Error()] == 1 {
			d.Problem("%s: %v", where, failed)
		}
		return false, nil
	}
	return err == nil, err
}

// ids returns the ids of the rows of a query, without their data: a row that cannot be read loses
// no other, and is not sorted.
func (d *rows) ids(where string, q database.Query) (ids []id, whole bool, err error) {
	q.Columns = []string{"id"}
	whole, err = d.each(where, q, func(r database.Row) error {
		ids = append(ids, id{tables.Key(r.Value("id")), r.Text("id")})
		return nil
	})
	return ids, whole, err
}

// An id is that of a row.
type id struct {
	key  any
	text string
}

// data returns the JSON of a row, "" if it is none.
func (d *rows) data(where, table string, of id) (data string, whole bool, err error) {
	whole, err = d.each(where, database.Query{Table: table, Columns: []string{"data"}, Rest: "WHERE id IS ?", Args: []any{tables.Stored(of.key)}}, func(r database.Row) error {
		data = r.JSON("data")
		return nil
	})
	return data, whole, err
}

// sessions returns the ids of all sessions, also of those of which only messages are left.
func (d *rows) sessions() (ids []any, err error) {
	seen := map[any]bool{}
	add := func(where string, q database.Query) error {
		_, err := d.each(where, q, func(r database.Row) error {
			if id := tables.Key(r.Value(q.Columns[0])); !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
			return nil
		})
		return err
	}
	order := "ORDER BY id"
	if d.DB.Has("session", "time_created") {
		order = "ORDER BY time_created, id"
	}
	if err = add("the table session", database.Query{Table: "session", Columns: []string{"id"}, Rest: order}); err == nil {
		err = add("the table message", database.Query{Table: "message", Columns: []string{"session_id"}, Rest: "GROUP BY session_id"})
	}
	return ids, err
}

// session reads a session.
func (d *rows) session(key any) error {
	r := &reader{to: d.To, first: map[string]string{}}
	session := database.Text(tables.Stored(key))
	clear(d.told)
	where := "session " + session
	var around json.RawMessage
	_, err := d.each(where, database.Query{Table: "session", Columns: columns, Rest: "WHERE id IS ?", Args: []any{tables.Stored(key)}}, func(row database.Row) error {
		around = info(row)
		return nil
	})
	if err != nil {
		return err
	}
	if around == nil {
		var h jsondoc.Hull
		h.Add("info", indented(rawjson.Compact(map[string]string{"id": session}), "  "))
		around = h.Record()
	}
	order := "WHERE session_id IS ? ORDER BY id"
	if d.DB.Has("message", "time_created") {
		order = "WHERE session_id IS ? ORDER BY time_created, id"
	}
	messages, _, err := d.ids(where, database.Query{Table: "message", Rest: order, Args: []any{tables.Stored(key)}})
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := d.message(r, session, m); err != nil {
			return err
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(d.told)) {
		if n := d.told[reason]; n > 1 {
			d.Problem("%s: in %d more places: %s", where, n-1, reason)
		}
	}
	return r.end(around)
}

// message reads a message with its parts. It is a problem, and left out, if one of them cannot be
// read: with fewer parts it would be another message.
func (d *rows) message(r *reader, session string, of id) error {
	where := "session " + session + ", message " + of.text
	data, whole, err := d.data(where, "message", of)
	if err != nil || !whole {
		return err
	}
	if !gjson.Get(data, "role").Exists() {
		d.Problem("%s: it has no role, or is not JSON", where)
		return nil
	}
	parts, whole, err := d.ids(where, database.Query{Table: "part", Rest: "WHERE message_id IS ? ORDER BY id", Args: []any{tables.Stored(of.key)}})
	if err != nil || !whole {
		return err
	}
	b := bytes.NewBufferString("{\n      \"info\": ")
	appendObject(b, data, "      ", "id", of.text, "sessionID", session)
	b.WriteString(",\n      \"parts\": [")
	first := true
	for _, p := range parts {
		where := where + ", part " + p.text
		data, whole, err := d.data(where, "part", p)
		if err != nil || !whole {
			return err
		}
		if !gjson.Parse(data).IsObject() {
			d.Problem("%s: it is not an object", where)
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString("\n        ")
		appendObject(b, data, "        ", "id", p.text, "sessionID", session, "messageID", of.text)
	}
	if !first {
		b.WriteString("\n      ")
	}
	b.WriteString("]\n    }")
	return r.message(b.Bytes())
}

// appendObject appends an object as the export has it, with members whose values are texts, which are
// set as the program does: at the end, or where the object has them. The object can have hundreds of
// megabytes, and is copied once.
func appendObject(b *bytes.Buffer, object, prefix string, members ...string) {
	object = strings.TrimSpace(object)
	var more []string
	for i := 0; i < len(members); i += 2 {
		name, value := members[i], rawjson.Compact(members[i+1])
		if gjson.Get(object, name).Exists() {
			object = string(member.SetRaw([]byte(object), name, value))
		} else {
			more = append(more, prefix+"  "+string(rawjson.Compact(name))+": "+string(value))
		}
	}
	start, end := b.Len(), "\n"+prefix+"}"
	if json.Indent(b, []byte(object), prefix, "  ") != nil || len(more) == 0 {
		return
	}
	separator := ",\n"
	if object := b.Bytes()[start:]; bytes.Equal(object, []byte("{}")) {
		b.Truncate(b.Len() - 1)
		separator = "\n"
	} else {
		b.Truncate(b.Len() - len(end))
	}
	b.WriteString(separator + strings.Join(more, ",\n") + end)
}

// indented returns JSON as the export has it, in which the first line is not indented.
func indented(raw []byte, prefix string) json.RawMessage {
	var b bytes.Buffer
	if json.Indent(&b, raw, prefix, "  ") != nil {
		return raw
	}
	return b.Bytes()
}

// quoted returns a text as JSON.stringify writes it, without escapes for U+2028 and U+2029.
func quoted(s string) []byte {
	b := []byte{'"'}
	for {
		i := strings.IndexAny(s, "\u2028\u2029")
		if i < 0 {
			i = len(s)
		}
		part := rawjson.Compact(s[:i])
		b = append(b, part[1:len(part)-1]...)
		if i == len(s) {
			return append(b, '"')
		}
		const size = len("\u2028")
		b = append(b, s[i:i+size]...)
		s = s[i+size:]
	}
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
			o.Add(name, quoted(row.Text(column)))
		}
	}
	number := func(o *jsondoc.Hull, name, column string) {
		switch v := row.Value(column).(type) {
		case int64, float64:
			o.Add(name, rawjson.Compact(v))
		}
	}
	object := func(name, column string, members ...string) {
		switch raw := row.JSON(column); {
		case raw == "" || gjson.Parse(raw).Type == gjson.Null:
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
		if diffs := row.JSON("summary_diffs"); diffs != "" {
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
		o.Add("share", slices.Concat([]byte(`{"url":`), quoted(row.Text("share_url")), []byte("}")))
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
