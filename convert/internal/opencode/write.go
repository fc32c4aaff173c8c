package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/provider"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Write writes a session as opencode exports it: one path.
func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	return writeFor("build", out, t, o, lost)
}

// WriteKilo is Write for Kilo Code, whose agent is called code: the program tells the model if earlier
// messages are of another agent.
func WriteKilo(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	return writeFor("code", out, t, o, lost)
}

// writeFor writes a path of which every message names agent.
func writeFor(agent string, out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, "opencode")
	w := &writer{
		t: t, o: o, lost: lost, agent: agent, session: SessionID(o.ID),
		ids: map[string]string{}, pairs: calls.Answered(t.Messages), inside: map[*content.Part]bool{},
	}
	times := times.Rising(t.Messages, o.Now)
	if t.Format == "opencode" && len(times) > 0 {
		w.last = times[0]
		for _, raw := range t.Records {
			if gjson.GetBytes(raw, "info.role").Exists() {
				if err := w.record(raw, nil); err != nil {
					return err
				}
			}
		}
	}
	for i := 0; i < len(t.Messages); i++ {
		m := t.Messages[i]
		w.last = times[i]
		if n := w.whole(i); n > 0 {
			for _, raw := range m.Records {
				if err := w.record(raw, m); err != nil {
					return err
				}
			}
			i += n - 1
			continue
		}
		if err := w.words(m); err != nil {
			return err
		}
	}
	head, err := w.head()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("}")))
	if len(head) > len("{}") {
		b.WriteString(",\n")
	}
	b.WriteString(`"messages":[`)
	for i, raw := range w.list {
		b.WriteString(map[bool]string{true: "\n", false: ",\n"}[i == 0])
		b.Write(raw)
	}
	b.WriteString("]}\n")
	_, err = out.Write(b.Bytes())
	return err
}

type writer struct {
	last    time.Time // of the message being written
	t       *transcript.Transcript
	o       transcript.Options
	lost    *report.Report
	agent   string // of the messages
	session string
	list    []json.RawMessage
	ids     map[string]string // the new ids of messages, by the old ones
	count   uint64            // of the last new id
	prompt  string            // the id of the user's last message
	pairs   map[*content.Part]*content.Part
	inside  map[*content.Part]bool
}

// id returns a new id, which comes after all before it.
func (w *writer) id(prefix string) (string, error) {
	w.count = max(w.count+1, uint64(w.last.UnixMilli())<<12)
	var b [14]byte
	if _, err := io.ReadFull(w.o.Random, b[:]); err != nil {
		return "", fmt.Errorf("no random numbers: %w", err)
	}
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return fmt.Sprintf("%s_%012x%s", prefix, w.count&(1<<48-1), b), nil
}

// whole returns the number of messages from index i on that one record contains, 0 if
// some of them are missing.
func (w *writer) whole(i int) int {
	m := w.t.Messages[i]
	if m.Format != "opencode" || len(m.Records) == 0 {
		return 0
	}
	n := len(messagesOf(m.Records[0], gjson.ParseBytes(m.Records[0]), m.Parent))
	for j := 1; j < n; j++ {
		if i+j >= len(w.t.Messages) || !isDerived(w.t.Messages[i+j]) {
			return 0
		}
	}
	return n
}

// record writes a record of m, nil for none, with new ids.
func (w *writer) record(raw json.RawMessage, m *transcript.Message) error {
	v := gjson.ParseBytes(raw)
	id, err := w.id("msg")
	if err != nil {
		return err
	}
	if old := v.Get("info.id").Str; old != "" {
		w.ids[old] = id
	}
	if m != nil {
		w.lost.Trace.ID(id, m)
	}
	raw = member.Set(raw, "info.id", id)
	raw = member.Set(raw, "info.sessionID", w.session)
	if parent := v.Get("info.parentID"); parent.Exists() {
		to := w.ids[parent.Str]
		if to == "" {
			to = w.prompt
		}
		raw = member.Set(raw, "info.parentID", to)
	}
	if v.Get("info.role").Str == "user" {
		w.prompt = id
	}
	if at := times.Milliseconds(v.Get("info.time.created")); !at.IsZero() && at.Before(w.last) {
		raw = member.Set(raw, "info.time.created", w.last.UnixMilli())
	}
	for i, part := range v.Get("parts").Array() {
		if !part.IsObject() {
			continue
		}
		partID, err := w.id("prt")
		if err != nil {
			return err
		}
		at := fmt.Sprintf("parts.%d.", i)
		raw = member.Set(raw, at+"id", partID)
		raw = member.Set(raw, at+"sessionID", w.session)
		raw = member.Set(raw, at+"messageID", id)
	}
	w.list = append(w.list, raw)
	return nil
}

// head returns the object around the messages, without them.
func (w *writer) head() ([]byte, error) {
	created := w.o.Now
	if !w.t.Created.IsZero() {
		created = w.t.Created
	}
	if w.t.Format == "opencode" {
		i := slices.IndexFunc(w.t.Records, func(raw json.RawMessage) bool {
			return gjson.GetBytes(raw, "info").IsObject() && !gjson.GetBytes(raw, "info.role").Exists()
		})
		if i >= 0 {
			raw := member.Set(w.t.Records[i], "info.id", w.session)
			if back := gjson.GetBytes(raw, "info.revert.messageID"); back.Type == gjson.String {
				to, there := w.ids[back.Str]
				if there && w.t.Leaf != "" && w.t.Leaf != w.t.Messages[len(w.t.Messages)-1].ID {
					raw = member.Set(raw, "info.revert.messageID", to)
				} else {
					raw = member.Drop(raw, "info.revert")
				}
			}
			if gjson.GetBytes(raw, "info.parentID").Exists() {
				raw = member.Drop(raw, "info.parentID")
			}
			return raw, nil
		}
	}
	title := w.t.Title
	if title == "" {
		title = "New session - " + times.ISO(created)
	}
	version := "1.0.0"
	return rawjson.Compact(map[string]any{"info": map[string]any{
		"id": w.session, "slug": "bough", "projectID": "global", "directory": w.t.WorkDir(), "title": title, "version": version,
		"time": map[string]int64{"created": created.UnixMilli(), "updated": w.o.Now.UnixMilli()},
	}}), nil
}

// words writes a message that has no record.
func (w *writer) words(m *transcript.Message) error {
	w.lost.Message(m, report.LostTimes, report.LostModels)
	at := w.last.UnixMilli()
	var pieces []map[string]any
	text := func(s string) {
		if s != "" {
			pieces = append(pieces, map[string]any{"type": "text", "text": s})
		}
	}
	inside := 0
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeText:
			text(p.Text)
		case p.Type == content.TypeThinking && m.Role == "assistant":
			w.lost.Signature(p)
			pieces = append(pieces, map[string]any{"type": "reasoning", "text": p.Text, "time": map[string]int64{"start": at, "end": at}})
		case p.Type == content.TypeToolCall && w.pairs[p] != nil && m.Role == "assistant":
			w.inside[w.pairs[p]] = true
			pieces = append(pieces, w.tool(c, w.pairs[p], at))
		case w.inside[p]:
			inside++
		case (p.Type == content.TypeImage || p.Type == content.TypeFile || p.Type == content.TypeAudio || p.Type == content.TypeVideo) && m.Role == "user" && parts.DataURL(p) != "":
			mime, _, _ := p.File()
			if mime == "" {
				mime = map[bool]string{true: "image/png", false: "application/octet-stream"}[p.Type == content.TypeImage]
			}
			file := map[string]any{"type": "file", "mime": mime, "url": parts.DataURL(p)}
			if p.Filename != "" {
				file["filename"] = p.Filename
			}
			pieces = append(pieces, file)
		default:
			w.lost.Part(p)
			text(parts.Text(p))
		}
	}
	if len(pieces) == 0 {
		if inside == 0 {
			w.lost.Add(report.LostMessages)
		}
		return nil
	}
	model := cmp.Or(m.Model, w.t.Model, "unknown")
	who := cmp.Or(provider.Of(model), "openai")
	info := map[string]any{"id": "", "sessionID": w.session, "role": m.Role, "agent": w.agent}
	if m.Role == "assistant" {
		info["parentID"] = w.prompt
		info["mode"] = w.agent
		info["path"] = map[string]string{"cwd": w.t.WorkDir(), "root": w.t.WorkDir()}
		info["cost"] = 0
		info["tokens"] = map[string]any{"input": 0, "output": 0, "reasoning": 0, "cache": map[string]int{"read": 0, "write": 0}}
		info["modelID"], info["providerID"] = model, who
		info["time"] = map[string]int64{"created": at, "completed": at}
		info["finish"] = "stop"
	} else {
		info["time"] = map[string]int64{"created": at}
		info["model"] = map[string]string{"providerID": who, "modelID": model}
	}
	return w.record(rawjson.Compact(map[string]any{"info": info, "parts": pieces}), m)
}

// tool returns a call with its result.
func (w *writer) tool(c content.Call, result *content.Part, at int64) map[string]any {
	input := parts.Arguments(c.Arguments)
	w.lost.Extras(result)
	state := map[string]any{"status": "completed", "input": input, "output": result.Text, "title": c.Name, "metadata": map[string]any{}}
	if result.Call().Failed {
		state = map[string]any{"status": "error", "input": input, "error": result.Text}
	}
	state["time"] = map[string]int64{"start": at, "end": at}
	return map[string]any{"type": "tool", "callID": c.ID, "tool": c.Name, "state": state}
}

// isDerived reports whether m comes from the record of a message before it.
func isDerived(m *transcript.Message) bool { return m.Format == "opencode" && len(m.Records) == 0 }
