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
			if done.around.b != nil {
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
		err = end()
	}
	return err
}
