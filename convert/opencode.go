package convert

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// opencode is a session as the program exports and imports it: one document with all
// messages, each with its parts. A part that calls a tool has the result too: what
// comes of a message with such parts are several messages, of which the first has the
// record. The session may be taken back to before a message, which is there still.
//
// Everything in it gets a new id when it is written, since the program knows all
// messages by their ids, whatever session they are in.
var opencode = Format{
	Name:   "opencode",
	About:  "a session that opencode exported",
	Ext:    ".json",
	detect: detectOpenCode,
	read:   readOpenCode,
	write:  writeOpenCode,
	called: openCodeSession,
	home: &home{
		target: func(Machine, *Transcript, Options) string { return "" },
		resume: func(path string, _ *Transcript, o Options) (before, run []string) {
			return []string{"opencode", "import", path}, []string{"opencode", "-s", openCodeSession(o.ID)}
		},
	},
}

func detectOpenCode(head []byte) bool {
	v := gjson.ParseBytes(bytes.TrimSpace(head))
	if !v.IsObject() {
		return false
	}
	if m := v.Get("messages.0"); m.Exists() {
		return m.Get("info").IsObject() && m.Get("info.role").Exists() && !m.Get("role").Exists()
	}
	return strings.HasPrefix(v.Get("info.id").Str, "ses_") && v.Get("info.time").IsObject()
}

func readOpenCode(in io.Reader, to Sink) error {
	r := &openCodeReader{to: to, first: map[string]string{}}
	around, err := readDocument(in, to, []string{"messages"}, func(_ string, v visit) error {
		if v.raw[0] != '{' || !gjson.GetBytes(v.raw, "info.role").Exists() {
			to.Problem(Problem{Offset: v.offset, What: "a message does not say whose it is"})
			return nil
		}
		return r.message(v.raw)
	})
	if err != nil || r.held == nil {
		return err
	}
	if err := r.hand(r.held); err != nil {
		return err
	}
	if around != nil {
		r.conv.Records = append([]json.RawMessage{around}, r.conv.Records...)
	}
	info := gjson.GetBytes(around, "info")
	r.conv.ID, r.conv.Title = info.Get("id").Str, info.Get("title").Str
	r.conv.Dir, r.conv.Version = info.Get("directory").Str, info.Get("version").Str
	r.conv.Created = milliseconds(info.Get("time.created"))
	r.conv.Side = info.Get("parentID").Str != ""
	r.conv.Leaf = r.last
	if id := info.Get("revert.messageID").Str; id != "" {
		if before, ok := r.first[id]; ok {
			r.conv.Leaf = before
		}
	}
	return to.End(&r.conv)
}

type openCodeReader struct {
	to    Sink
	conv  Conversation
	last  string            // the id of the last message
	held  *Message          // the record and what rides with it, which is not handed on
	first map[string]string // what comes before a message, by the ids of its records
}

// message takes a message of the document. One of a role that nobody knows rides along.
func (r *openCodeReader) message(raw json.RawMessage) error {
	info := gjson.GetBytes(raw, "info")
	role := info.Get("role").Str
	if role != "user" && role != "assistant" {
		if r.held != nil {
			r.held.Records = append(r.held.Records, raw)
		} else {
			r.conv.Records = append(r.conv.Records, raw)
		}
		return nil
	}
	if r.held != nil {
		if err := r.hand(r.held); err != nil {
			return err
		}
	}
	r.held = &Message{Records: []json.RawMessage{raw}}
	return nil
}

// hand hands on the messages of a record.
func (r *openCodeReader) hand(held *Message) error {
	list := openCodeSays(held.Records[0], r.last)
	list[0].Records = held.Records
	id := gjson.GetBytes(held.Records[0], "info.id").Str
	if _, twice := r.first[id]; !twice && id != "" {
		r.first[id] = r.last
	}
	if model := list[0].Model; model != "" {
		r.conv.Model = model
	}
	for _, m := range list {
		m.Parent = r.last
		r.last = m.ID
		if err := r.to.Message(m); err != nil {
			return err
		}
		r.last = m.ID
	}
	return nil
}

// openCodeSays returns the messages that a record says: what the assistant said up to its
// calls, the results, and so on. before is the id of the message before it.
func openCodeSays(raw []byte, before string) []*Message {
	v := gjson.ParseBytes(raw)
	info := v.Get("info")
	id := info.Get("id").Str
	if id == "" {
		id = ChainID(before, raw)
	}
	m := &Message{ID: id, Format: "opencode", Time: milliseconds(info.Get("time.created"))}
	m.Role, m.Parts = info.Get("role").Str, []content.Part{}
	if m.Role == "assistant" {
		m.Model = info.Get("modelID").Str
		if info.Get("summary").Type == gjson.True {
			m.Kind = Compaction
		}
	}
	list := []*Message{m}
	var results []content.Part
	next := func(role string, parts []content.Part, at time.Time) {
		if at.IsZero() {
			at = list[len(list)-1].Time
		}
		n := &Message{ID: ChainID(id, fmt.Append(nil, len(list))), Format: "opencode", Time: at, Model: m.Model}
		n.Role, n.Parts = role, parts
		if role == "user" {
			n.Model = ""
		}
		list = append(list, n)
	}
	var at time.Time
	answer := func() {
		if len(results) > 0 {
			next("user", results, at)
			results = nil
		}
	}
	said := func(p content.Part) {
		if len(results) > 0 {
			answer()
			next("assistant", []content.Part{}, time.Time{})
		}
		last := list[len(list)-1]
		last.Parts = append(last.Parts, p)
	}
	v.Get("parts").ForEach(func(_, part gjson.Result) bool {
		switch kind := part.Get("type").Str; kind {
		case "text":
			if text := part.Get("text").Str; text != "" && !part.Get("ignored").Bool() {
				said(content.Text(text))
			}
		case "reasoning":
			if text := part.Get("text").Str; text != "" {
				said(content.Thinking(text, ""))
			}
		case "file":
			said(openCodeFile(part))
		case "tool":
			c := content.Call{ID: part.Get("callID").Str, Name: part.Get("tool").Str, Arguments: compact(part.Get("state.input").Raw)}
			if c.Arguments == "" {
				c.Arguments = "{}"
			}
			if c.Name == "" {
				said(otherPart(part))
				return true
			}
			// Calls of one step are answered together.
			last := list[len(list)-1]
			if len(results) == 0 {
				said(content.ToolCall(c))
			} else {
				last.Parts = append(last.Parts, content.ToolCall(c))
			}
			state := part.Get("state")
			switch state.Get("status").Str {
			case "completed":
				results = append(results, content.ToolResult(c, state.Get("output").String()))
			case "error":
				c.Failed = true
				results = append(results, content.ToolResult(c, state.Get("error").String()))
			default:
				return true
			}
			at = milliseconds(state.Get("time.end"))
		case "step-start":
			answer()
			if last := list[len(list)-1]; last.has(content.TypeToolResult) {
				next("assistant", []content.Part{}, time.Time{})
			}
		}
		return true
	})
	answer()
	return list
}

// openCodeFile returns the part that is a file.
func openCodeFile(v gjson.Result) content.Part {
	mime, url := v.Get("mime").Str, v.Get("url").Str
	var p content.Part
	if _, data, ok := strings.Cut(url, ";base64,"); ok && strings.HasPrefix(url, "data:") {
		p = content.Image(mime, data)
	} else {
		p = content.ImageURL(url)
	}
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "image":
	case "audio":
		p.Type = content.TypeAudio
	case "video":
		p.Type = content.TypeVideo
	default:
		p.Type = content.TypeFile
	}
	p.Filename = v.Get("filename").Str
	return p
}

// openCodeSession returns what the program calls the session of an id: the newer, the
// smaller.
func openCodeSession(id string) string {
	digits := []byte(strings.ReplaceAll(id, "-", ""))
	b, err := hex.DecodeString(string(digits))
	if err != nil || len(b) != 16 {
		return "ses_" + id
	}
	var ms uint64
	for _, c := range b[:6] {
		ms = ms<<8 | uint64(c)
	}
	return fmt.Sprintf("ses_%012x%s", ^(ms<<12)&(1<<48-1), digits[12:26])
}

func writeOpenCode(out io.Writer, t *Transcript, o Options, lost *losses) error {
	t = t.whole("opencode")
	w := &openCodeWriter{
		t: t, o: o, lost: lost, session: openCodeSession(o.ID),
		ids: map[string]string{}, pairs: answered(t.Messages), inside: map[*content.Part]bool{},
	}
	times := risingTimes(t.Messages, o.Now)
	if t.Format == "opencode" && len(times) > 0 {
		w.last = times[0]
		for _, raw := range t.Records {
			if gjson.GetBytes(raw, "info.role").Exists() {
				if err := w.record(raw); err != nil {
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
				if err := w.record(raw); err != nil {
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

type openCodeWriter struct {
	last    time.Time // of what is being written
	t       *Transcript
	o       Options
	lost    *losses
	session string
	list    []json.RawMessage
	ids     map[string]string // the new ones of messages, by the old ones
	count   uint64            // of the last new id
	prompt  string            // the id of the user's last message
	pairs   map[*content.Part]*content.Part
	inside  map[*content.Part]bool
}

// id returns a new id, which comes after all before it.
func (w *openCodeWriter) id(prefix string) (string, error) {
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

// whole returns how many messages from place i on are those that one record says, 0 if
// some of these are not there.
func (w *openCodeWriter) whole(i int) int {
	m := w.t.Messages[i]
	if m.Format != "opencode" || len(m.Records) == 0 {
		return 0
	}
	n := len(openCodeSays(m.Records[0], m.Parent))
	for j := 1; j < n; j++ {
		if i+j >= len(w.t.Messages) || !w.t.Messages[i+j].derived("opencode") {
			return 0
		}
	}
	return n
}

// record writes a record with new ids.
func (w *openCodeWriter) record(raw json.RawMessage) error {
	v := gjson.ParseBytes(raw)
	id, err := w.id("msg")
	if err != nil {
		return err
	}
	if old := v.Get("info.id").Str; old != "" {
		w.ids[old] = id
	}
	raw = setMember(raw, "info.id", id)
	raw = setMember(raw, "info.sessionID", w.session)
	if parent := v.Get("info.parentID"); parent.Exists() {
		to := w.ids[parent.Str]
		if to == "" {
			to = w.prompt
		}
		raw = setMember(raw, "info.parentID", to)
	}
	if v.Get("info.role").Str == "user" {
		w.prompt = id
	}
	if at := milliseconds(v.Get("info.time.created")); !at.IsZero() && at.Before(w.last) {
		raw = setMember(raw, "info.time.created", w.last.UnixMilli())
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
		raw = setMember(raw, at+"id", partID)
		raw = setMember(raw, at+"sessionID", w.session)
		raw = setMember(raw, at+"messageID", id)
	}
	w.list = append(w.list, raw)
	return nil
}

// head returns the object around the messages, without them.
func (w *openCodeWriter) head() ([]byte, error) {
	created := w.o.Now
	if !w.t.Created.IsZero() {
		created = w.t.Created
	}
	if w.t.Format == "opencode" {
		i := slices.IndexFunc(w.t.Records, func(raw json.RawMessage) bool {
			return gjson.GetBytes(raw, "info").IsObject() && !gjson.GetBytes(raw, "info.role").Exists()
		})
		if i >= 0 {
			raw := setMember(w.t.Records[i], "info.id", w.session)
			if back := gjson.GetBytes(raw, "info.revert.messageID"); back.Type == gjson.String {
				to, there := w.ids[back.Str]
				if there && w.t.Leaf != "" && w.t.Leaf != w.t.Messages[len(w.t.Messages)-1].ID {
					raw = setMember(raw, "info.revert.messageID", to)
				} else {
					raw = dropMember(raw, "info.revert")
				}
			}
			if gjson.GetBytes(raw, "info.parentID").Exists() {
				raw = dropMember(raw, "info.parentID")
			}
			return raw, nil
		}
	}
	title := w.t.Title
	if title == "" {
		title = "New session - " + isoTime(created)
	}
	version := "1.0.0"
	return rawjson.Compact(map[string]any{"info": map[string]any{
		"id": w.session, "slug": "bough", "projectID": "global", "directory": w.t.dir(), "title": title, "version": version,
		"time": map[string]int64{"created": created.UnixMilli(), "updated": w.o.Now.UnixMilli()},
	}}), nil
}

// words writes a message that has no record.
func (w *openCodeWriter) words(m *Message) error {
	w.lost.message(m, lostTimes, lostModels)
	at := w.last.UnixMilli()
	var parts []map[string]any
	text := func(s string) {
		if s != "" {
			parts = append(parts, map[string]any{"type": "text", "text": s})
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
			w.lost.signature(p)
			parts = append(parts, map[string]any{"type": "reasoning", "text": p.Text, "time": map[string]int64{"start": at, "end": at}})
		case p.Type == content.TypeToolCall && w.pairs[p] != nil && m.Role == "assistant":
			w.inside[w.pairs[p]] = true
			parts = append(parts, w.tool(c, w.pairs[p], at))
		case w.inside[p]:
			inside++
		case (p.Type == content.TypeImage || p.Type == content.TypeFile || p.Type == content.TypeAudio || p.Type == content.TypeVideo) && m.Role == "user" && dataURL(p) != "":
			mime, _, _ := p.File()
			if mime == "" {
				mime = map[bool]string{true: "image/png", false: "application/octet-stream"}[p.Type == content.TypeImage]
			}
			file := map[string]any{"type": "file", "mime": mime, "url": dataURL(p)}
			if p.Filename != "" {
				file["filename"] = p.Filename
			}
			parts = append(parts, file)
		default:
			w.lost.part(p)
			text(asText(p))
		}
	}
	if len(parts) == 0 {
		if inside == 0 {
			w.lost.add(lostMessages)
		}
		return nil
	}
	model := cmp.Or(m.Model, w.t.Model, "unknown")
	who := cmp.Or(providerOf(model), "openai")
	info := map[string]any{"id": "", "sessionID": w.session, "role": m.Role, "agent": "build"}
	if m.Role == "assistant" {
		info["parentID"] = w.prompt
		info["mode"] = "build"
		info["path"] = map[string]string{"cwd": w.t.dir(), "root": w.t.dir()}
		info["cost"] = 0
		info["tokens"] = map[string]any{"input": 0, "output": 0, "reasoning": 0, "cache": map[string]int{"read": 0, "write": 0}}
		info["modelID"], info["providerID"] = model, who
		info["time"] = map[string]int64{"created": at, "completed": at}
		info["finish"] = "stop"
	} else {
		info["time"] = map[string]int64{"created": at}
		info["model"] = map[string]string{"providerID": who, "modelID": model}
	}
	return w.record(rawjson.Compact(map[string]any{"info": info, "parts": parts}))
}

// tool returns a call with its result.
func (w *openCodeWriter) tool(c content.Call, result *content.Part, at int64) map[string]any {
	input := arguments(c.Arguments)
	w.lost.extras(result)
	state := map[string]any{"status": "completed", "input": input, "output": result.Text, "title": c.Name, "metadata": map[string]any{}}
	if result.Call().Failed {
		state = map[string]any{"status": "error", "input": input, "error": result.Text}
	}
	state["time"] = map[string]int64{"start": at, "end": at}
	return map[string]any{"type": "tool", "callID": c.ID, "tool": c.Name, "state": state}
}
