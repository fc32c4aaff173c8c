package content

import (
	"fmt"
	"slices"
)

// Unmatched reports whether m holds results of tool calls that it knows by the name
// of the tool, as Gemini does. [Match] finds the calls.
func (m *Message) Unmatched() bool { return m.Own.Format == Gemini && m.hasResults() }

// Match returns m with the call ids of its tool results. path holds the messages
// before it, root first. A result answers the oldest unanswered call of a tool with
// its name on the path, or, if it has an id, the call with that id, which must be
// of that tool. The error, an *[Error], names a result without a call.
func Match(m *Message, path []*Message) (*Message, error) {
	var open []tool
	answered := func(is func(tool) bool) (tool, bool) {
		i := slices.IndexFunc(open, is)
		if i < 0 {
			return tool{}, false
		}
		t := open[i]
		open = slices.Delete(open, i, i+1)
		return t, true
	}
	for _, before := range path {
		for i := range before.Parts {
			switch p := &before.Parts[i]; p.Type {
			case TypeToolCall:
				if t := p.tool(); t.id != "" {
					open = append(open, t)
				}
			case TypeToolResult:
				id := p.tool().id
				answered(func(t tool) bool { return t.id == id })
			}
		}
	}
	matched := *m
	matched.Parts = slices.Clone(m.Parts)
	for i := range matched.Parts {
		p := &matched.Parts[i]
		if p.Type != TypeToolResult {
			continue
		}
		at := fmt.Sprintf("parts[%d].functionResponse", i)
		result := p.tool()
		if result.id != "" {
			call, ok := answered(func(t tool) bool { return t.id == result.id })
			switch {
			case !ok:
				return nil, wrong(at+".id", "no call with the id %q is without a result", result.id)
			case call.name != result.name:
				return nil, wrong(at+".name", "the call with the id %q is of %q, not of %q", result.id, call.name, result.name)
			}
			continue
		}
		call, ok := answered(func(t tool) bool { return t.name == result.name })
		if !ok {
			return nil, wrong(at, "no call of %q is without a result", result.name)
		}
		var meta writer
		meta.text("tool_call_id", call.id)
		each(p.Meta, meta.member)
		p.Meta = meta.object()
	}
	return &matched, nil
}

// Follow stores in the tool results of list the names of their tools, from the
// calls in before, the messages before list. [Edit] and [Items] of list then have
// the same result as for the complete path.
func Follow(before, list []*Message) {
	names := namesOf(before)
	for _, m := range list {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Type == TypeToolResult {
				p.called = names[p.tool().id]
			}
		}
	}
}
