package codex

import (
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/convert/transcript"
)

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string {
		dir := homeDir(m)
		return []string{filepath.Join(dir, "sessions"), filepath.Join(dir, "archived_sessions")}
	},
	Holds: func(path string) bool {
		name := path[strings.LastIndexByte(path, '/')+1:]
		return strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, ".jsonl")
	},
	Target: func(m transcript.Machine, _ *transcript.Transcript, o transcript.Options) string {
		return filepath.Join(homeDir(m), "sessions", o.Now.Format("2006"), o.Now.Format("01"), o.Now.Format("02"),
			"rollout-"+o.Now.Format("2006-01-02T15-04-05")+"-"+o.ID+".jsonl")
	},
	Resume: func(_ transcript.Machine, _ string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return nil, []string{"codex", "resume", o.ID}
	},
}

func homeDir(m transcript.Machine) string {
	if dir := m.Env("CODEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(m.Home, ".codex")
}
