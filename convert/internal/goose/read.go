// Package goose reads the sessions of goose, the coding agent of Block and now of the Agentic AI
// Foundation: its database sessions.db, the files of versions before 1.10, and exports.
//
// # Sessions
//
// A session is a list of messages. A message has an id, a role (user or assistant), the time created
// in seconds (some versions wrote milliseconds), blocks of content and metadata:
//
//   - text, image (data, mimeType), document (data, mimeType, name), thinking (thinking, signature),
//     reasoning (text), redactedThinking (data), error (kind, message).
//   - toolRequest and frontendToolRequest (id, toolCall) call a tool. toolCall has the status success
//     and a value with name and arguments, or the status error and an error.
//   - toolResponse (id, toolResult), in a message of the user, is a result. The value is a list of
//     MCP's contents, in later versions in the member content beside isError. An item with
//     annotations.audience is sent to the model only if that has assistant. _meta.subagent_session_id
//     names the session of the sub-agent that the call began.
//   - actionRequired asks the user for data, or has the answer (data.actionType elicitation and
//     elicitationResponse).
//   - toolConfirmationRequest, the other kinds of actionRequired, systemNotification and
//     conversationCompacted are of the program.
//
// metadata has userVisible and agentVisible; inference, with the name of the model; and turnContext, for
// a message that the program adds to each turn. A compaction keeps the messages, which the model no
// longer sees. After them it adds the summary in the name of the user and a message of the assistant that
// calls the summary the previous message, which the user does not see, and a copy of the last
// prompt, whose original then nobody sees.
//
// # Forms
//
// The database has the tables sessions and messages (message_id, session_id, role, content_json,
// created_timestamp, metadata_json), which the program reads by created_timestamp and id. Columns were
// added in the versions 2 to 17 of the schema. A session of the type sub_agent is that of
// another assistant; parent_session_id, since version 15, names the session that began it. The tables threads and
// thread_messages, since version 10, are not read: they have what clients of ACP were shown, and the
// program stores the same messages in messages.
//
// The command 'goose session export --format json' prints a row of sessions with the messages in
// the member conversation.
//
// Before version 1.10, a session is a file: a line with description, working_dir and message_count, then a
// message per line. The first versions have no first line, and messages have no id and no metadata.
// The id of the session is the name of the file. Version 1.10 copies these files to the database and keeps them.
//
// # Reading
//
// The record of a message is the message, as an export has it, without white space from a
// database; that of a session is an export without the messages, or the first line. JSON in a column is
// kept as it is. Other messages, and those with no block that is read, are attached to the message before them.
//
// A message has its id, and another one if an earlier message has the same. The id is computed from
// role, content, time and the message before it if there is none, if an update of the program derived it
// from the number of the row, or if the program made it for a message of a file, so that the same message
// of a file and of the database has the same id.
//
// Sources: crates/goose/src/session/session_manager.rs of aaif-goose/goose at 017176d and of block/goose at
// 0164300; crates/goose-provider-types/src/conversation/message.rs at 3a31f2f, crates/goose/src/conversation/message.rs
// at 893b3e5 and tool_result_serde.rs at 0513296; crates/goose/src/context_mgmt/mod.rs at 006bd23; the operation
// foreground_subagent, which writes and reads subagent_session_id; session/thread_manager.rs at 28495de;
// session/legacy.rs at decaa9d and session/storage.rs at 01a262b; documentation/docs/guides/logs.md of version 1.33.1, for
// the versions and folders; crates/goose/src/config/paths.rs at 0780e22, with src/app_strategy.rs and
// app_strategy/windows.rs of lunacookies/etcetera at 046a8db and 044010a.
package goose

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

const format = "goose"

// Home is the folder of the database and of the older files.
var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		if dir := m.Env("GOOSE_PATH_ROOT"); filepath.IsAbs(dir) {
			return []string{path.Join(filepath.ToSlash(dir), "data", "sessions")}
		}
		if m.OS == "windows" {
			data := cmp.Or(m.Env("APPDATA"), path.Join(m.Home, "AppData", "Roaming"))
			return []string{path.Join(data, "Block", "goose", "data", "sessions")}
		}
		data := m.Env("XDG_DATA_HOME")
		if !filepath.IsAbs(data) {
			data = path.Join(m.Home, ".local", "share")
		}
		return []string{path.Join(data, "goose", "sessions")}
	},
	Holds: func(p string) bool {
		return !strings.Contains(p, "/") && (strings.EqualFold(p, "sessions.db") || path.Ext(p) == ".jsonl")
	},
}

func Detect(head []byte) bool {
	if isExport(head) {
		return true
	}
	is := false
	jsonl.InHead(head, func(raw []byte) bool {
		is = isMetadata(raw) || isMessage(raw)
		return true
	})
	return is
}

// isExport reports whether head is the beginning of an export.
func isExport(head []byte) bool {
	id, dir, at, said := false, false, false, false
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		_, text := value.(string)
		switch {
		case jsondoc.Match(path, "id"):
			id = text
		case jsondoc.Match(path, "working_dir"):
			dir = text
		case jsondoc.Match(path, "created_at"):
			at = text
		case len(path) > 0 && (path[0] == "extension_data" || path[0] == "conversation"):
			said = true
		}
		return !(id && dir && at && said)
	})
	return id && dir && at && said
}

// isMetadata reports whether a record is the first line of a file.
func isMetadata(raw []byte) bool {
	v := gjson.GetManyBytes(raw, "description", "message_count", "role")
	return v[0].Type == gjson.String && v[1].Type == gjson.Number && !v[2].Exists()
}

// isMessage reports whether a record is a message.
func isMessage(raw []byte) bool {
	v := gjson.GetManyBytes(raw, "role", "created", "content", "content.0.type", "type")
	return isRole(v[0].Str) && v[1].Type == gjson.Number && v[2].IsArray() && v[3].Type == gjson.String && !v[4].Exists()
}

func isRole(name string) bool { return name == "user" || name == "assistant" }

// Read reads a file or an export.
func Read(in io.Reader, to transcript.Sink) error {
	b := bufio.NewReaderSize(in, jsonl.HeadSize)
	head, err := b.Peek(jsonl.HeadSize)
	if err != nil && err != io.EOF {
		return err
	}
	if isExport(jsonl.TrimBOM(head)) {
		return readExport(b, to)
	}
	s := &session{to: to}
	err = jsonl.Read(b, to, func(l jsonl.Line) error {
		raw := bytes.Clone(l.Raw)
		if s.held == nil && s.conv.Records == nil && isMetadata(raw) {
			s.describe(raw)
			return nil
		}
		if what := flaw(raw); what != "" {
			to.Problem(l.Problem(what))
			return nil
		}
		return s.message(raw)
	})
	if err != nil {
		return err
	}
	return s.end()
}

// flaw describes why a record is not a message, "" if it is one.
func flaw(raw []byte) string {
	v := gjson.GetManyBytes(raw, "role", "content")
	switch {
	case v[0].Type != gjson.String:
		return "a message has no role"
	case !v[1].IsArray():
		return "the content of a message is not a list"
	}
	return ""
}

func readExport(in io.Reader, to transcript.Sink) error {
	return export.List(in, []string{"conversation"}, to, func(e *export.Conversation) error {
		s := &session{to: to}
		if raw := e.Around.Record(); raw != nil {
			s.describe(raw)
		}
		for _, item := range e.Items {
			if what := flaw(item.Raw); what != "" {
				to.Problem(transcript.Problem{What: "session " + s.conv.ID + ": " + what})
				continue
			}
			if err := s.message(item.Raw); err != nil {
				return err
			}
		}
		return s.end()
	})
}

// describe notes the properties of the session in its record.
func (s *session) describe(raw json.RawMessage) {
	c := &s.conv
	c.Records = []json.RawMessage{raw}
	v := gjson.GetManyBytes(raw, "created_at", "session_type")
	c.ID, c.Dir = member.Text(raw, "id"), member.Text(raw, "working_dir")
	c.Title = cmp.Or(member.Text(raw, "name"), member.Text(raw, "description"))
	c.Model = member.Text(raw, "model_config.model_name")
	c.Created = timeOf(v[0])
	c.BegunBy = member.Text(raw, "parent_session_id")
	c.Side = c.BegunBy != "" || v[1].Str == "sub_agent"
}

// timeOf parses a time of SQLite or of an export.
func timeOf(v gjson.Result) time.Time {
	return times.Of(gjson.Result{Type: gjson.String, Str: strings.Replace(v.Str, " ", "T", 1)})
}
