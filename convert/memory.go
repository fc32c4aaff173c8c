package convert

import (
	"io"
)

// readAll reads the conversations of a file that fits into memory, of a format with a name.
func readAll(format string, read func(io.Reader, Sink) error, in io.Reader) ([]*Transcript, []Problem, error) {
	m := &memory{format: format}
	_, err := readChecked(read, in, m)
	return m.list, m.problems, err
}

// readChecked calls read with a sink that passes what is sound on to another one, and returns how many conversations it read.
func readChecked(read func(io.Reader, Sink) error, in io.Reader, to Sink) (conversations int, err error) {
	c := &checked{to: to}
	err = read(in, c)
	return c.ended, err
}

// memory is a sink that keeps everything.
type memory struct {
	format   string
	messages []*Message
	list     []*Transcript
	problems []Problem
}

func (m *memory) Message(msg *Message) error {
	m.messages = append(m.messages, msg)
	return nil
}

func (m *memory) End(c *Conversation) error {
	for _, msg := range m.messages {
		if parent, ok := c.Parents[msg.ID]; ok {
			msg.Parent = parent
		}
	}
	m.list = append(m.list, &Transcript{Conversation: *c, Format: m.format, Messages: m.messages})
	m.messages = nil
	return nil
}

func (m *memory) Problem(p Problem) { m.problems = append(m.problems, p) }
