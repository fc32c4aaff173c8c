package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/compaction"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/thread"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/google/uuid"
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

// isAgent reports whether a conversation has records of sidechains of another session than the
// one that is written, and no others with content.
func isAgent(t *transcript.Transcript, id string) (is bool) {
	if t.Format != format {
		return false
	}
	for _, m := range t.Messages {
		for _, raw := range m.Records {
			if !says(raw) {
				continue
			}
			if r := parseRecord(raw); !r.side || r.session == id {
				return false
			}
			is = true
		}
	}
	return is
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
		if w.agent && r.side { // Claude Code shows and resumes no sidechain
			raw = member.Drop(member.Set(raw, "isSidechain", false), "agentId")
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
		_ = w.check.line(jsonl.Line{Raw: raw}) // its problems are not errors
	}
}

// discard is a sink that discards everything.
type discard struct{}

func (discard) Message(*transcript.Message) error  { return nil }
func (discard) End(*transcript.Conversation) error { return nil }
func (discard) Problem(transcript.Problem)         {}

// A row is a generated record.
type row struct {
	Parent     *string          `json:"parentUuid"`
	Logical    string           `json:"logicalParentUuid,omitempty"`
	Sidechain  bool             `json:"isSidechain"`
	UserType   string           `json:"userType"`
	Cwd        string           `json:"cwd"`
	Session    string           `json:"sessionId"`
	Version    string           `json:"version"`
	Branch     string           `json:"gitBranch"`
	Type       string           `json:"type"`
	Subtype    string           `json:"subtype,omitempty"`
	Content    string           `json:"content,omitempty"`
	Level      string           `json:"level,omitempty"`
	Compaction *compactMetadata `json:"compactMetadata,omitempty"`
	Meta       bool             `json:"isMeta,omitempty"`
	Hidden     bool             `json:"isVisibleInTranscriptOnly,omitempty"`
	Summary    bool             `json:"isCompactSummary,omitempty"`
	Message    *rowMessage      `json:"message,omitempty"`
	UUID       string           `json:"uuid"`
	Time       string           `json:"timestamp"`
}

type compactMetadata struct {
	Trigger  string             `json:"trigger"`
	Tokens   int                `json:"preTokens"`
	Segment  *segment           `json:"preservedSegment,omitempty"`
	Messages *preservedMessages `json:"preservedMessages,omitempty"`
}

type segment struct {
	Head   string `json:"headUuid"`
	Anchor string `json:"anchorUuid"`
	Tail   string `json:"tailUuid"`
}

type preservedMessages struct {
	Anchor string   `json:"anchorUuid"`
	UUIDs  []string `json:"uuids"`
	All    []string `json:"allUuids"`
}

type rowMessage struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type,omitempty"`
	Role    string          `json:"role"`
	Model   string          `json:"model,omitempty"`
	Content json.RawMessage `json:"content"`
	*stop
}

type stop struct {
	Reason   string          `json:"stop_reason"`
	Sequence *string         `json:"stop_sequence"`
	Usage    json.RawMessage `json:"usage"`
}

// make writes a message that has no records of the format.
func (w *writer) make(m *transcript.Message) error {
	parent := w.Main[m.Parent]
	said := w.said(m)
	if len(said) == 0 {
		w.lost.Add(report.LostMessages)
		w.Main[m.ID] = parent
		return nil
	}
	if m.Parent != "" && w.in[m.Parent] == nil {
		w.lost.Add(report.LostLinks)
	}
	id, err := w.newID(m.ID)
	if err != nil {
		return err
	}
	row := row{
		UserType: "external", Cwd: w.t.WorkDir(), Session: w.o.ID, Version: version,
		Type: m.Role, UUID: id, Time: times.ISO(w.Time(m)),
	}
	if w.t.Format == format && w.t.Version != "" {
		row.Version = w.t.Version
	}
	switch {
	case m.Kind == transcript.Compaction:
		if parent, err = w.boundary(m, row, parent); err != nil {
			return err
		}
		row.Hidden, row.Summary = true, true
	case m.Kind == transcript.Summary:
		w.lost.Add(report.LostSummaries)
	case m.Own.Role != "":
		row.Meta = true
	}
	w.lost.Message(m, report.LostTimes, report.LostModels, report.LostSummaries)
	if parent != "" {
		row.Parent = &parent
	}
	row.Message = &rowMessage{Role: m.Role, Content: records.Join(said)}
	if m.Role == "assistant" {
		row.Message.ID = "msg_" + strings.ReplaceAll(id, "-", "")
		row.Message.Type = "message"
		row.Message.Model = cmp.Or(m.Model, w.t.Model, "unknown")
		row.Message.stop = &stop{Reason: "end_turn", Usage: json.RawMessage(`{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}`)}
		if m.HasPart(content.TypeToolCall) {
			row.Message.Reason = "tool_use"
		}
	} else if text := gjson.GetBytes(said[0], "text"); len(said) == 1 && gjson.GetBytes(said[0], "type").Str == "text" && len(m.Parts) == 1 && len(m.Parts[0].Meta) == 0 {
		row.Message.Content = json.RawMessage(text.Raw)
	}
	w.putRow(m.ID, row)
	return nil
}

func (w *writer) putRow(message string, row row) {
	w.Written[row.UUID], w.made = true, true
	w.Main[message] = row.UUID
	if m := w.in[message]; m != nil {
		w.lost.Trace.ID(row.UUID, m)
	}
	w.emit(row.UUID, rawjson.Compact(row))
}

// boundary writes the record before a summary that replaces earlier messages, and
// returns its id. row is that of the summary.
func (w *writer) boundary(m *transcript.Message, row row, parent string) (string, error) {
	id, err := w.newID("")
	if err != nil {
		return "", err
	}
	about := compactMetadata{Trigger: "manual"}
	if uuids := w.preserved(m); len(uuids) > 0 {
		about.Segment = &segment{uuids[0], row.UUID, uuids[len(uuids)-1]}
		about.Messages = &preservedMessages{row.UUID, uuids, uuids}
	}
	row.Type, row.Subtype, row.UUID = "system", "compact_boundary", id
	row.Content, row.Level, row.Logical = "Conversation compacted", "info", parent
	row.Compaction = &about
	w.putRow("", row)
	return id, nil
}

// preserved returns the records that a compaction keeps. When Claude Code reads
// them, it moves them below the summary, with all that follows them; so there
// are none if anything else follows them.
func (w *writer) preserved(m *transcript.Message) (uuids []string) {
	list := compaction.Kept(m, w.in)
	for _, k := range list {
		if w.children[k.ID] > 1 {
			w.lost.Add("messages that a compaction kept")
			return nil
		}
		if !w.Has(k) {
			uuids = append(uuids, w.Main[k.ID])
			continue
		}
		for _, r := range k.Records {
			if id := gjson.GetBytes(r, "uuid").Str; id != "" {
				uuids = append(uuids, id)
			}
		}
	}
	return slices.Compact(slices.DeleteFunc(uuids, func(id string) bool { return id == "" }))
}

// newID returns the id for a record: that of the message if it can be, else a new one.
func (w *writer) newID(message string) (string, error) {
	if uuid.Validate(message) == nil && len(message) == 36 && !w.Written[message] {
		return message, nil
	}
	id, err := uuid.NewRandomFromReader(w.o.Random)
	if err != nil {
		return "", fmt.Errorf("no random numbers: %w", err)
	}
	return id.String(), nil
}

// said returns the content of m as Anthropic's blocks.
func (w *writer) said(m *transcript.Message) (blocks []json.RawMessage) {
	var results []json.RawMessage
	for i := range m.Parts {
		p := m.Parts[i]
		c := p.Call()
		switch p.Type {
		case content.TypeThinking, content.TypeRedacted:
			if signed := p.Type == content.TypeRedacted || parts.Signature(&p) != ""; !signed || !strings.HasPrefix(m.Model, "claude") {
				if p.Type == content.TypeRedacted {
					w.lost.Part(&p)
				} else {
					w.lost.Add("thinking")
				}
				continue
			}
		case content.TypeToolCall:
			if !w.pairs[&m.Parts[i]] || m.Role != "assistant" {
				p = w.words(&p)
				break
			}
			p = content.ToolCall(content.Call{ID: callID(c.ID), Name: c.Name, Arguments: c.Arguments})
		case content.TypeToolResult:
			if !w.pairs[&m.Parts[i]] || m.Role != "user" {
				p = w.words(&p)
				break
			}
			p.Meta = json.RawMessage(member.Set(p.Meta, "tool_call_id", callID(c.ID)))
		case content.TypeImage, content.TypeFile:
			if m.Role != "user" {
				w.lost.Add("images and files of the assistant")
				continue
			}
		}
		item := content.Items(content.Anthropic, []*content.Message{{Role: m.Role, Parts: []content.Part{p}}}, nil)[0]
		block := gjson.GetBytes(item, "content.0").Raw
		switch {
		case block == "" && p.Type != content.TypeText:
			w.lost.Part(&p)
		case block == "":
		case p.Type == content.TypeToolResult:
			results = append(results, json.RawMessage(block))
		default:
			blocks = append(blocks, json.RawMessage(block))
		}
	}
	return slices.Concat(results, blocks)
}

// words returns a call or result that has no block type as text.
func (w *writer) words(p *content.Part) content.Part {
	w.lost.Part(p)
	return content.Text(parts.Text(p))
}

// callID returns the id of a call with only the characters that Anthropic
// accepts.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, id)
}

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
