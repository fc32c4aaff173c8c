package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

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
