package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

var (
	logs = table{"logs", []string{"id", "model", "prompt", "system", "prompt_json", "options_json", "response", "response_json",
		"reply_to_id", "chat_id", "duration_ms", "datetime_utc"}, []string{"prompt_json", "options_json", "response_json"}}
	olderLog = table{"log", []string{"id", "provider", "model", "timestamp", "prompt", "system", "response", "chat_id", "debug", "duration_ms"}, []string{"debug"}}
)

// hasLogs reports whether the table is in a database.
func hasLogs(db *database.DB, t *table) bool {
	return db.Has(t.name, "model", "prompt", "system", "response", timeColumn(t))
}

func timeColumn(t *table) string {
	if t == &olderLog {
		return "timestamp"
	}
	return "datetime_utc"
}

// logs reads the conversations in a table of the first versions, in the order of their first rows.
func (d *reader) logs(t *table) error {
	if !hasLogs(d.DB, t) {
		return nil
	}
	where := "the table " + t.name
	if !d.DB.Has(t.name, "id") { // nor chats
		return d.each(where, t, "ORDER BY rowid", nil, func(row database.Row) error {
			c := &chat{to: d.To}
			if err := c.add(t, row); err != nil {
				return err
			}
			return c.end()
		})
	}
	var order []int64
	chats := map[int64][]int64{} // the ids of rows
	few := table{t.name, []string{"id", "chat_id"}, nil}
	if err := d.each(where, &few, "ORDER BY id", nil, func(row database.Row) error {
		id, first := row.Int("id"), row.Int("chat_id")
		if row.Value("chat_id") == nil {
			first = id
		}
		if chats[first] == nil {
			order = append(order, first)
		}
		chats[first] = append(chats[first], id)
		return nil
	}); err != nil {
		return err
	}
	for _, first := range order {
		c := &chat{to: d.To}
		for _, id := range chats[first] {
			if err := d.each(fmt.Sprintf("%s, row %d", where, id), t, "WHERE id = ?", []any{id}, func(row database.Row) error { return c.add(t, row) }); err != nil {
				return err
			}
		}
		if err := c.end(); err != nil {
			return err
		}
	}
	return nil
}

// A chat reads the rows of a conversation.
type chat struct {
	to     transcript.Sink
	conv   transcript.Conversation
	system string
}

// add reads a row: the instructions, unless they are those of the row before, the prompt, and the answer.
func (c *chat) add(t *table, row database.Row) error {
	at := row.Text(timeColumn(t))
	key := rawjson.Compact([]string{at, row.Text("model"), row.Text("system"), row.Text("prompt"), row.Text("response")})
	answer := transcript.ChainID(c.conv.Leaf, key)
	var list []*transcript.Message
	add := func(id, role, text string) {
		m := message(id, role, nil)
		if text != "" {
			m.Parts = append(m.Parts, content.Text(text))
		}
		m.Time = times.Of(gjson.Result{Type: gjson.String, Str: strings.Replace(at, " ", "T", 1)})
		list = append(list, m)
	}
	if system := row.Text("system"); system != "" && system != c.system {
		add(transcript.ChainID(answer, []byte("system")), "system", system)
		c.system = system
	}
	if prompt := row.Text("prompt"); prompt != "" {
		add(transcript.ChainID(answer, []byte("user")), "user", prompt)
	}
	add(answer, "assistant", row.Text("response"))
	list[len(list)-1].Model = row.Text("model")
	list[0].Records = []json.RawMessage{(&record{}).with("log", t.object(row))}
	if c.conv.ID == "" {
		c.conv.ID, c.conv.Created = answer, list[0].Time
	}
	c.conv.Model = row.Text("model")
	for _, m := range list {
		m.Parent, c.conv.Leaf = c.conv.Leaf, m.ID
		if err := c.to.Message(m); err != nil {
			return err
		}
	}
	return nil
}

// end ends the conversation, unless none of its rows was read.
func (c *chat) end() error {
	if c.conv.ID == "" {
		return nil
	}
	return c.to.End(&c.conv)
}
