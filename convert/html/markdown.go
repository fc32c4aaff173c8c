package html

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"

	"github.com/bough-dev/bough/internal/markdown"
)

// markdown writes a text. If typed is true, line breaks are kept.
func (w *writer) markdown(s string, typed bool) {
	s = clean(s)
	if w.parser == nil {
		w.parser = markdown.New()
	}
	d := &document{writer: w, source: []byte(s), typed: typed}
	root := w.parser.Parse(d.source)
	if root == nil {
		w.pre(s)
		return
	}
	ast.Walk(root, d.node)
}

// A document is a text that is written.
type document struct {
	*writer
	source   []byte
	typed    bool
	headings []int // levels of the headings above the current place, the lowest level last
}

// node writes the beginning or the end of a node.
func (d *document) node(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if name := element(n); name != "" {
		if entering {
			d.raw("<", name, ">")
		} else {
			d.raw("</", name, ">")
		}
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Heading:
		if entering {
			d.raw("<", d.heading(n.Level), ">")
		} else {
			d.raw("</", headingElement(len(d.headings)), ">")
		}
		return ast.WalkContinue, nil
	case *extended.Table:
		if entering {
			d.raw(`<div class="wide" tabindex="0"><table>`)
			return ast.WalkContinue, nil
		}
		if n.ChildCount() > 1 {
			d.raw("</tbody>")
		}
		d.raw("</table></div>\n")
		return ast.WalkContinue, nil
	case *extended.TableHeader:
		if entering {
			d.raw("<thead><tr>")
			return ast.WalkContinue, nil
		}
		d.raw("</tr></thead>")
		if n.NextSibling() != nil {
			d.raw("<tbody>")
		}
		return ast.WalkContinue, nil
	case *ast.Link:
		d.anchor(n, entering)
		return ast.WalkContinue, nil
	case *ast.TextBlock:
		if !entering && n.NextSibling() != nil {
			d.raw("\n")
		}
		return ast.WalkContinue, nil
	}
	if !entering {
		return ast.WalkContinue, nil
	}
	s := markdown.Literal(n, d.source)
	switch n := n.(type) {
	case *ast.ThematicBreak:
		d.raw("<hr>")
	case *ast.AutoLink:
		d.anchor(n, true)
		d.raw(escape(s))
		d.anchor(n, false)
	case *ast.Image:
		d.picture(n)
		return ast.WalkSkipChildren, nil
	case *ast.Text:
		d.raw(escape(s))
		switch {
		case n.HardLineBreak(), n.SoftLineBreak() && d.typed:
			d.raw("<br>\n")
		case n.SoftLineBreak():
			d.raw("\n")
		}
	case *ast.String, *ast.RawHTML:
		d.raw(escape(s))
	case *ast.HTMLBlock:
		d.raw("<p>", strings.ReplaceAll(escape(strings.TrimSpace(s)), "\n", "<br>\n"), "</p>")
	case *ast.CodeBlock:
		d.raw("<pre tabindex=\"0\"><code>", Code(s), "</code></pre>\n")
	case *ast.FencedCodeBlock:
		d.raw("<pre tabindex=\"0\"><code", language(string(n.Language(d.source))), ">", Code(s), "</code></pre>\n")
	case *ast.CodeSpan:
		d.raw("<code>", Code(strings.ReplaceAll(markdown.Text(n, d.source), "\n", " ")), "</code>")
		return ast.WalkSkipChildren, nil
	}
	return ast.WalkContinue, nil
}

// heading returns the element of a heading, one level below the last heading with a lower
// level: a text that skips levels does not make the page do so.
func (d *document) heading(level int) string {
	for len(d.headings) > 0 && d.headings[len(d.headings)-1] >= level {
		d.headings = d.headings[:len(d.headings)-1]
	}
	d.headings = append(d.headings, level)
	return headingElement(len(d.headings))
}

// headingElement returns the element of a heading that is so many levels below the speaker.
func headingElement(below int) string {
	const speaker = 2 // below the page's title
	return "h" + strconv.Itoa(min(6, speaker+below))
}

// language returns the class attribute of code in a language, "" if its name is not one.
func language(name string) string {
	const most = 20
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("+#-_.", c)
	}
	name = strings.ToLower(name)
	if name == "" || len(name) > most || strings.ContainsFunc(name, odd) {
		return ""
	}
	return ` class="language-` + name + `"`
}

// element returns the name of the element that a node is, "" if it is not just one.
func element(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Paragraph:
		return "p"
	case *ast.Blockquote:
		return "blockquote"
	case *ast.List:
		if n.IsOrdered() {
			return "ol"
		}
		return "ul"
	case *ast.ListItem:
		return "li"
	case *ast.Emphasis:
		if n.Level > 1 {
			return "strong"
		}
		return "em"
	case *extended.Strikethrough:
		return "del"
	case *extended.TableRow:
		return "tr"
	case *extended.TableCell:
		if _, ok := n.Parent().(*extended.TableHeader); ok {
			return "th"
		}
		return "td"
	}
	return ""
}

// anchor writes a link. A link to a forbidden target is written as its text and target.
func (d *document) anchor(n ast.Node, entering bool) {
	target := markdown.Destination(n, d.source)
	address, ok := webAddress(target)
	switch {
	case ok && entering:
		d.raw(`<a href="`, address, `" rel="noopener noreferrer nofollow">`)
	case ok:
		d.raw("</a>")
	case !entering && target != "" && target != d.words(n):
		d.raw(" (", Code(target), ")")
	}
}

// picture writes an image, or a link to it.
func (d *document) picture(n ast.Node) {
	target, name := markdown.Destination(n, d.source), d.words(n)
	if isImage(target) {
		d.image(target, name)
		return
	}
	if name == "" {
		name = "Image"
	}
	if address, ok := webAddress(target); ok {
		d.raw(`<a href="`, address, `" rel="noopener noreferrer nofollow">`, escape(name), "</a>")
	} else {
		d.raw(escape(name), " (", Code(short(target)), ")")
	}
}

// words returns the text in a node.
func (d *document) words(n ast.Node) string { return markdown.Text(n, d.source) }
