package convert

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// piWriter writes the entries of a session.
type piWriter struct {
	*weave
	rows

	t     *Transcript
	o     Options
	lost  *report
	pairs map[*content.Part]bool
	names map[string]string // of the tools that are called, by the ids of the calls

	in      map[string]*Message // all messages, by their ids
	head    map[string]string   // the first entry of each
	upgrade bool                // entries of an old version become those of the newest
	old     []string            // the ids that old entries got, in their order
	first   string              // the entry that the first message follows
	hangs   map[string]string   // the message that an entry is or hangs on
	last    string              // the entry that was written last
}

func writePi(out io.Writer, t *Transcript, o Options, lost *report) error {
	t = wholeAnswers(t, piName)
	messages := t.Messages
	w := &piWriter{
		weave: newWeave(t, piName, links{id: "id", parent: "parentId"}, piSaying, nil),
		rows:  newRows(out, o.Now), t: t, o: o, lost: lost,
		pairs: standing(messages), names: map[string]string{}, hangs: map[string]string{}, in: map[string]*Message{}, head: map[string]string{},
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
		if w.has(m) {
			w.records(m)
			w.passed(m)
		} else if err := w.make(m); err != nil {
			return err
		}
	}
	if err := w.end(messages, title); err != nil {
		return err
	}
	return w.flush()
}

func piSaying(record []byte) bool { return piSays(gjson.GetBytes(record, "type").Str, record) != nil }

// title reports whether the title is to be written.
func (w *piWriter) title(messages []*Message) bool {
	name := ""
	look := func(records []json.RawMessage) {
		for _, r := range records {
			if v := gjson.GetManyBytes(r, "type", "name"); v[0].Str == "session_info" {
				name = text(v[1])
			}
		}
	}
	if w.t.Format == piName {
		look(w.t.Records)
	}
	for _, m := range messages {
		if m.Format == piName {
			look(m.Records)
		}
	}
	return w.t.Title != "" && w.t.Title != name
}

// extends reports whether the messages are other than those of one file of an old
// version, in their order.
func (w *piWriter) extends(messages []*Message) bool {
	previous := ""
	for _, m := range messages {
		if !w.has(m) {
			return true
		}
		if w.main[m.ID] == "" && m.Parent != previous {
			return true
		}
		previous = m.ID
	}
	return false
}

// begin writes the line that says which session it is, and what else stands before the
// first message.
func (w *piWriter) begin() error {
	var records []json.RawMessage
	if w.t.Format == piName {
		records = w.t.Records
	}
	if !slices.ContainsFunc(records, func(r json.RawMessage) bool { return gjson.GetBytes(r, "type").Str == "session" }) {
		at := w.t.Created
		if at.IsZero() {
			at = w.o.Now
		}
		w.row("", rawjson.Compact(struct {
			Type    string `json:"type"`
			Version int    `json:"version"`
			ID      string `json:"id"`
			Time    string `json:"timestamp"`
			Cwd     string `json:"cwd"`
		}{"session", piVersion, w.o.ID, isoTime(at), w.t.WorkDir()}))
	}
	w.old = []string{""} // which counts the line of the session
	for _, r := range records {
		if gjson.GetBytes(r, "type").Str == "session" {
			r = setMember(r, "id", w.o.ID)
			if w.t.Dir != "" && w.t.Dir != gjson.GetBytes(r, "cwd").Str { // pi refuses a folder that is not there
				r = setMember(r, "cwd", w.t.Dir)
			}
			if w.upgrade && gjson.GetBytes(r, "version").Int() < piVersion {
				r = setMember(r, "version", piVersion)
			}
			w.row("", r)
			continue
		}
		w.first = w.entry(r, w.first, "", "")
	}
	return nil
}

// records writes the entries that a message has.
func (w *piWriter) records(m *Message) {
	parent := cmp.Or(w.main[m.Parent], w.first)
	follows := func(bool) bool { return m.Joined != "" && m.Joined == m.Parent && w.hangs[w.last] == m.Parent }
	for _, r := range w.own(m, w.main[m.Parent], w.in[m.Parent] != nil, follows) {
		id := gjson.GetBytes(r, "id").Str
		name := ""
		if piSaying(r) {
			name = m.ID
		}
		parent = w.entry(r, parent, name, m.ID)
		if id == "" && name != "" {
			w.main[m.ID] = parent
		}
		if _, taken := w.head[m.ID]; !taken && name != "" {
			w.head[m.ID] = parent
		}
	}
}

// entry writes an entry as it is, but with an id and a link if it has none, and they are
// wanted. It returns its id.
func (w *piWriter) entry(r json.RawMessage, parent, name, message string) string {
	v := gjson.GetManyBytes(r, "id", "parentId", "message.role", "firstKeptEntryIndex")
	id, link := v[0].Str, v[1].Str
	if w.upgrade && v[2].Str == "hookMessage" {
		r = setMember(r, "message.role", "custom")
	}
	if id == "" && w.upgrade {
		if id = name; id == "" {
			id = ChainID(parent, r)
		}
		w.old = append(w.old, id)
		r = setMember(r, "id", id)
		if parent == "" {
			r = setMember(r, "parentId", nil)
		} else {
			r = setMember(r, "parentId", parent)
		}
		if i := int(v[3].Int()); v[3].Type == gjson.Number && i > 0 && i < len(w.old) {
			r = setMember(r, "firstKeptEntryId", w.old[i])
			r = dropMember(r, "firstKeptEntryIndex")
		}
		link = parent
	}
	w.hang(id, link, name)
	if name != "" {
		w.lost.trace.id(id, w.in[name])
	}
	w.row(id, r)
	return id
}

// hang takes note of an entry that is written.
func (w *piWriter) hang(id, link, message string) {
	if message == "" {
		message = w.hangs[link]
	}
	if _, taken := w.hangs[id]; !taken || w.main[message] == id {
		w.hangs[id] = message
	}
	w.last = id
}

// A piEntry is an entry that is made here.
type piEntry struct {
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

type piUser struct {
	Role    string    `json:"role"`
	Content []piBlock `json:"content"`
	Time    int64     `json:"timestamp"`
}

type piResult struct {
	Role    string    `json:"role"`
	Call    string    `json:"toolCallId"`
	Tool    string    `json:"toolName"`
	Content []piBlock `json:"content"`
	Failed  bool      `json:"isError"`
	Time    int64     `json:"timestamp"`
}

type piAnswer struct {
	Role     string          `json:"role"`
	Content  []piBlock       `json:"content"`
	API      string          `json:"api"`
	Provider string          `json:"provider"`
	Model    string          `json:"model"`
	Usage    json.RawMessage `json:"usage"`
	Stop     string          `json:"stopReason"`
	Time     int64           `json:"timestamp"`
}

type piBlock struct {
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
func (w *piWriter) make(m *Message) error {
	if m.Parent != "" && w.in[m.Parent] == nil {
		w.lost.add(lostLinks)
	}
	w.lost.message(m, lostTimes, lostModels, lostSummaries)
	parent := w.main[m.Parent]
	if m.Parent == "" {
		parent = w.first
	}
	at := w.of(m)
	var entries []piEntry
	switch summary := m.Text(); {
	case m.Kind == Compaction:
		entries = []piEntry{{Type: "compaction", Summary: &summary, Tokens: new(int)}}
	case m.Kind == Summary && summary != "":
		entries = []piEntry{{Type: "branch_summary", Summary: &summary, From: cmp.Or(parent, "root")}}
	case m.Role == "assistant":
		entries = w.answer(m, at)
	default:
		entries = w.user(m, at)
	}
	if len(entries) == 0 {
		w.lost.add(lostMessages)
		w.main[m.ID] = parent
		return nil
	}
	for i, e := range entries {
		id, err := w.newID(m.ID, i)
		if err != nil {
			return err
		}
		e.ID, e.Time = id, isoTime(at)
		if parent != "" {
			e.Parent = &parent
		}
		if e.Type == "compaction" {
			e.Kept = id // nothing
			if list := kept(m, w.in); len(list) > 0 {
				e.Kept = cmp.Or(w.head[list[0].ID], id)
			}
		}
		if i == 0 {
			w.head[m.ID] = id
		}
		w.written[id] = true
		w.lost.trace.id(id, m)
		w.hang(id, parent, m.ID)
		w.row(id, rawjson.Compact(e))
		parent = id
	}
	w.main[m.ID] = parent
	return nil
}

// newID returns the id for the n-th entry of a message: that of the message if it can
// be, else a new one.
func (w *piWriter) newID(message string, n int) (string, error) {
	fits := len(message) >= 8 && len(message) <= 36 && strings.Trim(message, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
	if n == 0 && fits && !w.written[message] {
		return message, nil
	}
	for {
		var b [4]byte
		if _, err := io.ReadFull(w.o.Random, b[:]); err != nil {
			return "", fmt.Errorf("no random numbers: %w", err)
		}
		if id := hex.EncodeToString(b[:]); !w.written[id] {
			return id, nil
		}
	}
}

// answer returns the entry for what a model said.
func (w *piWriter) answer(m *Message, at time.Time) []piEntry {
	model := cmp.Or(m.Model, w.t.Model, "unknown")
	a := piAnswer{
		Role: "assistant", Model: model, Stop: "stop", Time: at.UnixMilli(),
		Usage: json.RawMessage(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`),
	}
	a.Provider, a.API = piProvider(model)
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch p.Type {
		case content.TypeThinking:
			b := piBlock{Type: "thinking", Thinking: &p.Text, Signature: signature(p)}
			if b.Signature != "" && !strings.HasPrefix(m.Model, "claude") {
				w.lost.add(lostSignatures)
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
			a.Content = append(a.Content, piBlock{Type: "toolCall", ID: c.ID, Name: c.Name, Arguments: arguments(c.Arguments)})
		case content.TypeText, content.TypeData:
			if p.Text != "" {
				a.Content = append(a.Content, piText(p.Text))
			}
		default:
			w.lost.part(p)
		}
	}
	if len(a.Content) == 0 {
		return nil
	}
	return []piEntry{{Type: "message", Message: a}}
}

// user returns the entries for what a user or a tool said: one for each result, and one
// for the rest.
func (w *piWriter) user(m *Message, at time.Time) (entries []piEntry) {
	u := piUser{Role: "user", Time: at.UnixMilli()}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeToolResult && !w.pairs[p]:
			u.Content = append(u.Content, w.words(p))
		case p.Type == content.TypeToolResult:
			entries = append(entries, piEntry{Type: "message", Message: piResult{
				Role: "toolResult", Call: c.ID, Tool: cmp.Or(c.Name, w.names[c.ID], "tool"),
				Content: w.resultBlocks(p), Failed: c.Failed, Time: at.UnixMilli(),
			}})
		case p.Type == content.TypeImage:
			b, ok := w.image(p)
			if n := len(entries); ok && n > 0 && len(u.Content) == 0 { // it stands with the result before it
				r := entries[n-1].Message.(piResult)
				r.Content = append(r.Content, b)
				entries[n-1].Message = r
			} else if ok {
				u.Content = append(u.Content, b)
			}
		case p.Type == content.TypeText || p.Type == content.TypeData || p.Type == content.TypeThinking:
			if p.Text != "" {
				u.Content = append(u.Content, piText(p.Text))
			}
		default:
			w.lost.part(p)
		}
	}
	switch {
	case len(u.Content) == 0:
	case m.Own.Role != "":
		display := true
		entries = append(entries, piEntry{Type: "custom_message", Custom: m.Own.Role, Content: u.Content, Display: &display})
	default:
		entries = append(entries, piEntry{Type: "message", Message: u})
	}
	return entries
}

// words returns a part that cannot stand as what it is as a text.
func (w *piWriter) words(p *content.Part) piBlock {
	w.lost.part(p)
	return piText(asText(p))
}

func piText(s string) piBlock { return piBlock{Type: "text", Text: &s} }

// image returns the block for an image; false if it stands elsewhere.
func (w *piWriter) image(p *content.Part) (piBlock, bool) {
	mime, data, url := p.File()
	if data == "" {
		w.lost.add("images that stand elsewhere")
		return piText("[image " + url + "]"), url != ""
	}
	return piBlock{Type: "image", Data: data, MIME: cmp.Or(mime, "image/png")}, true
}

// resultBlocks returns what a tool said: its text, and its images where it has more.
func (w *piWriter) resultBlocks(p *content.Part) []piBlock {
	blocks := []piBlock{}
	all := gjson.GetBytes(p.Meta, "content")
	if !all.IsArray() {
		return append(blocks, piText(p.Text))
	}
	said, err := content.Parse(content.Anthropic, []byte(`{"role":"user","content":`+all.Raw+`}`), nil)
	if err != nil {
		return append(blocks, piText(p.Text))
	}
	for i := range said.Parts {
		switch q := &said.Parts[i]; q.Type {
		case content.TypeText:
			blocks = append(blocks, piText(q.Text))
		case content.TypeImage:
			if b, ok := w.image(q); ok {
				blocks = append(blocks, b)
			}
		default:
			w.lost.part(q)
		}
	}
	return blocks
}

// piProvider returns who has a model, and how it is spoken to.
func piProvider(model string) (by, api string) {
	switch by = providerOf(model); by {
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
func (w *piWriter) end(messages []*Message, title bool) error {
	if len(messages) == 0 {
		return nil
	}
	leaf := cmp.Or(w.in[w.t.Leaf], messages[len(messages)-1])
	parent := w.main[leaf.ID]
	if (!title && w.hangs[w.last] == leaf.ID) || parent == "" {
		return nil
	}
	id, err := w.newID("", 0)
	if err != nil {
		return err
	}
	e := piEntry{Type: "custom", ID: id, Parent: &parent, Time: isoTime(w.o.Now), Custom: "bough"}
	if title {
		e.Type, e.Custom, e.Name = "session_info", "", w.t.Title
	}
	w.row(id, rawjson.Compact(e))
	return nil
}
