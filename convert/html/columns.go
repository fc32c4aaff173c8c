package html

import (
	"bufio"
	_ "embed"
	"io"

	"github.com/bough-dev/bough/internal/plural"
)

// Columns are paths of conversations side by side, from where they part.
type Columns struct {
	Title   string   // if empty, "Comparison"
	About   string   // a line about all
	Common  *Message // the last message that all have, nil if there is none
	Summary string   // Markdown, "" for none
	Author  string   // who wrote the summary
	Columns []Column
}

// A Column is one path.
type Column struct {
	Title    string
	Facts    []string // lines
	Messages []Message
}

// columnsStyle is the style of columns in addition to that of all pages. Columns that have no
// room are below each other.
//
//go:embed columns.css
var columnsStyle string

// WriteColumns writes a page like that of [Write] with columns. The error is that of w.
func WriteColumns(w io.Writer, c Columns) error {
	b := bufio.NewWriterSize(w, 64<<10)
	pw := &writer{w: b}
	pw.columns(&c)
	return b.Flush()
}

func (w *writer) columns(c *Columns) {
	title := c.Title
	if title == "" {
		title = "Comparison"
	}
	if c.Common != nil {
		w.messages = append(w.messages, *c.Common)
	}
	for _, column := range c.Columns {
		w.messages = append(w.messages, column.Messages...)
	}
	names := anchors(w.messages)
	w.name(names)
	w.head(title, style+columnsStyle)
	w.raw("<p>", escape(c.About), "</p>\n</header>\n<main>\n")
	if c.Summary != "" {
		w.raw(`<section class="common" aria-label="Summary"><p class="note">Summary by <bdi>`, escape(short(c.Author)), "</bdi></p>\n")
		w.markdown(c.Summary, false)
		w.raw("</section>\n")
	}
	next := 0
	if c.Common != nil {
		w.raw(`<section class="common" aria-label="Last common message">`, "\n")
		w.article(0, names[0])
		w.raw("</section>\n")
		next = 1
	}
	w.raw("<div class=\"columns\">\n")
	for _, column := range c.Columns {
		w.raw(`<section><h2 dir="auto">`, escape(column.Title), "</h2>\n<ul class=\"facts\">\n")
		for _, fact := range column.Facts {
			w.raw("<li><bdi>", escape(fact), "</bdi></li>\n")
		}
		w.raw("</ul>\n")
		if len(column.Messages) == 0 {
			w.raw(`<p class="note">`, plural.Of(0, "message"), " of its own.</p>\n")
		}
		for range column.Messages {
			w.article(next, names[next])
			next++
		}
		w.raw("</section>\n")
	}
	w.raw("</div>\n</main>\n")
	w.foot()
}
