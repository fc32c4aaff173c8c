// Package list implements a list on a terminal that is filtered while the user
// types. [List] is the list itself, without a terminal; [Picker] shows one with
// a preview, as a part of a screen, and [Choose] alone, which returns the item
// that the user chose.
//
// Texts are shown unchanged, so they must not contain control characters.
package list

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/sahilm/fuzzy"
)

// An Item is a row of a list.
type Item struct {
	Text   string // shown and searched
	Detail string // shown dimmed after Text, and searched
	Hidden string // searched but not shown
	Ref    string // what it stands for, for the caller
	About  string // shown beside it instead of a preview
}

// SessionItem returns the item of a session that was last active some time ago.
func SessionItem(e workspace.Entry, ago string) Item {
	detail := []string{line(lookup.Short(e.ID))}
	if e.Kind != session.Root {
		detail = append(detail, string(e.Kind))
	}
	detail = append(detail, plural.Of(e.MessageCount, "message"), ago)
	return Item{Text: line(e.Title), Detail: strings.Join(detail, " · "), Ref: e.ID}
}

// line returns a text of a file on one line.
func line(s string) string { return strings.Join(strings.Fields(printable.Clean(s)), " ") }

// A List is a list of items, of which some match a query, with a cursor on one
// of them.
type List struct {
	items  []Item
	texts  []string // the searched text of each item
	query  string
	shown  []int // indexes of the matching items, best first
	cursor int   // index in shown
	top    int   // index in shown of the first visible row
}

// New returns a list of items, all of which match.
func New(items []Item) *List {
	l := &List{items: items}
	for _, i := range items {
		l.texts = append(l.texts, i.Text+" "+i.Detail+" "+i.Hidden)
	}
	l.Filter("")
	return l
}

// Filter selects the items that match each word of query: its letters must
// occur in order, not necessarily adjacent. Items that contain the words are
// first, then those that match best; equal matches keep their order. The cursor
// moves to the first.
func (l *List) Filter(query string) {
	l.query, l.cursor, l.top = query, 0, 0
	l.shown = l.shown[:0]
	scores := make([]int, len(l.items))
	words := strings.Fields(query)
	matched := make([]int, len(l.items))
	for _, word := range words {
		for _, m := range fuzzy.FindNoSort(word, l.texts) {
			matched[m.Index]++
			scores[m.Index] += m.Score
			if strings.Contains(strings.ToLower(l.texts[m.Index]), strings.ToLower(word)) {
				scores[m.Index] += whole
			}
		}
	}
	for i := range l.items {
		if matched[i] == len(words) {
			l.shown = append(l.shown, i)
		}
	}
	slices.SortStableFunc(l.shown, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
}

// whole is the score for containing a word; all other scores are much lower.
const whole = 1 << 20

// Query returns the query of the last [List.Filter].
func (l *List) Query() string { return l.query }

// Len returns how many items match, and how many there are.
func (l *List) Len() (shown, all int) { return len(l.shown), len(l.items) }

// Selected returns the index of the item at the cursor, -1 if no item matches.
func (l *List) Selected() int {
	if len(l.shown) == 0 {
		return -1
	}
	return l.shown[l.cursor]
}

// Move moves the cursor by n rows, and stops at the ends.
func (l *List) Move(n int) {
	l.cursor = max(0, min(l.cursor+n, len(l.shown)-1))
}

// Window returns the indexes of the items in a window of this height, which
// follows the cursor, and the row of the cursor, -1 if no item matches.
func (l *List) Window(height int) (items []int, cursor int) {
	if len(l.shown) == 0 || height <= 0 {
		return nil, -1
	}
	l.top = max(l.cursor-height+1, min(l.top, l.cursor), 0)
	end := min(l.top+height, len(l.shown))
	return l.shown[l.top:end], l.cursor - l.top
}

// Select moves the cursor to an item, if it matches.
func (l *List) Select(item int) {
	if at := slices.Index(l.shown, item); at >= 0 {
		l.cursor = at
	}
}

// Click moves the cursor to a row of the window of this height, from 0, and reports whether
// there is one.
func (l *List) Click(row, height int) bool {
	items, _ := l.Window(height)
	if row < 0 || row >= len(items) {
		return false
	}
	l.cursor = l.top + row
	return true
}
