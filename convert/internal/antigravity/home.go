package antigravity

import (
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/plural"
)

var Home = transcript.Home{
	Roots: func(m transcript.Machine) (roots []string) {
		for _, folder := range folders(m) {
			roots = append(roots, path.Join(folder, "brain"))
		}
		return roots
	},
	Holds:  func(p string) bool { return path.Base(p) == full },
	Unread: unread,
	Identify: func(file string) (id, begunBy string) {
		if name := path.Base(file); name != full && name != "transcript.jsonl" {
			return "", ""
		}
		brain, found := strings.CutSuffix(path.Dir(file), "/"+logs)
		if !found || path.Base(path.Dir(brain)) != "brain" {
			return "", ""
		}
		return path.Base(brain), ""
	},
}

const (
	logs = ".system_generated/logs"
	full = "transcript_full.jsonl"
)

// folders returns the folders of the programs with the name Antigravity.
func folders(m transcript.Machine) (list []string) {
	for _, name := range []string{"antigravity-cli", "antigravity-ide", "antigravity"} {
		list = append(list, path.Join(m.Home, ".gemini", name))
	}
	return list
}

// unread describes conversations without a transcript.
func unread(m transcript.Machine) string {
	if m.Names == nil {
		return ""
	}
	n := 0
	for _, folder := range folders(m) {
		for _, name := range m.Names(path.Join(folder, "conversations")) {
			ext := path.Ext(name)
			id := strings.TrimSuffix(name, ext)
			if (ext == ".pb" || ext == ".db") && !slices.Contains(m.Names(path.Join(folder, "brain", id, logs)), full) {
				n++
			}
		}
	}
	if n == 0 {
		return ""
	}
	return plural.Of(n, "conversation") + " of Antigravity cannot be read, for lack of a transcript; versions before May 2026 wrote none"
}
