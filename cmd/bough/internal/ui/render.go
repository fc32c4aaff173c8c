package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/cmd/bough/internal/block"
	"github.com/bough-dev/bough/internal/plural"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Lines of a message that are shown while it is folded.
const (
	textLines   = 400 // of a text
	resultLines = 5   // of a result of a tool
)

// message returns the lines of message i, of at most so many columns: who wrote it, and its
// parts. Results of tools, thoughts and long texts are cut unless the message is unfolded.
func (c *conversation) message(i, columns int) (lines []string) {
	m := c.path.Messages[i]
	role := line(m.Role())
	lines = append(lines, c.head(i, role, columns))
	full := c.unfolded[m.ID]
	for k := range c.path.said[i].Parts {
		b, ok := block.Of(&c.path.said[i].Parts[k])
		if !ok {
			continue
		}
		lines = append(lines, blockLines(b, full, columns)...)
	}
	return append(lines, "")
}

// head returns the line above a message.
func (c *conversation) head(i int, role string, columns int) string {
	m := c.path.Messages[i]
	var facts []string
	if t, ok := m.Time(); ok {
		facts = append(facts, age(t, c.now))
	}
	if f, ok := c.path.forks[m.ID]; ok {
		facts = append(facts, "reply "+itoa(f.at+1)+"/"+itoa(len(f.leaves)))
	}
	for _, label := range c.labels[m.ID] {
		facts = append(facts, "★ "+line(label))
	}
	for _, merge := range c.path.Merges {
		if merge.Message == m.ID {
			facts = append(facts, "merged “"+line(merge.Title)+"”")
		}
	}
	if c.path.Joined[i] {
		facts = append(facts, "joined: parent missing")
	}
	if c.headAt == m.ID {
		facts = append(facts, "head")
	}
	about := strings.Join(slices.DeleteFunc(facts, func(s string) bool { return s == "" }), " · ")
	role = fit(role, columns)
	if about == "" {
		return bold(roleStyle(role)(role))
	}
	return bold(roleStyle(role)(role)) + dim(fit("  "+about, columns-width(role)))
}

// blockLines returns the lines of a part of a message.
func blockLines(b block.Block, full bool, columns int) []string {
	text := strings.ReplaceAll(b.Text, "\t", "    ")
	switch b.Kind {
	case block.Thinking:
		if !full {
			return []string{dim(fit("thinking: "+line(text), columns))}
		}
		return append([]string{dim("thinking:")}, styled(wrap(text, columns), dim)...)
	case block.Call:
		if !full {
			return []string{dim("→ ") + fit(b.Tool+"  "+block.ArgumentLine(text), columns-2)}
		}
		lines := []string{dim("→ ") + fit(b.Tool, columns-2)}
		for _, l := range block.ArgumentLines(text) {
			lines = append(lines, wrap(strings.ReplaceAll(l, "\t", "    "), columns)...)
		}
		return lines
	case block.Result:
		tool := b.Tool
		if b.Failed {
			tool += " (failed)"
		}
		return append([]string{dim("← ") + fit(tool, columns-2)}, foldedText(text, resultLines, full, columns, dim)...)
	}
	return foldedText(text, textLines, full, columns, plainly)
}

// foldedText returns the first lines of a text or, if it is unfolded, all of them. Only as much
// of the text is wrapped as is shown.
func foldedText(text string, most int, full bool, columns int, style func(string) string) []string {
	if text == "" {
		return nil
	}
	if full {
		return styled(wrap(text, columns), style)
	}
	shown, more := text, 0
	for at, n := 0, 0; at < len(text); n++ {
		end := strings.IndexByte(text[at:], '\n')
		if n == most {
			shown, more = text[:at-1], 1+strings.Count(text[at:], "\n")
			break
		}
		if end < 0 {
			break
		}
		at += end + 1
	}
	lines := wrap(bounded(shown, most*columns), columns)
	if more == 0 && (len(shown) > most*columns || len(lines) > most) {
		more = 1
	}
	lines = styled(lines[:min(len(lines), most)], style)
	if more > 0 {
		lines = append(lines, dim(fit("… more; l shows all", columns)))
	}
	return lines
}

// bounded returns the beginning of a text of at most n bytes.
func bounded(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

func styled(lines []string, style func(string) string) []string {
	for i, l := range lines {
		lines[i] = style(l)
	}
	return lines
}

// messages formats a number of messages.
func messages(n int) string { return plural.Of(n, "message") }
