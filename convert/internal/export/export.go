// Package export reads the files that web services export: an array of conversations, each
// with a tree of messages.
package export

import (
	"bufio"
	"encoding/json"
	"io"

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

// Read reads a conversation, or an array of them, whose messages are in the member
// inside. One is in memory at a time.
func Read(in io.Reader, inside, empty string, to transcript.Sink, f func(*Conversation) error) error {
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
	end := func() error {
		done := e
		e = Conversation{}
		if len(done.Items) == 0 {
			if done.Around.Record() != nil {
				to.Problem(transcript.Problem{What: "a conversation has no messages: " + member.Text(done.Around.Record(), "title") + member.Text(done.Around.Record(), "name")})
			}
			return nil
		}
		return f(&done)
	}
	into := func(path []string) bool {
		return len(path) <= depth || len(path) == depth+1 && path[depth] == inside
	}
	err := jsondoc.Walk(r, into, func(v jsondoc.Visit) error {
		switch n := len(v.Path) - depth; {
		case n == 0 && v.Raw == nil:
			return end()
		case n == 0:
			to.Problem(transcript.Problem{Offset: v.Offset, What: "not a conversation"})
		case n == 1 && v.Raw == nil:
			e.Around.Add(inside, []byte(empty))
		case n == 1 && v.Path[depth] == inside: // it is empty
		case n == 1:
			e.Around.Add(v.Path[depth], v.Raw)
		case n == 2 && v.Raw != nil:
			e.Items = append(e.Items, Item{v.Path[depth+1], v.Raw})
		}
		return nil
	})
	if what := jsondoc.Damage(err); what != "" && (len(e.Items) > 0 || depth == 1) {
		to.Problem(transcript.Problem{What: what})
		if e.Items != nil {
			e.Around.Add(inside, []byte(empty))
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
