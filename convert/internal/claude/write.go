package claude

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/thread"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// version is the version of Claude Code whose records are written here.
const version = "2.1.328"

// writer writes the records of a session.
type writer struct {
	*thread.Weave
	thread.Rows

	t     *transcript.Transcript
	o     transcript.Options
	lost  *report.Report
	pairs map[*content.Part]bool

	in       map[string]*transcript.Message // all messages, by id
	children map[string]int                 // number of children of each

	custom, ai, summary string // the titles written so far
	made                bool   // a record was generated
	agent               bool   // all records are of a sub-agent, whose conversation becomes a session of its own

	check *reader // reads the records written so far
}

func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, format)
	w := &writer{
		Weave: thread.NewWeave(t, format, thread.Links{ID: "uuid", Parent: "parentUuid", ParentOf: linkOf}, says, isPart),
		Rows:  thread.NewRows(out, o.Now), t: t, o: o, lost: lost, pairs: calls.Kept(t.Messages), in: map[string]*transcript.Message{}, children: map[string]int{},
		check: newReader(discard{}),
	}
	w.agent = isAgent(t, o.ID)
	grows := false
	for _, m := range t.Messages {
		w.in[m.ID] = m
		w.children[m.Parent]++
		grows = grows || !w.Has(m)
	}
	if t.Format == format {
		w.records(t.Records)
	}
	for _, m := range t.Messages {
		if w.Has(m) {
			records := w.Own(m, w.Main[m.Parent], w.in[m.Parent] != nil, func(root bool) bool { return w.follows(m, root) })
			if grows && w.Main[m.ID] == "" {
				records = w.named(m, records)
			}
			w.records(records)
			w.Note(m)
		} else if err := w.make(m); err != nil {
			return err
		}
	}
	if err := w.end(); err != nil {
		return err
	}
	return w.Flush()
}

// follows reports whether a reader joins a message with records to the last
// written one. root reports whether m begins with a root.
func (w *writer) follows(m *transcript.Message, root bool) bool {
	if m.Joined == "" || m.Joined != m.Parent {
		return false
	}
	last, _ := w.check.Find(w.Main[m.Parent])
	fresh := w.check.unlinked
	for _, raw := range m.Records {
		r := parseRecord(raw)
		fresh = fresh || r.restarts() || w.check.restarts[r.parent.Str]
		switch {
		case !says(raw):
		case r.side && !w.agent:
			return !root && w.check.sides[r.agent] == last
		default:
			return w.check.main == last && (!root || fresh || !r.prompts())
		}
	}
	return false
}

// records writes existing records, with the new id of the session.
func (w *writer) records(records []json.RawMessage) {
	for _, raw := range records {
		r := parseRecord(raw)
		switch r.kind {
		case "last-prompt":
			if !w.Written[r.leaf] {
				continue
			}
		case "custom-title":
			w.custom = r.title
		case "ai-title":
			w.ai = r.title
		case "summary":
			if w.Written[r.leaf] {
				w.summary = r.summary
			}
		}
		if r.session != "" && r.session != w.o.ID {
			raw = member.Set(raw, "sessionId", w.o.ID)
		}
		if w.agent && r.side {
			raw = asMain(raw)
		}
		w.emit(r.uuid, raw)
	}
}

// named returns the records of a message. If the record with its content has no
// id, it gets the id of the message, so that others can link to it.
func (w *writer) named(m *transcript.Message, records []json.RawMessage) []json.RawMessage {
	records = slices.Clone(records)
	for i, r := range records {
		if says(r) && w.Main[m.ID] == "" {
			w.Main[m.ID], w.Written[m.ID] = m.ID, true
			records[i] = member.Set(r, "uuid", m.ID)
			if parent := w.Main[m.Parent]; parent != "" && gjson.GetBytes(r, "parentUuid").Str == "" {
				records[i] = member.Set(records[i], "parentUuid", parent)
			}
		}
	}
	return records
}

// emit writes a record, and tracks it as a reader of the file does.
func (w *writer) emit(id string, raw []byte) {
	if w.Row(id, raw) {
		r := parseRecord(raw)
		_ = w.check.line(&jsonl.Line{Raw: raw}, &r) // its problems are not errors
	}
}

// discard is a sink that discards everything.
type discard struct{}

func (discard) Message(*transcript.Message) error  { return nil }
func (discard) End(*transcript.Conversation) error { return nil }
func (discard) Problem(transcript.Problem)         {}

// end writes the title, and where the conversation continues, if not written yet.
func (w *writer) end() error {
	if title := cmp.Or(w.custom, w.ai, w.summary); w.t.Title != "" && w.t.Title != title {
		w.Row("", rawjson.Compact(struct {
			Type    string `json:"type"`
			Title   string `json:"customTitle"`
			Session string `json:"sessionId"`
		}{"custom-title", w.t.Title, w.o.ID}))
	}
	if len(w.t.Messages) == 0 {
		return nil
	}
	leaf := cmp.Or(w.in[w.t.Leaf], w.t.Messages[len(w.t.Messages)-1])
	uuid := w.Main[leaf.ID]
	is, _ := w.check.Find(uuid)
	switch told := w.check.active != ""; {
	case uuid == "", w.check.leaf() == is && (told || !w.made):
		return nil
	}
	if w.check.active = uuid; w.check.leaf() != is {
		// The program continues at the last leaf after the recorded place, so there must
		// be another leaf.
		id, err := w.newID("")
		if err != nil {
			return err
		}
		w.Row(id, rawjson.Compact(row{
			Parent: &uuid, UserType: "external", Cwd: w.t.WorkDir(), Session: w.o.ID, Version: version,
			Type: "system", Subtype: "informational", Content: "The conversation continues here.", Level: "info",
			UUID: id, Time: times.ISO(w.o.Now),
		}))
		uuid = id
	}
	prompt := ""
	for m, n := leaf, 0; m != nil && prompt == "" && n <= len(w.in); m, n = w.in[m.Parent], n+1 {
		if m.Role == "user" && m.Own.Role == "" && m.Kind == transcript.Said {
			prompt = m.Text()
		}
	}
	w.Row("", rawjson.Compact(struct {
		Type    string `json:"type"`
		Prompt  string `json:"lastPrompt"`
		Leaf    string `json:"leafUuid"`
		Session string `json:"sessionId"`
	}{"last-prompt", prompt, uuid, w.o.ID}))
	return nil
}
