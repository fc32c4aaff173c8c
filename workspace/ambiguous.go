package workspace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// ambiguousSessions returns the error for a name that several sessions match.
func (v *View) ambiguousSessions(name string, ids []string) error {
	active := func(id string) string {
		switch e := v.index.Entry(id); {
		case e != nil:
			return session.FormatTime(e.LastActive)
		case v.isPenguin(id):
			return session.FormatTime(v.penguin[id].CreatedAt)
		}
		return ""
	}
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(active(b), active(a)) })
	return lookup.Ambiguous("session", name, ids, func(id string) fault.Candidate {
		c := fault.Candidate{Session: session.ID(id), Kind: string(v.kind(id)), Title: v.titleOf(id), Time: active(id), Tool: v.setting(id).Tool}
		if entry := v.index.Entry(id); entry != nil {
			c.MessageCount = entry.MessageCount
		}
		return c
	})
}

// titleOf returns the display title of a session, "" if the session cannot be read.
func (v *View) titleOf(id string) string {
	switch e := v.index.Entry(id); {
	case e != nil:
		return v.title(e)
	case v.isPenguin(id):
		return cmp.Or(v.penguin[id].Name, session.DefaultTitle(id))
	}
	return ""
}

// ambiguousMessages returns the error for a name that several messages match.
func (v *View) ambiguousMessages(name string, places []*place) error {
	return lookup.Ambiguous("message", name, places, func(p *place) fault.Candidate {
		id := p.source().ID
		c := fault.Candidate{Session: session.ID(id), Message: session.ID(p.messageID()), Title: v.titleOf(id)}
		if m, err := v.message(p.line, p.node); err == nil {
			c.Kind, c.Text = m.Role(), opening(m.Text())
			if at, ok := m.Time(); ok {
				c.Time = session.FormatTime(at)
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
