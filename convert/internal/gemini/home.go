package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string { return []string{filepath.Join(homeDir(m), "tmp")} },
	Holds: func(path string) bool {
		dirs := strings.Split(path, "/")
		name := dirs[len(dirs)-1]
		switch {
		case strings.HasPrefix(name, "checkpoint-") && strings.HasSuffix(name, ".json"):
			return true
		case !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".jsonl"):
			return false
		}
		return slices.Contains(dirs[:len(dirs)-1], "chats")
	},
	Target: func(m transcript.Machine, t *transcript.Transcript, o transcript.Options) string {
		return filepath.Join(homeDir(m), "tmp", folder(m, t.Dir), "chats",
			"session-"+o.Now.UTC().Format("2006-01-02T15-04")+"-"+SessionID(o.ID)[:8]+".jsonl")
	},
	Resume: func(_ transcript.Machine, _ string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return nil, []string{"gemini", "--resume", SessionID(o.ID)}
	},
}

func homeDir(m transcript.Machine) string {
	if dir := m.Env("GEMINI_CLI_HOME"); dir != "" {
		return filepath.Join(dir, ".gemini")
	}
	return filepath.Join(m.Home, ".gemini")
}

// folder returns the path of the program's data for a folder, by its registered
// name if it has one.
func folder(m transcript.Machine, dir string) string {
	name := hash(dir)
	if m.Read == nil {
		return name
	}
	data, err := m.Read(filepath.Join(homeDir(m), "projects.json"))
	if err != nil {
		return name
	}
	gjson.GetBytes(data, "projects").ForEach(func(key, value gjson.Result) bool {
		if s := value.Str; key.Str == dir && s != "" && filepath.Base(s) == s && s != "." && s != ".." {
			name = s
		}
		return true
	})
	return name
}

// SessionID returns the program's id for a conversation: its files are named after
// the first digits, so these are not a time.
func SessionID(id string) string { return transcript.ChainID("gemini", rawjson.Compact(id)) }

// hash returns the program's former name for a folder.
func hash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}
