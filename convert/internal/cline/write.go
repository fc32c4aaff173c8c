package cline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"path"
	"strconv"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/provider"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/tidwall/gjson"
)

// manifest returns the file that describes a session to the program.
func manifest(file string, t *transcript.Transcript, o transcript.Options) (string, []byte) {
	dir := t.WorkDir()
	return path.Join(path.Dir(file), o.ID+".json"), append(rawjson.Compact(map[string]any{
		"version": 1, "session_id": o.ID, "source": "cli", "pid": 0, "started_at": times.ISO(o.Now), "status": "completed", "interactive": true,
		"provider": "unknown", "model": cmp.Or(t.Model, "unknown"), "cwd": dir, "workspace_root": dir,
		"enable_tools": true, "enable_spawn": true, "enable_teams": true,
		"metadata": map[string]string{"title": t.Title}, "messages_path": file,
	}), '\n')
}

// Write writes a path as a session, or as the array of a task if it was read from one.
func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, format)
	if t.Title == titleIn(t) {
		lost.Conversation(t, report.LostTitles)
	} else {
		lost.Conversation(t)
	}
	var around []byte
	switch {
	case t.Format != format:
		around = rawjson.Compact(struct {
			Version  int    `json:"version"`
			Updated  string `json:"updated_at"`
			Agent    string `json:"agent"`
			ID       string `json:"sessionId"`
			Messages []int  `json:"messages"`
		}{1, times.ISO(o.Now), "lead", o.ID, []int{}})
	case len(t.Records) > 0:
		around = bytes.Clone(t.Records[0])
		if id := gjson.GetBytes(around, "sessionId"); id.Exists() && o.ID != "" && id.Str != o.ID {
			around = member.Set(around, "sessionId", o.ID)
		}
	}
	s := writer{lost: lost, pairs: calls.Kept(t.Messages), tools: toolsOf(t), ids: map[string]bool{}}
	for _, m := range t.Messages {
		s.ids[m.ID] = true
	}
	rows, _ := nodes.Writer{Format: format, Messages: messagesOf, ID: idOf, Convert: s.convert, Split: s.split, Lost: lost}.Rows(t)
	out := nodes.Array(rows)
	if around != nil {
		out = member.SetRaw(around, "messages", out)
	}
	_, err := w.Write(append(out, '\n'))
	return err
}

// titleIn returns the title that is in the messages, as Read finds it.
func titleIn(t *transcript.Transcript) string {
	for _, m := range t.Messages {
		if m.Format != format || m.Role != "user" {
			continue
		}
		for _, r := range m.Records {
			if title := taskOf(gjson.GetBytes(r, "content")); title != "" {
				return title
			}
		}
	}
	return ""
}

type writer struct {
	tools map[string]string // names of the called tools, by id of the call
	lost  *report.Report
	pairs map[*content.Part]bool
	ids   map[string]bool // of messages that are written
}

// An item is a message of a session.
type item struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Time    int64           `json:"ts,omitempty"`
	Model   *model          `json:"modelInfo,omitempty"`
}

type model struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
}

// toolsOf returns the names of the called tools, by id of the call.
func toolsOf(t *transcript.Transcript) map[string]string {
	tools := map[string]string{}
	for _, m := range t.Messages {
		for i := range m.Parts {
			if c := m.Parts[i].Call(); m.Parts[i].Type == content.TypeToolCall {
				tools[c.ID] = c.Name
			}
		}
	}
	return tools
}

// own returns the blocks of a content as the program has them: results have the name of the tool, without
// which it refuses to send them, and images have a form of its own, because it drops those of Anthropic's API.
func (s writer) own(blocks json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	for _, block := range gjson.ParseBytes(blocks).Array() {
		raw := json.RawMessage(block.Raw)
		switch block.Get("type").Str {
		case "image":
			raw = image(block)
		case "tool_result":
			raw = s.result(block)
		}
		list = append(list, raw)
	}
	return records.Join(list)
}

// result returns a result of Anthropic's API as the program has it.
func (s writer) result(block gjson.Result) json.RawMessage {
	raw := member.Set([]byte(block.Raw), "name", cmp.Or(s.tools[block.Get("tool_use_id").Str], "unknown"))
	said := block.Get("content").Array() // a list, if there is one
	if len(said) == 0 {
		return raw
	}
	if text := said[0].Get("text"); len(said) == 1 && said[0].Get("type").Str == "text" && text.Type == gjson.String {
		return member.SetRaw(raw, "content", []byte(text.Raw)) // the program shows the list of a tool that failed as JSON
	}
	var list []json.RawMessage
	for _, part := range said {
		if part.Get("type").Str == "image" {
			list = append(list, image(part))
		} else {
			list = append(list, json.RawMessage(part.Raw))
		}
	}
	return member.SetRaw(raw, "content", records.Join(list))
}

// image returns an image of Anthropic's API as the program has it, an image at a URL as it is.
func image(block gjson.Result) json.RawMessage {
	data := block.Get("source.data")
	if !data.Exists() {
		return json.RawMessage(block.Raw)
	}
	return rawjson.Compact(struct {
		Type string `json:"type"`
		Data string `json:"data"`
		Mime string `json:"mediaType"`
	}{"image", data.Str, block.Get("source.media_type").Str})
}

// split divides a message of the user with several results into one for each, and one for the rest, as the
// program does when it writes the session.
func (s writer) split(m *transcript.Message) []*transcript.Message {
	isResult := func(p content.Part) bool { return p.Type == content.TypeToolResult }
	results := 0
	for _, p := range m.Parts {
		if isResult(p) {
			results++
		}
	}
	if results < 2 || m.Role == "assistant" {
		return []*transcript.Message{m}
	}
	var list []*transcript.Message
	add := func(id string, parts []content.Part) {
		one := *m
		one.ID, one.Parts = id, parts
		if len(list) > 0 { // losses count once
			one.Own, one.Kind, one.Model = content.Own{}, transcript.Said, ""
		}
		list = append(list, &one)
	}
	var rest []content.Part
	for i, p := range m.Parts {
		if !isResult(p) {
			rest = append(rest, p)
			continue
		}
		of := m.ID + "_tool_" + p.Call().ID
		id := of
		for n := i; s.ids[id]; n++ { // two results of one call
			id = of + "_" + strconv.Itoa(n)
		}
		s.ids[id] = true
		add(id, m.Parts[i:i+1])
	}
	if len(rest) > 0 {
		add(m.ID, rest)
	}
	return list
}

func (s writer) convert(m *transcript.Message) []byte {
	s.lost.Message(m, report.LostTimes, report.LostModels)
	said := &content.Message{Role: m.Role}
	var rest []content.Part // after the results
	add := func(p content.Part) { rest = append(rest, p) }
	words := func(p *content.Part) {
		s.lost.Part(p)
		if text := parts.Text(p); text != "" {
			add(content.Text(text))
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Type == content.TypeText, p.Type == content.TypeData && p.Text != "":
			if p.Text != "" {
				add(content.Text(p.Text))
			}
		case p.Type == content.TypeToolResult && s.pairs[p]:
			said.Parts = append(said.Parts, *p)
		case p.Type == content.TypeToolCall && s.pairs[p], p.Type == content.TypeRedacted && m.Role == "assistant":
			add(*p)
		case p.Type == content.TypeThinking && m.Role == "assistant":
			if p.Text != "" {
				add(*p)
			}
		case p.Type == content.TypeImage && m.Role == "user":
			if _, data, _ := p.File(); data != "" {
				add(*p)
				continue
			}
			words(p)
		default:
			words(p)
		}
	}
	said.Parts = append(said.Parts, rest...)
	if len(said.Parts) == 0 {
		return nil
	}
	raw := content.Items(content.Anthropic, []*content.Message{said}, nil)[0]
	v := item{ID: m.ID, Role: m.Role, Content: s.own(json.RawMessage(gjson.GetBytes(raw, "content").Raw))}
	if !m.Time.IsZero() {
		v.Time = m.Time.UnixMilli()
	}
	if m.Model != "" && m.Role == "assistant" {
		v.Model = &model{m.Model, cmp.Or(provider.Of(m.Model), "unknown")}
	} else {
		s.lost.Count(report.LostModels, m.Model != "")
	}
	return rawjson.Compact(v)
}
