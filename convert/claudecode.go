package convert

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"
)

// claudeCode is the tree of records that Claude Code keeps of a session, a line for each.
// A record of type user, assistant, system, attachment or progress has a uuid and names
// the one before it; the others stand beside the tree. Of two records with one uuid the
// first counts; the other one rides along.
//
// An answer of the model is several records with one message.id, one for each block of
// it. Those that stand together are one message here. When the model calls several tools
// at once, the records that follow fan out, and are put in a row again as they stand in
// the file: what has the message.id of the answer, or holds a result for it, comes after
// the last record of that answer, and so does what follows a result. All other links are
// as they are, so that where two prompts follow one message there is a branch.
//
// An answer is open until a record with a stop_reason ends it with a text. The reason
// tool_use ends nothing, since calls may follow, and neither does a thought: an answer
// that comes whole has its stop_reason in each of its records.
//
// Commands that act on the terminal only, their output, and what the program adds when it
// resumes a session are no messages ([claudeRecord.local]).
//
// A compaction begins a new root, whose logicalParentUuid names the record before it. The
// message that sums up follows that one. Records that the compaction preserved keep their
// place before it, and what follows the last of them afterwards follows the summary.
//
// Where a link names a record that the file does not have, a message is joined to the one
// before it in the file ([Message.Joined]), on a sidechain to the one before it of the
// same agent. So is a root in the middle of the main chain, since an answer, a result, a
// summary and what the program says never begin a conversation, and neither does a
// prompt where the program began a new context by itself: behind the hooks of
// SessionStart or /clear, with the plan that was accepted, or in a file whose answers
// have no links either. Any other prompt is a root: a person who goes back to before the
// first prompt makes one.
var claudeCode = Format{
	Name:     claudeName,
	Aliases:  []string{"claude", "claudecode", "claude_code"},
	About:    "the sessions of Claude Code",
	Ext:      ".jsonl",
	Branches: true,
	RecordID: "uuid",
	detect:   detectClaude,
	read:     readClaude,
	write:    writeClaude,
	home: &home{
		roots: func(m Machine) []string {
			return []string{path.Join(claudeDir(m), "projects")}
		},
		holds: func(p string) bool {
			return path.Ext(p) == ".jsonl" && strings.Count(p, "/") >= 1 && !strings.Contains(p, "/tool-results/")
		},
		target: func(m Machine, t *Transcript, o Options) string {
			return path.Join(claudeDir(m), "projects", claudeSlug(t.dir()), o.ID+".jsonl")
		},
		resume: func(_ string, _ *Transcript, o Options) (before, run []string) {
			return nil, []string{"claude", "--resume", o.ID}
		},
	},
}

const claudeName = "claude-code"

func claudeDir(m Machine) string {
	if dir := m.Env("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return path.Join(m.Home, ".claude")
}

// claudeSlug returns the name of the folder for the sessions about dir. Claude Code
// counts in units of UTF-16, and adds a hash to a name of more than 200 of them. Its
// program for the terminal hashes in another way than its library, and both find a
// folder by its beginning.
func claudeSlug(dir string) string {
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

func detectClaude(head []byte) bool {
	is := false
	headLines(head, func(raw []byte) bool {
		if isQwen(raw) {
			return true
		}
		is = isClaude(raw)
		return is || gjson.GetBytes(raw, "type").Str == "session" // a record of pi's
	})
	return is || isClaudeTorn(head) && !isQwenTorn(head)
}

// isClaude reports whether a record is one that nobody but Claude Code writes.
func isClaude(raw []byte) bool {
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

// isClaudeTorn is isClaude for a first record that is longer than the head of the file.
func isClaudeTorn(head []byte) bool {
	start := string(head[:min(len(head), 1<<10)])
	return !strings.Contains(start, "\n") && strings.HasPrefix(strings.TrimSpace(start), "{") &&
		strings.Contains(start, `"parentUuid"`) && strings.Contains(start, `"sessionId"`)
}
