package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Plain returns the parts of a line of Markdown that a reader sees, without the marks of
// emphasis, code, links, headings, lists and quotations. The line may be joined from several.
// The parts are offsets in line, in order. If nothing would be left, the line is one part, as is a line that takes too long to
// parse.
func (p *Parser) Plain(line []byte) [][2]int {
	whole := [][2]int{{0, len(line)}}
	start := blockMarks(line)
	if start == len(line) || isCostly(line) {
		return whole
	}
	// In a paragraph no mark begins a block.
	const paragraph = "x "
	source := append([]byte(paragraph), line[start:]...)
	shift := start - len(paragraph)
	var parts [][2]int
	at := len(paragraph)
	keep := func(from, to int) {
		if from = max(from, at); from < to {
			parts = append(parts, [2]int{from + shift, to + shift})
			at = to
		}
	}
	ast.Walk(p.parser.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			for from := n.Segment.Start; from < n.Segment.Stop; {
				to := n.Segment.Stop
				if skipFrom, skipTo := mark(source[from:to]); skipTo > 0 && !n.IsRaw() {
					keep(from, from+skipFrom)
					escapes := source[from+skipFrom] == '\\'
					if from += skipTo; escapes {
						keep(from, from+1)
						from++
					}
					continue
				}
				keep(from, to)
				from = to
			}
		case *ast.AutoLink:
			if i := bytes.Index(source[at:], n.Label(source)); i >= 0 {
				keep(at+i, at+i+len(n.Label(source)))
			}
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				keep(s.Start, s.Stop)
			}
		}
		return ast.WalkContinue, nil
	})
	if len(parts) == 0 {
		return whole
	}
	return parts
}

// mark returns the first part of a text that is not shown: the backslash of an escape, or the
// marks of a heading in a line that was joined from several. to is 0 if there is none.
func mark(text []byte) (from, to int) {
	for i, c := range text {
		switch {
		case c == '\\' && i+1 < len(text) && isPunctuation(text[i+1]):
			return i, i + 1
		case c == '#' && i > 0 && text[i-1] == ' ':
			n := len(text[i:]) - len(bytes.TrimLeft(text[i:], "#"))
			if n >= 2 && n <= 6 && i+n < len(text) && text[i+n] == ' ' {
				return i, i + n + 1
			}
		}
	}
	return 0, 0
}

// blockMarks returns the length of the marks at the beginning of a line: of headings, quotations,
// list items and fences of code.
func blockMarks(line []byte) int {
	at := 0
	for {
		rest := bytes.TrimLeft(line[at:], " \t")
		at = len(line) - len(rest)
		n := len(rest) - len(bytes.TrimLeft(rest, "#"))
		switch {
		case len(rest) == 0:
			return at
		case bytes.HasPrefix(rest, []byte("```")) || bytes.HasPrefix(rest, []byte("~~~")):
			if fence := rest[:3]; !bytes.Contains(bytes.TrimLeft(rest, string(fence[:1])), fence[:1]) { // else it is code in the line
				return len(line)
			}
			return at
		case isRule(rest):
			return len(line)
		case n > 0 && n <= 6 && len(rest) > n && rest[n] == ' ':
			return at + n + 1
		case rest[0] == '>':
			at++
		case len(rest) > 1 && bytes.IndexByte([]byte("-*+"), rest[0]) >= 0 && rest[1] == ' ':
			at += 2
		default:
			return at
		}
	}
}

// isRule reports whether a line is a thematic break, or the underline of a heading.
func isRule(line []byte) bool {
	marks := bytes.ReplaceAll(bytes.TrimSpace(line), []byte(" "), nil)
	return len(marks) >= 3 && bytes.IndexByte([]byte("-*_="), marks[0]) >= 0 && len(bytes.Trim(marks, string(marks[:1]))) == 0
}

func isPunctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}
