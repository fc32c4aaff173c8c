package pi

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/thread"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
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
	upgrade bool                           // convert entries of an old version to the newest
	old     []string                       // the new ids of old entries, in order
	first   string                         // the entry that the first message follows
	hangs   map[string]string              // the message that an entry belongs to
	last    string                         // the last entry written
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

// extends reports whether the messages differ from those of one file of an old
// version.
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

// begin writes the header line of the session, and the other lines before the first
// message.
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

// entry writes an entry unchanged, except that it adds an id and a link if they are
// missing and needed. It returns its id.
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

// hang records an entry that is written.
func (w *writer) hang(id, link, message string) {
	if message == "" {
		message = w.hangs[link]
	}
	if _, taken := w.hangs[id]; !taken || w.Main[message] == id {
		w.hangs[id] = message
	}
	w.last = id
}

// end writes the title, and, if the session does not continue at the last entry, an
// entry after the one where it does.
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
