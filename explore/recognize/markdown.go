package recognize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"

	"github.com/bough-dev/bough/internal/markdown"
)

// A block is a heading, paragraph, list, table or code block of a reply.
type block struct {
	level int        // of a heading, else 0
	text  string     // of a heading or paragraph, on one line
	lead  string     // the bold words at the start of a paragraph, else ""
	items []item     // of a list
	rows  [][]string // of a table, with its head; all have the same length
	code  bool       // it is code
}

// An item is an item of a list.
type item struct {
	text string // its first paragraph
	lead string // the bold words at its start
	more string // its further text
}

// blocks returns the blocks of a reply in order, without quotations. Lists that
// a paragraph interrupts are not joined.
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

// commonMark returns a reply whose lists are valid CommonMark. Models indent
// nested text by two for any mark, begin lists with any number, and change
// marks within a list.
func commonMark(reply string) []byte {
	var out strings.Builder
	inList := false
	width, shift := 0, 0 // width of the mark of the last top-level item; shift of the text nested in it
	for _, line := range listLines(reply) {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		switch r, _ := utf8.DecodeRuneInString(line); {
		case marked(text):
			if !inList {
				out.WriteByte('\n') // a list that does not begin with 1 cannot interrupt a paragraph
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
			line = "    " + text // it belongs to the item
		case inList && unicode.IsUpper(r):
			out.WriteByte('\n') // text below a list is not part of its last item
		}
		inList = marked(text) || inList && (indent > 1 || strings.TrimSpace(line) == "")
		out.WriteString(line + "\n")
	}
	return []byte(out.String())
}

// marked reports whether a line without its indentation begins an item.
func marked(text string) bool {
	rest := strings.TrimLeft(text, "0123456789")
	if rest != text {
		return strings.HasPrefix(rest, ". ")
	}
	return strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "+ ")
}

// A document is the source that nodes refer to.
type document []byte

// rows returns the cells of a table, the same number in each row.
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

// lead returns the bold words at the start of a paragraph.
func (d document) lead(n ast.Node) string {
	if e, ok := n.FirstChild().(*ast.Emphasis); ok && e.Level > 1 {
		return d.text(e)
	}
	return ""
}
