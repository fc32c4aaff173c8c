// Package html writes a conversation with all its branches as one
// self-contained page, without other files, network access or scripts. It is
// meant for readers who do not have the program of the conversation.
//
// # The page
//
// The active path is first, message by message. At each fork there are links to
// the other branches, which follow the path, each with a link back to the fork.
// Every message occurs once. A picture of the tree links to the messages. Secondary parts are collapsed: thinking, tool
// calls and their results, the system prompt.
//
// The anchor of a message is "m-" and its id, so that a link to it names the
// message. Its time has its offset from UTC.
//
// Text is Markdown. HTML in it is escaped. Links lead to http, https and mail
// addresses; any other target is shown as text. Images are shown if the
// conversation contains them, as PNG, JPEG, GIF or WebP; an external image is a
// link.
//
// # Security
//
// A conversation may be hostile, so all of it is treated as text: the page has
// only the elements and attributes that this package writes. As a second
// defense it has a policy that forbids scripts, forms, frames and the network.
// Bidirectional control characters are escaped in code, and isolated within
// their paragraph.
package html

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/markdown"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/treepicture"
)

// A Page is a conversation.
type Page struct {
	Title    string    // if empty, "Conversation"
	Messages []Message // all messages of the tree, in any order
	Leaf     string    // the last message of the active path; if empty or unknown, the last of Messages
}

// A Message is one message of a conversation.
type Message struct {
	ID     string // shown on the page
	Parent string // ID of the parent; "" or unknown for a root
	Role   string // user, assistant, system, tool, or any other
	Kind   string // in addition to the role, such as compaction; may be empty
	Model  string // the model that wrote it, "" if unknown
	Time   time.Time
	Parts  []content.Part
	Merged *Merged // what the message merged, nil for nothing
}

// A Merged is a branch that a message merged.
type Merged struct {
	Session, Message string // the last merged message
	Messages         int    // how many were merged
}

//go:embed style.css
var style string

// Write writes a page. The error is that of w.
func Write(w io.Writer, p Page) error {
	b := bufio.NewWriterSize(w, 64<<10)
	pw := &writer{w: b, messages: p.Messages}
	t := plant(p.Messages, p.Leaf)
	pw.name(t.names)
	pw.page(p.Title, t)
	return b.Flush()
}

// A writer writes a page. Errors are stored in its buffer.
type writer struct {
	w        *bufio.Writer
	messages []Message
	parser   *markdown.Parser  // nil until needed
	names    map[string]string // the anchor of each message
	images   func(data string) string
	files    func(*content.Asset) string
}

// raw writes HTML.
func (w *writer) raw(pieces ...string) {
	for _, s := range pieces {
		w.w.WriteString(s)
	}
}

func (w *writer) page(title string, t *tree) {
	if title == "" {
		title = "Conversation"
	}
	style := style
	if len(t.lines) > 1 {
		style += treepicture.Style
	}
	w.head(title, style)
	w.raw("<p>", w.overview(t), "</p>\n</header>\n")
	w.contents(t)
	w.raw("<main>\n")
	if len(t.lines) == 0 {
		w.raw("<p>There are no messages.</p>\n")
	} else {
		w.line(t, t.lines[0])
	}
	w.raw("</main>\n")
	if len(t.lines) > 1 {
		w.raw("<section aria-labelledby=\"others\">\n<h2 id=\"others\">Other branches</h2>\n")
		for i, l := range t.lines[1:] {
			w.branch(t, i+1, l)
		}
		w.raw("</section>\n")
	}
	w.foot()
}

// name sets the anchors of the messages.
func (w *writer) name(names []string) {
	w.names = make(map[string]string, len(names))
	for i, name := range names {
		if id := w.messages[i].ID; w.names[id] == "" {
			w.names[id] = name
		}
	}
}

// head writes the beginning of a page, up to its title.
func (w *writer) head(title, style string) {
	sum := sha256.Sum256([]byte(style))
	w.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'sha256-`,
		base64.StdEncoding.EncodeToString(sum[:]), `'; base-uri 'none'; form-action 'none'">`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "\n",
		`<meta name="referrer" content="no-referrer">`, "\n",
		`<meta name="color-scheme" content="light dark">`, "\n",
		"<title>", escape(title), "</title>\n<style>", style, "</style>\n</head>\n<body>\n<header>\n<h1 dir=\"auto\">", escape(title), "</h1>\n")
}

// foot ends a page.
func (w *writer) foot() { w.raw("<footer><p>Written by bough.</p></footer>\n</body>\n</html>\n") }

// overview returns the size of the conversation and its time span.
func (w *writer) overview(t *tree) string {
	s := plural.Of(len(w.messages), "message")
	if n := len(t.lines) - 1; n > 0 {
		s += ", " + strconv.Itoa(len(t.lines[0].nodes)) + " of them on the active path, " + plural.Of(n, "other branch")
	}
	var first, last time.Time
	for i := range w.messages {
		at := w.messages[i].Time
		if at.IsZero() {
			continue
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	switch day := "2 January 2006"; {
	case first.IsZero():
	case first.Format(day) == last.Format(day):
		s += ". " + first.Format(day)
	default:
		s += ". " + first.Format(day) + " to " + last.Format(day)
	}
	return s
}

// contents writes the table of contents: the questions of the active path, the branches, and
// the picture of the tree.
func (w *writer) contents(t *tree) {
	const few = 2
	if len(t.lines) > 0 {
		var asked []int
		for _, i := range t.lines[0].nodes {
			if w.messages[i].Role == "user" && w.messages[i].FirstWords() != "" {
				asked = append(asked, i)
			}
		}
		if len(asked) > few {
			w.raw("<nav aria-label=\"Questions\"><details><summary>", plural.Of(len(asked), "question"), "</summary>\n<ol>\n")
			for _, i := range asked {
				w.raw(`<li><a href="#`, t.name(i), `"><bdi>`, escape(w.messages[i].FirstWords()), "</bdi></a></li>\n")
			}
			w.raw("</ol></details></nav>\n")
		}
	}
	if len(t.lines) > 1 {
		w.raw("<nav aria-label=\"Branches\"><details><summary>", plural.Of(len(t.lines)-1, "other branch"), "</summary>\n<ul>\n")
		for i, l := range t.lines[1:] {
			w.raw(`<li class="d`, strconv.Itoa(min(l.depth, deepest)), `">`)
			w.link(i+1, l)
			w.raw("</li>\n")
		}
		w.raw("</ul></details></nav>\n")
		w.picture(t)
	}
}

// deepest is the maximum indentation of branches of branches.
const deepest = 6

// link writes a link to a branch.
func (w *writer) link(n int, l *line) {
	w.raw(`<a href="#b`, strconv.Itoa(n), `">Branch `, strconv.Itoa(n), "</a>: <bdi>", escape(w.hint(l)), "</bdi> (", plural.Of(len(l.nodes), "message"), ")")
}

// hint returns the first words of a branch.
func (w *writer) hint(l *line) string {
	for _, i := range l.nodes {
		if s := w.messages[i].FirstWords(); s != "" {
			return s
		}
	}
	return "nothing is said"
}

// branch writes a branch beside the active path.
func (w *writer) branch(t *tree, n int, l *line) {
	w.raw(`<details open class="branch" id="b`, strconv.Itoa(n), `"><summary>Branch `, strconv.Itoa(n), ": <bdi>", escape(w.hint(l)), "</bdi> (",
		plural.Of(len(l.nodes), "message"), ")</summary>\n")
	if l.from >= 0 {
		w.raw(`<p class="from">It leaves the conversation <a href="#`, t.name(l.from), `">after this message</a>.</p>`, "\n")
	} else {
		w.raw(`<p class="from">It begins anew.</p>`, "\n")
	}
	w.line(t, l)
	w.raw("</details>\n")
}

// line writes the messages of a line, with links to the branches that leave it.
func (w *writer) line(t *tree, l *line) {
	for list := range slices.Chunk(l.nodes, sectionSize) {
		w.raw("<section class=\"part\">\n")
		w.section(t, list)
		w.raw("</section>\n")
	}
}

// sectionSize is how many messages a browser lays out together. With a section
// for each message, a long page scrolls at half the rate.
const sectionSize = 50

// section writes messages, with links to the branches that leave them.
func (w *writer) section(t *tree, nodes []int) {
	for _, i := range nodes {
		w.message(t, i)
		if others := t.leaving[i]; len(others) > 0 {
			w.raw(`<nav class="fork" aria-label="Other branches from here"><p>`, plural.Of(len(others), "other branch"), leave(len(others)), " here:</p><ul>\n")
			for _, n := range others {
				w.raw("<li>")
				w.link(n, t.lines[n])
				w.raw("</li>\n")
			}
			w.raw("</ul></nav>\n")
		}
	}
}

func (w *writer) message(t *tree, i int) {
	w.article(i, t.name(i))
}

// article writes message i with an anchor.
func (w *writer) article(i int, name string) {
	m := &w.messages[i]
	class, who := m.Speaker()
	w.raw(`<article class="`, class, `" id="`, name, `" aria-labelledby="h-`, name, `"><header><h2 id="h-`, name, `">`, escape(who), "</h2>")
	for _, s := range []string{m.Kind, m.Model} {
		if s != "" {
			w.raw(` <span class="note"><bdi>`, escape(short(s)), "</bdi></span>")
		}
	}
	if !m.Time.IsZero() {
		w.raw(` <time datetime="`, m.Time.Format(time.RFC3339), `">`, m.Time.Format("2 Jan 2006, 15:04"), " ", zone(m.Time), "</time>")
	}
	w.raw(` <a class="here" href="#`, name, `" title="`, escape(m.ID), `" aria-label="Link to this message">#</a></header>`, "\n")
	w.merged(m.Merged)
	w.body(m)
	w.raw("</article>\n")
}

// merged says which branch a message merged, with a link to its end if the page has it.
func (w *writer) merged(m *Merged) {
	if m == nil {
		return
	}
	end := "<code><bdi>" + escape(short(m.Session+"@"+m.Message)) + "</bdi></code>"
	if name := w.names[m.Message]; name != "" {
		end = `<a href="#` + name + `">this message</a>`
	}
	w.raw(`<p class="note">Merged `, plural.Of(m.Messages, "message"), " of a branch, up to ", end, "</p>\n")
}

// body writes the parts of a message. A system message is collapsed.
func (w *writer) body(m *Message) {
	fold := m.Role == "system"
	if fold {
		w.raw("<details><summary><bdi>", escape(m.FirstWords()), "</bdi></summary>\n")
	}
	for j := range m.Parts {
		w.part(&m.Parts[j], m.Role == "user")
	}
	if len(m.Parts) == 0 {
		w.raw(`<p class="note">It is empty.</p>`)
	}
	if fold {
		w.raw("</details>")
	}
}

// zone returns the offset of a time from UTC, because names of zones are
// ambiguous.
func zone(t time.Time) string {
	if _, offset := t.Zone(); offset == 0 {
		return "UTC"
	}
	return "UTC" + t.Format("-07:00")
}

// leave returns the verb of n branches.
func leave(n int) string {
	if n == 1 {
		return " leaves"
	}
	return " leave"
}
