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
	Resume: func(_ string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
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

// slug returns the name of the folder for the sessions about dir. Claude Code
// counts in units of UTF-16, and adds a hash to a name of more than 200 of them. Its
// program for the terminal hashes in another way than its library, and both find a
// folder by its beginning.
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
		return is || gjson.GetBytes(raw, "type").Str == "session" // a record of pi's
	})
	return is || isTornRecord(head) && !isQwenTorn(head)
}

// isRecord reports whether a record is one that nobody but Claude Code writes.
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

// isQwen reports whether a record is one of Qwen Code, whose chats are linked as those of
// Claude Code, and say what Gemini's say.
func isQwen(record []byte) bool {
	v := gjson.GetManyBytes(record, "uuid", "sessionId", "message.parts", "systemPayload", "type")
	return v[0].Type == gjson.String && v[1].Type == gjson.String && (v[2].IsArray() || v[3].Exists() || v[4].Str == "tool_result")
}

// isQwenTorn is isQwen for a first record that is longer than the head of the file.
func isQwenTorn(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 1<<10)], []byte(`"parts":[`))
}
