package cursor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/tables"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/vscode"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

const format = "cursor"

// Home has the folders with the databases and, after these, with the transcripts.
var Home = transcript.Home{
	Roots: func(m transcript.Machine) (list []string) {
		for _, dir := range vscode.Local(m, "Cursor") {
			list = append(list, path.Join(dir, "globalStorage"), path.Join(dir, "workspaceStorage"))
		}
		own := path.Join(m.Home, ".cursor")
		return append(list, path.Join(cmp.Or(m.Env("CURSOR_CONFIG_DIR"), own), "chats"), path.Join(own, "projects"))
	},
	Holds: func(p string) bool {
		switch path.Base(p) {
		case "state.vscdb":
			return strings.Count(p, "/") < 2
		case "store.db":
			return strings.Count(p, "/") == 2
		}
		id, _ := Identify(p)
		return id != ""
	},
	Identify:   Identify,
	InDatabase: InDatabase,
	Dir: func(file string, read func(string) ([]byte, error)) string {
		if filepath.Base(file) == "store.db" {
			data, _ := read(filepath.Join(filepath.Dir(file), "meta.json"))
			return member.Text(data, "cwd")
		}
		data, err := read(filepath.Join(filepath.Dir(file), "workspace.json"))
		if err != nil {
			return ""
		}
		return vscode.Folder(data)
	},
}

// The tables, and the keys of ItemTable with conversations.
const (
	values    = "cursorDiskKV"
	items     = "ItemTable"
	headers   = "composerHeaders"
	chats     = "workbench.panel.aichat.view.aichat.chatdata"
	composers = "composer.composerData"
)

// IsDatabase reports whether a database is one of Cursor. VS Code also has ItemTable.
func IsDatabase(db *database.DB) (is bool) {
	if db.Has(values, "key", "value") || !db.Has(items, "key", "value") {
		return db.Has(values, "key", "value") || isStore(db)
	}
	err := db.Each(database.Query{Table: items, Columns: []string{"key"}, Rest: "WHERE key IN (?, ?)", Args: []any{chats, composers}}, func(database.Row) error {
		is = true
		return nil
	})
	return is && err == nil
}

// IsEmpty reports whether a database, which [IsDatabase] does not recognize, may be one of Cursor
// without a conversation: of a folder in an older version, or of a conversation that just began.
func IsEmpty(db *database.DB) bool {
	if !db.Has(blobs, "id", "data") || !db.Has(meta, "key", "value") {
		return db.Has(items, "key", "value")
	}
	none := true
	err := db.Each(database.Query{Table: meta, Columns: []string{"key"}}, func(database.Row) error {
		none = false
		return nil
	})
	return none && err == nil
}

// ReadDatabase reads all conversations of a database, one at a time.
func ReadDatabase(db *database.DB, to transcript.Sink) error {
	d := &rows{Reader: tables.Reader{DB: db, To: to}, began: map[string]map[string]string{}}
	if isStore(db) {
		return d.store()
	}
	if err := d.begun(); err != nil {
		return err
	}
	if db.Has(values, "key", "value") {
		ids, err := d.ids()
		if err != nil {
			return err
		}
		for _, id := range ids {
			raw, err := d.value(values, "composerData:"+id)
			if err != nil {
				return err
			}
			if err := d.composer(id, raw); err != nil {
				return err
			}
		}
	}
	if !db.Has(items, "key", "value") {
		return nil
	}
	for _, key := range []string{composers, chats} {
		raw, err := d.value(items, key)
		if err != nil {
			return err
		}
		v := gjson.Parse(raw)
		for _, c := range elements(v.Get("allComposers")) {
			if err := d.composer(member.String(c.Get("composerId")), c.Raw); err != nil {
				return err
			}
		}
		for _, tab := range elements(v.Get("tabs")) {
			if err := d.tab(tab); err != nil {
				return err
			}
		}
	}
	return nil
}

type rows struct {
	tables.Reader
	began map[string]map[string]string // by the id of a conversation, see [transcript.Conversation.Began]
}

// begun reads which calls began conversations of sub-agents.
func (d *rows) begun() error {
	if !d.DB.Has(headers, "composerId", "value") {
		return nil
	}
	return d.Each("the table "+headers, database.Query{Table: headers, Columns: []string{"composerId", "value"}}, func(r database.Row) error {
		info := gjson.Get(r.Text("value"), "subagentInfo")
		parent, call := member.String(info.Get("parentComposerId")), member.String(info.Get("toolCallId"))
		if parent == "" || call == "" {
			return nil
		}
		if d.began[parent] == nil {
			d.began[parent] = map[string]string{}
		}
		d.began[parent][r.Text("composerId")] = call
		return nil
	})
}

// ids returns the ids of the conversations.
func (d *rows) ids() (list []string, err error) {
	const prefix, end = "composerData:", "composerData;"
	q := database.Query{Table: values, Columns: []string{"key"}, Rest: "WHERE key >= ? AND key < ? ORDER BY key", Args: []any{prefix, end}}
	err = d.Each("the table "+values, q, func(r database.Row) error {
		list = append(list, strings.TrimPrefix(r.Text("key"), prefix))
		return nil
	})
	return list, err
}

// value returns the JSON of a key, "" if it has none.
func (d *rows) value(table, key string) (raw string, err error) {
	err = d.Each(key, database.Query{Table: table, Columns: []string{"value"}, Rest: "WHERE key = ?", Args: []any{key}}, func(r database.Row) error {
		raw = r.Text("value")
		return nil
	})
	if raw != "" && !json.Valid([]byte(raw)) { // which limits the depth
		d.Problem("%s: it is not JSON", key)
		raw = ""
	}
	return raw, err
}

// header returns what the table composerHeaders has of a conversation.
func (d *rows) header(id string) (h gjson.Result, err error) {
	if !d.DB.Has(headers, "composerId", "value") {
		return h, nil
	}
	err = d.Each("conversation "+id, database.Query{Table: headers, Columns: []string{"value"}, Rest: "WHERE composerId = ?", Args: []any{id}}, func(r database.Row) error {
		if raw := r.JSON("value"); raw != "" {
			h = gjson.Parse(raw)
		}
		return nil
	})
	return h, err
}

// A bubble is a message of a conversation, as it is stored.
type bubble struct {
	id  string
	raw string
}

// composer reads a conversation.
func (d *rows) composer(id, raw string) error {
	v := gjson.Parse(raw)
	list, err := d.bubbles(id, v)
	if err != nil || len(list) == 0 {
		return err
	}
	head, err := d.header(id)
	if err != nil {
		return err
	}
	record := []byte(raw)
	for _, secret := range []string{"blobEncryptionKey", "speculativeSummarizationEncryptionKey"} {
		if v.Get(secret).Exists() {
			record = member.Drop(record, secret)
		}
	}
	c := transcript.Conversation{ID: id, Title: cmp.Or(unless(unnamed, v.Get("name")), unless(unnamed, head.Get("name"))), Records: []json.RawMessage{record}}
	c.Created = milliseconds(v.Get("createdAt"))
	c.Dir = cmp.Or(pathOf(v.Get("workspaceIdentifier.uri")), pathOf(head.Get("workspaceIdentifier.uri")))
	c.Model = unless(routed, v.Get("modelConfig.modelName"))
	info := v.Get("subagentInfo")
	if !info.Exists() {
		info = head.Get("subagentInfo")
	}
	c.BegunBy = member.String(info.Get("parentComposerId"))
	c.Side = c.BegunBy != ""
	c.Began = d.began[id]
	return d.read(c, list, v.Get("status").Str == "generating")
}

// bubbles returns the bubbles of a conversation, in order.
func (d *rows) bubbles(id string, v gjson.Result) (list []bubble, err error) {
	for _, b := range elements(v.Get("conversation")) {
		list = append(list, bubble{member.String(b.Get("bubbleId")), b.Raw})
	}
	if len(list) > 0 {
		return list, nil
	}
	inside := v.Get("conversationMap").Map()
	for _, h := range elements(v.Get("fullConversationHeadersOnly")) {
		b := bubble{id: member.String(h.Get("bubbleId"))}
		key := "bubbleId:" + id + ":" + b.id
		if d.DB.Has(values, "key", "value") {
			if b.raw, err = d.value(values, key); err != nil {
				return nil, err
			}
		}
		if b.raw == "" {
			b.raw = inside[b.id].Raw
		}
		if !gjson.Parse(b.raw).IsObject() {
			d.Problem("%s: the conversation lists this message, but it is missing", key)
			continue
		}
		list = append(list, b)
	}
	return list, nil
}

// tab reads a conversation of an older version.
func (d *rows) tab(tab gjson.Result) error {
	var list []bubble
	for _, b := range elements(tab.Get("bubbles")) {
		list = append(list, bubble{member.String(b.Get("id")), b.Raw})
	}
	if len(list) == 0 {
		return nil
	}
	around := member.Drop([]byte(tab.Raw), "bubbles")
	return d.read(transcript.Conversation{ID: member.String(tab.Get("tabId")), Title: member.String(tab.Get("chatTitle")), Records: []json.RawMessage{around}}, list, false)
}

// read reads the bubbles of a conversation. open reports whether an answer is being received: then
// calls in parallel end in any order.
func (d *rows) read(c transcript.Conversation, list []bubble, open bool) error {
	t := nodes.Tree{Conversation: c, Messages: messagesOf}
	t.Open = func(record json.RawMessage) bool {
		return open && gjson.GetBytes(record, "type").Num == 2 || isRunning(record)
	}
	asked := 0 // how many bubbles there are up to the last prompt
	for i, b := range list {
		if roleOf(json.RawMessage(b.raw)) == "user" {
			asked = i + 1
		}
	}
	for i, b := range list {
		if b.id == "" {
			b.id = transcript.ChainID(c.ID+t.Conversation.Leaf, []byte(b.raw))
		}
		t.Conversation.Leaf = t.Append(nodes.Node{ID: b.id, Parent: t.Conversation.Leaf, Record: json.RawMessage(b.raw)})
		if left := len(list) - i - 1; open && left > 0 && i >= asked && isRunning(json.RawMessage(b.raw)) {
			d.To.Problem(transcript.Problem{What: fmt.Sprintf("%d messages are after a call that has not ended, and are read when it has", left), Note: true})
			break // its result is before them
		}
	}
	return t.Read(d.To)
}

// roleOf returns who a bubble is of, "" if that is unknown.
func roleOf(record json.RawMessage) string {
	switch kind := gjson.GetBytes(record, "type"); {
	case kind.Num == 1, kind.Str == "user":
		return "user"
	case kind.Num == 2, kind.Str == "ai":
		return "assistant"
	}
	return ""
}

// isRunning reports whether a bubble is a call that has not ended.
func isRunning(record json.RawMessage) bool {
	return gjson.GetBytes(record, "toolFormerData.status").Str == "loading"
}

// messagesOf returns the messages of a bubble: what the user or the assistant says, and the
// result of a call.
func messagesOf(n nodes.Node) (list []*transcript.Message) {
	v := gjson.ParseBytes(n.Record)
	role := roleOf(n.Record)
	if role == "" {
		return nil
	}
	first := &transcript.Message{ID: n.ID, Format: format, Time: timeOf(v.Get("createdAt"))}
	if role == "assistant" {
		first.Model = unless(routed, v.Get("modelInfo.modelName"))
	}
	add := func(role string, p content.Part) { list = nodes.Add(list, first, role, p) }
	thinking := v.Get("thinking")
	if text := cmp.Or(member.String(thinking), member.String(thinking.Get("text"))); text != "" {
		add(role, content.Thinking(text, member.String(thinking.Get("signature"))))
	}
	if text := member.String(v.Get("text")); text != "" {
		add(role, content.Text(text))
	}
	for _, file := range elements(v.Get("context.fileSelections")) {
		if at := pathOf(file.Get("uri")); at != "" {
			add(role, content.Part{Type: content.TypeData, Text: "[file " + at + "]", Meta: rawjson.Compact(map[string]string{"data_type": "attachment"})})
		}
	}
	for _, image := range elements(v.Get("images")) {
		add(role, parts.Unknown("cursor_image", image))
	}
	if call := v.Get("toolFormerData"); role == "assistant" && member.String(call.Get("name")) != "" {
		c := content.Call{ID: member.String(call.Get("toolCallId")), Name: member.String(call.Get("name")), Arguments: cmp.Or(object(call.Get("rawArgs")), object(call.Get("params")), "{}")}
		c.ID = cmp.Or(c.ID, n.ID)
		add("assistant", content.ToolCall(c))
		if text, ended := result(call, &c); ended {
			add("user", content.ToolResult(c, text))
		}
	}
	return list
}

// result returns the result of a call, and whether the call has ended.
func result(call gjson.Result, c *content.Call) (text string, ended bool) {
	status := call.Get("status").Str
	value := call.Get("result")
	if text = member.String(value); value.Type != gjson.String && value.Type != gjson.Null {
		text = member.Compact(value.Raw)
	}
	failure := cmp.Or(member.String(call.Get("error")), object(call.Get("error")))
	c.Failed = status == "error" || status == "cancelled" || failure != "" || call.Get("userDecision").Str == "rejected"
	return cmp.Or(text, failure), text != "" || c.Failed || status == "completed"
}

// object returns an object, or the one whose JSON is in a string, "" if it is none or has no members.
func object(v gjson.Result) string {
	raw := v.Raw
	if v.Type == gjson.String {
		raw = member.String(v)
	}
	if o := gjson.Parse(raw); !json.Valid([]byte(raw)) || !o.IsObject() || len(o.Map()) == 0 {
		return ""
	}
	return member.Compact(raw)
}

// timeOf returns a time in milliseconds or in the form of RFC 3339.
func timeOf(v gjson.Result) time.Time {
	if v.Type == gjson.Number {
		return times.Milliseconds(v)
	}
	return times.Of(v)
}

// elements returns the elements of an array, nil for anything else.
func elements(v gjson.Result) []gjson.Result {
	if !v.IsArray() {
		return nil
	}
	return v.Array()
}

// pathOf returns the path of a URI, "" if there is none.
func pathOf(v gjson.Result) string {
	return cmp.Or(member.String(v.Get("fsPath")), member.String(v.Get("path")))
}
