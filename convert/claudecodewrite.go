package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

// claudeVersion is the version of Claude Code whose records are written here.
const claudeVersion = "2.1.328"

// claudeWriter writes the records of a session.
type claudeWriter struct {
	*weave
	rows

	t     *Transcript
	o     Options
	lost  *report
	pairs map[*content.Part]bool

	in       map[string]*Message // all messages, by their ids
	children map[string]int      // how many follow each

	custom, ai, summary string // the titles that are written
	made                bool   // a record was made here

	check *claudeReader // of what is written
}

func writeClaude(out io.Writer, t *Transcript, o Options, lost *report) error {
	t = wholeAnswers(t, claudeName)
	w := &claudeWriter{
		weave: newWeave(t, claudeName, links{"uuid", "parentUuid", claudeLink}, claudeSays, claudePart),
		rows:  newRows(out, o.Now), t: t, o: o, lost: lost, pairs: standing(t.Messages), in: map[string]*Message{}, children: map[string]int{},
		check: newClaudeReader(nobody{}),
	}
	grows := false
	for _, m := range t.Messages {
		w.in[m.ID] = m
		w.children[m.Parent]++
		grows = grows || !w.has(m)
	}
	if t.Format == claudeName {
		w.records(t.Records)
	}
	for _, m := range t.Messages {
		if w.has(m) {
			records := w.own(m, w.main[m.Parent], w.in[m.Parent] != nil, func(root bool) bool { return w.follows(m, root) })
			if grows && w.main[m.ID] == "" {
				records = w.named(m, records)
			}
			w.records(records)
			w.passed(m)
		} else if err := w.make(m); err != nil {
			return err
		}
	}
	if err := w.end(); err != nil {
		return err
	}
	return w.flush()
}

// follows reports whether a reader joins a message that has records to the one before it,
// since it is the last one that is written. root reports whether m begins with a root.
func (w *claudeWriter) follows(m *Message, root bool) bool {
	if m.Joined == "" || m.Joined != m.Parent {
		return false
	}
	last, _ := w.check.find(w.main[m.Parent])
	fresh := w.check.unlinked
	for _, raw := range m.Records {
		r := newClaudeRecord(raw)
		fresh = fresh || r.restarts() || w.check.restarts[r.parent.Str]
		switch {
		case !claudeSays(raw):
		case r.side:
			return !root && w.check.sides[r.agent] == last
		default:
			return w.check.main == last && (!root || fresh || !r.prompts())
		}
	}
	return false
}

// records writes records that are there, with the id of the session that they are in now.
func (w *claudeWriter) records(records []json.RawMessage) {
	for _, raw := range records {
		r := newClaudeRecord(raw)
		switch r.kind {
		case "last-prompt":
			if !w.written[r.leaf] {
				continue
			}
		case "custom-title":
			w.custom = r.title
		case "ai-title":
			w.ai = r.title
		case "summary":
			if w.written[r.leaf] {
				w.summary = r.summary
			}
		}
		if r.session != "" && r.session != w.o.ID {
			raw = setMember(raw, "sessionId", w.o.ID)
		}
		w.emit(r.uuid, raw)
	}
}

// named returns the records of a message with the id of the message for the one that
// says it, which has none, so that others can follow it.
func (w *claudeWriter) named(m *Message, records []json.RawMessage) []json.RawMessage {
	records = slices.Clone(records)
	for i, r := range records {
		if claudeSays(r) && w.main[m.ID] == "" {
			w.main[m.ID], w.written[m.ID] = m.ID, true
			records[i] = setMember(r, "uuid", m.ID)
			if parent := w.main[m.Parent]; parent != "" && gjson.GetBytes(r, "parentUuid").Str == "" {
				records[i] = setMember(records[i], "parentUuid", parent)
			}
		}
	}
	return records
}

// emit writes a record, and takes note of it as one who reads the file does.
func (w *claudeWriter) emit(id string, raw []byte) {
	if w.row(id, raw) {
		_ = w.check.line(line{raw: raw}) // nothing that it tells is an error
	}
}

// nobody is a sink that takes everything and keeps nothing.
type nobody struct{}

func (nobody) Message(*Message) error  { return nil }
func (nobody) End(*Conversation) error { return nil }
func (nobody) Problem(Problem)         {}

// A claudeRow is a record that is made here.
type claudeRow struct {
	Parent     *string           `json:"parentUuid"`
	Logical    string            `json:"logicalParentUuid,omitempty"`
	Sidechain  bool              `json:"isSidechain"`
	UserType   string            `json:"userType"`
	Cwd        string            `json:"cwd"`
	Session    string            `json:"sessionId"`
	Version    string            `json:"version"`
	Branch     string            `json:"gitBranch"`
	Type       string            `json:"type"`
	Subtype    string            `json:"subtype,omitempty"`
	Content    string            `json:"content,omitempty"`
	Level      string            `json:"level,omitempty"`
	Compaction *claudeCompaction `json:"compactMetadata,omitempty"`
	Meta       bool              `json:"isMeta,omitempty"`
	Hidden     bool              `json:"isVisibleInTranscriptOnly,omitempty"`
	Summary    bool              `json:"isCompactSummary,omitempty"`
	Message    *claudeMessage    `json:"message,omitempty"`
	UUID       string            `json:"uuid"`
	Time       string            `json:"timestamp"`
}

type claudeCompaction struct {
	Trigger  string           `json:"trigger"`
	Tokens   int              `json:"preTokens"`
	Segment  *claudeSegment   `json:"preservedSegment,omitempty"`
	Messages *claudePreserved `json:"preservedMessages,omitempty"`
}

type claudeSegment struct {
	Head   string `json:"headUuid"`
	Anchor string `json:"anchorUuid"`
	Tail   string `json:"tailUuid"`
}

type claudePreserved struct {
	Anchor string   `json:"anchorUuid"`
	UUIDs  []string `json:"uuids"`
	All    []string `json:"allUuids"`
}

type claudeMessage struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type,omitempty"`
	Role    string          `json:"role"`
	Model   string          `json:"model,omitempty"`
	Content json.RawMessage `json:"content"`
	*claudeStop
}

type claudeStop struct {
	Reason   string          `json:"stop_reason"`
	Sequence *string         `json:"stop_sequence"`
	Usage    json.RawMessage `json:"usage"`
}

// make writes a message that has no records of the format.
func (w *claudeWriter) make(m *Message) error {
	parent := w.main[m.Parent]
	said := w.said(m)
	if len(said) == 0 {
		w.lost.add(lostMessages)
		w.main[m.ID] = parent
		return nil
	}
	if m.Parent != "" && w.in[m.Parent] == nil {
		w.lost.add(lostLinks)
	}
	id, err := w.newID(m.ID)
	if err != nil {
		return err
	}
	row := claudeRow{
		UserType: "external", Cwd: w.t.WorkDir(), Session: w.o.ID, Version: claudeVersion,
		Type: m.Role, UUID: id, Time: isoTime(w.of(m)),
	}
	if w.t.Format == claudeName && w.t.Version != "" {
		row.Version = w.t.Version
	}
	switch {
	case m.Kind == Compaction:
		if parent, err = w.boundary(m, row, parent); err != nil {
			return err
		}
		row.Hidden, row.Summary = true, true
	case m.Kind == Summary:
		w.lost.add(lostSummaries)
	case m.Own.Role != "":
		row.Meta = true
	}
	w.lost.message(m, lostTimes, lostModels, lostSummaries)
	if parent != "" {
		row.Parent = &parent
	}
	row.Message = &claudeMessage{Role: m.Role, Content: Records(said)}
	if m.Role == "assistant" {
		row.Message.ID = "msg_" + strings.ReplaceAll(id, "-", "")
		row.Message.Type = "message"
		row.Message.Model = cmp.Or(m.Model, w.t.Model, "unknown")
		row.Message.claudeStop = &claudeStop{Reason: "end_turn", Usage: json.RawMessage(`{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}`)}
		if m.HasPart(content.TypeToolCall) {
			row.Message.Reason = "tool_use"
		}
	} else if text := gjson.GetBytes(said[0], "text"); len(said) == 1 && gjson.GetBytes(said[0], "type").Str == "text" && len(m.Parts) == 1 && len(m.Parts[0].Meta) == 0 {
		row.Message.Content = json.RawMessage(text.Raw)
	}
	w.putRow(m.ID, row)
	return nil
}

func (w *claudeWriter) putRow(message string, row claudeRow) {
	w.written[row.UUID], w.made = true, true
	w.main[message] = row.UUID
	if m := w.in[message]; m != nil {
		w.lost.trace.id(row.UUID, m)
	}
	w.emit(row.UUID, rawjson.Compact(row))
}

// boundary writes the record before a summary that stands for what comes before it, and
// returns its id. row is that of the summary.
func (w *claudeWriter) boundary(m *Message, row claudeRow, parent string) (string, error) {
	id, err := w.newID("")
	if err != nil {
		return "", err
	}
	about := claudeCompaction{Trigger: "manual"}
	if uuids := w.preserved(m); len(uuids) > 0 {
		about.Segment = &claudeSegment{uuids[0], row.UUID, uuids[len(uuids)-1]}
		about.Messages = &claudePreserved{row.UUID, uuids, uuids}
	}
	row.Type, row.Subtype, row.UUID = "system", "compact_boundary", id
	row.Content, row.Level, row.Logical = "Conversation compacted", "info", parent
	row.Compaction = &about
	w.putRow("", row)
	return id, nil
}

// preserved returns the records that a compaction keeps in sight. Claude Code moves them
// below the summary when it reads them, and with them all that follows them; so there are
// none if anything else does.
func (w *claudeWriter) preserved(m *Message) (uuids []string) {
	list := kept(m, w.in)
	for _, k := range list {
		if w.children[k.ID] > 1 {
			w.lost.add("messages that a compaction kept in sight")
			return nil
		}
		if !w.has(k) {
			uuids = append(uuids, w.main[k.ID])
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
func (w *claudeWriter) newID(message string) (string, error) {
	if uuid.Validate(message) == nil && len(message) == 36 && !w.written[message] {
		return message, nil
	}
	id, err := uuid.NewRandomFromReader(w.o.Random)
	if err != nil {
		return "", fmt.Errorf("no random numbers: %w", err)
	}
	return id.String(), nil
}

// said returns what m says as blocks of Anthropic's.
func (w *claudeWriter) said(m *Message) (blocks []json.RawMessage) {
	var results []json.RawMessage
	for i := range m.Parts {
		p := m.Parts[i]
		c := p.Call()
		switch p.Type {
		case content.TypeThinking, content.TypeRedacted:
			if signed := p.Type == content.TypeRedacted || signature(&p) != ""; !signed || !strings.HasPrefix(m.Model, "claude") {
				if p.Type == content.TypeRedacted {
					w.lost.part(&p)
				} else {
					w.lost.add("thinking")
				}
				continue
			}
		case content.TypeToolCall:
			if !w.pairs[&m.Parts[i]] || m.Role != "assistant" {
				p = w.words(&p)
				break
			}
			p = content.ToolCall(content.Call{ID: claudeCallID(c.ID), Name: c.Name, Arguments: c.Arguments})
		case content.TypeToolResult:
			if !w.pairs[&m.Parts[i]] || m.Role != "user" {
				p = w.words(&p)
				break
			}
			p.Meta = json.RawMessage(setMember(p.Meta, "tool_call_id", claudeCallID(c.ID)))
		case content.TypeImage, content.TypeFile:
			if m.Role != "user" {
				w.lost.add("images and files of the assistant")
				continue
			}
		}
		item := content.Items(content.Anthropic, []*content.Message{{Role: m.Role, Parts: []content.Part{p}}}, nil)[0]
		block := gjson.GetBytes(item, "content.0").Raw
		switch {
		case block == "" && p.Type != content.TypeText:
			w.lost.part(&p)
		case block == "":
		case p.Type == content.TypeToolResult:
			results = append(results, json.RawMessage(block))
		default:
			blocks = append(blocks, json.RawMessage(block))
		}
	}
	return slices.Concat(results, blocks)
}

// words returns a call or a result that cannot stand as one as a text.
func (w *claudeWriter) words(p *content.Part) content.Part {
	w.lost.part(p)
	return content.Text(asText(p))
}

// claudeCallID returns the id of a call with the letters that Anthropic takes.
func claudeCallID(id string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, id)
}

// end writes the title and where the conversation goes on, if that is not said yet.
func (w *claudeWriter) end() error {
	if title := cmp.Or(w.custom, w.ai, w.summary); w.t.Title != "" && w.t.Title != title {
		w.row("", rawjson.Compact(struct {
			Type    string `json:"type"`
			Title   string `json:"customTitle"`
			Session string `json:"sessionId"`
		}{"custom-title", w.t.Title, w.o.ID}))
	}
	if len(w.t.Messages) == 0 {
		return nil
	}
	leaf := cmp.Or(w.in[w.t.Leaf], w.t.Messages[len(w.t.Messages)-1])
	uuid := w.main[leaf.ID]
	is, _ := w.check.find(uuid)
	switch told := w.check.active != ""; {
	case uuid == "", w.check.leaf() == is && (told || !w.made):
		return nil
	}
	if w.check.active = uuid; w.check.leaf() != is {
		// The program goes on at the end of a file that follows the place where it is told
		// to go on, so there must be another end.
		id, err := w.newID("")
		if err != nil {
			return err
		}
		w.row(id, rawjson.Compact(claudeRow{
			Parent: &uuid, UserType: "external", Cwd: w.t.WorkDir(), Session: w.o.ID, Version: claudeVersion,
			Type: "system", Subtype: "informational", Content: "The conversation goes on from here.", Level: "info",
			UUID: id, Time: isoTime(w.o.Now),
		}))
		uuid = id
	}
	prompt := ""
	for m, n := leaf, 0; m != nil && prompt == "" && n <= len(w.in); m, n = w.in[m.Parent], n+1 {
		if m.Role == "user" && m.Own.Role == "" && m.Kind == Said {
			prompt = m.Text()
		}
	}
	w.row("", rawjson.Compact(struct {
		Type    string `json:"type"`
		Prompt  string `json:"lastPrompt"`
		Leaf    string `json:"leafUuid"`
		Session string `json:"sessionId"`
	}{"last-prompt", prompt, uuid, w.o.ID}))
	return nil
}
