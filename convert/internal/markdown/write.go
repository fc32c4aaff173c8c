// Package markdown writes a conversation as a Markdown document. It cannot be read
// again.
//
// The path to the leaf is first. Each other branch has a section with the messages
// after the fork, linked from the message at the fork.
package markdown

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// A limb is a part of a tree without a fork: a path to a leaf without the part that
// earlier limbs have.
type limb struct {
	from *transcript.Message // that it begins after, nil for nothing
	path []*transcript.Message
}

// limbsOf returns the parts of the tree, the part with the leaf first.
func limbsOf(t *transcript.Transcript) []limb {
	o := tree.NewOutline(t)
	if len(t.Messages) == 0 {
		return nil
	}
	taken := map[string]bool{}
	active := o.PathTo(tree.Leaf(t))
	for _, m := range active {
		taken[m.ID] = true
	}
	list := []limb{{path: active}}
	follow := func(m *transcript.Message) (path []*transcript.Message) {
		for m != nil {
			taken[m.ID] = true
			path = append(path, m)
			next := m
			m = nil
			for _, c := range o.Children[next.ID] {
				if !taken[c.ID] {
					m = c
					break
				}
			}
		}
		return path
	}
	if end := active[len(active)-1]; len(o.Children[end.ID]) > 0 {
		// Messages after the leaf are a branch too.
		for _, c := range o.Children[end.ID] {
			list = append(list, limb{end, follow(c)})
		}
	}
	for _, m := range t.Messages {
		if !taken[m.ID] {
			l := limb{path: follow(m)}
			if o.Has(m.Parent) {
				l.from = t.Messages[o.At[m.Parent]]
			}
			list = append(list, l)
		}
	}
	return list
}

func Write(w io.Writer, t *transcript.Transcript, _ transcript.Options, lost *report.Report) error {
	d := writer{lost: lost, numbers: map[*transcript.Message]int{}, branches: map[*transcript.Message][]int{}, tools: map[string]string{}}
	title := t.Title
	if title == "" {
		title = "Conversation"
	}
	fmt.Fprintf(&d.b, "# %s\n", oneLine(title))
	var facts []string
	if !t.Created.IsZero() {
		facts = append(facts, minute(t.Created))
	}
	for _, s := range []string{t.Model, t.Dir} {
		if s != "" {
			facts = append(facts, code(s))
		}
	}
	if len(facts) > 0 {
		fmt.Fprintf(&d.b, "\n%s\n", strings.Join(facts, " · "))
	}
	limbs := limbsOf(t)
	for i, l := range limbs {
		for _, m := range l.path {
			d.numbers[m] = len(d.numbers) + 1
		}
		if i > 0 {
			d.branches[l.from] = append(d.branches[l.from], i+1)
		}
	}
	if len(limbs) > 1 {
		fmt.Fprintf(&d.b, "\n%d branches:\n\n", len(limbs))
		for i, l := range limbs {
			first := "nothing"
			if len(l.path) > 0 {
				first = gist(l.path[0])
			}
			mark := ""
			if i == 0 {
				mark = ", where the conversation continues"
			}
			fmt.Fprintf(&d.b, "- [Branch %d](#branch-%d)%s: %s\n", i+1, i+1, mark, first)
		}
	}
	for i, l := range limbs {
		if len(limbs) > 1 {
			fmt.Fprintf(&d.b, "\n<a id=\"branch-%d\"></a>\n\n# Branch %d\n", i+1, i+1)
			switch {
			case l.from != nil:
				fmt.Fprintf(&d.b, "\nIt begins after [%s](#message-%d).\n", gist(l.from), d.numbers[l.from])
			case i > 0:
				fmt.Fprint(&d.b, "\nIt has a root of its own.\n")
			}
		}
		for _, m := range l.path {
			d.message(m)
		}
	}
	_, err := w.Write(d.b.Bytes())
	return err
}

type writer struct {
	b        bytes.Buffer
	lost     *report.Report
	numbers  map[*transcript.Message]int
	branches map[*transcript.Message][]int // that begin after a message
	tools    map[string]string             // names of tools, by the ids of calls
}

func (d *writer) message(m *transcript.Message) {
	if len(d.branches) > 0 {
		fmt.Fprintf(&d.b, "\n<a id=\"message-%d\"></a>\n", d.numbers[m])
	}
	facts := []string{speaker(m)}
	if m.Own.Name != "" {
		facts = append(facts, oneLine(m.Own.Name))
	}
	if m.Model != "" {
		facts = append(facts, code(m.Model))
	}
	if !m.Time.IsZero() {
		facts = append(facts, minute(m.Time))
	}
	fmt.Fprintf(&d.b, "\n## %s\n", strings.Join(facts, " · "))
	for i := range m.Parts {
		d.part(&m.Parts[i])
	}
	if list := d.branches[m]; len(list) > 0 {
		links := make([]string, len(list))
		for i, n := range list {
			links[i] = fmt.Sprintf("[Branch %d](#branch-%d)", n, n)
		}
		fmt.Fprintf(&d.b, "\n*Branches here: %s*\n", strings.Join(links, ", "))
	}
}

func (d *writer) part(p *content.Part) {
	c := p.Call()
	switch p.Type {
	case content.TypeText, content.TypeData:
		if p.Text != "" {
			fmt.Fprintf(&d.b, "\n%s\n", closed(p.Text))
		} else if p.Type == content.TypeData {
			d.lost.Part(p)
		}
	case content.TypeThinking:
		d.lost.Signature(p)
		if p.Text != "" {
			text := strings.ReplaceAll(closed(p.Text), "</details", "&lt;/details")
			fmt.Fprintf(&d.b, "\n<details>\n<summary>Thinking</summary>\n\n%s\n\n</details>\n", text)
		}
	case content.TypeToolCall:
		d.tools[c.ID] = c.Name
		fmt.Fprintf(&d.b, "\nCalls %s:\n", code(c.Name))
		writeArguments(&d.b, c.Arguments)
	case content.TypeToolResult:
		if c.Name == "" {
			c.Name = d.tools[c.ID]
		}
		name, said := "The tool", "says"
		if c.Name != "" {
			name = code(c.Name)
		}
		if c.Failed {
			said = "failed and says"
		}
		fmt.Fprintf(&d.b, "\n%s %s:\n\n%s\n", name, said, parts.Fence("", p.Text))
		d.extras(p)
	case content.TypeRedacted:
		d.lost.Part(p)
	default:
		if text, ok := parts.TextFile(p); ok {
			fmt.Fprintf(&d.b, "\n%s:\n\n%s\n", oneLine(p.Filename), parts.Fence("", text))
			return
		}
		d.lost.Part(p)
		fmt.Fprintf(&d.b, "\n%s\n", oneLine(parts.Text(p)))
	}
}

// extras describes the non-text output of a tool.
func (d *writer) extras(p *content.Part) {
	d.lost.Extras(p)
	gjson.GetBytes(p.Meta, "content").ForEach(func(_, block gjson.Result) bool {
		if kind := block.Get("type").Str; kind != "text" && kind != "" {
			fmt.Fprintf(&d.b, "\n[%s]\n", oneLine(kind))
		}
		return true
	})
}

func speaker(m *transcript.Message) string {
	switch {
	case m.Kind == transcript.Compaction:
		return "Summary of what came before"
	case m.Kind == transcript.Summary:
		return "Summary of another branch"
	case m.Own.Role != "":
		return "System"
	case m.Role == "assistant":
		return "Assistant"
	case len(m.Parts) > 0 && !slices.ContainsFunc(m.Parts, func(p content.Part) bool { return p.Type != content.TypeToolResult }):
		return "Tool"
	}
	return "User"
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// code returns a name as code.
func code(s string) string { return "`" + strings.ReplaceAll(oneLine(s), "`", "'") + "`" }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// gist returns how a message begins, as the text of a link.
func gist(m *transcript.Message) string {
	const most = 60
	for i := range m.Parts {
		s := oneLine(m.Parts[i].Text)
		if s == "" {
			continue
		}
		if r := []rune(s); len(r) > most {
			s = string(r[:most]) + "…"
		}
		return strings.NewReplacer("[", "(", "]", ")", "`", "'", "<", "&lt;").Replace(s)
	}
	return speaker(m)
}

// closed returns a text with its last fence closed, so that it does not include the
// text after it.
func closed(text string) string {
	open, indent := "", ""
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if mark == "" {
			mark = line[:len(line)-len(strings.TrimLeft(line, "~"))]
		}
		switch {
		case len(mark) < 3:
		case open == "":
			if mark[0] == '~' || !strings.Contains(line[len(mark):], "`") {
				// Closed elsewhere, in a list or in code, it would open another one.
				open, indent = mark, raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))]
			}
		case mark[0] == open[0] && len(mark) >= len(open) && line == mark:
			open = ""
		}
	}
	text = strings.TrimSuffix(text, "\n")
	if open != "" {
		text += "\n" + indent + open
	}
	return text
}
