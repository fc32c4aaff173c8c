package convert

import "github.com/bough-dev/bough/content"

// paired returns the calls and results of a path that belong together as providers want
// it: a result follows the answer that called, and only other results stand between.
func paired(path []*Message) map[*content.Part]bool {
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
		if !m.has(content.TypeToolResult) {
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
