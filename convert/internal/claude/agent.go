package claude

import (
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/transcript"
)

// isAgent reports whether a conversation has records of sidechains of another session than the
// one that is written, and no others with content.
func isAgent(t *transcript.Transcript, id string) (is bool) {
	if t.Format != format {
		return false
	}
	for _, m := range t.Messages {
		for _, raw := range m.Records {
			if !says(raw) {
				continue
			}
			if r := parseRecord(raw); !r.side || r.session == id {
				return false
			}
			is = true
		}
	}
	return is
}

// asMain returns a record of a sidechain as one of a session of its own: Claude Code shows and
// resumes no sidechain.
func asMain(raw []byte) []byte {
	return member.Drop(member.Set(raw, "isSidechain", false), "agentId")
}
