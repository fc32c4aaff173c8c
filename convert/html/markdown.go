package html

import (
	"strconv"
	"strings"

	"github.com/russross/blackfriday/v2"
)

// costly reports whether the parser would take long for s: it looks to the end of the text
// for what closes each bracket and comment.
func costly(s string) bool {
	const longest, most = 256 << 10, 1e8 // bytes; bytes to look at, a tenth of a second
	return len(s) > longest || len(s)*(strings.Count(s, "[")+strings.Count(s, "](")+strings.Count(s, "<")) > most
}

// markdown writes a text. In what somebody typed, lines end where they end.
func (w *writer) markdown(s string, typed bool) {
	s = clean(s)
	root := parse(s, typed)
	if root == nil {
		w.pre(s)
		return
	}
	root.Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		return w.node(n, entering)
	})
}

// parse returns the tree of a text, nil if it is to be shown as it is.
func parse(s string, typed bool) (root *blackfriday.Node) {
	if costly(s) {
		return nil
	}
	extensions := blackfriday.NoIntraEmphasis | blackfriday.FencedCode | blackfriday.SpaceHeadings | blackfriday.Tables |
		blackfriday.Autolink | blackfriday.Strikethrough | blackfriday.NoEmptyLineBeforeBlock | blackfriday.BackslashLineBreak
	if typed {
		extensions |= blackfriday.HardLineBreak
	}
	defer func() {
		if recover() != nil {
			root = nil // the parser has mistakes; the text is what counts
		}
	}()
	return blackfriday.New(blackfriday.WithExtensions(extensions)).Parse([]byte(s))
}

// node writes the beginning or the end of a node.
func (w *writer) node(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
	around := func(name string) blackfriday.WalkStatus {
		if entering {
			w.raw("<", name, ">")
		} else {
			w.raw("</", name, ">")
		}
		return blackfriday.GoToNext
	}
	switch n.Type {
	case blackfriday.Paragraph:
		if tight(n) {
			return blackfriday.GoToNext
		}
		return around("p")
	case blackfriday.BlockQuote:
		return around("blockquote")
	case blackfriday.Heading:
		const within = 2 // the page's title, and who speaks
		return around("h" + strconv.Itoa(min(6, n.Level+within)))
	case blackfriday.List:
		switch {
		case n.ListFlags&blackfriday.ListTypeDefinition != 0:
			return around("dl")
		case n.ListFlags&blackfriday.ListTypeOrdered != 0:
			return around("ol")
		}
		return around("ul")
	case blackfriday.Item:
		switch {
		case n.ListFlags&blackfriday.ListTypeTerm != 0:
			return around("dt")
		case n.ListFlags&blackfriday.ListTypeDefinition != 0:
			return around("dd")
		}
		return around("li")
	case blackfriday.HorizontalRule:
		w.raw("<hr>")
	case blackfriday.Emph:
		return around("em")
	case blackfriday.Strong:
		return around("strong")
	case blackfriday.Del:
		return around("del")
	case blackfriday.Link:
		w.anchor(n, entering)
	case blackfriday.Image:
		return w.picture(n)
	case blackfriday.Text, blackfriday.HTMLSpan:
		w.raw(escape(string(n.Literal)))
	case blackfriday.HTMLBlock:
		w.raw("<p>", strings.ReplaceAll(escape(strings.TrimSpace(string(n.Literal))), "\n", "<br>\n"), "</p>")
	case blackfriday.CodeBlock:
		w.raw("<pre tabindex=\"0\"><code>", code(string(n.Literal)), "</code></pre>\n")
	case blackfriday.Code:
		w.raw("<code>", code(string(n.Literal)), "</code>")
	case blackfriday.Softbreak:
		w.raw("\n")
	case blackfriday.Hardbreak:
		w.raw("<br>\n")
	case blackfriday.Table:
		if entering {
			w.raw(`<div class="wide" tabindex="0">`)
			return around("table")
		}
		around("table")
		w.raw("</div>\n")
	case blackfriday.TableHead:
		return around("thead")
	case blackfriday.TableBody:
		return around("tbody")
	case blackfriday.TableRow:
		return around("tr")
	case blackfriday.TableCell:
		if n.IsHeader {
			return around("th")
		}
		return around("td")
	}
	return blackfriday.GoToNext
}

// tight reports whether a paragraph is the text of an item in a list without empty lines.
func tight(n *blackfriday.Node) bool {
	item := n.Parent
	return item != nil && item.Type == blackfriday.Item && item.Parent != nil && item.Parent.Tight
}

// anchor writes a link. One that leads where a page must not is its text, and its target.
func (w *writer) anchor(n *blackfriday.Node, entering bool) {
	target := string(n.LinkData.Destination)
	address, ok := webAddress(target)
	switch {
	case ok && entering:
		w.raw(`<a href="`, address, `" rel="noopener noreferrer nofollow">`)
	case ok:
		w.raw("</a>")
	case !entering && target != "" && target != words(n):
		w.raw(" (", code(target), ")")
	}
}

// picture writes an image, or a link to it.
func (w *writer) picture(n *blackfriday.Node) blackfriday.WalkStatus {
	target, name := string(n.LinkData.Destination), words(n)
	if isImage(target) {
		w.image(target, name)
		return blackfriday.SkipChildren
	}
	if name == "" {
		name = "Image"
	}
	if address, ok := webAddress(target); ok {
		w.raw(`<a href="`, address, `" rel="noopener noreferrer nofollow">`, escape(name), "</a>")
	} else {
		w.raw(escape(name), " (", code(short(target)), ")")
	}
	return blackfriday.SkipChildren
}

// words returns the text in a node.
func words(n *blackfriday.Node) string {
	var b strings.Builder
	n.Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		if entering {
			b.Write(n.Literal)
		}
		return blackfriday.GoToNext
	})
	return b.String()
}
