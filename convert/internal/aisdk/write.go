package aisdk

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Write writes a path as an array, or as an object if it was read from one.
func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, format)
	w := nodes.Writer{Format: format, Messages: messagesOf, ID: idOf, Lost: lost}
	t = calls.Fold(t, w.Own(t))
	lost.Conversation(t)
	s := writer{lost: lost, pairs: calls.Folded(t.Messages)}
	w.Convert = s.convert
	rows, _ := w.Rows(t)
	raw := nodes.Array(rows)
	if t.Format == format && len(t.Records) > 0 {
		around := bytes.Clone(t.Records[0])
		if id := gjson.GetBytes(around, "id"); id.Exists() && o.ID != "" && id.Str != o.ID {
			around = member.Set(around, "id", o.ID)
		}
		raw = member.SetRaw(around, "messages", raw)
	}
	_, err := out.Write(append(raw, '\n'))
	return err
}

type writer struct {
	lost  *report.Report
	pairs map[*content.Part]bool
}

// A message is a UI message.
type message struct {
	ID       string    `json:"id"`
	Role     string    `json:"role"`
	Metadata *metadata `json:"metadata,omitempty"`
	Parts    []part    `json:"parts"`
}

type metadata struct {
	Created int64  `json:"createdAt,omitempty"`
	Model   string `json:"model,omitempty"`
}

// A part is a part of a UI message of any type.
type part struct {
	Type     string          `json:"type"`
	Text     *string         `json:"text,omitempty"`
	Tool     string          `json:"toolName,omitempty"`
	Call     string          `json:"toolCallId,omitempty"`
	State    string          `json:"state,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Output   *string         `json:"output,omitempty"`
	Error    *string         `json:"errorText,omitempty"`
	MIME     string          `json:"mediaType,omitempty"`
	Filename string          `json:"filename,omitempty"`
	URL      string          `json:"url,omitempty"`
	Provider *provider       `json:"providerMetadata,omitempty"`
}

type provider struct {
	Anthropic anthropic `json:"anthropic"`
}

type anthropic struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redactedData,omitempty"`
}

// convert returns the record of a message, nil if nothing of it can be written.
func (s writer) convert(m *transcript.Message) []byte {
	s.lost.Message(m, report.LostTimes, report.LostModels, report.LostSystem)
	answer, user := m.Role == "assistant", m.Role == "user" && m.Own.Role == ""
	n := message{ID: m.ID, Role: "system", Parts: []part{}}
	if answer || user {
		n.Role = m.Role
	}
	say := func(text string) {
		if text != "" {
			n.Parts = append(n.Parts, part{Type: "text", Text: &text})
		}
	}
	called := map[string]int{} // the places of the calls, from 1
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		_, data, url := p.File()
		text, isText := parts.TextFile(p)
		switch {
		case p.Type == content.TypeText, p.Type == content.TypeData && p.Text != "":
			say(p.Text)
		case p.Type == content.TypeThinking && answer:
			r := part{Type: "reasoning", Text: &p.Text}
			if signature := parts.Signature(p); signature != "" {
				r.Provider = &provider{anthropic{Signature: signature}}
			}
			n.Parts = append(n.Parts, r)
		case p.Type == content.TypeRedacted && answer && gjson.GetBytes(p.Meta, "data").Str != "":
			n.Parts = append(n.Parts, part{Type: "reasoning", Text: new(string), Provider: &provider{anthropic{Redacted: gjson.GetBytes(p.Meta, "data").Str}}})
		case p.Type == content.TypeToolCall && answer && s.pairs[p]:
			n.Parts = append(n.Parts, part{Type: "dynamic-tool", Tool: c.Name, Call: c.ID, State: "input-available", Input: parts.Arguments(c.Arguments)})
			called[c.ID] = len(n.Parts)
		case p.Type == content.TypeToolResult && s.pairs[p] && called[c.ID] > 0:
			s.lost.Extras(p)
			r := &n.Parts[called[c.ID]-1]
			if r.State, r.Output = "output-available", &p.Text; c.Failed {
				r.State, r.Output, r.Error = "output-error", nil, &p.Text
			}
		case p.Type == content.TypeFile && user && isText:
			n.Parts = append(n.Parts, part{Type: "file", MIME: "text/plain", Filename: p.Filename, URL: "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte(text))})
		case (p.Type == content.TypeImage || p.Type == content.TypeFile || p.Type == content.TypeAudio || p.Type == content.TypeVideo) && user && (data != "" || strings.HasPrefix(url, "http")):
			n.Parts = append(n.Parts, part{Type: "file", MIME: typeOf(p), Filename: p.Filename, URL: parts.DataURL(p)})
		default:
			s.lost.Part(p)
			say(parts.Text(p))
		}
	}
	if len(n.Parts) == 0 {
		return nil
	}
	meta := metadata{Model: m.Model}
	if !m.Time.IsZero() {
		meta.Created = max(m.Time.UnixMilli(), 0)
	}
	if !answer {
		s.lost.Count(report.LostModels, m.Model != "")
		meta.Model = ""
	}
	if meta != (metadata{}) {
		n.Metadata = &meta
	}
	return rawjson.Compact(n)
}

// typeOf returns the media type of a file.
func typeOf(p *content.Part) string {
	mime, _, _ := p.File()
	if p.Type == content.TypeFile {
		return cmp.Or(mime, "application/octet-stream")
	}
	return cmp.Or(mime, p.Type+"/*")
}
