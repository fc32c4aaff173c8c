// Package sink has the sinks between every reader and its caller: one that validates
// messages, and one that collects them in memory.
package sink

import (
	"io"

	"github.com/bough-dev/bough/convert/transcript"
)

// ReadAll reads the conversations of a file that fits into memory, of a format with a name.
func ReadAll(format string, read func(io.Reader, transcript.Sink) error, in io.Reader) ([]*transcript.Transcript, []transcript.Problem, error) {
	m := &memory{format: format}
	_, err := Read(read, in, m)
	return m.list, m.problems, err
}

// Read calls read with a sink that validates messages and passes them on to to, and returns the
// number of conversations.
func Read(read func(io.Reader, transcript.Sink) error, in io.Reader, to transcript.Sink) (conversations int, err error) {
	c := &checker{to: to}
	err = read(in, c)
	return c.ended, err
}

// memory is a sink that keeps everything.
type memory struct {
	format   string
	messages []*transcript.Message
	list     []*transcript.Transcript
	problems []transcript.Problem
}

func (m *memory) Message(msg *transcript.Message) error {
	m.messages = append(m.messages, msg)
	return nil
}

func (m *memory) End(c *transcript.Conversation) error {
	for _, msg := range m.messages {
		if parent, ok := c.Parents[msg.ID]; ok {
			msg.Parent = parent
		}
	}
	m.list = append(m.list, &transcript.Transcript{Conversation: *c, Format: m.format, Messages: m.messages})
	m.messages = nil
	return nil
}

func (m *memory) Problem(p transcript.Problem) { m.problems = append(m.problems, p) }
