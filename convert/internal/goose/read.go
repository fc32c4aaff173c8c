// Package goose reads the sessions of goose, the coding agent of Block and now of the Agentic AI
// Foundation: its database sessions.db, the files of versions before 1.10, and exports.
//
// # Sessions
//
// A session is a list of messages. A message has an id, a role (user or assistant), the time created
// in seconds (some versions wrote milliseconds), content blocks and metadata. The types of blocks are:
//
//   - text, image (data, mimeType), document (data, mimeType, name), thinking (thinking, signature),
//     reasoning (text), redactedThinking (data), error (kind, message).
//   - toolRequest and frontendToolRequest (id, toolCall) are calls of a tool. toolCall has the status success
//     and a value with name and arguments, or the status error and an error.
//   - toolResponse (id, toolResult) is the result of a call, in a message of the user. The value is a list of
//     MCP's contents; later versions have the list in the member content, beside isError. If an item has
//     annotations.audience, goose sends it to the model only if the audience includes assistant.
//     _meta.subagent_session_id is the id of the session of the sub-agent that the call began.
//   - actionRequired with data.actionType elicitation asks the user for data, with elicitationResponse it
//     has the answer.
//   - toolConfirmationRequest, actionRequired of other types, systemNotification and conversationCompacted
//     are for the user interface.
//
// metadata has userVisible and agentVisible, inference with the name of the model, and turnContext in a
// message that goose adds to each turn.
//
// A compaction keeps the messages before it, and hides them from the model. It adds three messages: the
// summary, with the role user; a message of the assistant, which says that the previous message is a
// summary; and a copy of the last prompt. It hides the first two from the user, and the original of
// the prompt from both.
//
// # Forms
//
// The database has the tables sessions and messages (message_id, session_id, role, content_json,
// created_timestamp, metadata_json). goose sorts messages by created_timestamp and id. The versions 2 to 17 of
// the schema added columns. A session of the type sub_agent is the conversation of a sub-agent;
// parent_session_id, since version 15, is the id of the session that began it. The tables threads and
// thread_messages, since version 10, have what clients of ACP showed. goose stores the same messages in
// messages, so these tables are not read.
//
// The command 'goose session export --format json' prints a row of sessions, with the messages in
// the member conversation. Several exports may follow each other in a file.
//
// Before version 1.10, a session is a file: a line with description, working_dir and message_count, then a
// message per line. In the first versions, the first line is missing, and messages have no id and no metadata.
// The id of the session is the name of the file. Version 1.10 copies these files to the database and keeps them.
//
// # Reading
//
// The record of a message is the message in the form of an export; from a database, it has no white space.
// The record of a session is an export without the messages, or the first line of a file. JSON in a
// column is kept as it is. Messages of other roles and messages without blocks that are read become records of
// the message before them.
//
// goose numbers the sessions of each day: 20261001_1 is the first session of 2026-10-01 on every machine, and
// the number of a deleted session may be used again. So the id of a conversation is that of the session, an
// at sign and the time of its creation. An export does not have this time for the session that began it and
// for the sessions that it began. Files have no id.
//
// A message keeps its id, unless an earlier message of the session has the same id. The id is computed from
// role, content, time and the message before it if the message has none, if an update of goose derived it
// from the number of the row, or if goose generated it when it copied a file. So the same message has the
// same id in a file and in the database.
//
// Messages that only the model sees, such as "Subagent X completed", are prompts: after a compaction they cannot
// be distinguished from a prompt that was hidden.
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
	"fmt"
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
	return export.Read(in, []string{"conversation"}, "[]", to, func(e *export.Conversation) error {
		s := &session{to: to}
		if raw := e.Around.Record(); raw != nil {
			s.describe(raw)
		}
		for n, item := range e.Items {
			if what := flaw(item.Raw); what != "" {
				to.Problem(transcript.Problem{What: fmt.Sprintf("session %s, message %d: %s", s.own, n+1, what)})
				continue
			}
			if err := s.message(item.Raw); err != nil {
				return err
			}
		}
		return s.end()
	})
}

// describe sets the properties of the conversation from the record of the session.
func (s *session) describe(raw json.RawMessage) {
	c := &s.conv
	c.Records = []json.RawMessage{raw}
	v := gjson.GetManyBytes(raw, "created_at", "session_type")
	s.own, c.Created = member.Text(raw, "id"), timeOf(v[0])
	c.ID, c.Dir = conversationID(s.own, c.Created), member.Text(raw, "working_dir")
	c.Title = cmp.Or(member.Text(raw, "name"), member.Text(raw, "description"))
	c.Model = member.Text(raw, "model_config.model_name")
	c.BegunBy = s.conversationOf(member.Text(raw, "parent_session_id"))
	c.Side = c.BegunBy != "" || v[1].Str == "sub_agent"
}

// timeOf parses a time of SQLite or of an export.
func timeOf(v gjson.Result) time.Time {
	return times.Of(gjson.Result{Type: gjson.String, Str: strings.Replace(v.Str, " ", "T", 1)})
}
