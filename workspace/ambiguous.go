package workspace

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// ambiguousSessions returns the error for a name that several sessions match.
func (v *View) ambiguousSessions(name string, ids []string) error {
	about := make(map[string]overview, len(ids))
	for _, id := range ids {
		about[id] = v.overview(id)
	}
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b string) int { return about[b].active.Compare(about[a].active) })
	return lookup.Ambiguous("session", name, ids, func(id string) fault.Candidate {
		s := about[id]
		c := fault.Candidate{Session: session.ID(id), Kind: string(s.kind), Title: s.title, Tool: s.setting.Tool, MessageCount: s.messages}
		if !s.active.IsZero() {
			c.Time = session.Bough.Time(s.active)
		}
		return c
	})
}

// ambiguousMessages returns the error for a name that several messages match.
func (v *View) ambiguousMessages(name string, places []*place) error {
	return lookup.Ambiguous("message", name, places, func(p *place) fault.Candidate {
		id := p.source().ID
		c := fault.Candidate{Session: session.ID(id), Message: session.ID(p.messageID()), Title: v.overview(id).title}
		if m, err := v.message(p.line, p.node); err == nil {
			c.Kind, c.Text = m.Role(), opening(m.Text())
			if at, ok := m.Time(); ok {
				c.Time = session.Bough.Time(at)
			}
		}
		return c
	})
}

// opening returns the first words of a text on one line.
func opening(text string) string {
	const most = 100 // characters
	runes := []rune(strings.Join(strings.Fields(text[:min(len(text), 16*most)]), " "))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
