package store

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
		about[id] = v.Overview(id)
	}
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b string) int { return about[b].Active.Compare(about[a].Active) })
	return lookup.Ambiguous("session", name, ids, func(id string) fault.Candidate {
		s := about[id]
		c := fault.Candidate{Session: session.ID(id), Kind: string(s.Kind), Title: s.Title, Tool: s.Setting.Tool, MessageCount: s.Messages}
		if !s.Active.IsZero() {
			c.Time = session.Bough.Time(s.Active)
		}
		return c
	})
}

// ambiguousMessages returns the error for a name that several messages match.
func (v *View) ambiguousMessages(name string, places []*Place) error {
	return lookup.Ambiguous("message", name, places, func(p *Place) fault.Candidate {
		id := p.Source().ID
		c := fault.Candidate{Session: session.ID(id), Message: session.ID(p.MessageID()), Title: v.Overview(id).Title}
		if m, err := v.Message(p.Line, p.Node); err == nil {
			c.Kind, c.Text = m.Role(), Opening(m.Text())
			if at, ok := m.Time(); ok {
				c.Time = session.Bough.Time(at)
			}
		}
		return c
	})
}

// Opening returns the first words of a text on one line.
func Opening(text string) string {
	const most = 100 // characters
	runes := []rune(strings.Join(strings.Fields(text[:min(len(text), 16*most)]), " "))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
