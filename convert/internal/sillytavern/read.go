// Package sillytavern reads the chats of SillyTavern: a line with the properties of a chat,
// and one for each message. The alternatives of a message, its swipes, are in its line; the
// chat continues after the chosen one.
//
// Each swipe is a message, a branch after the message before. The first has the record of the
// line. There are no ids: a message is identified by its speaker, time and text, and by the
// messages before it, so that a chat that was branched off shares its beginning with the
// original.
//
// The form is that of public/script.js (saveChat, saveReply), public/scripts/utils.js
// (parseTimestamp) and src/endpoints/chats.js in the repository SillyTavern/SillyTavern.
package sillytavern

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/riders"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

const format = "sillytavern"

// Detect recognizes the first line, or a message.
func Detect(head []byte) (is bool) {
	jsonl.InHead(head, func(raw []byte) bool {
		v := gjson.GetManyBytes(raw, "user_name", "character_name", "chat_metadata", "create_date", "name", "is_user", "mes")
		is = v[0].Type == gjson.String && v[1].Type == gjson.String && (v[2].IsObject() || v[3].Exists()) ||
			v[4].Type == gjson.String && v[5].IsBool() && v[6].Exists()
		return true
	})
	return is
}

// A reader converts lines to messages.
type reader struct {
	to     transcript.Sink
	conv   transcript.Conversation
	riding riders.List
	held   []*transcript.Message // of the last line, its first message first
	chosen string                // the message after which the chat continues
}

func Read(in io.Reader, to transcript.Sink) error {
	r := &reader{to: to}
	if err := jsonl.Read(in, to, r.line); err != nil || r.held == nil {
		return err
	}
	r.held[0].Records = append(r.held[0].Records, r.riding.Records()...)
	if err := r.pass(); err != nil {
		return err
	}
	r.conv.Leaf = r.chosen
	return to.End(&r.conv)
}

func (r *reader) line(l jsonl.Line) error {
	raw := bytes.Clone(l.Raw)
	v := gjson.ParseBytes(raw)
	if r.held == nil && !v.Get("mes").Exists() && r.conv.ID == "" {
		r.header(v)
	}
	list, chosen := messagesOf(v, r.chosen)
	if len(list) == 0 {
		r.riding.Add(raw, false)
		return nil
	}
	r.riding.Add(raw, true)
	var before *transcript.Message
	if r.held != nil {
		before = r.held[0]
	}
	r.riding.Assign(len(r.riding), list[0], before, &r.conv)
	if err := r.pass(); err != nil {
		return err
	}
	r.held, r.chosen = list, list[chosen].ID
	return nil
}

// pass passes on the messages of a line.
func (r *reader) pass() error {
	for _, m := range r.held {
		if err := r.to.Message(m); err != nil {
			return err
		}
	}
	return nil
}

// header records the properties of the chat. Newer versions have a UUID of the chat, which is
// kept as its integrity, and no names.
func (r *reader) header(v gjson.Result) {
	name := member.String(v.Get("character_name"))
	if name == "unused" {
		name = ""
	}
	r.conv.Title, r.conv.Created = name, timeOf(v.Get("create_date"))
	if r.conv.ID = v.Get("chat_metadata.integrity").Str; r.conv.ID == "" {
		r.conv.ID = transcript.ChainID("", rawjson.Compact([]string{v.Get("create_date").Raw, v.Get("user_name").Raw, name}))
	}
}

// messagesOf returns the messages of a line after one, and the index of the chosen one.
func messagesOf(v gjson.Result, parent string) (list []*transcript.Message, chosen int) {
	extra, said := v.Get("extra"), v.Get("mes")
	if said.IsObject() { // of Chub
		said = said.Get("message")
	}
	kind := extra.Get("type").Str
	if said.Type != gjson.String || v.Get("is_system").Bool() && kind != "" { // a notice of the program
		return nil, 0
	}
	seen := map[string]bool{}
	add := func(text string, at, extra gjson.Result) {
		m := &transcript.Message{Parent: parent, Time: timeOf(at), Format: format}
		m.Role = "assistant"
		switch {
		case v.Get("is_user").Bool():
			m.Role = "user"
		case kind == "narrator":
			m.Role, m.Own.Role = "user", "system"
		default:
			m.Model = extra.Get("model").Str
			if thought := member.String(extra.Get("reasoning")); thought != "" {
				m.Parts = append(m.Parts, content.Thinking(thought, ""))
			}
		}
		if v.Get("is_group").Bool() && m.Role == "assistant" {
			m.Own.Name = member.String(v.Get("name"))
		}
		if text != "" {
			m.Parts = append(m.Parts, content.Text(text))
		}
		m.Parts = append(m.Parts, filesOf(extra)...)
		key := rawjson.Compact([]any{m.Role, m.Own.Role, at.Raw, text})
		for m.ID = transcript.ChainID(parent, key); seen[m.ID]; {
			m.ID = transcript.ChainID(m.ID, key)
		}
		seen[m.ID] = true
		list = append(list, m)
	}
	swipes, info := v.Get("swipes").Array(), v.Get("swipe_info").Array()
	chosen = int(v.Get("swipe_id").Int())
	if chosen < 0 || chosen >= len(swipes) {
		chosen, swipes = 0, nil
	}
	for i, s := range swipes {
		at, more := v.Get("send_date"), extra
		if i != chosen {
			more = gjson.Result{}
			if i < len(info) {
				at, more = info[i].Get("send_date"), info[i].Get("extra")
			}
			if s.IsObject() {
				s = s.Get("message")
			}
		} else {
			s = said
		}
		add(member.String(s), at, more)
	}
	if len(list) == 0 {
		add(member.String(said), v.Get("send_date"), extra)
	}
	return list, chosen
}

// filesOf returns the parts for the files of a message, of which only the program has the
// content, if it is not in the line.
func filesOf(extra gjson.Result) (list []content.Part) {
	images := extra.Get("image_swipes").Array() // with the shown one
	if len(images) == 0 {
		images = append(images, extra.Get("image"))
	}
	for _, v := range images {
		switch {
		case v.Str == "":
		case strings.HasPrefix(v.Str, "data:"):
			list = append(list, content.ImageURL(v.Str))
		default:
			list = append(list, content.Part{Type: content.TypeData, Text: "[image " + v.Str + "]", Meta: json.RawMessage(`{"data_type":"file"}`)})
		}
	}
	for _, f := range append(extra.Get("files").Array(), extra.Get("file")) {
		if name := cmp.Or(member.String(f.Get("name")), f.Get("url").Str); name != "" {
			list = append(list, content.Part{Type: content.TypeData, Text: "[file " + name + "]", Meta: json.RawMessage(`{"data_type":"file"}`)})
		}
	}
	return list
}

// timeOf parses a time as versions of the program write it: a number of milliseconds, RFC 3339,
// "June 19, 2023 2:20pm" without a zone, or "2024-6-5 @14h 56m 50s 682ms". It returns zero for
// anything else.
func timeOf(v gjson.Result) time.Time {
	if v.Type == gjson.Number {
		return times.Milliseconds(v)
	}
	if t := times.Of(v); !t.IsZero() {
		return t
	}
	for _, layout := range []string{"January 2, 2006 3:04pm", "2006-1-2@15h04m05s", "2006-1-2 @15h 04m 05s"} {
		s := v.Str
		if i := strings.LastIndex(s, "s "); i > 0 && strings.HasSuffix(s, "ms") {
			s = s[:i+1]
		}
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
