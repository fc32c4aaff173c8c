package ui

import (
	"strings"
	"time"

	"github.com/bough-dev/bough/workspace/events"
)

// A conversation is the right side: a path, and what of it is shown.
type conversation struct {
	want place // what is shown, or is being read
	path *path // nil until it is read
	err  string
	now  time.Time // when it was read

	cursor   int // the selected message
	win      window
	unfolded map[string]bool // messages
	labels   map[string][]string
	headAt   string // the message at the head, "" if it is elsewhere
	replies  []events.Piece

	columns int
	lines   map[int][]string // of messages, with these columns
}

// maxLines is how many messages keep their lines.
const maxLines = 1000

// body returns the messages and, below them, the replies that agents are writing.
func (c *conversation) body(columns int) body {
	if c.columns != columns || len(c.lines) > maxLines {
		c.columns = columns
		c.forgetLines()
	}
	if c.path == nil {
		return body{}
	}
	n := len(c.path.Messages)
	return body{n + len(c.replies), func(i int) []string {
		if i >= n {
			return replyLines(c.replies[i-n].Text, columns)
		}
		lines, ok := c.lines[i]
		if !ok {
			lines = c.message(i, columns)
			c.lines[i] = lines
		}
		return lines
	}}
}

func (c *conversation) forgetLines() { c.lines = map[int][]string{} }

// replyLines returns the lines of a reply that is being written: the end of it.
func replyLines(text string, columns int) []string {
	const most = 4000 // bytes
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	lines := append([]string{bold(cyan("assistant")) + dim(fit("  is writing", columns-len("assistant")))}, wrap(clean(text), columns)...)
	return append(lines, "")
}

// set shows a path that was read. The window stays where it was if the path was shown before,
// and at the end if it was there.
func (c *conversation) set(p *path, columns, height int, now time.Time) {
	old, cursor, win := c.path, c.selected(), c.win
	following := old != nil && win.atEnd(c.body(columns), height) && c.cursor >= len(old.Messages)-1
	top := ""
	if old != nil && win.top < len(old.Messages) {
		top = old.Messages[win.top].ID
	}
	same := old != nil && old.line == p.line
	c.path, c.err, c.now = p, "", now
	c.forgetLines()
	all := c.body(columns)
	last := len(p.Messages) - 1
	at, wanted := p.index[c.want.message]
	topAt, topThere := p.index[top]
	switch {
	case wanted && same && topThere:
		c.cursor, c.win.top = at, topAt
		c.win.clamp(all, height)
		c.win.reveal(all, at, height)
	case wanted:
		c.cursor, c.win = at, window{top: at}
		c.win.clamp(all, height)
	case same && !following && topThere:
		c.win.top = topAt
		c.cursor = min(c.cursor, last)
		if at, ok := p.index[cursor]; ok {
			c.cursor = at
		}
		c.win.clamp(all, height)
	default:
		c.cursor, c.win = last, lastWindow(all, all.count-1, height)
	}
	c.cursor = max(c.cursor, 0)
	c.want.message = ""
}

// selected returns the id of the selected message, "" if there is none.
func (c *conversation) selected() string {
	if c.path == nil || c.cursor >= len(c.path.Messages) {
		return ""
	}
	return c.path.Messages[c.cursor].ID
}

// move selects a message and shows it.
func (c *conversation) move(to, columns, height int) {
	if c.path == nil {
		return
	}
	c.cursor = max(0, min(to, len(c.path.Messages)-1))
	c.win.reveal(c.body(columns), c.cursor, height)
}

// scroll moves the window, and the selection if it would leave the window.
func (c *conversation) scroll(n, columns, height int) {
	all := c.body(columns)
	c.win.scroll(all, n, height)
	shown := c.win.visible(all, height)
	if len(shown) == 0 {
		return
	}
	c.cursor = max(shown[0].item, min(c.cursor, shown[len(shown)-1].item))
	c.cursor = max(0, min(c.cursor, len(c.path.Messages)-1))
}

// toFork selects the next message in a direction that has other replies beside it.
func (c *conversation) toFork(step, columns, height int) {
	if c.path == nil {
		return
	}
	for i := c.cursor + step; i >= 0 && i < len(c.path.Messages); i += step {
		if _, ok := c.path.forks[c.path.Messages[i].ID]; ok {
			c.move(i, columns, height)
			return
		}
	}
}

// sibling returns the place of another reply beside the selected message or, if it has none,
// beside the nearest one before it. ok is false if there is none.
func (c *conversation) sibling(step int) (_ place, ok bool) {
	if c.path == nil {
		return place{}, false
	}
	for i := min(c.cursor, len(c.path.Messages)-1); i >= 0; i-- {
		f, ok := c.path.forks[c.path.Messages[i].ID]
		if !ok {
			continue
		}
		n := (f.at + step + len(f.leaves)) % len(f.leaves)
		return place{session: c.path.line, leaf: f.leaves[n], message: f.firsts[n]}, true
	}
	return place{}, false
}
