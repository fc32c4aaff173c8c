// Package spoken describes a message in a list of messages: in a few words, and whether a
// person or a tool is speaking.
package spoken

import (
	"strings"
	"sync"
	"unicode"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/markdown"
	"github.com/bough-dev/bough/session"
)

// Words returns the first words of a message, on one line and without marks of Markdown. Of a
// message without text these are its first tool call or result, "" if it has none.
func Words(m session.Message) string {
	if words := firstLine(m.Text()); words != "" {
		return words
	}
	for _, text := range content.Read(m.Raw).Texts() {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				return cut(line)
			}
		}
	}
	return ""
}

// firstLine returns the first line of a text with a word, as plain text.
func firstLine(text string) string {
	const (
		most = 400 // bytes of a line: more than are shown, with long addresses of links
		far  = 20  // lines
	)
	first, n := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(line) > most {
			line = strings.ToValidUTF8(line[:most], "")
		}
		if first == "" {
			first = line
		}
		plain, _ := Plain(line, nil)
		if n++; strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) && !isFence(line) {
			return cut(plain)
		}
		if n == far {
			break
		}
	}
	return cut(first)
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// parsers are parsers to use again: making one takes longer than a line.
var parsers sync.Pool

// Plain returns a line of Markdown as a reader sees it: without the marks of emphasis, code,
// links, headings, lists and quotations. It returns the spans of characters with their new
// positions, without those of which nothing is left.
func Plain(line string, spans [][2]int) (string, [][2]int) {
	if !strings.ContainsAny(line, "*_`[<#>~\\-+=") {
		return line, spans
	}
	var b strings.Builder
	places := make([]int, 0, len(line)+1) // of each character: its position in the result
	n, at := 0, 0
	skip := func(to int) {
		for range line[at:to] {
			places = append(places, n)
		}
		at = to
	}
	parser, _ := parsers.Get().(*markdown.Parser)
	if parser == nil {
		parser = markdown.New()
	}
	defer parsers.Put(parser)
	for _, part := range parser.Plain([]byte(line)) {
		skip(part[0])
		for range line[part[0]:part[1]] {
			places = append(places, n)
			n++
		}
		b.WriteString(line[part[0]:part[1]])
		at = part[1]
	}
	skip(len(line))
	places = append(places, n)
	var moved [][2]int
	for _, s := range spans {
		from, to := places[min(max(s[0], 0), len(places)-1)], places[min(max(s[1], 0), len(places)-1)]
		if from < to {
			moved = append(moved, [2]int{from, to})
		}
	}
	return b.String(), moved
}

// cut returns at most 80 characters of s.
func cut(s string) string {
	const most = 80
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}

// ByPerson reports whether a person wrote a message. Some programs store results of tools as
// messages of the user.
func ByPerson(m session.Message) bool { return m.Role() == "user" && !content.Read(m.Raw).OnlyTools() }

// Asks reports whether a person wrote a message to be answered: a merge has the content of a branch,
// and asks nothing.
func Asks(m session.Message) bool { return ByPerson(m) && !m.IsMerge() }

// ByTool reports whether a message is a result of a tool, or has tool calls and no text.
func ByTool(m session.Message) bool { return m.Role() == "tool" || content.Read(m.Raw).OnlyTools() }
