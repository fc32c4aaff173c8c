// Package manual writes the manual of bough: the help of its verbs as man pages
// ([Page.WriteRoff]), and the help and the documents as a small site for a browser ([Site]).
package manual

import (
	"slices"
	"strings"
)

// A Page is the help of bough or of one verb.
type Page struct {
	Name     string // as it is typed: "bough agent chat"
	Short    string // one line, in lower case, without a period
	Usage    string // the arguments
	Sections []Section
	See      []string // names of related pages
}

// A Section has a title and, in this order, the parts that are not empty.
type Section struct {
	Title string
	Text  string // paragraphs, tables and lists as the help has them
	Rows  []Row
	Code  string // lines to copy
}

// A Row is a term with its description. A line break in the description is kept.
type Row struct {
	Term, Text string
	Page       string // the name of the page of the term, "" for none
}

// File returns the name of the file of a page, as man finds it: "bough-agent-chat.1".
func File(name string) string { return dashed(name) + ".1" }

// dashed returns the name of a page as one word.
func dashed(name string) string { return strings.ReplaceAll(name, " ", "-") }

// A block is a part of a text: a paragraph, rows, or lines to print as they are.
type block struct {
	Text string
	Rows []Row
	Code string
}

// blocks parses the plain text of a help. Lines that begin with a space are rows if each has a
// term and a description with two spaces or more between them, or continues the row above.
func blocks(text string) (list []block) {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for len(lines) > 0 {
		if lines[0] == "" {
			lines = lines[1:]
			continue
		}
		indented := lines[0][0] == ' '
		n := slices.IndexFunc(lines, func(l string) bool { return l == "" || (l[0] == ' ') != indented })
		if n < 0 {
			n = len(lines)
		}
		list = append(list, blockOf(lines[:n], indented))
		lines = lines[n:]
	}
	return list
}

func blockOf(lines []string, indented bool) block {
	if !indented {
		return block{Text: strings.Join(lines, " ")}
	}
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
	var rows []Row
	for _, l := range lines {
		l = l[min(indent, len(l)-len(strings.TrimLeft(l, " "))):]
		term, text, ok := strings.Cut(l, "  ")
		switch {
		case l[0] == ' ' && len(rows) > 0:
			rows[len(rows)-1].Text += "\n" + strings.TrimSpace(l)
		case ok:
			rows = append(rows, Row{Term: term, Text: strings.TrimSpace(text)})
		default:
			return block{Code: outdented(lines, indent)}
		}
	}
	return block{Rows: rows}
}

// outdented returns lines without the spaces at their beginning, at most indent of each.
func outdented(lines []string, indent int) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l[min(indent, len(l)-len(strings.TrimLeft(l, " "))):] + "\n")
	}
	return b.String()
}
