package recognize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/russross/blackfriday/v2"
)

// A block is a piece of a reply: a heading, a paragraph, or a list.
type block struct {
	level int        // of a heading, 0 for anything else
	text  string     // of a heading or a paragraph, on one line
	lead  string     // the bold words that a paragraph begins with, "" if it begins with none
	items []item     // of a list
	rows  [][]string // of a table, its head first; all have as many cells as that
	code  bool       // it holds code, and no text
}

// An item is one of a list.
type item struct {
	text string // its first paragraph
	lead string // the bold words that it begins with
	more string // what else is in it
}

// blocks returns what a reply is made of, as a reader sees it: in order, quotations left
// out, lists that only a paragraph of the same list interrupts still apart.
//
// The parser is the one that the command line has linked anyway: others build tables at
// start, for a few tenths of a millisecond of every command.
func blocks(reply string) []block {
	const extensions = blackfriday.NoIntraEmphasis | blackfriday.FencedCode | blackfriday.SpaceHeadings |
		blackfriday.NoEmptyLineBeforeBlock | blackfriday.BackslashLineBreak | blackfriday.Tables
	var lines strings.Builder
	inList := false
	for _, line := range listLines(reply) {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if inList && (indent == 2 || indent == 3) && !marked(text) {
			line = "    " + text // CommonMark has what is indented as the text of an item in it
		}
		if r, _ := utf8.DecodeRuneInString(line); inList && unicode.IsUpper(r) {
			lines.WriteByte('\n') // a sentence below a list is no part of its last item
		}
		inList = marked(text) || inList && (indent > 1 || strings.TrimSpace(line) == "")
		lines.WriteString(line + "\n")
	}
	root := blackfriday.New(blackfriday.WithExtensions(extensions)).Parse([]byte(lines.String()))
	var list []block
	for n := root.FirstChild; n != nil; n = n.Next {
		switch n.Type {
		case blackfriday.Heading:
			list = append(list, block{level: n.Level, text: textOf(n)})
		case blackfriday.Paragraph:
			list = append(list, block{text: textOf(n), lead: leadOf(n)})
		case blackfriday.List:
			list = append(list, block{items: itemsOf(n)})
		case blackfriday.Table:
			list = append(list, block{rows: rowsOf(n)})
		case blackfriday.CodeBlock:
			list = append(list, block{code: true})
		}
	}
	return list
}

// marked reports whether a line without its indent is an item of a list.
func marked(text string) bool {
	rest := strings.TrimLeft(text, "0123456789")
	if rest != text {
		return strings.HasPrefix(rest, ". ")
	}
	return strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "+ ")
}

// rowsOf returns the cells of a table.
func rowsOf(table *blackfriday.Node) [][]string {
	var rows [][]string
	table.Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		switch {
		case !entering:
		case n.Type == blackfriday.TableRow:
			rows = append(rows, nil)
		case n.Type == blackfriday.TableCell && len(rows) > 0:
			rows[len(rows)-1] = append(rows[len(rows)-1], textOf(n))
			return blackfriday.SkipChildren
		}
		return blackfriday.GoToNext
	})
	for i := range rows {
		for len(rows[i]) < len(rows[0]) {
			rows[i] = append(rows[i], "")
		}
		rows[i] = rows[i][:len(rows[0])]
	}
	return rows
}

func itemsOf(list *blackfriday.Node) []item {
	var items []item
	for n := list.FirstChild; n != nil; n = n.Next {
		if n.Type != blackfriday.Item {
			continue
		}
		var it item
		var more []string
		for c := n.FirstChild; c != nil; c = c.Next {
			switch {
			case c == n.FirstChild && (c.Type == blackfriday.Paragraph || c.Type == blackfriday.Heading):
				it.text, it.lead = textOf(c), leadOf(c)
			case c.Type != blackfriday.CodeBlock:
				more = append(more, textOf(c))
			}
		}
		it.more = strings.Join(more, " ")
		items = append(items, it)
	}
	return items
}

// textOf returns the text of a node, on one line.
func textOf(n *blackfriday.Node) string {
	var b strings.Builder
	n.Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		switch n.Type {
		case blackfriday.Text, blackfriday.Code:
			b.Write(n.Literal)
		case blackfriday.Softbreak, blackfriday.Hardbreak, blackfriday.Paragraph, blackfriday.Item, blackfriday.Heading:
			b.WriteByte(' ')
		case blackfriday.CodeBlock, blackfriday.HTMLBlock, blackfriday.HTMLSpan:
			return blackfriday.SkipChildren
		}
		return blackfriday.GoToNext
	})
	return oneLine(b.String())
}

// leadOf returns the bold words that a paragraph begins with.
func leadOf(n *blackfriday.Node) string {
	c := n.FirstChild
	for c != nil && c.Type == blackfriday.Text && strings.TrimSpace(string(c.Literal)) == "" {
		c = c.Next
	}
	if c == nil || c.Type != blackfriday.Strong {
		return ""
	}
	return textOf(c)
}
