// Package export reads the files that web services export: an array of conversations, each
// with a tree of messages.
package export

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/transcript"
)

// A Conversation is one conversation of a file that a web service exports.
type Conversation struct {
	Around jsondoc.Hull // the conversation without its messages
	Items  []Item
	Torn   bool // the file ends before the conversation does
}

// An Item is one member of the container of messages: its raw value, and its name
// in an object.
type Item struct {
	Key string
	Raw json.RawMessage
}

// Read reads a conversation, or an array of them, whose messages are in the member that
// the path inside leads to. Another document may follow the end of one. One conversation
// is in memory at a time.
func Read(in io.Reader, inside []string, empty string, to transcript.Sink, f func(*Conversation) error) error {
	r := bufio.NewReader(jsondoc.SkipBOM(in))
	depth := 0
	for {
		c, err := r.ReadByte()
		if err != nil {
			return nil // nothing but white space
		}
		if c == '[' {
			depth = 1
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			break
		}
	}
	if err := r.UnreadByte(); err != nil {
		return err
	}
	var e Conversation
	within := make([]jsondoc.Hull, len(inside)) // the hulls on the path, that of the conversation first
	closeHull := func(n int) {
		value := []byte(empty)
		if n < len(inside) {
			if value = within[n].Record(); value == nil {
				value = []byte("{}")
			}
			within[n] = jsondoc.Hull{}
		}
		within[n-1].Add(inside[n-1], value)
	}
	ended := false // a conversation has
	end := func() error {
		ended = true
		done := e
		done.Around = within[0]
		e, within[0] = Conversation{}, jsondoc.Hull{}
		if len(done.Items) == 0 {
			if raw := done.Around.Record(); raw != nil {
				to.Problem(transcript.Problem{What: "a conversation has no messages: " + member.Text(raw, "title") + member.Text(raw, "name")})
			}
			return nil
		}
		return f(&done)
	}
	onWay := func(path []string) bool {
		return len(path) <= len(inside) && slices.Equal(path, inside[:len(path)])
	}
	into := func(path []string) bool {
		return len(path) <= depth || onWay(path[depth:])
	}
	err := jsondoc.WalkAll(r, into, func(v jsondoc.Visit) error {
		n := len(v.Path) - depth
		switch {
		case n < 0:
		case n == 0 && v.Raw == nil:
			return end()
		case n == 0:
			to.Problem(transcript.Problem{Offset: v.Offset, What: "not a conversation"})
		case v.Raw == nil:
			closeHull(n)
		case n == len(inside)+1:
			e.Items = append(e.Items, Item{v.Path[len(v.Path)-1], v.Raw})
		case n == len(inside) && onWay(v.Path[depth:]): // it is empty
		default:
			within[n-1].Add(v.Path[len(v.Path)-1], v.Raw)
		}
		return nil
	})
	if what := jsondoc.Damage(err); what != "" && (len(e.Items) > 0 || depth == 1 || ended) {
		to.Problem(transcript.Problem{What: what})
		if e.Items != nil {
			for n := len(inside); n > 0; n-- {
				closeHull(n)
			}
		}
		e.Torn = true
		err = end()
	}
	return err
}

// Rooted reports for each item of a tree whether its ancestors end at a root: its parent
// is -1 and it names none. In a truncated conversation, other items may have any parent.
func Rooted(parents []int, names []string) []bool {
	list, seen := make([]bool, len(parents)), make([]bool, len(parents))
	for i := range parents {
		var chain []int
		at := i
		for ; at >= 0 && !seen[at]; at = parents[at] {
			seen[at] = true
			chain = append(chain, at)
		}
		is := at >= 0 && list[at] || at < 0 && names[chain[len(chain)-1]] == ""
		for _, at := range chain {
			list[at] = is
		}
	}
	return list
}

// MarkOpen marks the messages without a successor whose record is an incomplete reply,
// with all messages of that record. streams is called for those that have a record.
func MarkOpen(list []*transcript.Message, streams func(*transcript.Message) bool) {
	parents := map[string]bool{}
	for _, m := range list {
		parents[m.Parent] = true
	}
	for n := len(list); n > 0; {
		last := n - 1
		for n--; n > 0 && len(list[n].Records) == 0; n-- {
		}
		if !parents[list[last].ID] && streams(list[n]) {
			for _, m := range list[n : last+1] {
				m.Open = true
			}
		}
	}
}
