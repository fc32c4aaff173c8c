package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/workspace"
	"github.com/clipperhouse/displaywidth"
	"github.com/tidwall/gjson"
)

// A showRow is a message in printed form: all its text is safe to print.
type showRow struct {
	ref    string
	role   string
	person bool // the user wrote it
	time   time.Time
	joined bool
	mode   string // its delivery mode to a running agent, or ""
	merged string // what it merged, or ""
	blocks []block
}

// A block is a part of a message.
type block struct {
	kind   blockKind
	tool   string // the name of the tool
	failed bool   // of a result: an error
	text   string // of a call: its arguments
}

type blockKind int

const (
	textBlock blockKind = iota
	thinkingBlock
	callBlock
	resultBlock
)

// showRows returns the messages of c in printed form, without those that o hides
// completely.
func showRows(c *workspace.Conversation, o showOptions) []showRow {
	said := make([]*content.Message, len(c.Messages))
	for i, m := range c.Messages {
		said[i] = content.Read(m.Raw)
	}
	content.Follow(said, said)
	merged := map[string]string{}
	for _, m := range c.Merges {
		merged[m.Message] = "(" + mergedText(m) + ", up to " + place(tail(m.Session), shortMessage(m.From)) + ")"
	}
	var rows []showRow
	for i, m := range c.Messages {
		row := showRow{ref: line(c.Refs[i]), role: line(m.Role()), joined: c.Joined[i], mode: deliveryNote(m.Raw), merged: merged[m.ID]}
		row.time, _ = m.Time()
		hidden := false
		for k := range said[i].Parts {
			b, ok := blockOf(&said[i].Parts[k])
			if !ok || b.kind == thinkingBlock && !o.thinking || b.kind >= callBlock && !o.tools {
				hidden = true
				continue
			}
			row.person = row.person || row.role == "user" && b.kind == textBlock
			row.blocks = append(row.blocks, b)
		}
		if len(row.blocks) > 0 || !hidden {
			rows = append(rows, row)
		}
	}
	return rows
}

// deliveryNote formats the mode in which a user's message was delivered to a
// running agent, "" if it was not.
func deliveryNote(raw []byte) string {
	switch turn.DeliveryMode(gjson.GetBytes(raw, "metadata.delivery_mode").Str) {
	case turn.Steer:
		return "(steer)"
	case turn.FollowUp:
		return "(follow-up)"
	}
	return ""
}

// blockOf returns a part in printed form. It returns false for a part without text.
func blockOf(part *content.Part) (block, bool) {
	text := strings.TrimRight(clean(part.Text), " \t\n")
	switch part.Type {
	case content.TypeToolCall:
		call := part.Call()
		return block{kind: callBlock, tool: toolName(call.Name), text: call.Arguments}, true
	case content.TypeToolResult:
		call := part.Call()
		return block{kind: resultBlock, tool: toolName(call.Name), failed: call.Failed, text: text}, true
	case content.TypeThinking, content.TypeRedacted:
		if text == "" {
			text = "(not recorded)"
		}
		return block{kind: thinkingBlock, text: text}, true
	case content.TypeText:
		return block{text: text}, text != ""
	}
	if text == "" {
		one := content.Message{Parts: []content.Part{{Type: part.Type, Meta: part.Meta}}}
		text = strings.TrimRight(clean(strings.Join(one.Texts(), "\n")), " \t\n")
	}
	label := "[" + strings.TrimSpace(line(typeName(part))+" "+line(part.Filename)) + "]"
	return block{text: strings.TrimSpace(label + "\n" + text)}, true
}

// typeName returns the name of a part that is not text: its type or, for data, the type of
// the data.
func typeName(part *content.Part) string {
	if kind := gjson.GetBytes(part.Meta, "data_type"); part.Type == content.TypeData && kind.Type == gjson.String {
		return kind.Str
	}
	return part.Type
}

func toolName(name string) string {
	if name = line(name); name == "" {
		return "tool"
	}
	return name
}

// resultLines is the number of lines of a result that are printed.
const resultLines = 5

// columns returns the maximum width of the lines of tools.
func (p *program) columns() int {
	const piped = 160
	if p.paint.width == 0 {
		return piped
	}
	return max(p.paint.width, 20)
}

// block prints a part of a message.
func (p *program) block(b block, person bool, o showOptions) {
	each := func(text string, paint func(string) string, indent string) {
		for l := range strings.Lines(text) {
			fmt.Fprintln(p.stdout, strings.TrimRight(indent+paint(strings.TrimSuffix(l, "\n")), " "))
		}
	}
	switch b.kind {
	case thinkingBlock:
		fmt.Fprintln(p.stdout, p.paint.dim("thinking:"))
		each(b.text, p.paint.dim, "  ")
	case callBlock:
		p.call(b, o.full)
	case resultBlock:
		fmt.Fprintln(p.stdout, p.toolHead(b))
		shown, more := b.text, 0
		if !o.full {
			shown, more = fold(b.text, resultLines, p.columns()-2)
		}
		each(shown, p.paint.dim, "  ")
		if more > 0 {
			fmt.Fprintln(p.stdout, p.paint.dim("  … "+count(more, "more line")+"; --full prints all"))
		}
	default:
		paint := func(s string) string { return s }
		if person {
			paint = p.paint.bold
		}
		each(b.text, paint, "")
	}
}

// call prints a tool call: on one line, or with all arguments in full.
func (p *program) call(b block, full bool) {
	head := p.toolHead(b)
	if !full {
		room := p.columns() - width(b.tool) - 4
		fmt.Fprintln(p.stdout, strings.TrimRight(head+"  "+cut(argumentLine(b.text), room), " "))
		return
	}
	fmt.Fprintln(p.stdout, head)
	for _, l := range argumentLines(b.text) {
		fmt.Fprintln(p.stdout, strings.TrimRight("  "+l, " "))
	}
}

// toolHead formats the name of a tool above its call or result.
func (p *program) toolHead(b block) string {
	arrow := "→ "
	if b.kind == resultBlock {
		arrow = "← "
	}
	head := p.paint.dim(arrow) + p.paint.cyan(b.tool)
	if b.failed {
		head += " (failed)"
	}
	return head
}

// fold returns the first lines of a text, each cut to a number of columns, and the number
// of omitted lines.
func fold(text string, lines, columns int) (first string, more int) {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		if n++; n <= lines {
			l = strings.ReplaceAll(strings.TrimSuffix(l, "\n"), "\t", "    ") // a tab has no width of its own
			b.WriteString(cut(l, columns) + "\n")
		}
	}
	return b.String(), max(0, n-lines)
}

// cut cuts a line to a number of columns, on a terminal or not.
func cut(s string, columns int) string {
	return displaywidth.TruncateString(s, max(columns, 8), "…")
}

// argumentLine formats the arguments of a call on one line: the value of an only member,
// else each member with its name.
func argumentLine(arguments string) string {
	object := gjson.Parse(arguments)
	if !object.IsObject() {
		return line(arguments)
	}
	var list []string
	var only string
	object.ForEach(func(name, value gjson.Result) bool {
		only = cut(line(argument(value)), 100)
		list = append(list, line(name.String())+": "+only)
		return true
	})
	if len(list) == 1 {
		return only
	}
	return strings.Join(list, ", ")
}

// argumentLines formats all arguments of a call; values of several lines begin below their
// names.
func argumentLines(arguments string) (list []string) {
	object := gjson.Parse(arguments)
	if !object.IsObject() {
		return strings.Split(clean(arguments), "\n")
	}
	object.ForEach(func(name, value gjson.Result) bool {
		text := strings.TrimRight(clean(argument(value)), "\n")
		if !strings.Contains(text, "\n") {
			list = append(list, line(name.String())+": "+text)
			return true
		}
		list = append(list, line(name.String())+":")
		for l := range strings.Lines(text) {
			list = append(list, "  "+strings.TrimSuffix(l, "\n"))
		}
		return true
	})
	return list
}

// argument formats an argument of a call: a string unquoted, else its JSON.
func argument(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.String()
	}
	return v.Raw
}

// onelines prints one message per line.
func (p *program) onelines(rows []showRow) {
	refs, roles := 0, 0
	for _, row := range rows {
		refs, roles = max(refs, width(row.ref)), max(roles, width(row.role))
	}
	for _, row := range rows {
		role := p.paint.role(row.role)
		words := cut(strings.TrimSpace(row.merged+" "+row.words()), min(p.columns(), 200)-refs-roles-4)
		if row.person {
			role, words = p.paint.bold(role), p.paint.bold(words)
		}
		text := p.paint.yellow(row.ref) + pad("", refs-width(row.ref)) + "  " + role + pad("", roles-width(row.role)) + "  " + words
		fmt.Fprintln(p.stdout, strings.TrimRight(text, " "))
	}
}

// words returns the beginning of a message on one line: its text if it has one, else its
// calls and results.
func (row showRow) words() string {
	var tools []string
	thought := ""
	for _, b := range row.blocks {
		switch b.kind {
		case textBlock:
			return line(b.text)
		case thinkingBlock:
			thought = "thinking: " + line(b.text)
		case callBlock:
			tools = append(tools, "→ "+strings.TrimSpace(b.tool+"  "+argumentLine(b.text)))
		case resultBlock:
			tools = append(tools, "← "+strings.TrimSpace(b.tool+"  "+line(b.text)))
		}
	}
	if len(tools) > 0 {
		return strings.Join(tools, "  ")
	}
	return thought
}
