package pi

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/compaction"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/provider"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/thread"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// writer writes the entries of a session.
type writer struct {
	*thread.Weave
	thread.Rows

	t     *transcript.Transcript
	o     transcript.Options
	lost  *report.Report
	pairs map[*content.Part]bool
	names map[string]string // of the tools that are called, by the ids of the calls

	in      map[string]*transcript.Message // all messages, by their ids
	head    map[string]string              // the first entry of each
	upgrade bool                           // entries of an old version become those of the newest
	old     []string                       // the ids that old entries got, in their order
	first   string                         // the entry that the first message follows
	hangs   map[string]string              // the message that an entry is or hangs on
	last    string                         // the entry that was written last
}

func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, format)
	messages := t.Messages
	w := &writer{
		Weave: thread.NewWeave(t, format, thread.Links{ID: "id", Parent: "parentId"}, isSaying, nil),
		Rows:  thread.NewRows(out, o.Now), t: t, o: o, lost: lost,
		pairs: calls.Kept(messages), names: map[string]string{}, hangs: map[string]string{}, in: map[string]*transcript.Message{}, head: map[string]string{},
	}
	for _, m := range messages {
		w.in[m.ID] = m
		for i := range m.Parts {
			if c := m.Parts[i].Call(); m.Parts[i].Type == content.TypeToolCall {
				w.names[c.ID] = c.Name
			}
		}
	}
	title := w.title(messages)
	w.upgrade = title || w.extends(messages)
	if err := w.begin(); err != nil {
		return err
	}
	for _, m := range messages {
		if w.Has(m) {
			w.records(m)
			w.Note(m)
		} else if err := w.make(m); err != nil {
			return err
		}
	}
	if err := w.end(messages, title); err != nil {
		return err
	}
	return w.Flush()
}

func isSaying(record []byte) bool {
	return messageOf(gjson.GetBytes(record, "type").Str, record) != nil
}

// title reports whether the title is to be written.
func (w *writer) title(messages []*transcript.Message) bool {
	name := ""
	look := func(records []json.RawMessage) {
		for _, r := range records {
			if v := gjson.GetManyBytes(r, "type", "name"); v[0].Str == "session_info" {
				name = member.String(v[1])
			}
		}
	}
	if w.t.Format == format {
		look(w.t.Records)
	}
	for _, m := range messages {
		if m.Format == format {
			look(m.Records)
		}
	}
	return w.t.Title != "" && w.t.Title != name
}

// extends reports whether the messages are other than those of one file of an old
// version, in their order.
func (w *writer) extends(messages []*transcript.Message) bool {
	previous := ""
	for _, m := range messages {
		if !w.Has(m) {
			return true
		}
		if w.Main[m.ID] == "" && m.Parent != previous {
			return true
		}
		previous = m.ID
	}
	return false
}

// begin writes the line that says which session it is, and what else stands before the
// first message.
func (w *writer) begin() error {
	var records []json.RawMessage
	if w.t.Format == format {
		records = w.t.Records
	}
	if !slices.ContainsFunc(records, func(r json.RawMessage) bool { return gjson.GetBytes(r, "type").Str == "session" }) {
		at := w.t.Created
		if at.IsZero() {
			at = w.o.Now
		}
		w.Row("", rawjson.Compact(struct {
			Type    string `json:"type"`
			Version int    `json:"version"`
			ID      string `json:"id"`
			Time    string `json:"timestamp"`
			Cwd     string `json:"cwd"`
		}{"session", version, w.o.ID, times.ISO(at), w.t.WorkDir()}))
	}
	w.old = []string{""} // which counts the line of the session
	for _, r := range records {
		if gjson.GetBytes(r, "type").Str == "session" {
			r = member.Set(r, "id", w.o.ID)
			if w.t.Dir != "" && w.t.Dir != gjson.GetBytes(r, "cwd").Str { // pi refuses a folder that is not there
				r = member.Set(r, "cwd", w.t.Dir)
			}
			if w.upgrade && gjson.GetBytes(r, "version").Int() < version {
				r = member.Set(r, "version", version)
			}
			w.Row("", r)
			continue
		}
		w.first = w.entry(r, w.first, "", "")
	}
	return nil
}

// records writes the entries that a message has.
func (w *writer) records(m *transcript.Message) {
	parent := cmp.Or(w.Main[m.Parent], w.first)
	follows := func(bool) bool { return m.Joined != "" && m.Joined == m.Parent && w.hangs[w.last] == m.Parent }
	for _, r := range w.Own(m, w.Main[m.Parent], w.in[m.Parent] != nil, follows) {
		id := gjson.GetBytes(r, "id").Str
		name := ""
		if isSaying(r) {
			name = m.ID
		}
		parent = w.entry(r, parent, name, m.ID)
		if id == "" && name != "" {
			w.Main[m.ID] = parent
		}
		if _, taken := w.head[m.ID]; !taken && name != "" {
			w.head[m.ID] = parent
		}
	}
}

// entry writes an entry as it is, but with an id and a link if it has none, and they are
// wanted. It returns its id.
func (w *writer) entry(r json.RawMessage, parent, name, message string) string {
	v := gjson.GetManyBytes(r, "id", "parentId", "message.role", "firstKeptEntryIndex")
	id, link := v[0].Str, v[1].Str
	if w.upgrade && v[2].Str == "hookMessage" {
		r = member.Set(r, "message.role", "custom")
	}
	if id == "" && w.upgrade {
		if id = name; id == "" {
			id = transcript.ChainID(parent, r)
		}
		w.old = append(w.old, id)
		r = member.Set(r, "id", id)
		if parent == "" {
			r = member.Set(r, "parentId", nil)
		} else {
			r = member.Set(r, "parentId", parent)
		}
		if i := int(v[3].Int()); v[3].Type == gjson.Number && i > 0 && i < len(w.old) {
			r = member.Set(r, "firstKeptEntryId", w.old[i])
			r = member.Drop(r, "firstKeptEntryIndex")
		}
		link = parent
	}
	w.hang(id, link, name)
	if name != "" {
		w.lost.Trace.ID(id, w.in[name])
	}
	w.Row(id, r)
	return id
}

// hang takes note of an entry that is written.
func (w *writer) hang(id, link, message string) {
	if message == "" {
		message = w.hangs[link]
	}
	if _, taken := w.hangs[id]; !taken || w.Main[message] == id {
		w.hangs[id] = message
	}
	w.last = id
}

// A entry is an entry that is made here.
type entry struct {
	Type     string  `json:"type"`
	ID       string  `json:"id"`
	Parent   *string `json:"parentId"`
	Time     string  `json:"timestamp"`
	Message  any     `json:"message,omitempty"`
	Name     string  `json:"name,omitempty"`
	Custom   string  `json:"customType,omitempty"`
	Content  any     `json:"content,omitempty"`
	Display  *bool   `json:"display,omitempty"`
	From     string  `json:"fromId,omitempty"`
	Summary  *string `json:"summary,omitempty"`
	Kept     string  `json:"firstKeptEntryId,omitempty"`
	Tokens   *int    `json:"tokensBefore,omitempty"`
	Unshaped any     `json:"data,omitempty"`
}

type userMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
	Time    int64   `json:"timestamp"`
}

type resultMessage struct {
	Role    string  `json:"role"`
	Call    string  `json:"toolCallId"`
	Tool    string  `json:"toolName"`
	Content []block `json:"content"`
	Failed  bool    `json:"isError"`
	Time    int64   `json:"timestamp"`
}

type answerMessage struct {
	Role     string          `json:"role"`
	Content  []block         `json:"content"`
	API      string          `json:"api"`
	Provider string          `json:"provider"`
	Model    string          `json:"model"`
	Usage    json.RawMessage `json:"usage"`
	Stop     string          `json:"stopReason"`
	Time     int64           `json:"timestamp"`
}

type block struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"thinkingSignature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Data      string          `json:"data,omitempty"`
	MIME      string          `json:"mimeType,omitempty"`
}

// make writes a message that has no entries.
func (w *writer) make(m *transcript.Message) error {
	if m.Parent != "" && w.in[m.Parent] == nil {
		w.lost.Add(report.LostLinks)
	}
	w.lost.Message(m, report.LostTimes, report.LostModels, report.LostSummaries)
	parent := w.Main[m.Parent]
	if m.Parent == "" {
		parent = w.first
	}
	at := w.Time(m)
	var entries []entry
	switch summary := m.Text(); {
	case m.Kind == transcript.Compaction:
		entries = []entry{{Type: "compaction", Summary: &summary, Tokens: new(int)}}
	case m.Kind == transcript.Summary && summary != "":
		entries = []entry{{Type: "branch_summary", Summary: &summary, From: cmp.Or(parent, "root")}}
	case m.Role == "assistant":
		entries = w.answer(m, at)
	default:
		entries = w.user(m, at)
	}
	if len(entries) == 0 {
		w.lost.Add(report.LostMessages)
		w.Main[m.ID] = parent
		return nil
	}
	for i, e := range entries {
		id, err := w.newID(m.ID, i)
		if err != nil {
			return err
		}
		e.ID, e.Time = id, times.ISO(at)
		if parent != "" {
			e.Parent = &parent
		}
		if e.Type == "compaction" {
			e.Kept = id // nothing
			if list := compaction.Kept(m, w.in); len(list) > 0 {
				e.Kept = cmp.Or(w.head[list[0].ID], id)
			}
		}
		if i == 0 {
			w.head[m.ID] = id
		}
		w.Written[id] = true
		w.lost.Trace.ID(id, m)
		w.hang(id, parent, m.ID)
		w.Row(id, rawjson.Compact(e))
		parent = id
	}
	w.Main[m.ID] = parent
	return nil
}

// newID returns the id for the n-th entry of a message: that of the message if it can
// be, else a new one.
func (w *writer) newID(message string, n int) (string, error) {
	fits := len(message) >= 8 && len(message) <= 36 && strings.Trim(message, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
	if n == 0 && fits && !w.Written[message] {
		return message, nil
	}
	for {
		var b [4]byte
		if _, err := io.ReadFull(w.o.Random, b[:]); err != nil {
			return "", fmt.Errorf("no random numbers: %w", err)
		}
		if id := hex.EncodeToString(b[:]); !w.Written[id] {
			return id, nil
		}
	}
}

// answer returns the entry for what a model said.
func (w *writer) answer(m *transcript.Message, at time.Time) []entry {
	model := cmp.Or(m.Model, w.t.Model, "unknown")
	a := answerMessage{
		Role: "assistant", Model: model, Stop: "stop", Time: at.UnixMilli(),
		Usage: json.RawMessage(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`),
	}
	a.Provider, a.API = apiOf(model)
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch p.Type {
		case content.TypeThinking:
			b := block{Type: "thinking", Thinking: &p.Text, Signature: parts.Signature(p)}
			if b.Signature != "" && !strings.HasPrefix(m.Model, "claude") {
				w.lost.Add(report.LostSignatures)
				b.Signature = ""
			}
			if p.Text != "" || b.Signature != "" {
				a.Content = append(a.Content, b)
			}
		case content.TypeToolCall:
			if !w.pairs[p] {
				a.Content = append(a.Content, w.words(p))
				continue
			}
			a.Stop = "toolUse"
			a.Content = append(a.Content, block{Type: "toolCall", ID: c.ID, Name: c.Name, Arguments: parts.Arguments(c.Arguments)})
		case content.TypeText, content.TypeData:
			if p.Text != "" {
				a.Content = append(a.Content, textBlock(p.Text))
			}
		default:
			w.lost.Part(p)
		}
	}
	if len(a.Content) == 0 {
		return nil
	}
	return []entry{{Type: "message", Message: a}}
}

// user returns the entries for what a user or a tool said: one for each result, and one
// for the rest.
func (w *writer) user(m *transcript.Message, at time.Time) (entries []entry) {
	u := userMessage{Role: "user", Time: at.UnixMilli()}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeToolResult && !w.pairs[p]:
			u.Content = append(u.Content, w.words(p))
		case p.Type == content.TypeToolResult:
			entries = append(entries, entry{Type: "message", Message: resultMessage{
				Role: "toolResult", Call: c.ID, Tool: cmp.Or(c.Name, w.names[c.ID], "tool"),
				Content: w.resultBlocks(p), Failed: c.Failed, Time: at.UnixMilli(),
			}})
		case p.Type == content.TypeImage:
			b, ok := w.image(p)
			if n := len(entries); ok && n > 0 && len(u.Content) == 0 { // it stands with the result before it
				r := entries[n-1].Message.(resultMessage)
				r.Content = append(r.Content, b)
				entries[n-1].Message = r
			} else if ok {
				u.Content = append(u.Content, b)
			}
		case p.Type == content.TypeText || p.Type == content.TypeData || p.Type == content.TypeThinking:
			if p.Text != "" {
				u.Content = append(u.Content, textBlock(p.Text))
			}
		default:
			w.lost.Part(p)
		}
	}
	switch {
	case len(u.Content) == 0:
	case m.Own.Role != "":
		display := true
		entries = append(entries, entry{Type: "custom_message", Custom: m.Own.Role, Content: u.Content, Display: &display})
	default:
		entries = append(entries, entry{Type: "message", Message: u})
	}
	return entries
}

// words returns a part that cannot stand as what it is as a text.
func (w *writer) words(p *content.Part) block {
	w.lost.Part(p)
	return textBlock(parts.Text(p))
}

func textBlock(s string) block { return block{Type: "text", Text: &s} }

// image returns the block for an image; false if it stands elsewhere.
func (w *writer) image(p *content.Part) (block, bool) {
	mime, data, url := p.File()
	if data == "" {
		w.lost.Add("images that stand elsewhere")
		return textBlock("[image " + url + "]"), url != ""
	}
	return block{Type: "image", Data: data, MIME: cmp.Or(mime, "image/png")}, true
}

// resultBlocks returns what a tool said: its text, and its images where it has more.
func (w *writer) resultBlocks(p *content.Part) []block {
	blocks := []block{}
	all := gjson.GetBytes(p.Meta, "content")
	if !all.IsArray() {
		return append(blocks, textBlock(p.Text))
	}
	said, err := content.Parse(content.Anthropic, []byte(`{"role":"user","content":`+all.Raw+`}`), nil)
	if err != nil {
		return append(blocks, textBlock(p.Text))
	}
	for i := range said.Parts {
		switch q := &said.Parts[i]; q.Type {
		case content.TypeText:
			blocks = append(blocks, textBlock(q.Text))
		case content.TypeImage:
			if b, ok := w.image(q); ok {
				blocks = append(blocks, b)
			}
		default:
			w.lost.Part(q)
		}
	}
	return blocks
}

// apiOf returns who has a model, and how it is spoken to.
func apiOf(model string) (by, api string) {
	switch by = provider.Of(model); by {
	case "anthropic":
		return by, "anthropic-messages"
	case "google":
		return by, "google-generative-ai"
	case "openai":
		return by, "openai-responses"
	}
	return "unknown", "openai-completions"
}

// end writes the title, and an entry after the one where the session goes on if that is
// not the last one.
func (w *writer) end(messages []*transcript.Message, title bool) error {
	if len(messages) == 0 {
		return nil
	}
	leaf := cmp.Or(w.in[w.t.Leaf], messages[len(messages)-1])
	parent := w.Main[leaf.ID]
	if (!title && w.hangs[w.last] == leaf.ID) || parent == "" {
		return nil
	}
	id, err := w.newID("", 0)
	if err != nil {
		return err
	}
	e := entry{Type: "custom", ID: id, Parent: &parent, Time: times.ISO(w.o.Now), Custom: "bough"}
	if title {
		e.Type, e.Custom, e.Name = "session_info", "", w.t.Title
	}
	w.Row(id, rawjson.Compact(e))
	return nil
}
