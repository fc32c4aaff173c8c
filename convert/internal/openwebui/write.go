package openwebui

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Write writes an array with one chat and all its messages.
func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	around := []byte(`{"id":"","user_id":"","title":"","chat":{"id":"","title":"","models":[],"params":{},"history":{"messages":{},"currentId":null},"tags":[],"timestamp":0,"files":[]},"updated_at":0,"created_at":0,"share_id":null,"archived":false,"pinned":false,"meta":{},"folder_id":null}`)
	set := func(path string, value any) { around = member.SetRaw(around, path, rawjson.Compact(value)) }
	lost.Conversation(t, report.LostTitles)
	if t.Format == format && len(t.Records) > 0 {
		around = bytes.Clone(t.Records[0])
	} else {
		created := t.Created
		if created.IsZero() {
			created = o.Now
		}
		set("created_at", seconds(created))
		set("updated_at", seconds(o.Now))
		set("chat.timestamp", max(o.Now.UnixMilli(), 0))
		if t.Model != "" {
			set("chat.models", []string{t.Model})
		}
	}
	if titleOf(around) != t.Title {
		set("title", t.Title)
		if gjson.GetBytes(around, "chat.title").Exists() {
			set("chat.title", t.Title)
		}
	}
	if o.ID != "" && member.Text(around, "id") != o.ID {
		set("id", o.ID)
	}
	s := writer{t: t, o: tree.NewOutline(t), lost: lost}
	rows, of := nodes.Writer{Format: format, Messages: messagesOf, ID: keyOf, Convert: s.convert, Lost: lost}.Rows(t)
	var records [][]byte
	at := map[string]int{}
	children := map[string][]string{}
	for _, r := range rows {
		if !r.Attached {
			children[r.Parent] = append(children[r.Parent], r.ID)
		}
	}
	for i, r := range rows {
		_, raw := member.Only(r.Raw)
		if !r.Attached {
			raw = linked(raw, r, children[r.ID])
		}
		records = append(records, raw)
		at[r.ID] = i
	}
	leaf := of[tree.Leaf(t)]
	if leaf != "" && member.Text(around, "chat.history.currentId") != leaf && !s.continues(member.Text(around, "chat.history.currentId"), rows, of) {
		set("chat.history.currentId", leaf)
	}
	if list := gjson.GetBytes(around, "chat.messages"); list.IsArray() {
		var path []int
		for id := leaf; len(path) < len(rows); {
			i, ok := at[id]
			if !ok {
				break
			}
			path = append(path, i)
			id = rows[i].Parent
		}
		slices.Reverse(path)
		if !isPath(list.Array(), path, rows) {
			var b bytes.Buffer
			b.WriteByte('[')
			for n, i := range path {
				if n > 0 {
					b.WriteByte(',')
				}
				b.Write(records[i])
			}
			b.WriteByte(']')
			around = member.SetRaw(around, "chat.messages", b.Bytes())
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		b.Write(rawjson.Compact(r.ID))
		b.WriteString(": ")
		b.Write(records[i])
	}
	b.WriteString("\n}")
	around = member.SetRaw(around, "chat.history.messages", b.Bytes())
	_, err := w.Write(append(append([]byte("["), around...), "]\n"...))
	return err
}

func keyOf(record json.RawMessage) string {
	key, _ := member.Only(record)
	return key
}

func seconds(t time.Time) int64 { return max(t.Unix(), 0) }

// linked returns a message with the id, parent and children of its row. Links that are
// right are kept as they are.
func linked(raw []byte, r *nodes.Row, children []string) []byte {
	if v := gjson.GetBytes(raw, "id"); v.Exists() && v.Str != r.ID {
		raw = member.SetRaw(raw, "id", rawjson.Compact(r.ID))
	}
	if member.Text(raw, "parentId") != r.Parent {
		parent := []byte("null")
		if r.Parent != "" {
			parent = rawjson.Compact(r.Parent)
		}
		raw = member.SetRaw(raw, "parentId", parent)
	}
	var says []string
	gjson.GetBytes(raw, "childrenIds").ForEach(func(_, id gjson.Result) bool {
		says = append(says, id.Str)
		return true
	})
	for _, id := range children {
		if !slices.Contains(says, id) {
			raw = member.SetRaw(raw, "childrenIds", rawjson.Compact(children))
			break
		}
	}
	if len(says) > len(children) && !slices.Equal(says, children) {
		if children == nil {
			children = []string{}
		}
		raw = member.SetRaw(raw, "childrenIds", rawjson.Compact(children))
	}
	return raw
}

// isPath reports whether a list has the messages of a path.
func isPath(list []gjson.Result, path []int, rows []*nodes.Row) bool {
	if len(list) != len(path) {
		return false
	}
	for n, i := range path {
		if list[n].Get("id").Str != rows[i].ID {
			return false
		}
	}
	return true
}

type writer struct {
	t    *transcript.Transcript
	o    tree.Outline
	lost *report.Report
}

// continues reports whether the message at key, which has no content, is a record that is
// attached to the leaf.
func (s *writer) continues(key string, rows []*nodes.Row, of map[string]string) bool {
	for i, r := range rows {
		if r.Attached && r.ID == key {
			for ; i >= 0; i-- {
				if !rows[i].Attached {
					return rows[i].ID == of[tree.Leaf(s.t)]
				}
			}
		}
	}
	return false
}

// A step is an item of an output.
type step struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Role      string `json:"role,omitempty"`
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Content   []text `json:"content,omitempty"`
	Output    []text `json:"output,omitempty"`
	Status    string `json:"status"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (s *writer) convert(m *transcript.Message) []byte {
	s.lost.Message(m, report.LostTimes, report.LostModels, report.LostSystem)
	compile()
	answer := m.Role == "assistant" || m.HasPart(content.TypeToolResult)
	s.lost.Count(report.LostModels, m.Model != "" && !answer)
	var texts []string
	var output []step
	var files []map[string]string
	plain := true // an answer is only a text
	say := func(said string) {
		if said == "" {
			return
		}
		texts = append(texts, said)
		output = append(output, step{Type: "message", ID: "msg_" + m.ID, Role: "assistant", Content: []text{{"output_text", said}}, Status: "completed"})
		plain = plain && !elements.details.MatchString(said) && strings.Trim(said, "\n") == said
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch p.Type {
		case content.TypeText:
			say(p.Text)
		case content.TypeThinking:
			if !answer {
				s.lost.Part(p)
				say(p.Text)
				continue
			}
			s.lost.Signature(p)
			if p.Text == "" {
				continue
			}
			plain = false
			output = append(output, step{Type: "reasoning", ID: "rs_" + m.ID, Content: []text{{"output_text", p.Text}}, Status: "completed"})
			texts = append(texts, `<details type="reasoning" done="true" duration="0">`+"\n<summary>Thought</summary>\n&gt; "+
				strings.ReplaceAll(html.EscapeString(p.Text), "\n", "\n&gt; ")+"\n</details>")
		case content.TypeToolCall:
			if !answer {
				s.lost.Part(p)
				say(parts.Text(p))
				continue
			}
			plain = false
			output = append(output, step{Type: "function_call", ID: c.ID, CallID: c.ID, Name: c.Name, Arguments: c.Arguments, Status: "completed"})
			texts = append(texts, `<details type="tool_calls" done="true" id="`+html.EscapeString(c.ID)+`" name="`+html.EscapeString(c.Name)+`" arguments="`+
				html.EscapeString(string(rawjson.Compact(c.Arguments)))+`">`+"\n<summary>Tool Executed</summary>\n</details>")
		case content.TypeToolResult:
			s.lost.Count(report.LostFailures, c.Failed)
			s.lost.Extras(p)
			plain = false
			output = append(output, step{Type: "function_call_output", CallID: c.ID, Output: []text{{"input_text", p.Text}}, Status: "completed"})
		case content.TypeImage:
			if url := parts.DataURL(p); url != "" && !answer {
				files = append(files, map[string]string{"type": "image", "url": url})
				continue
			}
			fallthrough
		default:
			if p.Type != content.TypeData || p.Text == "" {
				s.lost.Part(p)
			}
			say(parts.Text(p))
		}
	}
	if len(output)+len(files) == 0 {
		return nil
	}
	role := "user"
	switch {
	case answer:
		role = "assistant"
	case m.Own.Role != "":
		role = "system"
	}
	if plain || !answer {
		output = nil
	}
	n := node{ID: m.ID, Children: []string{}, Role: role, Content: parts.JoinLines(texts...), Output: output, Files: files}
	if !m.Time.IsZero() {
		at := seconds(m.Time)
		n.Time = &at
	}
	if answer {
		n.Model, n.ModelName, n.Done = m.Model, m.Model, true
	}
	return recordOf(export.Item{Key: m.ID, Raw: rawjson.Compact(n)})
}

// A node is a message of Open WebUI.
type node struct {
	ID        string              `json:"id"`
	Parent    *string             `json:"parentId"`
	Children  []string            `json:"childrenIds"`
	Role      string              `json:"role"`
	Content   string              `json:"content"`
	Output    []step              `json:"output,omitempty"`
	Files     []map[string]string `json:"files,omitempty"`
	Model     string              `json:"model,omitempty"`
	ModelName string              `json:"modelName,omitempty"`
	Time      *int64              `json:"timestamp,omitempty"`
	Done      bool                `json:"done,omitempty"`
}
