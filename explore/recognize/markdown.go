package recognize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"

	"github.com/bough-dev/bough/internal/markdown"
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
func blocks(reply string) []block {
	source := commonMark(reply)
	root := markdown.New().Parse(source)
	if root == nil {
		return nil
	}
	d := document(source)
	var list []block
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			list = append(list, block{level: n.Level, text: d.text(n)})
		case *ast.Paragraph:
			list = append(list, block{text: d.text(n), lead: d.lead(n)})
		case *ast.List:
			list = append(list, block{items: d.items(n)})
		case *extended.Table:
			list = append(list, block{rows: d.rows(n)})
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			list = append(list, block{code: true})
		}
	}
	return list
}

// commonMark returns a reply with its lists as CommonMark has them. Models indent by two
// what belongs to any item, begin lists at any number, and change their marks.
func commonMark(reply string) []byte {
	var out strings.Builder
	inList := false
	width, shift := 0, 0 // of the mark of the last item that is not nested; of what is nested in it
	for _, line := range listLines(reply) {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		switch r, _ := utf8.DecodeRuneInString(line); {
		case marked(text):
			if !inList {
				out.WriteByte('\n') // a list with another number than 1 does not interrupt a paragraph
			}
			switch {
			case indent < 2:
				width, shift = strings.IndexByte(text, ' ')+1, 0
			case inList && indent < width:
				shift = width - indent
			}
			if indent >= 2 {
				indent += shift
			}
			if strings.Trim(text, "*+- ") != "" && (text[0] == '*' || text[0] == '+') {
				text = "-" + text[1:] // another mark begins another list
			}
			line = strings.Repeat(" ", indent) + text
		case inList && (indent == 2 || indent == 3):
			line = "    " + text // it is in the item
		case inList && unicode.IsUpper(r):
			out.WriteByte('\n') // a sentence below a list is no part of its last item
		}
		inList = marked(text) || inList && (indent > 1 || strings.TrimSpace(line) == "")
		out.WriteString(line + "\n")
	}
	return []byte(out.String())
}

// marked reports whether a line without its indent is an item of a list.
func marked(text string) bool {
	rest := strings.TrimLeft(text, "0123456789")
	if rest != text {
		return strings.HasPrefix(rest, ". ")
	}
	return strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "+ ")
}

// A document is the source that nodes refer to.
type document []byte

// rows returns the cells of a table, as many in each row.
func (d document) rows(table ast.Node) [][]string {
	var rows [][]string
	for r := table.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, d.text(c))
		}
		rows = append(rows, cells)
	}
	return rows
}

func (d document) items(list ast.Node) []item {
	var items []item
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		var it item
		var more []string
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch c.Kind() {
			case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
				if c == n.FirstChild() {
					it.text, it.lead = d.text(c), d.lead(c)
					continue
				}
			case ast.KindCodeBlock, ast.KindFencedCodeBlock:
				continue
			}
			more = append(more, d.text(c))
		}
		it.more = strings.Join(more, " ")
		items = append(items, it)
	}
	return items
}

// text returns the text of a node, on one line.
func (d document) text(n ast.Node) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.WriteString(markdown.Literal(n, d))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.AutoLink:
			if entering {
				b.WriteString(markdown.Literal(n, d))
			}
		case *ast.Paragraph, *ast.TextBlock, *ast.ListItem, *ast.Heading, *extended.TableCell:
			b.WriteByte(' ')
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock, *ast.RawHTML:
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return oneLine(b.String())
}

// lead returns the bold words that a paragraph begins with.
func (d document) lead(n ast.Node) string {
	if e, ok := n.FirstChild().(*ast.Emphasis); ok && e.Level > 1 {
		return d.text(e)
	}
	return ""
}
