// Package claude reads and writes the sessions of Claude Code: a tree of
// records, one per line of a file. A record of type user, assistant, system,
// attachment or progress has a uuid and names its parent; other records are
// outside the tree. If two records have the same uuid, the first one is used
// and the second is kept as a rider (see package thread).
//
// An answer of the model is stored as several records with one message.id, one
// for each of its blocks. Adjacent ones are combined into one message. If the
// model calls several tools at once, the records that follow branch. They are
// joined to one path in file order: a record with the message.id of the answer,
// or with a result for it, follows the last record of that answer, and so does
// a record that follows a result. All other links are kept, so two prompts with
// the same parent form a branch.
//
// An answer is open until a record with a stop_reason ends it with a text. The
// reason tool_use does not end it, because calls may follow. Neither does
// thinking, because an answer that was stored as a whole has its stop_reason in
// each of its records.
//
// Commands that only affect the terminal, their output, and records that the
// program adds when it resumes a session are not messages ([record.local]).
//
// A compaction begins a new root whose logicalParentUuid names the record
// before it. The summary follows that record. Records that the compaction
// preserved keep their place before it, and later successors of the last of
// them follow the summary.
//
// A file with records of a sidechain only is the conversation of a sub-agent, whose agentId is
// unique in its session. The transcript with the call names it in the toolUseResult of the
// result, as does that of another sub-agent; both have the sessionId of the session at the top
// (names of the program 2.1.328; the file agent-ID.meta.json beside it is not read).
//
// Versions before 2 (seen in files of 1.0.108) have the records of sub-agents in the file of the
// session, mostly without an agentId. Each agent, or each root and what follows it, is a conversation
// after the main one ([file]). The call that began it is the one whose result names the agent, as above, or
// whose prompt is the text of the root. Messages of a main conversation precede them in the file: all
// messages of a file that begins with a sidechain are one conversation.
//
// If a link names a record that the file does not contain, the message is
// joined to the message before it in the file ([transcript.Message.Joined]), on
// a sidechain to the one before it of the same agent. A root in the middle of
// the main chain is joined as well, because answers, results, summaries and
// texts of the program never begin a conversation. A prompt is joined only if
// the program began a new context by itself: after the hooks of SessionStart or
// /clear, with the plan that was accepted, or in a file whose answers have no
// links either. Any other prompt is a root, as it is when a user goes back to
// before the first prompt.
package claude

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		return []string{path.Join(configDir(m), "projects")}
	},
	Holds: func(p string) bool {
		return path.Ext(p) == ".jsonl" && strings.Count(p, "/") >= 1 && !strings.Contains(p, "/tool-results/")
	},
	Target: func(m transcript.Machine, t *transcript.Transcript, o transcript.Options) string {
		return path.Join(configDir(m), "projects", slug(t.WorkDir()), o.ID+".jsonl")
	},
	Resume: func(_ transcript.Machine, _ string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return nil, []string{"claude", "--resume", o.ID}
	},
}

const format = "claude-code"

func configDir(m transcript.Machine) string {
	if dir := m.Env("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return path.Join(m.Home, ".claude")
}

// slug returns the name of the folder for the sessions of dir. Claude Code
// counts UTF-16 units, and adds a hash to a name of more than 200. The terminal
// program and the library compute different hashes, but both find a folder by
// the beginning of its name.
func slug(dir string) string {
	const most = 200
	var hash int32
	units := utf16.Encode([]rune(dir))
	slug := make([]byte, len(units))
	for i, u := range units {
		hash = hash<<5 - hash + int32(u)
		slug[i] = '-'
		if u < 128 && (u >= '0' && u <= '9' || u|0x20 >= 'a' && u|0x20 <= 'z') {
			slug[i] = byte(u)
		}
	}
	if len(slug) <= most {
		return string(slug)
	}
	return string(slug[:most]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

func Detect(head []byte) bool {
	is := false
	jsonl.InHead(head, func(raw []byte) bool {
		if isQwen(raw) {
			return true
		}
		is = isRecord(raw)
		return is || gjson.GetBytes(raw, "type").Str == "session" // a record of pi
	})
	return is || isTornRecord(head) && !isQwenTorn(head)
}

// isRecord reports whether only Claude Code writes such a record.
func isRecord(raw []byte) bool {
	v := gjson.GetManyBytes(raw, "type", "parentUuid", "uuid", "sessionId", "leafUuid", "messageId")
	switch v[0].Str {
	case "user", "assistant", "system", "attachment", "progress":
		return v[1].Exists() && v[2].Type == gjson.String
	case "summary":
		return v[4].Type == gjson.String
	case "file-history-snapshot":
		return v[5].Type == gjson.String
	case "custom-title", "ai-title", "last-prompt", "queue-operation", "mode", "permission-mode", "tag", "cost-state", "atis-latch", "tools-used":
		return v[3].Type == gjson.String && !v[2].Exists()
	}
	return false
}

// isTornRecord is isClaude for a first record that is longer than the head of the file.
func isTornRecord(head []byte) bool {
	start := string(head[:min(len(head), 1<<10)])
	return !strings.Contains(start, "\n") && strings.HasPrefix(strings.TrimSpace(start), "{") &&
		strings.Contains(start, `"parentUuid"`) && strings.Contains(start, `"sessionId"`)
}

// isQwen reports whether a record is one of Qwen Code, whose chats have the links of
// Claude Code and the content of Gemini.
func isQwen(record []byte) bool {
	v := gjson.GetManyBytes(record, "uuid", "sessionId", "message.parts", "systemPayload", "type")
	return v[0].Type == gjson.String && v[1].Type == gjson.String && (v[2].IsArray() || v[3].Exists() || v[4].Str == "tool_result")
}

// isQwenTorn is isQwen for a first record that is longer than the head of the file.
func isQwenTorn(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 1<<10)], []byte(`"parts":[`))
}
