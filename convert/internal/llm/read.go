// Package llm reads the conversations in logs.db, the database of the command-line program llm.
// There are three layouts; a database may have all.
//
// # Responses
//
// Up to version 0.31, a conversation is a row of conversations (id, name, model), and each call of
// the model a row of responses: the prompt, the system prompt, the answer in response and
// reasoning, conversation_id, the time and the model. The texts of the fragments that
// prompt_fragments names come before the prompt, joined by a line break, and those of
// system_fragments before the system prompt, joined by an empty line. prompt_attachments names
// attachments, which have their content, a path or a URL. tool_calls has the calls that the answer
// made; tool_results has the results that were sent with the next prompt, so they belong to the
// next response. The program reads the responses of a conversation in the order of their ids,
// which are ULIDs.
//
// # Threads
//
// Since version 0.32, a row of messages is identified by the hash of its content and of the message
// before it (parent_hash), so conversations with the same beginning share it. parts has its parts,
// by position: text, reasoning, tool_call, tool_result and attachment. The text is in the column
// text, or it is in payload, where the list text_ref has literals and the ids of fragments;
// payload has the other members. A row of threads is a conversation that continues at
// tip_message_hash, and may name the one that it was forked from; a row of turns is a call of the
// model in a thread: parent_message_hash is the last message that was sent, tip_message_hash the
// last one of the answer. The id of a thread is that of the row of conversations that it continues;
// then its messages begin with those of the responses. The program takes the history from the
// thread if there is one, and ignores a response whose id is that of a turn.
//
// # Reading
//
// A conversation has the messages of all turns of its thread, as a tree. A message has the time of
// the first turn that has it. Its id is derived from its hash and the id of the first thread in the
// chain of forks, so that only forks share messages. A response is read as a system message, unless
// the response before has the same one, a message with results of tools, a prompt with its
// attachments, and the answer. If the thread and a response have the same message, it gets the id and
// the time that it has in the response, so that a conversation stays the same when llm is updated.
// Responses that are missing in the thread follow the last response that is in it. If a provider
// ran a tool itself, the result is within the answer and divides it into several messages.
//
// A record is an object with the rows that a message was read from: {"response", "tool_calls", …},
// {"message", "parts", …} and {"turn"}, or, of the conversation, {"thread"} and {"conversation"}. A
// row is an object with a member for each column that is not NULL. JSON in a column is kept as it
// is, and bytes are in base64.
//
// # Logs
//
// Before version 0.5 a call of the model is a row of log (~/.llm/log.db before 0.4): system, prompt,
// response, model and timestamp. Since 0.4 it has an id, and chat_id is the id of the first row of the
// conversation, NULL in that row. An update to 0.5 renames the table to logs and timestamp to datetime_utc,
// and later versions keep the rows there. A row has the same ids in each form: they are computed from its
// texts and its time, because the number of a row is not unique among machines, and the
// id of a conversation is that of its first answer. The record is {"log"}.
//
// Sources: llm/migrations.py, llm/logs.py, llm/models.py, llm/parts.py and llm/cli.py of simonw/llm
// at f3f4f29 (2026-08-05), llm/models.py before 62a09e3 (2026-07-25), which wrote responses, and llm/cli.py of the tags 0.3 and
// 0.4.1, which wrote log; get_app_dir of pallets/click at 00883dd (src/click/utils.py) for the folder.
package llm

import (
	"path"
	"strings"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
)

// Home is the folder of the database, and that of versions before 0.4.
var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		return []string{folder(m), path.Join(m.Home, ".llm")}
	},
	Holds: func(path string) bool { return strings.EqualFold(path, "logs.db") || strings.EqualFold(path, "log.db") },
}

// folder returns the folder of the database.
func folder(m transcript.Machine) string {
	if dir := m.Env("LLM_USER_PATH"); dir != "" {
		return dir
	}
	config := m.Env("XDG_CONFIG_HOME")
	switch m.OS {
	case "darwin":
		config = path.Join(m.Home, "Library", "Application Support")
	case "windows":
		if config = m.Env("APPDATA"); config == "" {
			config = m.Home
		}
	default:
		if config == "" {
			config = path.Join(m.Home, ".config")
		}
	}
	return path.Join(config, "io.datasette.llm")
}

// IsDatabase reports whether a database is that of llm.
func IsDatabase(db *database.DB) bool {
	return hasResponses(db) || hasThreads(db) || hasLogs(db, &logs) || hasLogs(db, &olderLog)
}

func hasResponses(db *database.DB) bool {
	return db.Has("responses", "id", "model", "prompt", "system", "response", "conversation_id") && db.Has("conversations", "id", "name", "model")
}

func hasThreads(db *database.DB) bool {
	return db.Has("threads", "id", "tip_message_hash") && db.Has("turns", "id", "thread_id", "parent_message_hash", "tip_message_hash") &&
		db.Has("messages", "hash", "parent_hash", "role") && db.Has("parts", "message_hash", "position", "type", "text", "payload")
}
