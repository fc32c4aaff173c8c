package convert

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/content"
)

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

func (m *Message) has(kind string) bool {
	return slices.ContainsFunc(m.Parts, func(p content.Part) bool { return p.Type == kind })
}

// asText returns what a part says that a format has no place for, as a text for a
// reader.
func asText(p *content.Part) string {
	c := p.Call()
	switch p.Type {
	case content.TypeToolCall:
		return "[called " + c.Name + "] " + c.Arguments
	case content.TypeToolResult:
		if c.Failed {
			return "[the tool failed] " + p.Text
		}
		return "[the tool said] " + p.Text
	case content.TypeImage, content.TypeAudio, content.TypeVideo, content.TypeFile:
		name := p.Filename
		if _, _, url := p.File(); name == "" {
			name = url
		}
		if name != "" {
			return "[" + p.Type + " " + name + "]"
		}
		return "[" + p.Type + "]"
	}
	return p.Text
}

// plural returns what parts of a type are called among losses.
func plural(kind string) string {
	switch kind {
	case content.TypeAudio:
		return "audio"
	case content.TypeData:
		return "data of other programs"
	case content.TypeRedacted:
		return "hidden thinking"
	}
	return kind + "s"
}

// heads counts what a format has no place for of what there is to say of a conversation:
// those of title, folder and version that are not in has.
func (t *Transcript) heads(lost *losses, has ...string) {
	for _, h := range []struct{ what, value string }{
		{"titles", t.Title}, {"working folders", t.Dir},
	} {
		if h.value != "" && !slices.Contains(has, h.what) {
			lost.add(h.what)
		}
	}
}

// count counts a loss if it is one.
func (l *losses) count(what string, is bool) {
	if is {
		l.add(what)
	}
}

// fenced returns code as Markdown has it, in a fence that is longer than any inside.
func fenced(language, code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(code, "\n") + "\n" + fence
}
