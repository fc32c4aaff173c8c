// Package calls pairs tool calls with their results, by the different rules of the
// programs.
package calls

import (
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
)

// Answered returns for the calls that a later message answers the first result, and for
// results their call.
func Answered(messages []*transcript.Message) map[*content.Part]*content.Part {
	pairs := map[*content.Part]*content.Part{}
	calls := map[string]*content.Part{}
	for _, m := range messages {
		for i := range m.Parts {
			switch p := &m.Parts[i]; p.Type {
			case content.TypeToolCall:
				calls[p.Call().ID] = p
			case content.TypeToolResult:
				if call := calls[p.Call().ID]; call != nil {
					pairs[p] = call
					if pairs[call] == nil {
						pairs[call] = p
					}
				}
			}
		}
	}
	return pairs
}

// Kept returns the calls that have a result later on, the results of such calls, and
// the calls with which a path ends.
func Kept(messages []*transcript.Message) map[*content.Part]bool {
	list := map[*content.Part]bool{}
	for p := range Answered(messages) {
		list[p] = true
	}
	parents := map[string]bool{}
	for _, m := range messages {
		parents[m.Parent] = true
	}
	for _, m := range messages {
		for i := range m.Parts {
			p := &m.Parts[i]
			switch c := p.Call(); {
			case c.ID == "" || p.Type == content.TypeToolCall && c.Name == "":
				delete(list, p)
			case p.Type == content.TypeToolCall && !parents[m.ID]:
				list[p] = true
			}
		}
	}
	return list
}

// Adjacent returns the calls and results of a path in the order that providers require: a
// result follows the message with its call, with only other results between.
func Adjacent(path []*transcript.Message) map[*content.Part]bool {
	pairs := map[*content.Part]bool{}
	open := map[string]*content.Part{}
	answering := false
	for _, m := range path {
		if m.Role == "assistant" {
			if !answering {
				clear(open)
			}
			answering = true
			for i := range m.Parts {
				if p := &m.Parts[i]; p.Type == content.TypeToolCall && p.Call().ID != "" && p.Call().Name != "" {
					open[p.Call().ID] = p
				}
			}
			continue
		}
		answering = false
		if !m.HasPart(content.TypeToolResult) {
			clear(open)
		}
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Type != content.TypeToolResult {
				continue
			}
			if call := open[p.Call().ID]; call != nil {
				pairs[call], pairs[p] = true, true
				delete(open, p.Call().ID)
			}
		}
	}
	return pairs
}

// Merge returns a transcript in which every answer that calls several tools is
// one message with all its calls, before the results. A program may store the
// parts of an answer and the results in order of arrival. Messages with records
// of the format do not change. If the leaf was merged into another message,
// that is the leaf.
func Merge(t *transcript.Transcript, format string) *transcript.Transcript {
	answers := *t
	answers.Messages, answers.Leaf = mergeAnswers(t.Messages, t.Leaf, format)
	return &answers
}

func mergeAnswers(messages []*transcript.Message, leaf, format string) (list []*transcript.Message, now string) {
	children := map[string][]*transcript.Message{}
	results := map[string]bool{}
	for _, m := range messages {
		children[m.Parent] = append(children[m.Parent], m)
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Type == content.TypeToolResult {
				results[p.Call().ID] = true
			}
		}
	}
	free := func(m *transcript.Message) bool { return m.Format != format || len(m.Records) == 0 }
	more := map[string][]content.Part{} // additional parts of a message
	gone := map[string]string{}         // messages that were merged into others, and their predecessors
	now = leaf
	for _, m := range messages {
		if _, ok := gone[m.ID]; ok || m.Role != "assistant" || !free(m) {
			continue
		}
		open := map[string]bool{}
		add := func(parts []content.Part) {
			for i := range parts {
				if c := parts[i].Call(); parts[i].Type == content.TypeToolCall && results[c.ID] {
					open[c.ID] = true
				}
			}
		}
		add(m.Parts)
		before := m.ID
		for at := m; len(open) > 0 && len(children[at.ID]) == 1; {
			at = children[at.ID][0]
			switch {
			case at == m || !free(at):
				clear(open)
			case at.Role == "assistant":
				more[m.ID] = append(more[m.ID], at.Parts...)
				gone[at.ID] = before
				if at.ID == leaf {
					now = m.ID
				}
				add(at.Parts)
			case !at.HasPart(content.TypeToolResult):
				clear(open)
			default:
				for i := range at.Parts {
					if at.Parts[i].Type == content.TypeToolResult {
						delete(open, at.Parts[i].Call().ID)
					}
				}
				before = at.ID
			}
		}
	}
	if len(gone) == 0 {
		return messages, now
	}
	for _, m := range messages {
		before, moved := gone[m.Parent]
		_, is := gone[m.ID]
		switch parts := more[m.ID]; {
		case is:
			continue
		case len(parts) > 0 || moved:
			c := *m
			c.Parts = slices.Concat(m.Parts, parts)
			if moved {
				c.Parent = before
			}
			m = &c
		}
		list = append(list, m)
	}
	return list, now
}

// Fold moves the results of calls into the message with the calls, for formats that store them
// there. It does so while the only message that follows has results alone; of the last one that
// has some, the other parts stay in a message after the calls. Messages whose ids are in kept do
// not change. If the leaf moves into another message, that becomes the leaf.
func Fold(t *transcript.Transcript, kept map[string]bool) *transcript.Transcript {
	children := map[string][]*transcript.Message{}
	for _, m := range t.Messages {
		children[m.Parent] = append(children[m.Parent], m)
	}
	into := map[string]string{} // messages of which nothing remains, and those that have their results
	more := map[string][]content.Part{}
	rest := map[string][]content.Part{} // the other parts of messages with results
	for _, m := range t.Messages {
		if m.Role != "assistant" || kept[m.ID] {
			continue
		}
		open := map[string]bool{}
		for i := range m.Parts {
			if m.Parts[i].Type == content.TypeToolCall {
				open[m.Parts[i].Call().ID] = true
			}
		}
		for at := m; len(open) > 0 && len(children[at.ID]) == 1; {
			if at = children[at.ID][0]; kept[at.ID] || at.Role == "assistant" {
				break
			}
			results, others := answers(open, at.Parts)
			more[m.ID] = append(more[m.ID], results...)
			if len(others) > 0 || len(results) == 0 {
				if len(results) > 0 {
					rest[at.ID] = others
				}
				break
			}
			into[at.ID] = m.ID
		}
	}
	if len(into) == 0 && len(rest) == 0 {
		return t
	}
	folded := *t
	if m, is := into[t.Leaf]; is {
		folded.Leaf = m
	}
	folded.Messages = nil
	for _, m := range t.Messages {
		if _, is := into[m.ID]; is {
			continue
		}
		parent, moved := into[m.Parent]
		others, less := rest[m.ID]
		if moved || less || more[m.ID] != nil {
			c := *m
			if less {
				c.Parts = others
			}
			c.Parts = slices.Concat(c.Parts, more[m.ID])
			if moved {
				c.Parent = parent
			}
			m = &c
		}
		folded.Messages = append(folded.Messages, m)
	}
	return &folded
}

// answers returns the results of open calls among parts, and the other parts. It removes the
// calls from open.
func answers(open map[string]bool, parts []content.Part) (results, others []content.Part) {
	for i := range parts {
		if id := parts[i].Call().ID; parts[i].Type == content.TypeToolResult && open[id] {
			delete(open, id)
			results = append(results, parts[i])
		} else {
			others = append(others, parts[i])
		}
	}
	return results, others
}

// Folded returns, of messages that [Fold] returned, the calls and results that are in one message,
// and the calls at the end of a path.
func Folded(messages []*transcript.Message) map[*content.Part]bool {
	list := map[*content.Part]bool{}
	parents := map[string]bool{}
	for _, m := range messages {
		parents[m.Parent] = true
	}
	for _, m := range messages {
		open := map[string]*content.Part{}
		for i := range m.Parts {
			p := &m.Parts[i]
			switch c := p.Call(); {
			case c.ID == "":
			case p.Type == content.TypeToolCall && c.Name != "":
				open[c.ID] = p
				list[p] = !parents[m.ID]
			case p.Type == content.TypeToolResult && open[c.ID] != nil:
				list[p], list[open[c.ID]] = true, true
				delete(open, c.ID)
			}
		}
	}
	return list
}
