package convert

import (
	"bufio"
	"encoding/json"
	"io"
)

// An export is one conversation of a file that a web service gives to its users.
type export struct {
	around hull // the conversation without its messages
	items  []exported
	torn   bool // the file ends before the conversation does
}

// An exported is one member of what holds the messages: raw, and its name where that is
// an object.
type exported struct {
	key string
	raw json.RawMessage
}

// readExport reads a conversation, or an array of them, whose messages are in the member
// inside. One is in memory at a time.
func readExport(in io.Reader, inside, empty string, to Sink, f func(*export) error) error {
	r := bufio.NewReader(skipBOM(in))
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
	var e export
	end := func() error {
		done := e
		e = export{}
		if len(done.items) == 0 {
			if done.around.record() != nil {
				to.Problem(Problem{What: "a conversation has no messages: " + textOf(done.around.record(), "title") + textOf(done.around.record(), "name")})
			}
			return nil
		}
		return f(&done)
	}
	into := func(path []string) bool {
		return len(path) <= depth || len(path) == depth+1 && path[depth] == inside
	}
	err := walk(r, into, func(v visit) error {
		switch n := len(v.path) - depth; {
		case n == 0 && v.raw == nil:
			return end()
		case n == 0:
			to.Problem(Problem{Offset: v.offset, What: "it is no conversation"})
		case n == 1 && v.raw == nil:
			e.around.add(inside, []byte(empty))
		case n == 1 && v.path[depth] == inside: // it holds nothing
		case n == 1:
			e.around.add(v.path[depth], v.raw)
		case n == 2 && v.raw != nil:
			e.items = append(e.items, exported{v.path[depth+1], v.raw})
		}
		return nil
	})
	if what := torn(err); what != "" && (len(e.items) > 0 || depth == 1) {
		to.Problem(Problem{What: what})
		if e.items != nil {
			e.around.add(inside, []byte(empty))
		}
		e.torn = true
		err = end()
	}
	return err
}

// rooted reports for each item of a tree whether it leads to a root: its parent is -1 and
// it names none. What does not, in a conversation that is torn, may have any parent.
func rooted(parents []int, names []string) []bool {
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

// markOpen marks the messages that no other follows, and whose record says that the answer
// was not whole: with it all messages of that record. streams is asked for those that have
// a record.
func markOpen(list []*Message, streams func(*Message) bool) {
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
