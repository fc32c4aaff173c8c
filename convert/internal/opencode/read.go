// Package opencode reads and writes the sessions that opencode exports and
// imports: one document with all messages, each with its parts. A part that
// calls a tool also has the result, so a message with such parts is read as
// several messages, of which the first has the record. A session may be
// reverted to before a message, which the document still contains.
//
// A session that the tool task began has a parentID, and the part that called the tool has its
// id in state.metadata.sessionId (program 1.18.33).
//
// It also reads the database of opencode, opencode.db. The tables are session, with
// a column for each member of a document's info, message (id, session_id,
// time_created, data) and part (id, message_id, session_id, data); data is the JSON
// of the message or part without these ids. 'opencode export' adds the ids at the end of
// data, orders messages by time_created and id and parts by id, and indents the
// document by two spaces; a record that is read from the database has the same bytes.
// Sources: the schema that opencode 1.18.33 made, its export of the same sessions, and
// the functions in the program that convert a row of session.
//
// Write gives everything a new id, because the program identifies messages by
// their ids across all sessions.
package opencode

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// Home is the folders of the databases of opencode and of Kilo Code: opencode.db, and opencode-CHANNEL.db
// of another release channel. They are in $XDG_DATA_HOME, else in ~/.local/share, on every system.
var Home = transcript.Home{
	Roots:  func(m transcript.Machine) []string { return []string{folder(m, "opencode"), folder(m, "kilo")} },
	Holds:  func(path string) bool { return isDatabaseOf("opencode", path) || isDatabaseOf("kilo", path) },
	Unread: unread,
	Target: anywhere,
	Resume: func(_ transcript.Machine, path string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return []string{"opencode", "import", path}, []string{"opencode", "-s", SessionID(o.ID)}
	},
}

// KiloHome is the folder of Kilo Code alone, which is built on opencode since version 7: kilo.db has the
// tables of opencode, and more. Source: the program 7.7.7.
var KiloHome = transcript.Home{
	Roots:  func(m transcript.Machine) []string { return []string{folder(m, "kilo")} },
	Holds:  func(path string) bool { return isDatabaseOf("kilo", path) },
	Target: anywhere,
	Resume: func(_ transcript.Machine, path string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return []string{"kilo", "import", path}, []string{"kilo", "-s", SessionID(o.ID)}
	},
}

func folder(m transcript.Machine, program string) string {
	data := m.Env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(m.Home, ".local", "share")
	}
	return filepath.Join(data, program)
}

func isDatabaseOf(program, path string) bool {
	return !strings.Contains(path, "/") && strings.HasPrefix(path, program) && strings.HasSuffix(path, ".db")
}

func anywhere(transcript.Machine, *transcript.Transcript, transcript.Options) string { return "" }

// unread describes the files of opencode before it had a database. Its first start with one moves
// them there (packages/opencode/src/storage/json-migration.ts in anomalyco/opencode).
func unread(m transcript.Machine) string {
	if m.Names == nil {
		return ""
	}
	old := filepath.Join(folder(m, "opencode"), "storage", "session")
	isName := func(name string) bool { return isDatabaseOf("opencode", name) }
	if len(m.Names(old)) == 0 || slices.ContainsFunc(m.Names(folder(m, "opencode")), isName) {
		return ""
	}
	return old + " has conversations of an older version of opencode, which are not read; the first start of a newer one moves them to its database"
}

func Detect(head []byte) bool {
	v := gjson.ParseBytes(bytes.TrimSpace(head))
	if !v.IsObject() {
		return false
	}
	if m := v.Get("messages.0"); m.Exists() {
		return m.Get("info").IsObject() && m.Get("info.role").Exists() && !m.Get("role").Exists()
	}
	return strings.HasPrefix(v.Get("info.id").Str, "ses_") && v.Get("info.time").IsObject()
}

func Read(in io.Reader, to transcript.Sink) error {
	r := &reader{to: to, first: map[string]string{}}
	around, err := jsondoc.Read(in, to, []string{"messages"}, func(_ string, v jsondoc.Visit) error {
		if v.Raw[0] != '{' || !gjson.GetBytes(v.Raw, "info.role").Exists() {
			to.Problem(transcript.Problem{Offset: v.Offset, What: "a message has no role"})
			return nil
		}
		return r.message(v.Raw)
	})
	if err != nil {
		return err
	}
	return r.end(around)
}

// end hands on the last message, and ends the conversation, unless there is none. around is the
// document without its messages, nil if there is nothing else.
func (r *reader) end(around json.RawMessage) error {
	if r.held == nil {
		return nil
	}
	r.ends = true
	if err := r.hand(r.held); err != nil {
		return err
	}
	if around != nil {
		r.conv.Records = append([]json.RawMessage{around}, r.conv.Records...)
	}
	info := gjson.GetBytes(around, "info")
	r.conv.ID, r.conv.Title = info.Get("id").Str, info.Get("title").Str
	r.conv.Dir, r.conv.Version = cmp.Or(info.Get("directory").Str, r.conv.Dir), info.Get("version").Str
	r.conv.Created = times.Milliseconds(info.Get("time.created"))
	r.conv.BegunBy = info.Get("parentID").Str
	r.conv.Side = r.conv.BegunBy != ""
	r.conv.Leaf = r.last
	if id := info.Get("revert.messageID").Str; id != "" {
		if before, ok := r.first[id]; ok {
			r.conv.Leaf = before
		}
	}
	return r.to.End(&r.conv)
}

type reader struct {
	to    transcript.Sink
	conv  transcript.Conversation
	last  string              // the id of the last message
	held  *transcript.Message // the record and its riders, not passed on yet
	ends  bool                // it is the last one
	first map[string]string   // the predecessor of a message, by the ids of its records
}

// message reads a message of the document. A message of an unknown role is a rider.
func (r *reader) message(raw json.RawMessage) error {
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
	r.held = &transcript.Message{Records: []json.RawMessage{raw}}
	return nil
}

// hand hands on the messages of a record.
func (r *reader) hand(held *transcript.Message) error {
	record := gjson.ParseBytes(held.Records[0])
	list := messagesOf(held.Records[0], record, r.last)
	list[0].Records = held.Records
	r.begins(record)
	info := record.Get("info")
	id := info.Get("id").Str
	if _, twice := r.first[id]; !twice && id != "" {
		r.first[id] = r.last
	}
	if model := list[0].Model; model != "" {
		r.conv.Model = model
	}
	if r.conv.Dir == "" {
		r.conv.Dir = info.Get("path.cwd").Str
	}
	open := r.ends && info.Get("role").Str == "assistant" && !info.Get("time.completed").Exists() && !info.Get("error").Exists()
	for _, m := range list {
		m.Parent, m.Open = r.last, open
		if err := r.to.Message(m); err != nil {
			return err
		}
		r.last = m.ID
	}
	return nil
}

// begins records which other sessions the calls in a record began.
func (r *reader) begins(record gjson.Result) {
	record.Get("parts").ForEach(func(_, part gjson.Result) bool {
		call, session := part.Get("callID").Str, part.Get("state.metadata.sessionId").Str
		if part.Get("type").Str != "tool" || call == "" || session == "" || r.conv.Began[session] != "" {
			return true
		}
		if r.conv.Began == nil {
			r.conv.Began = map[string]string{}
		}
		r.conv.Began[session] = call
		return true
	})
}

// messagesOf returns the messages in a record: the assistant's up to its calls, the
// results, and so on. v is the parsed record, before the id of the message before it.
func messagesOf(raw []byte, v gjson.Result, before string) []*transcript.Message {
	info := v.Get("info")
	id := info.Get("id").Str
	if id == "" {
		id = transcript.ChainID(before, raw)
	}
	m := &transcript.Message{ID: id, Format: "opencode", Time: times.Milliseconds(info.Get("time.created"))}
	m.Role, m.Parts = info.Get("role").Str, []content.Part{}
	if m.Role == "assistant" {
		m.Model = info.Get("modelID").Str
		if info.Get("summary").Type == gjson.True {
			m.Kind = transcript.Compaction
		}
	}
	list := []*transcript.Message{m}
	var results []content.Part
	next := func(role string, parts []content.Part, at time.Time) {
		if at.IsZero() {
			at = list[len(list)-1].Time
		}
		n := &transcript.Message{ID: transcript.ChainID(id, fmt.Append(nil, len(list))), Format: "opencode", Time: at, Model: m.Model}
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
			said(filePart(part))
		case "tool":
			c := content.Call{ID: part.Get("callID").Str, Name: part.Get("tool").Str, Arguments: member.Compact(part.Get("state.input").Raw)}
			if c.Arguments == "" {
				c.Arguments = "{}"
			}
			if c.Name == "" {
				said(parts.Other(part))
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
			at = times.Milliseconds(state.Get("time.end"))
		case "step-start":
			answer()
			if last := list[len(list)-1]; last.HasPart(content.TypeToolResult) {
				next("assistant", []content.Part{}, time.Time{})
			}
		}
		return true
	})
	answer()
	return list
}

// filePart returns the part that is a file.
func filePart(v gjson.Result) content.Part {
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

// SessionID returns the program's id for a session: newer ids are smaller.
func SessionID(id string) string {
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
