package page

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// maxCompared is how many messages of each path a comparison shows.
const maxCompared = 100

// A comparison is two paths side by side, from where they part.
type comparison struct {
	A, B   comparedPath
	Common *comparedMessage // the last common message, nil if there is none
	Shared int              // how many messages they have in common
	Rows   []comparedRow
	Files  string // the address of how their files differ, "" if one has no state
}

// A comparedPath is one side of a comparison.
type comparedPath struct {
	Ref    string
	Title  string
	Href   string
	Beyond int // messages that only it has
	Hidden int // those of them that are not shown
}

// Text is how many messages only the path has.
func (p comparedPath) Text() string { return count(p.Beyond, "message") + " of its own" }

// Heads are both sides.
func (c *comparison) Heads() []comparedPath { return []comparedPath{c.A, c.B} }

// SharedText is how many messages the paths have in common.
func (c *comparison) SharedText() string { return count(c.Shared, "message") }

// HiddenText says how many messages are not shown, "" if all are.
func (c *comparison) HiddenText() string {
	if n := c.A.Hidden + c.B.Hidden; n > 0 {
		return count(n, "more message") + " in the conversations"
	}
	return ""
}

// A comparedRow is a message of each side. Either may be nil.
type comparedRow struct{ A, B *comparedMessage }

// A comparedMessage is a message of a comparison. If Segments is not nil, they are shown
// instead of the body.
type comparedMessage struct {
	message
	Segments []segment
	Added    bool // changed segments are insertions, else deletions
}

// A segment is a part of a text.
type segment struct {
	Text    string
	Changed bool // the other text does not have it
}

// compare returns the comparison of two REFs.
func compare(ctx context.Context, w *workspace.Workspace, a, b string, now time.Time) (*comparison, error) {
	o := partial()
	d, err := w.Diff(ctx, a, b, o)
	if err != nil {
		return nil, err
	}
	c := &comparison{}
	var lines [2]string
	for i, side := range []struct {
		path     *comparedPath
		ref      string
		messages []session.Message
	}{{&c.A, a, d.MessagesA}, {&c.B, b, d.MessagesB}} {
		shown, err := w.Show(ctx, side.ref, o)
		if err != nil {
			return nil, err
		}
		lines[i] = shown.Entry.ID
		total := len(shown.Messages)
		isCheckpoint := shown.Entry.Kind == session.Checkpoint
		*side.path = comparedPath{
			Ref: side.ref, Title: clip(shown.Entry.Title), Beyond: len(side.messages), Hidden: max(0, len(side.messages)-maxCompared),
			Href: location{Checkpoint: isCheckpoint, Session: shown.Entry.ID}.String(),
		}
		if total > 0 {
			side.path.Href = location{Checkpoint: isCheckpoint, Session: shown.Entry.ID, Leaf: shown.Messages[total-1].ID}.String()
		}
		if at := total - len(side.messages); c.Common == nil && at > 0 && d.Common != "" {
			c.Common, c.Shared = newRenderer(shown.Entry.ID, now).compared(shown.Messages[at-1]), at
		}
	}
	c.Rows = compareMessages(lines, d.MessagesA, d.MessagesB, now)
	return c, nil
}

// compareMessages pairs messages by their position, up to maxCompared of each.
// lines are their lines.
func compareMessages(lines [2]string, a, b []session.Message, now time.Time) []comparedRow {
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	left, right := newRenderer(lines[0], now), newRenderer(lines[1], now)
	rows := make([]comparedRow, max(len(a), len(b)))
	for i := range rows {
		if i < len(a) {
			rows[i].A = left.compared(a[i])
		}
		if i < len(b) {
			rows[i].B = right.compared(b[i])
		}
		if rows[i].A != nil && rows[i].B != nil && rows[i].A.Class == rows[i].B.Class {
			mark(rows[i].A, rows[i].B, a[i], b[i])
		}
	}
	return rows
}

func (r *renderer) compared(m session.Message) *comparedMessage {
	shown := r.show(m)
	shown.Link = messageAddress(r.session, m.ID)
	return &comparedMessage{message: shown}
}

// mark sets the segments of two messages if both are only text, one of them is long, and
// they are similar.
func mark(x, y *comparedMessage, a, b session.Message) {
	const long, minAlike = 160, 0.4
	s, ok := plainText(a)
	t, okay := plainText(b)
	if !ok || !okay || max(len(s), len(t)) < long || s == t {
		return
	}
	before, after, alike := differences(s, t)
	if alike < minAlike {
		return
	}
	x.Segments, y.Segments, y.Added = before, after, true
}

// plainText returns the text of a message that has no other parts.
func plainText(m session.Message) (string, bool) {
	shown := html.MessageOf(transcript.FromSession(m, ""))
	var b strings.Builder
	for _, p := range shown.Parts {
		if p.Type != "text" {
			return "", false
		}
		b.WriteString(p.Text)
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String()), true
}

// maxMarked is the size of the longest text whose words are compared.
const maxMarked = 100_000

// differences compares two texts by words. alike is the part of the longer text that the
// other one has too, from 0 to 1.
func differences(a, b string) (before, after []segment, alike float64) {
	if len(a) > maxMarked || len(b) > maxMarked {
		return nil, nil, 0
	}
	words := map[string]rune{}
	as, bs := wordsOf(a), wordsOf(b)
	x, y := runesOf(as, words), runesOf(bs, words)
	// The edits have offsets in bytes of x, whose runes are the words of a.
	offsets := make(map[int]int, len(as)+1)
	n := 0
	for i := range x {
		offsets[i] = n
		n++
	}
	offsets[len(x)] = n
	at, to, same := 0, 0, 0 // words of a and of b so far, and bytes that both have
	keep := func(until int) {
		for ; at < until; at, to = at+1, to+1 {
			before, after = extend(before, as[at], false), extend(after, bs[to], false)
			same += len(as[at])
		}
	}
	for _, e := range udiff.Strings(x, y) {
		keep(offsets[e.Start])
		for ; at < offsets[e.End]; at++ {
			before = extend(before, as[at], true)
		}
		for range e.New {
			after = extend(after, bs[to], true)
			to++
		}
	}
	keep(len(as))
	return before, after, float64(same) / float64(max(len(a), len(b), 1))
}

// extend appends a text to segments.
func extend(list []segment, text string, changed bool) []segment {
	if n := len(list); n > 0 && list[n-1].Changed == changed {
		list[n-1].Text += text
		return list
	}
	return append(list, segment{text, changed})
}

// wordsOf divides a text into words, spaces and other characters.
func wordsOf(s string) (list []string) {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	start, last := 0, -1
	for i, r := range s {
		c := class(r)
		if i > 0 && (c != last || c == 0) {
			list = append(list, s[start:i])
			start = i
		}
		last = c
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}

// runesOf returns a string with a rune for each of words. known has the runes of words so
// far.
func runesOf(words []string, known map[string]rune) string {
	var b strings.Builder
	for _, w := range words {
		r, ok := known[w]
		if !ok {
			const first, surrogates, afterSurrogates = 0x100, 0xd800, 0xe000
			if r = rune(first + len(known)); r >= surrogates {
				r += afterSurrogates - surrogates
			}
			known[w] = r
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A choice is a path that another one can be compared with.
type choice struct {
	Title string
	Words string
	About string
	Href  string
}

// choices returns what a REF can be compared with: the leaves of its conversation, and the
// sessions that were copied from it or that it was copied from.
func choices(ctx context.Context, w *workspace.Workspace, ref string) (title string, list []choice, err error) {
	o := partial()
	shown, err := w.Show(ctx, ref, o)
	if err != nil {
		return "", nil, err
	}
	leaf := ""
	if n := len(shown.Messages); n > 0 {
		leaf = shown.Messages[n-1].ID
	}
	branches, err := w.Branches(ctx, shown.Entry.ID, workspace.BranchesOptions{Messages: true, ReadOptions: o})
	if err != nil {
		return "", nil, err
	}
	for _, l := range branches.Leaves {
		if l.ID == leaf {
			continue
		}
		list = append(list, choice{
			Title: "Branch in this conversation", Words: cmp.Or(spoken.Words(l.Message), l.Text), About: count(l.Depth, "message"),
			Href: compareAddress(ref, refOf(shown.Entry.ID, l.ID)),
		})
	}
	trees, err := w.Tree(ctx, shown.Entry.ID)
	if err != nil {
		return "", nil, err
	}
	eachEntry(trees.Roots, func(e workspace.TreeEntry, _ *workspace.TreeEntry) {
		if e.ID == shown.Entry.ID || e.Kind == session.Continuation {
			return
		}
		list = append(list, choice{
			Title: clip(e.Title), About: string(e.Kind) + " · " + count(e.MessageCount, "message"), Href: compareAddress(ref, e.ID),
		})
	})
	return clip(shown.Entry.Title), list, nil
}
