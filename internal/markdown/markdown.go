// Package markdown parses Markdown: CommonMark with tables, strikethrough and
// autolinks. Callers walk the tree and write it in their own way.
//
// The parser is goldmark: most Go programs use it, it is maintained, and it
// follows a specification with tests. blackfriday, which the command-line
// parser links for its manuals, has had no release since 2020 and follows no
// specification; gomarkdown continues its dialect.
package markdown

import (
	"bufio"
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	render "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// A Parser parses documents. It is not safe for concurrent use.
type Parser struct{ parser parser.Parser }

// New returns a parser.
func New() *Parser {
	return &Parser{goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify)).Parser()}
}

const (
	maxBytes = 256 << 10 // of a document
	maxScan  = 1e8       // bytes to scan for closing brackets: half a second
	maxDepth = 200       // of a tree; texts of people are not as deep
)

// Parse returns the tree of a document, whose nodes refer to source. It returns
// nil if the document is too large, too deep, or would take too long to parse;
// callers then show it as plain text.
func (p *Parser) Parse(source []byte) ast.Node {
	if isCostly(source) {
		return nil
	}
	root := p.parser.Parse(text.NewReader(source))
	depth, deepest := 0, 0
	ast.Walk(root, func(_ ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		depth++
		deepest = max(depth, deepest)
		return ast.WalkContinue, nil
	})
	if deepest > maxDepth {
		return nil
	}
	return root
}

// isCostly reports whether parsing takes more than linear time: the parser
// scans to the end of a document for the end of each bracket, and parses a line
// once for each block that it opens.
func isCostly(source []byte) bool {
	brackets := bytes.Count(source, []byte("[")) + bytes.Count(source, []byte("](")) + bytes.Count(source, []byte("<"))
	if len(source) > maxBytes || len(source)*brackets > maxScan {
		return true
	}
	for line := range bytes.Lines(source) {
		if blocks(line) > maxDepth {
			return true
		}
	}
	return false
}

// blocks returns a lower bound of the number of blocks that a line opens:
// quotations and list items.
func blocks(line []byte) int {
	n := 0
	for i, c := range line {
		switch {
		case c == '>':
			n++
		case bytes.IndexByte([]byte("-*+.)"), c) >= 0:
			if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
				n++
			}
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return n
		}
	}
	return n
}

// Literal returns the text of a node itself, "" if it only has children.
// Escapes and entities are decoded.
func Literal(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.Text:
		if n.IsRaw() {
			return string(n.Value(source))
		}
		return decode(n.Value(source))
	case *ast.String:
		return string(n.Value)
	case *ast.AutoLink:
		return string(n.Label(source))
	case *ast.RawHTML:
		return string(n.Segments.Value(source))
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return string(n.Lines().Value(source))
	case *ast.HTMLBlock:
		s := string(n.Lines().Value(source))
		if n.HasClosure() {
			s += string(n.ClosureLine.Value(source))
		}
		return s
	}
	return ""
}

// decode decodes escapes and entities. goldmark's writer decodes both in one
// pass, and escapes the result for HTML, which is undone.
func decode(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 && bytes.IndexByte(b, '&') < 0 {
		return string(b)
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	render.DefaultWriter.Write(w, b)
	w.Flush()
	return html.UnescapeString(out.String())
}

// Destination returns the address of a link or an image, "" for any other node.
func Destination(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.Link:
		return decode(n.Destination)
	case *ast.Image:
		return decode(n.Destination)
	case *ast.AutoLink:
		url := string(n.URL(source))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(url), "mailto:") {
			return "mailto:" + url
		}
		return url
	}
	return ""
}

// Text returns the text of a node and its descendants.
func Text(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			b.WriteString(Literal(n, source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
