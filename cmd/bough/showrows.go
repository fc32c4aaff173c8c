package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/cmd/bough/internal/block"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
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
	blocks []block.Block
	agents []lines.SubAgent // that it began
}

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
		for _, a := range c.SubAgents {
			if string(a.Message) == m.ID || a.Message == "" && i == len(c.Messages)-1 {
				row.agents = append(row.agents, a)
			}
		}
		hidden := false
		for k := range said[i].Parts {
			b, ok := block.Of(&said[i].Parts[k])
			if !ok || b.Kind == block.Thinking && !o.thinking || b.Kind >= block.Call && !o.tools {
				hidden = true
				continue
			}
			row.person = row.person || row.role == "user" && b.Kind == block.Text
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
func (p *program) block(b block.Block, person bool, o showOptions) {
	each := func(text string, paint func(string) string, indent string) {
		for l := range strings.Lines(text) {
			fmt.Fprintln(p.stdout, strings.TrimRight(indent+paint(strings.TrimSuffix(l, "\n")), " "))
		}
	}
	switch b.Kind {
	case block.Thinking:
		fmt.Fprintln(p.stdout, p.paint.dim("thinking:"))
		each(b.Text, p.paint.dim, "  ")
	case block.Call:
		p.call(b, o.full)
	case block.Result:
		fmt.Fprintln(p.stdout, p.toolHead(b))
		shown, more := b.Text, 0
		if !o.full {
			shown, more = block.Fold(b.Text, resultLines, p.columns()-2)
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
		each(b.Text, paint, "")
	}
}

// subAgents prints the conversations of sub-agents that a call of the message began; if call is
// "", the others.
func (p *program) subAgents(row showRow, call string) {
	shown := func(a lines.SubAgent) bool {
		return slices.ContainsFunc(row.blocks, func(b block.Block) bool { return b.Kind == block.Call && b.Call == string(a.Call) })
	}
	for _, a := range row.agents {
		if call != "" && call == string(a.Call) || call == "" && (a.Call == "" || !shown(a)) {
			fmt.Fprintln(p.stdout, "  "+p.subAgent(a, 2))
		}
	}
}

// subAgent returns the line of a sub-agent's conversation, behind used columns.
func (p *program) subAgent(a lines.SubAgent, used int) string {
	ref, about := tail(a.Session), count(a.MessageCount, "message")
	used += width(subAgentMark) + width(ref) + width(about) + 4
	return p.paint.dim(subAgentMark) + p.paint.fit(line(a.Title), p.paint.width-used) + "  " + p.paint.yellow(ref) + "  " + p.paint.dim(about)
}

// subAgentMark marks the conversation of a sub-agent.
const subAgentMark = "⤷ "

// call prints a tool call: on one line, or with all arguments in full.
func (p *program) call(b block.Block, full bool) {
	head := p.toolHead(b)
	if !full {
		room := p.columns() - width(b.Tool) - 4
		fmt.Fprintln(p.stdout, strings.TrimRight(head+"  "+block.Cut(block.ArgumentLine(b.Text), room), " "))
		return
	}
	fmt.Fprintln(p.stdout, head)
	for _, l := range block.ArgumentLines(b.Text) {
		fmt.Fprintln(p.stdout, strings.TrimRight("  "+l, " "))
	}
}

// toolHead formats the name of a tool above its call or result.
func (p *program) toolHead(b block.Block) string {
	arrow := "→ "
	if b.Kind == block.Result {
		arrow = "← "
	}
	head := p.paint.dim(arrow) + p.paint.cyan(b.Tool)
	if b.Failed {
		head += " (failed)"
	}
	return head
}

// onelines prints one message per line.
func (p *program) onelines(rows []showRow) {
	refs, roles := 0, 0
	for _, row := range rows {
		refs, roles = max(refs, width(row.ref)), max(roles, width(row.role))
	}
	for _, row := range rows {
		role := p.paint.role(row.role)
		words := block.Cut(strings.TrimSpace(row.merged+" "+row.words()), min(p.columns(), 200)-refs-roles-4)
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
		switch b.Kind {
		case block.Text:
			return line(b.Text)
		case block.Thinking:
			thought = "thinking: " + line(b.Text)
		case block.Call:
			tools = append(tools, "→ "+strings.TrimSpace(b.Tool+"  "+block.ArgumentLine(b.Text)))
		case block.Result:
			tools = append(tools, "← "+strings.TrimSpace(b.Tool+"  "+line(b.Text)))
		}
	}
	if len(tools) > 0 {
		return strings.Join(tools, "  ")
	}
	return thought
}
