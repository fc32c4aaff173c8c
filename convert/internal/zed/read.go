// Package zed reads the threads of the agent of the editor Zed in its database threads.db, which is in
// the folder threads of Zed's data.
//
// A row of the table threads is a thread: id, summary (its title), updated_at, data_type and data.
// Later versions added parent_id, folder_paths with folder_paths_order, and created_at. data is a JSON
// document; data_type is json, or zstd if the document is compressed with Zstandard, as Zed writes it.
// folder_paths has the folders of the project on lines, in lexicographic order, and folder_paths_order
// the position of each in the order of the user.
//
// # The document
//
// It has title, messages, updated_at, model (provider and model), initial_project_snapshot
// (worktree_snapshots, each with worktree_path and git_state, and timestamp), subagent_context, and version,
// which is 0.3.0. An enum of Rust is an object with one member, whose name is the variant, or a string. A
// message is one of
//
//   - User, with id and content: Text; Mention, with uri, an enum of what the user named, and the content of
//     that; Image, with source (base64) and since 2026 mime_type, which was image/png before,
//   - Agent, with content: Text; Thinking, with text and signature; RedactedThinking; ToolUse, with id, name,
//     and input, which newer versions wrap in type (json or text) and value. tool_results is an object with
//     the result of each call by its id: tool_name, is_error, content and output. The content is a text or an
//     image, in newer versions an array of these. Zed stores a message when it is complete: then each
//     call has a result, also a cancelled one,
//   - Resume, by which the user lets the agent continue,
//   - Compaction, with Summary, a text that replaces what is before it for the model, or with
//     ProviderNative, which only its provider can read. It follows the last answer; if a prompt follows
//     that already, Zed inserts the compaction before the prompt.
//
// A sub-agent has a thread of its own, whose subagent_context has parent_thread_id, as the column
// parent_id. The result of the call spawn_agent that began it has its id in output.session_id.
//
// Before version 0.3.0, the title is summary, and a message has role, segments (text, thinking or RedactedThinking),
// tool_uses, tool_results and context; in the first version text in place of segments. In
// version 0.1.0, the results are in the next message, which is the user's. Zed converts such a thread when the user
// opens it, and stores it in the new form after the next message.
//
// # Reading
//
// A thread is linear: an edit of a message removes all after it from the database. An Agent is read as a
// message of the assistant and, if it has results, a message of the user. No message has a time, and only User has
// an id, which changes when Zed converts the thread. So ids are computed from the content of the message, the
// messages before it, and the id of the thread, without compactions. They stay the same when Zed converts the thread, or
// writes a message in another form. In the older form, context is the content of a message that has no other content, as in
// Zed; else it is only in the record. A record is the JSON of a message; those of the thread are the document without its
// messages, and an object with the columns of the row.
//
// Not read: threads-db.1.mdb, the database of versions before July 2025, which Zed copied to threads.db; the
// text threads, which are files of their own; and the threads of other agents, which those agents store.
//
// Sources, in zed-industries/zed: crates/agent/src/db.rs and crates/agent/src/thread.rs at 0642ec7,
// crates/agent/src/legacy_thread.rs at 4410b97, crates/agent/src/tools/spawn_agent_tool.rs at 015419a,
// crates/language_model_core/src/request.rs at f75fc98, crates/language_model_core/src/language_model_core.rs
// at 02fddfd, crates/acp_thread/src/mention.rs at 02c0e68, crates/project/src/telemetry_snapshot.rs at 82f574c,
// crates/util/src/path_list.rs at 18007f5, crates/paths/src/paths.rs (data_dir). Compaction and its place
// are in a later crates/agent/src/thread.rs.
package zed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/tables"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
)

// Home is the folder of the database.
var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		in := func(data string) string { return path.Join(data, "threads") }
		switch m.OS {
		case "darwin":
			return []string{in(path.Join(m.Home, "Library", "Application Support", "Zed"))}
		case "windows":
			return []string{in(path.Join(cmp.Or(m.Env("LOCALAPPDATA"), path.Join(m.Home, "AppData", "Local")), "Zed"))}
		}
		data := cmp.Or(m.Env("FLATPAK_XDG_DATA_HOME"), m.Env("XDG_DATA_HOME"), path.Join(m.Home, ".local", "share"))
		return []string{in(path.Join(data, "zed")), in(path.Join(m.Home, ".var", "app", "dev.zed.Zed", "data", "zed"))}
	},
	Holds: func(path string) bool { return strings.EqualFold(path, "threads.db") },
}

const table = "threads"

// columns are the columns that are kept in the record of a thread.
var columns = []string{"id", "parent_id", "folder_paths", "folder_paths_order", "summary", "updated_at", "created_at", "data_type"}

// IsDatabase reports whether a database is that of Zed.
func IsDatabase(db *database.DB) bool {
	return db.Has(table, "id", "summary", "updated_at", "data_type", "data")
}

// ReadDatabase reads all threads of a database, one at a time.
func ReadDatabase(db *database.DB, to transcript.Sink) error {
	d := &reader{Reader: tables.Reader{DB: db, To: to}}
	defer d.close()
	var ids []any
	if err := d.Each("the table "+table, database.Query{Table: table, Columns: []string{"id"}, Rest: "ORDER BY id"}, func(r database.Row) error {
		ids = append(ids, r.Value("id"))
		return nil
	}); err != nil {
		return err
	}
	for _, id := range ids {
		if err := d.thread(id); err != nil {
			return err
		}
	}
	return nil
}

type reader struct {
	tables.Reader
	zstd *zstd.Decoder
}

func (d *reader) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// thread reads a thread.
func (d *reader) thread(id any) error {
	where := "thread " + database.Text(id)
	return d.Each(where, database.Query{Table: table, Columns: append(slices.Clone(columns), "data"), Rest: "WHERE id IS ?", Args: []any{id}}, func(r database.Row) error {
		data, ok := r.Value("data").([]byte)
		if !ok {
			data = []byte(r.Text("data"))
		}
		document, err := d.document(r.Text("data_type"), data, maxDocument)
		if err != nil {
			d.Problem("%s: %v", where, err)
			return nil
		}
		return d.read(where, r, document)
	})
}

// maxDocument is the maximum size of a document that is uncompressed, in bytes.
const maxDocument = 256 << 20

// document returns the JSON document in data, which is an object and nested at most 10,000 deep.
func (d *reader) document(kind string, data []byte, limit int) ([]byte, error) {
	switch kind {
	case "json":
	case "zstd":
		if d.zstd == nil {
			var err error
			if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit))); err != nil {
				return nil, err
			}
		}
		var err error
		data, err = d.zstd.DecodeAll(data, nil)
		switch {
		case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
			return nil, fmt.Errorf("its data has more than %d MiB", limit>>20)
		case err != nil:
			return nil, fmt.Errorf("its data cannot be uncompressed: %w", err)
		}
	default:
		return nil, fmt.Errorf("its data has the unknown type %q", kind)
	}
	data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	if !json.Valid(data) || !gjson.ParseBytes(data).IsObject() {
		return nil, errors.New("its data is not a JSON object")
	}
	return data, nil
}

// read reads the document of a thread.
func (d *reader) read(where string, row database.Row, document []byte) error {
	v := gjson.ParseBytes(document)
	t := &thread{id: row.Text("id"), chain: row.Text("id"), names: map[string]string{}}
	n := 0
	v.Get("messages").ForEach(func(_, m gjson.Result) bool {
		n++
		if !t.message(m) {
			d.Problem("%s, message %d: it is of an unknown kind; it is only in a record", where, n)
		}
		return true
	})
	if len(t.list) == 0 {
		return nil // a draft
	}
	last := t.list[len(t.list)-1]
	last.Guessed = t.loose
	last.Records = append(last.Records, t.pending...)
	c := transcript.Conversation{ID: t.id, Leaf: last.ID, Began: t.began}
	c.Title = cmp.Or(member.String(v.Get("title")), member.String(v.Get("summary")), row.Text("summary"))
	c.Model = member.String(v.Get("model.model"))
	snapshot := v.Get("initial_project_snapshot")
	c.Created = times.Of(snapshot.Get("timestamp"))
	if c.Created.IsZero() {
		c.Created = times.Parse(row.Text("created_at"))
	}
	c.Dir = folder(row.Text("folder_paths"), row.Text("folder_paths_order"))
	if worktree := snapshot.Get("worktree_snapshots.0"); c.Dir == "" || c.Dir == worktree.Get("worktree_path").Str {
		c.Dir = member.String(worktree.Get("worktree_path"))
		c.Branch = member.String(worktree.Get("git_state.current_branch"))
	}
	c.BegunBy = cmp.Or(row.Text("parent_id"), member.String(v.Get("subagent_context.parent_thread_id")))
	c.Side = c.BegunBy != ""
	var around jsondoc.Hull
	for _, name := range columns {
		if row.Value(name) != nil {
			around.Add(name, rawjson.Compact(row.Text(name)))
		}
	}
	c.Records = []json.RawMessage{member.Drop(document, "messages"), around.Record()}
	for _, m := range t.list {
		if err := d.To.Message(m); err != nil {
			return err
		}
	}
	return d.To.End(&c)
}

// folder returns the first of the folders in lines, in the order of the user; "" if there are none.
func folder(lines, order string) string {
	list := strings.Split(lines, "\n")
	if places := strings.Split(order, ","); len(places) == len(list) {
		for i, place := range places {
			if n, err := strconv.Atoi(place); err == nil && n == 0 {
				return list[i]
			}
		}
	}
	return slices.Min(list)
}
